# Sourced by the scripts here, which lib/measure.sh calls with VARIANT and ROUND for
# each round; work, bin, bench, quick and the connection come in the environment.
# They print lines of WHAT,UNIT,VALUE.
# shellcheck shell=bash disable=SC2154
set -euo pipefail

variant=$1
round=$2
schema=${variant%%-*}
sql=("$bin/psql" -XqAt -v ON_ERROR_STOP=1)

# make_pools NAME N: N pools NAME:1, NAME:2, ... of a capacity that is never reached
make_pools()
{
	case $schema in
		hold_ledger) "${sql[@]}" -c "SELECT count(hold_pool_set('$1:' || g, 1000000000)) FROM generate_series(1, $2) g" ;;
		redis) seq "$2" | sed "s/.*/SET capacity:$1:& 1000000000/" | redis-cli -s "$work/redis.sock" --pipe ;;
		*) "${sql[@]}" -c "INSERT INTO hold_pools (capacity, seq, pool) SELECT 1000000000000000, 1, '$1:' || g FROM generate_series(1, $2) g" ;;
	esac >/dev/null
}

# make_holds NAME N STATE POOLS: N holds, live or expired, dealt out to the pools
# NAME:1 to NAME:POOLS.  Live ones last a day; expired ones were made an hour ago.
make_holds()
{
	case $schema in
		hold_ledger) make_holds_by_batch "$@" ;;
		redis) make_holds_in_redis "$@" ;;
		*) make_holds_in_tables "$@" ;;
	esac >/dev/null
}

make_holds_by_batch()
{
	"${sql[@]}" <<-SQL
		SET synchronous_commit = off;
		SET hold_ledger.clock_offset = '$([[ $3 == live ]] && echo 0 || echo -1h)';
		SELECT format('SELECT count(*) FROM hold_try_batch(ARRAY(
			SELECT ROW(''$1-$round-'' || g, ''$1:'' || 1 + g %% $4, 1, ''$([[ $3 == live ]] && echo 1 day || echo 10 min)'', NULL, NULL)::hold_request
			  FROM generate_series(%s, %s) g))', b, least(b + 999, $2))
		  FROM generate_series(1, $2, 1000) b
		\gexec
		VACUUM ANALYZE hold_pools;
		VACUUM ANALYZE holds;
	SQL
}

make_holds_in_tables()
{
	"${sql[@]}" <<-SQL
		INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
		SELECT pool_id, 1000000, now() + '$([[ $3 == live ]] && echo 1 day || echo -50 min)' + g * interval '1 ms', now() - interval '1 h',
			   hashtextextended('$1-$round-' || g, 0), '$1-$round-' || g
		  FROM generate_series(1, $2) g JOIN hold_pools ON tenant = '' AND pool = '$1:' || 1 + g % $4 AND stripe = 0;
		UPDATE hold_pools p SET held = held + h.qty, seq = seq + h.n, next_expiry = least(next_expiry, h.next)
		  FROM (SELECT pool_id, sum(qty) AS qty, count(*) AS n, min(expires_at) AS next FROM holds GROUP BY pool_id) h
		 WHERE p.pool_id = h.pool_id AND p.pool LIKE '$1:%';
		VACUUM ANALYZE hold_pools;
		VACUUM ANALYZE holds;
	SQL
}

make_holds_in_redis()
{
	local ends

	ends=$(( ($(date +%s) + ($([[ $3 == live ]] && echo 86400 || echo -3000))) * 1000000 ))
	seq "$2" | awk -v name="$1" -v pools="$4" -v round="$round" -v ends="$ends" \
		'{ printf "ZADD holds:%s:%d %.0f %s-%s-%d\n", name, 1 + $1 % pools, ends + $1 * 1000, name, round, $1 }' |
		redis-cli -s "$work/redis.sock" --pipe
}

# timed CLIENTS TRANSACTIONS SCRIPT: runs the script, which is text, so many times
# in all, and prints for each run when it ended, in seconds, and its microseconds
timed()
{
	local log=$work/log.$variant

	rm -f "$log".*
	"$bin/pgbench" -n -M prepared --random-seed="$round" -c "$1" -j "$(( $1 < 2 ? $1 : 2 ))" \
		-t "$(( $2 / $1 ))" -l --log-prefix="$log" -f - <<<"$3" >/dev/null 2>"$work/log.errors" ||
		{ cat "$work/log.errors" >&2; exit 1; }
	awk '{ printf "%d.%06d %d\n", $5, $6, $3 }' "$log".* | sort -n
}
