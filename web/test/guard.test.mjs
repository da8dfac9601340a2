// The guard against a server of a few lines that publishes what `tamis guard build` made, and
// against everything else that may happen between a client and a server; then against `tamis guard
// serve` itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, Tamis, can, native, room, serveNative } from './help.mjs';

const sha256 = (data) => createHash('sha256').update(data).digest();
const hosts = (from, n) => Array.from({ length: n }, (_, i) => `bad-${from + i}.example`);

// A version of lists in memory: base filter, delta, removed prefixes; and everything that happens
// to it.
class Lists {
  constructor(listed) {
    this.version = this.base = 1;
    this.id = 'a';
    this.listed = new Map(listed.map((host) => [host, 'malware']));
    this.cacheSeconds = 300;
    this.asked = [];
  }

  static async filterOf(names) {
    const t = await Tamis.create({ kind: 'fuse', items: Math.max(names.length, 1), fpr: 0.004 });
    return t.addMany(names.map((name) => sha256(`${name}/`))).seal().save();
  }

  async publish(added = [], removed = []) {
    if (!this.filter) this.filter = await Lists.filterOf([...this.listed.keys()]);
    else this.version++;
    for (const name of added) this.listed.set(name, 'phishing');
    for (const name of removed) this.listed.delete(name);
    this.delta = added.length ? await Lists.filterOf(added) : undefined;
    this.removed = Buffer.concat(removed.map((name) => sha256(`${name}/`).subarray(0, 4))
      .sort(Buffer.compare));
    return this;
  }

  update(from) {
    const part = (name, version, bytes) => (bytes?.length
      ? { url: `/${name}?version=${version}`, bytes: bytes.length,
        sha256: sha256(bytes).toString('hex') } : null);
    // A fuse filter of 8 bits has a rate of 1/256.
    const rate = (this.delta?.length ? 2 : 1) / 256;
    const head = { version: this.version, id: this.id, base: this.base, rate };
    if (from === String(this.version)) return { ...head, unchanged: true };
    return {
      ...head, unchanged: false, filter: part('filter', this.base, this.filter),
      delta: part('delta', this.version, this.delta),
        removed: part('removed', this.version, this.removed),
    };
  }

  confirm(prefixes) {
    this.asked.push(prefixes);
    const found = [...this.listed].map(([name, label]) => [sha256(`${name}/`).toString('hex'),
      [label]])
      .filter(([hash]) => prefixes.includes(hash.slice(0, 8)));
    return {
      version: this.version, hashes: found.map(([hash]) => hash),
        labels: found.map(([, labels]) => labels),
      cache_seconds: this.cacheSeconds,
    };
  }
}

async function serve(t, lists) {
  const log = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://x');
    log.push(request.url);
    const special = lists.special?.(url, response);
    if (special !== undefined) return special || response.end();
    const part = lists[url.pathname.slice(1)];
    if (url.pathname === '/v1/update')
      response.end(JSON.stringify(lists.update(url.searchParams.get('from'))));
    else if (url.pathname === '/v1/confirm')
      response.end(JSON.stringify(lists.confirm(url.searchParams.getAll('prefix'))));
    else if (part?.length) response.end(part);
    else response.writeHead(404).end('{}');
    return undefined;
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => new Promise((done) => { server.close(done); server.closeAllConnections?.(); }));
  return { url: `http://127.0.0.1:${server.address().port}`, log, server };
}

// Hosts that are not listed but match the filter.
async function falsePositives(guard, n) {
  const found = [];
  for (let i = 0; found.length < n; i++)
    if (guard.look(`http://good-${i}.example/`).expressions.some((e) => e.maybe))
      found.push(`good-${i}.example`);
  return found;
}

