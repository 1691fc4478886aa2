"""Faults to be put into a copy of the sources, to see that the checks find them.

    faults.py            lists their names, each after the calls that are to meet it
    faults.py NAME TREE  puts one in
"""

import sys
from pathlib import Path

# name: (calls that meet it, file, what it says, what it says with the fault)
FAULTS = {
    "a lock is skipped: not all rows are locked where a budget is judged": (
        "hold_outside",
        "attempt.c",
        "if (sibling->change != NULL || standing->spans || all_rows)",
        "if (sibling->change != NULL || all_rows)"),
    "a row is written over a version that was not read": (
        "hold",
        "access.c",
        """			return true;
		case TM_BeingModified:
			return false;
		case TM_Updated:
			if (IsolationUsesXactSnapshot())
				raise_outdated();
			return false;""",
        """			return true;
		case TM_BeingModified:
			return row_update(table, tid, true);
		case TM_Updated:
			if (IsolationUsesXactSnapshot())
				raise_outdated();
			*tid = failure.ctid;
			return row_update(table, tid, wait);"""),
    "the clock is read early: before the locks": (
        "hold",
        "attempt.c",
        "	TimestampTz clock = session_clock();\n	ListCell   *lc;\n\n	foreach(lc, attempts)",
        "	TimestampTz clock = ((Attempt *) linitial(attempts))->clock;\n"
        "	ListCell   *lc;\n\n	foreach(lc, attempts)"),
    "a refund is forgotten: of a hold that is consumed in part": (
        "consume",
        "change.c",
        "		add_held(change, hold, -rest);\n",
        ""),
    "a ref is forgotten: a capture takes twice": (
        "capture",
        "memory.c",
        "		if (entry->event == event && entry->ref != NULL &&",
        "		if (entry->event == event && event != EVENT_CONSUMED && entry->ref != NULL &&"),
    "a snapshot is not held against what is committed by now": (
        "hold",
        "attempt.c",
        "	if (!store_has_one_snapshot())\n		return;\n	latest",
        "	if (true)\n		return;\n	latest"),
    "more is returned than was consumed": (
        "give_back",
        "return.c",
        "		qty = Min(qty, request->qty);",
        "		qty = request->qty;"),
    "a stay is moved without the lock of the room that it leaves": (
        "move",
        "stay_keep.c",
        "	from->change = leave;\n	to->standing.change = arrive;",
        "	to->standing.change = arrive;"),
}


def put_in(name, tree):
    _, file, right, wrong = FAULTS[name]
    path = Path(tree, "src", file)
    text = path.read_text()
    if text.count(right) != 1:
        sys.exit(f"{file} has changed: there is no place for the fault \"{name}\"")
    path.write_text(text.replace(right, wrong))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        put_in(*sys.argv[1:])
    else:
        for name, fault in FAULTS.items():
            print(fault[0], name)
