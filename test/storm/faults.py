"""Faults to be put into a copy of the sources, to see that the checks find them.

    faults.py            lists their names
    faults.py NAME TREE  puts one in
"""

import sys
from pathlib import Path

# name: (file, what it says, what it says with the fault)
FAULTS = {
    "a lock is skipped: not all rows are locked where a budget is judged": (
        "attempt.c",
        "if (sibling->change != NULL || standing->spans || all_rows)",
        "if (sibling->change != NULL || all_rows)"),
    "a row is written over a version that was not read": (
        "access.c",
        """				raise_outdated();
			return false;
		default:
			elog(ERROR, "unexpected result %d of an update""",
        """				raise_outdated();
			*tid = failure.ctid;
			return row_update(table, tid, wait);
		default:
			elog(ERROR, "unexpected result %d of an update"""),
    "the clock is read early: before the locks": (
        "attempt.c",
        "	TimestampTz clock = session_clock();\n	ListCell   *lc;\n\n	foreach(lc, attempts)",
        "	TimestampTz clock = ((Attempt *) linitial(attempts))->clock;\n"
        "	ListCell   *lc;\n\n	foreach(lc, attempts)"),
    "a refund is forgotten: of a hold that is consumed in part": (
        "change.c",
        "		add_held(change, hold, -rest);\n",
        ""),
    "a ref is forgotten: a capture takes twice": (
        "memory.c",
        "		if (entry->event == event && entry->ref != NULL &&",
        "		if (entry->event == event && event != EVENT_CONSUMED && entry->ref != NULL &&"),
    "a refusal goes by a snapshot that is outdated": (
        "attempt.c",
        "	if (!store_has_one_snapshot())\n		return;\n	latest",
        "	if (true)\n		return;\n	latest"),
    "more is returned than was consumed": (
        "return.c",
        "		qty = Min(qty, request->qty);",
        "		qty = request->qty;"),
    "a stay is moved without the lock of the room that it leaves": (
        "stay_keep.c",
        "	from->change = leave;\n	to->standing.change = arrive;",
        "	to->standing.change = arrive;"),
}


def put_in(name, tree):
    file, right, wrong = FAULTS[name]
    path = Path(tree, "src", file)
    text = path.read_text()
    if text.count(right) != 1:
        sys.exit(f"{file} has changed: there is no place for the fault \"{name}\"")
    path.write_text(text.replace(right, wrong))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        put_in(*sys.argv[1:])
    else:
        print(*FAULTS, sep="\n")
