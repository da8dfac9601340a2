#!/bin/sh
# This script made the files in its directory, each with the program whose format it has, and with
# the answers of that program: NAME.answers has a line "1 KEY" or "0 KEY" for each query, with false
# positives. Run it in an empty directory:
#
#     sh make.sh [dcso] [guava] [parquet]
#
# dcso needs Debian's golang-github-dcso-bloom-cli, guava needs openjdk-17-jdk-headless and
# libguava-java, and parquet needs DuckDB, installed there from tests/duckdb. The files redisbloom-*
# are from RedisBloom 2.8.20 on Redis 7.0.15: the chunks of BF.SCANDUMP in a row (.chunks) and DUMP
# (.dump) of a default filter, of one that has grown to three links (BF.RESERVE 0.05 10 EXPANSION 2)
# and of one that may not grow (BF.RESERVE 0.001 20 NONSCALING).
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# answers FOUND ALL: "1" before the lines of ALL that are in FOUND.
answers() {
    awk 'NR == FNR { found[$0] = 1; next } { print ($0 in found), $0 }' "$1" "$2"
}

make_dcso() {
    seq -f 'key-%.0f' 1 300 >added
    seq -f 'key-%.0f' 1 900 >asked
    bloom create -p 0.1 -n 300 dcso.bloom
    bloom insert dcso.bloom <added
    printf '{"from": "a golden file"}' >note
    bloom set-data dcso.bloom <note
    bloom check dcso.bloom <asked >found
    answers found asked >dcso.answers
    rm added asked found note
}

make_guava() {
    cat >Make.java <<'JAVA'
import com.google.common.hash.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.function.*;

public class Make {
    static <T> void make(String name, BloomFilter<T> f, IntFunction<T> key, int asked)
            throws Exception {
        for (int i = 0; i < 200; i++) f.put(key.apply(i));
        try (OutputStream out = new FileOutputStream(name + ".guava")) { f.writeTo(out); }
        OutputStream file = new FileOutputStream(name + ".answers");
        try (Writer out = new OutputStreamWriter(file, "UTF-8")) {
            for (int i = 0; i < asked; i++)
                out.write((f.mightContain(key.apply(i)) ? "1 " : "0 ") + key.apply(i) + "\n");
        }
    }
    public static void main(String[] args) throws Exception {
        IntFunction<CharSequence> text = i -> "\u00e9t\u00e9-" + "x".repeat(i % 40) + i;
        make("guava-utf8",
             BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), 200, 0.05), text,
             900);
        make("guava-utf16",
             BloomFilter.create(Funnels.unencodedCharsFunnel(), 200, 0.05), text, 900);
        make("guava-long", BloomFilter.create(Funnels.longFunnel(), 200, 0.05),
             i -> (long) i * i * i - 1000, 900);
        // The old strategy cannot be asked for any more, but a file that names it is read.
        byte[] empty = new byte[6 + 8 * 20];
        empty[1] = 4;
        empty[5] = 20;
        make("guava-mitz32", BloomFilter.readFrom(new ByteArrayInputStream(empty),
             Funnels.stringFunnel(StandardCharsets.UTF_8)), text, 900);
    }
}
JAVA
    java -cp /usr/share/java/guava.jar:/usr/share/java/failureaccess.jar Make.java
    rm Make.java
}

make_parquet() {
    cp "$here/../../duckdb/package.json" "$here/../../duckdb/package-lock.json" .
    npm ci --no-audit --no-fund >/dev/null
    cat >make.mjs <<'JS'
import {DuckDBInstance} from '@duckdb/node-api';
import {writeFileSync} from 'node:fs';
const db = await (await DuckDBInstance.create(':memory:')).connect();
// Two row groups. `tag` has too many values for a dictionary in the second, and so no filter there.
await db.run(`COPY (SELECT (r % 100 * 1000003)::BIGINT AS id, (r % 50 - 25)::INTEGER AS small,
    'user-' || (r % 200) AS name, (r % 40 / 8)::DOUBLE AS share, (r % 10)::FLOAT AS mark,
    CASE WHEN r < 2048 THEN 'tag-' || (r % 20) ELSE 'tag-' || r END AS tag
    FROM range(4096) t(r)) TO 'duckdb.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048,
    DICTIONARY_SIZE_LIMIT 300, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.1, COMPRESSION zstd)`);
const asked = {id: n => n * 1000003, small: n => n - 300, name: n => `user-${n}`,
    share: n => n / 16, mark: n => n / 2};
const type = {id: 'BIGINT', small: 'INTEGER', name: 'VARCHAR', share: 'DOUBLE', mark: 'FLOAT'};
for (const column in asked) {
    let text = '';
    for (let n = 0; n < 600; n++) {
        const key = asked[column](n);
        const probe = await db.runAndReadAll(`SELECT bool_and(bloom_filter_excludes) FROM
            parquet_bloom_probe('duckdb.parquet', '${column}', '${key}'::${type[column]})`);
        text += `${probe.getRows()[0][0] ? 0 : 1} ${key}\n`;
    }
    writeFileSync(`duckdb-${column}.answers`, text);
}
JS
    node make.mjs
    rm -r make.mjs package.json package-lock.json node_modules
}

for what in "$@"; do "make_$what"; done
