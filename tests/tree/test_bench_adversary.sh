#!/bin/sh
# The attacks at small sizes: the report takes them, fills the table in a copy of SECURITY.md, and
# refuses results that break a promise.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

[ -x "$build/bench-adversary" ] || exit 77
report() { /usr/bin/python3 "$source/bench/adversary/report.py" "$@"; }
"$build/bench-adversary" --quick >"$room/good.json"
cp "$source/SECURITY.md" "$room/page.md"
report --docs "$room/page.md" "$room/good.json" >"$room/table"
[ "$(grep -c '^| ' "$room/table")" = 9 ]
[ "$(grep -cFf "$room/table" "$room/page.md")" -ge 10 ]
grep -q '^| \*\*forgery\*\*.*| 100 % of [0-9,]* | [01]\.[0-9]* % of ' "$source/SECURITY.md"

# Results that break a promise are not published.
for fault in 's/("forge accepted keyed": ).*,/\10.02,/' 's/("pollute rate keyed": ).*,/\10.02,/' \
    's/("flood accepted keyed": ).*,/\1600,/' 's/("pile accepted keyed": ).*,/\1600,/' \
    's/("replay told keyed": ).*,/\10.5,/' 's/("cover error keyed": ).*,/\190000,/'; do
    sed -E "$fault" "$room/good.json" >"$room/bad.json"
    cmp -s "$room/good.json" "$room/bad.json" && { echo "$fault changes nothing"; exit 1; }
    cp "$room/page.md" "$room/kept.md"
    if report --docs "$room/kept.md" "$room/bad.json" >/dev/null 2>&1; then
        echo "$fault: taken"
        exit 1
    fi
    cmp "$room/page.md" "$room/kept.md"
done
echo 'the attacks are as published'
