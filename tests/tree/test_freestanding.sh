#!/bin/sh
# The code for the browser calls nothing that WebAssembly lacks: from libc it calls only the
# functions on bytes that every compiler takes for granted, and that our build for browsers
# contains.
set -eu
cd "${TAMIS_SOURCE:-$(dirname "$0")/../..}"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
status=0
for file in guard/url/address.c guard/url/expressions.c guard/url/list.c guard/url/url.c; do
    "${CC:-cc}" -std=c11 -Os -ffreestanding -fno-stack-protector -c "$file" -o "$room/a.o"
    calls=$(nm -u "$room/a.o" | awk '{print $2}' |
        grep -Evx 'mem(cmp|cpy|move|set)|strlen|guard_.*|_GLOBAL_OFFSET_TABLE_' || true)
    [ -z "$calls" ] || { echo "$file calls $calls"; status=1; }
done
[ "$status" -ne 0 ] || echo 'nothing but bytes'
exit "$status"
