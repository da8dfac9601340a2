// Filters in JavaScript: the C library as WebAssembly, and a thin layer around it. tamis.d.ts is
// the manual.

const STATUS = ['OK', 'ENOMEM', 'EINVAL', 'EUNSUPPORTED', 'EFULL', 'EABSENT', 'EMISMATCH',
  'ECORRUPT', 'EVERSION', 'EKEY', 'EIO', 'ESEALED'];
const KINDS = ['auto', 'bloom', 'partitioned', 'blocked', 'counting', 'pair', 'growing', 'window',
  'cuckoo', 'fuse', 'ribbon', 'exact', undefined, 'map'];
const FLAGS = ['strict', 'callerHashes', 'compact', 'autoRotate', 'transfer'];
const ENCODINGS = [undefined, 'text', 'int64le', 'fixed', 'sha256', 'caller'];
const BOUNDS = [undefined, 'static', 'dynamic', 'two-set'];
const INT64LE = 2, FIXED = 3, ABSENT = -5;
// In the order of exports.c.
const PLAN = 'kind flags items fpr bytes m k cellBits innerKind encoding keyWidth'.split(' ');
const PROMISE =
  'fprAsymptotic bitsPerItem boundBits boundRatio overflow packedBytes bound'.split(' ');
const FACTS = ('kind hash m k cellBits format generation sections bytes items plannedItems ' +
  'excluded saturated fprPlanned fprNow fprNowLow fprNowHigh missRate overflow itemsEstimate ' +
  'itemsLow itemsHigh fill bitsPerItem boundBits boundRatio mayMiss keyed strict autoRotate ' +
  'sealed collecting readOnly overfull itemsEstimated hashSuspect').split(' ');
const FIRST_TRUTH = FACTS.indexOf('mayMiss');
const nameOf = (encoding) => (encoding > 5 ? 'unknown' : ENCODINGS[encoding]);

export class TamisError extends Error {
  constructor(status, message, more) {
    super(message);
    Object.assign(this, { name: 'TamisError', status }, more);
  }
}

// --- The module, shared by all filters -----------------------------------------------------------

// More cannot be loaded: the module has 4 GiB of addresses, in which an image is copied and then
// loaded beside the copy.
const MOST_READ = 2 ** 31;

// Fails if there are more bytes than that.
function within(bytes, most) {
  if (bytes > most) throw new TamisError('ENOMEM', `more than ${most} bytes`);
}

// Returns the pieces as one, and fails at the first one that exceeds the limit. They are copied at
// once, because many small pieces take far more memory than their bytes.
export async function gather(next, most = MOST_READ) {
  let all = new Uint8Array(Math.min(most, 1 << 16)), n = 0;
  for (let piece; (piece = await next()) !== undefined; n += piece.length) {
    const size = n + piece.length;
    within(size, most);
    if (size > all.length) {
      const bigger = new Uint8Array(Math.min(most, Math.max(size, 2 * all.length)));
      bigger.set(all);
      all = bigger;
    }
    all.set(piece, n);
  }
  return all.subarray(0, n);
}

// Cancels the rest of a stream that fails or is too long, which closes its connection.
async function readStream(stream, most, signal) {
  const reader = stream.getReader();
  // Node may forget to abort a body whose request it has forgotten.
  signal?.addEventListener('abort', () => reader.cancel().catch(() => {}));
  try {
    return await gather(async () => (await reader.read()).value, most);
  } catch (e) {
    reader.cancel().catch(() => {});
    throw e;
  }
}

export const host = {
  wasm: null, // where the module is, or its bytes; set by the entry
  // Returns anything that can be loaded as bytes. Fails with ENOMEM if there are more than `most`.
  async read(from, most, signal) {
    from = await from;
    if (typeof from === 'string' || from instanceof URL) from = await fetch(from);
    if (from.ok === false) {
      from.body?.cancel?.().catch(() => {});
      throw new TamisError('EIO', `${from.url}: HTTP ${from.status}`);
    }
    if (from.body?.getReader) return readStream(from.body, most, signal);
    within(from.size, most); // of a Blob
    if (from.arrayBuffer) from = await from.arrayBuffer();
    if (!(from.byteLength >= 0))
      throw new TypeError('a filter comes from bytes, a Response, a Blob or a URL');
    within(from.byteLength, most);
    if (ArrayBuffer.isView(from))
      return new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
    return new Uint8Array(from);
  },
};

const encoder = new TextEncoder(), decoder = new TextDecoder();

export function invalid(message) {
  throw new TamisError('EINVAL', message);
}

