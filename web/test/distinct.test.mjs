// Distinct sketches: against exact sets, against the command line, and with hostile bytes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { counted, secret, sketched } from './goldens.mjs';
import {
  Distinct, Tamis, TamisError, command, distinctRecipes, golden, native, random, room, source,
  web,
} from './help.mjs';

const words = (from, n) => Array.from({ length: n },
  (_, i) => `https://host-${from + i}.example/päth/${(from + i) * 7919}`);
const lines = (list) => Buffer.from(list.map((word) => `${word}\n`).join(''));
const of = async (plan, keys = []) => (await Distinct.create(plan)).addMany(keys);
const refused = (status, message) => ({ name: 'TamisError', status, message });

test('the golden images count as they did, and are made byte for byte', async () => {
  const text = readFileSync(join(source, 'tests/golden/distinct.txt'), 'utf8');
  assert.ok(await counted(Distinct, distinctRecipes(), golden, text) >= 9);
  assert.ok(await sketched(Distinct, distinctRecipes(), golden) >= 7);
});

// Lines that print something end with a comment that has the output.
test('the examples of docs/BROWSER.md and of the README print what they say', (t) => {
  const dir = room(t);
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(web, join(dir, 'node_modules/tamis'));
  for (const file of ['docs/BROWSER.md', 'web/README.md']) {
    const blocks = readFileSync(join(source, file), 'utf8').matchAll(/^```js\n([^]*?)^```/gm);
    const [[, script]] = Array.from(blocks).filter(([text]) => text.includes('tamis/distinct'));
    const said = Array.from(script.matchAll(/^console\.log\(.*\);\s+\/\/ (.*)$/gm), ([, s]) => s);
    assert.ok(said.length >= 2);
    writeFileSync(join(dir, 'example.mjs'), script);
    const run = spawnSync(process.execPath, [join(dir, 'example.mjs')], { encoding: 'utf8' });
    assert.deepEqual(run.stdout.trimEnd().split('\n'), said, `${file}: ${run.stderr}`);
  }
});

// --- Against exact sets --------------------------------------------------------------------------

test('small sets are exact; repeats and the order of keys change nothing', async () => {
  for (const [plan, most] of [[{ error: 0.01 }, 1024], [{ bytes: 16640 }, 2048], [{ m: 16 }, 8]]) {
    const t = await of(plan), all = words(0, most);
    assert.deepEqual(t.interval(),
      { count: 0, low: 0, high: 0, confidence: 1, error: 0, exact: true });
    for (const [i, word] of all.entries()) {
      assert.equal(t.add(word), true);
      assert.equal(t.add(word), false);
      if (i % 97 === 0 || i === most - 1) assert.equal(t.count(), i + 1);
    }
    const { low, high, exact } = t.interval();
    assert.deepEqual([low, high, exact], [most, most, true]);
    const other = await of(plan, [...all, ...all].reverse());
    assert.deepEqual(other.save(), t.save());
    t.add('one more');
    assert.equal(t.interval().exact, false);
    assert.ok(t.interval().error > 0);
  }
});

// 6.5 standard errors are exceeded with a probability below 1e-9, and the seeds are fixed.
test('large sets are counted within the error, and most intervals hold', async () => {
  let outside = 0, intervals = 0;
  for (const [plan, error] of [[{ error: 0.1 }, 0.0861], [{ error: 0.02 }, 0.0153],
    [{ bytes: 16640 }, 0.00538]])
    for (let seed = 1; seed <= 12; seed++) {
      const below = random(seed), exact = new Set(), t = await of({ ...plan, seed });
      for (const size of [300, 3000, 20000]) {
        while (exact.size < size) {
          const key = `${below(1 << 20)}`;
          exact.add(key);
          t.add(key);
        }
        const n = t.interval();
        assert.ok(Math.abs(n.count - size) <= 6.5 * error * size + 0.5, `${n.count} of ${size}`);
        assert.ok(n.low <= n.count && n.count <= n.high && Number.isInteger(n.count));
        if (n.exact) assert.equal(n.count, size);
        else {
          assert.ok(Math.abs(n.error - error) < 0.01 * error, `${n.error}`);
          intervals++;
          if (size < n.low || size > n.high) outside++;
        }
      }
      t.close();
    }
  // With at most 108 intervals of 99 %, more than 12 are wrong with a probability below 1e-9.
  assert.ok(intervals > 80 && outside <= 12, `${outside} of ${intervals}`);
});

