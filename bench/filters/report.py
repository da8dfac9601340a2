#!/usr/bin/python3
"""Turns build/bench.json into the tables of targets and, with --docs, into docs/BENCHMARKS.md and
its plots (from the group `tables`) and docs/CALLS.md (from all other groups).

    bench/filters/report.py [--docs FOLDER] [--no-plots] [--before FILE] [build/bench.json...]

If several files are given, each group of rows is taken from the last one that has it. With
--before, the tables of calls show an older run beside this one. Every number of the page is in the
files or computed here from them. The reasons why a target was missed are copied from the NOTES.md
in bench/filters and bench/calls.
"""
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), f) for f in ("common", "calls"))]
import pictures  # noqa: E402
import tables  # noqa: E402
from reporting import count, num, report, table  # noqa: E402

EXACT = ("list", "sorted-list", "hash-table", "lmdb")
SHRINKING = ("counting", "pair", "cuckoo", "growing", "window")
SEALED = ("fuse", "fuse-4", "ribbon", "ribbon-8", "exact")
NOT_FILTERS = EXACT + ("limit", "hash", "libbloom")
MIB = 1 << 20


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


class Run:
    """The rows of one run, or of several that measured different groups."""

    def __init__(self, paths, before=None):
        groups = {}
        for path in paths:
            rows = load(path)
            for group in {r["group"] for r in rows}:
                groups[group] = [r for r in rows if r["group"] == group]
        contexts = [load(p.removesuffix(".json") + "_context.json") for p in paths]
        self.context = next((c for c in contexts if "tables" in c["groups"]), contexts[0])
        for name in ("processor", "compiler", "run"):
            if len({c[name] for c in contexts}) > 1:
                sys.exit(f"these runs differ in {name}: {', '.join(paths)}")
        self.rows = groups.get("tables", [])
        self.calls = tables.Calls([r for g in groups.values() for r in g],
                                  load(before) if before else ())
        self.sizes = sorted({r["n"] for r in self.rows if r["kind"] == "blocked"})
        self.kinds = list(dict.fromkeys(r["kind"] for r in self.rows
                                        if r["kind"] not in NOT_FILTERS))
        self.rates = sorted({r["rate"] for r in self.rows if r["rate"]}, reverse=True)
        self.tiny = self.context["run"] == "check"

    def all(self, **wanted):
        return [r for r in self.rows if all(r[k] == v for k, v in wanted.items())]

    def one(self, kind, op, mode, keys, rate=0.01, **more):
        """The plain row (64-bit integers, not keyed, one thread, not shared), except for what
        `more` says."""
        wanted = {"kind": kind, "op": op, "mode": mode, "n": keys, "rate": rate,
                  "key_type": "int",
                  "keyed": False, "shared": False, "threads": 1,
                  "input": "array" if mode == "partitioned" else "batch", **more}
        found = self.all(**wanted)
        return found[0] if found else None

    def size(self, scale):
        """1, 10 or 100 million keys, or None if this run has no such size."""
        return self.sizes[scale] if scale < len(self.sizes) else None

    def limit(self, kib, mode="plain"):
        found = self.all(kind="limit", mode=mode, bytes=kib if self.tiny else kib * 1024)
        return found[0] if found else None


# --- Targets --------------------------------------------------------------------------------------


def ratio(row, reference):
    """Median by median, and minimum by minimum: (0.98, 0.97), or None."""
    if row is None or reference is None:
        return None
    return row["ns"] / reference["ns"], row["min_ns"] / reference["min_ns"]


def worst(pairs, pick):
    pairs = [p for p in pairs if p is not None]
    return pick(pairs, key=lambda p: p[0]) if pairs else None


def own_limit(run, row):
    """The plain loop over an array of the size of this row's table."""
    if row is None:
        return None
    lines = run.all(kind="limit", mode="plain")
    return min(lines, key=lambda r: abs(r["bytes"] - row["bytes"]))


def bulk(run, op, scale, mode="bulk", **more):
    keys = run.size(scale)
    return run.one("blocked", op, mode, keys, **more) if keys else None


def against_own_limit(run, scale, mode="bulk"):
    rows = [bulk(run, op, scale, mode) for op in ("positive", "negative")]
    return worst([ratio(r, own_limit(run, r)) for r in rows], max)


def against_limit(run, scale, kib):
    rows = [bulk(run, op, scale) for op in ("positive", "negative")]
    return worst([ratio(r, run.limit(kib)) for r in rows], max)


