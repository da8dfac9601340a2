#!/bin/sh
# <tamis/tamis.hpp> as C++17 and C++20 with every compiler at hand, with warnings as errors: in
# programs that test it against models and against the C calls (tests/include/*.cc), also with a
# sanitizer; without exceptions; beside the amalgamation; and mistakes that must not compile.
# TAMIS_SOURCE: the tree (default: this script's); TAMIS_BUILD: a build whose libtamis.a is used
# (default: the sources are compiled here).
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$source/tests/include
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
ran=0
failures=0
warnings='-pedantic -Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor -Werror'

try() {
    ran=$((ran + 1))
    "$@" >"$room/log" 2>&1 && return 0
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
    head -n 40 "$room/log" | sed 's/^/    /'
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

# program NAME COMPILER FLAG...: compiles tests/include/NAME.cc and runs it.
program() {
    name=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    try "$@" $warnings -I"$source/include" "$here/$name.cc" "$archive" -lm -pthread \
        -o "$room/program" && try "$room/program" "$room"
}

# refuses NUMBER: compiles case NUMBER of refused.cc, and fails if that works.
refuses() {
    if "$refuser" -std=c++17 -fsyntax-only -DCASE="$1" -I"$source/include" "$here/refused.cc" \
        2>"$room/why"; then
        echo "case $1 of refused.cc compiles"
        return 1
    fi
    grep 'static.assert' "$room/why"
}

for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    refuser=$cxx
    program units $cxx -std=c++17
    program units $cxx -std=c++20
    program models $cxx -std=c++17
    program columns $cxx -std=c++17
    program quiet $cxx -std=c++17 -fno-exceptions
done
if echo 'int main() {}' | g++ -fsanitize=address,undefined -x c++ - -o "$room/program" 2>/dev/null
then
    program units g++ -std=c++17 -fsanitize=address,undefined -fno-sanitize-recover=all
    program columns g++ -std=c++20 -fsanitize=address,undefined -fno-sanitize-recover=all
fi
if try "$refuser" -std=c++17 -fsyntax-only -DCASE=0 -I"$source/include" "$here/refused.cc"; then
    for number in $(seq "$(grep -c 'if CASE == ' "$here/refused.cc")"); do
        try refuses "$number"
    done
fi

# Beside the amalgamated header; in two units, and twice in one, nothing is defined twice.
cat >"$room/user.cc" <<'USER'
#include "one/tamis.hpp"
#include "one/tamis.hpp"
bool other(tamis::filter &f);
int main()
{
    tamis::filter f(tamis::plan(100, 0.01));
    return other(f) && f.may_contain("key") ? 0 : 1;
}
USER
cat >"$room/other.cc" <<'OTHER'
#include "one/tamis.hpp"
bool other(tamis::filter &f)
{
    f.add("key");
    return !f.may_contain(tamis::decimal(7));
}
OTHER
try /usr/bin/python3 "$source/tools/amalgamate.py" "$room/one" &&
    cp -r "$source/include/tamis/tamis.hpp" "$source/include/tamis/cpp" "$room/one" &&
    try c++ -std=c++17 "$room/user.cc" "$room/other.cc" "$archive" -lm -pthread \
        -o "$room/program" && try "$room/program"

printf '%d compilations and runs, %d failed\n' "$ran" "$failures"
[ "$failures" -eq 0 ] && [ "$ran" -ge 20 ]
