#!/bin/sh
# assemble.sh SOURCE OUT: makes the package that npm publishes around OUT/tamis.wasm and
# OUT/distinct.wasm. The scripts lose their comments and indentation, which is a sixth of what a
# browser would fetch; the types keep their comments.
set -eu
source=$1 out=$2
for name in core guard inline node signed tamis \
    distinct distinct-core distinct-inline distinct-node; do
    sed -e 's/^ *//' -e '/^\/[/*]/d' -e 's/\([;,{]\) \/\/ .*$/\1/' -e '/^$/d' \
        "$source/web/$name.mjs" >"$out/$name.mjs"
done
inline() {
    printf "export default '%s';\n" "$(base64 -w 0 "$out/$1")" >"$out/$2"
}
inline tamis.wasm bytes.mjs
inline distinct.wasm distinct-bytes.mjs
cp "$source/web/tamis.d.ts" "$source/web/distinct.d.ts" "$out"
# shellcheck disable=SC1091 # a file of this tree
. "$source/project.conf"
sed -e "s|@PROJECT_URL@|$PROJECT_URL|" -e "s|@PROJECT_CONTACT@|$PROJECT_CONTACT|" \
    "$source/web/package.json" >"$out/package.json"
cp "$source/web/README.md" "$source/LICENSE" "$out"