// The functions around one WebAssembly module. `where` returns the module's place or bytes, and
// `moved` is called with the exports and with the address of the room where `put` puts.
export function library(where, moved) {
  let c, room, starting, memory, size = 1 << 12;

  function start() {
    return starting ||= (async () => {
      const { instance } = await WebAssembly.instantiate(await host.read(where()), { Math });
      c = instance.exports;
      moved(c, room = c.alloc(size));
    })().catch((e) => {
      starting = undefined;
      throw e;
    });
  }

  // Growing the memory detaches old views.
  function heap() {
    return memory?.length ? memory : memory = new Uint8Array(c.memory.buffer);
  }

  function text(at) {
    const m = heap();
    return decoder.decode(m.subarray(at, m.indexOf(0, at)));
  }

  const numbers = () => new Float64Array(c.memory.buffer, c.numbers(), 48);

  function allocate(n) {
    const p = n < 2 ** 32 ? c.alloc(n) : 0;
    if (!p) throw new TamisError('ENOMEM', `not enough memory for ${n} bytes`);
    return p;
  }

  function fail(status = c.whyMore(2), message = text(c.why())) {
    const offset = c.whyMore(0), better = c.whyMore(1);
    throw new TamisError(STATUS[-status] ?? 'EBUSY', message, {
      ...(offset && status === -7 && { offset }), ...(better && { betterKind: KINDS[better] }),
    });
  }

  // Returns a result that is not negative, and fails for any other.
  const checked = (s) => (s < 0 ? fail(s) : s);

  // Copies the bytes to `room` and returns how many there are. Strings become UTF-8; for short ones
  // of ASCII a loop is faster than the encoder.
  function put(key) {
    const isText = typeof key === 'string';
    if (!isText && !(key instanceof Uint8Array))
      throw new TypeError('a key must be a string or a Uint8Array');
    const n = key.length, most = isText ? 3 * n : n;
    if (most > size) {
      const more = allocate(most);
      c.free(room);
      moved(c, room = more);
      size = most;
    }
    const m = heap();
    if (!isText) {
      m.set(key, room);
      return n;
    }
    let i = 0;
    if (n < 128) {
      for (let code; i < n && (code = key.charCodeAt(i)) < 128; i++) m[room + i] = code;
      if (i === n) return n;
    }
    return i + encoder.encodeInto(i ? key.slice(i) : key, m.subarray(room + i, room + size))
      .written;
  }

  // Makes a copy in the module's memory, which the caller frees.
  function keep(bytes) {
    const p = allocate(bytes.length);
    heap().set(bytes, p);
    return p;
  }

  function withKey(key, use) {
    if (key === undefined) return use(0);
    if (!(key instanceof Uint8Array && key.length === 16))
      invalid('a secret key must be a Uint8Array of 16 bytes');
    const p = keep(key);
    try {
      return use(p);
    } finally {
      heap().fill(0, p, p + 16);
      c.free(p);
    }
  }

  // Returns the handle of what was loaded.
  async function load(from, { key, keyless, maxBytes } = {}) {
    const most = whole('maxBytes', maxBytes);
    const [bytes] = await Promise.all([host.read(from, most || undefined), start()]);
    const p = keep(bytes);
    try {
      return withKey(key, (secret) => c.load(p, bytes.length, secret, keyless ? 4 : 0, most)) ||
        fail();
    } finally {
      c.free(p);
    }
  }

  // Returns a new handle, for the request that is in `numbers`.
  function create({ key, maxBytes }) {
    const most = whole('maxBytes', maxBytes);
    return withKey(key, (secret) => c.create(secret, most)) || fail();
  }

  const lost = new FinalizationRegistry((t) => c.close(t));

  // What filters and sketches have in common; `noun` is one of these words.
  const handles = (noun) => class {
    #t;
    #encoding;
    #width;

    constructor(t) {
      if (!t) invalid(`a ${noun} comes from create or load`);
      this.#t = t;
      this.#encoding = c.keys(t) & 255;
      this.#width = c.keys(t) >>> 8;
      lost.register(this, t, this);
    }

    /** `handle` and `encode` are for the package's own files. */
    get handle() {
      return this.#t || invalid(`this ${noun} is closed`);
    }

    add(key) {
      const t = this.handle, n = this.encode(key);
      return checked(c.add(t, room, n)) === 0;
    }

    addMany(keys) {
      for (const key of keys) this.add(key);
      return this;
    }

    /** Encodes a key as the image states, copies it to `room`, and returns its length. */
    encode(key) {
      const e = this.#encoding;
      if (e < INT64LE) return put(key);
      if (e === INT64LE && (typeof key === 'bigint' || Number.isSafeInteger(key))) {
        if (BigInt.asIntN(64, BigInt(key)) !== BigInt(key))
          invalid(`${key} does not fit in 64 bits`);
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setBigInt64(0, BigInt(key), true);
        key = bytes;
      }
      if (e !== FIXED && !(key instanceof Uint8Array))
        invalid(`the keys of this ${noun} are encoded as ${nameOf(e)}, so a key must be ${
          e === INT64LE ? 'an integer, a bigint or ' : ''}a Uint8Array`);
      const n = put(key);
      if (this.#width && n !== this.#width)
        invalid(`the keys of this ${noun} have ${this.#width} bytes each; this key has ${n}`);
      return n;
    }

    save() {
      const n = c.size(this.handle), p = allocate(n), s = c.save(this.#t, p);
      const image = heap().slice(p, p + n);
      c.free(p);
      return s < 0 ? fail(s) : image;
    }

    close() {
      if (!this.#t) return;
      lost.unregister(this);
      c.close(this.#t);
      this.#t = 0;
    }
  };
  return { start, heap, text, numbers, put, keep, checked, load, create, handles };
}

// --- The module of filters -----------------------------------------------------------------------

export let c;
export let room; // where `put` puts
const main = library(() => host.wasm, (exports, at) => {
  c = exports;
  room = at;
});
export const { start, heap, text, put, keep } = main;
const { numbers, checked } = main;

export function sha256(bytes) {
  const p = keep(bytes);
  try {
    const at = c.sha256(p, bytes.length);
    return hex(heap().subarray(at, at + 32));
  } finally {
    c.free(p);
  }
}

export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

// --- Plans ---------------------------------------------------------------------------------------

function kind(name = 'auto') {
  const id = KINDS.indexOf(name);
  return id < 0 ? invalid(`there is no kind '${name}'`) : id;
}

export function encodingOf(name) {
  const id = ENCODINGS.indexOf(name);
  return id < 0 ? invalid(`there is no encoding '${name}'`) : id;
}

export function halves(seed = 0) {
  const bits = BigInt.asUintN(64, BigInt(seed));
  return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
}

export function whole(name, value = 0) {
  return Number.isSafeInteger(value) && value >= 0 ? value
    : invalid(`${name} must be a whole number`);
}

function request(plan) {
  const { kind: name, innerKind, seed, key, maxBytes, fpr = 0, encoding, ...rest } = plan;
  const wanted = { kind: kind(name), innerKind: kind(innerKind), flags: 0,
    encoding: encodingOf(encoding), fpr };
  if (typeof fpr !== 'number' || !(fpr >= 0)) invalid('fpr must be a number');
  for (const [name, value] of Object.entries(rest)) {
    const flag = FLAGS.indexOf(name);
    if (value === undefined) continue;
    if (flag >= 0) wanted.flags |= value ? 1 << flag : 0;
    else if (!PLAN.includes(name)) invalid(`a plan has no '${name}'`);
    else wanted[name] = whole(name, value);
  }
  numbers().set([...PLAN.map((name) => wanted[name] ?? 0), ...halves(seed)]);
}

// --- The filter ----------------------------------------------------------------------------------

export class Tamis extends main.handles('filter') {
  static async load(from, options) {
    return new Tamis(await main.load(from, options));
  }

  static async create(plan) {
    await start();
    request(plan);
    return new Tamis(main.create(plan));
  }

  static async plan(plan) {
    await start();
    request(plan);
    checked(c.plan());
    const n = numbers(), out = {};
    [...PLAN, ...PROMISE].forEach((name, i) => { out[name] = n[i]; });
    const { flags, ...said } = out;
    return { ...said, kind: KINDS[said.kind], innerKind: KINDS[said.innerKind],
      encoding: ENCODINGS[said.encoding], bound: BOUNDS[said.bound] };
  }

  has(key) {
    const t = this.handle, n = this.encode(key);
    return c.has(t, room, n) === 1;
  }

  hasMany(keys) {
    return Array.from(keys, (key) => this.has(key));
  }

  hasHash(hash) {
    if (hash.length !== 16) invalid('a hash has 16 bytes');
    const t = this.handle;
    put(hash);
    return c.hasHash(t, room) === 1;
  }

  remove(key) {
    const t = this.handle, n = this.encode(key);
    checked(c.remove(t, room, n));
  }

  value(key) {
    const t = this.handle, n = this.encode(key), value = c.value(t, room, n);
    return value === ABSENT ? undefined : checked(value);
  }

  seal() {
    checked(c.seal(this.handle));
    return this;
  }

  info() {
    checked(c.info(this.handle));
    const n = numbers(), out = {};
    FACTS.forEach((name, i) => { out[name] = i < FIRST_TRUTH ? n[i] : n[i] === 1; });
    const [encoding, keyWidth, low, high, bound] = n.subarray(FACTS.length, FACTS.length + 5);
    return { ...out, kind: KINDS[out.kind], hash: ['xxh3', 'siphash', 'own'][out.hash - 1],
      encoding: nameOf(encoding), keyWidth, seed: BigInt(low) | BigInt(high) << 32n,
      bound: BOUNDS[bound] };
  }
}
