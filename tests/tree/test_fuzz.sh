#!/bin/sh
# Every fuzz target has a small corpus, a test that needs it, and a row in SECURITY.md. A wrong name
# is reported.
set -u
cd "${TAMIS_SOURCE:-$(dirname "$0")/../..}" || exit 1
bad=0
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
trap 'exit 1' HUP INT TERM
wrong() {
    echo "$*"
    bad=1
}

run=tests/fuzz/run.sh
targets=$(sh $run list)
[ "$(printf '%s\n' "$targets" | wc -l)" -ge 11 ] || wrong "targets are missing: $targets"
for target in $targets; do
    corpus=tests/fuzz/corpus/$target
    n=$(find "$corpus" -type f | wc -l)
    [ "$n" -ge 1 ] || wrong "$target has no corpus"
    [ "$n" -le 60 ] || wrong "$target: a corpus of $n files"
    [ -z "$(find "$corpus" -type f -size +8k)" ] || wrong "$target: a file of more than 8 KiB"
    grep -q "^| \`$target\` | " SECURITY.md || wrong "$target has no row in SECURITY.md"
    program=${TAMIS_BUILD:-build}/tests/corpus_$target
    [ -x "$program" ] || continue # a library is missing
    "$program" "$empty" >/dev/null 2>&1 && wrong "corpus_$target passes without an input"
done

said=$(sh $run nonsense 1 2>&1)
[ $? -eq 2 ] || wrong "an unknown target is not an error"
for target in $targets; do
    printf '%s\n' "$said" | grep -qx "  $target" || wrong "an unknown target does not list $target"
done
sh $run image 1s 2>/dev/null
[ $? -eq 2 ] || wrong "1s is taken for a number of seconds"
exit $bad
