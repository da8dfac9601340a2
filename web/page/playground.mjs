// A filter small enough to look at: words are added and tested, and their bits light up.
import { Tamis, c, put, room } from './core.mjs';
import { $, count, el, plural, rate } from './dom.mjs';

// The ranges of the sliders; blocked always has 8 probes.
const KINDS = {
  bloom: { m: [8, 256, 8], usual: 64, unit: 'bits', columns: () => 16 },
  partitioned: { m: [4, 32, 1], usual: 16, unit: 'bits in each row', columns: (m) => m },
  blocked: { m: [512, 2048, 512], usual: 512, unit: 'bits', columns: () => 32, k: 8 },
  counting: { m: [8, 256, 8], usual: 64, unit: 'counters', columns: () => 16 },
};
// With this seed the library's hash gives the positions of the lecture.
const LECTURE = {
  kind: 'partitioned', k: 3, m: 5, seed: 595483,
  words: ['thisisavirus.com', 'totallynotsuspicious.com'], ask: 'verynormalsite.com',
};
const TRIALS = 10000, MOST_WORDS = 500;
const MORE = ('apple pear plum quince cherry fig lemon olive mango grape melon peach almond ' +
  'walnut hazel chestnut oak elm ash birch maple willow poplar cedar pine larch ' +
  'spruce yew heron stork crane swift swallow robin wren lark finch thrush owl').split(' ');

let shape = { kind: 'bloom', k: 3, m: 64, seed: 0 };
let filter, words = [], listed = [], cells = [], drawn = '', generation = 0;

function positions(word) {
  const n = c.cellsOf(filter.handle, room, put(word));
  return Array.from(new Float64Array(c.memory.buffer, c.cellsAt(), n));
}

// --- The drawing ---------------------------------------------------------------------------------

const isRows = () => shape.kind === 'partitioned';
const size = () => (isRows() ? shape.k * shape.m : shape.m);

// A table, so that screen readers can read it by row and column.
function drawEmpty() {
  const columns = KINDS[shape.kind].columns(shape.m), n = size(), rows = [];
  cells = Array.from({ length: n }, () => el('td', {}, '0'));
  for (let at = 0; at < n; at += columns) {
    const name = isRows() ? `h${at / columns + 1}` : String(at);
    rows.push(el('tr', {}, el('th', { scope: 'row' }, name), ...cells.slice(at, at + columns)));
  }
  const heads = Array.from({ length: columns }, (_, i) => el('th', { scope: 'col' }, String(i)));
  $('bits').replaceChildren(el('caption', { class: 'visually-hidden' }),
    el('thead', {}, el('tr', {}, el('td', {}), ...heads)), el('tbody', {}, ...rows));
  $('bits').className = `bits columns-${columns > 16 ? 'many' : 'few'} ${shape.kind}`;
  $('bits').style.setProperty('--columns', columns);
}

function draw(touched = []) {
  const now = `${shape.kind} ${shape.k} ${shape.m}`;
  if (now !== drawn) drawEmpty();
  drawn = now;
  cells.forEach((cell, i) => {
    const value = c.cell(filter.handle, i), order = touched.indexOf(i);
    if (cell.textContent !== String(value)) cell.textContent = value;
    cell.className = `${value > 0 ? 'on' : 'off'}${order >= 0 ? ' probe' : ''}`;
    if (order >= 0) cell.style.setProperty('--order', order);
  });
  const what = shape.kind === 'counting' ? 'counters' : 'bits';
  const on = cells.filter((cell) => cell.classList.contains('on')).length;
  const extent = isRows() ? `${plural(shape.k, 'row')} of ${shape.m} bits` : `${shape.m} ${what}`;
  $('bits').caption.textContent = `${shape.kind}: ${extent}. ` +
    `${count(on)} of ${count(cells.length)} are ${shape.kind === 'counting' ? 'in use' : '1'}.`;
  $('key-on').textContent = shape.kind === 'counting' ? 'more' : '1';
  $('p-fill-name').textContent = shape.kind === 'counting' ? 'Counters in use' : 'Bits set';
  $('p-fill').textContent = `${count(on)} of ${count(cells.length)}`;
}

function measure() {
  let maybes = 0;
  for (let i = 0; i < TRIALS; i++) maybes += filter.has(`never added ${i}`) ? 1 : 0;
  return maybes > 0 ? rate(maybes / TRIALS) : `none of ${count(TRIALS)}`;
}

async function predicted(n) {
  if (n === 0) return 0;
  try {
    return (await Tamis.plan({ kind: shape.kind, k: shape.k, m: shape.m, items: n })).fpr;
  } catch {
    return 1; // so full that no plan accepts it
  }
}

// Updates the list only if it has changed, because one of the words may have the focus.
function showWords() {
  const now = [...new Set(words)];
  if (now.length === listed.length && now.every((word, i) => word === listed[i])) return;
  listed = now;
  $('words').replaceChildren(...now.map((word) => el('li', {}, el('button', {
    type: 'button', class: 'small', 'aria-label': `Test ${word}`, title: 'Test this word',
    click: () => test(word),
  }, word))));
}

async function tell(text, touched) {
  const mine = ++generation, distinct = new Set(words).size;
  draw(touched);
  $('step').textContent = text;
  $('p-words').textContent = count(words.length);
  $('p-now').textContent = rate(filter.info().fprNow);
  $('p-measured').textContent = words.length > 0 ? measure() : '0 %';
  showWords();
  const p = await predicted(distinct);
  if (mine === generation) $('p-predicted').textContent = rate(p);
}

