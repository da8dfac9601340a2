/** "Have I seen this?" about data too big to keep. A filter answers "certainly not" or "maybe". */

/** What a key may be. A string stands for its UTF-8; lone surrogates count as U+FFFD. An integer is
 * a key only for filters of int64le keys, which accept no strings (docs/KEYS.md). A Uint8Array is
 * always the bytes of the key. */
export type Key = string | Uint8Array | number | bigint;

/** How the keys of a filter become bytes. The file records it. */
export type Encoding = 'text' | 'int64le' | 'fixed' | 'sha256' | 'caller';
/** Which lower bound of the size; docs/ACCURACY.md explains them. */
export type Bound = 'static' | 'dynamic' | 'two-set';

/** Anything that has bytes. Strings are URLs; in Node, a string that does not begin with http: or
 * https: is a path. */
export type Source =
  | string | URL | Response | Blob | ArrayBuffer | ArrayBufferView
  | Promise<Response | Blob | ArrayBuffer | ArrayBufferView>;

export type Kind =
  | 'bloom' | 'partitioned' | 'blocked' | 'counting' | 'fuse'
  /** These kinds can only be read here; the command line makes them. */
  | 'pair' | 'growing' | 'window' | 'cuckoo' | 'ribbon' | 'exact' | 'map';

/** The reason for a failure: the name of the C library's status, and its reason as the message. */
export class TamisError extends Error {
  readonly name: 'TamisError';
  readonly status:
    | 'ENOMEM' | 'EINVAL' | 'EUNSUPPORTED' | 'EFULL' | 'EABSENT' | 'EMISMATCH' | 'ECORRUPT'
    | 'EVERSION' | 'EKEY' | 'EIO' | 'ESEALED';
  /** For ECORRUPT: the position of the wrong byte, if there is one. */
  readonly offset?: number;
  /** For EUNSUPPORTED: a kind that has the operation. */
  readonly betterKind?: Kind;
  /** For lists that a guard with publicKeys refuses. */
  readonly refusal?: Refusal;
}

/** Why a guard with publicKeys refuses a list.
 *   unsigned         it has no manifest, or one without a signature (EKEY);
 *   unknown-key      no pinned key has signed it (EKEY);
 *   wrong-signature  a signature of a pinned key is wrong (EKEY);
 *   malformed        the manifest is damaged, or of a newer form (ECORRUPT);
 *   disagrees        the description, or a stored part, is not what the manifest states (ECORRUPT);
 *   replayed         its version or time is before that of the last accepted one, or the version
 *                    is the same with another id (EMISMATCH);
 *   expired          its time is over (EMISMATCH);
 *   future           it was built more than an hour after what the clock shows (EMISMATCH). */
export type Refusal =
  | 'unsigned' | 'unknown-key' | 'wrong-signature' | 'malformed' | 'disagrees' | 'replayed'
  | 'expired' | 'future';

/** Give two of items, fpr and bytes; everything else has a default. */
export interface Plan {
  kind?: 'auto' | Kind;
  items?: number;
  /** False-positive rate, from 1e-18 to 1. */
  fpr?: number;
  /** Limit for the whole file. */
  bytes?: number;
  /** Bits or counters; a shape instead of bytes. */
  m?: number;
  /** Probes per key. */
  k?: number;
  /** Bits of a counter: 4, 8 or 16. */
  cellBits?: number;
  /** For counting: 'blocked' puts the counters of a key into one line. */
  innerKind?: Kind;
  /** State how keys become bytes; by default the file states nothing, and keys are text. */
  encoding?: Encoding;
  /** For 'fixed': the bytes of each key, 1 to 65535. */
  keyWidth?: number;
  seed?: number | bigint;
  /** Refuse items beyond the plan. */
  strict?: boolean;
  /** For blocked: 2 to 7 % smaller, and slower. */
  compact?: boolean;
  /** The caller supplies 16-byte hashes. */
  callerHashes?: boolean;
  /** For bloom: planned to be packed by the command line. */
  transfer?: boolean;
}

