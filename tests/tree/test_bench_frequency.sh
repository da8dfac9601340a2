#!/bin/sh
# The benchmark of sketches at tiny sizes: it runs, frequency.json has every promised row, and the
# page can be made from it. No time is tested.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

[ -x "$build/bench-frequency" ] || exit 77
command -v mawk >/dev/null || exit 77
"$build/bench-frequency" --check --out "$room/frequency.json" >"$room/table"
if find "$build" -maxdepth 1 -name 'frequency.l*' | grep .; then
    echo "the log is left behind"
    exit 1
fi

/usr/bin/python3 - "$room/frequency.json" <<'PYTHON'
import json
import sys

run = json.load(open(sys.argv[1], encoding="utf-8"))
STRUCTURES = ("count-min, 64 bits", "count-min", "conservative", "count-sketch", "tally", "top")
BUDGETS = (65536, 262144, 1048576, 4194304)
STREAMS = ("z0.8", "z1.0", "z1.3", "url", "url, grouped", "url, rising")
errors = {(r["stream"], r["bytes"], r["structure"]): r for r in run["accuracy"]}
assert set(errors) == {(s, b, k) for s in STREAMS for b in BUDGETS
                       for k in (*STRUCTURES, "always 0")}
assert len(errors) == len(run["accuracy"]), "a row twice"
for (stream, size, structure), r in errors.items():
    if structure == "always 0":
        assert r["mean"] > 0 and r["found"] == 0 and r["under"] == 1, r
        continue
    assert (r["upper"] is None) == (structure == "count-sketch"), r
    assert r["inside"] > 0.97, r
    assert structure == "count-sketch" or r["under"] == 0, r
    assert r["mean"] < errors[stream, size, "always 0"]["mean"] or size < 1 << 18, r
for size in BUDGETS[:3]:
    for structure in STRUCTURES[:5]:
        for how in "add hashes", "add hashes, counted", "count hashes", "upper hashes":
            wanted = (size, structure, how)
            assert size == 262144 or any((r["bytes"], r["structure"], r["how"]) == wanted
                                         for r in run["speed"]), wanted
assert all(0 < r["min_ns"] <= r["ns"] and r["repetitions"] >= 3 for r in run["speed"])
commands = {r["command"]: r for r in run["commands"]}
assert commands["tamis top"]["same"] and commands["mawk | sort -rn | head"]["same"], commands
assert all(r["wall"] > 0 and r["rss"] > 0 for r in commands.values())
assert len({r["stream"] for r in run["contest"]}) == 8 and run["run"] == "check"
PYTHON

plots=
command -v gnuplot >/dev/null || plots=--no-plots
mkdir "$room/docs"
/usr/bin/python3 "$source/bench/frequency/report.py" --docs "$room/docs" $plots \
    "$room/frequency.json" >"$room/targets"
for heading in Targets 'Where we lose' 'Errors in the same memory' 'Count-sketch or count-min' \
    Speed 'On the command line'; do
    grep -q "^## $heading" "$room/docs/FREQUENCY.md" || { echo "no section $heading"; exit 1; }
done
if grep -nE '\bnan\b|None' "$room/docs/FREQUENCY.md"; then echo "missing numbers"; exit 1; fi
/usr/bin/python3 "$source/tests/support/same_prose.py" "$source/bench/frequency/report.py" \
    "$source/docs/FREQUENCY.md"
[ -n "$plots" ] || for plot in error contest; do
    /usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
        "$room/docs/frequency-$plot.svg"
done
echo 'every row is there'
