// The modules of the site's planner under Node, against the command: how numbers are read, and the
// plans of all kinds for many more inputs than the browser's tests have.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build, command, random, source } from './help.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tamis-site-'));
after(() => rmSync(folder, { recursive: true, force: true }));
execFileSync('sh', [join(source, 'site/apps/assemble.sh'), build, folder]);
const from = (name) => import(join(folder, name));
const core = await from('apps/core.mjs');
core.host.wasm = readFileSync(join(folder, 'apps/tamis.wasm'));
const { solveFor, start } = await from('apps/plans.mjs');
const { FILTERS } = await from('apps/kinds.mjs');
const { parseCount, parseRate, parseShare, short } = await from('apps/numbers.mjs');
const { readFragment, writeFragment } = await from('apps/address.mjs');
await start();

const plan = (args) => spawnSync(command, ['plan', '--json', ...args], { encoding: 'utf8' });

test('imports nothing but mathematics', async () => {
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(core.host.wasm));
  for (const { module, name } of imports)
    assert.ok(module === 'Math' && name in Math, `${module}.${name}`);
});

test('the module is at most as big as docs/BROWSER.md says', () => {
  const text = readFileSync(join(source, 'docs/BROWSER.md'), 'utf8');
  const most = 1000 * /with every kind, at most (\d+) KB gzipped/.exec(text)[1];
  const size = gzipSync(core.host.wasm, { level: 9 }).length;
  assert.ok(size <= most && size > 0.8 * most, `${size}`);
});

test('whole numbers are read as the command reads them', () => {
  // growing takes any number of items as its room at first, and prints it if it is small.
  const next = random(11), pieces = ['0', '1', '7', '25', '100', '.', 'e', 'E', '+', '-', 'k', 'M',
    'Ki', 'mib', 'B', 'b', ' ', 'x', 'G', '00'];
  const texts = ['1', '0', '00', '5M', '5m', '5Mi', '5MiB', '5mib', '5B', '5b', '1e6', '1E6',
    '1.5k',
    '1.5', '.5k', '1.', '1.k', '1e', '1e+3', '1e-3', '1000e-3', '1e400', '0x10',
    '18446744073709551615', '18446744073709551616', '18446744073709551615k', '1.8e19', '1.7e19',
    '99999999999999999999', '1T',
    '1Ti', '1P', '1kk', '1 k', ' 1', '1 ', '+1', '-1', 'k', '', 'NaN', 'Infinity', '1_000', '1,000',
    '1e5k', '123456789.5k', '4503599627370497', '0.0005M', '12345678901234567.0'];
  for (let i = 0; i < 300; i++)
    texts.push(Array.from({ length: 1 + next(4) }, () => pieces[next(pieces.length)]).join(''));
  let read = 0;
  for (const text of texts) {
    const { status, stdout, stderr } = plan(['--kind=bloom', `--bytes=${text}`, '--items=1']);
    const mine = parseCount(text), refused = /is not a whole number|requires a value/.test(stderr);
    assert.equal(mine === undefined, refused, `'${text}': ${stderr}`);
    if (mine === undefined) continue;
    read++;
    // The same number, written out, leads to the same plan or complaint.
    const again = plan(['--kind=bloom', `--bytes=${mine}`, '--items=1']);
    assert.deepEqual([again.status, again.stdout], [status, stdout], text);
  }
  assert.ok(read > 50, `${read}`);
});

test('rates and shares are read as the command reads them', () => {
  const rates = ['1%', '0.01', '1/100', '1e-2', '1 %', '%', '1%%', '100%', '100.0%', '1', '1.0',
    '0.999999', '99.99999%', '0', '0%', '1/0', '0/1', '-1%', '-1/-100', '+1%', ' 1%', '1% ',
    '1/ 100',
    '.5', '5.', '1e-300', '1e-400', '2', '1/3', '3/1', '1/3%', 'NaN', 'inf', '1/inf', '1e', '1e-2%',
    '1,5%', '1/1e9', ''];
  for (const text of rates) {
    const { stdout, stderr } = plan(['--kind=map', '--items=1000', `--fpr=${text}`]);
    const mine = parseRate(text, 1), refused = /--fpr: '/.test(stderr) ||
      /requires a value/.test(stderr);
    assert.equal(mine === undefined, refused, `'${text}': ${stderr}`);
    if (mine !== undefined && stdout !== '')
      assert.equal(stdout, plan(['--kind=map', '--items=1000', `--fpr=${mine}`]).stdout, text);
  }
  const shares = ['50%', '0.5', '2', '9.99', '10', '50', '200%', '0', '0%', '-1%', '+1', '.5',
    '1e6',
    '1e8%', '100000001%', '1e9%', '5 %', 'x', '', '1/2'];
  for (const text of shares) {
    const run = spawnSync(command, ['build', '-q', `--headroom=${text}`, '-o', '/dev/null/none'],
      { encoding: 'utf8', input: 'a\n' });
    assert.equal(parseShare(text) === undefined, /--headroom: '|requires a value/.test(run.stderr),
      `'${text}': ${run.stderr}`);
  }
});

