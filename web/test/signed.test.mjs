// A guard with pinned keys against mirrors that swap, mix, truncate, replay, strip, sign with other
// keys, and lie about times: each is refused with its reason, and the old list stays in use.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, TamisError, core, random, room, source, web } from './help.mjs';
import { BODIES, filterOf } from './malicious.mjs';
import {
  NOW, Signer, SigningServer, keyLine, signed, summed, unsigned, unsummed,
} from './signing.mjs';

const { Signing } = await import(join(web, 'signed.mjs'));

const A = new Signer('0123456789abcdef', 1), B = new Signer('00000000000000b0', 2),
  STRANGER = new Signer('5757575757575757', 3), IMPOSTOR = new Signer(A.number, 4);
const OTHER_ID = 'cd'.repeat(16);
const iso = (seconds) => new Date(1000 * seconds).toISOString().replace('.000', '');

const clockAt = (now) => ({ now, clock() { return 1000 * this.now; } });
const options = (clock, publicKeys = [A.line], more = {}) =>
  ({ timeout: 120000, publicKeys, clock: () => clock.clock(), ...more });

// A guard of version 5. Its server then has version 6, with a delta.
async function start(t, publicKeys) {
  const server = await SigningServer.start(t, { signers: [A] }), clock = clockAt(NOW);
  server.version = 5;
  const guard = await Guard.load(server.url, options(clock, publicKeys));
  const old = { manifest: server.manifest(), update: server.update() };
  await server.publish({ delta: await filterOf(['new.example']),
    removed: Buffer.from('0000000100000002', 'hex') });
  server.built += 30;
  return { server, guard, clock, old };
}

async function intact({ server, guard }, what) {
  assert.equal(guard.version, 5, what);
  assert.equal(guard.signed.version, 5, what);
  assert.equal(guard.look('http://new.example/').expressions[0].maybe, false, what);
  const { verdict, version } = await guard.check('http://bad.example/', { insist: true });
  assert.deepEqual([verdict, version], ['listed', 5], what);
  assert.ok(server.requests.length > 0);
}

const STATUS = {
  unsigned: 'EKEY', 'unknown-key': 'EKEY', 'wrong-signature': 'EKEY', malformed: 'ECORRUPT',
  disagrees: 'ECORRUPT', replayed: 'EMISMATCH', expired: 'EMISMATCH', future: 'EMISMATCH',
};
const MESSAGE = {
  unsigned: /^the list is not signed, and only lists that a pinned key has signed are accepted$/,
  'unknown-key': /^the list is signed by the key [0-9a-f]{16}.*, which is not pinned; pinned: /,
  'wrong-signature': /^the signature of the key [0-9a-f]{16} is wrong: the list was changed, or /,
  malformed: /^the manifest of the list is damaged, or of a newer form$/,
  disagrees: /^the description of the list and its signed manifest differ in [a-z, ]+$/,
  replayed: /accepted before/, expired: /^the list expired at /,
  future: /^the list was built in the future, at /,
};

function wanted(refusal, what, message = MESSAGE[refusal]) {
  return (e) => {
    assert.ok(e instanceof TamisError, `${what}: ${e.stack}`);
    assert.equal(e.refusal, refusal, `${what}: ${e.message}`);
    assert.equal(e.status, STATUS[refusal], what);
    assert.match(e.message, message, what);
    return true;
  };
}

// --- What is accepted ----------------------------------------------------------------------------

test('a signed list: who signed it, and until when', async (t) => {
  const { server, guard, clock } = await start(t);
  const about = { version: 5, id: server.id, base: 1, built: NOW - 60, expires: NOW + 86400,
    keys: [A.number] };
  assert.deepEqual(guard.signed, about);
  assert.equal(guard.expired, false);
  assert.deepEqual(await guard.update(), { changed: true, version: 6,
    bytes: server.parts.delta.length + 8 });
  assert.deepEqual(guard.signed, { ...about, version: 6, built: NOW - 30 });
  assert.equal((await guard.check('http://bad.example/')).verdict, 'listed');
  assert.deepEqual(await guard.update(), { changed: false, version: 6, bytes: 0 });
  // Nobody can change what the guard remembers.
  guard.signed.version = 1;
  guard.signed.keys.push('x');
  assert.deepEqual(guard.signed, { ...about, version: 6, built: NOW - 30 });
  // The hour for which a list may be ahead of the clock, and the last second of its life.
  clock.now = server.built - 3600;
  await guard.update();
  clock.now = server.expires - 0.001;
  await guard.update();
});

test('a list without an expiry never expires', async (t) => {
  const { server, guard, clock } = await start(t);
  server.expires = undefined;
  await guard.update();
  clock.now += 1e9;
  await guard.update();
  assert.deepEqual([guard.signed.expires, guard.expired], [undefined, false]);
});

