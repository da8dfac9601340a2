// The page for everybody: by keyboard, by screen reader, on a phone, in the dark scheme.
import assert from 'node:assert/strict';
import test from 'node:test';
import { poorContrast, tree } from './access.mjs';
import { shot } from './chromium.mjs';
import { check, verdicts, visitStatic } from './pages.mjs';

const CONTROLS = ['button', 'checkbox', 'combobox', 'link', 'slider', 'spinbutton', 'textbox',
  'DisclosureTriangle'];

// Visits the page and puts something into every part of it.
async function full(t, options) {
  const it = await visitStatic(t, options);
  await check(it.page, 'http://www.example.org/', 'http://www.bad.example/a/page.html?q=1',
    'mailto:x@example.org');
  await it.page.click('#lecture');
  await it.page.waitForFunction(() =>
    document.getElementById('step').textContent.includes('false positive'));
  return it;
}

test('every control has a name, headings are in order, drawings have words', async (t) => {
  const { page, context } = await full(t);
  const nodes = await tree(context, page);
  for (const role of CONTROLS) {
    const some = nodes.filter((node) => node.role === role);
    assert.ok(some.length > 0, `no ${role}`);
    for (const node of some) assert.ok(node.name.trim() !== '', `a ${role} without a name`);
  }
  assert.ok(nodes.filter((node) => node.role === 'slider').length === 4);
  const levels = await page.locator('h1, h2, h3, h4')
    .evaluateAll((all) => all.map((it) => Number(it.tagName[1])));
  assert.equal(levels[0], 1);
  levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1,
    `h${levels[i - 1]}, then h${level}`));
  assert.ok(nodes.some((node) => node.role === 'image' && /The bound goes from/.test(node.name)));
  // The bits are a table, by rows and columns.
  assert.ok(nodes.some((node) => node.role === 'table' &&
    /partitioned: 3 rows of 5 bits\. 5 of 15 are 1/.test(node.name)));
  for (const row of ['h1', 'h2', 'h3'])
    assert.ok(nodes.some((node) => node.role === 'rowheader' && node.name === row), row);
  for (const landmark of ['banner', 'main', 'navigation', 'contentinfo'])
    assert.ok(nodes.some((node) => node.role === landmark), landmark);
  assert.equal(await page.locator('[role=status]').count(), 3);
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
});

test('the checker can fail', async (t) => {
  const { page, context } = await visitStatic(t);
  await page.evaluate(() => document.querySelector('label[for=seed]').remove());
  assert.ok((await tree(context, page)).some((node) => node.role === 'spinbutton' &&
    node.name === ''));
});

test('by keyboard alone', async (t) => {
  const { page, wrong } = await visitStatic(t);
  const focused = () => page.evaluate(() => document.activeElement.id ||
    document.activeElement.textContent.trim());
  // Presses Tab until an element has the focus; each focused element must show it. The focus may
  // leave the page once, for the browser's own controls.
  const tabTo = async (name) => {
    for (let i = 0, left = 0; i < 80; i++) {
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return document.activeElement === document.body ? 'elsewhere'
          : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
      });
      if (seen === 'elsewhere' && ++left === 1) continue;
      assert.ok(seen === true,
        `on the way to ${name}, the focus of ${await focused()} cannot be seen`);
      if (await focused() === name) return;
    }
    assert.fail(`Tab never came to ${name}`);
  };
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Skip to the content');
  await page.keyboard.press('Enter');
  await tabTo('urls');
  await page.keyboard.type('http://bad.example/');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('example.org');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('#results > li').length === 2);
  assert.deepEqual(await verdicts(page), ['Clean', 'Listed']);
  await tabTo('kind');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() =>
    document.getElementById('bits').classList.contains('partitioned'));
  await tabTo('k');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelectorAll('#bits tbody tr').length === 4);
  assert.equal(await page.locator('#k').getAttribute('aria-valuetext'), '4 probes');
  await tabTo('lecture');
  await page.keyboard.press('Space');
  await page.waitForFunction(() =>
    document.getElementById('step').textContent.includes('false positive'));
  await tabTo('word');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('apple');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#step').textContent(), /^Added apple/);
  await page.keyboard.type('pear');
  await tabTo('test');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#step').textContent(), /^Is pear a member\?/);
  await tabTo('apple'); // pressing a word that was added tests it, and it keeps the focus
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#step').textContent(), /^Is apple a member\?/);
  assert.equal(await focused(), 'apple');
  await tabTo('rate');
  await page.keyboard.press('End');
  await page.waitForFunction(() =>
    document.getElementById('rate-value').textContent.startsWith('1 in 1.0·10⁹'));
  await tabTo('show-bloom');
  await page.keyboard.press('Space');
  assert.equal(await page.locator('#plot path.kind-bloom').count(), 0);
  assert.deepEqual(wrong, []);
});

for (const [name, options] of [
  ['phone', { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true,
    isMobile: true }],
  ['narrow', { viewport: { width: 320, height: 640 } }],
  ['night', { colorScheme: 'dark' }],
  ['phone-night', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
  ['day', {}],
]) {
  test(`${name}: nothing sticks out, text is readable, controls are big enough`, async (t) => {
    const { page, wrong } = await full(t, options);
    await page.mouse.move(0, 0);
    const measure = () => page.evaluate(() => {
      const { scrollWidth: all, clientWidth: seen } = document.documentElement;
      return { all, seen };
    });
    for (const kind of ['bloom', 'blocked', 'counting', 'partitioned']) {
      await page.selectOption('#kind', kind);
      await page.waitForFunction((k) => document.getElementById('bits').classList.contains(k),
        kind);
      if (kind === 'partitioned') await page.locator('#m').fill('32');
      const { all, seen } = await measure();
      assert.ok(all <= seen, `${kind}: ${all} of ${seen} pixels`);
    }
    // A table need not be scrolled sideways on a phone of the usual width either.
    if (options.viewport?.width !== 320)
      assert.deepEqual(await page.locator('.scroll')
        .evaluateAll((all) => all.filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => box.firstElementChild.id)), []);
    assert.deepEqual(await page.evaluate(poorContrast), []);
    assert.deepEqual(await page.evaluate(() =>
      Array.from(document.querySelectorAll('button, input, select, textarea, summary'))
      .filter((it) => it.checkVisibility())
        .map((it) => [it.id || it.textContent,
        (it.closest('label') ?? it).getBoundingClientRect().height])
      .filter(([, height]) => height < 24)), []);
    assert.deepEqual(wrong, []);
    await page.waitForFunction(() => document.getAnimations()
      .every((it) => it.playState === 'finished'));
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, `page-${name}`);
  });
}

test('no motion for those who want none', async (t) => {
  for (const [reducedMotion, animation] of [['reduce', 'none'], ['no-preference', 'light']]) {
    const { page } = await full(t, { reducedMotion });
    assert.equal(await page.locator('#bits td.probe').first()
      .evaluate((it) => getComputedStyle(it).animationName), animation);
  }
});

test('the dark scheme is dark', async (t) => {
  for (const [colorScheme, dark] of [['dark', true], ['light', false]]) {
    const { page } = await visitStatic(t, { colorScheme });
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(Number(background.match(/\d+/)[0]) < 64, dark, background);
  }
});
