// Experiment 5: a count-min sketch and a top of the same stream of words.
import { $, count, el, plural, svg } from '../apps/dom.mjs';
import { Sketch } from './sketches.mjs';
import { box, line, put, redraw, text } from './pictures.mjs';

const COUNT_MIN = 32, TOP = 35, ROWS = 3, COUNTERS = 24, LISTED = 8, TOP_BYTES = 2560;
const WORDS = ('the of and to in that was his he it with is for as had you not be her on at by ' +
  'which have or from this him but all she they were my are me one their so an said them we who ' +
  'would been will no when there if more out up into do any your what has man could other than')
  .split(' ');
const STRANGERS = ['zebra', 'quartz', 'umbrella'];
const MOST = 2000;

// A stream in which word i occurs with a probability proportional to 1/(i + 1), from a generator
// with a fixed seed (splitmix32).
function makeStream() {
  let state = 7;
  const next = () => {
    state = state + 0x9e3779b9 | 0;
    let z = state ^ state >>> 16;
    z = Math.imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = Math.imul(z, 0x735a2d97);
    return ((z ^ z >>> 15) >>> 0) / 2 ** 32;
  };
  const weights = WORDS.map((_, i) => 1 / (i + 1)), sum = weights.reduce((a, b) => a + b);
  return Array.from({ length: MOST }, () => {
    let left = next() * sum, i = 0;
    while (i < WORDS.length - 1 && (left -= weights[i]) > 0) i++;
    return WORDS[i];
  });
}

const stream = makeStream();
let sketch, top, truth, added;

function fill(n) {
  if (sketch === undefined || n < added) {
    sketch?.close();
    top?.close();
    sketch = new Sketch({ number: COUNT_MIN, m: COUNTERS, k: ROWS });
    top = new Sketch({ number: TOP, items: LISTED, bytes: TOP_BYTES });
    truth = new Map();
    added = 0;
  }
  for (; added < n; added++) {
    const word = stream[added];
    sketch.add(word);
    top.add(word);
    truth.set(word, (truth.get(word) ?? 0) + 1);
  }
}

function drawCounters(word, probes) {
  const place = $('often-picture'), b = box(place, 40 + ROWS * 74, { left: 50, bottom: 8 });
  const all = Array.from({ length: ROWS * COUNTERS }, (_, i) => sketch.cell(i));
  const most = Math.max(1, ...all), width = (b.right - b.left) / COUNTERS, high = 54;
  const bars = all.flatMap((value, i) => {
    const row = Math.floor(i / COUNTERS), base = b.top + (row + 1) * 74 - 8;
    const x = b.left + (i % COUNTERS) * width, h = high * value / most;
    const isProbe = probes.includes(i);
    return [
      svg('rect', { class: 'cell-off', x: x + 1, y: base - 2, width: width - 2, height: 2 }),
      svg('rect', { class: isProbe ? 'bar-noise' : 'bar-part', x: x + 1, y: base - h,
        width: width - 2, height: h }, svg('title', {}, String(value))),
      ...isProbe ? [text(x + width / 2, base - h - 4, 'strong-label middle', count(value))] : [],
    ];
  });
  const rows = Array.from({ length: ROWS }, (_, row) =>
    text(b.left - 6, b.top + (row + 1) * 74 - 10, 'label end', `row ${row + 1}`));
  put(place, b, `${plural(ROWS, 'row')} of ${COUNTERS} counters. Those of ${word} have ` +
    `${probes.map((i) => all[i]).join(', ')}.`, ...rows, ...bars);
}

function drawTop() {
  const place = $('top-picture'), list = top.list(LISTED), row = 26;
  const b = box(place, 30 + LISTED * row, { left: 70, right: 60, bottom: 4, top: 24 });
  const most = Math.max(1, ...list.map(({ upper }) => upper));
  const bars = list.flatMap(({ item, estimate, lower, upper }, i) => {
    const y = b.top + i * row, x = (n) => b.x(n / most), real = truth.get(item) ?? 0;
    return [
      text(b.left - 8, y + 15, 'strong-label end', item),
      svg('rect', { class: 'bar-part', x: b.left, y: y + 4, width: x(estimate) - b.left,
        height: row - 12, 'fill-opacity': 0.75 }),
      line(x(lower), y + 11, x(upper), y + 11, 'interval'),
      line(x(real), y + 1, x(real), y + row - 5, 'truth'),
      text(Math.max(x(upper), x(real)) + 8, y + 15, 'label', count(estimate)),
    ];
  });
  put(place, b, `The most frequent words: ${list.map(({ item, estimate }) =>
    `${item} ${estimate}`).join(', ')}.`,
  text(0, 13, 'label', 'top: estimates; dashed: the true counts'), ...bars);
}

function change() {
  const n = Number($('often-events').value), word = $('often-word').value;
  $('often-events-value').textContent = count(n);
  $('often-events').setAttribute('aria-valuetext', `${count(n)} words`);
  fill(n);
  const probes = sketch.cells(word), values = probes.map((i) => sketch.cell(i));
  const least = Math.min(...values), real = truth.get(word) ?? 0;
  drawCounters(word, probes);
  drawTop();
  Object.assign($('often-verdict').dataset, { word, events: n, estimate: least, truth: real });
  $('often-verdict').textContent = `${word}: its counters have ${values.join(', ')}; the ` +
    `smallest is ${count(least)}. It occurred ${plural(real, 'time')}` +
    `${least === real ? ', so the count is right.' : `, so ${count(least - real)} came from ` +
    'other words in the same counters.'} The sketch takes ${count(ROWS * COUNTERS * 4)} bytes of ` +
    'counters, however long the stream is.';
}

export function startCounts() {
  $('often-word').append(...[...WORDS.slice(0, 12), ...STRANGERS].map((word) =>
    el('option', { value: word },
      STRANGERS.includes(word) ? `${word} (never occurred)` : word)));
  for (const id of ['often-events', 'often-word']) $(id).addEventListener('input', change);
  change();
  redraw($('often-picture'), change);
}