test('without pinned keys, a manifest means nothing', async (t) => {
  const { server } = await start(t);
  for (const text of [null, undefined, 7, {}, 'nonsense', signed(unsigned({ ...server, version: 1,
    base: 1, expires: 1 }), [STRANGER])]) {
    server.tamper = () => text;
    const guard = await Guard.load(server.url, { timeout: 120000 });
    assert.deepEqual([guard.version, guard.signed, guard.expired, guard.save().manifest],
      [6, undefined, false, undefined]);
  }
});

test('rotation: each of two keys, both, and one after the other', async (t) => {
  const { server, clock } = await start(t);
  const accepts = async (signers, keys) => {
    server.signers = signers;
    const guard = await Guard.load(server.url, options(clock, keys.map((k) => k.file)));
    return guard.signed.keys;
  };
  assert.deepEqual(await accepts([A], [A, B]), [A.number]);
  assert.deepEqual(await accepts([B], [A, B]), [B.number]);
  assert.deepEqual(await accepts([A, B], [A]), [A.number]);
  assert.deepEqual(await accepts([A, B], [B]), [B.number]);
  assert.deepEqual(await accepts([B, A], [A, B, A]), [B.number, A.number]);
  const eight = Array.from({ length: 7 }, (_, i) => new Signer(`000000000000000${i}`));
  assert.deepEqual(await accepts([...eight, B], [B]), [B.number]);
  await assert.rejects(accepts([...eight, A, B], [B]), wanted('malformed', 'nine signatures'));
  await assert.rejects(accepts([A], [B]), wanted('unknown-key', 'the old key alone'));
  await assert.rejects(accepts([STRANGER, A], [B]), wanted('unknown-key', 'two other keys',
    /key 5757575757575757 and the key 0123456789abcdef, which .*; pinned: 00000000000000b0$/));
  // While a guard is in use: the operator signs with both keys, then with the new one alone.
  server.signers = [A];
  const guard = await Guard.load(server.url, options(clock, [A.line, B.line]));
  for (const signers of [[A, B], [B]]) {
    server.signers = signers;
    await server.publish({ delta: await filterOf(['x']) });
    assert.equal((await guard.update()).version, server.version);
    assert.deepEqual(guard.signed.keys, signers.map((s) => s.number));
  }
});

test('every form of manifest that the builder can write', async (t) => {
  const { server, clock } = await start(t);
  const load = async (more, change) => {
    server.tamper = () => signed(unsigned({ ...server, base: 1, ...more }), [A]);
    server.describe = (m) => ({ ...m, ...change });
    return (await Guard.load(server.url, options(clock, undefined, { maxRate: 1 }))).version;
  };
  for (const labels of [[], ['a', 'x'.repeat(63)], Array.from({ length: 64 }, (_, i) => `l${i}`),
    ['!#[]~=|'], ['signature'], ['sum']])
    assert.equal(await load({ labels }), 6);
  for (const rate of ['0.0125', '1', '0.01', '0.00781250001', '0.0078125'])
    assert.equal(await load({ rate }, { rate: Number(rate) }), 6);
});

// --- What is refused -----------------------------------------------------------------------------

const manifest = (text) => (it) => { it.server.tamper = () => text(it); };
const line = (pattern, by) => manifest(({ server }) => {
  const text = server.manifest(), changed = unsummed(text).replace(pattern, by);
  assert.notEqual(changed, unsummed(text), String(pattern));
  return summed(changed);
});
const described = (how) => ({ server }) => { server.describe = how; };
const own = ({ server }, more = {}) => unsigned({ ...server, base: 1, ...more });
const part = (name, change) => described((m) => ({ ...m, [name]: { ...m[name], ...change } }));

