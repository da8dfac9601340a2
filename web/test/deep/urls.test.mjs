// The URL rules of the command and of the package against Chromium's own parser. What Chromium
// makes of a spelling is listed, and then the spelling must be listed as well, or be refused. It
// must never be clean. tests/web/urls.sh runs this.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { visitor } from '../browser/chromium.mjs';
import { Guard, Tamis, command, random } from '../help.mjs';
import { speller } from './spellings.mjs';

const SPELLINGS = 205000, AT_ONCE = 20000, SHOWN = 20;

const guard = await Guard.load({ filter: (await Tamis.create({ items: 1, fpr: 0.01 })).save() });

function* pieces(list) {
  for (let i = 0; i < list.length; i += AT_ONCE) yield list.slice(i, i + AT_ONCE);
}

async function page(t) {
  const context = await visitor(t);
  return context.newPage();
}

// Returns Chromium's form of each spelling, or null where it is not a URL.
async function visited(there, spellings) {
  const all = [];
  // As one text, because playwright takes long over many values.
  const parse = (list) => JSON.stringify(JSON.parse(list).map((s) => URL.parse(s)?.href ?? null));
  for (const some of pieces(spellings))
    all.push(...JSON.parse(await there.evaluate(parse, JSON.stringify(some))));
  return all;
}

function tamis(args, input, wanted) {
  const { status, stdout, stderr, error } = spawnSync(command, args,
    { input, maxBuffer: 1 << 29, encoding: 'utf8' });
  if (error) throw error;
  assert.ok(wanted.includes(status), `tamis ${args.join(' ')}: ${status} ${stderr}`);
  return stdout;
}

// Returns the answers of `tamis guard check` about lines.
function* answers(directory, lines) {
  for (const some of pieces(lines)) {
    const said = tamis(['guard', 'check', directory, '--json'], `${some.join('\n')}\n`, [0, 1, 2])
      .trimEnd().split('\n');
    assert.equal(said.length, some.length);
    yield* said.map((line) => JSON.parse(line));
  }
}

// Reports whether an expression belongs to a parent of the host, which is allowed if the name may
// be one that cannot be converted.
function isParent(expression, expressions, spelling) {
  const host = (text) => text?.split('/')[0];
  return expressions.includes(expression) && host(expression) !== host(expressions[0]) &&
    /[^\x00-\x7f]|%[c-f]/i.test(spelling);
}

// Judges pairs of a spelling and Chromium's form of it, { spelling, href }. Counts those listed as
// Chromium's form, those listed only through a parent of a name that cannot be converted, those
// refused by the command and those refused by the package.
function judge(t, pairs) {
  const directory = mkdtempSync(join(tmpdir(), 'tamis-urls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const list = join(directory, 'list'), version = join(directory, 'd');
  // The first expression of Chromium's form is what a browser's guard asks for. Hosts that no list
  // may have, like a*b, are left out.
  const asked = pairs.map(({ spelling, href }) => {
    const { url, reason, expressions } = guard.look(href);
    return { spelling, href, url, reason, expressions: expressions.map((e) => e.expression) };
  }).filter(({ url }) => url && /^\w+:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])\//.test(url));
  // Lists have no backslashes, which Chromium leaves in a query.
  writeFileSync(list, [...new Set(asked.map((a) => a.href.replaceAll('\\', '%5C')))].join('\n'));
  tamis(['guard', 'build', '-q', '--max-bytes', '20000000', version, `x=${list}`], '', [0]);
  const counts = { asked: asked.length, listed: 0, parent: 0, refused: 0, package: 0 };
  const wrong = [];
  // Lines have no line ends inside, which browsers remove like tabs.
  const lines = asked.map(({ spelling }) => spelling.replaceAll('\n', '\t'));
  let i = 0;
  for (const said of answers(version, lines)) {
    const { spelling, href, url, expressions } = asked[i++];
    const about = JSON.stringify([spelling, href]);
    if (said.verdict === 'no URL') counts.refused++;
    else if (said.expression === expressions[0].slice(0, 255)) counts.listed++;
    else if (isParent(said.expression, expressions, spelling)) counts.parent++;
    else wrong.push(`${about}: ${said.verdict} ${said.expression ?? ''}`);
    const looked = guard.look(spelling);
    if (looked.reason) counts.package++;
    else if (looked.url.replace(/^\w+/, '') !== url.replace(/^\w+/, ''))
      wrong.push(`the package: ${about}: ${looked.url}`);
  }
  t.diagnostic(JSON.stringify(counts));
  assert.equal(i, asked.length);
  assert.equal(wrong.length, 0, [`${wrong.length} wrong`, ...wrong.slice(0, SHOWN)].join('\n'));
  return counts;
}

// Places of a code point, here a star, in a host. What is not allowed inside a label nor alone is
// not allowed anywhere.
const PLACES = ['http://ev*il.example/', 'http://*.evil.example/', 'http://*evil.example/',
  'http://evil*.example/', 'http://evil.example*/'];

// Runs in the page: tries the code points from one to another in all places. It returns JSON with
// triples of code point, number of the place, and Chromium's form.
function tryCodes([from, to, places]) {
  const found = [];
  for (let code = from; code < to; code++) {
    const letter = String.fromCodePoint(code);
    const at = (place) => URL.parse(places[place].replace('*', () => letter))?.href;
    const first = [at(0), at(1)];
    if (!first[0] && !first[1]) continue;
    places.forEach((_, place) => {
      const href = place < 2 ? first[place] : at(place);
      if (href) found.push([code, place, href]);
    });
  }
  return JSON.stringify(found);
}

test('every code point, in five places of a host', async (t) => {
  const there = await page(t), pairs = [];
  for (let from = 0; from < 0x110000; from += 0x8000) {
    const found = await there.evaluate(tryCodes, [from, from + 0x8000, PLACES]);
    for (const [code, place, href] of JSON.parse(found))
      pairs.push({ spelling: PLACES[place].replace('*', () => String.fromCodePoint(code)), href });
  }
  assert.ok(pairs.length > 500000, `only ${pairs.length}`);
  const { asked, listed } = judge(t, pairs);
  assert.ok(listed > 0.7 * asked);
});

// A list leaves such URLs out, because its author means everything below.
const isPattern = (href) => /\/(\*|%(25)*2a)([?#]|$)/i.test(href);

test('generated spellings', async (t) => {
  const there = await page(t), pairs = [], spell = speller(random(20));
  while (pairs.length < SPELLINGS) {
    const spellings = Array.from({ length: AT_ONCE }, spell);
    const hrefs = await visited(there, spellings);
    spellings.forEach((spelling, i) => {
      if (hrefs[i] && !isPattern(hrefs[i])) pairs.push({ spelling, href: hrefs[i] });
    });
  }
  const { asked, listed } = judge(t, pairs);
  assert.ok(asked >= 200000, `only ${asked}`);
  assert.ok(listed > 0.6 * asked);
});
