// What the pictures share: a box with margins, and its axes.
import { svg } from '../apps/dom.mjs';

// A box of the width of its place, at most 760 pixels. `x` and `y` turn shares of the inner box
// into pixels; y grows upwards.
export function box(place, height, { left = 50, right = 20, top = 14, bottom = 34 } = {}) {
  const width = Math.min(Math.max(place.clientWidth, 260), 760);
  return {
    width, height, left, top, right: width - right, bottom: height - bottom,
    x: (share) => left + (width - left - right) * share,
    y: (share) => height - bottom - (height - top - bottom) * share,
  };
}

export function put(place, { width, height }, words, ...children) {
  place.replaceChildren(svg('svg', { role: 'img', 'aria-label': words, width, height,
    viewBox: `0 0 ${width} ${height}` }, ...children));
}

export const text = (x, y, kind, words) => svg('text', { class: kind, x, y }, words);
export const line = (x1, y1, x2, y2, kind) => svg('line', { x1, y1, x2, y2, class: kind });

// Lines and labels at these places: [share, label].
export function horizontal(b, ticks) {
  return ticks.flatMap(([share, label]) => [line(b.left, b.y(share), b.right, b.y(share), 'grid'),
    text(b.left - 6, b.y(share) + 4, 'tick end', label)]);
}

export function vertical(b, ticks, title) {
  return [...ticks.map(([share, label]) =>
    text(b.x(share), b.bottom + 15, 'tick middle', label)),
  text((b.left + b.right) / 2, b.height - 4, 'tick middle', title)];
}

export const path = (points, kind) => svg('path', { class: kind,
  d: points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('') });

// Calls `draw` now, and whenever the width of the place changes.
export function redraw(place, draw) {
  let width;
  new ResizeObserver(() => {
    if (place.clientWidth !== width) draw();
    width = place.clientWidth;
  }).observe(place);
}