const ATTACKS = [
  ['no manifest', 'unsigned', manifest(() => null)],
  ['no member', 'unsigned', manifest(() => undefined)],
  ['stripped signatures', 'unsigned', line(/signature .*\n/g, '')],
  ['an unsigned form', 'unsigned', manifest((it) => summed(own(it, { form: 1,
    expires: undefined })))],
  ['another key', 'unknown-key', ({ server }) => { server.signers = [STRANGER]; }],
  ['another key of the same number', 'wrong-signature', ({ server }) => {
    server.signers = [IMPOSTOR];
  }],
  ['the number of a pinned key', 'wrong-signature', manifest((it) => summed(own(it) +
    `signature ${A.number} ${STRANGER.sign(own(it))}\n`))],
  ['a signature of zeros', 'wrong-signature', line(/(signature \w+ ).*/,
    `$1${Buffer.alloc(64).toString('base64')}`)],
  ['the signature of the old list', 'wrong-signature', manifest(({ server, old }) =>
    summed(unsummed(server.manifest()).replace(/signature .*\n/,
      /signature .*\n/.exec(old.manifest)[0])))],
  ['a signature of the file with its sum', 'wrong-signature', manifest((it) => summed(own(it) +
    A.signatureLine(summed(own(it)))))],
  ['a good signature and a wrong one', 'wrong-signature', ({ server }) => {
    server.signers = [A];
    server.tamper = (text) => summed(unsummed(text) + `signature ${B.number} ${
      STRANGER.sign('x')}\n`);
  }],
  ['a line before the signature', 'malformed', line(/signature/, 'more 1\nsignature')],
  ['a line after the signature', 'malformed', line(/$/, 'expires 9999999999\n')],
  ['a changed expiry', 'wrong-signature', line(/expires \d+/, `expires ${NOW + 1e7}`)],
  ['no expiry', 'wrong-signature', line(/expires \d+\n/, '')],
  ['a changed time', 'wrong-signature', line(/built \d+/, `built ${NOW}`)],
  ['another number', 'wrong-signature', line(/version 6/, 'version 7')],
  ['an old form with a signature', 'malformed', line(/guard 2/, 'guard 1')],
  ['an old form that is signed', 'malformed', manifest((it) => signed(own(it, { form: 1 }), [A]))],
  ['a newer form', 'malformed', manifest((it) => signed(own(it, { form: 3 }), [A]))],
  ['a wrong sum', 'malformed', manifest(({ server }) => server.manifest().replace(/sum ./,
    (found) => (found.endsWith('0') ? 'sum 1' : 'sum 0')))],
  ['the same signature twice', 'malformed', line(/(signature .*\n)/, '$1$1')],
  ['two signatures of one key', 'malformed', manifest((it) => summed(own(it) +
    A.signatureLine(own(it)) + A.signatureLine(`${own(it)}x`)))],
  ['a signature of a stranger twice', 'malformed', ({ server }) => {
    server.signers = [A, STRANGER, STRANGER];
  }],
  ['bits that nobody reads', 'malformed', line(/==\n/, '=A\n')],
  ['upper-case digits', 'malformed', line(/(signature )(\w+)/, (_, a, b) => a + b.toUpperCase())],
  ['CRLF', 'malformed', line(/\n/g, '\r\n')],
  ['a mark before the text', 'malformed', line(/^/, '\ufeff')],
  ['two manifests', 'malformed', manifest(({ server }) => server.manifest() + server.manifest())],
  ['a number', 'malformed', manifest(() => 7)],
  ['an object', 'malformed', manifest(() => ({}))],
  ['an empty text', 'malformed', manifest(() => '')],
];

// Signed by the right key, but with contents that no builder writes.
for (const [name, more] of Object.entries({
  'version 0': { version: 0, base: 0 }, 'a base above the version': { base: 7 },
  'a huge version': { version: '9007199254740993' }, 'leading zeros': { version: '06' },
  'a sign': { version: '+6' }, 'a short id': { id: 'xyz' }, 'a long rate': { rate: 77 },
  'a negative time': { built: -1 }, 'a time without end': { expires: '9'.repeat(15) },
  'an expiry in 1970': { expires: 0 }, 'more entries than numbers': { entries: 2 ** 53 },
  'a rate above 1': { rate: 1.5 }, 'a rate in another form': { rate: '1e-02' },
  'a rate with too many digits': { rate: '0.0123456789012' },
  'no filter': { parts: {} }, 'a label with a space': { labels: ['a b'] },
  'a label with a quote': { labels: ['a"b'] }, 'an empty label': { labels: [''] },
  'a long label': { labels: ['x'.repeat(64)] }, 'a label that is not ASCII': { labels: ['ü'] },
  '65 labels': { labels: Array(65).fill('x') },
}))
  ATTACKS.push([name, 'malformed', manifest((it) => signed(own(it, more), [A]))]);

// The description says something else than its manifest.
for (const [what, how] of Object.entries({
  version: (m) => ({ ...m, version: 7 }), id: (m) => ({ ...m, id: OTHER_ID }),
  base: (m) => ({ ...m, base: 2 }), rate: (m) => ({ ...m, rate: 0.005 }),
  built: (m) => ({ ...m, built: m.built + 1 }), entries: (m) => ({ ...m, entries: 2 }),
  'no delta': (m) => ({ ...m, delta: null }), 'no removals': (m) => ({ ...m, removed: undefined }),
}))
  ATTACKS.push([`another ${what}`, 'disagrees', described(how)]);
