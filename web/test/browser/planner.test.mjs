// The site's planner in Chromium: the numbers of `tamis plan`, addresses, keyboards, strangers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { native } from '../help.mjs';
import { shot } from './chromium.mjs';
import { setFragment, visitSite } from './site.mjs';

// The rows of the table of filters: the values behind the texts, by kind.
const tableOf = (page, id = 'filters') => page.locator(`#${id} tr[data-kind]`).evaluateAll((rows) =>
  Object.fromEntries(rows.map((row) => [row.dataset.kind,
    Object.fromEntries(Array.from(row.querySelectorAll('td[data-field]'), (cell) =>
      [cell.dataset.field, { value: cell.dataset.value, text: cell.textContent }])
      .concat([['reason', row.querySelector('.use').textContent]]))])));

// Plans as the command prints them. Whole numbers may have 64 bits, so they stay texts.
function planned(...args) {
  const text = native(['plan', '--json', ...args]).toString();
  return JSON.parse(text.replace(/"(bytes|items)": (\d+)/g, '"$1": "$2"'));
}

const close = (a, b) => Math.abs(a - b) <= 1e-11 * Math.abs(b);

function assertRow(cells, plan, kind) {
  assert.equal(cells.bytes.value, plan.bytes, kind);
  assert.equal(cells.bytes.text.replaceAll(',', ''), plan.bytes, kind);
  assert.equal(cells.items.value, plan.items, kind);
  for (const field of ['fpr', 'bits_per_item'])
    assert.ok(close(Number(cells[field].value), plan[field]),
      `${kind} ${field}: ${cells[field].value}, not ${plan[field]}`);
  assert.equal(cells.bound.value, plan.bound ?? '', kind);
  if (plan.bound === null) assert.equal(cells.bound_bits.value, '', kind);
  else assert.ok(close(Number(cells.bound_bits.value), plan.bound_bits), kind);
  assert.equal(cells.bits_per_item.text, plan.bits_per_item.toFixed(2), kind);
}

const OWN = { map: ['--kind', 'map'], 'blocked-compact': ['--kind', 'blocked', '--compact'],
  'bloom-transfer': ['--for-transfer'], private: ['--kind', 'bloom', '--k', '1'],
  exact: ['--kind', 'exact'] };

const INPUTS = [
  [['items', '1M'], ['fpr', '1%']], [['items', '5M'], ['fpr', '0.001']],
  [['items', '1'], ['fpr', '1/100']], [['items', '1e12'], ['fpr', '1e-15']],
  [['items', '12345'], ['fpr', '99%']], [['items', '1e15'], ['fpr', '50%']],
  [['items', '1M'], ['bytes', '2MiB']], [['fpr', '1%'], ['bytes', '2MiB']],
  [['fpr', '1e-9'], ['bytes', '5GB']], [['items', '1Gi'], ['bytes', '1T']],
  [['items', '1M'], ['fpr', '1%'], ['bytes', '1.5MB']],
  [['items', '3k'], ['fpr', '1%'], ['never-items', '300K'], ['generations', '7'],
    ['counter-bits', '8']],
];

test('the table is what `tamis plan --json` prints, for every kind and many inputs', async (t) => {
  const { page, wrong } = await visitSite(t, 'plan');
  let compared = 0;
  for (const input of INPUTS) {
    await setFragment(page, `#${input.map(([name, value]) => `${name}=${value}`).join('&')}`);
    const table = await tableOf(page), args = input.map(([name, value]) => `--${name}=${value}`);
    const all = planned(...args);
    for (const plan of all) assertRow(table[plan.kind], plan, `${args} ${plan.kind}`);
    const usual = ['items', 'fpr', 'bytes'];
    for (const [kind, own] of Object.entries(OWN)) {
      const given = input.filter(([name]) => usual.includes(name) ||
        (kind === 'exact' && name === 'never-items')).map(([name, value]) => `--${name}=${value}`);
      let plans = [];
      try {
        plans = planned(...own, ...given);
      } catch (error) {
        const reason = /plan: ([^]*)\n/.exec(error.message)[1];
        assert.equal(table[kind].reason, reason);
        assert.equal(table[kind].bytes.text, '–');
      }
      for (const plan of plans) assertRow(table[kind], plan, `${args} ${kind}`);
      compared += plans.length;
    }
    compared += all.length;
    // What the command leaves out is refused here, with the reason.
    for (const kind of ['bloom', 'blocked', 'cuckoo', 'counting', 'pair', 'window', 'fuse',
      'ribbon'])
      if (!all.some((plan) => plan.kind === kind)) assert.equal(table[kind].bytes.text, '–', kind);
  }
  assert.ok(compared > 130, `${compared}`);
  assert.deepEqual(wrong, []);
});

