// The playground and the plot in Chromium: the same cells and figures as the command line's.
import assert from 'node:assert/strict';
import test from 'node:test';
import { native } from '../help.mjs';
import { shot } from './chromium.mjs';
import { texts, visitStatic } from './pages.mjs';

// The drawing as `tamis explain` would print it.
const drawing = (page) => page.locator('#bits tbody tr')
  .evaluateAll((rows) => rows.map((row) => row.cells[0].textContent + ' ' +
  Array.from(row.cells).slice(1).map((cell) => (cell.classList.contains('probe')
    ? `[${cell.textContent}]` : cell.textContent)).join(' ')));

// The last drawing that `tamis explain` prints, and the positions.
function explained(...args) {
  const lines = native(['explain', ...args]).toString().split('\n');
  const rows = lines.filter((line) => /^ {4}h\d/.test(line))
    .map((line) => line.trim().split(/\s+/).join(' '));
  return { rows, h: lines.findLast((line) => line.includes('h = (')).match(/h = (\(.*\))/)[1] };
}

function probability(text) {
  if (text.startsWith('none')) return 0;
  return text.includes('%') ? parseFloat(text) / 100
    : 1 / Number(text.replace('1 in ', '').replaceAll(',', ''));
}

const setSlider = (page, id, value) => page.locator(`#${id}`).fill(String(value));
const step = async (page) => (await texts(page, 'step'))[0];

async function add(page, word) {
  await page.fill('#word', word);
  await page.click('#add');
}

async function ask(page, word) {
  await page.fill('#word', word);
  await page.click('#test');
}

test('the lecture’s example is one click away, with the lecture’s bits', async (t) => {
  const { page, wrong } = await visitStatic(t);
  await page.click('#lecture');
  await page.waitForFunction(() =>
    document.getElementById('step').textContent.includes('verynormalsite.com'));
  // CSE 312, lecture 10: (2, 1, 4) and (1, 0, 4) are members; (2, 0, 4) is queried.
  assert.deepEqual(await drawing(page), ['h1 0 1 [1] 0 0', 'h2 [1] 1 0 0 0', 'h3 0 0 0 0 [1]']);
  const { rows, h } = explained('--k', '3', '--m', '5', '--seed', '595483', 'thisisavirus.com',
    'totallynotsuspicious.com',
    '--ask', 'verynormalsite.com');
  assert.deepEqual(await drawing(page), rows.slice(-3));
  assert.equal(h, '(2, 0, 4)');
  assert.match(await step(page), /h = \(2, 0, 4\).*never added.*false positive/);
  await page.getByRole('button', { name: 'Test thisisavirus.com' }).click();
  assert.match(await step(page), /h = \(2, 1, 4\).*It was added/);
  await page.getByRole('button', { name: 'Test totallynotsuspicious.com' }).click();
  assert.match(await step(page), /h = \(1, 0, 4\)/);
  // (1 - (4/5)²)³, and 2/5 · 2/5 · 1/5 of the bits that are set.
  assert.deepEqual(await texts(page, 'p-words', 'p-fill', 'p-predicted', 'p-now'),
    ['2', '5 of 15', '4.67 %', '3.2 %']);
  assert.deepEqual(wrong, []);
  await shot(page, 'playground-lecture');
});

test('words of any sort: the cells are those of the command line', async (t) => {
  const { page } = await visitStatic(t);
  await page.selectOption('#kind', 'partitioned');
  await setSlider(page, 'k', 4);
  await setSlider(page, 'm', 24);
  const words = ['apple', 'Äpfel', '林檎', ' a b ', '<b>'];
  for (const word of words) await add(page, word);
  for (const question of ['apple', 'pear', '🍎']) {
    await ask(page, question);
    const { rows, h } = explained('--k', '4', '--m', '24', ...words, '--ask', question);
    assert.deepEqual(await drawing(page), rows.slice(-4), question);
    assert.ok((await step(page)).includes(`h = ${h}`), question);
  }
});

for (const kind of ['bloom', 'partitioned', 'blocked', 'counting']) {
  test(`${kind}: sliders keep the words, and the three rates agree`, async (t) => {
    const { page, wrong } = await visitStatic(t);
    await page.selectOption('#kind', kind);
    for (let i = 0; i < 3; i++) await page.click('#more');
    const m = Number(await page.inputValue('#m')),
      more = { partitioned: 32, blocked: 1024 }[kind] ?? 128;
    assert.equal(await page.locator('#bits tbody td').count(), kind === 'partitioned' ? 3 * m : m);
    await setSlider(page, 'm', more);
    assert.equal(await page.locator('#k').isDisabled(), kind === 'blocked');
    if (kind !== 'blocked') await setSlider(page, 'k', 2);
    const k = kind === 'blocked' ? 8 : 2;
    await page.waitForFunction((n) => document.querySelectorAll('#bits tbody td').length === n,
      kind === 'partitioned' ? k * more : more);
    assert.equal(await page.locator('#words li').count(), 30);
    await page.fill('#word', 'apple');
    await page.waitForFunction((n) => { // the filter of the last slider may still be made
      document.getElementById('test').click();
      return document.querySelectorAll('#bits td.probe.on').length === n;
    }, k);
    assert.match(await step(page), /All \d (bit|counter)s are set: maybe\. It was added/);
    await page.waitForFunction(() => document.getElementById('p-predicted').textContent !== '0 %');
    const plan = JSON.parse(native(['plan', '--json', '--kind', kind, '--items', '30', '--m',
      String(more), '--k', String(k)]))[0];
    const [predicted, now, measured] = (await texts(page, 'p-predicted', 'p-now', 'p-measured'))
      .map(probability);
    // As many digits as are shown.
    assert.ok(Math.abs(predicted / plan.fpr - 1) < 0.05, `${predicted} ${plan.fpr}`);
    // 7 standard deviations of 10,000 queries, and the last digit: one false alarm in 10^11, if the
    // outcome were not the same each time.
    assert.ok(Math.abs(measured - now) < 7 * Math.sqrt(now * (1 - now) / 10000) + 0.0005,
      `${now} ${measured}`);
    assert.deepEqual(wrong, []);
    await shot(page, `playground-${kind}`);
  });
}