for (const name of ['filter', 'delta', 'removed']) {
  ATTACKS.push([`${name}: another size`, 'disagrees', part(name, { bytes: 77 }),
    new RegExp(`differ in ${name}$`)]);
  ATTACKS.push([`${name}: another sum`, 'disagrees', part(name, { sha256: 'a'.repeat(64) })]);
}
ATTACKS.push(['the old description with the new manifest', 'disagrees', (it) => {
  it.server.describe = (m) => ({ ...it.old.update, manifest: m.manifest });
}]);
ATTACKS.push(['the same version with another id', 'replayed', (it) => {
  it.server.version = 5;
  it.server.id = OTHER_ID;
}, /^this is another version 5 of the list than the one accepted before$/]);
ATTACKS.push(['a lower version, built later', 'replayed', (it) => { it.server.version = 4; },
  /^this is version 4 of the list, and version 5 was accepted before: an old list is offered/]);
ATTACKS.push(['a higher version, built earlier', 'replayed', (it) => {
  it.server.built = NOW - 61;
}, new RegExp(`^the list was built at ${iso(NOW - 61)}, and one that was built at ${
  iso(NOW - 60)} was accepted before: `)]);
ATTACKS.push(['expired', 'expired', (it) => { it.server.expires = NOW - 1; },
  new RegExp(`^the list expired at ${iso(NOW - 1)}; the clock of this computer shows ${
    iso(NOW)}, and may be wrong$`)]);
ATTACKS.push(['expired in this second', 'expired', (it) => { it.server.expires = NOW; }]);
ATTACKS.push(['expired when it was built', 'expired', (it) => { it.server.expires = 1; }]);
ATTACKS.push(['from the future', 'future', (it) => { it.server.built = NOW + 3601; },
  new RegExp(`future, at ${iso(NOW + 3601)}; the clock of this computer shows ${
    iso(NOW)}, and may be wrong$`)]);
ATTACKS.push(['a clock that stands at its beginning', 'future', (it) => { it.clock.now = 1; }]);
ATTACKS.push(['a clock of the next century', 'expired', (it) => { it.clock.now = 5e9; }]);

test('refused manifests: each has its reason, and the old list stays', async (t) => {
  for (const [what, refusal, attack, message] of ATTACKS) {
    const it = await start(t, [A.line, B.line]);
    attack(it);
    await assert.rejects(it.guard.update(), wanted(refusal, what, message), what);
    await intact(it, what);
    const parts = it.server.requests.filter(({ path }) => path === '/delta').length;
    assert.equal(parts, 0, `${what}: nothing is fetched`);
    // A new guard has no memory of older lists, and refuses everything else as well.
    const fresh = Guard.load(it.server.url, options(it.clock, [A.line, B.line]));
    if (refusal === 'replayed') assert.equal((await fresh).version, it.server.version, what);
    else await assert.rejects(fresh, wanted(refusal, what, message), what);
    // Afterwards the honest server is accepted.
    it.server.behave();
    Object.assign(it.server, { signers: [A], version: 6, id: 'ab'.repeat(16), built: NOW - 30,
      expires: NOW + 86400 });
    it.clock.now = NOW;
    assert.equal((await it.guard.update()).version, 6, what);
  }
  const tried = new Set(ATTACKS.map(([, refusal]) => refusal));
  assert.deepEqual([...tried].sort(), Object.keys(STATUS).sort());
});

test('a mirror that replays everything it had', async (t) => {
  const it = await start(t), { server, guard, old } = it, parts = { ...server.parts };
  await guard.update();
  server.parts = { filter: parts.filter, delta: null, removed: null };
  server.describe = () => old.update;
  await assert.rejects(guard.update(), wanted('replayed', 'an old list',
    /^this is version 5 of the list, and version 6 was accepted before: an old list is offered/));
  assert.equal(guard.version, 6);
  // Also as the claim that nothing has changed, for ever.
  server.describe = () => ({ ...old.update, unchanged: true });
  await assert.rejects(guard.update(), wanted('replayed', 'unchanged', /^this is version 5 of/));
  assert.equal(guard.look('http://new.example/').expressions[0].maybe, true);
});

test('a mirror that freezes the list is noticed when it expires', async (t) => {
  const { server, guard, clock } = await start(t);
  await guard.update();
  assert.deepEqual(await guard.update(), { changed: false, version: 6, bytes: 0 });
  clock.now = server.expires;
  assert.equal(guard.expired, true);
  await assert.rejects(guard.update(), wanted('expired', 'frozen'));
  // It stays in use all the same.
  assert.equal((await guard.check('http://bad.example/')).verdict, 'listed');
  assert.equal((await guard.check('http://good.example/')).verdict, 'clean');
  // The operator signs the same version again.
  server.expires += 86400;
  const before = server.requests.length;
  assert.deepEqual(await guard.update(), { changed: true, version: 6, bytes: 0 });
  assert.equal(server.requests.length, before + 1);
  assert.deepEqual([guard.expired, guard.signed.expires], [false, server.expires]);
  assert.equal(guard.save().manifest, server.manifest());
});

