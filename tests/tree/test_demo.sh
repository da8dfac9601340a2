#!/bin/sh
# ./run demo, after its build: it comes to its end, with nothing missed and no figure left out.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
TAMIS=${TAMIS:-$source/build/tamis}
export TAMIS
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

cd "$source"
sh tools/demo.sh >"$room/out" 2>"$room/err" || { cat "$room/out" "$room/err"; exit 1; }
[ ! -s "$room/err" ] || { cat "$room/err"; exit 1; }
has() { grep -Eq -e "$1" "$room/out" || { echo "the demo does not say: $1"; exit 1; }; }
for question in 'Have I seen it[?]' 'How often[?]' 'How many distinct[?]'; do
    has "^== $question .* ==$"
done
has '^[$] tamis build --fpr 0.1% -o bad.tamis bad.txt$'
has "^[$] tamis check -c --field 1 -t ' ' bad.tamis access.log$"
has '^  really bad          30[0-9]{3} of 300000 requests, counted exactly; the filter reported 30'
has '^  wrong "no"          0 of 100000 '
# 1000 are expected at 0.1 %, the same keys and the same seed every time.
has '^  wrong "maybe"       (9|10)[0-9]{2} of 1000000 other addresses: 0\.(09|10)[0-9]{2} %, '\
'promised 0\.1 %$'
# The pages of top are those of sort and uniq, with the same counts.
sed -n '/^[$] tamis top/,/^$/s/^ *\([0-9]*\)  .* \(.*\)$/\1 \2/p' "$room/out" >"$room/top"
sed -n '/exactly, by sort and/,/^$/s/^ *\([0-9][0-9]*\) \(.*\)$/\1 \2/p' "$room/out" >"$room/exact"
[ "$(wc -l <"$room/top")" -eq 5 ] && cmp "$room/top" "$room/exact" || exit 1
has '^[0-9]{5}	[0-9]{5}[.][.][0-9]{5}$'
has '^  exactly, by sort -u: [0-9]{5}$'
has '^ribbon +[#█]+.* [0-9.]+$' # the chart
tail -n 1 "$room/out" | grep -q '^  ./run page  .*http://localhost:8080/$' ||
    { echo 'the demo does not end with the web page'; exit 1; }
if grep -E 'nan|inf$|-nan' "$room/out"; then exit 1; fi

# ./run page, after its build: the server is ready, and ends with the script.
"$TAMIS" guard --help >/dev/null 2>&1 || { echo 'the demo works; there is no guard'; exit 0; }
sh tools/page.sh 0 >"$room/page" 2>&1 &
page=$!
for _ in $(seq 300); do
    address=$(sed -n 's|.*\(http://[0-9.a-z]*:[0-9]*/*\).*|\1|p' "$room/page" | tail -n 1)
    case $address in *:[0-9]*) break ;; esac
    sleep 0.1
done
curl -fsS -o "$room/html" "$address" || { cat "$room/page"; kill "$page"; exit 1; }
grep -qi '<html' "$room/html" || { echo 'no page'; kill "$page"; exit 1; }
kill "$page"
wait "$page" || true
if curl -fs -o /dev/null "$address"; then echo 'the server did not end'; exit 1; fi
echo 'the demo and the page work'