test('a merged sketch is the sketch of all keys, byte for byte', async () => {
  for (const [ours, theirs] of [[20, 30], [20, 5000], [5000, 20], [4000, 4000], [0, 0], [700, 600]])
    for (const [mine, other] of [[1024, 1024], [1024, 64], [64, 1024]]) {
      const a = words(0, ours), b = words(ours / 2, theirs);
      const into = await of({ m: mine }, a), from = await of({ m: other }, b), before = from.save();
      assert.equal(into.merge(from), into);
      const all = await of({ m: Math.min(mine, other) }, [...a, ...b]);
      assert.deepEqual(into.save(), all.save(), `${ours} + ${theirs}, ${mine} and ${other}`);
      assert.deepEqual(from.save(), before);
      assert.equal(into.count(), all.count());
    }
});

test('what cannot be merged says why, and changes nothing', async () => {
  const t = await of({ error: 0.01 }, words(0, 100)), before = t.save();
  const keyed = await of({ error: 0.01, key: secret }, ['a']);
  const otherKey = await of({ error: 0.01, key: new Uint8Array(16) }, ['a']);
  const text = await of({ error: 0.01, encoding: 'text' }, ['a']);
  const numbers = await of({ error: 0.01, encoding: 'int64le' }, [1]);
  const closed = await of({ error: 0.01 });
  closed.close();
  const seeded = await of({ error: 0.01, seed: 5n }, ['a']);
  assert.throws(() => t.merge(seeded), refused('EMISMATCH', 'they differ in their seed'));
  assert.throws(() => t.merge(keyed), refused('EMISMATCH', 'they use different hash functions'));
  assert.throws(() => keyed.merge(otherKey),
    refused('EMISMATCH', 'they differ in their secret key'));
  assert.throws(() => text.merge(numbers), { status: 'EMISMATCH' });
  assert.throws(() => t.merge(t), refused('EINVAL', 'the two filters are the same one'));
  assert.throws(() => t.merge(closed), refused('EINVAL', 'this sketch is closed'));
  assert.throws(() => closed.merge(t), refused('EINVAL', 'this sketch is closed'));
  const filter = await Tamis.create({ items: 10, fpr: 0.01 });
  for (const other of [filter, undefined, null, 5, {}, t.save()])
    assert.throws(() => t.merge(other), TypeError);
  assert.deepEqual(t.save(), before);
  assert.deepEqual([keyed.count(), text.count()], [1, 1]);
});

// --- The command line ----------------------------------------------------------------------------

test('the command line makes the same bytes, and counts the same', async (t) => {
  const file = join(room(t), 'a.tamis');
  for (const n of [0, 1, 1000, 2048, 2049, 40000])
    for (const error of [0.005, 0.01, 0.1]) {
      const args = ['--json', '--error', `${error}`, '-f', '-o', file];
      const said = JSON.parse(native(['distinct', ...args], lines(words(0, n))));
      const ours = await of({ error }, words(0, n)), here = ours.interval();
      assert.deepEqual(new Uint8Array(readFileSync(file)), ours.save(), `${n}, ${error}`);
      // The command has read n lines, so it reports no more than n of them.
      const atMost = (x) => Math.min(x, n);
      assert.deepEqual([said.distinct, said.lower, said.upper, said.confidence, said.exact],
        [...[here.count, here.low, here.high].map(atMost), here.confidence, here.exact]);
      assert.ok(Math.abs(said.error - here.error) <= 1e-11);
      const loaded = await Distinct.load(file);
      assert.deepEqual(loaded.interval(), here);
    }
});

