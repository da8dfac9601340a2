// Hostile bytes of any sort: there is an exception with a reason, no trap and no leak, and
// everything else continues to work.
import assert from 'node:assert/strict';
import test from 'node:test';
import { goldenKey, keyOf } from './goldens.mjs';
import { Tamis, TamisError, core, golden, random, recipes } from './help.mjs';

const all = recipes().map((recipe) => ({
  ...recipe, image: golden(recipe.name), options: keyOf(recipe),
}));

async function refused(bytes, options, what) {
  try {
    (await Tamis.load(bytes, options)).close();
  } catch (e) {
    assert.ok(e instanceof TamisError && e.message.length > 0, `${what}: ${e}`);
    assert.match(e.status, /^(ECORRUPT|EVERSION|EKEY|EUNSUPPORTED)$/, what);
    return;
  }
  assert.fail(`undetected: ${what}`);
}

// One checksum covers the rest of every image, so a flipped bit in each kilobyte is enough.
test('truncations, extensions and flipped bits', async () => {
  await Tamis.load(all[0].image);
  let before;
  for (const pass of [1, 2]) {
    for (const { name, image, options } of all) {
      const step = pass === 1 ? 97 : 1;
      for (let n = 0; n < image.length; n += n < 600 ? step : step + Math.floor(image.length / 50))
        await refused(image.subarray(0, n), options, `${name}, ${n} bytes`);
      for (const more of [1, 64]) {
        const longer = new Uint8Array(image.length + more);
        longer.set(image);
        await refused(longer, options, `${name}, ${more} more`);
      }
      const bad = image.slice();
      for (let bit = 0; bit < 8 * image.length; bit += bit < 8 * 600 ? step : 8191) {
        bad[bit >> 3] ^= 1 << (bit & 7);
        await refused(bad, options, `${name}, bit ${bit}`);
        bad[bit >> 3] ^= 1 << (bit & 7);
      }
    }
    if (pass === 1) before = core.c.memory.buffer.byteLength;
  }
  assert.equal(core.c.memory.buffer.byteLength, before, 'failures take no memory');
});

test('noise, and noise behind a good header', async () => {
  const below = random(1);
  for (let i = 0; i < 2000; i++) {
    const bytes = Uint8Array.from({ length: below(700) }, () => below(256));
    if (i % 2) bytes.set(all[i % all.length].image.subarray(0, Math.min(bytes.length, below(200))));
    await refused(bytes, {}, `noise ${i}`);
  }
});

test('what is not a filter, a key or a plan', async () => {
  const t = await Tamis.create({ items: 10, fpr: 0.01 });
  for (const key of [undefined, null, 7, {}, ['a'], new ArrayBuffer(4)]) {
    assert.throws(() => t.has(key), TypeError);
    assert.throws(() => t.add(key), TypeError);
  }
  for (const plan of [{}, { items: 10 }, { items: -1, fpr: 0.1 }, { items: 1.5, fpr: 0.1 },
    { items: NaN, fpr: 0.1 },
    { items: 10, fpr: 2 }, { items: 10, fpr: '0.1' }, { items: 10, fpr: 0.1, bites: 100 },
      { items: 10, fpr: -1 },
    { items: 10, fpr: 0.1, kind: 'blooom' }, { items: 2 ** 53, fpr: 0.1 },
      { items: 10, fpr: 0.1, key: 'secret' },
    { items: 10, fpr: 0.1, key: new Uint8Array(15) }, { items: 10, fpr: 0.1, maxBytes: -1 },
      { items: 10, fpr: NaN }])
    await assert.rejects(Tamis.create(plan), { name: 'TamisError', status: 'EINVAL' },
      JSON.stringify(plan));
  await assert.rejects(Tamis.create({ items: 2 ** 40, fpr: 0.01 }), { status: 'ENOMEM' });
  await assert.rejects(Tamis.create({ items: 1e6, fpr: 0.01, maxBytes: 1000 }),
    { status: 'ENOMEM' });
  await assert.rejects(Tamis.load(all[0].image, { maxBytes: 10 }), { status: 'ENOMEM' });
  for (const from of [undefined, null, 42, {}, [1, 2]])
    await assert.rejects(Tamis.load(from), TypeError);
  await assert.rejects(Tamis.load('/there/is/no/such.tamis'), { status: 'EIO' });
  assert.throws(() => new Tamis(), { status: 'EINVAL' });
  t.close();
  t.close();
  for (const verb of ['has', 'add', 'remove', 'seal', 'info', 'save'])
    assert.throws(() => t[verb]('key'), { status: 'EINVAL', message: 'this filter is closed' });
});

test('a keyed image needs its key', async () => {
  const image = golden('blocked-keyed.tamis');
  await assert.rejects(Tamis.load(image), { status: 'EKEY' });
  await assert.rejects(Tamis.load(image, { key: new Uint8Array(16) }), { status: 'EKEY' });
  const blind = await Tamis.load(image, { keyless: true });
  assert.equal(blind.has('anything'), true);
  assert.throws(() => blind.add('anything'), { status: 'EKEY' });
});

const noCollector = !globalThis.gc && 'requires --expose-gc';
test('memory is given back, by close and by the collector', { skip: noCollector }, async () => {
  const size = () => core.c.memory.buffer.byteLength;
  const fill = async (close) => {
    for (let i = 0; i < 60; i++) {
      const t = await Tamis.create({ items: 500000, fpr: 0.01 });
      t.add(goldenKey(i));
      if (close) t.close();
      else if (i % 4 === 3) {
        globalThis.gc();
        await new Promise((done) => setTimeout(done, 5));
      }
    }
  };
  await fill(true);
  const before = size();
  await fill(true);
  assert.equal(size(), before);
  await fill(false);
  assert.ok(size() < before + 30 * 2 ** 20, `${size()}`); // all of them would take 38 MB
});
