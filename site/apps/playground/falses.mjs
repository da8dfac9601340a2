// Experiment 2: the number of false positives, predicted and measured.
import { Tamis } from '../apps/core.mjs';
import { $, count, number, rate } from '../apps/dom.mjs';
import { binomial, interval } from './binomial.mjs';
import { box, horizontal, line, path, put, redraw, text, vertical } from './pictures.mjs';

const KEYS = 1000, CONFIDENCE = 0.99;
let sample = 0, result, running = 0;

async function measure() {
  const mine = ++running, kind = $('false-kind').value, fpr = Number($('false-rate').value);
  const trials = Math.round(10 ** Number($('false-trials').value));
  $('false-trials-value').textContent = count(trials);
  $('false-trials').setAttribute('aria-valuetext', `${count(trials)} keys`);
  const filter = await Tamis.create({ kind, items: KEYS, fpr });
  for (let i = 0; i < KEYS; i++) filter.add(`key ${i}`);
  if (['fuse', 'ribbon'].includes(kind)) filter.seal();
  let wrong = 0;
  for (let i = 0; i < trials; i++) wrong += filter.has(`other ${sample * trials + i}`) ? 1 : 0;
  const p = filter.info().fprNow;
  filter.close();
  if (mine !== running) return;
  const all = binomial(trials, p), [low, high] = interval(all, CONFIDENCE);
  result = { kind, trials, wrong, p, planned: fpr, all, low, high };
  const inside = wrong >= low && wrong <= high;
  Object.assign($('false-verdict').dataset, { kind, fpr, trials, sample, wrong, low, high });
  $('false-verdict').textContent = `Planned: at most ${rate(fpr)}. By the bits of this filter: ` +
    `${rate(p)}, so ${number(trials * p)} false positives are expected, and ${count(low)} to ` +
    `${count(high)} with 99 % certainty. Measured: ${count(wrong)} of ${count(trials)}, which is ` +
    `${inside ? 'within' : 'outside'} this interval.`;
  draw();
}

function draw() {
  if (!result) return;
  const { all: { first, shares }, wrong, low, high } = result, place = $('false-picture');
  const b = box(place, 240, { left: 16 }), most = Math.max(...shares);
  const from = Math.max(0, Math.min(low - (high - low) * 0.5, wrong - 1));
  const to = Math.max(high + (high - low) * 0.5, wrong + 1, from + 4);
  const x = (k) => b.x((k - from) / (to - from));
  const points = shares.map((q, i) => [first + i, q]).filter(([k]) => k >= from && k <= to)
    .map(([k, q]) => [x(k), b.y(0.78 * q / most)]);
  const step = Math.max(1, Math.round((to - from) / 5)), ticks = [];
  for (let k = Math.ceil(from / step) * step; k <= to; k += step)
    ticks.push([(k - from) / (to - from), count(k)]);
  put(place, b, `The distribution of the number of false positives: ${count(low)} to ` +
    `${count(high)} with 99 % certainty; measured ${count(wrong)}.`,
  ...horizontal(b, [[0, '']]), ...vertical(b, ticks, 'false positives'),
  ...[low, high].map((k) => line(x(k), b.y(0), x(k), b.y(1), 'truth')),
  text(x(low) - 5, b.y(1) + 9, 'label end', count(low)),
  text(x(high) + 5, b.y(1) + 9, 'label', count(high)),
  path(points, 'curve series-1'),
  line(x(wrong), b.y(0), x(wrong), b.y(0.84), 'interval'),
  text(x(wrong), b.y(0.87), 'strong-label middle', `measured: ${count(wrong)}`));
}

export async function startFalsePositives() {
  for (const id of ['false-kind', 'false-rate', 'false-trials'])
    $(id).addEventListener('input', measure);
  $('false-again').addEventListener('click', () => {
    sample++;
    measure();
  });
  await measure();
  redraw($('false-picture'), draw);
}
