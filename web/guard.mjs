// The URL guard. It asks a local filter first, and the server only if the filter cannot exclude a
// URL. The server receives four bytes of a hash, never the URL. guard/version/guard.h describes the
// parts.
import {
  Tamis, TamisError, c, heap, hex, host, keep, put, room, sha256, start, text,
} from './core.mjs';

const MOST_SECONDS = 86400;
const ATTEMPTS = 3; // a version may be replaced while its parts are fetched
// Bytes of an answer in JSON. A description contains at most 64 labels of 66 bytes, less than 1,000
// bytes of other members, and a manifest of at most 16 KiB. A confirmation contains at most 10,000
// hashes of 67 bytes and 4 MiB of labels (guard/server/routes.c).
const MOST_UPDATE = 2 ** 16, MOST_CONFIRM = 5 * 2 ** 20;
const MOST_HASHES = 10000, MOST_LABELS = 64;
// Up to 63 characters, none of which is invisible or changes how others are shown.
const LABEL = /^[^\p{C}\p{Zl}\p{Zp}]{1,63}$/u;
const SHA256 = /^[0-9a-f]{64}$/;
const PARTS = ['filter', 'delta', 'removed'];
// After a failure the server is not asked for half a minute, and for twice as long after each
// further failure, up to an hour. Questions do not help a server in trouble, and pages do not wait
// for a server that is gone.
const QUIET = 30e3, MOST_QUIET = 3600e3;

// Drops the oldest entry when it is full.
class Bounded extends Map {
  constructor(most) {
    super();
    this.most = most;
  }

  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value);
    return this;
  }
}

// Makes the module parse a URL. Returns the number of expressions, or the reason why there are
// none. The module cannot convert international names to Punycode. The browser does it, from the
// canonical form: everything that browsers and the module could read differently is gone there.
function enter(url) {
  const parse = (any) => {
    const bytes = put(any); // which may move the room
    return c.url(room, bytes);
  };
  let n = parse(url);
  try {
    if (n >= 0 && c.urlEscaped()) {
      const canonical = text(c.urlText());
      // The capital sharp s, which older browsers and Node 20 do not map as newer browsers do.
      if (/^\w+:\/\/[^/]*%E1%BA%9E/.test(canonical)) return 'a host that browsers read differently';
      n = parse(new URL(canonical).href);
    }
  } catch {
    return 'a host that no browser visits';
  }
  return n < 0 ? text(c.why()) : n;
}

// Returns the expressions of the URL that the module has parsed. If the filter has labels, a maybe
// has one.
function expressions(n, bits, { filter, delta, labels }) {
  const m = heap(), spans = new Uint32Array(m.buffer, c.expressions(), 2 * n), hashes = c.hashes();
  return Array.from({ length: n }, (_, i) => ({
    expression: new TextDecoder().decode(m.subarray(spans[2 * i], spans[2 * i] + spans[2 * i + 1])),
    hash: hex(m.subarray(hashes + 32 * i, hashes + 32 * i + 32)),
    maybe: (bits >>> i & 1) === 1,
    ...(labels && bits >>> i & 1 &&
      { label: labels[c.label(filter.handle, delta?.handle ?? 0, i)] }),
  }));
}

// --- What a server delivers ----------------------------------------------------------------------
//
// Nothing that a server sends is believed before it is checked here: not the length of an answer,
// not the type of any member, not a URL, and not that a filter is one.

// A part that is missing or has other contents than the description states. The version may have
// been replaced meanwhile, so the description is fetched again.
class Replaced extends TamisError {}

function refuse(status, reason) {
  throw new TamisError(status, reason);
}

const isString = (it, pattern) => typeof it === 'string' && pattern.test(it);
const isPositive = (n) => Number.isSafeInteger(n) && n >= 1;
const areLabels = (all) => Array.isArray(all) && all.length <= MOST_LABELS &&
  all.every((label) => isString(label, LABEL));
// Returns the names of the lists, in the order of their numbers in a filter that has labels.
// Without names, such a filter is one like any other.
const named = (labels) => (labels === undefined || areLabels(labels) ? labels
  : refuse('ECORRUPT', `the description of the list: labels must be up to ${MOST_LABELS} names`));

