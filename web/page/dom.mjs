// Helpers that the parts of the page share. Text is always set as text, never as HTML.

export const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== undefined && value !== false)
      node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

export const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

export const count = (n) => whole.format(n);
export const number = (x) => short.format(x);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

// Formats a probability for people: as a percentage while that has digits to show, and below that
// as one in so many.
export function rate(p) {
  if (!(p > 0)) return '0 %';
  if (p >= 0.0001) return `${number(100 * p)} %`;
  const inverse = 1 / p, power = Math.floor(Math.log10(inverse));
  return power < 9 ? `1 in ${count(Number(inverse.toPrecision(2)))}`
    : `1 in ${(inverse / 10 ** power).toFixed(1)}·10${superscript(power)}`;
}

const superscript = (n) => Array.from(String(n), (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit])
  .join('');

export function bytes(n) {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const at = n < 1000 ? 0 : Math.min(Math.floor(Math.log10(n) / 3), 4);
  return `${number(n / 1000 ** at)} ${units[at]}`;
}