test('a claim that nothing has changed, with the manifest of another list', async (t) => {
  const { server, guard } = await start(t);
  await guard.update();
  const parts = { ...server.parts };
  // The number and the id stay, the operator signs other parts: they are fetched.
  server.parts = { ...parts, delta: await filterOf(['newest.example']) };
  assert.deepEqual(await guard.update(), { changed: true, version: 6,
    bytes: server.parts.delta.length + 8 });
  assert.equal(guard.look('http://newest.example/').expressions[0].maybe, true);
  // A mirror that only claims it is asked again, and refused.
  server.parts = parts;
  server.describe = (m) => ({ ...m, unchanged: true });
  await assert.rejects(guard.update(), { status: 'ECORRUPT', message: /there is no list$/ });
  assert.equal(guard.look('http://newest.example/').expressions[0].maybe, true);
});

test('parts that are swapped, mixed, truncated or changed', async (t) => {
  const it = await start(t), { server } = it;
  const parts = { ...server.parts }, DAMAGED = { status: 'ECORRUPT',
    message: /damaged, or of another version$|more than \d+ bytes$/ };
  const refused = async (what, error = DAMAGED) => {
    await assert.rejects(it.guard.update(), error, what);
    await intact(it, what);
  };
  for (const name of ['shorter', 'longer', 'flipped'])
    for (const path of ['/delta', '/removed']) {
      server.bodies = { [path]: BODIES[name] };
      await refused(`${name} ${path}`);
    }
  server.bodies = { '/delta': (response) => response.end(parts.removed) };
  await refused('the removals instead of the delta');
  server.bodies = { '/delta': (response) => response.end(parts.filter) };
  await refused('the filter instead of the delta');
  const other = await filterOf(['other.example']);
  assert.equal(other.length, parts.delta.length);
  server.bodies = { '/delta': (response) => response.end(other) };
  await refused('another delta of the same size');
  // With sums in the description that fit: these are not the signed ones.
  const honest = server.manifest();
  server.bodies = {};
  server.parts = { ...parts, delta: other };
  server.tamper = () => honest;
  await refused('another delta and its sum', wanted('disagrees', 'delta'));
  // The parts of two versions: the new filter with the old manifest's delta.
  server.parts = { ...parts, filter: await filterOf(['x.example']) };
  await refused('another filter', wanted('disagrees', 'filter'));
  server.behave();
  server.parts = parts;
  assert.equal((await it.guard.update()).version, 6);
});

test('a rate that the operator signed is believed no more than another', async (t) => {
  const it = await start(t), { server } = it;
  server.rate = 0.5;
  await assert.rejects(it.guard.update(), { status: 'EMISMATCH', message: /most that is allowed/ });
  server.rate = 1e-10;
  await assert.rejects(it.guard.update(), { status: 'EMISMATCH', message: /far above/ });
  await intact(it);
});

// --- Memory --------------------------------------------------------------------------------------

test('a saved guard starts again, and remembers', async (t) => {
  const { server, guard, clock, old } = await start(t);
  const before = guard.save();
  await guard.update();
  const saved = structuredClone(guard.save()), given = { ...saved, server: server.url };
  assert.equal(saved.manifest, server.manifest());
  const again = await Guard.load(given, options(clock));
  assert.deepEqual([again.version, again.signed], [6, guard.signed]);
  assert.deepEqual(again.save(), guard.save());
  server.describe = () => old.update;
  await assert.rejects(again.update(), wanted('replayed', 'after a restart', /^this is version 5/));
  // Only with the keys, and with the whole of it.
  const refused = (more, error, keys) =>
    assert.rejects(Guard.load({ ...given, ...more }, options(clock, keys)), error);
  const flip = (bytes) => Uint8Array.from(bytes, (b, i) => (i === 40 ? b ^ 1 : b));
  await refused({}, wanted('unknown-key', 'another key'), [B.line]);
  await refused({ manifest: undefined }, wanted('unsigned', 'no manifest'));
  await refused({ manifest: saved.manifest.replace('version 6', 'version 7') },
    wanted('malformed', 'another version'));
  for (const [name, bytes] of Object.entries({ filter: flip(saved.filter), removed: Buffer.alloc(8),
    delta: saved.filter }))
    await refused({ [name]: bytes }, wanted('disagrees', name,
      new RegExp(`^the stored ${name} is not the one that the signed manifest names$`)));
  for (const name of ['delta', 'removed'])
    await refused({ [name]: undefined }, wanted('disagrees', `no ${name}`, /^the stored/));
  await refused({ version: 7 }, wanted('disagrees', 'version'));
  await refused({ id: OTHER_ID }, wanted('disagrees', 'id'));
  // What was stored may be old: it is used, and reported. A clock that goes wrong changes nothing.
  clock.now = server.expires + 1;
  const late = await Guard.load(given, options(clock));
  assert.deepEqual([late.version, late.expired], [6, true]);
  clock.now = 1;
  assert.equal((await Guard.load(given, options(clock))).expired, false);
  // Unsigned members are not needed.
  const { version, id, base, ...bare } = given;
  assert.equal((await Guard.load(bare, options(clock))).version, 6);
  assert.equal(before.version, 5);
  // Without keys, it starts as any stored list does.
  assert.equal((await Guard.load(given)).signed, undefined);
});