// Returns the address of a server, with a slash at the end, under which all its URLs are.
function addressOf(server) {
  let url;
  try {
    url = new URL(server);
  } catch {
    refuse('EINVAL', 'the address of the server is not a URL');
  }
  if (!/^https?:$/.test(url.protocol))
    refuse('EINVAL', `${url.protocol} is not a protocol of a list's server; use https: or http:`);
  if (url.username || url.password)
    refuse('EINVAL', 'the address of the server contains a user name or a password');
  url.search = url.hash = '';
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url.href;
}

// Returns the URL of a path of the server. A URL elsewhere is refused: a server must not make its
// clients send requests to others, least of all to machines that only they can reach.
function below(address, path) {
  let url;
  try {
    url = new URL(path.replace(/^\//, ''), address);
  } catch {
    refuse('ECORRUPT', `${path.slice(0, 200)}: not a URL`);
  }
  if (!url.href.startsWith(address))
    refuse('ECORRUPT', `${url.href.slice(0, 200)}: this is not below ${address}`);
  return url;
}

function parsed(bytes, url) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return refuse('ECORRUPT', `${url}: the answer is not valid JSON`);
  }
}

// Checks a description of a version, and returns its members.
function described(m, { maxBytes, maxRate }) {
  const must = (good, what) => good || refuse('ECORRUPT', `the description of the list: ${what}`);
  must(typeof m === 'object' && m !== null, 'not an object');
  const { version, id, base, unchanged, rate, labels } = m;
  const about = { version, id, base, unchanged, rate, labels };
  must(isPositive(version), 'version must be a whole number from 1 on');
  must(isPositive(base) && base <= version, 'base must be a whole number from 1 to version');
  must(isString(id, /^[\w-]{1,64}$/), 'id must be up to 64 letters, digits, - and _');
  must(typeof unchanged === 'boolean', 'unchanged must be true or false');
  if (unchanged) return about;
  must(typeof rate === 'number' && rate >= 0 && rate <= 1, 'rate must be a number from 0 to 1');
  if (rate > maxRate)
    refuse('EMISMATCH', `the server would be asked about a share ${rate} of all expressions, and ` +
      `${maxRate} is the most that is allowed; a bigger filter has a lower rate`);
  for (const name of PARTS) {
    const part = m[name] ?? undefined;
    must(part || name !== 'filter', 'there is no filter');
    if (part === undefined) continue;
    const { url, bytes, sha256: sum } = part;
    must(typeof url === 'string', `${name}.url must be a string`);
    must(isPositive(bytes), `${name}.bytes must be a whole number from 1 on`);
    must(isString(sum, SHA256), `${name}.sha256 must be 64 hex digits`);
    if (bytes > maxBytes)
      refuse('ENOMEM', `${name}: ${bytes} bytes are more than the ${maxBytes} that are allowed`);
    about[name] = { url, bytes, sha256: sum };
  }
  return about;
}

// Checks that these are prefixes in ascending order.
function sorted(removed) {
  if (removed.length % 4 !== 0) refuse('ECORRUPT', 'removed: not a list of prefixes');
  const view = new DataView(removed.buffer, removed.byteOffset, removed.length);
  for (let at = 4; at < removed.length; at += 4)
    if (view.getUint32(at) <= view.getUint32(at - 4))
      refuse('ECORRUPT', 'removed: the prefixes are not in ascending order');
  return removed;
}

// The sealed kinds; `tamis guard build` writes ribbon, exact and map. The rate in their facts is
// computed from the cells, and the time of a query is bounded.
const SEALED = ['fuse', 'ribbon', 'exact', 'map'];
// The computed rate may be this many times the stated one. `tamis guard build` states it exactly.
const TOLERANCE = 2;
const PROBES = 10000;

// The most maybes of PROBES hashes. A filter with this rate exceeds it with a probability of at
// most 1e-9: by Bernstein's inequality, the probability of t more than the mean m is at most
// exp(-t²/(2(m + t/3))).
function mostMaybes(rate) {
  const mean = PROBES * rate, third = Math.log(1e9) / 3;
  return mean + third + Math.sqrt(third * third + 6 * third * mean);
}