test('clean, listed and not a URL', async (t) => {
  const lists = await new Lists(hosts(0, 2000)).publish();
  const { url, log } = await serve(t, lists);
  const guard = await Guard.load(url);
  assert.equal(guard.version, 1);
  assert.deepEqual(log, ['/v1/update', '/filter?version=1']);
  for (let i = 0; i < 200; i++) {
    const verdict = await guard.check(`https://user@BAD-${i}.example:443/some/page?q#f`);
    assert.equal(verdict.verdict, 'listed');
    assert.deepEqual(verdict.labels, ['malware']);
    assert.equal(verdict.expression, `bad-${i}.example/`);
    assert.equal(verdict.url, `https://bad-${i}.example/some/page?q`);
  }
  for (let i = 0; i < 2000; i++)
    assert.equal((await guard.check(`http://www.good-${i}.example/a/b`)).verdict, 'clean');
  const none = await guard.check('mailto:x@example.com');
  assert.equal(none.verdict, 'no-url');
  assert.match(none.reason, /http/);
  // The server saw prefixes, never a host.
  assert.ok(log.slice(2).every((line) =>
    /^\/v1\/confirm\?prefix=[0-9a-f]{8}(&prefix=[0-9a-f]{8})*$/.test(line)));
  guard.close();
  await assert.rejects(guard.check('http://bad-1.example/'), { message: 'this guard is closed' });
});

test('answers are kept while the server allows, refutations while the version lasts', async (t) => {
  const lists = await new Lists(hosts(0, 5000)).publish();
  const { url } = await serve(t, lists);
  let now = 1e12;
  const guard = await Guard.load(url, { clock: () => now });
  const [wrong] = await falsePositives(guard, 1);
  assert.deepEqual([(await guard.check(wrong)).verdict, lists.asked.length], ['clean', 1]);
  assert.deepEqual([(await guard.check(wrong)).verdict, lists.asked.length], ['clean', 1]);
  assert.deepEqual([(await guard.check('bad-1.example')).verdict, lists.asked.length],
    ['listed', 2]);
  assert.deepEqual([(await guard.check('bad-1.example/x')).verdict, lists.asked.length],
    ['listed', 2]);
  now += 301e3;
  // Refuted in this version.
  assert.deepEqual([(await guard.check(wrong)).verdict, lists.asked.length], ['clean', 2]);
  // The refutation may no longer hold.
  assert.deepEqual([(await guard.check('bad-1.example')).verdict, lists.asked.length],
    ['listed', 3]);
  await lists.publish(['late.example']);
  assert.equal((await guard.update()).changed, true);
  // A new version, so the server is asked again.
  assert.deepEqual([(await guard.check(wrong)).verdict, lists.asked.length], ['clean', 4]);
  lists.cacheSeconds = 0;
  assert.equal((await guard.check('bad-2.example')).verdict, 'listed');
  assert.equal((await guard.check('bad-2.example')).asked, 1);
});

test('what is remembered is bounded', async (t) => {
  const lists = await new Lists(hosts(0, 20000)).publish();
  const { url } = await serve(t, lists);
  const guard = await Guard.load(url, { remember: 8, clock: () => 0 });
  lists.cacheSeconds = 0;
  const wrong = await falsePositives(guard, 12);
  for (const host of wrong) assert.equal((await guard.check(host)).asked, 1);
  assert.equal((await guard.check(wrong[11])).asked, 0);
  assert.equal((await guard.check(wrong[0])).asked, 1);
});

test('an answer of another version refutes nothing for good', async (t) => {
  const lists = await new Lists(hosts(0, 5000)).publish();
  const { url } = await serve(t, lists);
  let now = 0;
  const guard = await Guard.load(url, { clock: () => now });
  const [wrong] = await falsePositives(guard, 1);
  await lists.publish(['other.example']);
  assert.equal(guard.stale, false);
  assert.deepEqual([(await guard.check(wrong)).verdict, guard.stale], ['clean', true]);
  assert.equal((await guard.check(wrong)).asked, 0);
  now += 301e3;
  assert.equal((await guard.check(wrong)).asked, 1);
  await guard.update();
  assert.equal(guard.stale, false);
});

