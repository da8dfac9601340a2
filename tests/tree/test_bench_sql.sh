#!/bin/sh
# The benchmark of the SQL extensions with few rows: every row is there, and the report fills every
# table in a copy of docs/SQL.md. No time is tested.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

status=0
/usr/bin/python3 "$source/bench/sql/measure.py" --rows 20000 --out "$room/sql.json" \
    >"$room/log" 2>&1 || status=$?
[ $status -eq 0 ] || { cat "$room/log"; exit $status; } # 77: something is missing

/usr/bin/python3 - "$room/sql.json" <<'PYTHON'
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {(r["group"], r["what"]): r for r in told["rows"]}
for group, names in (("distinct, {}", ["plain", "approx_count_distinct", "count(DISTINCT)"]),
                     ("workers", ["plain", "approx_count_distinct"]),
                     ("top, {}", ["plain", "approx_top_k", "GROUP BY"]),
                     ("members, {}", ["plain", "f @> x", "f @> x AND IN", "IN", "EXISTS",
                                      "= ANY (array)"]),
                     ("groups", ["plain", "approx_count_distinct", "count(DISTINCT)"])):
    groups = {group.format(memory) for memory in ("4MB", "256MB")}
    assert {(one, name) for one in groups for name in names} <= set(rows), group
    assert all(rows[one, name]["seconds"] > 0 for one in groups for name in names), group
# What is exact has the same answers, and the filter misses no member.
exact = {rows["members, 4MB", name]["answer"] for name in ("f @> x AND IN", "IN", "EXISTS",
                                                      "= ANY (array)")}
assert len(exact) == 1 and rows["members, 4MB", "f @> x"]["answer"] >= exact.pop()
assert "Finalize Aggregate" in told["context"]["plan"][0], told["context"]["plan"]
assert any("Partial Aggregate" in line for line in told["context"]["plan"])
PYTHON

mkdir "$room/docs"
cp "$source/docs/SQL.md" "$room/docs"
/usr/bin/python3 -B "$source/bench/sql/report.py" --docs "$room/docs" "$room/sql.json" \
    >"$room/goals"
[ "$(grep -c 'goal ' "$room/goals")" -eq 7 ] || { cat "$room/goals"; exit 1; }
for name in machine goals queries; do
    sed -n "/^<!-- sql $name: written/,/^<!-- sql $name: end/p" "$room/docs/SQL.md" >"$room/block"
    [ "$(wc -l <"$room/block")" -ge 6 ] || { echo "no $name"; exit 1; }
    if grep -nE '\b(nan|inf)\b|None' "$room/block"; then echo "missing numbers"; exit 1; fi
done
outside='/^<!-- sql .*: written/,/^<!-- sql .*: end/d'
sed "$outside" "$source/docs/SQL.md" >"$room/prose"
sed "$outside" "$room/docs/SQL.md" | cmp - "$room/prose"
echo 'every table is there'
