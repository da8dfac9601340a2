/** "Have I seen this?" about data too big to keep. A filter answers "certainly not" or "maybe". */

/** What a key may be. Strings are their UTF-8; lone surrogates count as U+FFFD. */
export type Key = string | Uint8Array;

/** Whatever bytes can be had from. Strings are URLs; in Node, what does not begin with http: or https: is a path. */
export type Source =
  | string | URL | Response | Blob | ArrayBuffer | ArrayBufferView
  | Promise<Response | Blob | ArrayBuffer | ArrayBufferView>;

export type Kind =
  | 'bloom' | 'partitioned' | 'blocked' | 'counting' | 'fuse'
  /** These are only read here; the command line makes them. */
  | 'pair' | 'growing' | 'window' | 'cuckoo' | 'ribbon' | 'exact';

/** Why something failed: the name of the C library's status, and its reason as the message. */
export class TamisError extends Error {
  readonly name: 'TamisError';
  readonly status:
    | 'ENOMEM' | 'EINVAL' | 'EUNSUPPORTED' | 'EFULL' | 'EABSENT' | 'EMISMATCH' | 'ECORRUPT' | 'EVERSION' | 'EKEY' | 'EIO'
    | 'ESEALED';
  /** Of ECORRUPT: the byte that is to blame, where one is. */
  readonly offset?: number;
  /** Of EUNSUPPORTED: a kind that can. */
  readonly betterKind?: Kind;
}

/** Say two of items, fpr and bytes; what is left out is decided for you. */
export interface Plan {
  kind?: 'auto' | Kind;
  items?: number;
  /** False-positive rate, from 1e-18 to 1. */
  fpr?: number;
  /** Budget for the whole file. */
  bytes?: number;
  /** Bits, counters; a shape instead of bytes. */
  m?: number;
  /** Probes per key. */
  k?: number;
  /** Of a counter: 4, 8 or 16. */
  cellBits?: number;
  /** Of counting: 'blocked' puts the counters of a key into one line. */
  innerKind?: Kind;
  seed?: number | bigint;
  /** Refuse items beyond the plan. */
  strict?: boolean;
  /** Blocked: 2 to 7 % smaller, and slower. */
  compact?: boolean;
  /** The caller brings 16-byte hashes. */
  callerHashes?: boolean;
  /** Bloom: made to be packed by the command line. */
  transfer?: boolean;
}

export interface Options {
  /** 16 secret bytes, for keys that strangers choose (SipHash-2-4). */
  key?: Uint8Array;
  /** ENOMEM for anything bigger. */
  maxBytes?: number;
}

export interface Promised {
  kind: Kind;
  items: number;
  fpr: number;
  bytes: number;
  m: number;
  k: number;
  cellBits: number;
  innerKind: 'auto' | Kind;
  fprAsymptotic: number;
  bitsPerItem: number;
  /** No structure at all needs fewer bits per item. */
  boundBits: number;
  boundRatio: number;
  overflow: number;
  packedBytes: number;
}

/** What tamis_info reports (inspect.h). Rates are the current ones, computed from the bits. */
export interface Facts {
  kind: Kind;
  hash: 'xxh3' | 'siphash' | 'own';
  m: number;
  k: number;
  cellBits: number;
  format: number;
  generation: number;
  sections: number;
  seed: bigint;
  bytes: number;
  items: number;
  plannedItems: number;
  excluded: number;
  saturated: number;
  fprPlanned: number;
  fprNow: number;
  fprNowLow: number;
  fprNowHigh: number;
  missRate: number;
  overflow: number;
  itemsEstimate: number;
  itemsLow: number;
  itemsHigh: number;
  fill: number;
  bitsPerItem: number;
  boundBits: number;
  boundRatio: number;
  mayMiss: boolean;
  keyed: boolean;
  strict: boolean;
  autoRotate: boolean;
  sealed: boolean;
  /** A static kind before its seal: answers true to every key. */
  collecting: boolean;
  readOnly: boolean;
  overfull: boolean;
  itemsEstimated: boolean;
  /** Hashes were added that are not uniform, by whoever made the file: no rate or estimate here holds. */
  hashSuspect: boolean;
}