def against_hashing(run):
    """URLs with the smallest table: the worse of add and query."""
    hashing = run.all(kind="hash", key_type="url", keyed=False)
    if not hashing:
        return None
    rows = [bulk(run, op, 0, key_type="url") for op in ("add", "positive", "negative")]
    return worst([ratio(r, hashing[0]) for r in rows], max)


def against_libbloom(run, ops, key_type, scales):
    """How many times faster, at worst; with partitioning where a call with all keys uses it."""
    pairs = []
    for scale in scales:
        for op in ops:
            peer = run.one("libbloom", op, "single", run.size(scale), key_type=key_type)
            ours = (bulk(run, op, scale, "partitioned", key_type=key_type)
                    or bulk(run, op, scale, key_type=key_type))
            pairs.append(ratio(peer, ours))
    return worst(pairs, min)


def space(run, kind, rate):
    """At the largest size there is, so that the header does not matter."""
    found = run.all(kind=kind, rate=rate, op="add")
    return (max(found, key=lambda r: r["n"])["bits_per_item"], None) if found else None


def at_most(run, kind, ops, scale):
    """The slowest of these bulk operations, in ns."""
    keys = run.size(scale)
    rows = [run.one(kind, op, "bulk", keys) for op in ops] if keys else []
    return worst([(r["ns"], r["min_ns"]) for r in rows if r], max)


def over_bound(run, kind, bound):
    """Bits per item at the largest size, divided by the bound at the rate of the kind."""
    found = run.all(kind=kind, rate=0.01, op="add")
    return (max(found, key=lambda r: r["n"])["bits_per_item"] / bound, None) if found else None


def targets(run):
    """(what, goal in words, goal, at most or at least, measured)"""
    query = ("positive", "negative")
    urls = [s for s in (0, 1) if run.size(s)]
    integers = [s for s in (0, 2) if run.size(s)]
    add = ratio(bulk(run, "add", 2, "partitioned"), bulk(run, "add", 2))
    return [
        ("blocked, bulk query, 100 M, streaming, to the plain-loop limit at its size", 1.05, "max",
         against_own_limit(run, 2)),
        ("the same in one call of 2^25 keys", 0.8, "max", against_own_limit(run, 2, "partitioned")),
        ("blocked, bulk add, 100 M, partitioned, to the streaming add", 0.6, "max", add),
        ("blocked, bulk query, 10 M, to the L3 limit (16 MiB)", 1.3, "max",
         against_limit(run, 1, 16 * 1024)),
        ("blocked, bulk query, 1 M, to the L2 limit (512 KiB)", 1.8, "max",
         against_limit(run, 0, 512)),
        ("blocked, bits per item at 1 %", 10.15, "max", space(run, "blocked", 0.01)),
        ("blocked, bits per item at 0.1 %", 15.8, "max", space(run, "blocked", 0.001)),
        ("compact, bits per item at 1 %", 9.95, "max", space(run, "compact", 0.01)),
        ("compact, bits per item at 0.1 %", 15.6, "max", space(run, "compact", 0.001)),
        ("blocked, URLs, bulk add and query in cache, to hashing alone", 1.7, "max",
         against_hashing(run)),
        ("libbloom to blocked bulk, integers, add", 20, "min",
         against_libbloom(run, ("add",), "int", integers)),
        ("libbloom to blocked bulk, integers, query", 8, "min",
         against_libbloom(run, query, "int", integers)),
        ("libbloom to blocked bulk, URLs, add", 10, "min",
         against_libbloom(run, ("add",), "url", urls)),
        ("libbloom to blocked bulk, URLs, query", 5, "min",
         against_libbloom(run, query, "url", urls)),
        ("ribbon, 1/256 (ribbon-8): size to the bound", 1.006, "max",
         over_bound(run, "ribbon-8", 8)),
        ("ribbon-8, bulk query, 10 M, ns", 6, "max", at_most(run, "ribbon-8", query, 1)),
        ("ribbon-8, add and seal, 10 M, ns", 85, "max", at_most(run, "ribbon-8", ("add",), 1)),
        ("fuse, 3 cells, 1/128: size to the bound", 1.13, "max", over_bound(run, "fuse", 7)),
        ("fuse-4, 4 cells, 1/128: size to the bound", 1.08, "max", over_bound(run, "fuse-4", 7)),
        ("fuse, bulk query, 10 M, ns", 6, "max", at_most(run, "fuse", query, 1)),
        ("fuse-4, bulk query, 10 M, ns", 9, "max", at_most(run, "fuse-4", query, 1)),
        ("fuse, add and seal, 10 M, ns", 60, "max", at_most(run, "fuse", ("add",), 1)),
    ]


