#!/bin/sh
# The URL rules against Chromium's parser: every code point, and generated spellings. A deep test,
# which takes minutes. It is skipped, with the reason, if tools to build or run it are missing.
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
exec timeout 1800 node --test "$source/web/test/deep/urls.test.mjs"
