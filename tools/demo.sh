#!/bin/sh
# The three questions about a day of a web server: a list of bad addresses and an access log, both
# made up here, the same on every machine. Called by ./run demo.
set -eu
tamis=${TAMIS:-$PWD/build/tamis}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

# Addresses number $1 to $2, in an order without pattern.
addresses() {
    awk -v from="$1" -v to="$2" 'BEGIN {
        for (i = from; i <= to; i++) {
            x = (i * 48271) % 16777213
            printf "10.%d.%d.%d\n", int(x / 65536), int(x / 256) % 256, x % 256
        }
    }'
}

# A log of $1 requests: few addresses and few pages make most of them, as in any log. Every tenth
# request comes from one of the addresses 1 to 100000.
requests() {
    awk -v n="$1" '
    function random() { x = (x * 16807) % 2147483647; return x / 2147483647 }
    BEGIN {
        x = 1
        pages = split("/ /shop /shop/shoes /shop/hats /login /cart /search /about /blog", page)
        for (i = 0; i < n; i++) {
            bad = random() < 0.1
            u = bad ? 1 + int(100000 * random()) : 2000001 + int(60000 * random() ^ 4)
            a = (u * 48271) % 16777213
            p = page[1 + int(pages * random() ^ 2)]
            if (p ~ /shoes|hats|blog/) p = p "/" 1 + int(3000 * random() ^ 3)
            t = int(86400 * i / n)
            printf "10.%d.%d.%d - - [03/Nov/2026:%02d:%02d:%02d +0000] \"GET %s HTTP/1.1\" %d %d\n",
                int(a / 65536), int(a / 256) % 256, a % 256, int(t / 3600), int(t / 60) % 60,
                t % 60, p, random() < 0.97 ? 200 : 404, 300 + int(20000 * random())
        }
    }'
}

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
title() { printf '\n%s== %s ==%s\n' "$bold" "$*" "$plain"; }
# show WORD...: prints the command, and runs it.
show() {
    printf '\n%s$ tamis' "$bold"
    for word in "$@"; do
        case $word in
        *' '*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '%s\n' "$plain"
    "$tamis" "$@"
}
bytes() { wc -c <"$1" | tr -d ' '; }
fail() { echo "demo: $1" >&2; exit 1; }

addresses 1 100000 >bad.txt
addresses 3000001 4000000 >others.txt
requests 300000 >access.log
echo "A day of a web server, made up: bad.txt lists 100,000 bad addresses ($(bytes bad.txt) bytes),"
echo "and access.log has 300,000 requests ($(bytes access.log) bytes), such as"
sed -n '5p;6p' access.log | sed 's/^/  /'

title 'Have I seen it? Which requests come from an address on the list?'
show build --fpr 0.1% -o bad.tamis bad.txt
show check -c --field 1 -t ' ' bad.tamis access.log
maybe=$("$tamis" check -c --field 1 -t ' ' bad.tamis access.log)
truly=$(awk 'NR == FNR { bad[$1]; next } $1 in bad { n++ } END { print n + 0 }' bad.txt access.log)
missed=$("$tamis" check -vc bad.tamis bad.txt || true)
wrong=$("$tamis" check -c bad.tamis others.txt || true)
rate=$(awk "BEGIN { printf \"%.4f\", $wrong / 10000 }")
cat <<SUMMARY

  really bad          $truly of 300000 requests, counted exactly; the filter reported $maybe
  the filter          $(bytes bad.tamis) bytes; the list takes $(bytes bad.txt)
  wrong "no"          $missed of 100000 (always 0)
  wrong "maybe"       $wrong of 1000000 other addresses: $rate %, promised 0.1 %
SUMMARY
[ "$missed" = 0 ] || fail 'a wrong no: this must not happen'
[ "$maybe" -ge "$truly" ] || fail 'a listed address was missed: this must not happen'

title 'How often? Which pages are requested most?'
show top -n 5 --field 7 -t ' ' access.log
printf '\n  exactly, by sort and uniq -c:\n'
awk '{ print $7 }' access.log | LC_ALL=C sort | uniq -c | LC_ALL=C sort -rn | sed -n '1,5s/^/   /p'

title 'How many distinct? How many visitors were there?'
show distinct --interval --field 1 -t ' ' access.log
awk '{ print $1 }' access.log | LC_ALL=C sort -u >visitors.txt
printf '\n  exactly, by sort -u: %s\n' "$(wc -l <visitors.txt | tr -d ' ')"

title 'What would it cost? Bits per address for each kind of filter'
show plan --items 100000 --fpr 0.1% --plot

cat <<'NEXT'

Try next
  build/tamis explain apple pear --ask plum      how a filter works, bit by bit
  build/tamis help                               all commands
  ./run page                                     the web page: http://localhost:8080/
NEXT
