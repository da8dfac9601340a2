#!/bin/sh
# No call that only Linux or glibc has is unguarded: the library, the command, the cluster client
# and the Redis module compile on a system that looks like macOS or a BSD
# (tests/support/no_linux.h), and tests of files pass there. The URL guard requires Linux.
set -u
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# compile FILE OUTPUT OPTION...
compile() {
    file=$1 output=$2
    shift 2
    cc -std=gnu11 -O1 -U__linux__ -U__linux -Ulinux -U__gnu_linux__ \
        -include tests/support/no_linux.h -Wall -Wextra -Werror -Iinclude "$@" -c "$file" \
        -o "$output"
}

# The header works: each of these is an error.
for call in 'renameat2(0, "a", 0, "b", 0)' 'O_TMPFILE' 'memfd_create("a", 0)' 'MADV_DONTDUMP'; do
    printf '#include <unistd.h>\nint f(void);\nint f(void) { return %s; }\n' "$call" \
        >"$room/call.c"
    if compile "$room/call.c" "$room/call.o" 2>/dev/null; then
        echo "$call is not detected"
        failed=1
    fi
done

mkdir "$room/library"
# shellcheck disable=SC2044 # names without blanks
for file in $(find src -name '*.c'); do
    compile "$file" "$room/library/$(echo "$file" | tr / _).o" || failed=1
done
# shellcheck disable=SC2044
for file in $(find cli cluster redis -name '*.c'); do
    compile "$file" /dev/null -fsyntax-only -Iredis -DWITH_REDIS -DWITH_LMDB \
        -DTAMIS_URL='""' -DTAMIS_CONTACT='""' || failed=1
done
[ "$failed" = 0 ] || exit 1

ar rc "$room/libtamis.a" "$room"/library/*.o
export TAMIS_SOURCE="$source" TMPDIR="$room"
for name in test_file test_pack test_golden; do
    cc -std=gnu11 -O1 -Iinclude -Isrc "tests/library/$name.c" "$room/libtamis.a" -pthread -lm \
        -o "$room/$name" || exit 1
    "$room/$name" >"$room/log" 2>&1 || { echo "$name:"; cat "$room/log"; failed=1; }
done
# Saves use none of what was left out.
for call in renameat2 memfd_create syscall explicit_bzero; do
    ! nm -u "$room/test_file" | grep -qw "$call" || { echo "calls $call"; failed=1; }
done
[ "$failed" = 0 ] && echo 'nothing requires Linux'
exit $failed