export interface Options {
  /** 16 secret bytes, for keys that strangers choose (SipHash-2-4). */
  key?: Uint8Array;
  /** Fail with ENOMEM for anything bigger. A body that is fetched is not read beyond this size,
   * which counts after decompression. */
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
  encoding: Encoding | undefined;
  keyWidth: number;
  fprAsymptotic: number;
  bitsPerItem: number;
  /** The lower bound of bits per item at this rate, for kinds like this one; 0 if there is none. */
  boundBits: number;
  /** bitsPerItem / boundBits, or 0. */
  boundRatio: number;
  /** Which bound: of sealed kinds, of kinds that take keys one by one, or of members and excluded
   * keys. undefined for growing filters. */
  bound: Bound | undefined;
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
  bound: Bound | undefined;
  mayMiss: boolean;
  keyed: boolean;
  strict: boolean;
  autoRotate: boolean;
  sealed: boolean;
  /** A sealed kind before its seal: answers true for every key. */
  collecting: boolean;
  readOnly: boolean;
  overfull: boolean;
  itemsEstimated: boolean;
  /** The maker of the file added hashes that are not uniform: no rate or estimate here is valid. */
  hashSuspect: boolean;
  /** As the file states it, or undefined; 'unknown' if it is from a newer library. */
  encoding: Encoding | 'unknown' | undefined;
  /** The length that every key must have; 0: any. */
  keyWidth: number;
}

export class Tamis {
  private constructor();
  /** Loads a saved filter. Damaged, truncated or foreign bytes of any sort fail with a
   * TamisError. */
  static load(from: Source, options?: Options & {
    /** Accept a keyed filter without its key: it answers true for every key. */
    keyless?: boolean;
  }): Promise<Tamis>;
  /** Makes an empty filter. */
  static create(plan: Plan & Options): Promise<Tamis>;
  /** Returns what create would make, together with the lower bound. */
  static plan(plan: Plan): Promise<Promised>;

  /** False is certain (except where Facts.mayMiss is set); true is wrong with probability
   * Facts.fprNow. Like add and remove, fails with EINVAL if the key does not have the encoding of
   * the filter. */
  has(key: Key): boolean;
  hasMany(keys: Iterable<Key>): boolean[];
  /** For maps only: the value of a key, or undefined if it is certainly not a member. Any other key
   * that is not a member gets an arbitrary value, with probability Facts.fprNow. */
  value(key: Key): number | undefined;
  /** For filters of the caller's own hashes: 16 bytes, the lower half first, little-endian. */
  hasHash(hash: Uint8Array): boolean;
  /** Adds a key. Returns whether it was certainly new. */
  add(key: Key): boolean;
  addMany(keys: Iterable<Key>): this;
  /** For counting filters only. Fails with EABSENT if the key is certainly not a member. Remove
   * only keys that were added. */
  remove(key: Key): void;
  /** Makes the filter read-only; a fuse filter answers from then on. */
  seal(): this;
  /** Reads every cell. */
  info(): Facts;
  /** Returns the file: the same bytes as the command line's for the same plan and the same keys in
   * the same order. */
  save(): Uint8Array;
  /** Frees the memory now; otherwise it is freed when nothing refers to the filter any more. */
  close(): void;
}

/** An answer of any other form is refused, and the verdict is 'unconfirmed'. */
export interface Confirmation {
  /** From 1 on. */
  version?: number;
  /** All listed SHA-256 hashes, in lower-case hex, that begin with one of the prefixes; at most
   * 10,000. */
  hashes: string[];
  /** The lists that contain each of them; at most 64 names of up to 63 characters, without control
   * and format characters. */
  labels: string[][];
  /** How long the answer may be cached; it is kept for a day at most. */
  cache_seconds: number;
}

/** A version of the lists: to start from without a server, or as Guard.save returned it. The filter
 * may be of any kind and rate; only what a server delivers is checked further (Guard.update). */
export interface GuardParts {
  filter: Source;
  delta?: Source | null;
  /** Sorted 4-byte prefixes. */
  removed?: Source | null;
  /** Confirms prefixes of 8 hex digits; without it, the server is asked. */
  confirm?: (prefixes: string[]) => Confirmation | Promise<Confirmation>;
  /** An address that begins with http: or https:, without a user name and password. */
  server?: string | URL;
  version?: number;
  id?: string;
  base?: number;
  /** The names of the lists, in the order of their numbers in a filter that has labels. */
  labels?: readonly string[];
  /** The signed manifest, which publicKeys require: its signature is checked again, and the parts
   * must be those that it names. It may have expired meanwhile. */
  manifest?: string;
  /** Hashes that the filter could not exclude but the server did, in this version. */
  refuted?: string[];
}