def target_rows(run):
    for what, goal, side, measured in targets(run):
        sign = "≤" if side == "max" else "≥"
        if measured is None:
            yield what, f"{sign} {goal:g}", "-", "-", "not in this run"
            continue
        median, minimum = measured
        met = median <= goal if side == "max" else median >= goal
        yield (what, f"{sign} {goal:g}", f"{median:.2f}",
               "" if minimum is None else f"{minimum:.2f}",
               "met" if met else "**missed**")


def print_targets(run):
    if run.calls.rows:
        tables.print_targets(run.calls)
    if not run.rows:
        return
    print("\ntargets: ratios of medians (of minima), worst of the cells\n")
    for what, goal, median, minimum, verdict in target_rows(run):
        both = f"{median} ({minimum})" if minimum not in ("", "-") else median
        print(f"{what:78} {goal:>8} {both:>16}  {verdict.strip('*')}")


# --- The page -------------------------------------------------------------------------------------


def percent(rate):
    return f"{100 * rate:g} %"


def ns(row):
    return "" if row is None else f"{num(row['ns'])} ({num(row['min_ns'])})"


def times(row):
    return "" if row is None or not row["libbloom_ns"] else num(row["libbloom_ns"] / row["ns"])


def mib(n):
    return f"{n / MIB:.4g} MiB" if n else ""


def machine(run):
    c = run.context
    names = {"processor": "processor", "cores": "cores we may use",
             "caches": "caches (L1d, L2, L3)",
             "memory": "memory", "huge_pages": "transparent huge pages", "system": "system",
             "compiler": "compiler", "library": "library"}
    return table(("", ""), [(text, c[name]) for name, text in names.items() if c.get(name)])


def limits(run):
    rows = []
    for plain in sorted(run.all(kind="limit", mode="plain"), key=lambda r: r["bytes"]):
        rolling = run.all(kind="limit", mode="rolling", bytes=plain["bytes"])[0]
        rows.append((mib(plain["bytes"]), mib(plain["huge_bytes"]), ns(plain), ns(rolling)))
    return table(("array", "in huge pages", "plain loop", "rolling prefetch"), rows)


def hashing(run):
    rows = [(count(r["n"]), r["key_type"], "SipHash-2-4" if r["keyed"] else "XXH3", ns(r))
            for r in run.all(kind="hash")]
    return table(("keys", "type", "hash", "ns"), rows)


def variants(run, keys, rate, key_type):
    """Rows of one group, by what was measured together: {(kind, mode, keyed, ...): {op: row}}"""
    found = {}
    for r in run.rows:
        if r["n"] == keys and r["rate"] == rate and r["key_type"] == key_type:
            name = (r["kind"], r["mode"], r["keyed"], r["input"], r["threads"], r["shared"])
            found.setdefault(name, {})[r["op"]] = r
    return found


def filters(run, keys, rate, key_type):
    rows = []
    for variant, ops in variants(run, keys, rate, key_type).items():
        kind, mode, keyed, given, threads, shared = variant
        if threads > 1 or shared or (given == "array" and mode != "partitioned"):
            continue
        positive, negative = ops["positive"], ops["negative"]
        scratch = max(r["scratch_bytes"] for r in ops.values())
        rows.append((f"{kind}{', keyed' if keyed else ''}", mode, ns(ops.get("add")), ns(positive),
                     ns(negative), num(positive["ratio"], 2), num(negative["ratio"], 2),
                     times(ops.get("add")), times(positive), times(negative),
                     num(positive["bits_per_item"], 2), f"{100 * negative['fpr']:.4f}",
                     mib(scratch)))
    return table(("kind", "mode", "add ns", "positive ns", "negative ns", "positive ÷ line",
                  "negative ÷ line", "× libbloom, add", "positive", "negative", "bits", "FPR %",
                  "scratch"),
                 rows)


def groups(run, key_type):
    parts = []
    for keys in run.sizes:
        for rate in run.rates:
            if variants(run, keys, rate, key_type):
                rows = filters(run, keys, rate, key_type)
                parts.append(f"### {count(keys)}, {percent(rate)}\n\n{rows}")
    return "\n\n".join(parts)