test('sketches go on here where they stopped there, and the other way round', async (t) => {
  const dir = room(t), file = join(dir, 'a.tamis'), other = join(dir, 'b.tamis');
  for (const n of [100, 30000]) {
    const ours = await Distinct.load((await of({ error: 0.01 }, words(0, n))).save());
    writeFileSync(file, ours.save());
    native(['add', '-q', file], lines(words(n, n)));
    ours.addMany(words(n, n));
    assert.deepEqual(new Uint8Array(readFileSync(file)), ours.save());
    writeFileSync(other, (await of({ error: 0.02 }, words(5 * n, n))).save());
    const said = JSON.parse(native(['distinct', '--json', file, other]));
    const united = ours.merge(await Distinct.load(other)).interval();
    assert.deepEqual([said.distinct, said.lower, said.upper],
      [united.count, united.low, united.high]);
  }
});

test('windows are counted here, and changed on the command line', async (t) => {
  const file = join(room(t), 'window.tamis');
  native(['distinct', '-q', '--generations', '3', '--error', '1%', '-o', file],
    lines(words(0, 5000)));
  native(['rotate', '-q', file]);
  native(['add', '-q', file], lines(words(3000, 5000)));
  const window = await Distinct.load(file), before = window.save(), n = window.interval();
  const said = JSON.parse(native(['distinct', '--json', file]));
  assert.deepEqual([n.count, n.low, n.high], [said.distinct, said.lower, said.upper]);
  assert.ok(Math.abs(n.count - 8000) < 6.5 * 0.0077 * 8000, `${n.count}`);
  assert.throws(() => window.add('x'), { status: 'ESEALED' });
  const plain = await of({ error: 0.01 });
  assert.throws(() => window.merge(plain), { status: 'EUNSUPPORTED' });
  assert.throws(() => plain.merge(window), { status: 'EMISMATCH' });
  assert.deepEqual(window.save(), before);
  assert.deepEqual(new Uint8Array(readFileSync(file)), before);
});

// The message of the command that ends a failed run.
function complaint(args, input) {
  const run = spawnSync(command, args, { input, encoding: 'utf8' });
  assert.equal(run.status, 2, args.join(' '));
  return run.stderr;
}

test('reasons are those of the command line', async () => {
  for (const [plan, ...args] of [
    [{ error: 0.31 }, '--error', '0.31'], [{ error: 1e-9 }, '--error', '1e-9'],
    [{ bytes: 100 }, '--bytes', '100'],
    [{ error: 0.001, bytes: 1000 }, '--error', '0.001', '--bytes', '1000']]) {
    const theirs = complaint(['plan', '--kind', 'distinct', ...args]);
    await assert.rejects(Distinct.create(plan), (e) => e instanceof TamisError &&
      e.status === 'EINVAL' && (theirs.includes(e.message) || assert.equal(e.message, theirs)));
  }
});

// --- Keys, plans and bytes that are wrong --------------------------------------------------------

test('keys are encoded as the sketch states', async () => {
  const bytes = new Uint8Array(8);
  bytes[0] = 7;
  const numbers = await of({ error: 0.1, encoding: 'int64le' }, [7, 7n, bytes, -7, 2n ** 63n - 1n]);
  assert.equal(numbers.count(), 3);
  assert.throws(() => numbers.add('7'),
    refused('EINVAL', /the keys of this sketch are encoded as int64le, so a key must be an int/));
  assert.throws(() => numbers.add(2n ** 63n), refused('EINVAL', /does not fit in 64 bits/));
  const fixed = await of({ error: 0.1, encoding: 'fixed', keyWidth: 2 }, ['ab', 'é']);
  assert.throws(() => fixed.add('abc'),
    refused('EINVAL', 'the keys of this sketch have 2 bytes each; this key has 3'));
  assert.equal(fixed.count(), 2);
  const text = await of({ error: 0.1 }, ['ä', Uint8Array.of(0xc3, 0xa4), 'x'.repeat(100000), '']);
  assert.equal(text.count(), 3);
  for (const key of [undefined, null, 7, {}, ['a'], new ArrayBuffer(4)])
    assert.throws(() => text.add(key), TypeError);
  assert.equal(text.count(), 3);
});

