#!/bin/sh
# The browser package under Node. The test is skipped, with the reason, if tools to build or run it
# are missing.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
for tool in clang wasm-ld node; do
    command -v $tool >/dev/null ||
        { echo "skipped: there is no $tool (Debian: clang lld nodejs)"; exit 77; }
done
[ -f "$build/web/package.json" ] || { echo 'skipped: built without TAMIS_WEB'; exit 77; }
export TAMIS_SOURCE="$source" TAMIS_BUILD="$build"
log=$build/web-tests.log
status=0
timeout 600 node --expose-gc --test "$source"/web/test/*.test.mjs >"$log" 2>&1 || status=$?
cat "$log"
[ "$status" -eq 0 ] || exit "$status"
# Node counts the tests that skipped themselves, in one of two forms.
! grep -Eq '^(#|ℹ) skipped [1-9]' "$log" || exit 77
