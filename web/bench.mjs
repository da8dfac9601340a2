// node web/bench.mjs [BUILD]: measures what an operation costs here, compared with other npm
// packages. It prints the minima of several rounds, because other programs only ever make it
// slower. The npm packages take part after `sh web/tools.sh web/bench build/web-bench`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const build = resolve(process.argv[2] ?? new URL('../build', import.meta.url).pathname);
const { Tamis, Guard } = await import(join(build, 'web/node.mjs'));
const { Distinct } = await import(join(build, 'web/distinct-node.mjs'));
const N = 100000, ROUNDS = 7;

// 50 characters each, made beforehand, so that only the operation is timed.
const word = (i) =>
  `https://www.example-${String(i).padStart(8, '0')}.com/path/index`.padEnd(50, '.').slice(0, 50);
const present = Array.from({ length: N }, (_, i) => word(i)),
  absent = Array.from({ length: N }, (_, i) => word(N + i));

function fastest(run, n) {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    run();
    best = Math.min(best, performance.now() - from);
  }
  return best / n * 1e6;
}

function count(has, keys) {
  let found = 0;
  for (const key of keys) found += has(key) ? 1 : 0;
  return found;
}

const rows = [];
function row(name, has, addNs, bytes) {
  const missed = N - count(has, present), wrong = count(has, absent);
  if (missed !== 0) throw new Error(`${name} misses ${missed}`);
  rows.push([name, addNs?.toFixed(0) ?? '', fastest(() => count(has, present), N).toFixed(0),
    fastest(() => count(has, absent), N).toFixed(0), `${(100 * wrong / N).toFixed(2)} %`,
    (8 * bytes / N).toFixed(1)]);
}

// Makes an empty filter three times and fills it with `fill`. Returns the last one, and the best
// time per key.
async function filled(make, fill) {
  let filter, best = Infinity;
  for (let round = 0; round < 3; round++) {
    filter?.close?.();
    filter = await make();
    const from = performance.now();
    fill(filter);
    best = Math.min(best, performance.now() - from);
  }
  return [filter, best / N * 1e6];
}

async function ours(kind) {
  const [t, ns] = await filled(() => Tamis.create({ kind, items: N, fpr: 0.01 }), (empty) => {
    empty.addMany(present);
    if (kind === 'fuse') empty.seal();
  });
  row(`tamis ${kind}`, (key) => t.has(key), ns, t.info().bytes);
}

for (const kind of ['blocked', 'bloom', 'partitioned', 'counting', 'fuse']) await ours(kind);

