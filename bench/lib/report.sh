# Sourced by run: the report in Markdown, and its plots.
# It shares the variables of run.
# shellcheck shell=bash disable=SC2034,SC2154

report()
{
	report_head
	report_workloads
	report_variants
	"${sql[@]}" -v name="$name" -v work="$work" -f "$bench/report.sql"
	report_plots
}

report_head()
{
	cat <<-HEAD
		# $name

		- date: $(date -u +'%F %R UTC')
		- commit: $commit
		- machine: $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo), the clients on the same CPUs, load $(cut -d' ' -f1 /proc/loadavg) at the end
		- system: $(uname -s) $(uname -r | cut -d. -f1,2)
		- server: $("${sql[@]}" -c "SELECT split_part(version(), ' on ', 1)"), $("${sql[@]}" -c "SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname) FROM pg_extension WHERE extname <> 'plpgsql'")
		- settings: $("${sql[@]}" -c "SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'jit', 'autovacuum', 'wal_sync_method')")${settings//$'\n'/; }
	HEAD
	[[ -z ${redis_pid-} ]] ||
		echo "- Redis: $(redis info server | sed -n 's/^redis_version:\([0-9.]*\).*/\1/p'), appendonly yes, appendfsync always where commit is on, everysec where it is off, no snapshots, no rewrite of the log"
	echo "- command: $command"
	echo "- runs: $rounds rounds of $seconds s a variant, interleaved$(
		[[ -n $quick ]] && echo ', quick: nothing was warmed up' ||
			echo ', after one round that does not count'); pgbench -M prepared"
}

report_workloads()
{
	local w

	printf '\n## Workloads\n\n'
	for w in "${workloads[@]}"
	do
		echo "- $w: ${title[$w]}"
	done
}

report_variants()
{
	local v

	printf '\n## Variants\n\n'
	for v in $(tr ' ' '\n' <<<"${variants[*]}" | sort -u)
	do
		printf -- '- %s: ' "$v"
		{ cat "$bench"/steps/{try,*}/"$v".* "$bench/own/notes" 2>/dev/null || true; } |
			sed -n "s/^-- note: //p; s/^$v: //p" |
			awk '!seen[$0]++ { printf "%s%s", sep, $0; sep = "; " } END { print "" }'
	done
}

# plot_data: splits what report.sql left into one file a workload, in it one block
# a variant, as gnuplot wants it
plot_data()
{
	sort -s -t$'\t' -k1,1 -k2,2 "$work/plots.tsv" | awk -F'\t' -v dir="$work" '
		{ file = dir "/" $1 ".dat" }
		$1 $2 != block { printf "%s\"%s\"\n", ($1 == workload ? "\n\n" : ""), $2 >file }
		{ block = $1 $2; workload = $1; printf "%s \"%s\" %s %s %s\n", $3, $4, $5, $6, $7 >file }'
}

# A plot for each workload that was measured, as NAME-WORKLOAD.svg
report_plots()
{
	local w plot

	command -v gnuplot >/dev/null || return 0
	plot_data
	printf '\n## Plots\n\n'
	for w in "${workloads[@]}"
	do
		[[ -s $work/$w.dat ]] || continue
		plot=$name-$w.svg
		gnuplot -e "data = '$work/$w.dat'; blocks = $(grep -c '^"' "$work/$w.dat"); what = '$w: ${title[$w]//\'/}'; own = $([[ ${steps[$w]} == own/* ]] && echo 1 || echo 0)" \
			"$bench/plot.gp" >"$bench/results/$plot"
		printf '![%s](%s)\n\n' "$w" "$plot"
	done
}
