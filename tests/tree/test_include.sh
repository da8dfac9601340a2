#!/bin/sh
# The public header in every language and compiler at hand, with warnings as errors; programs of two
# units that include it, linked and run; and the C program of README.md, which is also C++ without a
# change. TAMIS_SOURCE: the tree (default: this script's);
# TAMIS_BUILD: a build whose libtamis.a is used (default: the sources are compiled here).
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$source/tests/include
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
ran=0
failures=0

try() {
    ran=$((ran + 1))
    "$@" >"$room/log" 2>&1 && return 0
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
    sed 's/^/    /' "$room/log"
    return 1
}

# A library that was built with a sanitizer cannot be linked into a program without it.
archive=${TAMIS_BUILD:-/nonexistent}/libtamis.a
if [ ! -f "$archive" ] || nm "$archive" | grep -q -e __asan_ -e __tsan_ -e __ubsan_; then
    archive=$room/libtamis.a
    # shellcheck disable=SC2046 # a list of words
    (cd "$room" && cc -O1 -c -I"$source/include" $(find "$source/src" -name "*.c") &&
        ar rc "$archive" ./*.o) || exit 1
fi

# program COMPILER STANDARD SUFFIX FLAG...
program() {
    compiler=$1
    standard=$2
    suffix=$3
    shift 3
    try "$compiler" -std="$standard" -pedantic -Wall -Wextra "$@" -Werror -I"$source/include" \
        "$here/one.$suffix" "$here/two.$suffix" "$archive" -lm -o "$room/program" &&
        try "$room/program"
}

# Each header of its own, as the first and only one.
alone() {
    for header in "$source"/include/tamis/*.h; do
        printf '#include <tamis/%s>\n' "$(basename "$header")" >"$room/alone.c"
        try "$@" -pedantic -Wall -Wextra -Wconversion -Werror -I"$source/include" -fsyntax-only \
            "$room/alone.c"
    done
}

# one COMPILER STANDARD FILE FLAG...: a program of one file, in C or in C++.
one() {
    compiler=$1
    standard=$2
    file=$3
    shift 3
    try "$compiler" -std="$standard" -pedantic -Wall -Wextra -Wmissing-field-initializers "$@" \
        -Werror -I"$source/include" "$file" -x none "$archive" -lm -o "$room/program" &&
        try "$room/program"
}
awk '/^```/{show = 0} show {print} /^```c$/{show = 1}' "$source/README.md" >"$room/readme.c"
try grep -q TAMIS_PLAN_INIT "$room/readme.c"
# Every struct that begins with its size is in init.c.
structs=$(grep -hoE 'struct tamis_[a-z_]+ \{|size_t struct_size' "$source"/include/tamis/*.h |
    awk '$1 == "struct" {name = $2} $1 == "size_t" {print name}')
for struct in $structs; do
    try grep -q "CHECK_INIT($struct, " "$here/init.c"
done

for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    alone $cc -std=c11
    program $cc c11 c -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    one $cc c11 "$here/init.c"
    one $cc c11 "$room/readme.c"
done
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    for standard in c++11 c++20; do
        alone $cxx -x c++ -std=$standard
        program $cxx $standard cc
    done
    for standard in c++17 c++20; do
        one $cxx "$standard" "$here/init.c" -x c++
        one $cxx "$standard" "$room/readme.c" -x c++
    done
done

printf '%d compilations and runs, %d failed\n' "$ran" "$failures"
[ "$failures" -eq 0 ] && [ "$ran" -ge 2 ]
