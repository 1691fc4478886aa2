# Sourced by run: the rounds, and one measurement.
# It shares the variables of run.
# shellcheck shell=bash disable=SC2034,SC2154

# measure: every variant in turn, and each round begins with another one.  The
# first pass is not counted: it fills caches and writes the full pages that
# follow a checkpoint, for which one cell of each workload is enough.  A quick run
# has none.
measure()
{
	local round w took=0 begun

	cell=0
	touch "$work/runs.csv" "$work/own.csv"
	for (( round = ${quick:-0}; round <= rounds; round++ ))
	do
		begun=$SECONDS
		(( round < 2 || SECONDS + took <= 60 * minutes )) || { rounds=$(( round - 1 )); break; }
		for w in "${workloads[@]}"
		do
			measure_workload
		done
		took=$(( SECONDS - begun ))
	done
}

# measure_workload: $w in this round; one with a script of its own has no cells
measure_workload()
{
	if [[ ${steps[$w]} == own/* ]]
	then
		[[ $round -eq 0 ]] || in_turn own
		return
	fi
	for at in ${cells[$w]}
	do
		(( round > 0 )) || [[ $at == "${cells[$w]%% *}" ]] || continue
		cell=$(( cell + 1 ))
		in_turn slice
	done
}

# in_turn own|slice: for each variant of $w, beginning with the round's
in_turn()
{
	local all i v

	echo "round $round/$rounds: $w${at:+, commit ${at%/*}, ${at#*/} clients}" >&2
	read -ra all <<<"${variants[$w]}"
	for (( i = 0; i < ${#all[@]}; i++ ))
	do
		v=${all[(i + round) % ${#all[@]}]}
		"$1"
	done
	at=
}

# own: runs the script of the workload, which prints lines of WHAT,UNIT,VALUE
own()
{
	local line out

	out=$(PGOPTIONS="-c search_path=${v%%-*}" quick=$quick "$bench/${steps[$w]}" "$v" "$round")
	while read -r line
	do
		[[ -z $line ]] || echo "$round,$w,$v,$line" >>"$work/own.csv"
	done <<<"$out"
}

# counts SCHEMA: CPU ticks of the servers so far, bytes of Redis' log, then what
# bench.written says.  Waits for the last clients: a backend reports its counts
# when it ends.
counts()
{
	local ticks log=0

	while pgrep -P "$postmaster" -f bench_app >/dev/null
	do
		sleep 0.01
	done
	ticks=$(awk '{ print $16 + $17 }' "/proc/$postmaster/stat")
	if [[ -n ${redis_pid-} ]]
	then
		ticks=$(( ticks + $(awk '{ print $14 + $15 }' "/proc/$redis_pid/stat") ))
		log=$(cat "$work"/appendonlydir/* | wc -c)
	fi
	echo "$ticks $log $("${sql[@]}" -F ' ' -c "SELECT * FROM bench.written('$1')")"
}

# files_of_steps SUFFIX: one script for each step of $w
files_of_steps()
{
	local step

	for step in ${steps[$w]}
	do
		echo "$bench/steps/$step/$v$1"
	done
}

# postgres_slice COMMIT CLIENTS: all variants of a cell draw the same numbers
postgres_slice()
{
	local script=$work/$w.$v.sql

	files_of_steps .sql | xargs cat >"$script"
	"$bin/pgbench" -n -M prepared --failures-detailed --random-seed="$cell" \
		-T "$seconds" -c "$2" -j "$(( $2 < 2 ? $2 : 2 ))" \
		-D first="${first[$w]}" -D last="${last[$w]}" -D day="$(( cell * 100000 ))" \
		-f "$script" 2> >(sed '/setting random seed/d' >&2)
}

# redis_slice COMMIT CLIENTS: its log is flushed as often as PostgreSQL's
redis_slice()
{
	local step calls=()

	redis config set appendfsync "$([[ $1 == on ]] && echo always || echo everysec)" >/dev/null
	for step in $(files_of_steps .steps | xargs grep -hv '^--')
	do
		calls+=("$(tr ' ' '\n' <<<"$scripts" | grep "^$step=" || echo "$step")")
	done
	"$work/client" -s "$work/redis.sock" -r "$cell" -T "$seconds" -c "$2" \
		-f "${first[$w]}" -l "${last[$w]}" "${calls[@]}"
}

# slice: $v of $w in the cell $at, as a line of CSV: rate, transactions, then
# seconds of CPU, bytes of WAL, rows, ledger rows, deadlocks.  Where a script does
# many of what is counted, it says how many: "-- units: N".
slice()
{
	local commit=${at%/*} c=${at#*/} schema=${v%%-*} kind=postgres out before after units

	[[ $schema != redis ]] || kind=redis
	units=$(files_of_steps '.*' | xargs -I{} sh -c 'cat {}' | sed -n 's/^-- units: //p' | head -n 1)
	before=$(counts "$schema")
	out=$(PGUSER=bench_app PGOPTIONS="-c search_path=$schema -c synchronous_commit=$commit" \
		"${kind}_slice" "$commit" "$c")
	after=$(counts "$schema")
	[[ $round -eq 0 ]] || awk -v OFS=, -v head="$round,$w,$commit,$c,$v" -v units="${units:-1}" \
		-v before="$before" -v after="$after" -v tick="$(getconf CLK_TCK)" '
		/^number of transactions actually/ { split($NF, n, "/"); done = n[1] }
		/^number of failed/ { failed = $5 }
		/^number of deadlock/ { deadlocks = $5 }
		/^tps/ { tps = $3 }
		END {
			if (done == 0 || failed > deadlocks)
				exit 1;
			split(before, b, " "); split(after, a, " ");
			print head, tps * units, done * units, (a[1] - b[1]) / tick,
				a[2] - b[2] + a[3] - b[3], a[4] - b[4], a[5] - b[5], deadlocks + 0;
		}' <<<"$out" >>"$work/runs.csv"
}