def threads(run):
    rows = []
    for keys in run.sizes:
        for (kind, mode, _, given, n, shared), ops in variants(run, keys, 0.01, "int").items():
            if given == "array" and mode == "bulk":
                rows.append((count(keys), kind, "shared" if shared else "plain", n,
                             ns(ops.get("add")),
                             ns(ops["positive"]), ns(ops["negative"])))
    return table(("keys", "kind", "handle", "threads", "add ns", "positive ns", "negative ns"),
                 rows)


def log2_choose(u, n):
    """log2 of the number of sets of n out of u, by Stirling; for u far above n."""
    return (n * (math.log2(u) - math.log2(n)) + n / math.log(2)
            - 0.5 * math.log2(2 * math.pi * n))


def exact(run):
    rows = []
    for keys in sorted({r["n"] for r in run.all(kind="lmdb")}):
        rows.append((count(keys), "array of one bit for every possible key", "formula 2^64 ÷ n",
                     f"{2 ** 64 / keys:.3g}", "", "", ""))
        rows.append((count(keys), "hash table of 4n words", "formula", "256", "", "", ""))
        bound = log2_choose(2.0 ** 64, keys) / keys
        rows.append((count(keys), "any exact structure", "formula log2 C(2^64, n) ÷ n",
                     num(bound, 2), "",
                     "", ""))
        names = [(k, None) for k in EXACT] + [(k, r) for k in run.kinds for r in run.rates]
        for kind, rate in names:
            add, hit, miss = (run.one(kind, op, "single", keys, rate)
                              for op in ("add", "positive-random", "negative"))
            if add is None or hit is None:
                continue
            rows.append((count(keys), kind if rate is None else f"{kind}, {percent(rate)}",
                         "measured",
                         num(add["bits_per_item"], 2), ns(add), ns(hit), ns(miss)))
    return table(("keys", "structure", "", "bits per item", "build ns per key", "found, ns",
                  "not found, ns"), rows)


def collisions(run):
    rows = [(count(r["n"]), f"{(r['n'] - 1) / 2:,.1f}", f"{r['collisions']:,.0f}")
            for r in run.all(kind="hash-table", op="add")]
    return table(("keys in as many places", "expected pairs (n-1)/2", "counted pairs"), rows)


def lost_to_libbloom(run):
    """By kind, way and operation: in how many cells libbloom is faster, and the worst of them."""
    cells = {}
    for r in run.rows:
        if (r["kind"] in run.kinds and r["libbloom_ns"] and not r["keyed"] and not r["shared"]
                and r["threads"] == 1):
            cells.setdefault((r["kind"], r["mode"], r["op"]), []).append(r)
    rows = []
    for (kind, mode, op), found in cells.items():
        lost = [r for r in found if r["ns"] > r["libbloom_ns"]]
        if lost:
            r = max(lost, key=lambda r: r["ns"] / r["libbloom_ns"])
            rows.append((kind, mode, op, f"{len(lost)} of {len(found)}",
                         f"{num(r['ns'])} against {num(r['libbloom_ns'])} ns: {count(r['n'])} "
                         f"{r['key_type']} keys, {percent(r['rate'])}"))
    if not rows:
        return "libbloom is faster in no cell."
    cells_table = table(("kind", "mode", "op", "cells", "the worst"), rows)
    return "libbloom is faster in these cells:\n\n" + cells_table + "\n"


def lost_space(run):
    for rate in run.rates:
        peer = space(run, "libbloom", rate)
        for kind in run.kinds:
            ours = space(run, kind, rate)
            if ours and peer and ours[0] > 1.005 * peer[0]:
                yield (f"* {kind} takes {ours[0]:.2f} bits per item at {percent(rate)}, libbloom "
                       f"{peer[0]:.2f}.")


def lost_to_sharing(run):
    rows = []
    for kind in run.kinds:
        for keys in run.sizes:
            one, two = (run.one(kind, "add", "bulk", keys, shared=True, input="array", threads=n)
                        for n in (1, 2))
            plain = run.one(kind, "add", "bulk", keys)
            if two and plain and two["ns"] > plain["ns"]:
                rows.append((kind, count(keys), num(two["ns"]), num(one["ns"]), num(plain["ns"])))
    if not rows:
        return ("Two threads that add to a shared handle are never slower than one with a plain "
                "handle.")
    return ("Two threads that add to a shared handle are slower than one with a plain handle (ns "
            "per key):\n\n"
            + table(("kind", "keys", "two threads, shared", "one thread, shared",
                     "one thread, plain"), rows))


