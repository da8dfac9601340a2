// node web/test/browser/figures.mjs: measures costs in Chromium as minima of several rounds: the
// package's `has` and loading, and how long a page takes with and without the extension. Requires
// `sh web/tools.sh web/test build/web-tools`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { native, room, web } from '../help.mjs';
import { browser, serve } from './chromium.mjs';
import { at, go, world } from './world.mjs';

const ROUNDS = 9, N = 1e6;
const after = [], t = { after: (end) => after.push(end) };
const word = (i) =>
  `https://www.example-${String(i).padStart(8, '0')}.com/path/index`.padEnd(50, '.').slice(0, 50);
const host = (i) => `bad-${i}.test`;

async function inPage() {
  const dir = join(room(t), 'files');
  mkdirSync(dir);
  writeFileSync(join(dir, 'index.html'), '<!DOCTYPE html><title>figures</title>');
  native(['build', '-q', '--kind', 'ribbon', '--bytes', '1.9MB', '-o', join(dir, 'many.tamis')],
    Array.from({ length: N }, (_, i) => `${word(i)}\n`).join(''));
  const { url } = await serve(t, { '/': dir, '/web/': web }),
    page = await (await browser(t)).newPage();
  await page.goto(`${url}/`);
  return page.evaluate(async ([rounds, text]) => {
    const make = new Function('i', `return (${text})(i)`);
    const first = performance.now();
    const { Tamis } = await import('/web/tamis.mjs');
    await Tamis.plan({ items: 1, fpr: 0.1 });
    const module = performance.now() - first;
    const image = new Uint8Array(await (await fetch('/many.tamis')).arrayBuffer());
    const keys = Array.from({ length: 100000 }, (_, i) => make(i * 20));
    let ready = Infinity, fetched = Infinity, has = Infinity, filter;
    for (let round = 0; round < rounds; round++) {
      const from = performance.now();
      (await Tamis.load('/many.tamis')).has(keys[0]);
      fetched = Math.min(fetched, performance.now() - from);
      const then = performance.now();
      filter = await Tamis.load(image);
      filter.has(keys[0]);
      ready = Math.min(ready, performance.now() - then);
      const start = performance.now();
      let found = 0;
      for (const key of keys) found += filter.has(key);
      has = Math.min(has, (performance.now() - start) / keys.length * 1e6);
      if (found < keys.length / 2) throw new Error('wrong');
    }
    return { module, ready, fetched, has, bytes: image.length };
  }, [ROUNDS, String(word)]);
}

async function pageLoads(page, name) {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const url = `http://good.test/${name}-${round}`, from = performance.now();
    await go(page, url);
    await at(page, url);
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

try {
  const { module, ready, fetched, has, bytes } = await inPage();
  console.log(`has, a string of 50 characters: ${has.toFixed(0)} ns`);
  console.log(`loading the script and its module: ${module.toFixed(1)} ms`);
  console.log(`a ribbon of a million keys, ${bytes} bytes: ready after ${ready.toFixed(1)} ms; ` +
    'with fetching, ' +
    `${fetched.toFixed(1)} ms`);
  const it = await world(t, { configured: false,
    lists: { malware: Array.from({ length: N }, (_, i) => host(i)) } });
  const page = await it.context.newPage(), without = await pageLoads(page, 'without');
  const options = await it.context.newPage();
  await options.goto(it.page('options.html'));
  await options.getByLabel('Server of the list').fill(it.guard.url);
  await options.getByRole('button', { name: 'Use this server' }).click();
  await options.getByText('The list of this server is in use.').waitFor();
  console.log(`a page without the extension's list: ${without.toFixed(0)} ms; ` +
    'held and let through, by a list of a million: ' +
    `${(await pageLoads(page, 'with')).toFixed(0)} ms`);
} finally {
  for (const end of after) await end();
}
