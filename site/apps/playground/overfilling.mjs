// Experiment 3: the rate of a filter that gets more keys than planned.
import { Tamis } from '../apps/core.mjs';
import { $, count, rate, svg } from '../apps/dom.mjs';
import { box, horizontal, line, path, put, redraw, text, vertical } from './pictures.mjs';

const PLANNED = 1000, RATE = 0.01, MOST = 3000, STEP = 250, TRIALS = 20000;
const LEAST_RATE = 1e-4; // of the axis
const kept = new Map();

// Returns the shape, the predicted curve and the measured dots of a kind.
async function measured(kind) {
  if (kept.has(kind)) return kept.get(kind);
  const filter = await Tamis.create({ kind, items: PLANNED, fpr: RATE });
  const { m, k } = filter.info(), curve = [], dots = [];
  for (let n = 0; n <= MOST; n += STEP) {
    for (let i = n - STEP; i < n; i++) if (i >= 0) filter.add(`key ${i}`);
    let wrong = 0;
    for (let i = 0; i < TRIALS; i++) wrong += filter.has(`other ${i}`) ? 1 : 0;
    const p = n === 0 ? 0 : (await Tamis.plan({ kind, m, k, items: n })).fpr;
    curve.push([n, p]);
    dots.push([n, wrong / TRIALS, filter.info().fprNow]);
  }
  filter.close();
  kept.set(kind, { curve, dots });
  return kept.get(kind);
}

let result, running = 0;

async function change() {
  const mine = ++running, kind = $('full-kind').value, keys = Number($('full-keys').value);
  const { curve, dots } = await measured(kind);
  if (mine !== running) return;
  result = { kind, keys, curve, dots };
  const [, found, now] = dots[keys / STEP], [, predicted] = curve[keys / STEP];
  $('full-keys-value').textContent = `${count(keys)} of ${count(PLANNED)} planned`;
  $('full-keys').setAttribute('aria-valuetext', `${count(keys)} keys`);
  const advice = now > 2 * RATE
    ? 'That is more than twice the plan: the command refuses to save it.'
    : now > 1.05 * RATE ? 'That is above the plan: the command warns.'
      : 'That is within the plan.';
  Object.assign($('full-verdict').dataset, { kind, keys, predicted, now, found });
  $('full-verdict').textContent = `${count(keys)} keys: predicted ${rate(predicted)}, by the ` +
    `bits ${rate(now)}, measured ${rate(found)}. ${advice}`;
  draw();
}

function draw() {
  if (!result) return;
  const { kind, keys, curve, dots } = result, place = $('full-picture'), b = box(place, 280);
  const x = (n) => b.x(n / MOST);
  const y = (p) => b.y(Math.max(0, Math.log10(p / LEAST_RATE)) / Math.log10(1 / LEAST_RATE));
  const scale = [1e-4, 1e-3, 1e-2, 1e-1, 1].map((p) =>
    [Math.log10(p / LEAST_RATE) / 4, `${Number((100 * p).toPrecision(1))} %`]);
  put(place, b, `The false-positive rate of ${kind} against the number of keys, predicted and ` +
    `measured; ${$('full-verdict').textContent}`,
  ...horizontal(b, scale),
  ...vertical(b, [0, 1000, 2000, 3000].map((n) => [n / MOST, count(n)]), 'keys added'),
  line(b.left, y(2 * RATE), b.right, y(2 * RATE), 'limit'),
  text(b.left + 6, y(2 * RATE) - 5, 'limit-name', 'twice the planned rate'),
  line(x(PLANNED), b.y(0), x(PLANNED), b.y(1), 'truth'),
  text(x(PLANNED) + 5, b.y(0) - 6, 'label', 'planned'),
  path(curve.filter(([, p]) => p >= LEAST_RATE).map(([n, p]) => [x(n), y(p)]), 'curve series-1'),
  ...dots.filter(([n, p]) => n <= keys && p >= LEAST_RATE).map(([n, p]) =>
    svg('circle', { class: 'dot', cx: x(n), cy: y(p), r: n === keys ? 7 : 4.5 })));
}

export async function startOverfilling() {
  for (const id of ['full-kind', 'full-keys']) $(id).addEventListener('input', change);
  await change();
  redraw($('full-picture'), draw);
}
