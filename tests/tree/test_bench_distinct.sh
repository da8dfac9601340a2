#!/bin/sh
# The benchmark of `distinct` with few runs: distinct.json has every promised row, the peers that
# are installed are measured, and the report fills every table in a copy of docs/ACCURACY.md. No
# time is tested.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

[ -x "$build/bench-distinct" ] || exit 77
bench=$source/bench/distinct
chmod 711 "$room" # PostgreSQL runs as another user if this is root
"$build/bench-distinct" --check --out "$room/distinct.json" >"$room/table"
TMPDIR=$room /usr/bin/python3 -B "$bench/peers.py" --check --into "$room/distinct.json" \
    >"$room/peers"
if find "$room" -name 'tamis-distinct-*' | grep .; then echo "a server's folder is left"; exit 1; fi

/usr/bin/python3 - "$room/distinct.json" "$room/peers" <<'PYTHON'
import json
import shutil
import sys

run = json.load(open(sys.argv[1], encoding="utf-8"))
said = open(sys.argv[2], encoding="utf-8").read()
for p, most in (8, 128), (11, 1024), (12, 2048):
    rows = {r["n"]: r for r in run["errors"] if r["p"] == p and not r["shared"] and not r["every"]}
    assert set(rows) >= {10 ** i for i in range(3, 8)} | {most - 1, most, most + 1}, (p, set(rows))
    for n, r in rows.items():
        assert r["exact"] == (n <= most), r
        assert (r["variance"] == 0) == (n <= most) and r["below"] + r["above"] < 0.2, r
assert all(r["every"] > 0.8 and r["small"] in (0, 1) for r in run["sets"]), run["sets"]
assert {r["what"] for r in run["speed"]} == {"bulk add", "single add", "merge", "estimate"}
assert {r["d"] for r in run["widths"]} == {16, 20, 24}
peers = {r["peer"] for r in run["peers"]}
if shutil.which("redis-server"):
    assert "Redis, PFCOUNT" in peers, said
else:
    assert "Redis is left out" in said, said
assert "hll, default" in peers or "hll is left out" in said, said
assert all(r["variance"] < 0.01 for r in run["peers"]), run["peers"]
PYTHON

plots=
command -v gnuplot >/dev/null || plots=--no-plots
mkdir "$room/docs"
cp "$source/docs/ACCURACY.md" "$room/docs"
/usr/bin/python3 -B "$bench/report.py" --docs "$room/docs" $plots "$room/distinct.json" \
    >"$room/targets"
for name in run tokens every errors registers header widths sets peers speed targets; do
    sed -n "/^<!-- distinct $name: written/,/^<!-- distinct $name: end/p" "$room/docs/ACCURACY.md" \
        >"$room/block"
    [ "$(wc -l <"$room/block")" -ge 4 ] || [ $name = peers ] || { echo "no $name"; exit 1; }
    if grep -nE '\b(nan|inf)\b|None' "$room/block"; then echo "missing numbers"; exit 1; fi
done
# Only the tables differ from the page, whose figures are those of a full run.
outside='/^<!-- distinct .*: written/,/^<!-- distinct .*: end/d'
sed "$outside" "$source/docs/ACCURACY.md" >"$room/prose"
sed "$outside" "$room/docs/ACCURACY.md" | cmp - "$room/prose"
grep -q 'are from one full run of' "$source/docs/ACCURACY.md"
[ -n "$plots" ] || for plot in memory error coverage; do
    /usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
        "$room/docs/distinct-$plot.svg"
done

# The constants of the library are those of the theory.
/usr/bin/python3 -B "$bench/theory.py" | grep '^d = 24: ' >"$room/theory"
for name in INFORMATION BIAS; do
    value=$(sed -n "s/^#define $name \\([0-9.]*\\)\$/\\1/p" "$source/src/distinct/likelihood.c")
    grep -qF " $value" "$room/theory" || { echo "$name: $value"; cat "$room/theory"; exit 1; }
done

# A page without its marks is refused, and left as it is.
sed 's/distinct sets: end/nothing/' "$source/docs/ACCURACY.md" >"$room/docs/ACCURACY.md"
cp "$room/docs/ACCURACY.md" "$room/kept.md"
if /usr/bin/python3 -B "$bench/report.py" --docs "$room/docs" --no-plots "$room/distinct.json" \
    >/dev/null 2>&1; then
    echo "a page without marks is taken"
    exit 1
fi
cmp "$room/kept.md" "$room/docs/ACCURACY.md"
echo 'every table is there'