test('the memory alone, for a client that lost its list', async (t) => {
  const { server, guard, clock } = await start(t), before = guard.save();
  await guard.update();
  const accepted = JSON.parse(JSON.stringify(guard.signed));
  const load = (from, more) => Guard.load(from, options(clock, undefined, { accepted, ...more }));
  assert.equal((await load(server.url)).version, 6);
  assert.equal((await load({ ...guard.save() })).version, 6);
  await assert.rejects(load(before), wanted('replayed', 'an older copy', /^this is version 5/));
  server.version = 5;
  await assert.rejects(load(server.url), wanted('replayed', 'an older list', /^this is version 5/));
  Object.assign(server, { version: 6, id: OTHER_ID });
  await assert.rejects(load(server.url), wanted('replayed', 'other', /^this is another version 6/));
  Object.assign(server, { version: 7, built: accepted.built - 1 });
  await assert.rejects(load(server.url), wanted('replayed', 'earlier', /^the list was built/));
  server.built++;
  assert.equal((await load(server.url)).version, 7);
  for (const wrong of [null, {}, 7, 'x', { version: 6 }, { ...accepted, built: 'x' },
    { ...accepted, version: 1.5 }, { ...accepted, id: 7 }])
    await assert.rejects(load(server.url, { accepted: wrong }), { status: 'EINVAL',
      message: /^accepted must have/ });
  await assert.rejects(Guard.load(server.url, { accepted }), { status: 'EINVAL',
    message: /^publicKeys must have at least one key/ });
});

test('a failed update is not remembered', async (t) => {
  const it = await start(t), { server, guard } = it;
  const honest = { ...server.parts };
  server.version = 9;
  server.bodies = { '/delta': BODIES.flipped };
  await assert.rejects(guard.update(), { status: 'ECORRUPT' });
  await intact(it);
  server.behave();
  Object.assign(server, { version: 6, parts: honest });
  assert.equal((await guard.update()).version, 6);
});

// --- Keys ----------------------------------------------------------------------------------------

test('public keys: the line, the file, and what is neither', async (t) => {
  const { server, clock } = await start(t);
  const load = (...publicKeys) => Guard.load(server.url, options(clock, publicKeys));
  for (const text of [A.line, A.file, `${A.line}\n`, ` ${A.line} `, A.file.replace(/\n/g, '\r\n')])
    assert.deepEqual((await load(text)).signed.keys, [A.number], JSON.stringify(text));
  const wrong = [undefined, null, 7, {}, [A.line], '', 'x', A.line.slice(1), `${A.line}A`,
    `${A.line}${A.line}`, `${A.line}\n${A.line}`, A.line.replace(/.$/, '='),
    A.line.replace(/.$/, '_'), A.file.replace('untrusted comment: ', ''),
    `untrusted comment: x\n${A.file}`,
    `${A.file}${A.file}`, Buffer.from(A.line), A.point, keyLine(A.number, A.point, 'Ec'),
    keyLine(A.number, A.point, 'ed'), keyLine(A.number, A.point.subarray(1)),
    'untrusted comment: x\n'];
  server.requests.length = 0;
  for (const text of wrong)
    await assert.rejects(load(B.line, text), { status: 'EINVAL',
      message: /^a public key must be the 56 characters of a signify \.pub file, or/ },
    String(text));
  for (const none of [[], '', A.line, {}, null, 7])
    await assert.rejects(Guard.load(server.url, options(clock, none)), { status: 'EINVAL',
      message: /^publicKeys must have at least one key; without publicKeys, / });
  await assert.rejects(load(A.line, IMPOSTOR.line), { status: 'EINVAL',
    message: 'two of the public keys have the number 0123456789abcdef' });
  assert.equal(server.requests.length, 0, 'nothing is asked');
});

