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
has '^  wrong "no"          0 of 1000000 '
has '^  the filter          1[0-9]{6} bytes: [0-9]+ times smaller than the list$'
# 1000 are expected at 0.1 %, the same keys and the same seed every time.
has '^  wrong "maybe"       (9|10)[0-9]{2} of 1000000 never-seen lines: 0\.(09|10)[0-9]{2} %, '\
'promised 0\.1 %$'
has '^  the mixed stream    500[0-9]{3} of 1000000 lines may be bad; 500000 really are$'
has '^  checking            [0-9.]+ million lines per second$'
has '^  build/tamis help check$'
if grep -E 'nan|inf$|-nan' "$room/out"; then exit 1; fi
echo 'the demo works'
