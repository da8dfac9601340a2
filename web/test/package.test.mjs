// The package that npm would publish: small, complete, and usable by its names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { Guard, Tamis, golden, native, room, source, web } from './help.mjs';

const about = JSON.parse(readFileSync(join(web, 'package.json')));

// 39.6 KB when the limit was set. The difference is room for new kinds and checks, which nearly
// every version adds.
const MOST = 48000;
const gzipped = (...names) => names.map((name) => gzipSync(readFileSync(join(web, name)),
  { level: 9 }).length);
const sum = (sizes) => sizes.reduce((a, b) => a + b);
const fetched = ['tamis.wasm', 'tamis.mjs', 'core.mjs', 'guard.mjs'];

test('at most 48 KB, gzipped', () => {
  const sizes = gzipped(...fetched);
  assert.ok(sum(sizes) <= MOST, `${sizes.join(' + ')} = ${sum(sizes)}`);
});

// Compilers differ by a few hundred bytes.
test('the sizes in docs/BROWSER.md are those of the package', () => {
  const text = readFileSync(join(source, 'docs/BROWSER.md'), 'utf8');
  const [, ...said] = new RegExp('the whole takes ([0-9.]+) KB, of which the\\s+module takes ' +
    '([0-9.]+) KB; `tamis/inline`\\s+takes ([0-9.]+) KB').exec(text);
  const sizes = [gzipped(...fetched), gzipped('tamis.wasm'),
    gzipped('inline.mjs', 'bytes.mjs', 'core.mjs', 'guard.mjs')].map(sum);
  sizes.forEach((size, i) => assert.ok(Math.abs(size - 1000 * said[i]) < 500,
    `${size}, not ${said[i]} KB`));
  assert.equal(1000 * /keeps it at ([0-9]+) KB or less/.exec(text)[1], MOST);
});

test('every file that is named is there, and nothing else', () => {
  const named = (x) => (typeof x === 'string' ? [x] : Object.values(x).flatMap(named));
  const there = readdirSync(web).sort();
  for (const file of [...named(about.exports), about.main, about.browser, about.types,
    ...about.sideEffects])
    assert.ok(there.includes(file.replace('./', '')), file);
  assert.deepEqual(there, ['LICENSE', 'README.md', 'bytes.mjs', 'core.mjs', 'guard.mjs',
    'inline.mjs', 'node.mjs',
    'package.json', 'tamis.d.ts', 'tamis.mjs', 'tamis.wasm']);
  assert.equal(about.dependencies, undefined);
  assert.equal(about.license, 'MIT');
  assert.ok(native(['--version']).toString().includes(about.version));
});

test('the module imports nothing but mathematics', async () => {
  const module = await WebAssembly.compile(readFileSync(join(web, 'tamis.wasm')));
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
    assert.ok(from === 'Math' && kind === 'function' && name in Math, `${from}.${name}`);
});

test('the types name what there is', () => {
  const types = readFileSync(join(web, 'tamis.d.ts'), 'utf8');
  for (const it of [Tamis, Tamis.prototype, Guard, Guard.prototype])
    for (const name of Object.getOwnPropertyNames(it))
      if (!['length', 'name', 'prototype', 'constructor', 'handle'].includes(name))
        assert.match(types, new RegExp(`^  (static |readonly )?${name}[(:]`, 'm'), name);
});

test('by name: in Node, inline, in a worker; as a file over HTTP as in a browser', async (t) => {
  const dir = room(t);
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(web, join(dir, 'node_modules/tamis'));
  const use = (name, load) => `import { Tamis } from '${name}';
    import { readFileSync } from 'node:fs';
    const t = await Tamis.load(${load(join(source, 'tests/golden/bloom.tamis'))});
    if (!t.has('') || t.info().kind !== 'bloom') throw new Error('wrong');
    console.log('right');`;
  const quoted = (path) => JSON.stringify(path),
    bytes = (path) => `readFileSync(${JSON.stringify(path)})`;
  const worker =
    "import { Worker } from 'node:worker_threads'; " +
    "new Worker(new URL('./inline.mjs', import.meta.url));";
  writeFileSync(join(dir, 'node.mjs'), use('tamis', quoted));
  writeFileSync(join(dir, 'inline.mjs'), use('tamis/inline', bytes));
  writeFileSync(join(dir, 'worker.mjs'), worker);
  for (const name of ['node', 'inline', 'worker']) {
    const run = spawnSync(process.execPath, [join(dir, `${name}.mjs`)], { encoding: 'utf8' });
    assert.equal(run.stdout, 'right\n', `${name}: ${run.stderr}`);
  }

  // From a response, a URL and a promise of a response.
  const server = createServer((request, response) => {
    if (request.url === '/bloom.tamis') response.end(golden('bloom.tamis'));
    else response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => { server.close(); server.closeAllConnections?.(); });
  const url = `http://127.0.0.1:${server.address().port}/bloom.tamis`;
  const image = golden('bloom.tamis');
  for (const from of [url, new URL(url), fetch(url), await fetch(url), image, image.buffer,
    Buffer.from(image),
    new Blob([image]), new DataView(image.buffer)])
    assert.ok((await Tamis.load(from)).has(''));
  await assert.rejects(Tamis.load(`${url}.gz`), { status: 'EIO', message: `${url}.gz: HTTP 404` });
});