test('headroom is what `tamis build --headroom` would add', async (t) => {
  const { page } = await visitSite(t, 'plan', '#items=1001&fpr=1%&headroom=50%');
  const table = await tableOf(page);
  const [open] = planned('--kind=blocked', '--items=1502', '--fpr=1%'); // 500.5, rounded
  const [sealed] = planned('--kind=ribbon', '--items=1001', '--fpr=1%');
  assertRow(table.blocked, open, 'blocked');
  assertRow(table.ribbon, sealed, 'ribbon');
  assert.equal(table.blocked.items.value, open.items);
});

test('values of a map', async (t) => {
  const { page } = await visitSite(t, 'plan', '#items=1M&fpr=100%&value-bits=3&kind=map');
  const [plan] = planned('--kind=map', '--items=1M', '--fpr=100%', '--value-bits=3');
  assertRow((await tableOf(page)).map, plan, 'map');
});

test('distinct sketches are what `tamis plan --kind distinct` prints', async (t) => {
  const { page } = await visitSite(t, 'plan');
  for (const [fragment, ...args] of [['error=1%', '--error=1%'], ['error=0.2', '--error=0.2'],
    ['error=1e-4', '--error=1e-4'], ['memory=4KiB', '--bytes=4KiB'], ['memory=1G', '--bytes=1G']]) {
    await setFragment(page, `#${fragment}`);
    const [plan] = planned('--kind=distinct', ...args);
    const { bytes, error, m } = (await tableOf(page, 'sketches')).distinct;
    assert.deepEqual([bytes.value, m.value], [plan.bytes, String(plan.m)], fragment);
    assert.ok(close(Number(error.value), plan.error), fragment);
  }
});

test('sketches that count have the sizes of `tamis count`', async (t) => {
  const { page } = await visitSite(t, 'plan');
  for (const [fragment, kinds, ...args] of [
    ['#kind=tally', ['tally', 'signed-tally', 'top', 'count-min', 'count-sketch']],
    ['#memory=64KiB', ['tally', 'signed-tally', 'count-min', 'count-sketch'], '--bytes=64KiB'],
    ['#count-error=0.1%', ['count-min'], '--error=0.1%'],
    ['#count-error=1%&delta=0.1%', ['count-min'], '--error=1%', '--delta=0.1%'],
  ]) {
    await setFragment(page, fragment);
    const table = await tableOf(page, 'sketches');
    for (const kind of kinds) {
      const image = native(['count', '--kind', kind, ...args, '-o', '-'], 'ann\n');
      const info = JSON.parse(native(['info', '--json', '-'], image));
      assert.deepEqual([table[kind].bytes.value, table[kind].m.value],
        [String(info.bytes), String(info.m)], `${kind} ${fragment}`);
      if (info.error > 0) assert.ok(close(Number(table[kind].error.value), info.error), kind);
    }
  }
});

const fieldsOf = (page) => page.evaluate(() => Object.fromEntries(
  Array.from(document.querySelectorAll('#wanted input, #sketch-wanted input'))
    .filter((it) => it.value !== '').map((it) => [it.id, it.value])));
const hash = (page) => page.evaluate(() => location.hash);
const chosen = (page) => page.locator('input[name=kind]:checked').evaluateAll((all) =>
  all.map((it) => it.value));

