"""Tables of the groups of calls in bench.json, and their targets. Where an older run is given
(--before), a cell is "before → now"."""
import textwrap

from reporting import count, num, table

NOTHING = "Not in this run."
GROUPS = ("single", "urls", "updates", "bulk", "columns", "encodings", "threads", "shared",
          "windows", "plans", "memory")
NAME = ("group", "kind", "op", "mode", "key_type", "n", "threads", "rate")
OURS = {"blocked", "bloom", "cuckoo", "fuse", "ribbon", "count-min", "count-sketch", "tally", "top",
        "distinct", "nothing"}
OPS = {"positive": "query, present", "negative": "query, absent"}

PAGE = """# Benchmarks of calls

`./run bench calls` wrote this page{how}; do not edit it. It is about programs that pass one key per
call, have several threads, or make many small filters. All numbers are from one run. Times are
those of this machine, and the targets were set on another one, an AMD EPYC (Zen 4) with two cores.
[BENCHMARKS.md](BENCHMARKS.md) measures the kinds of filters in bulk.

{machine}

## Targets

{call_targets}
{notes}
## Single calls

Rows of one group are measured in turn, round after round in one run; the time is the median of the
rounds. *independent* calls do not wait for each other. In a *dependent* chain, each key is chosen
by the answer before it, as in a program that decides what to do next; adds then also return whether
the key was a member. Sets have 1 % false positives (fuse: 1/128), and their keys are 64-bit
integers. Before a round, other keys are queried, so that a filter is in the caches where it fits.
Adds start with an empty filter. At most 2 M keys are added, to a cuckoo filter up to 7/8 of its
room. Peers are libbloom and the libraries that `TAMIS_BENCH_PEER` names (bench/common/peer.h).
*instructions* are counted by the processor, or by callgrind with 20,000 keys if the processor hides
its counters; callgrind runs the AVX2 code. *nothing* is the loop with a call that returns at once.
An arrow separates a run of an older version on the same machine, on its left, from this one.

{peers}

{single}

URLs of 54 bytes:

{urls54}

Sketches of 1 MiB with a stream in which the frequency of a key is inversely proportional to its
rank. *upper* is `tamis_upper`. The distinct sketch has 4,096 registers and 1,000 keys for each:

{updates}

## Calls with many keys

Batches of 4096 keys:

{bulk}{slower}

Columns of a `blocked` filter in batches of 2048, against `tamis_may_contain_many`, whose
descriptors are there already or are written first:

{columns}

A plan that states how its keys are encoded:

{encodings}

`tamis_options.threads`, with 2^20 keys in one call and 10 M in the filter:

{call_threads}

Threads that use one handle of 10 M keys:

{shared}

## Windows, plans and memory

Windows of `blocked` filters for 1 M keys, and of tops in 16 MiB for all generations. *top after
rotation* is `tamis_top` for 20 items right after `tamis_rotate`:

{windows}

`tamis_solve` for 1 M items, and creating and closing a filter of 1000 items:

{plans}

Memory of a handle or a view besides its cells. *view_at* is the room that the caller provides:

{memory}
"""


class Calls:
    """The rows of the groups in one run, and those of an older run."""

    def __init__(self, rows, before=()):
        self.rows = [r for r in rows if r["group"] in GROUPS]
        self.before = {tuple(r[f] for f in NAME): r for r in before if r["group"] in GROUPS}

    def all(self, **wanted):
        return [r for r in self.rows if all(r[k] == v for k, v in wanted.items())]

    def one(self, group, kind, op, mode, n=None, **more):
        """The row with these fields; n is the place of the size among those of the group."""
        found = self.all(group=group, kind=kind, op=op, mode=mode, **more)
        sizes = sizes_of(self, group)
        found = [r for r in found if n is None or (n < len(sizes) and r["n"] == sizes[n])]
        return found[0] if found else None

    def old(self, row):
        return self.before.get(tuple(row[f] for f in NAME))


def sizes_of(calls, group):
    return sorted({r["n"] for r in calls.all(group=group)})


def op_text(row):
    return OPS.get(row["op"], row["op"])


def short(x):
    return f"{x:,}" if isinstance(x, int) else num(x, 1 if x >= 10 else 2)


def cell(calls, row, field="ns", scale=1):
    """The median, after that of the older run if there is one."""
    if row is None or row[field] is None:
        return ""
    old = calls.old(row)
    now = short(row[field] if scale == 1 else row[field] / scale)
    if old is None or old[field] is None:
        return now
    return f"{short(old[field] if scale == 1 else old[field] / scale)} → {now}"


