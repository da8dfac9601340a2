// A plot of bits per item against the false-positive rate, both on logarithmic scales. A point is
// an exponent e, for the rate 10^-e, and a number of bits.
import { svg } from './dom.mjs';

export const FIRST = 0.5, LAST = 9; // negative powers of ten of the rate
const LEAST_BITS = 1, MOST_BITS = 512;
const EDGE = { left: 40, top: 12, bottom: 40 };
const ROOM_FOR_NAMES = 640, NAME_HEIGHT = 15;

// Returns the pixels of a rate and of a number of bits in a box of this width. Where it is too
// narrow, the names of the curves need another place, unless they are wanted always.
export function scales(wide, { always = false, room = 96 } = {}) {
  const width = Math.max(wide, 260), height = Math.round(Math.min(Math.max(0.6 * width, 300), 480));
  const named = always || width >= ROOM_FOR_NAMES;
  const right = width - (named ? room : 20), bottom = height - EDGE.bottom;
  const all = Math.log2(MOST_BITS / LEAST_BITS);
  return {
    width, height, right, bottom, named, left: EDGE.left, top: EDGE.top,
    x: (e) => EDGE.left + (right - EDGE.left) * (e - FIRST) / (LAST - FIRST),
    y: (bits) => bottom - (bottom - EDGE.top) * Math.log2(bits / LEAST_BITS) / all,
  };
}

export function grid({ width, height, right, bottom, x, y }) {
  const lines = [];
  for (let bits = LEAST_BITS; bits <= MOST_BITS; bits *= 2)
    lines.push(svg('line', { class: 'grid', x1: EDGE.left, x2: right, y1: y(bits), y2: y(bits) }),
      svg('text', { class: 'tick end', x: EDGE.left - 6, y: y(bits) + 4 }, String(bits)));
  for (let e = 1; e <= LAST; e += right < 250 ? 3 : width < 480 ? 2 : 1)
    lines.push(svg('line', { class: 'grid', x1: x(e), x2: x(e), y1: EDGE.top, y2: bottom }),
      svg('text', { class: 'tick middle', x: x(e), y: bottom + 16 },
        e < 3 ? `${10 ** (2 - e)} %` : `1e-${e}`));
  lines.push(svg('text', { class: 'tick middle', x: (EDGE.left + right) / 2, y: height - 6 },
    'false-positive rate'));
  return lines;
}

// Returns the path through points that are pairs of an exponent and bits.
export function curve({ x, y }, points, attributes, ...children) {
  const d = points.map(([e, bits], i) =>
    `${i ? 'L' : 'M'}${x(e).toFixed(1)} ${y(bits).toFixed(1)}`).join('');
  return svg('path', { ...attributes, d }, ...children);
}

export const cursor = ({ x, bottom }, e) =>
  svg('line', { class: 'cursor', x1: x(e), x2: x(e), y1: EDGE.top, y2: bottom });

// Puts names beside the ends of the curves, moved apart where they would overlap. Each end has a
// class, a label, and the bits where its curve ends.
export function names({ named, right, bottom, y }, ends) {
  if (!named) return [];
  const places = ends.map((end) => ({ ...end, at: y(end.bits) })).sort((a, b) => b.at - a.at);
  let free = bottom;
  for (const place of places) {
    place.at = Math.min(place.at, free);
    free = place.at - NAME_HEIGHT;
  }
  return places.map(({ at, name, label }) =>
    svg('text', { class: `name ${name}`, x: right + 8, y: at + 4 }, label));
}
