// Signed lists from end to end: keys of `tamis key new --sign`, versions of `tamis guard build
// --sign`, `tamis guard serve`, and a guard that pins the keys, directly and behind a mirror.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, Tamis, can, golden, native, room, serveNative, web } from './help.mjs';

const { Signing } = await import(join(web, 'signed.mjs'));
await Tamis.plan({ items: 1, fpr: 0.1 }); // starts the module, which sums

const skip = !can(['guard', 'build'], '--sign') && 'built without the guard';

function operator(t) {
  const dir = room(t), list = join(dir, 'list'), to = join(dir, 'guard');
  const key = (name) => {
    const path = join(dir, name);
    native(['key', 'new', '-q', '--sign', path]);
    return { path, pub: readFileSync(`${path}.pub`, 'utf8') };
  };
  const publish = (names, ...options) => {
    writeFileSync(list, names.map((name) => `${name}\n`).join(''));
    native(['guard', 'build', '-q', to, `malware=${list}`, ...options]);
  };
  return { to, key, publish };
}

const hosts = (from, n) => Array.from({ length: n }, (_, i) => `bad-${from + i}.example`);
const manifest = (it) => readFileSync(join(it.to, 'manifest'), 'utf8');

// The server looks at its directory every second.
async function served(url, version) {
  for (let i = 0; ; i++) {
    const now = await (await fetch(`${url}/v1/update`)).json();
    if (now.version === version) return now;
    assert.ok(i < 600, `version ${version} is never served`);
    await new Promise((done) => { setTimeout(done, 100); });
  }
}

test('the golden manifest, with the keys that signed it', async () => {
  const text = new TextDecoder().decode(golden('signed/manifest'));
  const pub = (name) => new TextDecoder().decode(golden(`signed/${name}`));
  const clock = () => 1000 * Number(/^built (\d+)$/m.exec(text)[1]);
  const description = { version: 1, id: /^id (.*)$/m.exec(text)[1], base: 1, unchanged: true };
  const offered = async (keys, given) =>
    (await Signing.start({ publicKeys: keys.map(pub), clock })).offered({ ...description,
      manifest: given });
  const both = ['test.sec.pub', 'next.sec.pub'];
  for (const keys of [both, ...both.map((name) => [name])])
    assert.equal((await offered(keys, text)).keys.length, keys.length);
  await assert.rejects(offered(['signify.pub'], text), { refusal: 'unknown-key' });
  await assert.rejects(offered(both, text.replace('lines 2', 'lines 3')), { refusal: 'malformed' });
});

test('the real builder and server, and a rotation', { skip }, async (t) => {
  const it = operator(t), old = it.key('old.sec'), next = it.key('next.sec');
  it.publish(hosts(0, 1000), '--sign', old.path, '--expires', '7d');
  const url = await serveNative(t, it.to), pinned = { publicKeys: [old.pub] };
  const guard = await Guard.load(url, pinned), first = manifest(it);
  assert.deepEqual([guard.version, guard.expired, guard.save().manifest], [1, false, first]);
  assert.equal(guard.signed.expires - guard.signed.built, 7 * 86400);
  assert.deepEqual(guard.signed.keys, [/^signature (\w{16}) /m.exec(first)[1]]);
  for (const host of hosts(0, 20)) {
    const { verdict, labels } = await guard.check(`http://www.${host}/page`);
    assert.deepEqual([verdict, labels], ['listed', ['malware']]);
  }
  for (let i = 0; i < 200; i++)
    assert.equal((await guard.check(`http://good-${i}.example/`)).verdict, 'clean');
  await assert.rejects(Guard.load(url, { publicKeys: [next.pub] }), { refusal: 'unknown-key' });
  assert.deepEqual(await guard.update(), { changed: false, version: 1, bytes: 0 });
  // With a delta and removals, signed by both; what is saved starts again.
  it.publish(hosts(10, 1000), '--sign', old.path, '--sign', next.path, '--expires', '7d');
  await served(url, 2);
  const { changed, version } = await guard.update();
  assert.deepEqual([changed, version, guard.signed.keys.length], [true, 2, 1]);
  assert.match(guard.save().manifest, /^delta [1-9].*\nremoval [1-9]/m);
  const saved = structuredClone(guard.save());
  for (const publicKeys of [[old.pub], [next.pub], [old.pub, next.pub]]) {
    const again = await Guard.load(saved, { publicKeys });
    assert.deepEqual([again.version, again.signed.keys.length], [2, publicKeys.length]);
    assert.equal((await again.check('bad-1005.example')).verdict, 'listed');
    assert.equal((await again.check('bad-5.example')).verdict, 'clean');
  }
  // By the new key alone, which the old pin refuses, and the new one accepts.
  it.publish(hosts(20, 1000), '--sign', next.path, '--expires', '7d');
  await served(url, 3);
  await assert.rejects(guard.update(), { refusal: 'unknown-key' });
  assert.deepEqual([guard.version, (await guard.check('bad-1005.example')).verdict],
    [2, 'listed']);
  const rotated = await Guard.load(saved, { publicKeys: [old.pub, next.pub] });
  assert.equal((await rotated.update()).version, 3);
  assert.equal((await Guard.load(url)).signed, undefined);
});

test('a mirror between the real server and the guard', { skip }, async (t) => {
  const it = operator(t), key = it.key('a.sec'), other = operator(t), theirs = other.key('b.sec');
  it.publish(hosts(0, 1000), '--sign', key.path);
  other.publish(['other.example'], '--sign', theirs.path);
  const url = await serveNative(t, it.to), evil = await serveNative(t, other.to);
  let mirror = (path) => fetch(url + path);
  const guard = await Guard.load(url, { publicKeys: [key.pub],
    fetch: ({ pathname, search }) => mirror(pathname + search) });
  const first = await (await fetch(`${url}/v1/update`)).json();
  it.publish(hosts(10, 1000), '--sign', key.path);
  const second = await served(url, 2);
  const answers = (answer) => {
    mirror = (path) => (path.startsWith('/v1/update') ? new Response(JSON.stringify(answer))
      : fetch(url + path));
  };
  const refused = async (refusal) => {
    await assert.rejects(guard.update(), { refusal });
    assert.equal((await guard.check('bad-5.example')).reason ?? guard.version, 1);
  };
  answers({ ...second, manifest: null });
  await refused('unsigned');
  answers({ ...second, manifest: first.manifest });
  await refused('disagrees');
  answers({ ...second, manifest: second.manifest.replace('version 2', 'version 3') });
  await refused('malformed');
  answers({ ...second, delta: null });
  await refused('disagrees');
  mirror = (path) => fetch(evil + path);
  await refused('unknown-key');
  mirror = (path) => fetch((path.startsWith('/delta') ? `${evil}/filter` : url + path));
  await assert.rejects(guard.update(), { status: 'ECORRUPT',
    message: /damaged, or of another version$|more than \d+ bytes$/ });
  mirror = (path) => fetch(url + path);
  assert.equal((await guard.update()).version, 2);
  answers(first);
  await assert.rejects(guard.update(), { refusal: 'replayed' });
  // The operator begins anew: another id and number, which only a new client accepts.
  const anew = operator(t);
  anew.publish(hosts(0, 10), '--sign', key.path);
  const begun = await serveNative(t, anew.to);
  mirror = (path) => fetch(begun + path);
  await assert.rejects(guard.update(), { refusal: 'replayed' });
  assert.equal((await Guard.load(begun, { publicKeys: [key.pub] })).version, 1);
});
