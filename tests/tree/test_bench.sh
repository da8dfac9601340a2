#!/bin/sh
# The benchmark of filters at tiny sizes: it runs, bench.json has every promised row and field, and
# the page can be made from it. No time is tested.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
[ -x "$build/bench" ] || { echo "skipped: built without the benchmark"; exit 77; }
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

TMPDIR=$room "$build/bench" --check --out "$room/bench.json" >"$room/table"
[ "$(wc -l <"$room/table")" -gt 100 ] || { echo "a table of few lines"; exit 1; }
if find "$room" -name 'tamis-bench-*' | grep .; then echo "a database is left behind"; exit 1; fi

/usr/bin/python3 - "$room/bench.json" <<'PYTHON'
import json
import math
import sys

everything = json.load(open(sys.argv[1], encoding="utf-8"))
rows = [r for r in everything if r["group"] == "tables"]
context = json.load(open(sys.argv[1].replace(".json", "_context.json"), encoding="utf-8"))

TEXT = ("group", "kind", "op", "mode", "key_type", "input")
FLAGS = ("keyed", "shared")
COUNTS = ("n", "threads", "repetitions", "bytes", "huge_bytes", "scratch_bytes")
NUMBERS = ("rate", "ns", "min_ns", "instructions", "limit_ns", "rolling_ns", "ratio", "hash_ns",
           "libbloom_ns", "bits_per_item", "fpr", "collisions")
for r in rows:
    assert set(r) == {*TEXT, *FLAGS, *COUNTS, *NUMBERS}, r
    assert all(isinstance(r[f], str) and r[f] for f in TEXT), r
    assert all(isinstance(r[f], bool) for f in FLAGS), r
    assert all(isinstance(r[f], int) and r[f] >= 0 for f in COUNTS), r
    assert all(r[f] is None or (isinstance(r[f], (int, float)) and r[f] >= 0) for f in NUMBERS), r
    assert r["repetitions"] >= (1 if r["op"] == "remove" else 3) and 0 < r["min_ns"] <= r["ns"], r
    if r["kind"] not in ("hash", "limit"):
        assert math.isclose(r["ratio"], r["ns"] / r["limit_ns"], rel_tol=1e-3), r
        assert r["bits_per_item"] > 5 and r["bytes"] > 0, r
    assert (r["fpr"] is not None) == (r["op"] == "negative"), r

names = [tuple(r[f] for f in ("kind", "op", "mode", "key_type", "input", "keyed", "shared",
                              "threads", "n", "rate", "bytes")) for r in rows]
assert len(set(names)) == len(names), "a row twice"


def has(**wanted):
    assert any(all(r[k] == v for k, v in wanted.items()) for r in rows), f"no row with {wanted}"


OPS = ("add", "positive", "negative")
RATES = (0.01, 0.001)
small, middle, big = sizes = sorted({r["n"] for r in rows if r["kind"] == "blocked"})
kinds = {r["kind"] for r in rows if r["rate"] is not None} - {"libbloom"}
plain = {"counting", "pair", "growing", "window", "cuckoo", "fuse", "fuse-4", "ribbon", "exact"}
assert {"blocked", "compact", "bloom", "partitioned", "ribbon-8", *plain} == kinds
for op in OPS:
    has(kind="ribbon-8", op=op, mode="bulk", n=big, rate=0.01)
kinds.remove("ribbon-8")  # only that
for kind in ("counting", "pair", "cuckoo"):
    has(kind=kind, op="remove", mode="bulk", n=middle)
has(kind="cuckoo", op="remove", mode="bulk", n=big)
for kib in (512, 1024, 16384, 131072, 1048576):
    for mode in ("plain", "rolling"):
        has(kind="limit", op="line", mode=mode, bytes=kib)
for key_type in ("int", "url"):
    for keyed in (False, True):
        has(kind="hash", key_type=key_type, keyed=keyed)
for keys in (small, middle):
    for rate in RATES:
        for op in OPS:
            cell = {"op": op, "n": keys, "rate": rate}
            for kind in kinds:
                most = kind in plain and keys != small
                for key_type in ("int",) if most else ("int", "url"):
                    for mode in ("bulk",) if most else ("single", "bulk"):
                        for keyed in (False,) if kind in plain else (False, True):
                            has(kind=kind, key_type=key_type, mode=mode, keyed=keyed, threads=1,
                                **cell)
                if kind in plain:
                    continue
                has(kind=kind, mode="hashes", **cell)
                if op != "add":
                    has(kind=kind, threads=2, shared=False, **cell)
            for key_type in ("int", "url"):
                has(kind="libbloom", key_type=key_type, **cell)
            has(kind="blocked", threads=2, shared=True, **cell)
for kind in ("list", "sorted-list", "hash-table", "lmdb"):
    for op in (*OPS, "positive-random"):
        for keys in (small, middle):
            has(kind=kind, op=op, n=keys)
for op in OPS:
    for kind in (*kinds - plain, "cuckoo", "libbloom"):
        has(kind=kind, op=op, n=big, rate=0.01)
    for rate in RATES:
        has(kind="blocked", op=op, n=big, rate=rate, mode="partitioned", input="array")
for kind in kinds:
    has(kind=kind, op="positive-random", mode="bulk", n=middle if kind in plain else big)
    assert len([p for p in context["plans"] if p["kind"] == kind]) > 10, kind
assert all(context[f] for f in ("processor", "compiler", "huge_pages", "run")), context
PYTHON

plots=
command -v gnuplot >/dev/null || plots=--no-plots
mkdir "$room/docs"
/usr/bin/python3 "$source/bench/filters/report.py" --docs "$room/docs" $plots \
    "$room/bench.json" >"$room/targets"
for heading in Targets 'Where we lose' 'Removing and growing' Threads 'What a filter saves'; do
    grep -q "^## $heading" "$room/docs/BENCHMARKS.md" || { echo "no section $heading"; exit 1; }
done
if grep -nE '\b(nan|inf)\b|None' "$room/docs/BENCHMARKS.md"; then echo "missing numbers"; exit 1; fi
notes=$(head -n 1 "$source/bench/filters/NOTES.md")
grep -qF "$notes" "$room/docs/BENCHMARKS.md" || { echo "the page lacks the notes"; exit 1; }
/usr/bin/python3 "$source/tests/support/same_prose.py" "$source/bench/filters/report.py" \
    "$source/docs/BENCHMARKS.md"
if [ -z "$plots" ]; then
    for plot in bulk add space; do
        /usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
            "$room/docs/bench-$plot.svg"
    done
fi
echo 'every row is there'