export class Tamis {
  private constructor();
  /** A saved filter. Damaged, cut or foreign bytes are refused with a TamisError, whatever they are. */
  static load(from: Source, options?: Options & {
    /** Accept a keyed filter without its key: it answers true to every key. */
    keyless?: boolean;
  }): Promise<Tamis>;
  /** An empty filter. */
  static create(plan: Plan & Options): Promise<Tamis>;
  /** What create would make of it, and the lower bound beside it. */
  static plan(plan: Plan): Promise<Promised>;

  /** False is certain (but see Facts.mayMiss); true is wrong with the probability Facts.fprNow. */
  has(key: Key): boolean;
  hasMany(keys: Iterable<Key>): boolean[];
  /** For filters of the caller's own hashes: 16 bytes, the lower half first, little-endian. */
  hasHash(hash: Uint8Array): boolean;
  /** Whether it was certainly new. */
  add(key: Key): boolean;
  addMany(keys: Iterable<Key>): this;
  /** Counting filters only. EABSENT when it certainly is not in. Remove only what was added. */
  remove(key: Key): void;
  /** Read-only from now on; fuse filters answer from now on. */
  seal(): this;
  /** Reads every cell. */
  info(): Facts;
  /** The file: the same bytes as the command line's for the same plan and keys in the same order. */
  save(): Uint8Array;
  /** Frees its memory now; otherwise that is done when nothing refers to it any more. */
  close(): void;
}

export interface Confirmation {
  version?: number;
  /** All listed SHA-256 hashes, in lower-case hex, that begin with one of the prefixes. */
  hashes: string[];
  /** The lists that each of them is on. */
  labels: string[][];
  /** How long this may be believed. */
  cache_seconds: number;
}

/** A version of the lists, to start from without a server or to be kept by Guard.save. */
export interface GuardParts {
  filter: Source;
  delta?: Source | null;
  /** Sorted 4-byte prefixes. */
  removed?: Source | null;
  /** Asks somebody about prefixes of 8 hex digits; without it, the server. */
  confirm?: (prefixes: string[]) => Confirmation | Promise<Confirmation>;
  server?: string | URL;
  version?: number;
  id?: string;
  base?: number;
  /** Hashes that the filter could not exclude and the server did, in this version. */
  refuted?: string[];
}

export interface GuardOptions {
  /** Milliseconds that a request may take; 5000. */
  timeout?: number;
  /** Refuted positives and answers that are kept, each; 10000. */
  remember?: number;
  /** Of a part; 64 MiB. */
  maxBytes?: number;
  /** Instead of the global one. */
  fetch?: typeof fetch;
  /** Instead of Date.now. */
  clock?: () => number;
}

export interface Verdict {
  /** clean and listed are certain; unconfirmed: the filter cannot exclude it and nobody could be asked; no-url: nothing that
   * could be listed, and not a "clean". */
  verdict: 'clean' | 'listed' | 'unconfirmed' | 'no-url';
  /** The canonical form; not of no-url. */
  url?: string;
  version?: number;
  /** How many expressions of hosts and paths were looked up, */
  expressions: number;
  /** how many of them the filter could not exclude, */
  maybes: number;
  /** and how many prefixes the server was asked about. */
  asked: number;
  /** Of listed: what is, and on which lists. */
  expression?: string;
  labels: string[];
  /** Of unconfirmed and no-url. */
  reason?: string;
}

export interface Look {
  url?: string;
  reason?: string;
  expressions: { expression: string; hash: string; maybe: boolean }[];
}

export class Guard {
  private constructor();
  static load(from: string | URL | GuardParts, options?: GuardOptions): Promise<Guard>;
  /** Of the lists. */
  readonly version: number | undefined;
  /** The server has shown another version: time for update(). */
  readonly stale: boolean;
  /** Never rejects because of the network: that is an 'unconfirmed'. After a failure the server is not asked for 30 seconds,
   * then for twice as long each time, up to an hour, and the verdict is that at once; `insist` asks all the same. */
  check(url: Key, options?: { insist?: boolean }): Promise<Verdict>;
  /** The local half alone, in detail. */
  look(url: Key): Look;
  /** Fetches what is new and goes over to it at once; on failure the version before stays. */
  update(): Promise<{ changed: boolean; version: number; bytes: number }>;
  /** For Guard.load, to start again without fetching. */
  save(): GuardParts;
  close(): void;
}
