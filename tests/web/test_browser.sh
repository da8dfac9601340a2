#!/bin/sh
# The browser package, the page and the extension in Chromium; screenshots go to build/screenshots.
# The test is skipped, with the reason, if tools to build or run them are missing.
#
#     test_browser.sh           # all of web/test/browser, except these two:
#     test_browser.sh attacks   # attacks on the extension, which take over a minute
#     test_browser.sh lines     # the lines to paste of the site's planner, which are run
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
for tool in clang wasm-ld node npm chromium; do
    command -v $tool >/dev/null ||
        { echo "skipped: there is no $tool (Debian: clang lld nodejs npm chromium)"; exit 77; }
done
[ -f "$build/web/package.json" ] || { echo 'skipped: built without TAMIS_WEB'; exit 77; }
export TAMIS_SOURCE="$source" TAMIS_BUILD="$build"
sh "$source/web/tools.sh" "$source/web/test" "$build/web-tools"
# One file after the other: browsers side by side only wait for one another.
log=$build/browser-tests${1+-$1}.log
status=0
case ${1-} in
'') files=$(find "$source/web/test/browser" -name '*.test.mjs' ! -name attacks.test.mjs \
    ! -name lines.test.mjs | sort) ;;
*) files=$source/web/test/browser/$1.test.mjs ;;
esac
# shellcheck disable=SC2086 # names without spaces
timeout 1800 node --test --test-concurrency=1 $files >"$log" 2>&1 || status=$?
cat "$log"
[ "$status" -eq 0 ] || exit "$status"
# Node counts the tests that skipped themselves, in one of two forms.
! grep -Eq '^(#|ℹ) skipped [1-9]' "$log" || exit 77
