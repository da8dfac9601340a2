// The site's interactive pages for everybody: by keyboard, by screen reader, narrow, dark, printed,
// and with colours that colour-blind people tell apart.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { poorContrast, tree } from './access.mjs';
import { shot } from './chromium.mjs';
import { folder, visitSite } from './site.mjs';

const PAGES = { plan: '#items=1M&fpr=1%&kind=counting', playground: '',
  'which-kind': '#ask=seen&change=no&publish=no&wrong=no&simd=usual' };
const CONTROLS = ['button', 'checkbox', 'radio', 'combobox', 'link', 'slider', 'spinbutton',
  'textbox', 'DisclosureTriangle'];

for (const [name, fragment] of Object.entries(PAGES)) {
  test(`${name}: every control has a name, headings are in order, pictures have words`,
    async (t) => {
      const { page, context } = await visitSite(t, name, fragment);
      await page.locator('details').evaluateAll((all) => all.forEach((it) => { it.open = true; }));
      const nodes = await tree(context, page);
      for (const { role, name: label } of nodes)
        if ([...CONTROLS, 'image', 'table', 'region', 'group', 'form'].includes(role) &&
          !(role === 'group' && label === ''))
          assert.ok(label.trim() !== '' || role === 'form', `a ${role} without a name`);
      assert.ok(nodes.filter(({ role }) => CONTROLS.includes(role)).length > 10);
      const levels = await page.locator('h1, h2, h3').evaluateAll((all) =>
        all.map((it) => Number(it.tagName[1])));
      assert.equal(levels.filter((level) => level === 1).length, 1);
      levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1));
      for (const landmark of ['banner', 'main', 'navigation', 'contentinfo'])
        assert.ok(nodes.some(({ role }) => role === landmark), landmark);
      assert.ok(await page.locator('[role=status]').count() > 0);
      assert.equal(await page.locator('[aria-current=page]').count(), 1);
      assert.equal(await page.evaluate(() => document.querySelectorAll('[id]').length -
        new Set(Array.from(document.querySelectorAll('[id]'), (it) => it.id)).size), 0);
    });

  test(`${name}: links stay within the site, and it requests only its files`,
    async (t) => {
      const { page, wrong, base, log } = await visitSite(t, name, fragment);
      const links = await page.locator('a[href]').evaluateAll((all) => all.map((it) =>
        it.getAttribute('href')));
      for (const link of links)
        assert.match(link,
          /^(#|index\.html$|\.\.\/((plan|playground|which-kind)\/)?index\.html(#|$))/);
      const there = (await Promise.all([...new Set(links.filter((it) => !it.startsWith('#')))]
        .map(async (link) => [link, (await fetch(new URL(link, `${base}/${name}/`))).status])));
      for (const [link, status] of there) // the front page is not one of these pages
        assert.equal(status, link === '../index.html' ? 404 : 200, link);
      assert.ok(log.every((line) => /^GET 127\.0\.0\.1:\d+\/some\/path\//.test(line)));
      assert.deepEqual(wrong, []);
    });

  test(`${name}: Tab reaches everything, and the focus is visible`, async (t) => {
    const { page, wrong } = await visitSite(t, name, fragment);
    const all = await page.evaluate(() => Array.from(document.querySelectorAll(
      'a[href], button, input, select, summary, [tabindex="0"]')).filter((it) =>
      it.checkVisibility() && !it.disabled && (it.type !== 'radio' || it.checked)).length);
    const seen = new Set();
    for (let i = 0; i < all + 3; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const it = document.activeElement, style = getComputedStyle(it);
        if (it === document.body) return undefined;
        it.dataset.tabbed ??= String(document.querySelectorAll('[data-tabbed]').length);
        return { key: it.dataset.tabbed, what: it.outerHTML.slice(0, 80),
          visible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
      });
      if (at === undefined) continue;
      assert.ok(at.visible, at.what);
      seen.add(at.key);
    }
    assert.ok(seen.size >= all, `${seen.size} of ${all}`);
    // The first one skips to the content, and leaves the state in the address.
    const before = await page.evaluate(() => location.hash);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    if (name !== 'playground') assert.equal(await page.evaluate(() => location.hash), before);
    assert.deepEqual(wrong, []);
  });

  for (const [scheme, options] of [
    ['narrow', { viewport: { width: 320, height: 640 } }],
    ['phone', { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, isMobile: true,
      hasTouch: true }],
    ['night', { colorScheme: 'dark' }],
    ['narrow-night', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
    ['day', { viewport: { width: 1200, height: 900 } }],
  ])
    test(`${name}, ${scheme}: nothing sticks out, texts have contrast, controls are big enough`,
      async (t) => {
        const { page, wrong } = await visitSite(t, name, fragment, options);
        await page.locator('details').evaluateAll((all) =>
          all.forEach((it) => { it.open = true; }));
        const [all, seen] = await page.evaluate(() => [document.documentElement.scrollWidth,
          document.documentElement.clientWidth]);
        assert.ok(all <= seen, `${all} of ${seen} pixels`);
        assert.deepEqual(await page.evaluate(poorContrast), []);
        assert.deepEqual(await page.locator('button, input, select, summary').evaluateAll((some) =>
          some.filter((it) => it.checkVisibility()).map((it) => [it.id || it.textContent,
            (it.closest('label') ?? it).getBoundingClientRect().height])
            .filter(([, height]) => height < 24)), []);
        const background = await page.evaluate(() =>
          getComputedStyle(document.body).backgroundColor);
        assert.equal(Number(/\d+/.exec(background)[0]) < 64, scheme.includes('night'));
        assert.deepEqual(wrong, []);
        await shot(page, `site-${name}-${scheme}`);
      });
}

test('the planner by keyboard alone', async (t) => {
  const { page, wrong } = await visitSite(t, 'plan');
  await page.focus('#items');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('3M');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('0.1%');
  await page.keyboard.press('Enter'); // submits nothing
  await page.focus('#kind-blocked');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#chosen').textContent(), 'bloom');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'kind-bloom');
  assert.equal(await page.evaluate(() => location.hash), '#items=3M&fpr=0.1%&kind=bloom');
  // Screen readers hear the result, once the typing has paused.
  await page.waitForFunction(() => /^bloom: 5\.39 MB, 14\.4 bits per item$/
    .test(document.getElementById('said').textContent));
  assert.deepEqual(wrong, []);
});

test('the strict policy: no inline scripts, no other origins', async (t) => {
  for (const name of Object.keys(PAGES)) {
    const html = readFileSync(join(folder, name, 'index.html'), 'utf8');
    assert.match(html, /Content-Security-Policy" content="default-src 'none';\s+script-src 'self'/);
    assert.doesNotMatch(html, / on[a-z]+=| style=|<style|https?:/);
    const { page, wrong } = await visitSite(t, name);
    await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "inline"';
      document.body.append(script);
      await fetch('http://127.0.0.1:9/').catch(() => {});
    });
    assert.notEqual(await page.title(), 'inline');
    assert.ok(wrong.filter((line) => line.includes('Content Security Policy')).length >= 2);
  }
});

test('without its module a page says that it does not work', async (t) => {
  const { page, base } = await visitSite(t, 'which-kind');
  await page.route('**/*.wasm', (route) => route.fulfill({ status: 404 }));
  for (const name of ['plan', 'playground']) {
    await page.goto(`${base}/${name}/`);
    await page.locator('#broken').waitFor();
    assert.match(await page.locator('#broken').textContent(),
      /^The page does not work here: .*tamis\.wasm: HTTP 404/);
  }
});

test('no motion for those who want none, and paper without controls', async (t) => {
  const { page } = await visitSite(t, 'playground', '', { reducedMotion: 'reduce' });
  await page.click('#lecture');
  await page.waitForSelector('#bits td.probe');
  assert.equal(await page.locator('#bits td.probe').first()
    .evaluate((it) => getComputedStyle(it).animationName), 'none');
  const plan = (await visitSite(t, 'plan', '', { colorScheme: 'dark' })).page;
  await plan.emulateMedia({ media: 'print', colorScheme: 'light' });
  for (const gone of ['.top', 'footer', '[data-copy=c]', '#examples'])
    assert.equal(await plan.locator(gone).isVisible(), false, gone);
  for (const kept of ['#filters', '#plot', '[data-lang=shell]'])
    assert.equal(await plan.locator(kept).isVisible(), true, kept);
  assert.deepEqual(await plan.evaluate(poorContrast), []);
});

// --- Colours -------------------------------------------------------------------------------------

// How dichromats see linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
const SIGHT = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]],
};
const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const clamp = (v) => Math.min(1, Math.max(0, v));

