# Sourced by run: which workloads are run, with which variants, in which cells.
# It shares the variables of run.
# shellcheck shell=bash disable=SC2034,SC2154

declare -A steps first last cells variants title
workloads=()
schemas=()

# choose [WORKLOAD]...: reads the lines of workloads.conf that are wanted
choose()
{
	local w s f l c v t

	while IFS='|' read -r w s f l c v t
	do
		read -r w <<<"$w"
		[[ $# -gt 0 && " $* " != *" $w "* ]] || add_workload
	done < <(grep -v '^#' "$bench/workloads.conf")
	[[ ${#workloads[@]} -gt 0 && ${#workloads[@]} -ge $# ]] ||
		{ echo "bench/run: no such workload or variant" >&2; exit 2; }
}

# add_workload: of the line that choose has read
add_workload()
{
	read -r steps["$w"] <<<"$s"
	read -r first["$w"] last["$w"] <<<"$f $l"
	title[$w]=${t# }
	choose_cells
	for variant in $v
	do
		[[ -z $only || " $only " == *" $variant "* ]] || continue
		variants[$w]+="$variant "
		schema=${variant%%-*}
		[[ " ${schemas[*]-} " == *" $schema "* ]] || schemas+=("$schema")
	done
	[[ -z ${variants[$w]-} ]] || workloads+=("$w")
}

# choose_cells: a cell is COMMIT/CLIENTS; the first one is that of a quick run.
# A number of clients or a commit of the command line replaces those of the line.
choose_cells()
{
	local on=$commits of=$clients cell n all=()

	if [[ -n $on$of ]]
	then
		[[ -n $on ]] || on=$(tr ' ' '\n' <<<"$c" | sed -n 's,/.*,,p' | sort -u)
		[[ -n $of ]] || of=$(tr ' ' '\n' <<<"$c" | sed -n 's,.*/,,p' | sort -un)
		for cell in $on
		do
			for n in $of
			do
				all+=("$cell/$n")
			done
		done
	else
		read -ra all <<<"$c"
	fi
	[[ -z $quick ]] || all=("${all[0]}")
	cells[$w]=${all[*]}
}