export interface GuardOptions {
  /** Milliseconds that a request may take; default 5000. */
  timeout?: number;
  /** How many refuted positives and how many answers are kept; default 10000 each. */
  remember?: number;
  /** Limit for the filter, the delta and the removed prefixes each; default 64 MiB. */
  maxBytes?: number;
  /** Limit for the false-positive rate of the lists of a server; default 0.01. With a higher rate,
   * more pages cause requests to the server. */
  maxRate?: number;
  /** Ed25519 public keys, each as the second line of a signify .pub file or as the whole file. Only
   * lists that one of them has signed are accepted then, from servers and from GuardParts. Load
   * fails with EINVAL for anything else than such a key, and with EUNSUPPORTED where WebCrypto has
   * no Ed25519. In a service worker, import 'tamis/signed' as well. */
  publicKeys?: readonly string[];
  /** Guard.signed of the last accepted list: no older one is accepted. GuardParts with a manifest
   * imply it; it is for clients that keep it apart from the parts. */
  accepted?: Pick<Signed, 'version' | 'id' | 'built'>;
  /** Used instead of the global fetch. */
  fetch?: typeof fetch;
  /** Used instead of Date.now. */
  clock?: () => number;
}

/** What the signed manifest of a list states. Times are in seconds since 1970. */
export interface Signed {
  readonly version: number;
  /** 32 hexadecimal digits, unique to each version that was built. */
  readonly id: string;
  readonly base: number;
  readonly built: number;
  /** Undefined for a list that never expires. */
  readonly expires: number | undefined;
  /** The numbers of the pinned keys that have signed it, 16 hexadecimal digits each. */
  readonly keys: readonly string[];
}

export interface Verdict {
  /** 'clean' and 'listed' are certain. 'unconfirmed': the filter cannot exclude the URL and the
   * server could not be asked. 'no-url': not a URL that could be listed, which does not mean that
   * it is clean. */
  verdict: 'clean' | 'listed' | 'unconfirmed' | 'no-url';
  /** The canonical form; missing for no-url. */
  url?: string;
  version?: number;
  /** How many expressions of hosts and paths were looked up, */
  expressions: number;
  /** how many of them the filter could not exclude, */
  maybes: number;
  /** and how many prefixes the server was asked about. */
  asked: number;
  /** For listed: the listed expression, and the lists that contain it. */
  expression?: string;
  labels: string[];
  /** The labels that the filter has for the maybes, if it has labels. They are a guess: a URL that
   * is not listed gets any label, at the rate of the filter. Guard.look has them before the server
   * is asked. */
  likely?: string[];
  /** For unconfirmed and no-url. */
  reason?: string;
}

export interface Look {
  url?: string;
  reason?: string;
  /** label: for a maybe, if the filter has labels (Verdict.likely). */
  expressions: { expression: string; hash: string; maybe: boolean; label?: string }[];
}

export class Guard {
  private constructor();
  static load(from: string | URL | GuardParts, options?: GuardOptions): Promise<Guard>;
  /** The version of the lists. */
  readonly version: number | undefined;
  /** The server has reported another version: it is time for update(). */
  readonly stale: boolean;
  /** With publicKeys: who signed the lists, and until when. Otherwise undefined. */
  readonly signed: Signed | undefined;
  /** The signed lists have expired. They stay in use, and still contain what they list, but what
   * was found since is missing. Without publicKeys always false. */
  readonly expired: boolean;
  /** Checks a URL. It never rejects because of the network; the verdict is then 'unconfirmed'.
   * After a failure the server is not asked for 30 seconds, then for twice as long each time, up
   * to an hour; during that time the verdict is 'unconfirmed' at once. `insist` asks the server
   * anyway. */
  check(url: string | Uint8Array, options?: { insist?: boolean }): Promise<Verdict>;
  /** Does only the local half, and returns the details. */
  look(url: string | Uint8Array): Look;
  /** Fetches a new version and switches to it as a whole; on failure the previous version stays.
   * Fails with
   *   EIO           the server cannot be reached, times out, answers with an error or redirects;
   *   ECORRUPT      an answer is malformed, damaged or longer than stated, or a part has a URL that
   *                 is not below the server's address;
   *   ENOMEM        a part is bigger than maxBytes;
   *   EUNSUPPORTED  the filter or the delta is not of a sealed kind (fuse, ribbon, exact);
   *   EMISMATCH     the rate is higher than maxRate, or far higher than the server states.
   * With publicKeys, it also fails as Refusal lists. Without them, the version may be lower than
   * before: the server decides what it publishes. `changed` means that save() has something new,
   * which may be only a later expiry. */
  update(): Promise<{ changed: boolean; version: number; bytes: number }>;
  /** Returns parts for Guard.load, to start again without fetching. */
  save(): GuardParts;
  close(): void;
}
