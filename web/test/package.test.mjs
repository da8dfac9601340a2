// The package that npm would publish: small, complete, and usable by its names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { Distinct, Guard, Tamis, golden, native, room, source, web } from './help.mjs';

const about = JSON.parse(readFileSync(join(web, 'package.json')));

const gzipped = (...names) => names
  .map((name) => gzipSync(readFileSync(join(web, name)), { level: 9 }).length)
  .reduce((a, b) => a + b);

// The limits leave room for new kinds and checks, which nearly every version adds, and for
// compilers and zlibs, which differ by a few hundred bytes.
test('the sizes are at most those in docs/BROWSER.md, and not far below', () => {
  const text = readFileSync(join(source, 'docs/BROWSER.md'), 'utf8');
  for (const [row, ...names] of [
    ['`tamis`', 'tamis.wasm', 'tamis.mjs', 'core.mjs', 'guard.mjs'],
    ['its module alone, `tamis.wasm`', 'tamis.wasm'],
    ['`tamis/inline`', 'inline.mjs', 'bytes.mjs', 'core.mjs', 'guard.mjs'],
    ['`tamis/signed`, in addition', 'signed.mjs'],
    ['`tamis/distinct`', 'distinct.wasm', 'distinct.mjs', 'distinct-core.mjs', 'core.mjs'],
    ['its module alone, `distinct.wasm`', 'distinct.wasm'],
    ['`tamis/distinct/inline`', 'distinct-inline.mjs', 'distinct-bytes.mjs', 'distinct-core.mjs',
      'core.mjs']]) {
    const after = text.split(`\n| ${row} | `)[1];
    assert.ok(after, `no row for ${row}`);
    const most = 1000 * parseFloat(after);
    const size = gzipped(...names);
    assert.ok(size <= most && size >= 0.9 * most, `${row}: ${size} bytes, at most ${most}`);
  }
});

test('every file that is named is there, and nothing else', () => {
  const named = (x) => (typeof x === 'string' ? [x] : Object.values(x).flatMap(named));
  const there = readdirSync(web).sort();
  for (const file of [...named(about.exports), about.main, about.browser, about.types,
    ...about.sideEffects])
    assert.ok(there.includes(file.replace('./', '')), file);
  assert.deepEqual(there, ['LICENSE', 'README.md', 'bytes.mjs', 'core.mjs', 'distinct-bytes.mjs',
    'distinct-core.mjs', 'distinct-inline.mjs', 'distinct-node.mjs', 'distinct.d.ts',
    'distinct.mjs', 'distinct.wasm', 'guard.mjs', 'inline.mjs', 'node.mjs', 'package.json',
    'signed.mjs', 'tamis.d.ts', 'tamis.mjs', 'tamis.wasm']);
  assert.equal(about.dependencies, undefined);
  assert.equal(about.license, 'MIT');
  assert.ok(native(['--version']).toString().includes(about.version));
});

test('the modules import nothing but mathematics', async () => {
  for (const file of ['tamis.wasm', 'distinct.wasm']) {
    const module = await WebAssembly.compile(readFileSync(join(web, file)));
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
      assert.ok(from === 'Math' && kind === 'function' && name in Math, `${from}.${name}`);
  }
});

test('the types name what there is', () => {
  const own = ['length', 'name', 'prototype', 'constructor', 'handle', 'encode'];
  for (const [file, ...classes] of [['tamis.d.ts', Tamis, Guard], ['distinct.d.ts', Distinct]]) {
    const types = readFileSync(join(web, file), 'utf8');
    for (const it of classes.flatMap((c) => [c, c.prototype, Object.getPrototypeOf(c.prototype)]))
      for (const name of it === Object.prototype ? [] : Object.getOwnPropertyNames(it))
        if (!own.includes(name))
          assert.match(types, new RegExp(`^  (static |readonly )?${name}[(:]`, 'm'), name);
  }
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
  for (const name of ['distinct', 'distinct/inline'])
    writeFileSync(join(dir, `${name.replace('/', '-')}.mjs`), `
      import { Distinct, TamisError } from 'tamis/${name}';
      const t = await Distinct.create({ error: 0.01 });
      if (t.addMany(['a', 'b', 'a']).count() !== 2 || !TamisError) throw new Error('wrong');
      if ((await Distinct.load(t.save())).count() !== 2) throw new Error('wrong');
      console.log('right');`);
  for (const name of ['node', 'inline', 'worker', 'distinct', 'distinct-inline']) {
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

// Lines that print something end with a comment that has the output.
test('the example of the README prints what it says', (t) => {
  const dir = room(t);
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(web, join(dir, 'node_modules/tamis'));
  writeFileSync(join(dir, 'bad.txt'), 'thisisavirus.com\n');
  native(['build', '-o', join(dir, 'bad.tamis'), join(dir, 'bad.txt')]);
  const [, script] = /^```js\n([^]*?)^```/m.exec(readFileSync(join(source, 'README.md'), 'utf8'));
  const said = Array.from(script.matchAll(/^console\.log\(.*\);\s+\/\/ (.*)$/gm), ([, s]) => s);
  assert.ok(said.length >= 2);
  writeFileSync(join(dir, 'example.mjs'), script);
  const run = spawnSync(process.execPath, ['example.mjs'], { cwd: dir, encoding: 'utf8' });
  assert.deepEqual(run.stdout.trimEnd().split('\n'), said, run.stderr);
});
