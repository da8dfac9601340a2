// The site's questions in Chromium: every kind can be reached, and the answers agree with the table
// in docs/KINDS.md.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { native, source } from '../help.mjs';
import { shot } from './chromium.mjs';
import { folder, setFragment, visitSite } from './site.mjs';

const { QUESTIONS, OUTCOMES, wayOf } = await import(join(folder, 'which-kind/questions.mjs'));
const { FILTERS, SKETCHES, labelOf } = await import(join(folder, 'apps/kinds.mjs'));

// The rows of that table: the kind as it is written there, and what to use it for.
function kindsTable() {
  const text = readFileSync(join(source, 'docs/KINDS.md'), 'utf8');
  const rows = text.slice(text.indexOf('|---'), text.indexOf('\n\nA sealed filter'));
  return new Map(rows.split('\n').slice(1).filter((row) => row.startsWith('|')).map((row) => {
    const cells = row.split('|').map((cell) => cell.trim());
    return [/`([^`]*)`/.exec(cells[1])[1], cells[4]];
  }));
}

// Every way through the questions: pairs of the answers, and the kind.
function allWays(answers = []) {
  const { way, kind } = wayOf(new Map(answers));
  if (kind) return [{ answers, kind }];
  const name = way.at(-1);
  return Object.keys(QUESTIONS[name].answers)
    .flatMap((value) => allWays([...answers, [name, value]]));
}

test('the pages’ words about the kinds are those of docs/KINDS.md', () => {
  const table = kindsTable();
  assert.ok(table.size >= 15);
  assert.deepEqual(new Map(FILTERS.map((kind) => [labelOf(kind), kind.use])), table);
});

test('every kind of that table, but one for teaching, is reached by five questions at most', () => {
  const ways = allWays(), reached = new Set(ways.map(({ kind }) => kind));
  for (const kind of FILTERS)
    assert.equal(reached.has(kind.id), !kind.use.startsWith('teaching'), kind.id);
  for (const { id } of SKETCHES) // the two others are textbook sketches, which tally replaces
    assert.equal(reached.has(id), !['count-min', 'count-sketch'].includes(id), id);
  assert.equal(ways.length, reached.size, 'a kind has one way');
  for (const { answers, kind } of ways) {
    assert.ok(answers.length <= 5, kind);
    assert.ok(Object.hasOwn(OUTCOMES, kind), kind);
  }
  assert.equal(Object.keys(OUTCOMES).length, reached.size);
});

test('where the ways lead agrees with what docs/KINDS.md says about the kinds', () => {
  const answersOf = (kind) => Object.fromEntries(allWays().find((it) => it.kind === kind).answers);
  for (const [kind, use] of FILTERS.map(({ id, use }) => [id, use])) {
    if (use.startsWith('teaching')) continue;
    const answers = answersOf(kind);
    if (/never change/.test(use) && kind !== 'map') assert.equal(answers.change, 'no', kind);
    if (/keep changing/.test(use)) assert.equal(answers.change, 'yes', kind);
    if (/^removing/.test(use)) assert.equal(answers.remove, 'chosen', kind);
    if (/unknown size/.test(use)) assert.equal(answers.known, 'no', kind);
    if (/SIMD/.test(use)) assert.equal(answers.simd, 'small', kind);
    if (/harmless/.test(use)) assert.equal(answers.guarantee, 'harmless', kind);
    if (/last hour/.test(use)) assert.equal(answers.remove, 'old', kind);
    if (/publishing/.test(use)) assert.equal(answers.publish, 'yes', kind);
    if (/that you list/.test(use)) assert.equal(answers.wrong, 'yes', kind);
    if (/^speed/.test(use)) assert.equal(answers.matters, 'speed', kind);
    if (/less space/.test(use)) assert.equal(answers.matters, 'space', kind);
  }
});

test('what the reasons say about kinds is true', () => {
  const plans = (...args) => JSON.parse(native(['plan', '--json', ...args]));
  const bits = (kind, fpr, ...more) =>
    plans('--kind', kind, '--items=10M', `--fpr=${fpr}`, ...more)[0].bits_per_item;
  const saved = 1 - bits('blocked', '1%', '--compact') / bits('blocked', '1%');
  assert.ok(saved > 0.015 && saved < 0.025, `${saved}`);
  assert.ok(bits('counting', '1%') / bits('bloom', '1%') > 3.9);
  for (const other of ['counting', 'pair'])
    assert.ok(bits('cuckoo', '1%') < bits(other, '1%'), other);
  assert.ok(bits('pair', '1%') < bits('counting', '1%'));
  assert.ok(bits('ribbon', '1%') < bits('fuse', '1%'));
  for (const fpr of ['0.1%', '1e-4', '1e-5', '1e-6'])
    assert.ok(bits('bloom', fpr) < bits('blocked', fpr), fpr);
  const [packed] = plans('--for-transfer', '--items=10M', '--fpr=1%');
  assert.equal((8 * packed.packed_bytes / packed.items).toFixed(1), '8.1');
  const [distinct] = plans('--kind=distinct', '--error=1%');
  assert.ok(distinct.bytes > 8000 && distinct.bytes < 9000);
});

const result = async (page) => (await page.locator('#outcome').isVisible()
  ? page.locator('#kind').textContent() : undefined);

test('every way, by clicks: the kind, the line, and the link to the planner', async (t) => {
  const { page, wrong, base } = await visitSite(t, 'which-kind');
  for (const { answers, kind } of allWays()) {
    await setFragment(page, '');
    for (const [name, value] of answers) {
      assert.equal(await result(page), undefined);
      await page.check(`#${name}-${value}`);
    }
    const shown = [...FILTERS, ...SKETCHES].find(({ id }) => id === kind);
    assert.equal(await result(page), labelOf(shown));
    assert.equal(await page.locator('#use').textContent(), shown.use);
    assert.equal(await page.locator('#line').textContent(), `${OUTCOMES[kind][1]}\n`);
    const href = await page.locator('#plan').evaluate((it) => it.href);
    assert.ok(href.startsWith(`${base}/plan/index.html#kind=${kind}`), href);
    assert.deepEqual(await page.evaluate(() => location.hash),
      `#${answers.map(([name, value]) => `${name}=${value}`).join('&')}`);
  }
  for (const kind of ['private', 'distinct', 'blocked-compact']) {
    await page.goto(`${base}/plan/index.html#kind=${kind}&items=1M&fpr=1%`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    assert.equal(await page.locator(`#kind-${kind}`).isChecked(), true);
    assert.equal(await page.locator('#problem').isHidden(), true);
  }
  assert.deepEqual(wrong, []);
});