test('the address is the state: there, back, and escaped or not', async (t) => {
  const { page, open, wrong } = await visitSite(t, 'plan', '#items=5M&fpr=1%');
  assert.deepEqual(await fieldsOf(page), { items: '5M', fpr: '1%' });
  assert.deepEqual(await chosen(page), ['blocked']);
  assert.equal(await hash(page), '#items=5M&fpr=1%');
  for (const [given, fields, kind] of [
    ['#items=5M&fpr=1%25', { items: '5M', fpr: '1%' }, 'blocked'],
    ['#fpr=1%25&items=5%4D&kind=ribbon', { items: '5M', fpr: '1%' }, 'ribbon'],
    ['#?items=1e6&fpr=1/1000', { items: '1e6', fpr: '1/1000' }, 'blocked'],
    ['#ITEMS=2M&bytes=8MiB&kind=blocked-compact', { items: '2M', bytes: '8MiB' },
      'blocked-compact'],
    ['#items=1&items=7&fpr=1%', { items: '7', fpr: '1%' }, 'blocked'],
    ['#kind=distinct&error=2%&count-error=1e-4&delta=1%&memory=1M',
      { error: '2%', 'count-error': '1e-4', delta: '1%', memory: '1M' }, 'distinct'],
    ['#items=9&fpr=0.5&headroom=10%&value-bits=4&never-items=3&generations=9&counter-bits=16',
      { items: '9', fpr: '0.5', headroom: '10%', 'value-bits': '4', 'never-items': '3',
        generations: '9', 'counter-bits': '16' }, 'blocked'],
  ]) {
    await open(given);
    assert.deepEqual(await fieldsOf(page), fields, given);
    assert.deepEqual(await chosen(page), [kind]);
    assert.equal(await page.locator('#problem').isHidden(), true, given);
    // Once more through the address that the page has written.
    const before = await tableOf(page), written = await hash(page);
    await open('#items=3&fpr=3%');
    await open(written);
    assert.deepEqual(await fieldsOf(page), fields, written);
    assert.deepEqual(await tableOf(page), before);
    assert.equal(await hash(page), written);
  }
  assert.deepEqual(wrong, []);
});

test('typing replaces the address; links make entries, and Back and Forward follow', async (t) => {
  const { page } = await visitSite(t, 'plan');
  const length = await page.evaluate(() => history.length);
  await page.fill('#items', '7M');
  await page.fill('#fpr', '0.1%');
  await page.check('#kind-cuckoo');
  assert.equal(await hash(page), '#items=7M&fpr=0.1%&kind=cuckoo');
  assert.equal(await page.evaluate(() => history.length), length);
  await page.getByRole('link', { name: '1 % in 2 MiB' }).click();
  await page.waitForFunction(() => document.getElementById('bytes').value === '2MiB');
  assert.deepEqual(await fieldsOf(page), { fpr: '1%', bytes: '2MiB' });
  await page.goBack();
  await page.waitForFunction(() => document.getElementById('items').value === '7M');
  assert.deepEqual(await chosen(page), ['cuckoo']);
  await page.goForward();
  await page.waitForFunction(() => document.getElementById('bytes').value === '2MiB');
  await page.fill('#fpr', '');
  await page.fill('#bytes', '');
  assert.equal(await hash(page), '');
});

test('a text that is not a number is an error with a name; stale numbers go', async (t) => {
  const { page, wrong } = await visitSite(t, 'plan');
  for (const [id, value, says] of [
    ['items', 'many', /Items: “many” is not a whole number/], ['items', '0', /“0”/],
    ['items', '-5', /“-5”/], ['items', '1.5', /“1\.5”/], ['items', '18446744073709551616', /“1844/],
    ['items', 'NaN', /“NaN”/], ['items', 'Infinity', /“Infinity”/], ['items', '0x10', /“0x10”/],
    ['items', '5X', /“5X”/], ['items', '9'.repeat(5000), /“9{30}…”/],
    ['fpr', '0', /False-positive rate: “0” is not a rate between 0 and 1/],
    ['fpr', '101%', /“101%”/],
    ['fpr', '1e-400', /“1e-400”/], ['fpr', '50', /“50”/], ['fpr', '1//2', /“1\/\/2”/],
    ['bytes', '2 MiB', /Bytes: “2 MiB” is not a size/], ['headroom', '50', /Headroom: “50”/],
    ['generations', 'x', /Generations: “x”/],
  ]) {
    await page.fill('#items', '1M');
    await page.fill('#fpr', '1%');
    await page.fill('#bytes', '');
    if (['headroom', 'generations'].includes(id))
      await page.locator('#more').evaluate((it) => { it.open = true; });
    await page.fill(`#${id}`, value);
    assert.match(await page.locator('#problem').textContent(), says);
    assert.equal(await page.locator(`#${id}`).getAttribute('aria-invalid'), 'true');
    for (const cells of Object.values(await tableOf(page)))
      assert.deepEqual([cells.bytes.value, cells.bytes.text], ['', '–']);
    assert.equal(await page.locator('.lines').isHidden(), true);
    await page.fill(`#${id}`, '');
  }
  await page.fill('#items', '1M');
  await page.fill('#fpr', '1%');
  assert.equal(await page.locator('#problem').isHidden(), true);
  assert.equal(await page.locator('#items').getAttribute('aria-invalid'), 'false');
  // A plan that nothing meets is refused with the words of the command.
  await page.fill('#items', '1e15');
  await page.fill('#fpr', '1e-9');
  assert.match(await page.locator('#refused').textContent(),
    /There is no such plan: no shape of up to 2\^52 bits does that/);
  await page.fill('#fpr', '');
  assert.match(await page.locator('#refused').textContent(), /needs two of: items, fpr, bytes/);
  assert.deepEqual(wrong, []);
});

