#!/bin/sh
# Three readers of the code that is shipped, each of which must find nothing: clang-tidy (.clang-tidy says what it looks for, and
# what not, with the reasons), gcc -fanalyzer, cppcheck; web/*.c, which is for WebAssembly alone, by the last. Needs build/clang
# configured. ./run lint [clang-tidy|analyzer|cppcheck]
set -eu
cd "$(dirname "$0")/.."
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find src cli cluster guard redis -name '*.c' | sort | tr '\n' '\0' >"$list"
status=0
jobs=$(nproc)

# Silent when there is nothing to say.
run_clang_tidy() {
    xargs -0 -n 4 -P "$jobs" clang-tidy -p build/clang --quiet <"$list" 2>/dev/null
}

# Leaks are left to valgrind and LeakSanitizer: gcc 12 loses sight of what a pointer's pointer holds. xxHash is
# not ours, and takes it an hour. The exceptions are what it cannot see across functions.
run_analyzer() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -0 -n 1 -P "$jobs" sh -c '
        except=
        case $1 in
        src/core/hash.c) exit 0 ;;
        src/frequency/count.c) except=null-dereference ;; # when prepare says OK, it has left the noise there
        src/foreign/foreign.c) except="null-dereference use-of-uninitialized-value" ;; # check_plan has found the
                                    # format; what is asked was hashed in the loop before
        src/membership/window.c) except=use-of-uninitialized-value ;; # query has written it
        cli/commands/build.c) except=null-argument ;; # what has no room takes no lines
        cli/filters/filter.c) except=use-of-uninitialized-value ;; # as many bytes as input_begin has read
        redis/redisbloom/top.c) except=null-dereference ;; # where there is no heap, k is 0
        redis/native/type.c) except=null-argument ;;   # where there is no image, there is no room either
        esac
        for name in $except; do set -- "$@" "-Wno-analyzer-$name"; done
        file=$1
        shift
        gcc -std=gnu11 -O1 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DWITH_GUARD -DWITH_LMDB -DGUARD_MHD_FILE="\"\"" \
            -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-file-leak -Wno-analyzer-too-complex -Werror \
            "$@" -Iinclude -c "$file" -o /dev/null' sh <"$list" 2>&1
}

# uninitvar, legacyUninitvar: it takes the address of a variable for its value; compilers and valgrind look at values.
# returnDanglingLifetime: it takes any argument of a function for what that returns.
# internalAstError: it cannot read (type){...} behind a question mark.
# varFuncNullUB: NULL is a pointer wherever this runs, and is read as one.
run_cppcheck() {
    cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=uninitvar --suppress=legacyUninitvar \
        --suppress=returnDanglingLifetime --suppress=internalAstError --suppress=varFuncNullUB --max-configs=2 \
        -Iinclude -D__x86_64__ -D__linux__ -D__GNUC__=12 -D__BYTE_ORDER__=1234 \
        -D__ORDER_LITTLE_ENDIAN__=1234 src cli cluster guard redis web 2>&1
}

for reader in ${1:-clang-tidy analyzer cppcheck}; do
    case $reader in
    clang-tidy) run_clang_tidy || status=1 ;;
    analyzer) run_analyzer || status=1 ;;
    cppcheck) run_cppcheck || status=1 ;;
    *) echo "usage: ./run lint [clang-tidy|analyzer|cppcheck]" >&2; exit 2 ;;
    esac
    [ "$status" -ne 0 ] || echo "$reader: nothing found"
done
exit "$status"