test('what is not a plan or a sketch', async () => {
  for (const plan of [{}, { error: null }, { error: Infinity },
    { bytes: 1.5 }, { bytes: -1 }, { bytes: 319 }, { m: 100 }, { m: 8 }, { m: 2 ** 27 },
    { error: 0.01, fpr: 0.1 }, { error: 0.01, encoding: 'utf16' }, { error: 0.01, keyWidth: 3 },
    { error: 0.01, key: 'secret' }, { error: 0.01, key: new Uint8Array(15) },
    { error: 0.01, maxBytes: -1 }, { error: 0.01, kind: 'bloom' }])
    await assert.rejects(Distinct.create(plan), refused('EINVAL', /./), JSON.stringify(plan));
  for (const error of [0, -0.1, NaN, '0.1', 0.3001])
    await assert.rejects(Distinct.create({ error }),
      refused('EINVAL', 'the error must be above 0 and at most 30 %'));
  await assert.rejects(Distinct.create({ error: 0.01, maxBytes: 1000 }), { status: 'ENOMEM' });
  const image = (await of({ error: 0.01 }, ['a'])).save();
  await assert.rejects(Distinct.load(image, { maxBytes: 10 }), { status: 'ENOMEM' });
  for (const from of [undefined, null, 42, {}, [1, 2]])
    await assert.rejects(Distinct.load(from), TypeError);
  await assert.rejects(Distinct.load('/there/is/no/such.tamis'), { status: 'EIO' });
  assert.throws(() => new Distinct(), { status: 'EINVAL' });
  const small = await Distinct.load(image, { maxBytes: 1000 });
  assert.throws(() => small.addMany(words(0, 200)), { status: 'EFULL' });
  assert.ok(small.count() > 50 && small.save().length <= 1000);
  small.close();
  small.close();
  for (const verb of ['add', 'count', 'interval', 'save'])
    assert.throws(() => small[verb]('key'), refused('EINVAL', 'this sketch is closed'));
});

test('a keyed sketch needs its key to be added to, but not to be counted', async () => {
  const image = (await of({ error: 0.01, key: secret }, words(0, 3000))).save();
  await assert.rejects(Distinct.load(image), { status: 'EKEY' });
  await assert.rejects(Distinct.load(image, { key: new Uint8Array(16) }), { status: 'EKEY' });
  const blind = await Distinct.load(image, { keyless: true });
  assert.equal(blind.count(), (await Distinct.load(image, { key: secret })).count());
  assert.throws(() => blind.add('x'), { status: 'EKEY' });
  assert.deepEqual(blind.save(), image);
});

test('filters and other sketches are refused by name', async () => {
  for (const kind of ['bloom', 'ribbon', 'count-min', 'top', 'private'])
    await assert.rejects(Distinct.load(golden(`${kind}.tamis`)),
      refused('EUNSUPPORTED', `the kind ${kind} is not in this build of the library`));
  await assert.rejects(Distinct.load(golden('window-of-tally.tamis')), { status: 'EUNSUPPORTED' });
  await assert.rejects(Tamis.load((await of({ error: 0.01 })).save()),
    refused('EUNSUPPORTED', 'the kind distinct is not in this build of the library'));
});

test('damaged images are refused, with the reason of the command line', async (t) => {
  const file = join(room(t), 'bad.tamis'), below = random(3);
  const bad = async (bytes, what, compare) => {
    const e = await Distinct.load(bytes).then(() => assert.fail(`undetected: ${what}`), (e) => e);
    assert.ok(e instanceof TamisError && e.message, `${what}: ${e}`);
    assert.match(e.status, /^(ECORRUPT|EVERSION|EKEY|EUNSUPPORTED)$/, what);
    if (!compare) return;
    writeFileSync(file, bytes);
    assert.ok(complaint(['distinct', file]).includes(e.message), `${what}: ${e.message}`);
  };
  for (const n of [0, 30, 5000]) {
    const image = (await of({ m: 64 }, words(0, n))).save();
    for (let size = 0; size < image.length; size++)
      await bad(image.subarray(0, size), `${n}: ${size} bytes`, size > 64 && size % 64 === 3);
    await bad(Uint8Array.of(...image, 0), `${n}: one more`, true);
    for (let bit = 0; bit < 8 * image.length; bit++) {
      image[bit >> 3] ^= 1 << (bit & 7);
      await bad(image, `${n}: bit ${bit}`, bit > 512 && bit % 509 === 0);
      image[bit >> 3] ^= 1 << (bit & 7);
    }
    for (let i = 0; i < 500; i++) {
      const noise = Uint8Array.from({ length: below(700) }, () => below(256));
      noise.set(image.subarray(0, Math.min(noise.length, below(300))));
      await bad(noise, `${n}: noise ${i}`);
    }
  }
});

