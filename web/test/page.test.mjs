// The page's module under Node: the whole library, with the same names as the package's.
// web/test/browser tests the page itself.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { build, native, source } from './help.mjs';

const folder = join(build, 'page');
const core = await import(join(folder, 'core.mjs'));
core.host.wasm = readFileSync(join(folder, 'tamis.wasm'));

test('imports nothing but mathematics', async () => {
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(core.host.wasm));
  for (const { module, name } of imports)
    assert.ok(module === 'Math' && name in Math, `${module}.${name}`);
});

// 77.9 KB when the limit was set. The difference is room for new kinds and checks, which nearly
// every version adds.
const MOST = 86000;

test('at most 86 KB, gzipped, and as docs/BROWSER.md and docs/DESIGN.md say', () => {
  const size = gzipSync(core.host.wasm, { level: 9 }).length;
  const page = (name) => readFileSync(join(source, 'docs', name), 'utf8').replace(/\s+/g, ' ');
  const said = (name, pattern) => 1000 * pattern.exec(page(name))[1];
  assert.ok(size <= MOST, `${size}`);
  assert.equal(said('BROWSER.md', /windows of counts, at most ([0-9]+) KB gzipped/), MOST);
  const whole = said('DESIGN.md', /With the whole library it would be ([0-9]+) KB gzipped/);
  assert.ok(Math.abs(size - whole) < whole / 10, `${size}, not ${whole}`);
});

test('every file that is named is there', () => {
  const there = readdirSync(folder);
  const named = there.filter((name) => /mjs$|html$/.test(name)).flatMap((name) =>
    Array.from(readFileSync(join(folder, name), 'utf8')
      .matchAll(/(?:from '\.\/|(?:src|href)=")([\w.]+)['"]/g), ([, file]) => file));
  assert.ok(named.length > 15);
  for (const file of named) assert.ok(there.includes(file), file);
});

test('plans every kind as the command line does', async () => {
  const args = ['--items', '12345', '--fpr', '0.001'];
  const plans = JSON.parse(native(['plan', '--json', ...args]));
  assert.ok(plans.length >= 10);
  for (const { kind, bytes, fpr, m, k } of plans) {
    const plan = await core.Tamis.plan({ kind, items: 12345, fpr: 0.001 });
    assert.deepEqual([plan.bytes, plan.m, plan.k], [bytes, m, k], kind);
    assert.ok(Math.abs(plan.fpr / fpr - 1) < 1e-9, kind);
  }
});

test('makes every kind, and the cells of a key are those that decide', async () => {
  for (const kind of ['bloom', 'partitioned', 'blocked', 'counting', 'cuckoo', 'fuse', 'ribbon',
    'pair', 'growing', 'window']) {
    const t = await core.Tamis.create({ kind, items: 1000, fpr: 0.01 });
    for (let i = 0; i < 1000; i++) t.add(`key ${i}`);
    t.seal();
    for (let i = 0; i < 1000; i++) assert.ok(t.has(`key ${i}`), kind);
    if (!['bloom', 'partitioned', 'blocked', 'counting'].includes(kind)) continue;
    for (let i = 0; i < 2000; i++) {
      const n = core.c.cellsOf(t.handle, core.room, core.put(`key ${i}`));
      const cells = Array.from(new Float64Array(core.c.memory.buffer, core.c.cellsAt(), n));
      assert.equal(n, t.info().k);
      assert.equal(cells.every((cell) => core.c.cell(t.handle, cell) > 0), t.has(`key ${i}`),
        `${kind} ${i}`);
    }
    t.close();
  }
});
