#!/bin/sh
# assemble.sh SOURCE OUT: makes the package that npm publishes around OUT/tamis.wasm. The scripts
# lose their comments and indentation, which is a sixth of what a browser would fetch; tamis.d.ts
# keeps its comments.
set -eu
source=$1 out=$2
for name in core guard inline node tamis; do
    sed -e 's/^ *//' -e '/^\/[/*]/d' -e 's/\([;,{]\) \/\/ .*$/\1/' -e '/^$/d' \
        "$source/web/$name.mjs" >"$out/$name.mjs"
done
printf "export default '%s';\n" "$(base64 -w 0 "$out/tamis.wasm")" >"$out/bytes.mjs"
cp "$source/web/tamis.d.ts" "$source/web/README.md" "$source/LICENSE" "$out"
cp "$source/web/package.json" "$out"
