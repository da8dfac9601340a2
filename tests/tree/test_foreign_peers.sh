#!/bin/sh
# Tests with the other programs themselves, in both directions. DCSO bloom reads and extends filters
# of Tamis, and Tamis those of bloom. DuckDB writes Parquet files: no member is ever refused, and
# the filters are bit for bit those that Tamis makes from the same keys. The test needs Debian's
# golang-github-dcso-bloom-cli, and npm for DuckDB (tests/duckdb), which is installed in the build
# directory. It is skipped, with the reason, if one of them is missing.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
tamis=${TAMIS:-$source/build/tamis}
build=${TAMIS_BUILD:-$source/build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
cd "$room"
ran=0

fail() {
    echo "FAILED: $*"
    exit 1
}

same() { cmp "$1" "$2" || fail "$3"; }

with_dcso() {
    seq -f 'https://example.org/%.0f' 1 20000 >added
    seq -f 'https://example.org/%.0f' 15001 60000 >asked
    "$tamis" build --to dcso --fpr 0.01 -o ours.bloom added
    bloom create -p 0.01 -n 20000 theirs.bloom
    bloom insert theirs.bloom <added
    same ours.bloom theirs.bloom 'the same keys make the same DCSO filter'
    bloom check ours.bloom <asked >by_bloom
    "$tamis" check ours.bloom asked >by_tamis
    same by_bloom by_tamis 'the same answers'
    [ "$(wc -l <by_tamis)" -ge 5000 ] || fail 'a key that is in was refused'
    # Bloom goes on with it; Tamis sees the new keys, and reads its gzipped files.
    seq -f 'more-%.0f' 1 500 >later
    bloom insert ours.bloom <later
    [ "$("$tamis" check -c ours.bloom later)" = 500 ] || fail 'keys that bloom added'
    bloom --gzip create -p 0.001 -n 500 more.gz
    bloom --gzip insert more.gz <later
    [ "$("$tamis" check -c more.gz later)" = 500 ] || fail 'a gzipped filter'
    printf 'a note' | bloom set-data ours.bloom
    "$tamis" convert --to dcso -o copy.bloom ours.bloom
    [ "$(bloom get-data copy.bloom)" = "$(bloom get-data ours.bloom)" ] || fail 'attached data'
    ran=$((ran + 1))
}

with_duckdb() {
    mkdir -p "$build/duckdb"
    cp "$source/tests/duckdb/package.json" "$source/tests/duckdb/package-lock.json" "$build/duckdb/"
    if ! [ -d "$build/duckdb/node_modules/@duckdb/node-api" ] &&
        ! (cd "$build/duckdb" && npm ci --no-audit --no-fund >npm.log 2>&1); then
        fail "npm could not install DuckDB: $(tail -n 5 "$build/duckdb/npm.log")"
    fi
    cp "$source/tests/duckdb/write.mjs" "$build/duckdb/"
    node "$build/duckdb/write.mjs" "$room"
    for column in id small big_unsigned name share mark part.deep; do
        [ -s "$column.in" ] || fail "no keys of $column"
        type=
        [ "$column" = big_unsigned ] && type=--type=uint64 # the column itself is of int64
        # Status 1: no key was refused, and nothing went wrong.
        status=0
        "$tamis" check -v --column "$column" $type keys.parquet "$column.in" >refused || status=$?
        [ "$status" = 1 ] || fail "status $status, $(wc -l <refused) keys of $column refused"
        [ "$column" = part.deep ] && continue # which DuckDB cannot be asked about
        cut -c 3- "$column.asked" >asked
        "$tamis" check --column "$column" $type keys.parquet asked >found || [ $? = 1 ]
        sed -n 's/^1 //p' "$column.asked" | cmp - found ||
            fail "DuckDB answers otherwise for $column"
    done
    # The bits are those of a filter that Tamis makes of the values of one row group.
    "$tamis" convert --to parquet --column id --row-group 0 -o theirs.filter keys.parquet
    "$tamis" build --to parquet --type int64 --fpr 0.01 -o ours.filter id.first
    same ours.filter theirs.filter 'the same keys make the same Parquet filter'
    ran=$((ran + 1))
}

if command -v bloom >/dev/null; then with_dcso; else echo 'DCSO bloom is not here'; fi
if command -v npm >/dev/null; then with_duckdb; else echo 'npm is not here'; fi
echo "$ran of 2 programs asked"
[ "$ran" -eq 2 ] || exit 77