def lost_to_exact(run):
    for kind in run.kinds:
        for keys in run.sizes:
            ours = run.one(kind, "positive-random", "single", keys)
            exact_row = run.one("hash-table", "positive-random", "single", keys, None)
            if ours and exact_row and ours["ns"] > exact_row["ns"]:
                yield (f"* An exact hash table of {count(keys)} integers finds a key in "
                       f"{num(exact_row['ns'])} ns, {kind} in {num(ours['ns'])} (single calls).")


def losses(run):
    """What a reader must know before choosing this library."""
    lines = [*lost_space(run), *lost_to_exact(run)]
    return "\n".join(["We lose where a target is marked missed, and in these cases:\n", *lines, "",
                      lost_to_sharing(run), "",
                      lost_to_libbloom(run)]).strip()


def notes(folder):
    path = os.path.join(folder, "NOTES.md")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return "\n" + f.read().strip() + "\n"


def chosen(run, kinds):
    """Some kinds with integers and bulk calls."""
    rows = []
    for keys in run.sizes:
        for kind in run.kinds:
            if kind not in kinds:
                continue
            for rate in run.rates:
                ops = [run.one(kind, op, "bulk", keys, rate)
                       for op in ("add", "positive", "negative", "remove")]
                if ops[0] is not None:
                    rows.append((kind, count(keys), percent(rate), *map(ns, ops),
                                 num(ops[0]["bits_per_item"], 2),
                                 f"{100 * ops[2]['fpr']:.4f}"))
    return table(("kind", "keys", "rate", "add ns", "positive ns", "negative ns", "remove ns",
                  "bits", "FPR %"), rows)