// CIE L*a*b* with the white of sRGB.
function lab([r, g, b]) {
  const f = (v) => (v > 216 / 24389 ? Math.cbrt(v) : (24389 / 27 * v + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// The least distance of two colours for which the series are still easily told apart; two colours
// that differ by 2 or 3 look alike. Dashes and labels tell them apart as well.
const APART = 20;

test('the series of plots can be told apart without colour vision', () => {
  const css = ['page.css', 'apps.css'].map((name) =>
    readFileSync(join(folder, 'apps', name), 'utf8')).join('\n');
  const values = (name) => Array.from(css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6})`, 'g')),
    ([, hex]) => hex);
  for (const scheme of [0, 1]) {
    const colours = ['ink', 's1', 's2', 's3', 's4', 's5'].map((name) => values(name)[scheme]);
    assert.equal(colours.filter((it) => it).length, 6);
    for (const [sight, matrix] of Object.entries(SIGHT)) {
      const seen = colours.map((hex) => lab(matrix.map((row) =>
        clamp(row.reduce((sum, v, i) => sum + v * linear(hex)[i], 0)))));
      seen.forEach((a, i) => seen.slice(0, i).forEach((b, j) => {
        const distance = Math.hypot(...a.map((v, k) => v - b[k]));
        assert.ok(distance >= APART, `${sight}: ${colours[i]} and ${colours[j]}, ${distance}`);
      }));
    }
  }
});

test('nothing of the pages names another place', () => {
  for (const part of ['plan', 'playground', 'which-kind', 'apps'])
    for (const name of readdirSync(join(folder, part))) {
      if (/\.(wasm|svg)$/.test(name)) continue;
      const text = readFileSync(join(folder, part, name), 'utf8')
        .replaceAll('http://www.w3.org/2000/svg', '');
      assert.doesNotMatch(text, /https?:\/\//, `${part}/${name}`);
    }
});