// The memory of the module of sketches, which has no other way out.
let memory;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...args) => {
  const made = await instantiate(...args);
  if (made.instance.exports.merge) ({ memory } = made.instance.exports);
  return made;
};

// Changes the cells of a sketch in memory, so that save() writes them with right sums.
function forge(t, at, bytes) {
  const image = t.save(), heap = Buffer.from(memory.buffer), cells = image.subarray(256);
  let places = 0;
  for (let i = heap.indexOf(cells); i >= 0; i = heap.indexOf(cells, i + 1), places++)
    heap.set(bytes, i + at);
  assert.ok(places > 0);
  return t.save();
}

test('cells that no keys lead to are refused, even with right sums', async (t) => {
  const file = join(room(t), 'forged.tamis');
  for (const [keys, at, bytes, why] of [
    [5000, 8, [0, 0, 0, 253], 'a register has a state that no keys lead to'],
    [5000, 252, [1, 0, 0, 1], 'a register has a state that no keys lead to'],
    [5000, 0, [1, 0, 0, 0], 'a register has a state that no keys lead to'],
    [20, 0, [1, 255, 255, 255, 255, 255, 255, 255], 'tokens are not in order'],
    [20, 152, [0], 'a token has no value'], [20, 8, [253], 'a token has no value']]) {
    const image = forge(await of({ m: 64 }, words(0, keys)), at, bytes);
    await assert.rejects(Distinct.load(image), (e) => e instanceof TamisError &&
      e.status === 'ECORRUPT' && e.message.includes(why) || assert.equal(e.message, why));
    writeFileSync(file, image);
    assert.ok(complaint(['distinct', file]).includes(why));
  }
  const good = await of({ m: 64 }, words(0, 5000));
  await Distinct.load(forge(good, 0, [0, 0, 0, 0])); // a state of a register that got no key
});

// --- Memory --------------------------------------------------------------------------------------

test('failures and closed sketches take no memory', async () => {
  const image = (await of({ m: 1 << 16 }, words(0, 3000))).save(), bad = image.slice();
  bad[bad.length - 1] ^= 1;
  const use = async () => {
    for (let i = 0; i < 40; i++) {
      await assert.rejects(Distinct.load(bad), { status: 'ECORRUPT' });
      const t = await Distinct.load(image), other = await of({ m: 1 << 15 }, words(0, 2100));
      other.merge(t);
      t.close();
      other.close();
    }
    return memory.buffer.byteLength;
  };
  const before = await use();
  assert.equal(await use(), before);
});

test('filters and sketches live side by side, while the memory of both grows', async () => {
  const filters = [], sketches = [];
  for (let i = 0; i < 20; i++) {
    filters.push(await Tamis.create({ items: 100000, fpr: 0.01 }));
    sketches.push(await of({ m: 1 << (4 + i) }));
    const long = 'x'.repeat(5000 * i);
    for (const [j, t] of filters.entries()) t.add(`${long}${i * j}`);
    for (const t of sketches) t.addMany([`${i}`, `${long}y`, `${i}`]);
  }
  for (const [i, t] of filters.entries()) assert.ok(t.has(`${'x'.repeat(95000)}${19 * i}`));
  for (const [i, t] of sketches.entries()) {
    const n = t.interval(), keys = 2 * (20 - i);
    assert.ok(n.exact ? n.count === keys : n.low <= keys && keys <= n.high, `${i}: ${n.count}`);
  }
});
