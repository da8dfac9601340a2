// Keys, and the answers of a filter of a few of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Tamis, random } from './help.mjs';

test('a string is its UTF-8, however long', async () => {
  const below = random(7), letters = ['a', '/', '\0', 'é', '中', '😀', '\x7f', '\x80',
    '\ud800'];
  const t = await Tamis.create({ kind: 'bloom', items: 2000, fpr: 1e-12 });
  for (let i = 0; i < 1000; i++) {
    const length = i % 10 === 0 ? below(9000) : below(200), pure = below(2) === 0;
    const word = Array.from({ length }, () => letters[pure ? below(3) : below(letters.length)])
      .join('') + i;
    const bytes = new TextEncoder().encode(word);
    if (i % 2) t.add(word);
    else t.add(bytes);
    assert.ok(t.has(word) && t.has(bytes), JSON.stringify(word));
    assert.ok(!t.has(`${word}!`)); // 1e-12 each: a false alarm in 1e9 runs
  }
  t.add('');
  assert.ok(t.has('') && t.has(new Uint8Array(0)) && t.has(Buffer.alloc(0)));
  const huge = 'x'.repeat(5e6);
  t.add(huge);
  assert.ok(t.has(huge) && !t.has(`${huge}x`));
});

test('add tells what is new; hasMany takes any iterable', async () => {
  const t = await Tamis.create({ items: 100, fpr: 1e-9 });
  assert.equal(t.add('one'), true);
  assert.equal(t.add('one'), false);
  assert.deepEqual(t.hasMany(new Set(['one', 'two'])), [true, false]);
  assert.deepEqual(t.hasMany([]), []);
  assert.equal(t.addMany(['three', 'four']), t);
  assert.equal(t.info().items, 3);
});

test('a strict filter stops at its plan, a sealed one at once', async () => {
  const t = await Tamis.create({ kind: 'bloom', items: 10, fpr: 1e-9, strict: true });
  t.addMany(Array.from({ length: 10 }, (_, i) => `key ${i}`));
  assert.throws(() => t.add('one more'), { status: 'EFULL', message: 'the filter is full' });
  assert.equal(t.info().items, 10);
  t.seal();
  assert.throws(() => t.add('one more'), { status: 'ESEALED' });
});

test('a fuse filter says maybe to all, then only to its own', async () => {
  const t = await Tamis.create({ kind: 'fuse', items: 20000, fpr: 2 ** -32 });
  for (let i = 0; i < 20000; i++) t.add(`key ${i}`);
  assert.ok(t.has('anything') && t.info().collecting);
  t.seal();
  for (let i = 0; i < 20000; i++) assert.ok(t.has(`key ${i}`));
  assert.ok(!t.has('anything'));
});

test('many filters at once, and memory that grows under them', async () => {
  const all = [];
  for (let i = 0; i < 50; i++) {
    const t = await Tamis.create({ kind: i % 2 ? 'bloom' : 'counting', items: 1000 * (i + 1),
      fpr: 1e-9 });
    all.push(t.addMany([`first ${i}`, `second ${i}`]));
  }
  all.forEach((t, i) => {
    assert.ok(t.has(`first ${i}`) && t.has(`second ${i}`) && !t.has(`first ${i + 1}`));
    if (i % 3 === 0) t.close();
  });
  const more = await Tamis.create({ items: 1e7, fpr: 0.001 });
  more.add('x');
  all.forEach((t, i) => { if (i % 3) assert.ok(t.has(`first ${i}`) && t.info().items === 2); });
});