test('numbers are written as short as the command reads them', () => {
  for (const n of [1n, 1000n, 1001n, 5000000n, 2n ** 52n, 10n ** 18n, 120n, 1000000000000n])
    assert.equal(parseCount(short(n)), n);
  assert.equal(short(5000000n), '5M');
});

const close = (a, b) => a === b || Math.abs(a - b) <= 1e-11 * Math.abs(b);

// Compares every kind with the command, also what it refuses. Returns how many plans there were.
function compareAll(input) {
  let plans = 0;
  const wanted = Object.fromEntries(Object.entries(input).map(([name, text]) =>
    [name, name === 'fpr' ? parseRate(text, 1) : parseCount(text)]));
  for (const kind of FILTERS) {
    const args = [...kind.command ?? ['--kind', kind.id], ...Object.entries(input)
      .filter(([name]) => ['items', 'fpr', 'bytes'].includes(name) || kind.needs?.includes(name))
      .map(([name, text]) => `--${name}=${text}`)];
    const { status, stdout, stderr } = plan(args), mine = solveFor(kind, wanted);
    const where = args.join(' ');
    if (status !== 0) {
      assert.equal(mine.refused, stderr.trim().replace('tamis: plan: ', ''), where);
      continue;
    }
    // Whole numbers may have 64 bits, so they stay texts.
    const [its] = JSON.parse(stdout.replace(/"(bytes|items|m|packed_bytes)": (\d+)/g,
      '"$1": "$2"'));
    assert.deepEqual([String(mine.bytes), String(mine.items), String(mine.m), mine.k],
      [its.bytes, its.items, its.m, its.k], where);
    assert.ok(close(mine.fpr, its.fpr) && close(mine.bitsPerItem, its.bits_per_item), where);
    assert.equal(mine.bound, its.bound ?? 'none', where);
    if (its.bound !== null)
      assert.ok(close(mine.boundBits, its.bound_bits) && close(mine.boundRatio, its.bound_ratio),
        where);
    if (its.packed_bytes) assert.equal(String(mine.packed), its.packed_bytes, where);
    plans++;
  }
  return plans;
}

test('plans are those of the command, for every kind and extreme inputs', () => {
  const items = ['1', '2', '12345', '5M', '1e12', '4503599627370496', '18446744073709551615'];
  const rates = ['50%', '1%', '1e-9', '1e-18', '1e-19', '100%'];
  const bytes = ['1', '200', '2MiB', '4294967296', '500T', '18446744073709551615'];
  let plans = 0;
  for (const i of items) for (const fpr of rates) plans += compareAll({ items: i, fpr });
  for (const i of items) for (const b of bytes) plans += compareAll({ items: i, bytes: b });
  for (const fpr of rates) for (const b of bytes) plans += compareAll({ fpr, bytes: b });
  plans += compareAll({ items: '1M', fpr: '1%', bytes: '2MiB' });
  plans += compareAll({ items: '1M', fpr: '1%', bytes: '1MB' });
  plans += compareAll({ items: '1M' }) + compareAll({});
  for (const more of [{ 'never-items': '1M' }, { 'never-items': '1', generations: '12' },
    { 'value-bits': '32', 'counter-bits': '8' }, { 'value-bits': '33', 'counter-bits': '7' },
    { generations: '1', 'value-bits': '4294967304' }, { generations: '4294967300' }])
    plans += compareAll({ items: '1M', fpr: '1%', ...more });
  assert.ok(plans > 600, `${plans}`);
});

test('fragments: read and written, whatever is in them', () => {
  const next = random(5), letters = Array.from('ab%&=#+ 25é\u{1f600}/<"');
  for (let i = 0; i < 2000; i++) {
    const value = Array.from({ length: next(8) }, () => letters[next(letters.length)]).join('');
    const fragment = writeFragment([['items', value], ['fpr', '1%']]);
    const state = readFragment(fragment);
    assert.equal(state.get('items') ?? '', value, fragment);
    assert.equal(state.get('fpr'), '1%', fragment);
    // As an address it stays the same.
    assert.equal(readFragment(new URL(`http://x/${fragment}`).hash).get('items') ?? '', value);
  }
});
