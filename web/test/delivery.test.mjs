// The guard's client against a malicious list server (malicious.mjs): whatever it sends, the client
// ends, takes bounded memory, asks nobody else, reports a reason and keeps the list that it has.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, Tamis, TamisError, native, room, web } from './help.mjs';
import {
  BODIES, END, MaliciousServer, RAW, RIBBON_OF_ZEROS, filterOf, sha256,
} from './malicious.mjs';

const MIB = 1 << 20;
// The kernel and the client's HTTP library buffer some megabytes that the client does not read.
const BUFFERED = 64 * MIB;
const PATIENT = { timeout: 120000 }; // for what must not depend on the time
// Little time for bodies that misbehave, and enough for all others on a busy machine.
const impatient = () => ({ timeout: 1000 });
const DELTA = { delta: await filterOf(['new.example']), removed: Buffer.alloc(4000) };
for (let i = 0; i < 1000; i++) DELTA.removed.writeUInt32BE(i, 4 * i);

async function until(done, what) {
  for (let i = 0; !done(); i++) {
    assert.ok(i < 6000, `never happened: ${what}`);
    await new Promise((next) => { setTimeout(next, 10); });
  }
}

// A guard of version 1, whose server then publishes version 2 with a delta and a removed prefix.
async function start(t, options = () => PATIENT) {
  const server = await MaliciousServer.start(t);
  const guard = await Guard.load(server.url, options(server));
  await server.publish(DELTA);
  return { server, guard, options: options(server) };
}

// Updates and new guards fail with this status and reason, and the old list stays in use.
async function refused({ server, guard, options }, wanted, what) {
  const good = (e) => {
    assert.ok(e instanceof TamisError, `${what}: ${e.stack}`);
    assert.equal(e.status, wanted.status, `${what}: ${e.message}`);
    if (wanted.message) assert.match(e.message, wanted.message, what);
    return true;
  };
  await assert.rejects(guard.update(), good, what);
  await assert.rejects(Guard.load(server.url, options), good, what);
  assert.equal(guard.version, 1, what);
  assert.equal(guard.look('http://bad.example/').expressions[0].maybe, true, what);
  assert.equal(guard.look('http://new.example/').expressions[0].maybe, false, what);
}

const LONG = { status: 'ECORRUPT', message: /more than \d+ bytes$/ };
const DAMAGED = { status: 'ECORRUPT', message: /damaged, or of another version$|not valid JSON$/ };
const LATE = { status: 'EIO', message: /timed out$/ };
const ELSEWHERE = { status: 'EIO', message: /redirects elsewhere, which is not followed$/ };
const ENDS = {
  endless: LONG, bytewise: LONG, gzip: LONG, deflate: LONG, brotli: LONG, nested: LONG,
  longer: LONG, shorter: DAMAGED, flipped: DAMAGED, broken: { status: 'EIO' }, drip: LATE,
  silent: LATE, mute: LATE, elsewhere: ELSEWHERE, loop: ELSEWHERE, moved: ELSEWHERE,
  error: { status: 'EIO', message: /HTTP 500$/ },
  missing: { status: 'EIO', message: /HTTP 404$/ },
};

test('the modes of the server are all tested', () => {
  assert.deepEqual(Object.keys(ENDS).sort(), Object.keys(BODIES).sort());
});

for (const path of ['/v1/update', '/filter', '/delta', '/removed'])
  test(`bodies of ${path} that are endless, inflated, slow, damaged or elsewhere`, async (t) => {
    const late = await start(t, impatient), patient = await start(t);
    for (const [name, wanted] of Object.entries(ENDS)) {
      const it = wanted === LATE ? late : patient;
      // The guard that updates has the filter.
      if (path === '/filter') await it.server.publish({ ...DELTA, filter: await filterOf(['x']) });
      // JSON may end with any number of spaces, and a description has no stated length.
      if (path === '/v1/update' && name === 'longer') continue;
      it.server.requests.length = 0;
      it.server.bodies[path] = BODIES[name];
      await refused(it, wanted, `${name} ${path}`);
      const asked = it.server.requests.filter((r) => r.path === path);
      assert.ok(asked.length >= 2, name);
      await until(() => asked.every((r) => r.closed), `${name}: the connection is closed`);
      for (const { sent } of asked) assert.ok(sent < BUFFERED, `${name}: ${sent} bytes were taken`);
      assert.ok(it.server.requests.every((r) => !r.path.startsWith('/moved')), name);
      it.server.behave();
    }
    const { guard, server } = patient;
    await server.publish(DELTA);
    assert.equal((await guard.update()).version, server.version);
  });

