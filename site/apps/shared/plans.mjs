// Plans, computed by the library itself with whole numbers of 64 bits (web/apps/plans.c).
import { c, start, text } from './core.mjs';
import { BOUNDS, isSketch } from './kinds.mjs';

// In the order of web/apps/plans.c.
const WHOLE = ['items', 'bytes', 'm', 'excluded', 'number', 'inner', 'flags', 'k', 'cellBits',
  'generations', 'packed', 'bound'];
const REAL = ['fpr', 'bitsPerItem', 'boundBits', 'boundRatio', 'overflow', 'error'];
const BIG = new Set(['items', 'bytes', 'm', 'excluded', 'packed']);

// Completes a plan. Returns { refused: the reason } if no shape meets it. `start` must have been
// called.
export function solve(plan) {
  WHOLE.forEach((name, i) => c.setCount(i, BigInt(plan[name] ?? 0)));
  if (c.solve(plan.fpr ?? 0, plan.error ?? 0, plan.delta ?? 0) < 0)
    return { refused: text(c.why()) };
  const real = new Float64Array(c.memory.buffer, c.numbers(), REAL.length), out = {};
  REAL.forEach((name, i) => { out[name] = real[i]; });
  WHOLE.forEach((name, i) => {
    const n = BigInt.asUintN(64, c.getCount(i));
    out[name] = BIG.has(name) ? n : Number(n);
  });
  out.bound = BOUNDS[out.bound];
  return out;
}

export { start };

// --- From what a user wants to the plan of a kind ------------------------------------------------

// As the command does (with_headroom in cli/filters/request.c). A sealed filter cannot use it, and
// a growing one does not need it.
export function itemsWithHeadroom(kind, wanted) {
  if (wanted.items === undefined) return undefined;
  if (!wanted.headroom || kind.sealed || kind.id === 'growing') return wanted.items;
  return wanted.items + BigInt(Math.round(Number(wanted.items) * wanted.headroom));
}

const USUAL_BYTES = 1n << 20n; // of sketches that count: as tamis count
const USUAL_REGISTERS = 16384n; // of a distinct sketch: as tamis distinct

function sketchPlan(kind, wanted) {
  const plan = { number: kind.number }, isDistinct = kind.id === 'distinct';
  const textbook = kind.id === 'count-min' || kind.id === 'count-sketch';
  const error = isDistinct ? wanted.error : textbook ? wanted['count-error'] : undefined;
  if (error !== undefined) {
    plan.error = error;
    if (textbook) plan.delta = wanted.delta;
  } else if (wanted.memory !== undefined) {
    plan.bytes = wanted.memory;
  } else if (isDistinct) {
    plan.m = USUAL_REGISTERS;
  } else {
    plan.bytes = USUAL_BYTES;
  }
  return plan;
}

export function planFor(kind, wanted) {
  if (isSketch(kind)) return sketchPlan(kind, wanted);
  const has = (need) => (kind.needs?.includes(need) ? wanted[need] : undefined);
  return { number: kind.number, flags: kind.flags, k: kind.k,
    items: itemsWithHeadroom(kind, wanted), fpr: wanted.fpr, bytes: wanted.bytes,
    cellBits: has('value-bits') ?? has('counter-bits'), generations: has('generations'),
    excluded: has('never-items') };
}

export const solveFor = (kind, wanted) => solve(planFor(kind, wanted));

// Up to this number a distinct sketch of m registers is exact (<tamis/distinct.h>).
export const exactUntil = (m) => (m / 2n < 2048n ? m / 2n : 2048n);
