// Lists whose filter has a label for each expression (`tamis guard build --labels-in-filter`): what
// a client knows before it asks the server, after updates, offline, and from servers that lie.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, Tamis, can, golden, native, room, serveNative, source } from './help.mjs';

const skip = !can(['guard', 'build'], '--labels-in-filter') && 'built without the guard';
const hosts = (name, from, n) =>
  Array.from({ length: n }, (_, i) => `${name}-${from + i}.example`);

// The values of golden maps are those of tests/golden/values.txt.
test('values of a map', async () => {
  const text = readFileSync(join(source, 'tests/golden/values.txt'), 'utf8');
  let asked = 0;
  for (const part of text.split('image ').slice(1)) {
    const [name, ...lines] = part.trimEnd().split('\n');
    if (/keyed|caller/.test(name)) continue;
    const map = await Tamis.load(golden(name));
    assert.equal(map.info().kind, 'map');
    for (const line of lines) {
      const [key, value] = line.split(' ');
      const bytes = Buffer.from(key === '-' ? '' : key, 'hex');
      assert.equal(map.value(bytes), value === '-' ? undefined : Number(value), `${name} ${key}`);
      if (value !== '-') assert.ok(map.has(bytes));
      asked++;
    }
  }
  assert.ok(asked > 300, `${asked}`);
  const filter = await Tamis.create({ kind: 'blocked', items: 10, fpr: 0.1 });
  assert.throws(() => filter.value('a'), { status: 'EUNSUPPORTED' });
  const collecting = await Tamis.load(golden('map-collecting.tamis'));
  assert.throws(() => collecting.value('a'), { status: 'EINVAL' });
});

// Lists in a directory. `publish` gets their hosts by label, in order.
function lists(t) {
  const dir = room(t), to = join(dir, 'guard');
  return {
    to,
    dir,
    publish(labels, ...options) {
      const words = Object.entries(labels).map(([label, names]) => {
        writeFileSync(join(dir, label), names.map((name) => `${name}\n`).join(''));
        return `${label}=${join(dir, label)}`;
      });
      return JSON.parse(native(['guard', 'build', '--json', to, ...words, '--labels-in-filter',
        ...options]));
    },
    parts() {
      const find = (end) => readdirSync(to).filter((name) => name.endsWith(end))
        .map((name) => join(to, name))[0];
      return { filter: find('.filter'), delta: find('.delta'), removed: find('.removed') };
    },
  };
}

const labelOf = (guard, host) => guard.look(`http://${host}/`).expressions
  .filter((e) => e.maybe).map((e) => e.label).join();

// Waits until the server has a version, and updates to it.
async function updated(guard, version) {
  for (let i = 0; guard.version !== version; i++) {
    assert.ok(i < 600, `version ${version} is never served`);
    await new Promise((done) => { setTimeout(done, 100); });
    await guard.update();
  }
}

test('labels before and after the server is asked, and after updates', { skip }, async (t) => {
  const it = lists(t), labels = { malware: hosts('m', 0, 1000), phishing: hosts('p', 0, 1000) };
  labels.phishing.push('m-7.example');
  it.publish(labels);
  const url = await serveNative(t, it.to), guard = await Guard.load(url);
  for (const i of [0, 500, 999]) {
    assert.equal(labelOf(guard, `m-${i}.example`), 'malware');
    assert.equal(labelOf(guard, `p-${i}.example`), 'phishing');
  }
  // The rate is 2^-24. So a stranger in a thousand has a label with a probability of 6e-5, and four
  // of them with one of 1e-18.
  const strangers = hosts('good', 0, 1000).filter((host) => labelOf(guard, host) !== '');
  assert.ok(strangers.length < 4, `${strangers}`);
  // On two lists: the filter has the label of the first, the server those of both.
  const both = await guard.check('http://m-7.example/');
  assert.deepEqual([both.verdict, both.likely, both.labels],
    ['listed', ['malware'], ['malware', 'phishing']]);
  // Several expressions of one URL: the labels of all of them.
  labels.phishing.push('sub.m-8.example');
  // Another label, a host that is gone, and one that is new, in a version with the same base.
  labels.malware.splice(7, 1);
  labels.malware.splice(20, 1);
  labels.malware.push('new.example');
  const about = it.publish(labels);
  assert.deepEqual([about.version, about.base], [2, 1]);
  await updated(guard, 2);
  assert.equal(labelOf(guard, 'm-7.example'), 'phishing');
  assert.equal(labelOf(guard, 'm-21.example'), '');
  assert.equal(labelOf(guard, 'new.example'), 'malware');
  const several = await guard.check('http://sub.m-8.example/');
  assert.deepEqual(several.likely, ['phishing', 'malware']);
  // A label at the end keeps the base; one at the beginning makes a new one.
  assert.equal(it.publish({ ...labels, spam: ['spam.example'] }).base, 1);
  await updated(guard, 3);
  assert.equal(labelOf(guard, 'spam.example'), 'spam');
  assert.equal(it.publish({ spam: ['spam.example'], ...labels }).base, 4);
  await updated(guard, 4);
  assert.deepEqual(['spam', 'm-1', 'p-1'].map((host) => labelOf(guard, `${host}.example`)),
    ['spam', 'malware', 'phishing']);
  // Every host has the label of its list.
  for (const [label, names] of Object.entries(labels))
    for (const host of names.filter((name) => !name.startsWith('sub.')))
      assert.equal(labelOf(guard, host), label === 'phishing' && labels.malware.includes(host)
        ? 'malware' : label, host);
});

