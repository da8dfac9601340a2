// The command line and the package read each other's files, make the same plans and give the same
// answers.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Tamis, native, room } from './help.mjs';

const words = (from, n) => Array.from({ length: n },
  (_, i) => `https://host-${from + i}.example/päth/${(from + i) * 7919}`);
const present = words(0, 3000), absent = words(100000, 5000), asked = [...present, ...absent];
const lines = (list) => Buffer.from(list.map((word) => `${word}\n`).join(''));

function nativeAnswers(file) {
  const said = new Set(native(['check', file], lines(asked)).toString().split('\n'));
  return asked.map((word) => said.has(word));
}

test('what the command line builds is read here', async (t) => {
  const dir = room(t);
  for (const kind of ['bloom', 'partitioned', 'blocked', 'counting', 'pair', 'growing', 'window',
    'cuckoo', 'fuse',
    'ribbon', 'exact']) {
    const file = join(dir, `${kind}.tamis`), never = join(dir, 'never');
    writeFileSync(never, lines(absent.slice(0, 500)));
    native(['build', '-q', '--kind', kind, '--fpr', '0.05', '-o', file,
      ...(kind === 'exact' ? ['--never', never] : [])],
      lines(present));
    const filter = await Tamis.load(file);
    assert.equal(filter.info().kind, kind);
    const answers = filter.hasMany(asked);
    assert.deepEqual(answers, nativeAnswers(file), kind);
    assert.ok(answers.slice(0, 3000).every(Boolean));
    assert.ok(answers.slice(3000).some(Boolean));
    if (kind === 'exact') assert.ok(!answers.slice(3000, 3500).some(Boolean));
  }
});

test('what is built here is read by the command line, and is what it builds', async (t) => {
  const dir = room(t);
  for (const kind of ['bloom', 'partitioned', 'blocked', 'counting', 'fuse']) {
    const file = join(dir, `${kind}.tamis`), theirs = join(dir, `${kind}-native.tamis`);
    const filter = await Tamis.create({ kind, items: 3000, fpr: 0.05 });
    filter.addMany(present);
    if (kind === 'fuse') filter.seal();
    writeFileSync(file, filter.save());
    native(['verify', file]);
    assert.deepEqual(filter.hasMany(asked), nativeAnswers(file), kind);
    native(['build', '-q', '--kind', kind, '--items', '3000', '--fpr', '0.05', '-o', theirs],
      lines(present));
    assert.deepEqual(new Uint8Array(readFileSync(theirs)), filter.save(), kind);
  }
});

test('a counting filter loses here what it got there', async (t) => {
  const file = join(room(t), 'counting.tamis');
  native(['build', '-q', '--kind', 'counting', '-o', file], lines(present));
  const filter = await Tamis.load(file);
  for (const word of present.slice(0, 1000)) filter.remove(word);
  assert.equal(filter.info().items, 2000);
  writeFileSync(file, filter.save());
  const answers = nativeAnswers(file);
  assert.ok(answers.slice(1000, 3000).every(Boolean));
  assert.ok(answers.slice(0, 1000).filter(Boolean).length < 100);
  await assert.rejects(async () => (await Tamis.create({ kind: 'counting', items: 10, fpr: 0.01 }))
    .remove('x'),
    { status: 'EABSENT', message: 'the key is certainly not in the filter' });
  await assert.rejects(async () => (await Tamis.create({ kind: 'bloom', items: 10, fpr: 0.01 }))
    .remove('x'),
    { status: 'EUNSUPPORTED', betterKind: 'counting',
      message: 'keys cannot be removed from bloom filters; use the kind counting' });
});

test('plans are those of the native library', async () => {
  const requests = [];
  for (const items of [1, 2, 10, 100, 1000, 12345, 1e6, 123456789, 1e12]) {
    for (const fpr of [0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9]) requests.push({ items, fpr });
    for (const share of [0.6, 1, 3])
      requests.push({ items, bytes: Math.ceil(items * share) + 400 });
  }
  for (const bytes of [400, 1000, 99999, 2000000, 1e9])
    for (const fpr of [0.3, 0.01, 1e-5]) requests.push({ bytes, fpr });
  let compared = 0;
  for (const request of requests) {
    const words = Object.entries(request).flatMap(([name, value]) => [`--${name}`, String(value)]);
    for (const said of JSON.parse(native(['plan', '--json', ...words]))) {
      if (!['bloom', 'partitioned', 'blocked', 'counting', 'fuse'].includes(said.kind)) continue;
      const ours = await Tamis.plan({ kind: said.kind, ...request });
      const what = `${said.kind} ${JSON.stringify(request)}`;
      for (const name of ['items', 'bytes', 'm', 'k'])
        assert.equal(ours[name], said[name], `${what}: ${name}`);
      assert.equal(ours.bound, said.bound, what);
      for (const [name, theirs] of [['fpr', said.fpr], ['bitsPerItem', said.bits_per_item],
        ['boundBits', said.bound_bits],
        ['boundRatio', said.bound_ratio]]) // they are printed with 12 digits
        assert.ok(Math.abs(ours[name] - theirs) <= 1e-11 * theirs,
          `${what}: ${name} ${ours[name]}, not ${theirs}`);
      if (said.cell_bits) assert.equal(ours.cellBits, said.cell_bits);
      compared++;
    }
  }
  assert.ok(compared > 350, `${compared}`);
});

test('reasons are those of the native library', async () => {
  for (const [plan, words] of [
    [{ kind: 'bloom', items: 1e6, bytes: 100 }, ['--items', '1e6', '--bytes', '100']],
    [{ kind: 'bloom', items: 1e6, fpr: 1e-3, bytes: 100 },
      ['--items', '1e6', '--fpr', '1e-3', '--bytes', '100']],
    [{ kind: 'bloom', items: 1e6, fpr: 1.25e-7, m: 12345678 },
      ['--items', '1e6', '--fpr', '1.25e-7', '--m', '12345678']],
    [{ kind: 'bloom', items: 1e3, fpr: 0.00125, m: 5000, k: 3 },
      ['--items', '1e3', '--fpr', '0.00125', '--m', '5000', '--k', '3']],
    [{ kind: 'blocked', items: 1e3, m: 5000 }, ['--items', '1e3', '--m', '5000']],
    [{ kind: 'bloom', items: 1e3, fpr: 0.1, k: 65 },
      ['--items', '1e3', '--fpr', '0.1', '--k', '65']],
    [{ kind: 'fuse', items: 1e3, fpr: 1e-12 }, ['--items', '1e3', '--fpr', '1e-12']],
    [{ kind: 'counting', items: 1e3, fpr: 0.1, cellBits: 5 },
      ['--items', '1e3', '--fpr', '0.1', '--counter-bits', '5']],
  ]) {
    let theirs = '';
    assert.throws(() => native(['plan', '--kind', plan.kind, ...words]), (e) => {
      theirs = e.message.trim().replace(/^.*: tamis: /s, '');
      return true;
    });
    await assert.rejects(Tamis.plan(plan), (e) => theirs.includes(e.message) ||
      assert.equal(e.message, theirs));
  }
});
