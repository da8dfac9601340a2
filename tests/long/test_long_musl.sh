#!/bin/sh
# The library with another C library: built with musl and linked statically, it writes the same
# bytes, refuses the same images and saves as safely. TAMIS_SOURCE is the tree (default: the one of
# this script).
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
command -v musl-gcc >/dev/null ||
    { echo 'musl-gcc is not installed (Debian: musl-tools)'; exit 77; }
cd "$source"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

# Alone, so that no header of the machine's C library can be taken by mistake.
mkdir "$room/include"
header=$(echo '#include <xxhash.h>' | cc -M -x c - | tr ' ' '\n' | grep '/xxhash\.h$')
cp "$header" "$room/include/"
[ ! -e "$(dirname "$header")/xxh3.h" ] || cp "$(dirname "$header")/xxh3.h" "$room/include/"

export room
# shellcheck disable=SC2016 # expanded by the inner shell
find src -name '*.c' -print0 | xargs -0 -P 2 -I FILE sh -c \
    'musl-gcc -std=c11 -O1 -Wall -Wextra -Wconversion -Wshadow -Werror -Iinclude \
        -isystem "$room/include" -c "$1" -o "$room/$(echo "$1" | tr / _).o"' musl-gcc FILE
ar rc "$room/libtamis.a" "$room"/*.o

export TAMIS_SOURCE="$source" TEST_BRIEFLY=yes
for name in test_golden test_hostile test_api test_api_sets test_model test_hash test_image \
    test_file test_file_faults test_file_lacks; do
    musl-gcc -std=gnu11 -O1 -Iinclude -Isrc -isystem "$room/include" "tests/library/$name.c" \
        "$room/libtamis.a" -static -pthread -lm -o "$room/$name"
    if readelf -Wd "$room/$name" | grep -q NEEDED; then echo "$name is not static"; exit 1; fi
    "$room/$name" >"$room/log" 2>&1 || { echo "$name:"; cat "$room/log"; exit 1; }
    echo "$name: $(tail -n 1 "$room/log")"
done
