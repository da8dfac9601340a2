#!/bin/sh
# assemble.sh BUILD OUT: writes the interactive pages of the web site to OUT/plan, OUT/playground
# and OUT/which-kind, and what they share to OUT/apps. BUILD is where `ninja web page apps` ran. All
# addresses are relative, so OUT can be served below any path.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 BUILD OUT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$1 out=$2
for file in "$build/apps/tamis.wasm" "$build/web/distinct.wasm" "$build/page/style.css"; do
    [ -f "$file" ] || { echo "$0: there is no $file (ninja -C $build web page apps)" >&2; exit 1; }
done
for folder in plan playground which-kind apps; do
    rm -rf "${out:?}/$folder"
    mkdir -p "$out/$folder"
done
cp "$here"/plan/* "$out/plan"
cp "$here"/which-kind/* "$out/which-kind"
cp "$here"/playground/*.mjs "$out/playground"
cp "$here"/shared/* "$out/apps"
cp "$build/apps/tamis.wasm" "$out/apps"
for name in core.mjs distinct-core.mjs distinct.mjs distinct.wasm; do
    cp "$build/web/$name" "$out/apps"
done
# The drawing of bits is the one of the guard's page, with its markup.
for name in dom.mjs plot.mjs playground.mjs icon.svg; do
    cp "$build/page/$name" "$out/apps"
done
cp "$build/page/style.css" "$out/apps/page.css"
awk '
    FNR == NR && /<!-- begin: bits -->/ { inside = 1; next }
    FNR == NR && /<!-- end: bits -->/ { inside = 0 }
    FNR == NR { if (inside) bits = bits $0 "\n"; next }
    /<!-- bits -->/ { if (bits == "") exit 1; printf "%s", bits; next }
    { print }
' "$source/web/page/index.html" "$here/playground/index.html" >"$out/playground/index.html"
chmod -R u+rwX,go+rX "$out/plan" "$out/playground" "$out/which-kind" "$out/apps"