def instructions(calls, row):
    return "" if row is None else cell(calls, row, "instructions")


def by_size(calls, group):
    """One row for each kind, operation and mode; one column for each size."""
    sizes = sizes_of(calls, group)
    found = {}
    for r in calls.all(group=group):
        found.setdefault((r["kind"], op_text(r), r["mode"]), {})[r["n"]] = r
    if not found:
        return NOTHING
    rows = [(*name, *(cell(calls, at.get(n)) for n in sizes), instructions(calls, at[min(at)]),
             "" if at[min(at)]["fpr"] is None else f"{100 * at[min(at)]['fpr']:.2f}")
            for name, at in found.items()]
    return table(("kind", "call", "", *(f"{count(n)}, ns" for n in sizes), "instructions",
                  f"FPR %, {count(sizes[0])}"), rows)


def plain(calls, group, unit="ns", scale=1):
    """One row for each row of the group."""
    found = calls.all(group=group)
    if not found:
        return NOTHING
    columns = [("kind", lambda r: r["kind"]), ("call", op_text), ("", lambda r: r["mode"]),
               ("keys", lambda r: {"int": "8 bytes", "text20": "20 bytes",
                                   "url54": "54 bytes"}.get(r["key_type"], r["key_type"])),
               ("n", lambda r: count(r["n"])),
               ("threads", lambda r: str(r["threads"])),
               ("rate", lambda r: f"{100 * r['rate']:g} %" if r["rate"] else ""),
               (unit, lambda r: cell(calls, r, scale=scale)),
               ("instructions", lambda r: instructions(calls, r))]
    kept = [(name, f) for name, f in columns
            if name in ("kind", "call", "", unit, "instructions")
            or len({f(r) for r in found}) > 1]
    return table([name for name, _ in kept], [[f(r) for _, f in kept] for r in found])


def memory(calls):
    found = calls.all(group="memory")
    if not found:
        return NOTHING
    return table(("kind", "", "bytes", "allocations"),
                 [(r["kind"], r["op"], cell(calls, r, "bytes"), cell(calls, r, "allocations"))
                  for r in found])


# --- Targets --------------------------------------------------------------------------------------

SINGLE = (("blocked", "positive", (5, 17, 20)), ("blocked", "add", (5.5, 18, 22)),
          ("bloom", "positive", (14, 30, 50)), ("cuckoo", "positive", (12, 34, 40)),
          ("fuse", "positive", (10, 18, 32)), ("ribbon", "positive", (25, 60, 90)))
COUNTS = (("blocked", "positive", 60), ("blocked", "add", 80), ("bloom", "positive", 120),
          ("cuckoo", "positive", 120), ("fuse", "positive", 90), ("ribbon", "positive", 320))


def value(row, field="ns", scale=1.0):
    return None if row is None or row[field] is None else row[field] / scale


def ratio(row, reference):
    return None if row is None or reference is None else row["ns"] / reference["ns"]


def single_targets(calls):
    for kind, op, goals in SINGLE:
        for i, goal in enumerate(goals):
            row = calls.one("single", kind, op, "independent", i)
            yield (f"{kind}, single {OPS.get(op, op)}, {(1, 10, 100)[i]} M, ns", goal, value(row))
    loop = value(calls.one("single", "nothing", "call", "independent", 0), "instructions") or 0
    for kind, op, goal in COUNTS:
        row = calls.one("single", kind, op, "independent", 0)
        counted = value(row, "instructions")
        yield (f"{kind}, single {OPS.get(op, op)}, instructions without the loop", goal,
               None if counted is None else round(counted - loop))
    for op, goal in (("add", 11), ("positive", 10)):
        row = calls.one("urls", "blocked", op, "independent")
        yield f"blocked, single {OPS.get(op, op)}, URLs of 54 bytes, 1 M, ns", goal, value(row)
    for kind, goal in (("count-min", 15), ("tally", 18), ("top", 25)):
        row = calls.one("updates", kind, "add", "independent")
        yield f"{kind} of 1 MiB, single update, ns", goal, value(row)
        counted = calls.one("updates", kind, "add counted", "independent")
        yield f"{kind} of 1 MiB, add with count to add", 1.3, ratio(counted, row)
    for op, mode, goal in (("add", "independent", 7), ("add", "bulk", 2.5),
                           ("merge", "sketches", 10000), ("estimate", "sketch", 60000)):
        row = calls.one("updates", "distinct", op, mode)
        yield f"distinct of 16 KiB, 1,000 keys per register, {mode} {op}, ns", goal, value(row)