test('updates fetch what is new, and take away what is gone', async (t) => {
  const lists = await new Lists(hosts(0, 3000)).publish();
  const { url, log } = await serve(t, lists);
  const guard = await Guard.load(url);
  assert.deepEqual(await guard.update(), { changed: false, version: 1, bytes: 0 });
  await lists.publish(hosts(5000, 30), hosts(0, 30));
  log.length = 0;
  const result = await guard.update();
  assert.deepEqual(log, ['/v1/update?from=1', '/delta?version=2', '/removed?version=2']);
  assert.ok(result.changed && result.version === 2 && guard.version === 2);
  assert.equal(result.bytes, lists.delta.length + 120);
  for (const host of hosts(5000, 30))
    assert.deepEqual((await guard.check(host)).labels, ['phishing']);
  for (const host of hosts(30, 100)) assert.equal((await guard.check(host)).verdict, 'listed');
  for (const host of hosts(0, 30)) {
    const { verdict, maybes } = await guard.check(host);
    assert.deepEqual([verdict, maybes], ['clean', 0]); // without asking
  }
  // Another base, two updates at once, lists built from scratch under an old number.
  Object.assign(lists, { base: 7, version: 6,
    filter: await Lists.filterOf([...lists.listed.keys()]) });
  await lists.publish();
  log.length = 0;
  await Promise.all([guard.update(), guard.update()]);
  assert.deepEqual(log, ['/v1/update?from=2', '/filter?version=7']);
  Object.assign(lists, { id: 'b', filter: await Lists.filterOf(['only.example']),
    listed: new Map([['only.example', 'x']]) });
  assert.equal((await guard.update()).changed, true);
  assert.equal((await guard.check('only.example')).verdict, 'listed');
  assert.equal((await guard.check('bad-100.example')).verdict, 'clean');
});

test('damage on the way changes nothing', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  const { url, server } = await serve(t, lists);
  const guard = await Guard.load(url);
  await lists.publish(['new.example'], ['bad-0.example']);
  const bad = async (special, wanted) => {
    lists.special = special;
    await assert.rejects(guard.update(), wanted);
    await assert.rejects(Guard.load(url), wanted);
    lists.special = undefined;
    assert.equal(guard.version, 1);
    assert.equal((await guard.check('bad-0.example')).verdict, 'clean'); // as the newer server says
    assert.equal((await guard.check('bad-1.example')).verdict, 'listed');
  };
  const spoil = (name, change) => (at, response) => {
    if (at.pathname !== `/${name}`) return undefined;
    response.end(change(Buffer.from(lists[name])));
    return true;
  };
  await bad(spoil('delta', (b) => b.subarray(0, 100)), { status: 'ECORRUPT' });
  await bad(spoil('delta', (b) => ((b[99] ^= 1), b)), { status: 'ECORRUPT' });
  await bad(spoil('removed', (b) => Buffer.concat([b, b])), { status: 'ECORRUPT' });
  await bad((at, response) => { response.writeHead(500).end(); return true; }, { status: 'EIO' });
  await bad((at, response) => { response.end('<html>'); return true; },
    { status: 'ECORRUPT', message: /is not valid JSON$/ });
  await bad((at, response) => { response.end('{"unchanged":true,"id":"c"}'); return true; },
    { status: 'ECORRUPT' });
  // Replaced between the description and the parts: asked again.
  let first = true;
  lists.special = (at, response) => {
    if (at.pathname !== '/delta' || !first) return undefined;
    first = false;
    response.writeHead(404).end('{}');
    return true;
  };
  assert.equal((await guard.update()).version, 2);
  lists.special = undefined;
  server.close();
  server.closeAllConnections?.();
  await assert.rejects(guard.update());
  assert.equal(guard.version, 2);
});

test('without an answer that can be believed a maybe is unconfirmed', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  const { url } = await serve(t, lists);
  const guard = await Guard.load(url, { timeout: 300 });
  const good = lists.confirm([sha256('bad-5.example/').toString('hex').slice(0, 8)]);
  const answers = [
    (response) => response.writeHead(503).end('{"error":"cannot confirm"}'),
    (response) => response.writeHead(429).end('{}'),
    (response) => response.end('not JSON'),
    (response) => response.end('{}'),
    (response) => response.end('null'),
    (response) => response.end(JSON.stringify({ ...good, hashes: ['ab'] })),
    (response) => response.end(JSON.stringify({ ...good, labels: [] })),
    (response) => response.end(JSON.stringify({ ...good, labels: ['malware'] })),
    (response) => response.end(JSON.stringify({ ...good, hashes: [good.hashes[0].toUpperCase()] })),
    (response) => response.end(JSON.stringify({ ...good, cache_seconds: 'long' })),
    (response) => // not asked for
      response.end(JSON.stringify({ ...good, hashes: [sha256('else').toString('hex')] })),
    (response) => response.destroy(),
    () => {}, // does not answer
  ];
  for (const answer of answers) {
    lists.special = (at, response) => (at.pathname === '/v1/confirm' ? (answer(response), true)
      : undefined);
    const verdict = await guard.check('http://bad-5.example/', { insist: true });
    assert.equal(verdict.verdict, 'unconfirmed', String(answer));
    assert.ok(verdict.reason.length > 0);
    assert.equal((await guard.check('http://good.example/')).verdict, 'clean');
  }
  lists.special = undefined;
  assert.equal((await guard.check('http://bad-5.example/', { insist: true })).verdict, 'listed');
});

