/** "How many distinct keys?" about data too big to keep: estimated from a few kilobytes. */
import type { Encoding, Key, Options, Source } from './tamis.js';

export { TamisError } from './tamis.js';
export type { Encoding, Key, Options, Source } from './tamis.js';

/** Give error or bytes, or both; everything else has a default. */
export interface DistinctPlan {
  /** Relative standard error of the counts, above 0 and at most 0.3. Two thirds of all counts are
   * within one such error of the truth, and 99 % within 2.6 of them. */
  error?: number;
  /** Limit for the whole file. */
  bytes?: number;
  /** Registers of 4 bytes, a power of two from 16 to 67108864; a shape instead of bytes. */
  m?: number;
  /** State how keys become bytes; by default the file states nothing, and keys are text. */
  encoding?: Encoding;
  /** For 'fixed': the bytes of each key, 1 to 65535. */
  keyWidth?: number;
  seed?: number | bigint;
}

export interface Interval {
  /** As Distinct.count returns it. */
  count: number;
  /** The number of distinct keys is between low and high with this confidence: 1 if the count is
   * exact, and otherwise 0.99. */
  low: number;
  high: number;
  confidence: number;
  /** Relative standard error of the estimates of such a sketch; 0 if the count is exact. */
  error: number;
  /** The count is the number itself: small sets are counted exactly. */
  exact: boolean;
}

export class Distinct {
  private constructor();
  /** Makes an empty sketch. */
  static create(plan: DistinctPlan & Options): Promise<Distinct>;
  /** Loads a saved sketch. Damaged, truncated or foreign bytes of any sort fail with a
   * TamisError. An add to a small sketch fails with EFULL if it would exceed maxBytes. A window of
   * sketches can be counted and saved here, but not added to or merged. */
  static load(from: Source, options?: Options & {
    /** Accept a keyed sketch without its key: it can be counted, but not added to. */
    keyless?: boolean;
  }): Promise<Distinct>;

  /** Adds a key. Returns true if the key was certainly new, and false if nothing changed. Fails
   * with EINVAL if the key does not have the encoding of the sketch. */
  add(key: Key): boolean;
  addMany(keys: Iterable<Key>): this;
  /** Returns the number of distinct keys, a whole number; Infinity if the sketch is so full that it
   * cannot be estimated. Reads every register. */
  count(): number;
  /** Returns the same number with its confidence interval. */
  interval(): Interval;
  /** Adds all keys of the other sketch, which stays as it is. Fails with EMISMATCH unless both have
   * the same hash, seed or secret key, and encoding. If the sketches differ in size, the result has
   * the smaller one and its error. */
  merge(other: Distinct): this;
  /** Returns the file: the same bytes as the command line's for the same plan and the same keys, in
   * any order. */
  save(): Uint8Array;
  /** Frees the memory now; otherwise it is freed when nothing refers to the sketch any more. */
  close(): void;
}