def bulk_targets(calls):
    for kind, op, goal in (("blocked", "add", 2.5), ("blocked", "positive", 2.2),
                           ("bloom", "negative", 9)):
        row = calls.one("bulk", kind, op, "batches", 0)
        yield f"{kind}, bulk {OPS.get(op, op)}, 1 M, ns", goal, value(row)
    for mode, goals in (("shared, bulk", (10, 5.5)), ("shared, single", (30, 16))):
        for i, goal in enumerate(goals):
            row = calls.one("shared", "blocked", "add", mode, threads=i + 1)
            threads = ("1 thread", "2 threads")[i]
            yield f"blocked, {mode} add, 10 M, {threads}, ns", goal, value(row)
    for key_type, text, goal in (("int", "8-byte integers", 0.7),
                                 ("text20", "20-byte texts", 0.65)):
        column, many = (calls.one("columns", "blocked", "positive", mode, key_type=key_type)
                        for mode in ("column", "many"))
        yield f"column query to tamis_may_contain_many, {text}", goal, ratio(column, many)


def other_targets(calls):
    for mode, goal in (("4 generations", 60), ("13 generations", 120), ("61 generations", 400)):
        row = calls.one("windows", "window", "positive", mode)
        yield f"window of blocked, 1 M, query, {mode}, ns", goal, value(row)
    for kind, goal in (("auto", 15), ("bloom", 15), ("compact", 30), ("blocked", 3)):
        rows = [value(r, scale=1000) for r in calls.all(group="plans", kind=kind, op="solve")]
        yield f"tamis_solve, {kind}, µs at worst", goal, max(rows, default=None)
    for op in ("handle", "view"):
        row = calls.one("memory", "blocked", op, "besides the cells")
        yield f"memory of a {op} besides its cells, bytes", 192, value(row, "bytes")
        yield f"allocations of a {op}", 1, value(row, "allocations")


def targets(calls):
    """(what, goal, measured or None); every goal is a maximum."""
    return [*single_targets(calls), *bulk_targets(calls), *other_targets(calls)]


def target_table(calls):
    rows = []
    for what, goal, measured in targets(calls):
        verdict = ("not in this run" if measured is None
                   else "met" if measured <= goal else "**missed**")
        rows.append((what, f"≤ {goal:g}", "" if measured is None else num(measured, 2), verdict))
    return table(("", "target", "measured", ""), rows)


def print_targets(calls):
    print("\ntargets of calls\n")
    for what, goal, measured in targets(calls):
        if measured is not None:
            verdict = "met" if measured <= goal else f"missed: {measured / goal:.2f} times"
            print(f"{what:66} {'≤ ' + format(goal, 'g'):>8} {num(measured, 2):>10}  {verdict}")


def slower(calls):
    """Which bulk calls took more time than in the older run."""
    if not calls.before:
        return ""
    rows = [(r["kind"], op_text(r), count(r["n"]), num(calls.old(r)["ns"]), num(r["ns"]),
             num(r["ns"] / calls.old(r)["ns"], 2)) for r in calls.all(group="bulk")
            if calls.old(r) and r["ns"] > 1.03 * calls.old(r)["ns"]]
    if not rows:
        return "\n\nNo bulk call takes over 3 % more time than before."
    return ("\n\nThese bulk calls take over 3 % more time than before:\n\n"
            + table(("kind", "call", "keys", "before, ns", "now, ns", "ratio"), rows))


def peers(calls):
    names = dict.fromkeys(r["kind"] for r in calls.rows
                          if r["group"] in ("single", "urls", "updates") and r["kind"] not in OURS)
    text = f"Peers in this run: {', '.join(names)}." if names else "No peer was in this run."
    return textwrap.fill(text, 100)


def parts(calls):
    """The tables by their names in the page."""
    return {"call_targets": target_table(calls), "peers": peers(calls),
            "single": by_size(calls, "single"), "urls54": plain(calls, "urls"),
            "updates": plain(calls, "updates"),
            "bulk": by_size(calls, "bulk"), "slower": slower(calls),
            "columns": plain(calls, "columns"), "encodings": plain(calls, "encodings"),
            "call_threads": plain(calls, "threads"), "shared": plain(calls, "shared"),
            "windows": plain(calls, "windows"), "plans": plain(calls, "plans", "µs", 1000),
            "memory": memory(calls)}
