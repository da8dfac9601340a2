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
const FIRST = 0.5, LAST = 9, STEP = 0.25; // powers of ten of the rate
const LEAST_BITS = 1, MOST_BITS = 256;
const EDGE = { left: 40, right: 12, top: 12, bottom: 40 };

let items = 1e6, exponent = 2, curves, waiting = 0;
const hidden = new Set(), rows = new Map(), kept = new Map();

async function plan(kind, n, e) {
  try {
    return await Tamis.plan({ kind, items: n, fpr: 10 ** -e });
  } catch (error) {
    return { refused: error.message };
  }
}

// All curves for this many items, computed once.
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

// --- The drawing -------------------------------------------------------------------------------------------------------

function draw() {
  const width = Math.max($('plot').clientWidth, 260), height = Math.round(Math.min(Math.max(0.6 * width, 280), 460));
  const x = (e) => EDGE.left + (width - EDGE.left - EDGE.right) * (e - FIRST) / (LAST - FIRST);
  const top = Math.log2(MOST_BITS / LEAST_BITS);
  const y = (bits) => height - EDGE.bottom - (height - EDGE.top - EDGE.bottom) * Math.log2(bits / LEAST_BITS) / top;
  const path = (points) => points.map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
  const grid = [];
  for (let bits = LEAST_BITS; bits <= MOST_BITS; bits *= 2)
    grid.push(svg('line', { class: 'grid', x1: EDGE.left, x2: width - EDGE.right, y1: y(bits), y2: y(bits) }),
      svg('text', { class: 'tick end', x: EDGE.left - 6, y: y(bits) + 4 }, String(bits)));
  for (let e = 1; e <= LAST; e += width < 480 ? 2 : 1)
    grid.push(svg('line', { class: 'grid', x1: x(e), x2: x(e), y1: EDGE.top, y2: height - EDGE.bottom }),
      svg('text', { class: 'tick middle', x: x(e), y: height - EDGE.bottom + 16 }, e < 3 ? `${10 ** (2 - e)} %` : `1e-${e}`));
  const lines = Object.entries(curves).filter(([kind]) => !hidden.has(kind)).map(([kind, points]) => svg('path', {
    class: `curve kind-${kind}`, d: path(points.filter((p) => !p.refused).map((p) => [p.e, p.bitsPerItem])),
  }, svg('title', {}, kind)));
  const bound = [FIRST, LAST].map((e) => e * Math.log2(10));
  const straight = Array.from({ length: 35 }, (_, i) => FIRST + i * STEP).map((e) => [e, e * Math.log2(10)]);
  $('plot').replaceChildren(svg('svg', {
    role: 'img', viewBox: `0 0 ${width} ${height}`, width, height,
    'aria-label': `Bits per item against the false-positive rate for ${count(items)} items. The bound goes from ` +
      `${number(bound[0])} to ${number(bound[1])} bits; the table has all kinds at the chosen rate.`,
  }, ...grid,
  svg('text', { class: 'tick middle', x: (EDGE.left + width - EDGE.right) / 2, y: height - 6 }, 'false-positive rate'),
  svg('path', { class: 'curve bound', d: path(straight) }),
  svg('text', { class: 'tick bound-name', x: x(LAST) - 4, y: y(bound[1]) + 18 }, 'the bound'),
  ...lines,
  svg('line', { class: 'cursor', x1: x(exponent), x2: x(exponent), y1: EDGE.top, y2: height - EDGE.bottom })));
}

// --- The table -------------------------------------------------------------------------------------------------------

function makeRow(kind) {
  const box = el('input', { type: 'checkbox', id: `show-${kind}`, checked: true });
  box.addEventListener('change', () => {
    hidden[box.checked ? 'delete' : 'add'](kind);
    draw();
  });
  const figures = [1, 2, 3].map(() => el('td'));
  const row = el('tr', {}, el('th', { scope: 'row' }, el('label', {}, box, ' ',
    el('span', { class: `line kind-${kind}`, 'aria-hidden': 'true' }), ' ', kind)), ...figures, el('td', {}, KINDS[kind]));
  rows.set(kind, { row, figures });
}

function fillTable() {
  const at = Math.round((exponent - FIRST) / STEP);
  const sorted = Object.keys(KINDS).sort((a, b) => (curves[a][at].bitsPerItem ?? 1e9) - (curves[b][at].bitsPerItem ?? 1e9));
  const body = $('costs').tBodies[0], focused = document.activeElement;
  for (const kind of sorted) {
    const { row, figures } = rows.get(kind), p = curves[kind][at];
    const texts = p.refused ? ['–', '–', p.refused] : [p.bitsPerItem.toFixed(2), p.boundRatio.toFixed(2), bytes(p.bytes)];
    figures.forEach((cell, i) => { cell.textContent = texts[i]; });
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