// Ribbons are made by the command line.
const dir = mkdtempSync(join(tmpdir(), 'tamis-bench-')), file = join(dir, 'ribbon.tamis');
const native = (args, lines) => {
  const run = spawnSync(join(build, 'tamis'), args, { input: lines, maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(String(run.stderr));
};
native(['build', '-q', '--kind', 'ribbon', '-o', file], present.map((key) => `${key}\n`).join(''));
const ribbon = await Tamis.load(file);
row('tamis ribbon', (key) => ribbon.has(key), undefined, ribbon.info().bytes);

const require = createRequire(join(build, 'web-bench/'));
try {
  const { BloomFilter } = require('bloom-filters');
  const [f, ns] = await filled(() => BloomFilter.create(N, 0.01),
    (empty) => { for (const key of present) empty.add(key); });
  row('bloom-filters 3.0.4', (key) => f.has(key), ns, f.size / 8);
} catch (e) {
  if (e.code !== 'MODULE_NOT_FOUND') throw e;
  console.error('without bloom-filters: sh web/tools.sh web/bench build/web-bench');
}
try {
  const { BloomFilter } = await import(require.resolve('bloomfilter'));
  const [f, ns] = await filled(() => BloomFilter.withTargetError(N, 0.01),
    (empty) => { for (const key of present) empty.add(key); });
  row('bloomfilter 1.1.0', (key) => f.test(key), ns, f.buckets.byteLength);
} catch (e) {
  if (e.code !== 'MODULE_NOT_FOUND') throw e;
  console.error('without bloomfilter: sh web/tools.sh web/bench build/web-bench');
}

console.log(`Node ${process.version}, ${N} keys of 50 characters, planned for 1 %\n`);
console.log('| | add, ns | has, ns | has not, ns | wrong | bits per key |');
console.log('|---|---|---|---|---|---|');
for (const cells of rows) console.log(`| ${cells.join(' | ')} |`);

// A distinct sketch of 4,096 registers, with adds to a blocked filter in turn. The ratio is the
// median of the rounds, because a ratio of minima depends on what else runs.
{
  const ratios = [], times = [];
  let sketch;
  for (let round = 0; round < 15; round++) {
    sketch?.close();
    sketch = await Distinct.create({ m: 4096 });
    const filter = await Tamis.create({ kind: 'blocked', items: N, fpr: 0.01 });
    const [ofFilter, ofSketch] = [filter, sketch].map((t) => {
      const from = performance.now();
      t.addMany(present);
      return performance.now() - from;
    });
    times.push(ofSketch);
    ratios.push(ofSketch / ofFilter);
    filter.close();
  }
  const other = await Distinct.load(sketch.save()), again = (run) => () => {
    for (let i = 0; i < 100; i++) run();
  };
  const us = (run) => (fastest(again(run), 100) / 1000).toFixed(0);
  console.log('\na distinct sketch of 4,096 registers: ' +
    `add ${(Math.min(...times) / N * 1e6).toFixed(0)} ns, ` +
    `${ratios.sort((a, b) => a - b)[7].toFixed(2)} times that of blocked; ` +
    `count ${us(() => sketch.count())} µs; merge ${us(() => other.merge(sketch))} µs`);
}

// A million keys in 1.9 MB, from bytes to the first answer.
const many = Array.from({ length: 1e6 }, (_, i) => `${word(i)}\n`).join('');
native(['build', '-q', '-f', '--kind', 'ribbon', '--bytes', '1.9MB', '-o', file], many);
const image = readFileSync(file);
let ready = Infinity, start;
for (let round = 0; round < ROUNDS; round++) {
  const from = performance.now(), t = await Tamis.load(image);
  if (!t.has(word(0))) throw new Error('not in');
  ready = Math.min(ready, performance.now() - from);
  t.close();
}
{
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', `
    const from = performance.now();
    const { Tamis } = await import(${JSON.stringify(join(build, 'web/node.mjs'))});
    await Tamis.plan({ items: 1, fpr: 0.1 });
    console.log(performance.now() - from);`], { encoding: 'utf8' });
  start = Number(run.stdout);
}
const guard = await Guard.load({ filter: image });
const urls = Array.from({ length: 20000 },
  (_, i) => `https://www.good-${i}.example/a/b/c.html?id=${i}`);
const look = fastest(() => { for (const url of urls) guard.check(url); }, urls.length);
const gzipped = (name) => gzipSync(readFileSync(join(build, 'web', name)), { level: 9 }).length;
const size = (...names) => names.reduce((sum, name) => sum + gzipped(name), 0);
console.log(`\nloading the script and its module: ${start.toFixed(1)} ms`);
console.log(`a ribbon of a million keys, ${image.length} bytes: ` +
  `ready after ${ready.toFixed(1)} ms`);
const checked = guard.look(urls[0]).expressions.length;
console.log(`Guard.check of a clean URL with ${checked} expressions: ` +
  `${(look / 1000).toFixed(1)} µs`);
const fetched = size('tamis.wasm', 'tamis.mjs', 'core.mjs', 'guard.mjs');
const inline = size('inline.mjs', 'bytes.mjs', 'core.mjs', 'guard.mjs');
console.log(`to fetch, gzipped: ${fetched} bytes, of which the module ${size('tamis.wasm')}; ` +
  `inline: ${inline} bytes`);
const distinct = size('distinct.wasm', 'distinct.mjs', 'distinct-core.mjs', 'core.mjs');
console.log(`tamis/distinct: ${distinct} bytes, of which the module ${size('distinct.wasm')}`);
rmSync(dir, { recursive: true });
