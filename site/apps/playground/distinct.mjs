// Experiment 6: the registers of a distinct sketch, and its estimate next to the truth.
import { Distinct } from '../apps/distinct.mjs';
import { $, count, number, plural, svg } from '../apps/dom.mjs';
import { box, horizontal, line, put, redraw, text } from './pictures.mjs';

const REGISTERS = 64;
const FIRST_SECTION = 128; // docs/FORMAT.md: the table of sections begins there
let sketch, added = 0;

// Reads the tokens or the registers from the image: docs/FORMAT.md, "48 distinct".
function contents(image) {
  const view = new DataView(image.buffer, image.byteOffset, image.length);
  const isTokens = view.getUint16(FIRST_SECTION + 4, true) === 1;
  const at = Number(view.getBigUint64(FIRST_SECTION + 48, true));
  if (isTokens) return { isTokens };
  // The greatest value that a register has seen is in its upper eight bits.
  return { isTokens, values: Array.from({ length: REGISTERS }, (_, i) =>
    view.getUint8(at + 4 * i + 3)) };
}

async function fill(n) {
  if (sketch === undefined || n < added) {
    sketch?.close();
    sketch = undefined;
    sketch = await Distinct.create({ m: REGISTERS });
    added = 0;
  }
  for (; added < n; added++) sketch.add(`visitor ${added}`);
}

function drawRegisters(b, { isTokens, values }, n) {
  if (isTokens)
    return [text(b.left, b.top + 40, 'strong-label', 'No registers yet:'),
      text(b.left, b.top + 60, 'label', `${plural(n, 'hash', 'hashes')} of 8 bytes, exact`)];
  const width = (b.right - b.left) / REGISTERS, most = 100;
  return [...horizontal(b, [[0, '0'], [0.5, '50'], [1, '100']]),
    ...values.map((value, i) => svg('rect', { class: 'bar-part', x: b.left + i * width + 0.5,
      y: b.y(Math.min(1, value / most)), width: Math.max(1, width - 1),
      height: b.bottom - b.y(Math.min(1, value / most)) }, svg('title', {}, String(value)))),
    text((b.left + b.right) / 2, b.bottom + 15, 'tick middle', `${REGISTERS} registers`)];
}

// The estimate with its interval and the truth, on a logarithmic axis from 1 to a million.
function drawEstimate(b, { count: value, low, high }, n, top) {
  const x = (v) => b.x(Math.log10(Math.max(1, v)) / 6), y = top + 26;
  return [
    ...['1', '10', '100', '1 k', '10 k', '100 k', '1 M'].flatMap((label, e) =>
      [line(x(10 ** e), top, x(10 ** e), top + 52, 'grid'),
        text(x(10 ** e), top + 67, 'tick middle', label)]),
    line(x(low), y, x(high), y, 'interval'),
    svg('circle', { class: 'dot', cx: x(value), cy: y, r: 5.5 }),
    line(x(n), top + 4, x(n), top + 48, 'truth'),
    text(Math.min(x(Math.max(high, n)) + 8, b.right - 60), y + 4, 'strong-label', count(value)),
  ];
}

let state;
function draw() {
  if (!state) return;
  const place = $('distinct-picture'), b = box(place, 330, { bottom: 120 });
  put(place, b, $('distinct-verdict').textContent, ...drawRegisters(b, state.inside, state.n),
    ...drawEstimate(b, state.found, state.n, b.bottom + 36));
}

let working = Promise.resolve(), wanted;

async function change() {
  const n = wanted;
  await fill(n);
  const found = sketch.interval();
  state = { n, found, inside: contents(sketch.save()) };
  const off = n > 0 ? Math.abs(found.count - n) / n : 0;
  const verdict = $('distinct-verdict');
  Object.assign(verdict.dataset, { estimate: found.count, low: found.low, high: found.high,
    truth: n });
  verdict.textContent = found.exact
    ? `${plural(n, 'key')} added, and ${count(found.count)} counted: exact, because the sketch ` +
      'still has the hashes of all its keys.'
    : `${count(n)} keys added. The estimate is ${count(found.count)}, which is off by ` +
      `${number(100 * off)} %; the standard error is ${number(100 * found.error)} %. With 99 % ` +
      `certainty there are ${count(Math.round(found.low))} to ${count(Math.round(found.high))}.`;
  draw();
}

function ask() {
  const power = Number($('distinct-keys').value), n = Math.round(10 ** power) - 1;
  wanted = n;
  $('distinct-keys-value').textContent = count(n);
  $('distinct-keys').setAttribute('aria-valuetext', `${count(n)} keys`);
  // One after the other, since the sketch is shared; what was overtaken is skipped.
  working = working.then(() => (wanted === n ? change() : undefined));
  return working;
}

export async function startDistinct() {
  $('distinct-keys').addEventListener('input', ask);
  await ask();
  redraw($('distinct-picture'), draw);
}
