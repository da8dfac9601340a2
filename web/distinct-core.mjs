// Distinct sketches in JavaScript: a small WebAssembly module of their own, and a thin layer around
// it. distinct.d.ts is the manual.
import { encodingOf, halves, invalid, library, whole } from './core.mjs';

export const place = { wasm: null }; // where the module is, or its bytes; set by the entry

let c;
const lib = library(() => place.wasm, (exports) => { c = exports; });

function request({ error, bytes, m, encoding, keyWidth, seed, key, maxBytes, ...rest }) {
  for (const name of Object.keys(rest)) invalid(`a plan has no '${name}'`);
  if (error !== undefined && !(typeof error === 'number' && error > 0))
    invalid('the error must be above 0 and at most 30 %');
  // In the order of distinct/exports.c.
  lib.numbers().set([error ?? 0, whole('bytes', bytes), whole('m', m), encodingOf(encoding),
    whole('keyWidth', keyWidth), ...halves(seed)]);
}

export class Distinct extends lib.handles('sketch') {
  static async load(from, options) {
    return new Distinct(await lib.load(from, options));
  }

  static async create(plan) {
    await lib.start();
    request(plan);
    return new Distinct(lib.create(plan));
  }

  count() {
    return this.interval().count;
  }

  interval() {
    lib.checked(c.count(this.handle));
    const [value, low, high, error, sure] = lib.numbers(), exact = sure === 1;
    return { count: Math.round(value), low, high, confidence: exact ? 1 : 0.99, error, exact };
  }

  merge(other) {
    if (!(other instanceof Distinct)) throw new TypeError('only a Distinct can be merged');
    lib.checked(c.merge(this.handle, other.handle));
    return this;
  }
}
