#!/bin/sh
# Runs the library suite, the tests of the guard's URLs and the golden files on a big-endian 64-bit
# machine, on a little-endian 32-bit one, and on 64-bit ARM with its NEON kernels, all emulated by
# qemu-user. In ./run test --deep each machine is a test.
#
#     sh tests/tree/cross.sh [--whole] [s390x] [armhf] [aarch64]
#
# Emulation is slow. Without --whole, tests that hardly depend on the machine are left out.
# test_golden still builds an image of every kind, byte for byte. The 64-bit ARM then runs only
# test_golden and the tests of its kernels.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
cd "$source"
statistics="test_adversary test_bulk test_compact test_count_min test_count_sketch test_counting
test_cuckoo test_distinct test_distinct_error test_distinct_registers test_estimate test_exact
test_file_faults test_frequency test_fuse test_growing test_guard_random test_interval
test_lectures test_memory test_memory_kinds test_order test_pair test_plan test_private test_rate
test_ribbon_core test_sealed test_secret test_seen test_signed_tally test_single_sketches
test_spill test_tally
test_threads_bulk test_threads_kinds test_threads_seal test_threads_snapshots test_top
test_top_flat test_top_urls test_transfer test_uniform test_upper test_window test_window_older"
# Sizes that do not fit are a matter of 32-bit machines.
hostile="test_distinct_hostile test_foreign_hostile test_hostile"
# These take long. The 32-bit machine has only the reference of the kernels, which test_golden runs
# as well.
slow="test_kernels test_foreign_hostile"
kernels="test_golden test_kernels test_model test_hash test_ribbon_core"
# These need libraries, or the command, which are not available for those machines, or promise
# nothing there.
never="test_cluster_slots test_guard_build test_guard_http test_guard_limits test_guard_names
test_guard_proxy test_guard_signature test_guard_trust
test_readers test_stack"

whole=
if [ "${1-}" = --whole ]; then
    whole=yes
    shift
fi
[ $# -gt 0 ] || set -- s390x armhf aarch64

is_in() { # word, list
    case " $(echo "$2" | tr '\n' ' ') " in *" $1 "*) return 0 ;; esac
    return 1
}

wanted() { # machine, test
    case $2 in test_long_* | test_windows) return 1 ;; esac
    ! is_in "$2" "$never" || return 1
    [ -z "$whole" ] || return 0
    case $1 in
    aarch64) is_in "$2" "$kernels" ;;
    s390x) ! is_in "$2" "$statistics $hostile" ;;
    *) ! is_in "$2" "$statistics $slow" || return 1 ;;
    esac
}

on() { # machine, prefix of its tools, emulator
    out=build/cross/$1
    rm -rf "$out" # a file that was moved must not stay in the archive
    mkdir -p "$out"
    # shellcheck disable=SC2044 # names without blanks
    for file in $(find src -name "*.c") guard/url/*.c \
        redis/redisbloom/*.c sql/common/*.c; do
        object=$out/$(echo "$file" | tr / _).o
        "$2-gcc" -std=c11 -O2 -Wall -Wextra -Wconversion -Werror -Iinclude -idirafter /usr/include \
            -c "$file" -o "$object"
    done
    "$2-gcc-ar" rc "$out/libtamis.a" "$out"/*.o
    for file in tests/*/test_*.c; do
        # GPUs are in machines with 64 bits that are little-endian, and cuda/ is not part of src/.
        case $file in tests/cuda/*) continue ;; esac
        name=$(basename "$file" .c)
        wanted "$1" "$name" || continue
        "$2-gcc" -std=gnu11 -O2 -Iinclude -Isrc "$file" "$out/libtamis.a" -static -pthread -lm \
            -o "$out/$name"
        only=
        case $1$whole,$name in
        aarch64,test_ribbon_core) only=kernels ;;
        aarch64,test_golden | armhf,test_golden) only="identically facts answers counts" ;;
        esac
        begun=$(date +%s)
        # shellcheck disable=SC2086 # a list of words
        "$3" "$out/$name" $only >"$out/$name.log" 2>&1 ||
            { echo "$1 $name:"; cat "$out/$name.log"; exit 1; }
        echo "$1 $name: $(tail -n 1 "$out/$name.log"), $(($(date +%s) - begun)) s"
    done
}

machine() {
    case $1 in
    s390x) on s390x s390x-linux-gnu qemu-s390x ;;
    armhf) on armhf arm-linux-gnueabihf qemu-arm ;;
    aarch64) on aarch64 aarch64-linux-gnu qemu-aarch64 ;;
    *) echo "$1: no such machine" >&2; exit 2 ;;
    esac
}

export TAMIS_SOURCE="$source"
[ -n "$whole" ] || export TEST_BRIEFLY=yes
for name in "$@"; do machine "$name"; done
