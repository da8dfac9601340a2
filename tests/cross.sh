#!/bin/sh
# The library suite, the guard's URLs and the golden files on a big-endian 64-bit and a little-endian 32-bit machine, and the
# NEON kernels on 64-bit ARM, all emulated by qemu-user. Called by ./run test.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
# The statistics and the long models do not depend on the machine, and emulation is slow; ./run test --long runs
# most of them all the same. test_golden builds an image of every kind here, too, byte for byte.
skip=${CROSS_SKIP-"test_compact test_count_min test_count_sketch test_counting test_cuckoo test_estimate test_exact
test_frequency test_fuse test_growing test_guard_random test_interval test_lectures test_memory_kinds test_pair test_plan test_private test_rate test_ribbon test_ribbon_core test_spill
test_readers test_threads_kinds test_threads_seal test_top_urls test_transfer test_window"}
skip=$(echo "$skip" | tr '\n' ' ')

on() { # name, compiler, emulator, tests
    out=build/cross/$1
    mkdir -p "$out"
    for file in src/*.c src/*/*.c guard/address.c guard/expressions.c guard/list.c guard/url.c \
        redis/compat/*.c; do
        object=$out/$(echo "$file" | tr / _).o
        "$2" -std=c11 -O2 -Wall -Wextra -Wconversion -Werror -Iinclude -idirafter /usr/include \
            -c "$file" -o "$object"
    done
    for file in $4; do # a list of words
        name=$(basename "$file" .c)
        case " $skip " in *" $name "*) continue ;; esac
        case $name in test_long_*) continue ;; esac
        # It takes libraries that are not here for that machine.
        case $name in test_guard_build | test_guard_limits | test_guard_names) continue ;; esac
        "$2" -std=gnu11 -O2 -Iinclude -Isrc "$file" "$out"/*.o -static -pthread -lm -o "$out/$name"
        TEST_BRIEFLY=yes TAMIS_SOURCE=$source "$3" "$out/$name" >"$out/$name.log" 2>&1 ||
            { echo "$1 $name:"; cat "$out/$name.log"; exit 1; }
        echo "$1 $name: $(tail -n 1 "$out/$name.log")"
    done
}

on s390x s390x-linux-gnu-gcc qemu-s390x "$(echo tests/test_*.c)" & # beside the other two
big_endian=$!
trap 'kill $big_endian 2>/dev/null || true' EXIT
on armhf arm-linux-gnueabihf-gcc qemu-arm "$(echo tests/test_*.c)"
skip= # these are here for their kernels
on aarch64 aarch64-linux-gnu-gcc qemu-aarch64 "tests/test_kernels.c tests/test_model.c tests/test_hash.c tests/test_ribbon_core.c"
wait $big_endian
trap - EXIT
