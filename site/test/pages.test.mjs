// The built site in a browser, below a path: no page complains, asks for anything that is not there
// or sticks out of a narrow window; texts can be read in both schemes; keyboard, search, print.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { poorContrast } from '../../web/test/browser/access.mjs';
import { listen, serve, shot, visitor, watch } from '../../web/test/browser/chromium.mjs';
import { build } from '../../web/test/help.mjs';

const site = join(build, 'site-test'), below = '/some/where/';
const NARROW = { viewport: { width: 320, height: 640 } };
const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.html'))
  .sort();

// The site below a path of a server that has nothing else.
async function visit(t, options = {}) {
  const { url, log } = await serve(t, { [below]: site });
  const context = await visitor(t, options), page = await context.newPage();
  const wrong = watch(page, `${url}${below}`);
  page.on('console', (message) => wrong.push(`console: ${message.text()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) wrong.push(`${response.status()}: ${response.url()}`);
  });
  return { page, wrong, log, go: (name) => page.goto(`${url}${below}${name}`) };
}

const widths = (page) => page.evaluate(() =>
  [document.documentElement.scrollWidth, document.documentElement.clientWidth]);

test('there is a site', () => {
  for (const name of ['index.html', '404.html', 'search.html', 'docs/GUIDE.html',
    'reference/tamis.h.html', 'coming-from/redisbloom.html', 'benchmarks/index.html'])
    assert.ok(pages.includes(name), name);
});

for (const [name, options] of [['narrow', NARROW], ['wide', { viewport: { width: 1440,
  height: 900 } }], ['dark', { colorScheme: 'dark' }]])
  test(`${name}: no page complains, sticks out or is hard to read`, async (t) => {
    const { page, wrong, go } = await visit(t, options), faults = [];
    for (const path of pages) {
      await go(path);
      const [all, seen] = await widths(page);
      if (all > seen) faults.push(`${path}: ${all} of ${seen} pixels`);
      faults.push(...(await page.evaluate(poorContrast)).map((fault) => `${path}: ${fault}`));
      if (await page.locator('main').count() !== 1) faults.push(`${path}: not one main`);
      if (await page.locator('h1').count() !== 1) faults.push(`${path}: not one h1`);
      const levels = await page.locator('h1, h2, h3, h4, h5, h6')
        .evaluateAll((all) => all.map((it) => Number(it.tagName[1])));
      levels.forEach((level, i) => {
        if (level > (levels[i - 1] ?? 0) + 1)
          faults.push(`${path}: h${levels[i - 1]}, then h${level}`);
      });
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(wrong, []);
  });

test('the checks can fail', async (t) => {
  const { page, wrong, go } = await visit(t, NARROW);
  await go('README.html');
  await page.evaluate(() => {
    const main = document.querySelector('main');
    main.insertAdjacentHTML('beforeend', '<p class="wide-one">a</p><img src="https://a.example/a">');
    const it = main.querySelector('.wide-one');
    it.style.width = '400px';
    it.style.color = '#999999';
  });
  const [all, seen] = await widths(page);
  assert.ok(all > seen);
  assert.equal((await page.evaluate(poorContrast)).length, 1);
  assert.ok(wrong.length > 0);
});

test('by keyboard: past the navigation, into the lists of pages, to a search', async (t) => {
  const { page, wrong, go } = await visit(t, NARROW);
  await go('docs/GUIDE.html');
  const focused = () => page.evaluate(() => {
    const it = document.activeElement, style = getComputedStyle(it);
    return { text: it.getAttribute('aria-label') ?? it.textContent.trim(), id: it.id,
      seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
  });
  const tabTo = async (name) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const it = await focused();
      assert.ok(it.seen, `the focus of ${it.text} cannot be seen`);
      if (it.text === name) return;
    }
    assert.fail(`Tab never came to ${name}`);
  };
  await tabTo('Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal((await focused()).id, 'main');
  await go('docs/GUIDE.html');
  await tabTo('All pages');
  await page.keyboard.press('Enter');
  await tabTo('Python');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/PYTHON.html');
  await tabTo('Search the documents');
  await page.keyboard.type('tamis_may_contain');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search.html?q=tamis_may_contain');
  const found = page.locator('#search-results a[href$="tamis.h.html#tamis_may_contain"]');
  await found.first().waitFor();
  await found.first().click();
  await page.waitForURL('**/reference/tamis.h.html#tamis_may_contain');
  assert.ok(await page.locator('#tamis_may_contain').isVisible());
  assert.deepEqual(wrong, []);
});

test('the search finds words and says when there are none', async (t) => {
  const { page, wrong, go } = await visit(t);
  await go('search.html?q=poisoned+counts');
  await page.locator('#search-results li .context').first().waitFor();
  const links = await page.locator('#search-results a').evaluateAll((all) =>
    all.map((it) => new URL(it.href).pathname));
  assert.ok(links.some((link) => link.startsWith(`${below}docs/`)), links.join(' '));
  await go('search.html?q=zyxwvutsr');
  await page.getByText('did not match any documents').waitFor();
  await go('search.html?q=%3Cimg+src%3Dzyxwvutsr+onerror%3Dalert(1)%3E');
  await page.getByText('did not match any documents').waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  assert.deepEqual(wrong, []);
});

test('a page that is not there, at any depth', async (t) => {
  const { url } = await listen(t, (request, response) => {
    response.writeHead(404, { 'Content-Type': 'text/html; charset=utf-8' })
      .end(readFileSync(join(site, '404.html')));
  });
  for (const path of ['/a', '/some/where/very/deep/']) {
    const context = await visitor(t, { colorScheme: 'dark' }), page = await context.newPage(),
      asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(url + path);
    assert.deepEqual(asked.filter((it) => !it.startsWith('data:')), [url + path]);
    const color = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.ok(Number(color.match(/\d+/)[0]) < 64, `it is not dark: ${color}`);
    assert.deepEqual(await page.evaluate(poorContrast), []);
    const there = await page.locator('a').evaluateAll((all) => all.map((it) =>
      it.getAttribute('href')));
    assert.ok(there.every((link) => link.startsWith('https://')), there.join(' '));
  }
});

test('nothing moves, and there is no navigation on paper', async (t) => {
  const { page, go } = await visit(t, { viewport: { width: 1440, height: 900 } });
  await go('README.html');
  assert.deepEqual(await page.evaluate(() => Array.from(document.querySelectorAll('*'))
    .map((it) => getComputedStyle(it)).filter((style) => style.animationName !== 'none' ||
      parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === 'smooth').length), 0);
  for (const part of ['.top', '.pages.wide', '.toc.wide', 'footer'])
    assert.ok(await page.locator(part).isVisible(), part);
  await page.emulateMedia({ media: 'print' });
  for (const part of ['.top', '.pages.wide', '.toc.wide', 'footer'])
    assert.ok(!await page.locator(part).isVisible(), part);
  assert.ok(await page.locator('main').isVisible());
  await shot(page, 'site-print');
});

test('without scripts everything except the search works', async (t) => {
  const { page, wrong, go } = await visit(t, { javaScriptEnabled: false });
  await go('index.html');
  await page.getByRole('link', { name: 'Guide' }).click();
  await page.waitForURL('**/docs/GUIDE.html');
  assert.ok(await page.getByRole('heading', { name: 'Planning' }).isVisible());
  assert.match(await (await go('search.html')).text(), /<noscript><p>The search needs JavaScript/);
  assert.deepEqual(wrong, []);
});

test('pictures for people to look at', async (t) => {
  for (const [name, options] of [['wide', { viewport: { width: 1440, height: 900 } }],
    ['narrow', NARROW], ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }]])
    for (const path of ['index.html', 'README.html', 'reference/tamis.h.html',
      'coming-from/guava.html', 'benchmarks/index.html', '404.html']) {
      const { page, go } = await visit(t, options);
      await go(path);
      await shot(page, `site-${relative('.', path).replace(/\W/g, '-')}-${name}`);
    }
});
