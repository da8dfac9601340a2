// What every kind takes at every rate, drawn from the library's own planner.
import { Tamis } from './core.mjs';
import { $, bytes, count, el, number, rate, svg } from './dom.mjs';
import { FIRST, LAST, cursor, curve, grid, names, scales } from './plot.mjs';

const KINDS = {
  bloom: 'the classic; merges',
  partitioned: 'the classic, in rows',
  blocked: 'sets that change; the fastest',
  counting: 'removing, with a guarantee',
  pair: 'removing, cheaply; can miss',
  growing: 'sets of unknown size',
  window: 'forgetting the oldest',
  cuckoo: 'removing, in little room',
  fuse: 'sets that never change; fast anywhere',
  ribbon: 'sets that never change; the smallest',
  exact: 'no false positive on keys you name',
};
const STEP = 0.25; // of the exponent

const BOUNDS = { bound: 'sealed bound', 'bound dynamic': 'dynamic bound' };

let items = 1e6, exponent = 2, curves, waiting = 0;
const hidden = new Set(), rows = new Map(), kept = new Map();

async function plan(kind, n, e) {
  try {
    return await Tamis.plan({ kind, items: n, fpr: 10 ** -e });
  } catch (error) {
    return { refused: error.message };
  }
}

// Computes all curves for this many items, once.
async function curvesFor(n) {
  if (kept.has(n)) return kept.get(n);
  const all = {};
  for (const kind of Object.keys(KINDS)) {
    all[kind] = [];
    for (let e = FIRST; e <= LAST; e += STEP) all[kind].push({ e, ...await plan(kind, n, e) });
  }
  kept.set(n, all);
  return all;
}

// --- The drawing ---------------------------------------------------------------------------------

// Returns the lower bound of kinds like this one, which has its rates exactly or nearly so. Above
// 10 % the bound of kinds that take keys one by one does not hold, and is left out.
function lowerBound(kind) {
  const dynamic = kind === 'bloom';
  return curves[kind].filter((p) => p.bound === (dynamic ? 'dynamic' : 'static'))
    .map((p) => [p.e, p.boundBits]);
}

function namesOf(scale, shown) {
  const ends = shown.map(([kind, points]) => [kind, points.filter((p) => !p.refused).at(-1)])
    .filter(([, last]) => last)
    .map(([kind, last]) => ({ name: `kind-${kind}`, label: kind, bits: last.bitsPerItem }));
  for (const [like, bound] of [['ribbon', 'bound'], ['bloom', 'bound dynamic']])
    ends.push({ name: `kind-${bound}`, label: BOUNDS[bound], bits: lowerBound(like).at(-1)[1] });
  return names(scale, ends);
}

function draw() {
  const scale = scales($('plot').clientWidth), { width, height } = scale;
  const shown = Object.entries(curves).filter(([kind]) => !hidden.has(kind));
  const lines = shown.map(([kind, points]) => curve(scale,
    points.filter((p) => !p.refused).map((p) => [p.e, p.bitsPerItem]),
    { class: `curve kind-${kind}` }, svg('title', {}, kind)));
  const bound = lowerBound('ribbon'), dynamic = lowerBound('bloom');
  $('plot').replaceChildren(svg('svg', {
    role: 'img', viewBox: `0 0 ${width} ${height}`, width, height,
    'aria-label': `Bits per item against the false-positive rate for ${count(items)} items. ` +
      `The bound goes from ${number(bound[0][1])} to ${number(bound.at(-1)[1])} bits for sealed ` +
      `kinds, and to ${number(dynamic.at(-1)[1])} for kinds that take keys one by one; ` +
      'the table has all kinds at the chosen rate.',
  }, ...grid(scale),
  curve(scale, bound, { class: 'curve bound' }),
  curve(scale, dynamic, { class: 'curve bound dynamic' }), ...lines,
  cursor(scale, exponent), ...namesOf(scale, shown)));
}

// --- The table -----------------------------------------------------------------------------------

function makeRow(kind) {
  const box = el('input', { type: 'checkbox', id: `show-${kind}`, checked: true });
  box.addEventListener('change', () => {
    hidden[box.checked ? 'delete' : 'add'](kind);
    draw();
  });
  const figures = [1, 2, 3].map(() => el('td'));
  const row = el('tr', {}, el('th', { scope: 'row' }, el('label', {}, box, ' ',
    el('span', { class: `line kind-${kind}`, 'aria-hidden': 'true' }), ' ', kind)),
  ...figures, el('td', {}, KINDS[kind]));
  rows.set(kind, { row, figures });
}

function fillTable() {
  const at = Math.round((exponent - FIRST) / STEP);
  const bits = (kind) => curves[kind][at].bitsPerItem ?? 1e9;
  const sorted = Object.keys(KINDS).sort((a, b) => bits(a) - bits(b));
  const body = $('costs').tBodies[0], focused = document.activeElement;
  for (const kind of sorted) {
    const { row, figures } = rows.get(kind), p = curves[kind][at];
    const texts = p.refused ? ['–', '–', p.refused]
      : [p.bitsPerItem.toFixed(2), p.bound ? p.boundRatio.toFixed(2) : '–', bytes(p.bytes)];
    figures.forEach((cell, i) => { cell.textContent = texts[i]; });
    figures[2].className = p.refused ? 'refused' : '';
    body.append(row);
  }
  if (body.contains(focused)) focused.focus();
}

function showValues() {
  $('rate-value').textContent = rate(Number((10 ** -exponent).toPrecision(2)));
  $('items-value').textContent = count(items);
  $('rate').setAttribute('aria-valuetext', $('rate-value').textContent);
  $('items').setAttribute('aria-valuetext', `${count(items)} items`);
}

async function change() {
  const mine = ++waiting;
  exponent = Number($('rate').value);
  items = 10 ** Number($('items').value);
  showValues();
  const found = await curvesFor(items);
  if (mine !== waiting) return;
  curves = found;
  draw();
  fillTable();
}

export async function startSizes() {
  Object.keys(KINDS).forEach(makeRow);
  $('rate').addEventListener('input', change);
  $('items').addEventListener('input', change);
  await change();
  new ResizeObserver(draw).observe($('plot'));
}