test('Back takes an answer back; a changed answer drops those behind it', async (t) => {
  const { page, open } = await visitSite(t, 'which-kind');
  await page.check('#ask-seen');
  await page.check('#change-yes');
  await page.check('#remove-old');
  assert.equal(await result(page), 'window');
  await page.goBack();
  await page.waitForFunction(() => document.getElementById('outcome').hidden);
  assert.equal(await page.locator('#change-yes').isChecked(), true);
  assert.equal(await page.locator('#remove-old').isChecked(), false);
  await page.goForward();
  await page.waitForFunction(() => !document.getElementById('outcome').hidden);
  await page.check('#change-no');
  assert.equal(await page.locator('#question-remove').count(), 0);
  assert.equal(await page.evaluate(() => location.hash), '#ask=seen&change=no');
  await page.check('#ask-distinct');
  assert.equal(await result(page), 'distinct');
  await page.click('#again');
  assert.equal(await page.evaluate(() => location.hash), '');
  assert.equal(await page.locator('#questions input:checked').count(), 0);
  await open('#ask=seen&change=yes&remove=no&known=no');
  assert.equal(await result(page), 'growing');
});

test('hostile addresses are reported, and answer nothing', async (t) => {
  const { page, open, wrong } = await visitSite(t, 'which-kind');
  for (const fragment of ['#ask=<script>', '#<img src=x>=1', '#ask=__proto__', '#__proto__=x',
    '#constructor=name', '#ask=toString', '#rubbish', `#${'x'.repeat(50000)}=1`, '#ask=%FF']) {
    await open(fragment);
    assert.match(await page.locator('#problem').textContent(), /answers that do not exist: “/,
      fragment.slice(0, 40));
    assert.equal(await page.locator('#questions fieldset').count(), 1);
    assert.equal(await result(page), undefined);
    assert.equal(await page.locator('main script, main img').count(), 0);
  }
  assert.deepEqual(wrong, []);
});

test('by keyboard alone', async (t) => {
  const { page, wrong } = await visitSite(t, 'which-kind');
  await page.locator('#ask-seen').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space'); // the first answer of the next question
  assert.equal(await page.locator('#change-yes').isChecked(), true);
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#change-no').isChecked(), true);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'change-no');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  assert.equal(await result(page), 'private');
  assert.match(await page.locator('#said').textContent(), /^Take private\. It is a copy/);
  assert.deepEqual(wrong, []);
  await shot(page, 'site-which-kind');
});
