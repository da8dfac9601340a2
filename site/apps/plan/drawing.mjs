// Bits per item against the rate: four usual kinds, the chosen one and its lower bound.
import { number, rate, svg } from '../apps/dom.mjs';
import { KINDS, isSketch, labelOf } from '../apps/kinds.mjs';
import { grouped } from '../apps/numbers.mjs';
import { FIRST, LAST, cursor, curve, grid, names, scales } from '../apps/plot.mjs';
import { solveFor } from '../apps/plans.mjs';

const USUAL = ['blocked', 'bloom', 'cuckoo', 'ribbon'];
const STEP = 0.25, MOST = 512, LEAST = 1;
const kept = new Map();

function pointsOf(kind, wanted) {
  const key = [kind.id, ...['items', 'value-bits', 'never-items', 'generations', 'counter-bits']
    .map((name) => wanted[name])].join();
  if (!kept.has(key)) {
    const points = [];
    for (let e = FIRST; e <= LAST; e += STEP) {
      const plan = solveFor(kind, { ...wanted, fpr: 10 ** -e, bytes: undefined });
      if (!plan.refused) points.push({ e, plan });
    }
    if (kept.size > 50) kept.clear();
    kept.set(key, points);
  }
  return kept.get(key);
}

const within = ([, bits]) => bits >= LEAST && bits <= MOST;
const bitsOf = (points) => points.map(({ e, plan }) => [e, plan.bitsPerItem]).filter(within);

// Below 10 % the bound of kinds that take keys one by one does not hold; the curve leaves that out.
function boundOf(points) {
  const which = points.at(-1)?.plan.bound;
  return points.filter(({ plan }) => plan.bound === which && which !== 'none')
    .map(({ e, plan }) => [e, plan.boundBits]).filter(within);
}

// The items that were wanted, or those of the chosen kind's plan, or a million.
const itemsOf = ({ kind, plan, wanted }) => wanted.items ??
  (plan.refused || isSketch(kind) || plan.items === 0n ? 1000000n : plan.items);

export function drawPlot(box, caption, state) {
  const { kind, plan } = state, items = itemsOf(state);
  const wanted = { ...state.wanted, items, headroom: undefined };
  const scale = scales(box.clientWidth, { always: true, room: 104 }), { width, height } = scale;
  const filter = isSketch(kind) ? KINDS.get('blocked') : kind;
  const ids = [...USUAL, ...USUAL.includes(filter.id) ? [] : [filter.id]];
  const series = ids.map((id, i) => ({ id, label: labelOf(KINDS.get(id)),
    name: `series-${i + 1}${id === filter.id && !isSketch(kind) ? ' strong' : ''}`,
    points: bitsOf(pointsOf(KINDS.get(id), wanted)) })).filter(({ points }) => points.length > 0);
  const bound = boundOf(pointsOf(filter, wanted));
  const ends = series.map(({ name, label, points }) =>
    ({ name, label, bits: points.at(-1)[1] }));
  if (bound.length > 0)
    ends.push({ name: 'series-bound', label: 'lower bound', bits: bound.at(-1)[1] });
  const here = !plan.refused && !isSketch(kind)
    ? [[-Math.log10(plan.fpr), plan.bitsPerItem]].filter(([e, bits]) =>
      within([e, bits]) && e >= FIRST && e <= LAST) : [];
  caption.textContent = grouped(items);
  box.replaceChildren(svg('svg', {
    role: 'img', viewBox: `0 0 ${width} ${height}`, width, height,
    'aria-label': `Bits per item against the false-positive rate for ${grouped(items)} items: ` +
      `${series.map(({ label, points }) => `${label} ends at ${number(points.at(-1)[1])} bits`)
        .join(', ')}, at a rate of ${rate(10 ** -LAST)}.`,
  }, ...grid(scale),
  ...series.map(({ name, label, points }) => curve(scale, points, { class: `curve ${name}` },
    svg('title', {}, label))),
  ...bound.length > 0 ? [curve(scale, bound, { class: 'curve series-bound' })] : [],
  ...here.flatMap(([e, bits]) => [cursor(scale, e),
    svg('circle', { class: 'here', cx: scale.x(e), cy: scale.y(bits), r: 5 })]),
  ...names(scale, ends)));
}