test('bodies of /v1/confirm leave a maybe unconfirmed, with a reason', async (t) => {
  const server = await MaliciousServer.start(t);
  const guards = [await Guard.load(server.url, PATIENT),
    await Guard.load(server.url, impatient())];
  for (const [name, wanted] of Object.entries(ENDS)) {
    if (name === 'longer') continue;
    const guard = guards[wanted === LATE ? 1 : 0];
    server.requests.length = 0;
    server.bodies['/v1/confirm'] = BODIES[name];
    const { verdict, reason } = await guard.check('bad.example', { insist: true });
    assert.equal(verdict, 'unconfirmed', name);
    assert.match(reason, wanted.message ?? /./, name);
    await until(() => server.requests.every((r) => r.closed), name);
    for (const { sent } of server.requests) assert.ok(sent < BUFFERED, `${name}: ${sent}`);
  }
  server.behave();
  assert.equal((await guards[0].check('bad.example', { insist: true })).verdict, 'listed');
});

test('heads, chunks and trailers without an end', async (t) => {
  for (const [name, [head, piece]] of Object.entries(RAW)) {
    let closed = 0, open;
    const server = createRawServer((socket) => {
      const more = () => { while (!socket.destroyed && socket.write(piece)); };
      socket.on('error', () => {}).on('close', () => closed++).on('drain', more);
      socket.once('data', () => { socket.write(head); more(); });
      open = socket;
    });
    await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
    t.after(() => server.close());
    const url = `http://127.0.0.1:${server.address().port}`;
    await assert.rejects(Guard.load(url, { timeout: 500 }), { status: 'EIO' }, name);
    // Node 18 does not close the connection in these cases.
    if (process.versions.node.startsWith('18.') && ['early', 'extension'].includes(name))
      open.destroy();
    await until(() => closed > 0, `${name}: the connection is closed`);
  }
});

// The peak of a process of its own, in bytes, without what Node itself takes.
function peak(url) {
  const script = `const { Guard } = await import(process.argv[1]);
    const now = () => process.resourceUsage().maxRSS * 1024, before = now();
    const reason = await Guard.load(process.argv[2], { timeout: 120000 }).catch((e) => e.message);
    console.log(JSON.stringify({ took: now() - before, reason }));`;
  return new Promise((done, failed) => {
    execFile(process.execPath, ['--input-type=module', '-e', script, join(web, 'node.mjs'), url],
      (error, out, words) => (error ? failed(new Error(words)) : done(JSON.parse(out))));
  });
}

test('memory is bounded by the size that is allowed, not by the server', async (t) => {
  const server = await MaliciousServer.start(t);
  for (const [name, bytes] of [['endless', 64 * MIB], ['bytewise', 4 * MIB], ['gzip', 64 * MIB]]) {
    server.describe = (m) => ({ ...m, filter: { ...m.filter, bytes } });
    server.bodies['/filter'] = BODIES[name];
    const { took, reason } = await peak(server.url);
    assert.ok(reason?.endsWith(`more than ${bytes} bytes`), `${name}: ${reason}`);
    t.diagnostic(`${name}: ${Math.round(took / MIB)} MiB`);
    // Three attempts with buffers that double, some of which are not collected yet.
    assert.ok(took < END / 2, `${name}: ${took} bytes`);
  }
});

