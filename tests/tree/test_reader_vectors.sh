#!/bin/sh
# reader/tamis-reader.h in every compiler at hand, with warnings as errors and sanitizers, on the
# conformance vectors of tests/golden.
#
#     sh tests/tree/test_reader_vectors.sh [--cross]
#
# With --cross, which ./run test --deep uses, it runs on emulated machines instead: little-endian
# with 32 bits and big-endian with 64. The size of its code and its stack on a Cortex-M4 are then
# checked as well.
# TAMIS_SOURCE is the tree (default: the one of this script).
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
ran=0
failures=0
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror'

try() {
    ran=$((ran + 1))
    "$@" >"$room/log" 2>&1 && return 0
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
    sed 's/^/    /' "$room/log"
    return 1
}

# vectors [--with EMULATOR] COMPILER FLAG...: compiles the program and runs it on every vector.
# shellcheck disable=SC2086 # lists of words
vectors() {
    emulator=
    if [ "$1" = --with ]; then
        emulator=$2
        shift 2
    fi
    try "$@" -O2 $warnings tests/support/conformance.c -o "$room/conformance" &&
        try $emulator "$room/conformance" tests/golden
}

native() {
    for cc in gcc clang; do
        command -v $cc >/dev/null || continue
        vectors $cc -std=c99
        vectors $cc -std=c99 -DTAMIS_READER_NO_FUSE
        vectors $cc -std=c99 -DTAMIS_READER_NO_SIPHASH
        vectors $cc -std=c99 -DTAMIS_READER_NO_FUSE -DTAMIS_READER_NO_SIPHASH
    done
    # The sanitizers of clang are another package.
    vectors gcc -std=c99 -fsanitize=address,undefined -fno-sanitize-recover=all
    for cxx in g++ clang++; do
        ! command -v $cxx >/dev/null || vectors $cxx -x c++ -std=c++11
    done
    try "${CC:-cc}" -std=c99 -Os -ffreestanding -DTAMIS_READER_IMPLEMENTATION -x c \
        -c reader/tamis-reader.h -o "$room/alone.o"
    calls=$(nm -u "$room/alone.o" | awk '{print $2}' |
        grep -Evx 'mem(cpy|set)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_')
    [ -z "$calls" ] || { echo "the reader calls $calls"; failures=$((failures + 1)); }
}

# small LIMIT FLAG...: code and constants for a Cortex-M4.
# shellcheck disable=SC2086 # a list of words
small() {
    limit=$1
    shift
    try arm-linux-gnueabihf-gcc -std=c99 -Os -mcpu=cortex-m4 -mthumb -mfloat-abi=soft \
        -ffreestanding $warnings "$@" -DTAMIS_READER_IMPLEMENTATION -x c -c reader/tamis-reader.h \
        -fstack-usage -o "$room/small.o" || return
    bytes=$(size "$room/small.o" | awk 'NR == 2 { print $1 + $2 + $3 }')
    echo "$bytes bytes on a Cortex-M4 with${*:+ }${*:- everything}"
    [ "$bytes" -le "$limit" ] || { echo "more than $limit"; failures=$((failures + 1)); }
    # Nothing recurs, so no call takes more stack than all functions together.
    stack=$(awk -F '\t' '$3 != "static" { print "unknown" } { sum += $2 } END { print sum }' \
        "$room/small.su")
    [ "$stack" -le 1280 ] || { echo "$stack bytes of stack"; failures=$((failures + 1)); }
}

case ${1-} in
--cross)
    vectors --with qemu-arm arm-linux-gnueabihf-gcc -std=c99 -static
    vectors --with qemu-arm arm-linux-gnueabihf-gcc -std=c99 -static -Os -mthumb
    vectors --with qemu-s390x s390x-linux-gnu-gcc -std=c99 -static
    small 6144
    small 6144 -DTAMIS_READER_NO_FUSE
    small 4608 -DTAMIS_READER_NO_FUSE -DTAMIS_READER_NO_SIPHASH
    ;;
*) native ;;
esac

printf '%d compilations and runs, %d failed\n' "$ran" "$failures"
[ "$failures" -eq 0 ] && [ "$ran" -ge 6 ]
