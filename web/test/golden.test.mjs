// The images of tests/golden are a promise here, too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Tamis, TamisError, bytesOf, golden, goldenKey, recipes, secret, source } from './help.mjs';

const MADE_HERE = ['bloom', 'partitioned', 'blocked', 'counting', 'fuse'];
const keyOf = (recipe) => (recipe.also.includes('KEYED') ? { key: secret } : {});

test('every image of every kind answers as it did', async () => {
  const known = new Set(recipes().map((r) => r.name));
  const images = readFileSync(join(source, 'tests/golden/answers.txt'), 'utf8').split(/^image /m).slice(1)
    .filter((text) => known.has(text.split(/[ \n]/)[0]));
  let maybes = 0;
  assert.equal(images.length, recipes().length);
  for (const text of images) {
    const [head, ...lines] = text.trimEnd().split('\n');
    const [name, key] = head.split(' ');
    const t = await Tamis.load(golden(name), key ? { key: bytesOf(key) } : {});
    const own = t.info().hash === 'own';
    assert.equal(lines.length, 128, name);
    for (const line of lines) {
      const [word, hex, answer] = line.split(' ');
      const bytes = hex === '-' ? new Uint8Array(0) : bytesOf(hex);
      assert.equal(own ? t.hasHash(bytes) : t.has(bytes), answer === '1', `${name}: ${line}`);
      if (word === 'not' && answer === '1') maybes++;
    }
    t.close();
  }
  assert.ok(maybes > 0); // false positives are part of the promise
});

test('what is loaded is saved as the same bytes', async () => {
  for (const recipe of recipes()) {
    const t = await Tamis.load(golden(recipe.name), keyOf(recipe));
    assert.deepEqual(t.save(), golden(recipe.name), recipe.name);
    const info = t.info();
    assert.equal(info.kind, recipe.plan.kind);
    assert.equal(info.bytes, golden(recipe.name).length);
    assert.equal(info.seed, recipe.plan.seed ?? 0n);
    assert.equal(info.sealed, recipe.also.includes('SEALED'));
    assert.equal(info.readOnly, info.sealed || !MADE_HERE.includes(info.kind));
    t.close();
  }
});

test('what can be made here is made byte for byte', async () => {
  let made = 0;
  for (const recipe of recipes()) {
    const { name, plan, keys, also } = recipe;
    if (!MADE_HERE.includes(plan.kind) || also.includes('MERGED') || plan.callerHashes) continue;
    let t = await Tamis.create({ ...plan, ...keyOf(recipe) });
    const gone = Array.from({ length: also.includes('REMOVED') ? 40 : 0 }, (_, i) => goldenKey(500000000 + i));
    t.addMany(gone);
    for (let i = 0; i < Math.floor(keys / 2); i++) t.add(goldenKey(i));
    if (also.includes('AGAIN')) t = await Tamis.load(t.save(), keyOf(recipe));
    for (let i = Math.floor(keys / 2); i < keys; i++) t.add(goldenKey(i));
    for (const key of gone) t.remove(key);
    if (also.includes('SEALED')) t.seal();
    assert.deepEqual(t.save(), golden(name), name);
    made++;
  }
  assert.ok(made >= 17, `${made}`);
});

test('kinds that count are refused, with a reason', async () => {
  await assert.rejects(Tamis.load(golden('count-min.tamis')), { name: 'TamisError', message: /kind 32 is not known/ });
});

test('kinds that are only read say so', async () => {
  for (const recipe of recipes().filter((r) => !MADE_HERE.includes(r.plan.kind))) {
    const t = await Tamis.load(golden(recipe.name), keyOf(recipe)), before = t.save();
    const refused = (e) => e instanceof TamisError && e.status === 'ESEALED' && e.message === 'read-only';
    assert.throws(() => t.add('key'), refused);
    assert.throws(() => t.remove('key'), refused);
    if (!recipe.also.includes('SEALED')) assert.throws(() => t.seal(), { status: 'ESEALED' });
    assert.deepEqual(t.save(), before);
    await assert.rejects(Tamis.create({ kind: recipe.plan.kind, items: 100, fpr: 0.01 }), {
      name: 'TamisError', status: 'EUNSUPPORTED', betterKind: 'fuse',
      message: `this build only reads ${recipe.plan.kind} filters; fuse can`,
    });
  }
});
