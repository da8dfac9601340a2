#!/bin/sh
# The library suite and the golden files on a big-endian 64-bit and a little-endian 32-bit machine, both
# emulated by qemu-user. Called by ./run test.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
# qemu cannot run a debugger's worth of threads quickly; the statistics do not depend on the machine.
skip=${CROSS_SKIP-"test_estimate test_lectures test_rate test_threads"}

on() { # name, compiler, emulator
    out=build/cross/$1
    mkdir -p "$out"
    for file in src/*.c src/*/*.c; do
        object=$out/$(echo "$file" | tr / _).o
        "$2" -std=c11 -O2 -Wall -Wextra -Wconversion -Werror -Iinclude -idirafter /usr/include \
            -c "$file" -o "$object"
    done
    for file in tests/test_*.c; do
        name=$(basename "$file" .c)
        case " $skip " in *" $name "*) continue ;; esac
        case $name in test_long_*) continue ;; esac
        "$2" -std=gnu11 -O2 -Iinclude -Isrc "$file" "$out"/*.o -static -pthread -lm -o "$out/$name"
        printf '%s %s: ' "$1" "$name"
        TAMIS_SOURCE=$source "$3" "$out/$name" >"$out/$name.log" 2>&1 ||
            { cat "$out/$name.log"; exit 1; }
        tail -n 1 "$out/$name.log"
    done
}

on s390x s390x-linux-gnu-gcc qemu-s390x
on armhf arm-linux-gnueabihf-gcc qemu-arm
