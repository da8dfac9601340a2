#!/bin/sh
# The main job on a million made-up URLs, and the idea on three. Called by ./run demo.
set -eu
tamis=${TAMIS:-$PWD/build/tamis}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

# URL-like lines number $1 to $2, the same on every machine.
urls() {
    awk -v from="$1" -v to="$2" 'BEGIN {
        for (i = from; i <= to; i++) {
            x = (i * 69069 + 12345) % 4294967296
            x = (x % 65536) * 65536 + int(x / 65536)
            printf "https://www.site%05d.example/%04d/page-%07d.html\n", x % 99991, x % 9973, i
        }
    }'
}
now() { date +%s.%N; }
calc() { awk "BEGIN { $1 }"; }
show() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || show() { printf '\n$ %s\n' "$*"; }
bytes() { wc -c <"$1" | tr -d ' '; }

echo "A million URLs that somebody calls bad, and a million lines to check against them."
urls 1 1000000 >bad.txt
{ urls 1 500000; urls 2000001 2500000; } >visits.txt # half of them seen, half never
urls 3000001 4000000 >never.txt
for f in bad.txt visits.txt; do printf '  %-10s %s bytes\n' $f "$(bytes $f)"; done

show "tamis plan --items 1000000 --fpr 0.1%"
"$tamis" plan --items 1000000 --fpr 0.1%

show "tamis build --fpr 0.1% -o bad.tamis bad.txt"
start=$(now)
"$tamis" build --fpr 0.1% -o bad.tamis bad.txt
built=$(now)
show "tamis check -c bad.tamis visits.txt"
maybe=$("$tamis" check -c bad.tamis visits.txt)
checked=$(now)
echo "$maybe"
show "tamis info bad.tamis"
"$tamis" info bad.tamis
wrong=$("$tamis" check -c bad.tamis never.txt || true)
missed=$("$tamis" check -vc bad.tamis bad.txt || true)
smaller=$(calc "printf \"%.0f\", $(bytes bad.txt) / $(bytes bad.tamis)")
bound=$(calc 'printf "%.0f", 1000000 * log(1000) / log(2) / 8')
rate=$(calc "printf \"%.4f\", $wrong / 10000")

cat <<SUMMARY

What it means
  the list            $(bytes bad.txt) bytes
  a hash table        32000000 bytes (256 bits an item, as textbooks reckon)
  the filter          $(bytes bad.tamis) bytes: $smaller times smaller than the list
  lower bound         $bound bytes: no structure at all is smaller at this rate
  wrong "no"          $missed of 1000000 (always 0)
  wrong "maybe"       $wrong of 1000000 never-seen lines: $rate %, promised 0.1 %
  the mixed stream    $maybe of 1000000 lines may be bad; 500000 really are
  building            $(calc "printf \"%.1f\", 1 / ($built - $start)") million lines per second
  checking            $(calc "printf \"%.1f\", 1 / ($checked - $built)") million lines per second

How it works, on a filter of 3 rows of 5 bits
SUMMARY
[ "$missed" = 0 ] || { echo "demo: a wrong no: this must not happen" >&2; exit 1; }
[ "$(bytes bad.tamis)" -lt 2000000 ] || { echo "demo: the filter is too big" >&2; exit 1; }
# With this seed the words fall as in the lecture the example is from: (2,1,4), (1,0,4), (2,0,4).
set -- --k 3 --m 5 --seed 595483 thisisavirus.com totallynotsuspicious.com --ask verynormalsite.com
show "tamis explain $*"
"$tamis" explain "$@"

cat <<'NEXT'

Try next
  build/tamis plan --items 1000000 --bytes 2000000
  seq 1000000 | build/tamis build -o /tmp/numbers.tamis -f
  seq 999990 1000010 | build/tamis check /tmp/numbers.tamis
  build/tamis help check
NEXT
