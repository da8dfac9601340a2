// The images of tests/golden are a promise here, too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { MADE_HERE, answers, goldenKey, keyOf, made, savedAgain } from './goldens.mjs';
import { Tamis, TamisError, golden, recipes, source } from './help.mjs';

test('every image of every kind answers as it did', async () => {
  const text = readFileSync(join(source, 'tests/golden/answers.txt'), 'utf8');
  assert.ok(await answers(Tamis, recipes(), golden, text) >= 35);
});

test('what is loaded is saved as the same bytes', async () => {
  await savedAgain(Tamis, recipes(), golden);
});

test('what can be made here is made byte for byte', async () => {
  assert.ok(await made(Tamis, recipes(), golden) >= 17);
});

test('sketches and private filters are refused, with a reason', async () => {
  await assert.rejects(Tamis.load(golden('private.tamis')),
    { name: 'TamisError', message: /the kind private is not in this build/ });
  await assert.rejects(Tamis.load(golden('count-min.tamis')),
    { name: 'TamisError', message: /the kind count-min is not in this build/ });
});

// The kind that has the same operation here: it can be removed from, changed, or sealed.
const INSTEAD = { cuckoo: 'counting', pair: 'counting', growing: 'blocked', window: 'blocked',
  ribbon: 'fuse', exact: 'fuse', map: 'fuse' };

test('kinds that are only read say so', async () => {
  for (const recipe of recipes().filter((r) => !MADE_HERE.includes(r.plan.kind))) {
    const t = await Tamis.load(golden(recipe.name), keyOf(recipe)), before = t.save();
    const refused = (e) => e instanceof TamisError && e.status === 'ESEALED' &&
      e.message === 'the filter is read-only';
    const key = goldenKey(1, recipe.plan);
    assert.throws(() => t.add(key), refused);
    assert.throws(() => t.remove(key), refused);
    if (!recipe.also.includes('SEALED')) assert.throws(() => t.seal(), { status: 'ESEALED' });
    assert.deepEqual(t.save(), before);
    await assert.rejects(Tamis.create({ kind: recipe.plan.kind, items: 100, fpr: 0.01 }), {
      name: 'TamisError', status: 'EUNSUPPORTED', betterKind: INSTEAD[recipe.plan.kind],
      message: `${recipe.plan.kind} filters are read-only here; ` +
        `use the kind ${INSTEAD[recipe.plan.kind]}`,
    });
  }
});
