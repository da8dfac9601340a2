#!/bin/sh
# The library as one header and one C file (tools/amalgamate.py) compiles without a warning and
# without an installed xxHash, exports what the library exports, and passes the tests of the
# library, also those of its internals.
# TAMIS_SOURCE is the tree (default: the one of this script).
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
TAMIS_SOURCE=$source
export TAMIS_SOURCE
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# try WHAT COMMAND...: quiet unless it fails.
try() {
    what=$1
    shift
    "$@" >"$room/log" 2>&1 && return 0
    printf 'FAILED: %s\n' "$what"
    tail -n 40 "$room/log" | sed 's/^/    /'
    failures=$((failures + 1))
    return 1
}

same() {
    [ "$2" = "$3" ] && return 0
    printf 'FAILED: %s\n    wanted:\n%s\n    got:\n%s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

try 'make it' /usr/bin/python3 "$source/tools/amalgamate.py" "$room" || exit 1
cd "$room" || exit 1
same 'two files' 'tamis.c
tamis.h' "$(ls tamis.*)"
same 'nothing is included except headers of the system and the other file' '#include "tamis.h"' \
    "$(sed -n 's/^[ \t]*#[ \t]*include[ \t]*\(".*"\).*/#include \1/p' tamis.c tamis.h)"
same 'the licences of the library and of xxHash' 'MIT License
BSD 2-Clause License (https' "$(grep -o 'MIT License\|BSD 2-Clause License (https' tamis.c)"
# If anything includes xxhash.h, it finds this one first.
mkdir none && echo '#error "xxhash.h is included"' >none/xxhash.h
without='-Inone'
for header in "$source"/include/tamis/*.h; do
    guard=$(sed -n 's/^#ifndef \(TAMIS_[A-Z_]*\)$/\1/p' "$header" | head -n 1)
    same "tamis.h contains $(basename "$header") once" 1 "$(grep -c "^#define $guard\$" tamis.h)"
done

# The command of the tool's manual: no flag but these, and nothing of the source tree.
cat >user.c <<'USER'
#include "tamis.h"
#include <stdio.h>

int main(void)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 1e-6};
    tamis *t;
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) return 1;
    tamis_add(t, "thisisavirus.com", 16, NULL);
    printf("%d %d\n", tamis_may_contain(t, "thisisavirus.com", 16),
           tamis_may_contain(t, "fine.com", 8));
    tamis_close(t);
    return 0;
}
USER
cat >user.cc <<'USER'
#include "tamis.h"
#include <cstdio>

int main()
{
    tamis_plan plan = tamis_plan();
    plan.struct_size = sizeof plan;
    plan.kind = TAMIS_BLOCKED;
    plan.items = 1000;
    plan.fpr = 1e-6;
    tamis *t;
    if (tamis_create(&plan, nullptr, &t, nullptr) != TAMIS_OK) return 1;
    tamis_add(t, "thisisavirus.com", 16, nullptr);
    std::printf("%d %d\n", tamis_may_contain(t, "thisisavirus.com", 16),
                tamis_may_contain(t, "fine.com", 8));
    tamis_close(t);
}
USER
compilers=$(for c in gcc clang; do command -v $c >/dev/null && echo $c; done)
[ -n "$compilers" ] || { echo 'there is no compiler'; exit 1; }
warnings='-Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror'
# shellcheck disable=SC2086 # lists of words
for compiler in $compilers; do
    try "$compiler: compile" $compiler -std=c11 -O2 $warnings $without -fPIC -c tamis.c \
        -o $compiler.o || continue
    # Intrinsics are macros then.
    try "$compiler: without optimization" $compiler -std=c11 -O0 $warnings $without \
        -fsyntax-only tamis.c
    try "$compiler: use" $compiler -std=c11 $warnings user.c $compiler.o -lm -pthread -o user &&
        same "$compiler: a program that uses it" '1 0' "$(./user)"
    plus=$compiler++
    [ $compiler != gcc ] || plus=g++
    if command -v $plus >/dev/null; then
        try "$plus: a C++ program" $plus -std=c++17 -Wall -Wextra -Werror user.cc $compiler.o -lm \
            -pthread -o user_cc && same "$plus: a C++ program that uses it" '1 0' "$(./user_cc)"
    fi
    try "$compiler: shared" $compiler -shared $compiler.o -lm -pthread -o lib.so &&
        same "$compiler: every function of the header is exported, and nothing else" \
            "$(sed -n 's/^TAMIS_API.*[ *]\(tamis_[a-z0-9_]*\)(.*/\1/p' tamis.h | sort)" \
            "$(nm -D --defined-only lib.so | awk '{print $3}' | sort)"
    tests='api kernels'
    [ $compiler = clang ] || tests="$tests api_sets fields file golden pack threads_shared"
    for test in $tests; do
        try "$compiler: build test_$test" $compiler -std=gnu11 -O1 -I"$source/include" \
            -I"$source/src" "$source/tests/library/test_$test.c" $compiler.o -lm -pthread \
            -o "test_$test" &&
            try "$compiler: test_$test" "./test_$test"
    done
done
# A selection of kinds: the linker drops the others.
compiler=${compilers%%[!a-z]*}
gc='-ffunction-sections -fdata-sections -Wl,--gc-sections'
# shellcheck disable=SC2086
for kinds in '' -DTAMIS_KINDS=TAMIS_BLOCKED; do
    try "only some kinds: $kinds" $compiler -std=c11 -O0 $warnings $without $gc $kinds user.c \
        tamis.c -lm -pthread -o small || continue
    same "a program with only some kinds: $kinds" '1 0' "$(./small)"
    same "the kinds that are linked: $kinds" "$([ -n "$kinds" ] && echo 'tamis__blocked' ||
        echo 'tamis__blocked
tamis__ribbon')" "$(nm small | grep -o 'tamis__\(blocked\|ribbon\)$' | sort)"
done
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    # shellcheck disable=SC2086
    try 'ARM' aarch64-linux-gnu-gcc -std=c11 -O2 $warnings $without -c tamis.c -o arm.o
fi

[ "$failures" -eq 0 ] && echo 'one file, and it passes'
[ "$failures" -eq 0 ]