test('without the server, and from what was saved', { skip }, async (t) => {
  const it = lists(t);
  it.publish({ malware: hosts('m', 0, 100), phishing: hosts('p', 0, 100) });
  const url = await serveNative(t, it.to), guard = await Guard.load(url);
  const fails = () => Promise.reject(new TypeError('unreachable'));
  const saved = structuredClone(guard.save());
  assert.deepEqual(saved.labels, ['malware', 'phishing']);
  const offline = await Guard.load(saved, { fetch: fails });
  const verdict = await offline.check('http://p-3.example/');
  assert.deepEqual([verdict.verdict, verdict.labels, verdict.likely],
    ['unconfirmed', [], ['phishing']]);
  // Parts without names, as they were saved before there were labels, and parts on disk.
  const { labels, ...nameless } = saved;
  const plain = await Guard.load(nameless, { fetch: fails });
  const maybe = await plain.check('http://p-3.example/');
  assert.deepEqual([maybe.verdict, maybe.likely], ['unconfirmed', undefined]);
  assert.ok(!('label' in plain.look('http://p-3.example/').expressions[0]));
  const local = await Guard.load({ ...it.parts(), labels });
  assert.equal(labelOf(local, 'm-3.example'), 'malware');
  await assert.rejects(Guard.load({ ...it.parts(), labels: ['a', 7] }), { status: 'ECORRUPT' });
});

test('names that no list can have, and too few of them', { skip }, async (t) => {
  const it = lists(t);
  it.publish({ malware: hosts('m', 0, 100), phishing: hosts('p', 0, 100) });
  const url = await serveNative(t, it.to);
  const load = (labels) => Guard.load(url, { async fetch(at, init) {
    const response = await fetch(at, init);
    if (!at.pathname.endsWith('/v1/update')) return response;
    return new Response(JSON.stringify({ ...await response.json(), labels }));
  } });
  for (const labels of [7, null, 'malware', [7, 'phishing'], ['', 'b'], ['a\u202eb', 'b'],
    ['x'.repeat(64)], Array(65).fill('a')])
    await assert.rejects(load(labels), { status: 'ECORRUPT', message: /up to 64 names/ });
  const few = await load(['malware']);
  assert.equal(labelOf(few, 'm-1.example'), 'malware');
  assert.equal(labelOf(few, 'p-1.example'), '');
  assert.deepEqual((await few.check('http://p-1.example/')).likely, []);
  assert.equal((await few.check('http://p-1.example/')).verdict, 'listed');
});

test('the names of a signed list are those of its manifest', { skip }, async (t) => {
  const it = lists(t), key = join(it.dir, 'key');
  native(['key', 'new', '-q', '--sign', key]);
  it.publish({ malware: hosts('m', 0, 100), phishing: hosts('p', 0, 100) }, '--sign', key);
  const url = await serveNative(t, it.to);
  const pinned = { publicKeys: [readFileSync(`${key}.pub`, 'utf8')] };
  const guard = await Guard.load(url, { ...pinned, async fetch(at, init) {
    const response = await fetch(at, init);
    if (!at.pathname.endsWith('/v1/update')) return response;
    return new Response(JSON.stringify({ ...await response.json(), labels: ['harmless', 'good'] }));
  } });
  assert.equal(labelOf(guard, 'm-1.example'), 'malware');
  const again = await Guard.load({ ...guard.save(), labels: ['harmless', 'good'] }, pinned);
  assert.equal(labelOf(again, 'p-1.example'), 'phishing');
});
