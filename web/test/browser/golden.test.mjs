// The package in Chromium: the golden images again, from its file and inline, in a page and in
// workers, under the strictest Content-Security-Policy that allows it.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { distinctRecipes, recipes, room, source, web } from '../help.mjs';
import { browser, serve, watch } from './chromium.mjs';

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

// Runs all goldens with the entry that `entry` names; the same text serves a page and a worker.
const script = (entry) => `
  import { Tamis } from '/web/${entry}.mjs';
  import { answers, made, savedAgain } from '/test/goldens.mjs';
  const bytes = async (name) =>
    new Uint8Array(await (await fetch('/golden/' + name)).arrayBuffer());
  export async function goldens(recipes) {
    const text = await (await fetch('/golden/answers.txt')).text();
    return [await answers(Tamis, recipes, bytes, text), await savedAgain(Tamis, recipes, bytes),
      await made(Tamis, recipes, bytes)];
  }`;
const worker = (entry) => `
  import { goldens } from './${entry}.mjs';
  onmessage = async ({ data }) => {
    try { postMessage(await goldens(data)); } catch (e) { postMessage(String(e)); }
  };`;
// A service worker gets its scripts when it is installed.
const service = (entry) => `
  import { goldens } from './${entry}.mjs';
  onmessage = (event) => event.waitUntil(
    goldens(event.data).catch(String).then((answer) => event.source.postMessage(answer)));`;

async function start(t) {
  const dir = room(t), pages = join(dir, 'pages');
  mkdirSync(pages);
  writeFileSync(join(pages, 'index.html'),
    '<!DOCTYPE html><title>goldens</title><link rel="icon" href="data:,">');
  for (const entry of ['tamis', 'inline']) {
    writeFileSync(join(pages, `${entry}.mjs`), script(entry));
    writeFileSync(join(pages, `${entry}-worker.mjs`), worker(entry));
    writeFileSync(join(pages, `${entry}-service.mjs`), service(entry));
  }
  const { url } = await serve(t, {
    '/': pages, '/web/': web, '/golden/': join(source, 'tests/golden'),
      '/test/': join(source, 'web/test'),
  }, { 'Content-Security-Policy': POLICY });
  const page = await (await browser(t)).newPage(), wrong = watch(page, url);
  await page.goto(`${url}/`);
  return { page, wrong: () => wrong.filter((line) => !line.includes('data:,')) };
}

function good([answered, saved, made]) {
  assert.equal(answered, recipes().length);
  assert.equal(saved, recipes().length);
  assert.ok(made >= 17);
}

test('the golden images in a page, a worker and a service worker', async (t) => {
  const { page, wrong } = await start(t);
  for (const entry of ['tamis', 'inline']) {
    good(await page.evaluate(async ([name, all]) => (await import(`/${name}.mjs`)).goldens(all),
      [entry, recipes()]));
    good(await page.evaluate(([name, all]) => new Promise((done, failed) => {
      const it = new Worker(`/${name}-worker.mjs`, { type: 'module' });
      it.onmessage = ({ data }) => done(data);
      it.onerror = (e) => failed(new Error(e.message));
      it.postMessage(all);
    }), [entry, recipes()]));
    good(await page.evaluate(async ([name, all]) => {
      const { installing } = await navigator.serviceWorker.register(`/${name}-service.mjs`,
        { type: 'module', scope: `/${name}/` });
      return new Promise((done) => {
        navigator.serviceWorker.onmessage = ({ data }) => done(data);
        navigator.serviceWorker.startMessages();
        installing.addEventListener('statechange',
          () => { if (installing.state === 'activated') installing.postMessage(all); });
      });
    }, [entry, recipes()]));
  }
  assert.deepEqual(wrong(), []);
});

test('distinct sketches, beside filters', async (t) => {
  const { page, wrong } = await start(t);
  for (const entry of ['distinct', 'distinct-inline']) {
    const got = await page.evaluate(async ([name, all]) => {
      const [{ Distinct }, { Tamis }, { counted, sketched }] = await Promise.all(
        [`/web/${name}.mjs`, '/web/tamis.mjs', '/test/goldens.mjs'].map((file) => import(file)));
      const read = async (file) =>
        new Uint8Array(await (await fetch(`/golden/${file}`)).arrayBuffer());
      const filter = await Tamis.load('/golden/bloom.tamis'), from = '/golden/distinct.tamis';
      const text = await (await fetch('/golden/distinct.txt')).text();
      return [await counted(Distinct, all, read, text), await sketched(Distinct, all, read),
        (await Distinct.load(from)).count(), filter.has('')];
    }, [entry, distinctRecipes()]);
    assert.ok(got[0] >= 9 && got[1] >= 7, `${got}`);
    assert.deepEqual(got.slice(2), [64, true]);
  }
  assert.deepEqual(wrong(), []);
});

test('the goldens can fail: an image with one flipped bit does not pass', async (t) => {
  const { page } = await start(t);
  const refused = await page.evaluate(async () => {
    const { Tamis } = await import('/web/tamis.mjs');
    const image = new Uint8Array(await (await fetch('/golden/bloom.tamis')).arrayBuffer());
    image[image.length - 1] ^= 1;
    return Tamis.load(image).then(() => 'loaded', (e) => `${e.name} ${e.status}`);
  });
  assert.equal(refused, 'TamisError ECORRUPT');
});
