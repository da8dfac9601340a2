/* The extension in better-sqlite3: node better.mjs EXTENSION FOLDER-OF-THE-PACKAGE DIRECTORY.
 * Its SQLite is newer than Debian's, so what both must do alike is tested here again. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [extension, folder, room] = process.argv.slice(2);
const Database = createRequire(path.join(folder, 'package.json'))('better-sqlite3');
const db = new Database(':memory:');
db.loadExtension(extension);
const one = (sql, ...values) => db.prepare(sql).pluck().get(...values);
const fails = (sql, pattern, ...values) => assert.throws(
  () => db.prepare(sql).all(...values), (e) => pattern.test(e.message) || assert.fail(e.message));

console.log('SQLite', one('SELECT sqlite_version()'), 'in Node', process.version);
db.exec('CREATE TABLE t (x); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)'
  + ' INSERT INTO t SELECT i FROM n');
const filter = one('SELECT tamis_filter_agg(x, 10000, 0.001) FROM t');
assert(Buffer.isBuffer(filter));
assert.equal(one('SELECT sum(tamis_contains(?, x)) FROM t', filter), 10000);
assert(one('SELECT sum(tamis_contains(?, x + 10000)) FROM t', filter) < 60); // 10 are expected
assert.equal(one('SELECT tamis_contains(?, ?)', filter, '77'), 1);
assert.equal(one('SELECT tamis_contains(?, ?)', filter, 77n), 1); // numbers are REAL
fails('SELECT tamis_contains(?, ?)', /^tamis_contains: a REAL has no agreed key/, filter, 77);
fails('SELECT tamis_contains(?, 1)', /^tamis_contains: not a Tamis file/, Buffer.alloc(500));

assert.equal(one('SELECT approx_count_distinct(x % 100) FROM t'), 100);
assert.equal(JSON.parse(one('SELECT approx_top_k(x % 7, 3) FROM t')).length, 3);
const top = one('SELECT tamis_top_agg(x % 7) FROM t');
assert.deepEqual(db.prepare('SELECT item, count FROM tamis_list(?, 2)').all(top),
  [{ item: '1', count: 1429 }, { item: '2', count: 1429 }]);
assert.equal(JSON.parse(one('SELECT tamis_info(?)', filter)).kind, 'blocked');
const halves = db.prepare('SELECT tamis_distinct_agg(x) FROM t GROUP BY x % 2').pluck().all();
assert.deepEqual(one('SELECT tamis_merge(?, ?)', ...halves),
  one('SELECT tamis_distinct_agg(x) FROM t'));

// A filter in a table, and in a file.
db.exec('CREATE TABLE filters (f)');
db.prepare('INSERT INTO filters VALUES (?)').run(filter);
assert.equal(one('SELECT sum(tamis_contains((SELECT f FROM filters), x)) FROM t'), 10000);
assert.equal(one('SELECT sum(tamis_contains(f, x)) FROM filters, t'), 10000);
const file = path.join(room, 'f.tamis');
assert.equal(one('SELECT tamis_save(?, ?)', filter, file), filter.length);
assert.deepEqual(fs.readFileSync(file), filter);
assert.equal(one(`SELECT sum(tamis_contains(tamis_file(?), x)) FROM t`, file), 10000);

// Nothing in a schema reaches files.
for (const [i, call] of [`tamis_contains(tamis_file('${file}'), 1)`,
  `tamis_save(tamis_empty('bloom', 10, 0.01), '${room}/written')`].entries()) {
  db.exec(`CREATE VIEW v${i} AS SELECT ${call}`);
  fails(`SELECT * FROM v${i}`, /unsafe use of tamis_/);
  for (const where of [`CHECK (${call})`, `DEFAULT (${call})`]) {
    assert.throws(() => {
      db.exec(`DROP TABLE IF EXISTS g; CREATE TABLE g (x ${where})`);
      db.exec('INSERT INTO g (rowid) VALUES (1)');
    }, /unsafe use of tamis_/);
  }
  db.exec(`CREATE TRIGGER r${i} AFTER INSERT ON t BEGIN SELECT ${call}; END`);
  assert.throws(() => db.exec('INSERT INTO t VALUES (1)'), /unsafe use of tamis_/);
  db.exec(`DROP TRIGGER r${i}`);
}
assert.deepEqual(fs.readdirSync(room), ['f.tamis']);
const sql = `SELECT tamis_save(?, '${room}/g') FROM t WHERE x < 0`;
assert.deepEqual(db.prepare(sql).all(filter), []); // it is not reached
assert.deepEqual(fs.readdirSync(room), ['f.tamis']);
db.close();
console.log('all calls');
