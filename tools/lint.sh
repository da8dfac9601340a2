#!/bin/sh
# ./run lint [clang-tidy|analyzer|cppcheck]: three readers of the code that is shipped, each of
# which must find nothing. .clang-tidy lists what clang-tidy looks for, and what not, with the
# reasons. gcc -fanalyzer and cppcheck are configured here. web/*.c, which is only for WebAssembly,
# is read only by cppcheck. build/clang must be configured.
set -eu
cd "$(dirname "$0")/.."
list=$(mktemp)
trap 'rm -f "$list"' EXIT
trap 'exit 1' HUP INT TERM
find src cli cluster guard redis python/src sql/common sql/sqlite -name '*.c' |
    sort | tr '\n' '\0' >"$list"
status=0
PYTHON_HEADERS=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
export PYTHON_HEADERS
jobs=$(nproc)

# Prints nothing if nothing is found.
run_clang_tidy() {
    xargs -0 -n 4 -P "$jobs" clang-tidy -p build/clang --quiet <"$list" 2>/dev/null
}

# Leaks are left to valgrind and LeakSanitizer, because gcc 12 loses track of what a pointer to a
# pointer holds. xxHash is not ours, and takes an hour. The exceptions below are warnings about
# facts that gcc cannot see across functions.
run_analyzer() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -0 -n 1 -P "$jobs" sh -c '
        except=
        case $1 in
        src/core/hash.c) exit 0 ;;
        # hash.c writes the hash.
        src/kernels/single_*.c) except=use-of-uninitialized-value ;;
        # tamis__fail returns the status that it is given.
        src/image/file.c) except=null-dereference ;;
        # When prepare returns OK, it has stored the noise.
        src/frequency/count.c) except=null-dereference ;;
        # check_plan has found the format, and the queried keys were hashed in the loop before.
        src/foreign/foreign.c) except="null-dereference use-of-uninitialized-value" ;;
        # query has written it.
        src/membership/window.c) except=use-of-uninitialized-value ;;
        # A table without room takes no lines.
        cli/commands/build.c) except=null-argument ;;
        # As many bytes are used as input_begin has read.
        cli/filters/filter.c) except=use-of-uninitialized-value ;;
        # Without a heap, k is 0.
        redis/redisbloom/top.c) except=null-dereference ;;
        # Without an image there is no room either.
        redis/native/type.c) except=null-argument ;;
        esac
        for name in $except; do set -- "$@" "-Wno-analyzer-$name"; done
        file=$1
        shift
        gcc -std=gnu11 -O1 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DWITH_GUARD -DWITH_LMDB \
            -DGUARD_MHD_FILE="\"\"" -DGUARD_CURL_FILE="\"\"" -DGUARD_HOGWEED_FILE="\"\"" \
            -fanalyzer -Wno-analyzer-malloc-leak \
            -Wno-analyzer-file-leak -Wno-analyzer-too-complex -Werror \
            "$@" -Iinclude -isystem "$PYTHON_HEADERS" -c "$file" -o /dev/null' sh <"$list" 2>&1
}

# uninitvar, legacyUninitvar: it mistakes the address of a variable for its value; compilers and
#   valgrind check values.
# returnDanglingLifetime: it mistakes any argument of a function for its result.
# internalAstError: it cannot read (type){...} after a question mark.
# varFuncNullUB: NULL is a pointer on every machine where this runs, and is read as one.
run_cppcheck() {
    cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=uninitvar --suppress=legacyUninitvar \
        --suppress=returnDanglingLifetime --suppress=internalAstError --suppress=varFuncNullUB \
        --max-configs=2 --library=python \
        -Iinclude -D__x86_64__ -D__linux__ -D__GNUC__=12 -D__BYTE_ORDER__=1234 \
        -D__ORDER_LITTLE_ENDIAN__=1234 src cli cluster guard redis web \
        python/src 2>&1
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