// Refuses filters with a rate far above the stated one, with which every page would send prefixes
// to the server. Random hashes show whether the facts of the image are true. They are drawn anew
// each time, because a filter could make exceptions for known ones.
function believe(filters, rate) {
  let now = 0;
  for (const filter of filters) {
    const { kind, sealed, fprNow } = filter.info();
    if (!sealed || !SEALED.includes(kind))
      refuse('EUNSUPPORTED', `a ${sealed ? '' : 'not sealed '}${kind} is not the filter of a list`);
    now += fprNow;
  }
  if (now > TOLERANCE * rate)
    refuse('EMISMATCH', `the filter's rate is ${now}, far above the server's statement of ${rate}`);
  const words = new Uint32Array(8), hash = new Uint8Array(words.buffer);
  let maybes = 0;
  for (let i = 0; i < PROBES; i++) {
    for (let j = 0; j < words.length; j++) words[j] = 2 ** 32 * Math.random();
    if (filters.some((filter) => filter.has(hash))) maybes++;
  }
  if (maybes > mostMaybes(Math.max(rate, now)))
    refuse('EMISMATCH', `the filter matches ${maybes} of ${PROBES} random hashes, far above the ` +
      `server's statement of ${rate}`);
}

// Checks the server's answer about these prefixes and returns it as a map from hashes to labels, or
// throws.
function understood(answer, prefixes) {
  const { hashes, labels, version, cache_seconds: seconds } = answer ?? {};
  const good = Array.isArray(hashes) && Array.isArray(labels) &&
    hashes.length === labels.length && hashes.length <= MOST_HASHES &&
    typeof seconds === 'number' && seconds >= 0 &&
    (version === undefined || isPositive(version)) &&
    hashes.every((h) => isString(h, SHA256) && prefixes.includes(h.slice(0, 8))) &&
    labels.every(areLabels);
  if (!good) refuse('ECORRUPT', 'not an answer to the question');
  return new Map(hashes.map((h, i) => [h, labels[i]]));
}

// --- The guard -----------------------------------------------------------------------------------

export class Guard {
  #now;
  #server;
  #address; // of the server, as a base for URLs
  #confirm;
  #options;
  #updating;
  #signing; // signed.mjs, if there are pinned keys
  #failures = 0;
  #quiet = 0; // time until which the server is not asked
  #why;

  constructor() {
    this.version = undefined;
  }

