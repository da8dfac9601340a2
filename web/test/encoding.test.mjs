// Filters that state how their keys are encoded, and what may then be a key (docs/KEYS.md).
import assert from 'node:assert/strict';
import test from 'node:test';
import { Tamis, golden } from './help.mjs';

const plan = { kind: 'counting', items: 1000, fpr: 0.001 };
const refused = (why) => ({ name: 'TamisError', status: 'EINVAL', message: why });

function le(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true);
  return bytes;
}

test('integers of int64le are eight bytes, numbers and bigints alike', async () => {
  const t = await Tamis.create({ ...plan, encoding: 'int64le' });
  const values = [0, -0, 1, -1, 42n, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER,
    2n ** 63n - 1n, -(2n ** 63n)];
  for (const value of values) {
    t.add(value);
    assert.ok(t.has(value) && t.has(le(value)) && t.has(BigInt(value)));
  }
  assert.ok(!t.has(2) && !t.has(le(-2)) && !t.has(43n));
  t.remove(42);
  assert.ok(!t.has(42n));
  assert.deepEqual(t.hasMany([1, 2, -1n]), [true, false, true]);
  const again = await Tamis.load(t.save());
  assert.ok(again.has(-1) && !again.has(2));
  assert.equal(again.info().encoding, 'int64le');
  assert.equal(again.info().keyWidth, 8);
});

test('anything else is refused there, with the reason, and changes nothing', async () => {
  const t = await Tamis.create({ ...plan, encoding: 'int64le' }), before = t.save();
  const strange = [['1', /encoded as int64le, so a key must be an integer, a bigint or a Uint8/],
    [1.5, /must be an integer/], [2 ** 53, /must be an integer/], [NaN, /must be an integer/],
    [2n ** 63n, /does not fit in 64 bits/], [-(2n ** 63n) - 1n, /does not fit in 64 bits/],
    [new Uint8Array(7), /have 8 bytes each; this key has 7/], [undefined, /must be an integer/]];
  for (const [key, why] of strange)
    for (const verb of ['has', 'add', 'remove'])
      assert.throws(() => t[verb](key), refused(why), `${verb} ${key}`);
  assert.deepEqual(t.save(), before);
});

test('fixed keys have one length; strings count by their UTF-8', async () => {
  const t = await Tamis.create({ ...plan, encoding: 'fixed', keyWidth: 5 });
  t.add('abcde');
  t.add('äöé'.slice(0, 2) + '!');
  assert.ok(t.has(new TextEncoder().encode('abcde')) && !t.has('edcba'));
  assert.throws(() => t.has('abcd'), refused(/have 5 bytes each; this key has 4/));
  assert.throws(() => t.add('abcdé'), refused(/have 5 bytes each; this key has 6/));
  assert.throws(() => t.has(12345), TypeError);
});

test('sha256 and caller keys are bytes', async () => {
  const sha = await Tamis.create({ ...plan, encoding: 'sha256' });
  sha.add(new Uint8Array(32));
  assert.ok(sha.has(new Uint8Array(32)));
  assert.throws(() => sha.has('example.org'),
    refused(/encoded as sha256, so a key must be a Uint8Array/));
  assert.throws(() => sha.add(new Uint8Array(31)), refused(/this key has 31/));
  const caller = await Tamis.load(golden('window-caller-keys.tamis'));
  assert.equal(caller.info().encoding, 'caller');
  assert.throws(() => caller.has('a'), refused(/encoded as caller, so a key must be a Uint8Array/));
  assert.equal(typeof caller.has(new Uint8Array(3)), 'boolean');
});

test('without a statement, and for text, keys are as ever', async () => {
  for (const encoding of [undefined, 'text']) {
    const t = await Tamis.create({ ...plan, encoding });
    t.add('5');
    assert.ok(t.has('5') && t.has(Uint8Array.of(0x35)) && !t.has(le(5)));
    assert.throws(() => t.has(5), TypeError);
    assert.equal(t.info().encoding, encoding);
  }
});

test('plans state it and say when they cannot', async () => {
  assert.equal((await Tamis.plan({ ...plan, encoding: 'int64le' })).keyWidth, 8);
  assert.equal((await Tamis.plan({ ...plan, encoding: 'sha256' })).encoding, 'sha256');
  assert.equal((await Tamis.plan(plan)).encoding, undefined);
  await assert.rejects(Tamis.create({ ...plan, encoding: 'utf16' }),
    refused(/there is no encoding 'utf16'/));
  await assert.rejects(Tamis.create({ ...plan, encoding: 'fixed' }),
    refused(/need a width from 1/));
  await assert.rejects(Tamis.create({ ...plan, encoding: 'text', keyWidth: 4 }),
    refused(/only for keys of fixed width/));
});
