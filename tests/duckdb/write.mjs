// Writes keys.parquet with DuckDB into the given directory. For each column it also writes
// COLUMN.in, all its values, and COLUMN.asked, keys with DuckDB's answers: "1 KEY" where one of its
// filters may contain the key. id.first has the values of `id` in the first row group.
import {DuckDBInstance} from '@duckdb/node-api';
import {writeFileSync} from 'node:fs';

const room = process.argv[2];
const db = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async sql => (await db.runAndReadAll(sql)).getRows();
const file = `'${room}/keys.parquet'`;

await db.run(`CREATE TABLE t AS SELECT (hash(r) % 1000000007)::BIGINT - 500000000 AS id,
    (r * 7 - 9000)::INTEGER AS small, hash(r + 1)::UBIGINT AS big_unsigned,
    'clé-' || hash(r % 3000) AS name, (r % 2500) / 7.0::DOUBLE AS share,
    ((r % 900) / 16.0)::FLOAT AS mark, {deep: 'in-' || (r % 1777)} AS part FROM range(12288) t(r)`);
await db.run(`COPY t TO ${file} (FORMAT parquet, ROW_GROUP_SIZE 4096, DICTIONARY_SIZE_LIMIT 4096,
    BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.01)`);

const columns = {
    id: ['id', 'BIGINT', n => n * 123457 - 250000000],
    small: ['small', 'INTEGER', n => n * 3 - 9000],
    big_unsigned: ['big_unsigned', 'UBIGINT', n => `${BigInt(n) * 18446744073709n}`],
    name: ['name', 'VARCHAR', n => `clé-${n}`], share: ['share', 'DOUBLE', n => n / 2],
    mark: ['mark', 'FLOAT', n => n / 32], 'part.deep': ['part.deep', 'VARCHAR', null],
};
for (const [name, [column, type, key]] of Object.entries(columns)) {
    const text = type === 'DOUBLE' || type === 'FLOAT' ? `${column}::VARCHAR` : column;
    const values = await rows(`SELECT DISTINCT ${text} FROM t`);
    writeFileSync(`${room}/${name}.in`, values.map(v => `${v[0]}\n`).join(''));
    if (column.includes('.')) continue; // DuckDB has no questions about parts of a column
    let asked = '';
    for (let n = 0; n < 300; n++) {
        const [[excludes]] = await rows(`SELECT bool_and(bloom_filter_excludes) FROM
            parquet_bloom_probe(${file}, '${column}', '${key(n)}'::${type})`);
        asked += `${excludes ? 0 : 1} ${key(n)}\n`;
    }
    writeFileSync(`${room}/${name}.asked`, asked);
}
const first = await rows('SELECT DISTINCT id FROM t WHERE rowid < 4096');
writeFileSync(`${room}/id.first`, first.map(v => `${v[0]}\n`).join(''));