test('a server that fails is left alone for a while, then for longer', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  const { url, log } = await serve(t, lists);
  let now = 1e12;
  const guard = await Guard.load(url, { clock: () => now });
  const ask = async (name, options) => {
    log.length = 0;
    const { verdict, reason } = await guard.check(name, options);
    return { verdict, reason, asked: log.length };
  };
  lists.special = (at, response) => (at.pathname === '/v1/confirm'
    ? (response.writeHead(503).end('{}'), true) : undefined);
  for (const seconds of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]) {
    // Two failures at once count as one.
    await Promise.all([guard.check('bad-6.example'), ask('bad-5.example')]);
    assert.equal(log.length, 2);
    now += 1000 * seconds - 1;
    const { verdict, reason, asked } = await ask('bad-7.example');
    assert.deepEqual([verdict, asked], ['unconfirmed', 0]);
    assert.match(reason, /HTTP 503; asked again in 1 s$/);
    now += 1;
  }
  assert.equal((await ask('bad-5.example')).asked, 1);
  lists.special = undefined;
  assert.deepEqual(await ask('bad-5.example'),
    { verdict: 'unconfirmed', reason: (await ask('bad-5.example')).reason, asked: 0 });
  // With `insist` the server is asked, and success ends the pause, as an update does.
  assert.deepEqual(await ask('bad-5.example', { insist: true }),
    { verdict: 'listed', reason: undefined, asked: 1 });
  assert.deepEqual(await ask('bad-6.example'), { verdict: 'listed', reason: undefined, asked: 1 });
  lists.special = (at, response) => (at.pathname === '/v1/confirm'
    ? (response.writeHead(503).end('{}'), true) : undefined);
  assert.equal((await ask('bad-8.example')).verdict, 'unconfirmed');
  lists.special = undefined;
  assert.equal((await ask('bad-8.example')).asked, 0);
  await guard.update();
  assert.deepEqual(await ask('bad-8.example'), { verdict: 'listed', reason: undefined, asked: 1 });
});

test('checks that wait for the same answer ask once', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  const { url } = await serve(t, lists);
  const guard = await Guard.load(url);
  const verdicts = await Promise.all(Array.from({ length: 20 },
    () => guard.check('http://bad-9.example/')));
  assert.ok(verdicts.every(({ verdict }) => verdict === 'listed'));
  assert.equal(lists.asked.length, 1);
});