  static async load(from, options = {}) {
    const guard = new Guard();
    guard.#options = {
      timeout: 5000, remember: 10000, maxBytes: 2 ** 26, maxRate: 0.01, clock: Date.now, ...options,
    };
    const { maxBytes, publicKeys, accepted } = guard.#options;
    await start();
    if (publicKeys !== undefined || accepted !== undefined) {
      // Service workers cannot import at this time.
      const { Signing } = host.signed ?? await import('./signed.mjs').catch((e) =>
        refuse('EUNSUPPORTED', `tamis/signed: ${e.message}`));
      guard.#signing = await Signing.start(guard.#options);
    }
    const isServer = typeof from === 'string' || from instanceof URL;
    const server = isServer ? from : from.server;
    if (isServer || server) {
      guard.#server = String(server);
      guard.#address = addressOf(server);
    }
    if (isServer) {
      await guard.update();
      return guard;
    }
    guard.#confirm = from.confirm;
    const [filter, delta, removed] = await Promise.all(PARTS.map((name) =>
      from[name] ?? undefined).map((part) => part && host.read(part, maxBytes)));
    const parts = { filter, delta, removed };
    await guard.#become(await guard.#signing?.stored(from, parts) ?? { ...from, rate: undefined },
      parts);
    for (const hash of from.refuted ?? []) guard.#now.refuted.set(hash, true);
    return guard;
  }

  // --- A URL -------------------------------------------------------------------------------------

  #look(url) {
    const { filter, delta, removed, removals } = this.#now;
    const n = enter(url);
    if (typeof n === 'string') return { n: 0, bits: 0, reason: n };
    const bits = c.maybes(filter.handle, delta?.handle ?? 0, removed, removals);
    return { n, bits, url: text(c.urlText()) };
  }

  look(url) {
    const { n, bits, ...rest } = this.#look(url);
    return { ...rest, expressions: expressions(n, bits, this.#now) };
  }

  async check(given, { insist } = {}) {
    const state = this.#now, { n, bits, url, reason } = this.#look(given);
    const result = {
      verdict: 'clean', url, version: state.version, expressions: n, maybes: 0, asked: 0,
        labels: [],
    };
    if (reason) return { ...result, verdict: 'no-url', reason };
    if (bits === 0) return result;
    const maybes = expressions(n, bits, state).filter((e) => e.maybe);
    result.maybes = maybes.length;
    if (state.labels) result.likely = [...new Set(maybes.map((e) => e.label).filter(Boolean))];
    const judge = (known) => {
      for (const { hash, expression } of maybes) {
        const labels = known(hash);
        if (labels) return Object.assign(result, { verdict: 'listed', expression, labels });
      }
      return undefined;
    };
    const kept = (hash) => this.#kept(state, hash);
    if (judge(kept)) return result;
    const unknown = maybes.filter((e) => kept(e.hash) === undefined);
    const prefixes = [...new Set(unknown.map((e) => e.hash.slice(0, 8)))].sort();
    if (prefixes.length === 0) return result;
    result.asked = prefixes.length;
    try {
      const { listed, version, until } = await this.#ask(state, prefixes, insist);
      // The other hashes of the answer are not kept: nothing limits how many there are in the end.
      for (const { hash } of unknown) state.answers.set(hash, { until, labels: listed.get(hash) });
      if (version === state.version)
        for (const e of maybes) if (!listed.has(e.hash)) state.refuted.set(e.hash, true);
      judge((hash) => listed.get(hash));
    } catch (e) {
      Object.assign(result, { verdict: 'unconfirmed', reason: e.message });
    }
    return result;
  }

  // Returns the labels if the hash is listed, false if it is not, undefined if the server must be
  // asked.
  #kept(state, hash) {
    const answer = state.answers.get(hash);
    if (answer && this.#options.clock() < answer.until) return answer.labels ?? false;
    return state.refuted.has(hash) ? false : undefined;
  }

  // Checks that wait for the same answer share it.
  #ask(state, prefixes, insist) {
    const name = prefixes.join();
    let answer = state.asking.get(name);
    if (!answer) {
      answer = this.#askOnce(state, prefixes, insist).finally(() => state.asking.delete(name));
      state.asking.set(name, answer);
    }
    return answer;
  }

  async #askOnce(state, prefixes, insist) {
    const { clock } = this.#options, failures = this.#failures, wait = this.#quiet - clock();
    if (wait > 0 && !insist)
      refuse('EIO', `${this.#why}; asked again in ${Math.ceil(wait / 1000)} s`);
    try {
      const answer = this.#confirm ? await this.#confirm(prefixes)
        : await this.#json(`v1/confirm?${prefixes.map((p) => `prefix=${p}`).join('&')}`,
          MOST_CONFIRM);
      const listed = understood(answer, prefixes), { version = state.version } = answer;
      const until = clock() + 1000 * Math.min(answer.cache_seconds, MOST_SECONDS);
      if (version !== state.version) this.stale = true;
      this.#failures = this.#quiet = 0;
      return { listed, version, until };
    } catch (e) {
      // Questions that fail together count as one failure.
      this.#failures = failures + 1;
      this.#quiet = clock() + Math.min(QUIET * 2 ** failures, MOST_QUIET);
      this.#why = e.message;
      throw e;
    }
  }

  // --- Versions ----------------------------------------------------------------------------------

  // Returns the bytes at a path of the server, and stops at the first that exceeds the limit.
  // Redirects are not followed: they could lead anywhere.
  async #fetch(path, most, cache) {
    if (!this.#address) refuse('EIO', 'there is no server to ask');
    const { timeout, fetch = globalThis.fetch } = this.#options, url = below(this.#address, path);
    // The fetch of Node 18 ignores the signal while a server sends early hints, or the extension of
    // a chunk, without an end. Therefore the timeout is waited for as well.
    const late = new AbortController();
    let timer;
    const timedOut = new Promise((_, fail) => {
      timer = setTimeout(() => { late.abort(); fail(late.signal.reason); }, timeout);
    });
    const inTime = (promise) => Promise.race([promise, timedOut]);
    let response;
    try {
      // The server need not know which page asked.
      response = await inTime(fetch(url, {
        cache, credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'manual',
        signal: late.signal,
      }));
      const { status, type, redirected } = response;
      if (redirected || type === 'opaqueredirect' || (status >= 300 && status < 400))
        refuse('EIO', `${url}: redirects elsewhere, which is not followed`);
      if (status === 404) throw new Replaced('EIO', `${url}: HTTP 404`);
      return await inTime(host.read(response, most, late.signal));
    } catch (e) {
      response?.body?.cancel?.().catch(() => {});
      if (e.status === 'ENOMEM') throw new Replaced('ECORRUPT', `${url}: more than ${most} bytes`);
      if (e instanceof TamisError) throw e;
      throw new TamisError('EIO', late.signal.aborted ? `${url}: the request timed out`
        : [e.message, e.cause?.message].filter(Boolean).join(': '), { cause: e });
    } finally {
      clearTimeout(timer);
    }
  }

  async #json(path, most) {
    return parsed(await this.#fetch(path, most, 'no-store'), path);
  }

  async #part(part, held) {
    if (!part) return undefined;
    if (held?.sha256 === part.sha256) return held;
    const bytes = await this.#fetch(part.url, part.bytes, 'default');
    if (bytes.length !== part.bytes || sha256(bytes) !== part.sha256)
      throw new Replaced('ECORRUPT', `${part.url.slice(0, 200)}: damaged, or of another version`);
    return bytes;
  }

  update() {
    return this.#updating ||= this.#update().finally(() => { this.#updating = undefined; });
  }

  async #update(attempt = 1, from = this.#now?.version ?? '') {
    const answer = await this.#json(`v1/update${from === '' ? '' : `?from=${from}`}`, MOST_UPDATE);
    const m = described(answer, this.#options);
    this.#failures = this.#quiet = 0;
    // The signed manifest states what the description does, or this fails.
    m.signed = await this.#signing?.offered(answer);
    // An equal number is not the same version if the lists were built from scratch.
    if (m.unchanged) {
      if (from === '') refuse('ECORRUPT', 'the description of the list: there is no list');
      if (m.id !== this.#now.id || m.version !== from || this.#signing?.hasOther(m.signed))
        return this.#update(attempt, '');
      this.stale = false;
      // The version in use may have been signed again, with a later expiry.
      return { changed: this.#signing?.accept(m.signed) ?? false, version: m.version, bytes: 0 };
    }
    try {
      const [filter, delta, removed] = await Promise.all(PARTS.map((name) =>
        this.#part(m[name], name === 'filter' && this.#now?.kept)));
      await this.#become(m, { filter, delta, removed });
      const bytes = [filter, delta, removed].reduce((sum, part) => sum + (part?.length ?? 0), 0);
      return { changed: true, version: m.version, bytes };
    } catch (e) {
      if (attempt >= ATTEMPTS || !(e instanceof Replaced)) throw e;
      return this.#update(attempt + 1, from);
    }
  }

  // Switches to a version as a whole. A filter that stays is identified by its checksum alone. The
  // rate is the one that a server stated; parts that the caller has are believed.
  async #become({ version, id, base, rate, labels, signed }, { filter, delta, removed }) {
    const old = this.#now, stays = old && filter === old.kept;
    const all = sorted(removed ?? new Uint8Array(0));
    if (!filter) refuse('EINVAL', 'a guard requires a filter');
    const next = { version, id, base, kept: stays ? old.kept : { sha256: sha256(filter) } };
    try {
      next.filter = stays ? old.filter : await Tamis.load(filter);
      next.delta = delta && await Tamis.load(delta);
      if (next.filter.info().kind === 'map') next.labels = named(signed?.labels ?? labels);
      if (rate !== undefined) believe([next.filter, next.delta].filter(Boolean), rate);
      Object.assign(next, {
        removed: keep(all), removals: all.length / 4, asking: new Map(),
        refuted: new Bounded(this.#options.remember), answers: new Bounded(this.#options.remember),
      });
    } catch (e) {
      this.#drop(next, stays);
      throw e;
    }
    this.#now = next;
    this.#signing?.accept(signed);
    this.version = version;
    this.stale = false;
    this.#drop(old, stays);
  }

  #drop(state, filterStays) {
    if (!state) return;
    if (!filterStays) state.filter?.close();
    state.delta?.close();
    c.free(state.removed ?? 0);
  }

  get signed() {
    return this.#signing?.signed;
  }

  get expired() {
    return this.#signing?.expired ?? false;
  }

  save() {
    const { version, id, base, labels, filter, delta, removed, removals, refuted } = this.#now;
    return {
      server: this.#server, version, id, base, labels, refuted: [...refuted.keys()],
      manifest: this.#signing?.text,
      filter: filter.save(), delta: delta?.save(),
      removed: heap().slice(removed, removed + 4 * removals),
    };
  }

  close() {
    this.#drop(this.#now);
    const closed = {
      get handle() { return refuse('EINVAL', 'this guard is closed'); },
      close() {},
    };
    this.#now = { filter: closed, removed: 0 };
  }
}