// --- Words ---------------------------------------------------------------------------------------

// The positions as `tamis explain` prints them: within each row if there are rows.
const places = (touched) =>
  `(${touched.map((cell, row) => (isRows() ? cell - row * shape.m : cell)).join(', ')})`;
const what = () => (shape.kind === 'counting' ? 'counter' : 'bit');

function add(word) {
  if (words.length >= MOST_WORDS)
    return tell(`The filter has ${MOST_WORDS} words, which is the limit here.`);
  const touched = positions(word), all = new Set(touched);
  const fresh = [...all].filter((cell) => c.cell(filter.handle, cell) === 0).length;
  filter.add(word);
  words.push(word);
  const changed = shape.kind === 'counting' ? 'Each of these counters is one higher.'
    : fresh === 0 ? 'All of these bits were 1 already.'
      : fresh === all.size ? 'These bits are 1 now.' : `${fresh} of these bits became 1.`;
  return tell(`Added ${word}: h = ${places(touched)}. ${changed}`, touched);
}

function test(word) {
  const touched = positions(word), added = words.includes(word);
  const question = `Is ${word} a member? h = ${places(touched)}.`;
  if (!filter.has(word)) return tell(`${question} A ${what()} is 0: certainly not.`, touched);
  const why = added ? 'It was added.'
    : 'But it was never added: other words set those bits. This is a false positive.';
  return tell(`${question} All ${touched.length} ${what()}s are set: maybe. ${why}`, touched);
}

function remove(word) {
  const touched = positions(word), at = words.indexOf(word);
  if (!filter.has(word))
    return tell(`${word} is certainly not a member, so there is nothing to remove.`, touched);
  if (at < 0)
    return tell(`${word} was never added, although it appears to be a member. ` +
      'Removing it would damage other words.', touched);
  filter.remove(word);
  words.splice(at, 1);
  return tell(`Removed ${word}: h = ${places(touched)}. Each of these counters is one lower.`,
    touched);
}

// Makes the filter of this shape with the same words.
async function make(text) {
  const wanted = shape, next = await Tamis.create({ ...wanted, items: 1 });
  if (wanted !== shape) return next.close(); // the slider has moved on
  filter?.close();
  filter = next;
  filter.addMany(words);
  return tell(text);
}

// --- Controls ------------------------------------------------------------------------------------

function showShape() {
  const { m: [least, most, steps], unit, k } = KINDS[shape.kind];
  Object.assign($('m'), { min: Math.min(least, shape.m), max: most, step: steps, value: shape.m });
  Object.assign($('k'), { value: shape.k, disabled: k !== undefined });
  $('kind').value = shape.kind;
  $('seed').value = shape.seed;
  $('k-value').textContent = k === undefined ? shape.k : `${k}, always`;
  $('m-value').textContent = `${count(shape.m)} ${unit}`;
  $('k').setAttribute('aria-valuetext', `${shape.k} probes`);
  $('m').setAttribute('aria-valuetext', `${shape.m} ${unit}`);
  $('remove').hidden = shape.kind !== 'counting';
}

function reshape(change, text) {
  shape = { ...shape, ...change };
  shape.k = KINDS[shape.kind].k ?? shape.k;
  showShape();
  return make(text ?? `The same ${plural(words.length, 'word')} in another filter.`);
}

function changeKind(kind) {
  const k = shape.kind === 'blocked' ? 3 : shape.k;
  return reshape({ kind, k, m: KINDS[kind].usual });
}

async function lecture() {
  const { words: all, ask, ...same } = LECTURE;
  words = [];
  await reshape(same, 'The filter is empty.');
  for (const word of all) add(word);
  $('word').value = ask;
  await test(ask);
}

function withWord(verb) {
  const word = $('word').value;
  if (word === '') {
    $('step').textContent = 'Type a word first.';
    $('word').focus();
    return;
  }
  verb(word);
  if (verb === add) $('word').value = '';
}

function addMore() {
  const fresh = [];
  for (let i = 0; fresh.length < 10; i++) {
    const word = MORE[i] ?? `word ${i}`;
    if (!words.includes(word)) fresh.push(word);
  }
  const some = fresh.slice(0, MOST_WORDS - words.length);
  filter.addMany(some);
  words.push(...some);
  tell(`Added ${plural(some.length, 'word')}.`);
}

export async function startPlayground() {
  $('play').addEventListener('submit', (event) => {
    event.preventDefault();
    withWord(add);
  });
  $('test').addEventListener('click', () => withWord(test));
  $('remove').addEventListener('click', () => withWord(remove));
  $('more').addEventListener('click', addMore);
  $('lecture').addEventListener('click', lecture);
  $('empty').addEventListener('click', () => {
    words = [];
    make('The filter is empty.');
  });
  $('kind').addEventListener('change', () => changeKind($('kind').value));
  $('k').addEventListener('input', () => reshape({ k: Number($('k').value) }));
  $('m').addEventListener('input', () => reshape({ m: Number($('m').value) }));
  $('seed').addEventListener('change', () => {
    const seed = Number($('seed').value);
    reshape({ seed: Number.isSafeInteger(seed) && seed >= 0 ? seed : 0 });
  });
  showShape();
  await make('The filter is empty.');
}
