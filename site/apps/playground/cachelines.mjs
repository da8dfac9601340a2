// Experiment 4: the cache lines that a query of bloom and one of blocked read.
import { Tamis, c, put as putKey, room } from '../apps/core.mjs';
import { $, count, plural, rate, svg } from '../apps/dom.mjs';
import { put, redraw, text } from './pictures.mjs';

const LINES = 64, BITS = 512, KEYS = 3000, COLUMNS = 8;
let filters;

async function make(kind, k) {
  const filter = await Tamis.create({ kind, m: LINES * BITS, k, items: KEYS });
  for (let i = 0; i < KEYS; i++) filter.add(`key ${i}`);
  const fill = Array.from({ length: LINES }, (_, row) => {
    let set = 0;
    for (let bit = 0; bit < BITS; bit++) set += c.cell(filter.handle, row * BITS + bit);
    return set / BITS;
  });
  return { kind, filter, fill, rate: filter.info().fprNow };
}

// The lines that have the bits of a key, each once.
function touched({ filter }, key) {
  const n = c.cellsOf(filter.handle, room, putKey(key));
  const cells = Array.from(new Float64Array(c.memory.buffer, c.cellsAt(), n));
  return [...new Set(cells.map((cell) => Math.floor(cell / BITS)))];
}

function grid({ kind, fill, rate: now }, lines, size, left, top) {
  const gap = 3;
  return [
    text(left, top - 8, 'strong-label', `${kind}: ${plural(lines.length, 'line')}`),
    ...fill.map((share, i) => svg('rect', { class: 'cell-on', rx: 3,
      x: left + (i % COLUMNS) * size, y: top + Math.floor(i / COLUMNS) * size,
      width: size - gap, height: size - gap,
      'fill-opacity': (0.12 + 0.88 * Math.min(1, Math.max(0, (share - 0.3) / 0.45))).toFixed(3) })),
    ...lines.map((i) => svg('rect', { class: 'cell-probe', rx: 4,
      x: left + (i % COLUMNS) * size - 1, y: top + Math.floor(i / COLUMNS) * size - 1,
      width: size - gap + 2, height: size - gap + 2 })),
    text(left, top + COLUMNS * size + 14, 'label', `rate ${rate(now)}, lines ` +
      `${Math.round(100 * Math.min(...fill))} to ${Math.round(100 * Math.max(...fill))} % full`),
  ];
}

function draw() {
  if (!filters) return;
  const key = $('line-key').value, place = $('line-picture');
  const width = Math.min(Math.max(place.clientWidth, 260), 760), beside = width >= 520;
  const size = Math.floor(Math.min(beside ? (width - 60) / 2 : width - 20, 300) / COLUMNS);
  const [bloom, blocked] = filters, high = COLUMNS * size + 50;
  const of = [bloom, blocked].map((one) => touched(one, key));
  const verdicts = [bloom, blocked].map(({ filter }) => (filter.has(key) ? 'maybe' : 'no'));
  const words = `${key === '' ? 'The empty key' : key}: bloom reads ` +
    `${plural(of[0].length, 'cache line')} and answers “${verdicts[0]}”, blocked reads ` +
    `${plural(of[1].length, 'cache line')} and answers “${verdicts[1]}”.`;
  put(place, { width, height: beside ? high : 2 * high }, words,
    ...grid(bloom, of[0], size, 4, 26),
    ...grid(blocked, of[1], size, beside ? 4 + COLUMNS * size + 50 : 4, beside ? 26 : high + 26));
  $('line-verdict').textContent = `${words} Rates by the bits: ${rate(bloom.rate)} and ` +
    `${rate(blocked.rate)}, with ${count(KEYS)} keys in ${count(LINES * BITS / 8)} bytes each.`;
}

export async function startCacheLines() {
  filters = [await make('bloom', 8), await make('blocked')];
  $('line-key').addEventListener('input', draw);
  $('line-next').addEventListener('click', () => {
    const n = Number(/\d+$/.exec($('line-key').value)?.[0] ?? 0);
    $('line-key').value = `key ${n + 1}`;
    draw();
  });
  redraw($('line-picture'), draw);
  draw();
}