test('a part is fetched from the server itself only', async (t) => {
  const seen = [];
  const other = createServer((request, response) => {
    seen.push(request.url);
    response.end('rebooting');
  });
  await new Promise((done) => { other.listen(0, '127.0.0.1', done); });
  t.after(() => new Promise((done) => { other.close(done); other.closeAllConnections?.(); }));
  const port = other.address().port, address = `http://127.0.0.1:${port}`;
  const it = await start(t), own = new URL(it.server.url);
  it.server.other = address;
  const urls = [`${address}/internal/reboot`, `//127.0.0.1:${port}/x`, `///127.0.0.1:${port}/x`,
    `/\\127.0.0.1:${port}/x`, `\\\\127.0.0.1:${port}/x`, `http:\\\\127.0.0.1:${port}/x`,
    `/\t/127.0.0.1:${port}/x`, ` ${address}/x`, `\n${address}/x`, `hTTp://127.0.0.1:${port}/x`,
    `http://localhost:${own.port}/filter`, `https://127.0.0.1:${own.port}/filter`,
    `http://user:word@127.0.0.1:${own.port}/filter`, `http://user@127.0.0.1:${own.port}/filter`,
    `http://127.0.0.1:${own.port}.other.example/filter`,
    `http://127.0.0.1:${own.port}@other.example`,
    'file:///etc/passwd', 'data:application/octet-stream,x', `blob:${it.server.url}/x`,
    'javascript:alert(1)', `ftp://127.0.0.1:${port}/x`, `ws://127.0.0.1:${own.port}/filter`,
    'about:blank', 'chrome-extension://abc/x', 'http://', 'http://[', 'http://\0/', 'https://%00/'];
  for (const name of ['filter', 'delta', 'removed'])
    for (const url of urls) {
      it.server.describe = (m) => ({ ...m, [name]: { ...m[name], url,
        sha256: sha256(url).toString('hex') } });
      it.server.requests.length = 0;
      await assert.rejects(it.guard.update(), (e) => e instanceof TamisError &&
        ['ECORRUPT', 'EIO'].includes(e.status), `${name} ${url}`);
      // Whatever remains is a path of the server itself.
      assert.ok(it.server.requests.length > 0);
    }
  for (const name of ['filter', 'delta']) {
    it.server.behave();
    it.server.bodies[`/${name}`] = BODIES.elsewhere;
    await assert.rejects(Guard.load(it.server.url), ELSEWHERE);
  }
  assert.deepEqual(seen, []);
  it.server.behave();
  it.server.describe = (m) => ({ ...m, delta: { ...m.delta, url: `${address}/internal/reboot` } });
  await refused(it, { status: 'ECORRUPT', message: /internal\/reboot: this is not below http:/ });
});

test('a server below a path cannot point beside it', async (t) => {
  const it = await MaliciousServer.start(t), part = it.parts.filter;
  const behind = createServer((request, response) => {
    if (request.url === '/guard/v1/update') response.end(JSON.stringify(it.describe(it.update())));
    else response.end(request.url.startsWith('/guard/filter') ? part : 'secret');
  });
  await new Promise((done) => { behind.listen(0, '127.0.0.1', done); });
  t.after(() => new Promise((done) => { behind.close(done); behind.closeAllConnections?.(); }));
  const url = `http://127.0.0.1:${behind.address().port}/guard`;
  const at = (path) => { it.describe = (m) => ({ ...m, filter: { ...m.filter, url: path } }); };
  for (const path of ['/filter?version=1', 'filter', './filter', `${url}/filter`, 'x/../filter']) {
    at(path);
    assert.equal((await Guard.load(url)).version, 1, path);
  }
  for (const path of ['../filter', '/../filter', '%2e%2e/filter', '..\\filter', `${url}x/filter`,
    `${url}/../filter`]) {
    at(path);
    await assert.rejects(Guard.load(url), { status: 'ECORRUPT', message: /is not below/ }, path);
  }
});

test('addresses of servers', async (t) => {
  const { url } = await MaliciousServer.start(t), { port } = new URL(url);
  for (const address of ['', 'guard.example', 'ftp://guard.example', 'file:///tmp/x', 'data:,x',
    'javascript:0', 'chrome://settings', `http://user:word@127.0.0.1:${port}`,
    `http://user@127.0.0.1:${port}`]) {
    const wrong = (e) => e.status === 'EINVAL' && !e.message.includes('word@');
    await assert.rejects(Guard.load(address), wrong, address);
  }
  const filter = await filterOf(['x']);
  await assert.rejects(Guard.load({ filter, server: 'ftp://x' }), { status: 'EINVAL' });
  for (const address of [url, `${url}/`, `${url}///`, `${url}/?a=b#c`, new URL(url)])
    assert.equal((await Guard.load(address)).version, 1);
});