// Every encoding of a point of small order, and encodings that no program writes. A signature for
// such a key is easily made: R and s are zero.
test('keys for which anybody could sign', async (t) => {
  const { server, clock } = await start(t);
  const hex = ['0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'];
  for (const point of hex.map((text) => Buffer.from(text, 'hex')))
    for (const sign of [0, 0x80]) {
      point[31] = (point[31] & 0x7f) | sign;
      await assert.rejects(Guard.load(server.url, options(clock, [keyLine(A.number, point)])),
        { status: 'EINVAL', message: /^the public key 0123456789abcdef is not a safe Ed25519/ });
    }
});

test('a signature in another form than its own', async (t) => {
  const { server, guard } = await start(t);
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
  server.tamper = (text) => {
    const good = Buffer.from(/signature \w+ (.*)\n/.exec(text)[1], 'base64');
    let s = BigInt(`0x${Buffer.from(good.subarray(32)).reverse().toString('hex')}`) + ORDER;
    for (let i = 32; i < 64; i++, s >>= 8n) good[i] = Number(s & 255n);
    return summed(unsummed(text).replace(/(signature \w+ ).*/, `$1${good.toString('base64')}`));
  };
  // Also by a program that would accept it.
  const { host } = core, before = host.subtle;
  t.after(() => { host.subtle = before; });
  for (const subtle of [before, { verify: () => Promise.resolve(true) }]) {
    host.subtle = subtle;
    await assert.rejects(guard.update(), wanted('wrong-signature', 's above the order'));
  }
  host.subtle = before;
  // The last character of 64 bytes in Base64 has four bits that stand for nothing.
  server.tamper = (text) => summed(unsummed(text).replace(/(.)==\n/, (_, last) =>
    `${String.fromCharCode(last.charCodeAt(0) + 1)}==\n`));
  await assert.rejects(guard.update(), wanted('wrong-signature', 'unused bits'));
});

