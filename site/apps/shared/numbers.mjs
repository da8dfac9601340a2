// Reads numbers as the command does (cli/frame/options.c), and writes them.

const UNITS = new Map([['', 1], ['k', 1e3], ['m', 1e6], ['g', 1e9], ['t', 1e12],
  ['ki', 2 ** 10], ['mi', 2 ** 20], ['gi', 2 ** 30], ['ti', 2 ** 40]]);
const LIMIT = 1n << 64n;

// A whole number of at least 1: digits, optionally with an exponent and a unit, of which upper and
// lower case mean the same. Returns a BigInt, or undefined.
export function parseCount(text) {
  const found = /^(\d+)((?:\.\d*)?(?:e[+-]?\d+)?)([a-z]*)$/i.exec(text);
  if (!found) return undefined;
  const [, digits, rest, unit] = found, factor = UNITS.get(unit.toLowerCase().replace(/b$/, ''));
  if (factor === undefined) return undefined;
  let n;
  if (rest === '') {
    n = BigInt(digits) * BigInt(factor);
    if (n >= LIMIT) return undefined;
  } else {
    const scaled = Number(digits + rest) * factor;
    if (!(scaled < 1.8e19) || scaled !== Math.floor(scaled)) return undefined;
    n = BigInt(scaled);
  }
  return n > 0n ? n : undefined;
}

const DECIMAL = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';

// A rate above 0 and below 1, or up to `most`: 0.01, 1% or 1/100.
export function parseRate(text, most) {
  const found = new RegExp(`^\\s*(${DECIMAL})(?:/\\s*(${DECIMAL})|(%))?$`, 'i').exec(text);
  if (!found) return undefined;
  const [, above, below, percent] = found;
  const v = percent ? Number(above) / 100 : Number(above) / Number(below ?? 1);
  return v > 0 && (v < 1 || v === most) ? v : undefined;
}

// 50%, 0.5 or 2: who writes 50 means 50%.
export function parseShare(text) {
  const found = new RegExp(`^(?![+-])(${DECIMAL})(%)?$`, 'i').exec(text);
  if (!found) return undefined;
  const v = found[2] ? Number(found[1]) / 100 : Number(found[1]);
  return v > 0 && v <= 1e6 && (found[2] || v < 10) ? v : undefined;
}

export const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

// A number as the shortest text that the command reads as the same number.
export function short(n) {
  const text = String(n), zeros = /0*$/.exec(text)[0].length;
  for (const [unit, digits] of [['T', 12], ['G', 9], ['M', 6], ['k', 3]])
    if (zeros >= digits) return text.slice(0, -digits) + unit;
  return text;
}