const part = (name, change) => (m) => ({ ...m, [name]: { ...m[name], ...change } });
const DESCRIPTIONS = [
  () => 'null', () => '1', () => '"x"', () => '[]', () => '', () => '{', () => '{}', () => 'true',
  () => '['.repeat(60000), () => `${'['.repeat(30000)}${']'.repeat(30000)}`,
  () => '{"__proto__":{"version":2,"id":"x","base":1,"unchanged":true}}',
  ...['2', 2.5, -1, 0, null, true, [2], {}, 2 ** 53, 1e300, undefined, 'x&from=1', { valueOf: 2 }]
    .flatMap((x) => [(m) => ({ ...m, version: x }), (m) => ({ ...m, base: x })]),
  (m) => ({ ...m, base: m.version + 1 }),
  ...[null, 7, '', 'a b', '<b>', 'x'.repeat(65), ['a'], {}].map((id) => (m) => ({ ...m, id })),
  ...[null, 0, 1, 'false', undefined].map((unchanged) => (m) => ({ ...m, unchanged })),
  ...['0.001', null, -1, 2, [], true, undefined].map((rate) => (m) => ({ ...m, rate })),
  (m) => JSON.stringify(m).replace(/"rate":[^,]*/, '"rate":1e999'),
  ...[null, undefined, false, '', 0].map((filter) => (m) => ({ ...m, filter })),
  ...['filter', 'delta', 'removed'].flatMap((name) => [
    ...[true, 7, 'x', []].map((x) => (m) => ({ ...m, [name]: x })),
    ...[null, 7, undefined, ['/x'], {}].map((url) => part(name, { url })),
    ...['280', 0, -1, 1.5, null, undefined, [280], {}].map((bytes) => part(name, { bytes })),
    ...[null, 7, '', 'x'.repeat(64), 'A'.repeat(64), ['a'.repeat(64)], 'a'.repeat(63), {}]
      .map((sum) => part(name, { sha256: sum })),
    (m) => JSON.stringify(part(name, { bytes: -5 })(m)).replace('-5', '1e999'),
  ]),
];

test('descriptions with members of every wrong type', async (t) => {
  const it = await start(t);
  for (const describe of DESCRIPTIONS) {
    it.server.describe = describe;
    const what = JSON.stringify(describe(it.server.update())).slice(0, 300);
    await refused(it, { status: 'ECORRUPT', message: /JSON|description/ }, what);
  }
  assert.equal({}.version, undefined);
  it.server.describe = part('filter', { bytes: 64 * MIB + 1 });
  await refused(it, { status: 'ENOMEM', message: /67108865 bytes are more than the 67108864/ });
  it.server.behave();
  // Members that are not used may be anything.
  it.server.describe = (m) => ({ ...m, labels: 7, built: 'x', cache_seconds: {}, more: [], 1: 2 });
  assert.equal((await it.guard.update()).version, 2);
});

test('a server that only claims that nothing has changed', async (t) => {
  const it = await start(t);
  it.server.describe = (m) => ({ ...m, unchanged: true });
  await refused(it, { status: 'ECORRUPT', message: /there is no list$/ });
  it.server.describe = (m) => ({ ...m, unchanged: true, version: 1 });
  assert.deepEqual(await it.guard.update(), { changed: false, version: 1, bytes: 0 });
});

// The server decides what is listed, so an older version protects as well as it wants. It is
// reported.
test('a version may be older than the last one', async (t) => {
  const it = await start(t);
  await it.guard.update();
  it.server.describe = (m) => ({ ...m, version: 1, id: 'other' });
  assert.equal((await it.guard.update()).version, 1);
  assert.equal(it.guard.version, 1);
});

// --- Filters -------------------------------------------------------------------------------------

const some = Array.from({ length: 2000 }, (_, i) => `name-${i}.example`);

async function saved(plan, keys, seal = true) {
  const t = await Tamis.create(plan);
  for (const key of keys) t.add(key);
  if (seal) t.seal();
  return t.save();
}

function ribbon(t, ...options) {
  const path = join(room(t), 'x.tamis');
  native(['build', '-q', '--kind', 'ribbon', ...options, '-o', path], some.join('\n'));
  return path;
}

