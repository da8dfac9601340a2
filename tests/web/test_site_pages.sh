#!/bin/sh
# The web site in Chromium: site/test. tests/tree/test_site.py has built it. The test is skipped,
# with the reason, if tools to run it are missing.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
for tool in node npm chromium; do
    command -v $tool >/dev/null ||
        { echo "skipped: there is no $tool (Debian: nodejs npm chromium)"; exit 77; }
done
[ -f "$build/site-test/index.html" ] || { echo 'skipped: test_site built no site'; exit 77; }
export TAMIS_SOURCE="$source" TAMIS_BUILD="$build"
sh "$source/web/tools.sh" "$source/web/test" "$build/web-tools"
exec timeout 1800 node --test "$source/site/test/pages.test.mjs"
