// The lines to paste of the site's planner: extracted from the page for every kind, and run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { build, command, room, source } from '../help.mjs';
import { folder, setFragment, visitSite } from './site.mjs';

const python = join(build, 'python/venv/bin/python3');
const extension = join(build, 'sql/tamis_sqlite');
// With the kinds that have no such plan: growing has a rate, and exact two numbers of keys.
const INPUTS = [['items=100k&fpr=1%', []],
  ['items=100k&bytes=300kB&value-bits=5&never-items=10&memory=1M', ['growing']],
  ['fpr=0.1%&bytes=2MiB&generations=6&counter-bits=8&error=2%&count-error=1e-3', ['exact']]];

function run(program, args, cwd, input) {
  const { status, stdout, stderr, error } = spawnSync(program, args,
    { cwd, input, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  assert.ok(!error && status === 0,
    `${program} ${args.join(' ')}: ${error ?? stderr}\n${input ?? ''}`);
  return stdout;
}

// The files that the lines name: ann and others are in the list.
function files(dir) {
  mkdirSync(dir, { recursive: true });
  const names = ['ann', 'bob', ...Array.from({ length: 50 }, (_, i) => `name ${i}`)];
  const put = (name, lines) =>
    writeFileSync(join(dir, name), lines.map((it) => `${it}\n`).join(''));
  put('list.txt', names);
  put('queries.txt', ['ann', 'bob', 'stranger']);
  put('gone.txt', ['bob']);
  put('more.txt', ['cid']);
  put('never.txt', ['eve']);
  put('values.tsv', names.map((name, i) => `${name}\t${i % 8}`));
}

// Each kind with the lines of its four languages and the bytes that the planner states.
async function linesOf(page, refused) {
  const all = [];
  for (const kind of await page.locator('input[name=kind]').evaluateAll((boxes) =>
    boxes.map((box) => box.value))) {
    await page.check(`#kind-${kind}`);
    assert.equal(await page.locator('#refused').isVisible(), refused.includes(kind), kind);
    if (refused.includes(kind)) continue;
    const lines = await page.locator('[data-lang]').evaluateAll((codes) =>
      Object.fromEntries(codes.map((code) => [code.dataset.lang, code.textContent])));
    const bytes = await page.locator(`tr[data-kind=${kind}] td[data-field=bytes]`)
      .getAttribute('data-value');
    all.push({ kind, lines, bytes: Number(bytes) });
  }
  return all;
}

const SEALED = ['ribbon', 'fuse', 'map', 'exact'];
const COUNTS = ['tally', 'signed-tally', 'count-min', 'count-sketch'];
const SKETCHES = [...COUNTS, 'top', 'distinct'];

function checkShell({ kind, lines, bytes }, dir, byRate) {
  const out = run('sh', ['-e'], dir, `PATH=${join(command, '..')}:$PATH\n${lines.shell}`);
  if (kind === 'distinct') return assert.equal(out, '52\n');
  if (kind === 'top') return assert.match(out, /^ +1 +\S+ +(ann|bob|name \d+)$/m);
  if (COUNTS.includes(kind)) return assert.match(out, /ann/);
  if (kind === 'private') return undefined; // its answers are random
  assert.match(out, /^ann/m, kind);
  // A filter of the command has the size that the page states, unless its keys are counted.
  if (!SEALED.includes(kind) && kind !== 'growing' && byRate)
    assert.equal(statSync(join(dir, 'set.tamis')).size, bytes, kind);
  return undefined;
}

// The fields of the C program, as options of `tamis plan`, have the size that the page states. It
// can be a little less if the rate was computed: then the lines have it rounded up.
function checkPlan({ kind, lines, bytes }) {
  if (kind === 'growing' || SKETCHES.includes(kind)) return;
  const names = { items: 'items', fpr: 'fpr', bytes: 'bytes', k: 'k', generations: 'generations',
    excluded: 'never-items', cell_bits: kind === 'map' ? 'value-bits' : 'counter-bits' };
  const args = Array.from(lines.c.matchAll(/plan\.(\w+) = (\w[\w.-]*);/g))
    .filter(([, name]) => name in names).map(([, name, value]) => `--${names[name]}=${value}`);
  const own = { 'blocked-compact': ['--kind=blocked', '--compact'], private: ['--kind=bloom'],
    'bloom-transfer': ['--for-transfer'] }[kind] ?? [`--kind=${kind}`];
  const [plan] = JSON.parse(run(command, ['plan', '--json', ...own, ...args], '.'));
  assert.ok(plan.bytes <= bytes && plan.bytes >= 0.95 * bytes,
    `${kind}: ${plan.bytes}, not ${bytes}: ${args.join(' ')}`);
}

function checkC({ kind, lines }, dir) {
  writeFileSync(join(dir, 'main.c'), lines.c);
  run(process.env.CC ?? 'cc', ['-std=c11', '-Wall', '-Wextra', '-Werror', '-I',
    join(source, 'include'), 'main.c', join(build, 'libtamis.a'), '-lm', '-pthread', '-o', 'main'],
  dir);
  const out = run('./main', [], dir);
  const says = { map: /^1$/m, distinct: /^1 \(1 to 1\)$/m, top: /^1 ann$/m, private: /^$/ };
  assert.match(out, says[kind] ?? /^(maybe|between)/m, kind);
}

function checkSql({ kind, lines }, dir) {
  const table = 'CREATE TABLE people(name TEXT, team INT);\n' +
    "INSERT INTO people VALUES ('ann', 1), ('bob', 0), ('cid', 1);\n";
  const out = run('sqlite3', ['-bail', '-cmd', `.load ${extension}`, ':memory:'], dir,
    table + lines.sql).trim();
  if (kind === 'top') assert.match(out, /"ann"/);
  else if (kind === 'private') assert.match(out, /^[01]$/);
  else assert.equal(out, kind === 'distinct' ? '3' : '1', `${kind}: ${lines.sql}`);
}

const needs = [python, `${extension}.so`, join(build, 'libtamis.a')].find((it) => !existsSync(it));

for (const [i, [input, refused]] of INPUTS.entries()) {
  test(`the lines of every kind run: ${input}`, { skip: needs && `no ${needs}` }, async (t) => {
    const { page, wrong } = await visitSite(t, 'plan', `#${input}`), root = room(t);
    await setFragment(page, `#${input}`);
    const all = await linesOf(page, refused);
    assert.equal(all.length, 21 - refused.length);
    for (const one of all) {
      const dir = join(root, one.kind);
      files(dir);
      checkShell(one, dir, i === 0);
      checkPlan(one);
      checkC(one, dir);
      run(python, ['-'], dir, one.lines.python);
      checkSql(one, dir);
    }
    assert.deepEqual(wrong, []);
  });
}

test('the lines of the questions’ results run', async (t) => {
  const { OUTCOMES } = await import(join(folder, 'which-kind/questions.mjs')), root = room(t);
  for (const [kind, [, line]] of Object.entries(OUTCOMES)) {
    const dir = join(root, kind);
    files(dir);
    run('sh', ['-e'], dir, `PATH=${join(command, '..')}:$PATH\n${line}\n`);
    // A filter is of the kind that was recommended.
    const made = join(dir, kind === 'private' ? 'public.tamis' : 'set.tamis');
    if (!existsSync(made)) continue;
    const info = JSON.parse(run(command, ['info', '--json', made], dir));
    assert.equal(info.kind, kind.replace(/-(compact|transfer)$/, ''));
  }
});

test('the lines state the numbers that were given', async (t) => {
  const { page } = await visitSite(t, 'plan', '#items=5M&fpr=0.1%&headroom=20%&kind=cuckoo');
  const lines = async () => Object.fromEntries(await page.locator('[data-lang]')
    .evaluateAll((codes) => codes.map((code) => [code.dataset.lang, code.textContent])));
  const { shell, c, python: py, sql } = await lines();
  assert.match(shell,
    /^tamis build --kind cuckoo --items 6M --fpr 0\.1% -o set\.tamis list\.txt$/m);
  assert.match(c, /plan\.items = 6000000;\n {4}plan\.fpr = 0\.001;/);
  assert.match(py, /tamis\.Filter\(items=6000000, fpr=0\.001, kind="cuckoo"\)/);
  assert.match(sql, /tamis_filter_agg\(name, 6000000, 0\.001, 'cuckoo'\)/);
  await setFragment(page, '#items=5M&bytes=8MiB&kind=bloom');
  assert.match((await lines()).shell, /--kind bloom --items 5M --bytes 8388608 /);
});