test('filters that would make every page a question', async (t) => {
  const it = await start(t);
  const OTHER = { status: 'EUNSUPPORTED', message: /is not the filter of a list$/ };
  const RATE = { status: 'EMISMATCH', message: /most that is allowed; a bigger filter/ };
  const TRUE = { status: 'EMISMATCH', message: /matches \d+ of 10000 random hashes, far above/ };
  const FAR = { status: 'EMISMATCH', message: /rate is .*, far above the server's statement/ };
  const small = { items: 10, fpr: 0.001 };
  const half = await Tamis.load(ribbon(t, '--fpr', '0.5'));
  const images = [
    ['all ones', await saved({ kind: 'bloom', items: 10, m: 512, k: 2 }, some), OTHER],
    ['not sealed', await saved({ kind: 'bloom', ...small }, [], false), OTHER],
    ['sealed, but not a sealed kind', await saved({ kind: 'blocked', ...small }, []), OTHER],
    ['collecting', await saved({ kind: 'fuse', ...small }, ['x'], false), OTHER],
    ['own hashes', await saved({ kind: 'fuse', ...small, callerHashes: true }, []), TRUE],
    ['half', half.save(), FAR],
    ['a ribbon of zeros', RIBBON_OF_ZEROS, FAR],
  ];
  for (const [what, image, wanted] of images)
    for (const name of ['filter', 'delta']) {
      await it.server.publish({ ...DELTA, [name]: image });
      const { rate } = it.server;
      for (const stated of [0, 1e-9, 0.009]) {
        it.server.rate = stated;
        // Nothing but zeros has a rate of zero, which is below any other.
        await refused(it, stated < 0.009 && wanted === TRUE ? { status: 'EMISMATCH' } : wanted,
          `${what} ${name}`);
      }
      it.server.rate = 0.5;
      await refused(it, RATE, what);
      it.server.rate = rate;
    }
  // With the limit of a caller who accepts it, an honest one passes.
  await it.server.publish({ filter: half.save() });
  await assert.rejects(Guard.load(it.server.url), RATE);
  assert.ok((await Tamis.load(RIBBON_OF_ZEROS)).has('anything'));
  assert.equal((await Guard.load(it.server.url, { maxRate: 0.6 })).version, it.server.version);
  // The stated rate may be wrong by a factor of two.
  await it.server.publish({ filter: await filterOf(some) });
  it.server.rate /= 3;
  await refused(it, FAR, 'a third');
  it.server.rate *= 1.6;
  assert.equal((await it.guard.update()).changed, true);
});

test('a filter that stays is believed no more than a new one', async (t) => {
  const server = await MaliciousServer.start(t);
  const all = await saved({ kind: 'bloom', items: 10, m: 512, k: 2 }, some);
  server.parts.filter = all;
  server.version = 2;
  const guard = await Guard.load({ filter: all, server: server.url, version: 1, id: 'c0ffee' });
  await assert.rejects(guard.update(), { status: 'EUNSUPPORTED' });
  assert.ok(server.requests.every((r) => r.path === '/v1/update'));
});

test('what the builder makes is always accepted', async (t) => {
  const server = await MaliciousServer.start(t), dir = room(t), list = join(dir, 'list'),
    never = join(dir, 'never');
  writeFileSync(never, Array.from({ length: 3000 }, (_, i) => `good-${i}.example\n`).join(''));
  for (const n of [0, 1, 2, 10, 300, 2000])
    for (const options of [[], ['--never', never], ['--max-bytes', '3000']]) {
      const to = join(dir, `${n}${options.length}${options.at(-1)?.length}`);
      writeFileSync(list, some.slice(0, n).map((name) => `${name}\n`).join(''));
      try {
        native(['guard', 'build', '-q', '--lenient', ...options, to, `malware=${list}`]);
      } catch (e) {
        assert.match(e.message, /too few/); // bytes for this list
        continue;
      }
      const filter = (await Tamis.load(join(to, '1.filter'))).save();
      await server.publish({ filter });
      const guard = await Guard.load(server.url, { maxRate: 0.5 });
      assert.equal(guard.version, server.version);
      guard.close();
    }
});

test('removed prefixes must be whole and in order', async (t) => {
  const it = await start(t);
  const list = (...prefixes) => Buffer.from(prefixes.join(''), 'hex');
  for (const removed of [Buffer.alloc(1), Buffer.alloc(7), list('00000001', '00000001'),
    list('00000002', '00000001'), list('80000000', '7fffffff')]) {
    it.server.parts.removed = removed;
    await refused(it, { status: 'ECORRUPT', message: /^removed: / }, removed.toString('hex'));
    await assert.rejects(Guard.load({ filter: it.server.parts.filter, removed }),
      { status: 'ECORRUPT' });
  }
  it.server.parts.removed = list('00000001', '7fffffff', '80000000', 'ffffffff');
  assert.equal((await it.guard.update()).changed, true);
});

// --- Confirmations -------------------------------------------------------------------------------

test('confirmations of every wrong form', async (t) => {
  const server = await MaliciousServer.start(t), guard = await Guard.load(server.url, PATIENT);
  const hash = sha256('bad.example/').toString('hex'), prefix = hash.slice(0, 8);
  const others = (n) => Array.from({ length: n }, (_, i) =>
    prefix + i.toString(16).padStart(56, '0'));
  const wrong = [
    () => '{}', () => 'null', () => '[]', () => '7', () => '', () => '['.repeat(1e6),
    () => `{"__proto__":${JSON.stringify(server.confirm([prefix]))}}`,
    ...['300', -1, null, [], true, undefined, {}].map((x) => (a) => ({ ...a, cache_seconds: x })),
    (a) => JSON.stringify(a).replace(/"cache_seconds":0/, '"cache_seconds":NaN'),
    ...['1', 1.5, 0, -1, {}, [1], null, 2 ** 60].map((version) => (a) => ({ ...a, version })),
    ...[{}, 'x', null, [[hash]], [{}], [7], [`${hash}\n`], [hash, hash]].map((hashes) => (a) =>
      ({ ...a, hashes })),
    ...[{}, 'malware', null, ['malware'], [{ length: 1, 0: 'x' }], [[7]], [[null]], [[['x']]],
      [[{}]], [['']], [['x'.repeat(64)]], [['a\nb']], [['a\u202eb']], [['a\u0000b']],
      [['a\u2028b']], [['a\u200bb']], [Array(65).fill('x')]]
      .map((labels) => (a) => ({ ...a, labels })),
    () => ({ hashes: others(10001), labels: Array(10001).fill(['x']), cache_seconds: 0 }),
  ];
  for (const answer of wrong) {
    server.answer = answer;
    const { verdict, reason, labels } = await guard.check('bad.example', { insist: true });
    const what = JSON.stringify(answer(server.confirm([prefix]))).slice(0, 300);
    assert.equal(verdict, 'unconfirmed', what);
    assert.match(reason, /not an answer to the question$|is not valid JSON$/, what);
    assert.deepEqual(labels, [], what);
  }
  assert.equal({}.hashes, undefined);
  // At the limits.
  server.answer = (a) => ({ ...a, labels: [Array(64).fill('ü'.repeat(63))] });
  assert.equal((await guard.check('bad.example', { insist: true })).labels.length, 64);
  server.answer = (a) => ({ ...a, hashes: [...a.hashes, ...others(9999)],
    labels: Array(10000).fill(['some list']) });
  assert.deepEqual((await guard.check('bad.example')).labels, ['some list']);
});

test('an answer is kept for a day at most, whatever the server states', async (t) => {
  const server = await MaliciousServer.start(t);
  let now = 0;
  const guard = await Guard.load(server.url, { ...PATIENT, clock: () => now });
  for (const seconds of ['1e999', '1e300', '86401']) {
    server.answer = (a) => JSON.stringify(a).replace(/"cache_seconds":0/,
      `"cache_seconds":${seconds}`);
    assert.equal((await guard.check('bad.example')).asked, 1);
    now += 86399e3;
    assert.equal((await guard.check('bad.example')).asked, 0);
    now += 1e3;
  }
});

test('a server that names other versions is asked for them once each time', async (t) => {
  const server = await MaliciousServer.start(t), guard = await Guard.load(server.url, PATIENT);
  server.answer = (a) => ({ ...a, version: 77 });
  await guard.check('bad.example');
  assert.equal(guard.stale, true);
  await guard.update();
  assert.equal(guard.stale, false);
});

// --- Images that are loaded without a guard ------------------------------------------------------

test('maxBytes also limits what is read', async (t) => {
  const server = await MaliciousServer.start(t), image = server.parts.filter, dir = room(t);
  const path = join(dir, 'x.tamis'), big = { status: 'ENOMEM' };
  writeFileSync(path, image);
  const sources = () => [path, new URL(`file://${path}`), image, new Blob([image]), image.buffer,
    `${server.url}/filter`, new URL(`${server.url}/filter`), fetch(`${server.url}/filter`)];
  for (const from of sources())
    assert.equal((await Tamis.load(from, { maxBytes: image.length })).info().kind, 'fuse');
  for (const from of sources())
    await assert.rejects(Tamis.load(from, { maxBytes: image.length - 1 }), big);
  await assert.rejects(Tamis.load('/dev/zero', { maxBytes: 1e6 }), big);
  await assert.rejects(Guard.load({ filter: '/dev/zero' }), big);
  await assert.rejects(Tamis.load(join(dir, 'missing')), { status: 'EIO', message: /ENOENT/ });
  await assert.rejects(Tamis.load(dir), { status: 'EIO' });
  for (const name of ['endless', 'gzip']) {
    server.bodies['/filter'] = BODIES[name];
    server.requests.length = 0;
    await assert.rejects(Tamis.load(`${server.url}/filter`, { maxBytes: 1e6 }), big);
    await until(() => server.requests[0].closed, name);
    assert.ok(server.requests[0].sent < BUFFERED);
  }
});