test('hostile addresses are texts, and are reported', async (t) => {
  const { page, open, wrong } = await visitSite(t, 'plan');
  for (const [fragment, says] of [
    ['#items=<script>document.title=1</script>&fpr=1%', /Items: “<script>document\.title=1<\/sc/],
    ['#items=%3Cimg%20src=x%20onerror=alert(1)%3E', /“<img src=x onerror=alert\(1\)>”/],
    ['#kind=<b>x', /kind that does not exist: “<b>x”/], ['#kind=__proto__', /“__proto__”/],
    ['#__proto__=1', /unknown setting: “__proto__”/], ['#constructor=1', /“constructor”/],
    ['#toString=1', /“tostring”/], ['#items=%FF%FE', /Items: “%FF%FE”/],
    ['#items=NaN&fpr=NaN&bytes=NaN', /“NaN”.*“NaN”.*“NaN”/],
    [`#items=${'1'.repeat(60000)}`, /Items: “1{30}…”/], ['#nothing', /no settings: “#nothing”/],
    [`#${'a=1&'.repeat(20000)}`, /unknown setting: “a”/],
    ['#items=1M&fpr=1%&theme=dark', /unknown setting: “theme”/],
    ['#items=１&fpr=1%', /“１”/], ['#items=1%00M', /“1\u0000M”|“1M”/],
  ]) {
    await open(fragment);
    assert.match(await page.locator('#problem').textContent(), says, fragment.slice(0, 60));
    assert.equal(await page.locator('#problem').isVisible(), true);
    assert.equal(await page.title(), 'Planner · Tamis');
    assert.equal(await page.locator('main script, main img, main b').count(), 0);
  }
  await open('#value-bits=4294967304&generations=4294967300&counter-bits=4294967300&items=9' +
    '&fpr=1%');
  const table = await tableOf(page);
  for (const kind of ['map', 'window', 'counting']) // not the lower 32 bits of these numbers
    assert.equal(table[kind].bytes.text, '–', kind);
  await open('#items=1e15&fpr=1e-18');
  await open('#items=18446744073709551615&bytes=18446744073709551615');
  assert.deepEqual(wrong, []);
});

test('the plot: at most six series with direct labels, live', async (t) => {
  const { page } = await visitSite(t, 'plan', '#items=1M&fpr=1%&kind=counting');
  const curves = () => page.locator('#plot path.curve').count();
  assert.equal(await curves(), 6);
  assert.equal(await page.locator('#plot text.name').count(), 6);
  const names = await page.locator('#plot text.name').allTextContents();
  assert.deepEqual(names.sort(), ['blocked', 'bloom', 'counting', 'cuckoo', 'lower bound',
    'ribbon']);
  const at = () => page.locator('#plot circle.here').getAttribute('cx');
  const before = await at();
  await page.fill('#fpr', '0.01%');
  assert.ok(Number(await at()) > Number(before));
  await page.check('#kind-growing'); // which has no bound
  assert.equal(await curves(), 5);
  await page.check('#kind-distinct');
  assert.ok(await curves() <= 6);
  assert.match(await page.locator('#plot svg').getAttribute('aria-label'),
    /^Bits per item .* for 1,000,000 items: blocked ends at/);
});

test('lines are copied', async (t) => {
  const { page, context } = await visitSite(t, 'plan');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('[data-copy=shell]');
  await page.waitForFunction(() =>
    document.querySelector('[data-copy=shell]').textContent === 'Copied');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
    await page.locator('[data-lang=shell]').textContent());
  await shot(page, 'site-plan');
});
