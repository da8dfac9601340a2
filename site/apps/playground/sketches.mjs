// Sketches that count, through the functions of web/apps/counts.c.
import { TamisError, c, heap, put, room, text } from '../apps/core.mjs';

const decoder = new TextDecoder();
const numbers = () => new Float64Array(c.memory.buffer, c.numbers(), 48);
const fail = () => { throw new TamisError('EINVAL', text(c.why())); };

export class Sketch {
  #t;

  // A plan: the number of the kind, and m and k, or items and bytes (the fields of web/exports.c).
  constructor({ number, items = 0, bytes = 0, m = 0, k = 0 }) {
    numbers().fill(0);
    const n = numbers();
    [n[0], n[2], n[4], n[5], n[6]] = [number, items, bytes, m, k];
    this.#t = c.create(0, 0) || fail();
  }

  add(key) {
    if (c.add(this.#t, room, put(key)) < 0) fail();
  }

  count(key) {
    if (c.frequency(this.#t, room, put(key)) < 0) fail();
    const [estimate, lower, upper] = numbers();
    return { estimate, lower, upper };
  }

  // The counters of a count-min, one for each row.
  cells(key) {
    const n = c.cellsOf(this.#t, room, put(key));
    return Array.from(new Float64Array(c.memory.buffer, c.cellsAt(), n));
  }

  cell(i) {
    return c.cell(this.#t, i);
  }

  list(most) {
    return Array.from({ length: c.list(this.#t, most) }, (_, i) => {
      c.listed(i);
      const [at, length, estimate, lower, upper] = numbers();
      return { item: decoder.decode(heap().slice(at, at + length)), estimate, lower, upper };
    });
  }

  close() {
    c.close(this.#t);
    this.#t = 0;
  }
}
