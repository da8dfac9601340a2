// What every kind takes at every rate, drawn from the library's own planner.
import { Tamis } from './core.mjs';
import { $, bytes, count, el, number, rate, svg } from './dom.mjs';

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
const FIRST = 0.5, LAST = 9, STEP = 0.25; // negative powers of ten of the rate
const LEAST_BITS = 1, MOST_BITS = 512;
const EDGE = { left: 40, top: 12, bottom: 40 };
const ROOM_FOR_NAMES = 640, NAME_HEIGHT = 15;

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

// Returns the pixels of a rate and of a number of bits, both on logarithmic scales.
function scales() {
  const width = Math.max($('plot').clientWidth, 260),
    height = Math.round(Math.min(Math.max(0.6 * width, 300), 480));
  const right = width - (width >= ROOM_FOR_NAMES ? 96 : 20), bottom = height - EDGE.bottom;
  const all = Math.log2(MOST_BITS / LEAST_BITS);
  return {
    width, height, right, bottom,
    x: (e) => EDGE.left + (right - EDGE.left) * (e - FIRST) / (LAST - FIRST),
    y: (bits) => bottom - (bottom - EDGE.top) * Math.log2(bits / LEAST_BITS) / all,
  };
}

function grid({ width, right, bottom, x, y }) {
  const lines = [];
  for (let bits = LEAST_BITS; bits <= MOST_BITS; bits *= 2)
    lines.push(svg('line', { class: 'grid', x1: EDGE.left, x2: right, y1: y(bits), y2: y(bits) }),
      svg('text', { class: 'tick end', x: EDGE.left - 6, y: y(bits) + 4 }, String(bits)));
  for (let e = 1; e <= LAST; e += width < 480 ? 2 : 1)
    lines.push(svg('line', { class: 'grid', x1: x(e), x2: x(e), y1: EDGE.top, y2: bottom }),
      svg('text', { class: 'tick middle', x: x(e), y: bottom + 16 },
        e < 3 ? `${10 ** (2 - e)} %` : `1e-${e}`));
  return lines;
}

// Returns the lower bound of kinds like this one, which has its rates exactly or nearly so. Above
// 10 % the bound of kinds that take keys one by one does not hold, and is left out.
function lowerBound(kind) {
  const dynamic = kind === 'bloom';
  return curves[kind].filter((p) => p.bound === (dynamic ? 'dynamic' : 'static'))
    .map((p) => [p.e, p.boundBits]);
}

// Puts names beside the ends of the curves, moved apart where they would overlap.
function names({ width, right, bottom, y }, shown) {
  if (width < ROOM_FOR_NAMES) return [];
  const ends = shown.map(([kind, points]) => [kind, points.filter((p) => !p.refused).at(-1)])
    .filter(([, last]) => last)
    .map(([kind, last]) => ({ kind, at: y(last.bitsPerItem) }));
  ends.push({ kind: 'bound', at: y(lowerBound('ribbon').at(-1)[1]) });
  ends.push({ kind: 'bound dynamic', at: y(lowerBound('bloom').at(-1)[1]) });
  ends.sort((a, b) => b.at - a.at);
  let free = bottom;
  for (const end of ends) {
    end.at = Math.min(end.at, free);
    free = end.at - NAME_HEIGHT;
  }
  return ends.map(({ kind, at }) => svg('text',
    { class: `name kind-${kind}`, x: right + 8, y: at + 4 },
    BOUNDS[kind] ?? kind));
}

function draw() {
  const scale = scales(), { width, height, right, bottom, x, y } = scale;
  const path = (points) => points
    .map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
  const shown = Object.entries(curves).filter(([kind]) => !hidden.has(kind));
  const lines = shown.map(([kind, points]) => svg('path', {
    class: `curve kind-${kind}`,
    d: path(points.filter((p) => !p.refused).map((p) => [p.e, p.bitsPerItem])),
  }, svg('title', {}, kind)));
  const bound = lowerBound('ribbon'), dynamic = lowerBound('bloom');
  $('plot').replaceChildren(svg('svg', {
    role: 'img', viewBox: `0 0 ${width} ${height}`, width, height,
    'aria-label': `Bits per item against the false-positive rate for ${count(items)} items. ` +
      `The bound goes from ${number(bound[0][1])} to ${number(bound.at(-1)[1])} bits for sealed ` +
      `kinds, and to ${number(dynamic.at(-1)[1])} for kinds that take keys one by one; ` +
      'the table has all kinds at the chosen rate.',
  }, ...grid(scale),
  svg('text', { class: 'tick middle', x: (EDGE.left + right) / 2, y: height - 6 },
    'false-positive rate'),
  svg('path', { class: 'curve bound', d: path(bound) }),
  svg('path', { class: 'curve bound dynamic', d: path(dynamic) }), ...lines,
  svg('line', { class: 'cursor', x1: x(exponent), x2: x(exponent), y1: EDGE.top, y2: bottom }),
  ...names(scale, shown)));
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
