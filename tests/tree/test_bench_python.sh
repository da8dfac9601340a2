#!/bin/sh
# The benchmark of the Python package with few keys: every row is there, and the report fills every
# table in a copy of docs/PYTHON.md. No time is tested.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

[ -e "$build/libtamis.so" ] || exit 77
sh "$source/tests/python/install.sh" >"$room/log" 2>&1 || { cat "$room/log"; exit 77; }
"$build/python/venv/bin/python" -B "$source/bench/python/measure.py" --rows 5000 \
    --library "$build/libtamis.so" --out "$room/python.json" >"$room/table"

/usr/bin/python3 - "$room/python.json" <<'PYTHON'
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {(r["group"], r["what"], r["op"]) for r in told["rows"]}
for group, names in (("int64le", ["C", "numpy int64", "list of int"]),
                     ("decimal text", ["C", "numpy int64"]),
                     ("strings", ["C", "numpy S", "Arrow strings", "numpy U", "numpy object"]),
                     ("packages", ["set", "in Python alone", "tamis, list"])):
    assert {(group, name, op) for name in names for op in ("add", "query")} <= rows, group
for n in ("1,000", "5,000"):
    assert {(f"in, {n} keys", f"{who}, {what}", "query") for who in ("set", "Filter")
            for what in ("str", "new str", "bytes", "int")} <= rows, n
PYTHON

mkdir "$room/docs"
cp "$source/docs/PYTHON.md" "$room/docs"
/usr/bin/python3 -B "$source/bench/python/report.py" --docs "$room/docs" "$room/python.json" \
    >"$room/goals"
[ "$(grep -c goal "$room/goals")" -ge 12 ] || { cat "$room/goals"; exit 1; }
for name in machine goals columns singles packages; do
    sed -n "/^<!-- python $name: written/,/^<!-- python $name: end/p" "$room/docs/PYTHON.md" \
        >"$room/block"
    [ "$(wc -l <"$room/block")" -ge 5 ] || { echo "no $name"; exit 1; }
    if grep -nE '\b(nan|inf)\b|None' "$room/block"; then echo "missing numbers"; exit 1; fi
done
outside='/^<!-- python .*: written/,/^<!-- python .*: end/d'
sed "$outside" "$source/docs/PYTHON.md" >"$room/prose"
sed "$outside" "$room/docs/PYTHON.md" | cmp - "$room/prose"

# A page without its marks is refused, and left as it is.
sed 's/python goals: end/nothing/' "$source/docs/PYTHON.md" >"$room/docs/PYTHON.md"
cp "$room/docs/PYTHON.md" "$room/kept.md"
if /usr/bin/python3 -B "$source/bench/python/report.py" --docs "$room/docs" "$room/python.json" \
    >/dev/null 2>&1; then
    echo "a page without marks is taken"
    exit 1
fi
cmp "$room/kept.md" "$room/docs/PYTHON.md"
echo 'every table is there'