test('without Ed25519 in WebCrypto, a guard with pinned keys refuses to load', async (t) => {
  const { server, clock } = await start(t), { host } = core, before = host.subtle;
  t.after(() => { host.subtle = before; });
  const load = () => Guard.load(server.url, options(clock));
  const named = (name) => Object.assign(new Error('words of the browser'), { name });
  server.requests.length = 0;
  host.subtle = { importKey: () => Promise.reject(named('NotSupportedError')) };
  await assert.rejects(load(), { status: 'EUNSUPPORTED',
    message: /^signatures cannot be checked: this browser has no Ed25519 \(Chromium has it from/ });
  host.subtle = { importKey: () => Promise.reject(named('DataError')) };
  await assert.rejects(load(), { status: 'EINVAL',
    message: 'the public key 0123456789abcdef: words of the browser' });
  assert.equal(server.requests.length, 0);
  // A check that fails is not a check that succeeds.
  host.subtle = { importKey: (...args) => before.importKey(...args),
    verify: () => Promise.reject(named('OperationError')) };
  await assert.rejects(load(), wanted('wrong-signature', 'a failing check'));
  if (Object.getOwnPropertyDescriptor(globalThis, 'crypto')?.configurable) {
    const real = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
    host.subtle = undefined;
    Object.defineProperty(globalThis, 'crypto', { value: {}, configurable: true });
    t.after(() => Object.defineProperty(globalThis, 'crypto', real));
    await assert.rejects(load(), { status: 'EUNSUPPORTED',
      message: /^signatures cannot be checked: there is no WebCrypto here\. Pages have it only/ });
  }
});

test('the code for signatures is fetched only with pinned keys, or not at all', async (t) => {
  const dir = join(room(t), 'web'), from = { filter: await filterOf(['bad.example']) };
  cpSync(web, dir, { recursive: true });
  rmSync(join(dir, 'signed.mjs'));
  const alone = await import(join(dir, 'node.mjs'));
  assert.equal((await alone.Guard.load(from)).look('bad.example').expressions[0].maybe, true);
  await assert.rejects(alone.Guard.load(from, { publicKeys: [A.line] }),
    { status: 'EUNSUPPORTED', message: /^tamis\/signed: Cannot find module/ });
  // As in a service worker, which imports it in advance.
  cpSync(join(web, 'signed.mjs'), join(dir, 'before.mjs'));
  await import(join(dir, 'before.mjs'));
  await assert.rejects(alone.Guard.load(from, { publicKeys: [A.line] }), { refusal: 'unsigned' });
});

// --- Mutations -----------------------------------------------------------------------------------

async function mutants(t) {
  const { server, clock } = await start(t);
  const { manifest: text, ...answer } = server.update();
  const signing = await Signing.start(options(clock));
  const accepts = async (mutant) => {
    try {
      await signing.offered({ ...answer, manifest: mutant });
      return 'accepted';
    } catch (e) {
      assert.ok(e instanceof TamisError && e.refusal in STATUS, `${e.stack}\n${mutant}`);
      return e.refusal;
    }
  };
  assert.equal(await accepts(text), 'accepted');
  return { text, accepts };
}

test('every byte of a signed manifest, changed in many ways', async (t) => {
  const { text, accepts } = await mutants(t), body = unsummed(text), below = random(7);
  for (let i = 0; i < text.length; i++) {
    const others = [1, 2, 4, 8, 16, 32, 64].map((bit) => text.charCodeAt(i) ^ bit);
    for (const code of [...others, 0, 10, 32, 48 + below(10), 97 + below(6), 0xe9, 0xd800]) {
      if (code === text.charCodeAt(i)) continue;
      const change = (all) => all.slice(0, i) + String.fromCharCode(code) + all.slice(i + 1);
      assert.notEqual(await accepts(change(text)), 'accepted', `byte ${i} is ${code}`);
      // With a sum that fits: only the signature is left to notice it.
      if (i < body.length)
        assert.notEqual(await accepts(summed(change(body))), 'accepted', `byte ${i} is ${code}`);
    }
    for (const cut of [text.slice(0, i), text.slice(0, i) + text.slice(i + 1)])
      assert.notEqual(await accepts(cut), 'accepted', `cut at ${i}`);
    if (i < body.length)
      assert.notEqual(await accepts(summed(body.slice(0, i))), 'accepted', `cut at ${i}`);
  }
});

test('every line of a signed manifest: left out, twice, elsewhere', async (t) => {
  const { text, accepts } = await mutants(t);
  const lines = unsummed(text).split('\n').slice(0, -1), seen = new Set();
  const refused = async (some, what) => {
    const result = await accepts(summed(some.map((it) => `${it}\n`).join('')));
    assert.notEqual(result, 'accepted', what);
    seen.add(result);
  };
  for (const [i, it] of lines.entries()) {
    await refused(lines.filter((_, j) => j !== i), `without ${it}`);
    await refused([...lines.slice(0, i), it, ...lines.slice(i)], `twice ${it}`);
    await refused([...lines, it], `${it} at the end`);
    for (const j of lines.keys())
      if (j !== i) await refused(lines.map((x, k) => (k === i ? lines[j] : k === j ? it : x)),
        `${i} and ${j} exchanged`);
  }
  assert.deepEqual([...seen].sort(), ['malformed', 'unsigned', 'wrong-signature']);
});

test('noise and long texts instead of a manifest', async (t) => {
  const { text, accepts } = await mutants(t), below = random(8);
  const pieces = text.split(/(?<=[ \n])/);
  for (let i = 0; i < 3000; i++) {
    const noise = Array.from({ length: below(60) }, () => pieces[below(pieces.length)]).join('');
    const mutant = i % 2 ? summed(noise) : text.slice(0, below(text.length)) + noise;
    assert.notEqual(await accepts(mutant), 'accepted', mutant);
  }
  for (const piece of ['label x\n', 'signature ', '\n', 'tamis-guard 2\n', 'a'])
    assert.equal(await accepts(summed(text + piece.repeat(60000 / piece.length))), 'malformed');
});

// --- Documents -----------------------------------------------------------------------------------

test('the examples of signed lists print what they say', async (t) => {
  const server = await SigningServer.start(t, { signers: [A], built: Math.floor(Date.now() / 1000),
    expires: Math.floor(Date.now() / 1000) + 86400 }), dir = room(t);
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(web, join(dir, 'node_modules/tamis'));
  for (const file of ['docs/BROWSER.md', 'web/README.md']) {
    const blocks = readFileSync(join(source, file), 'utf8').matchAll(/^```js\n([^]*?)^```/gm);
    const [[, script]] = Array.from(blocks).filter(([text]) => text.includes('publicKeys'));
    const said = Array.from(script.matchAll(/^console\.log\(.*\);\s+\/\/ (.*)$/gm), ([, s]) => s);
    assert.ok(said.length >= 2);
    assert.ok(script.includes(A.line), file);
    writeFileSync(join(dir, 'example.mjs'), script.replace('https://guard.example', server.url));
    const run = await new Promise((done) => {
      execFile(process.execPath, [join(dir, 'example.mjs')], (error, out, words) =>
        done({ out, words }));
    });
    assert.deepEqual(run.out.trimEnd().split('\n'), said, `${file}: ${run.words}`);
  }
});