test('counting: words go again; what is not in cannot', async (t) => {
  const { page } = await visitStatic(t);
  assert.equal(await page.locator('#remove').isVisible(), false);
  await page.selectOption('#kind', 'counting');
  for (const word of ['apple', 'apple', 'pear']) await add(page, word);
  const remove = async (word) => {
    await page.fill('#word', word);
    await page.click('#remove');
    return step(page);
  };
  const sum = () => page.locator('#bits tbody td')
    .evaluateAll((all) => all.reduce((a, cell) => a + Number(cell.textContent), 0));
  assert.equal(await sum(), 9);
  assert.match(await remove('apple'), /Removed apple.*one lower/);
  assert.equal(await sum(), 6);
  assert.match(await remove('plum'), /certainly not a member/);
  await ask(page, 'apple');
  assert.match(await step(page), /maybe\. It was added/);
  await remove('apple');
  await ask(page, 'apple');
  assert.match(await step(page), /certainly not/);
  await remove('pear');
  assert.equal(await sum(), 0);
  // A word that only appears to be a member.
  await setSlider(page, 'm', 8);
  for (let i = 0; i < 3; i++) await page.click('#more');
  assert.match(await remove('never'), /was never added/);
});

test('it fills up, and can be emptied', async (t) => {
  const { page, wrong } = await visitStatic(t);
  await setSlider(page, 'm', 8);
  for (let i = 0; i < 51; i++) await page.click('#more');
  const full = await texts(page, 'p-words', 'p-fill', 'p-now', 'p-measured');
  assert.deepEqual(full, ['500', '8 of 8', '100 %', '100 %']);
  assert.equal((await texts(page, 'p-predicted'))[0], '100 %');
  await add(page, 'one more');
  assert.match(await step(page), /500 words, which is the limit/);
  await page.click('#empty');
  await page.waitForFunction(() => document.getElementById('p-fill').textContent === '0 of 8');
  await page.fill('#word', '');
  await page.click('#test');
  assert.match(await step(page), /Type a word first/);
  assert.deepEqual(wrong, []);
});

test('the plot and its table have every kind, with the planner’s figures', async (t) => {
  const { page, wrong } = await visitStatic(t);
  // All kinds that `tamis plan` compares, and the one that it leaves out because it needs more
  // information.
  const kinds = [...JSON.parse(native(['plan', '--json', '--items', '1000000', '--fpr', '0.01']))
    .map(({ kind }) => kind), 'exact'];
  assert.ok(kinds.length >= 11);
  for (const [exponent, power] of [[2, 6], [4, 6], [9, 3], [1, 9]]) {
    await setSlider(page, 'rate', exponent);
    await setSlider(page, 'items', power);
    await page.waitForFunction((text) => document.querySelector('#plot svg')
      .getAttribute('aria-label').includes(text),
      `for ${(10 ** power).toLocaleString('en')} items`);
    const shown = await page.locator('#costs tbody tr').evaluateAll((rows) =>
      rows.map((row) => [row.cells[0].textContent.trim(), row.cells[1].textContent,
        row.cells[2].textContent]));
    assert.deepEqual(shown.map(([kind]) => kind).sort(), [...kinds].sort());
    const bits = shown.map(([, n]) => Number(n));
    assert.deepEqual(bits, [...bits].sort((a, b) => a - b));
    for (const [kind, bitsPerItem, ratio] of shown) {
      const plan = JSON.parse(native(['plan', '--json', '--kind', kind, '--items',
        String(10 ** power), '--fpr', String(10 ** -exponent)]))[0];
      assert.equal(bitsPerItem, plan.bits_per_item.toFixed(2), `${kind} at 1e-${exponent}`);
      assert.equal(ratio, plan.bound_ratio?.toFixed(2) ?? '–', `${kind} at 1e-${exponent}`);
      assert.ok(kind === 'growing' ? plan.bound === null : plan.bound_ratio >= 1);
    }
  }
  assert.equal(await page.locator('#plot path.curve').count(), kinds.length + 2);
  // No curve leaves the drawing.
  const inside = await page.locator('#plot svg')
    .evaluate((svg) => Array.from(svg.querySelectorAll('path'), (path) => path.getBBox())
    .every((box) => box.y >= 0 && box.x >= 0 && box.x + box.width <= svg.clientWidth &&
      box.y + box.height <= svg.clientHeight));
  assert.ok(inside);
  await page.getByRole('checkbox', { name: 'counting' }).uncheck();
  assert.equal(await page.locator('#plot path.kind-counting').count(), 0);
  assert.equal(await page.locator('#plot path.curve').count(), kinds.length + 1);
  assert.deepEqual(wrong, []);
});