PAGE = """# Benchmarks

`./run bench` wrote this page{how}; do not edit it. All numbers are from one run, so that ratios are
fair, except those in the two tables of peers, which say so. Absolute times are those of this
machine. Times are nanoseconds per key, the median of at least three repetitions, with the minimum
in parentheses. If the two disagree, something else was using the machine: trust the minimum.

{machine}

![Time of a single query by the number of keys](bench-single.svg)
![Time of a query in bulk by the number of keys](bench-bulk.svg)
![Time of an add in bulk by the number of keys](bench-add.svg)
![Bits per key by the false-positive rate](bench-space.svg)
![Single calls beside those of other libraries](bench-peers.svg)

## What is measured

* **Keys.** Integers have 64 bits and are random and distinct. URLs have 42 to 58 bytes and are
  distinct. Keys lie one after the other in memory and are queried in that order. Integers are also
  queried in random order, after they were copied into that order.
* **What the clock includes.** With batches of 4096 keys, it includes only the calls. The
  descriptors (pointer and length) of a batch were written just before, and the keys themselves come
  from memory. In the mode *partitioned*, and with threads, all descriptors come from memory as
  well, which is 16 bytes more per key.
* **Builds and queries.** A build includes creating the structure and touching its pages for the
  first time. It does not include `tamis_solve`, whose time does not depend on the number of keys.
  Queries find the structure built.
* **Modes.**
  - *single*: one key per call. libbloom has only this mode.
  - *bulk*: `tamis_add_many` and `tamis_may_contain_many` in batches, streaming.
  - *partitioned*: all keys in one call with the default scratch memory, so that big adds are
    partitioned. Queries, 2^25 in one call, are streamed.
  - *hashes*: batches that were hashed beforehand.
* **Cores.** The program is bound to one core. With threads, each thread is bound to its own core,
  and the time is that of the whole.
* **÷ line** is the time divided by the time for a random 64-byte line in a plain loop over an array
  of the same size, in the same sort of pages. **× libbloom** is libbloom's time (Debian's package,
  same keys, same rate) divided by ours.
* **Memory.** From 4 MiB on, the library asks for huge pages, and so does the loop. libbloom does
  not.

[CALLS.md](CALLS.md) compares single calls with other libraries, and has threads, columns, windows
and plans.

## Targets

The figures are ratios of medians (of minima in parentheses), and the worst of positive and negative
queries and of the sizes named.

{targets}
{notes}
## Where we lose

{losses}

## The limits of the machine

The table shows the time for a random line of 64 bytes by the size of the array. The sizes are those
of the targets and of the tables below.

{limits}

Hashing alone, in the same batches:

{hashing}

## 64-bit integers

{integers}

## URLs of 50 bytes

{urls}

## Removing and growing

Keys are 64-bit integers in bulk. *remove* is measured once, for all keys in the order in which they
were added. *growing* begins with room for 100 keys and has grown to the given size.

{shrinking}

The peers in the next table were not measured in this run, and no command here repeats their
measurement, because they are not packaged. They were measured once on a machine of the same sort
with their own defaults, 64-bit keys, one at a time (n = 1 M; build, positive and negative in ns).

| peer | build | positive | negative | bits | rate |
|---|---|---|---|---|---|
| cuckoofilter (upstream), 12 bits | 34.7 | 5.0 | 5.0 | 12.58 (16.11 at 100 M) | 0.184 % |
| fastfilter_cpp cuckoo, 12 bits, any size | 34.1 | 7.8 | 7.8 | 12.77 | 0.183 % |
| fastfilter_cpp cuckoo, semi-sorted 13 bits | 60.1 | 20.0 | 24.2 | 12.77 | 0.092 % |
| libfilter taffy cuckoo, grown from 1 | 144.5 | 34.0 | 36.5 | 33.55 | 0.184 % |
| libfilter taffy block, grown from 1, 1 % | 1030.7 | 36.0 | 28.4 | 38.83 | 0.091 % |
| libfilter minimal taffy cuckoo, grown from 1 | 4517.8 | 84.9 | 120.8 | 26.21 | 0.550 % |

## Sealed

Keys are 64-bit integers in bulk. *add* includes collecting and sealing. *ribbon-8* is a ribbon for
1/256, eight whole columns. *fuse-4* has four cells per key. *exact* has no excluded keys.

{sealed}

The peers in the next table were measured in the same way (n = 10 M). The 8-bit build of
xor_singleheader has a mistake in its start positions that costs it half the time.

| peer | build | positive | negative | bits | rate |
|---|---|---|---|---|---|
| xor_singleheader binary fuse, 8 bits | 124.4 | 7.9 | 8.0 | 9.02 | 0.386 % |
| xor_singleheader binary fuse, 16 bits | 58.3 | 18.9 | 19.6 | 18.04 | 0.0014 % |
| fastfilter_cpp binary fuse, 4-wise, 8 bits | 63.3 | 11.2 | 10.9 | 8.61 | 0.386 % |
| BuRR, w = 64, 7 columns | 103.7 | 24.6 | 28.7 | 7.02 | 0.774 % |
| BuRR, w = 64, 8 columns | 103.4 | 26.1 | 29.0 | 8.02 | 0.387 % |
| BuRR, w = 64, 10 columns | 111.3 | 40.7 | 34.1 | 10.02 | 0.097 % |

## Threads

Keys are 64-bit integers at 1 %, in batches from a common array. *shared* is a `TAMIS_SHARED`
handle. A plain handle takes queries from any number of threads, but adds from only one.

{threads}

## What a filter saves

The sets consist of 64-bit integers. There is one key per call, and keys that are found are queried
in random order. The list is searched from its beginning, for 64 keys. The sorted list is searched
by bisection. The hash table uses open addressing and is half full. LMDB is a B+tree in a file,
built in one transaction without syncing.

{exact}

Collisions of a hash table with as many places as keys:

{collisions}
"""


def how(run):
    return "" if run.context["run"] == "full" else f" in a {run.context['run']} run"


def page(run):
    """docs/BENCHMARKS.md, or None if the group `tables` is missing."""
    if not run.rows:
        return None
    rows = [(w, g, m if not low or low == "-" else f"{m} ({low})", v)
            for w, g, m, low, v in target_rows(run)]
    return PAGE.format(
        how=how(run), machine=machine(run), targets=table(("", "target", "measured", ""), rows),
        notes=notes(HERE),
        losses=losses(run), limits=limits(run), hashing=hashing(run), integers=groups(run, "int"),
        urls=groups(run, "url"), shrinking=chosen(run, SHRINKING), sealed=chosen(run, SEALED),
        threads=threads(run), exact=exact(run), collisions=collisions(run))


def calls_page(run):
    """docs/CALLS.md, or None if a group is missing."""
    if set(tables.GROUPS) - {r["group"] for r in run.calls.rows}:
        return None
    return tables.PAGE.format(how=how(run), machine=machine(run),
                              notes=notes(os.path.dirname(tables.__file__)),
                              **tables.parts(run.calls))


# --- Plots ----------------------------------------------------------------------------------------


def write_plots(run, folder):
    if run.rows:
        pictures.write(run, folder)


if __name__ == "__main__":
    report(__doc__, "bench.json", {"BENCHMARKS.md": page, "CALLS.md": calls_page}, Run,
           print_targets, write_plots, many=True)