test('parts without a server, and starting again from what was saved', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  await lists.publish(['new.example'], ['bad-0.example']);
  const alone = await Guard.load({
    filter: lists.filter, delta: lists.delta, removed: lists.removed,
      confirm: (prefixes) => lists.confirm(prefixes),
    version: 2,
  });
  assert.equal((await alone.check('new.example')).verdict, 'listed');
  assert.equal((await alone.check('bad-0.example')).verdict, 'clean');
  await assert.rejects(alone.update(), { status: 'EIO' });
  const blind = await Guard.load({ filter: lists.filter });
  assert.equal((await blind.check('bad-1.example')).verdict, 'unconfirmed');
  assert.equal((await blind.check('good.example')).verdict, 'clean');
  await assert.rejects(Guard.load({ filter: lists.filter, removed: new Uint8Array(5) }),
    { status: 'ECORRUPT' });
  await assert.rejects(Guard.load({}), { status: 'EINVAL' });

  const { url, log } = await serve(t, lists);
  const saved = structuredClone((await Guard.load(url)).save());
  log.length = 0;
  const again = await Guard.load(saved);
  assert.deepEqual(log, []);
  assert.equal((await again.update()).changed, false);
  // A refuted positive stays refuted.
  const [wrong] = await falsePositives(again, 1);
  assert.deepEqual([(await again.check(wrong)).asked, again.save().refuted.length], [1, 1]);
  const third = await Guard.load(again.save());
  assert.deepEqual([(await third.check(wrong)).verdict, (await third.check(wrong)).maybes,
    (await third.check(wrong)).asked],
    ['clean', 1, 0]);
  assert.equal((await again.check('new.example')).verdict, 'listed');
  await lists.publish(['newer.example']);
  log.length = 0;
  await again.update();
  // The filter is still known by its checksum.
  assert.deepEqual(log, ['/v1/update?from=2', '/delta?version=3']);
});

test('a server below a path', async (t) => {
  const lists = await new Lists(hosts(0, 300)).publish();
  const { url } = await serve(t, lists);
  const behind = await serve(t, {
    special(at, response) {
      if (!at.pathname.startsWith('/guard/')) return response.writeHead(404).end();
      fetch(url + at.pathname.slice(6) + at.search)
        .then(async (r) => response.end(Buffer.from(await r.arrayBuffer())));
      return true;
    },
  });
  for (const end of ['', '/']) {
    const guard = await Guard.load(new URL(`${behind.url}/guard${end}`));
    assert.equal((await guard.check('bad-7.example')).verdict, 'listed');
  }
});

// --- The real builder and the real server, if this build has them --------------------------------

function directory(t, bad) {
  const dir = room(t), list = join(dir, 'list');
  const build = (names) => {
    writeFileSync(list, names.map((name) => `${name}\n`).join(''));
    native(['guard', 'build', '-q', join(dir, 'guard'), `malware=${list}`]);
    const at = (end) => readdirSync(join(dir, 'guard')).filter((name) => name.endsWith(end))
      .map((name) => join(dir, 'guard', name));
    return { dir: join(dir, 'guard'), filter: at('.filter')[0], delta: at('.delta')[0],
      removed: at('.removed')[0] };
  };
  return { build, parts: build(bad) };
}

const noBuilder = !can(['guard', 'build'], '--never') && 'built without the guard';
test('filters of the native builder', { skip: noBuilder }, async (t) => {
  const { build, parts } = directory(t, hosts(0, 1000));
  const load = (files) => Guard.load({
    ...files, confirm: (prefixes) => ({ ...new Lists(now).confirm(prefixes), version: undefined }),
  });
  let now = hosts(0, 1000);
  const first = await load(parts);
  for (const host of now)
    assert.equal((await first.check(`http://www.${host}/page`)).verdict, 'listed');
  now = hosts(10, 1000);
  const second = await load(build(now));
  for (const host of now) assert.equal((await second.check(`https://${host}/`)).verdict, 'listed');
  for (const host of hosts(0, 10)) assert.equal((await second.check(host)).verdict, 'clean');
});

const noServer = !can(['guard', 'serve'], '--port') && 'built without the server';
test('the real server', { skip: noServer }, async (t) => {
  const { build, parts } = directory(t, hosts(0, 1000));
  const url = await serveNative(t, parts.dir);
  const guard = await Guard.load(url);
  for (const host of hosts(0, 50)) {
    const verdict = await guard.check(`http://${host}/`);
    assert.deepEqual([verdict.verdict, verdict.labels], ['listed', ['malware']]);
  }
  for (let i = 0; i < 1000; i++)
    assert.equal((await guard.check(`http://good-${i}.example/`)).verdict, 'clean');
  build(hosts(10, 1000));
  let result;
  for (let i = 0; i < 100 && !result?.changed; i++) {
    await new Promise((done) => setTimeout(done, 100));
    result = await guard.update();
  }
  assert.equal(result.version, 2);
  assert.equal((await guard.check('bad-1005.example')).verdict, 'listed');
  assert.equal((await guard.check('bad-5.example')).verdict, 'clean');
});
