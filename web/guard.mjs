// The URL guard. It asks a local filter first, and the server only if the filter cannot exclude a
// URL. The server receives four bytes of a hash, never the URL. guard/version/guard.h describes the
// parts.
import {
  Tamis, TamisError, c, heap, hex, host, keep, put, room, sha256, start, text,
} from './core.mjs';

const MOST_SECONDS = 86400;
const ATTEMPTS = 3; // a version may be replaced while its parts are fetched
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
// none. International names are converted to Punycode first, as the browser itself does.
function enter(url) {
  const bytes = put(url), n = c.url(room, bytes);
  if (n < 0) return text(c.why());
  if (typeof url !== 'string' || !c.urlEscaped()) return n;
  try {
    const whole = /^\s*[a-z]+:/i.test(url) ? url : `http://${url}`;
    return enter(new TextEncoder().encode(new URL(whole).href));
  } catch {
    return 'a host that no browser visits';
  }
}

// Returns the expressions of the URL that the module has parsed.
function expressions(n, bits) {
  const m = heap(), spans = new Uint32Array(m.buffer, c.expressions(), 2 * n), hashes = c.hashes();
  return Array.from({ length: n }, (_, i) => ({
    expression: new TextDecoder().decode(m.subarray(spans[2 * i], spans[2 * i] + spans[2 * i + 1])),
    hash: hex(m.subarray(hashes + 32 * i, hashes + 32 * i + 32)),
    maybe: (bits >>> i & 1) === 1,
  }));
}

// Checks the server's answer about these prefixes and returns it as a map from hashes to labels, or
// throws.
function understood(answer, prefixes) {
  const { hashes, labels, cache_seconds: seconds } = answer;
  const good = Array.isArray(hashes) && Array.isArray(labels) &&
    hashes.length === labels.length && seconds >= 0 &&
    hashes.every((h) => /^[0-9a-f]{64}$/.test(h) && prefixes.includes(h.slice(0, 8))) &&
    labels.every(Array.isArray);
  if (!good) throw new TamisError('ECORRUPT', 'not an answer to the question');
  return new Map(hashes.map((h, i) => [h, labels[i].map(String)]));
}

async function partOf(bytes) {
  if (bytes === undefined || bytes === null) return undefined;
  return host.read(bytes);
}

export class Guard {
  #now;
  #server;
  #confirm;
  #options;
  #updating;
  #failures = 0;
  #quiet = 0; // time until which the server is not asked
  #why;

  constructor() {
    this.version = undefined;
  }

  static async load(from, options = {}) {
    const guard = new Guard();
    guard.#options = {
      timeout: 5000, remember: 10000, maxBytes: 2 ** 26, clock: Date.now, ...options,
    };
    await start();
    if (typeof from === 'string' || from instanceof URL) {
      guard.#server = String(from);
      await guard.update();
      return guard;
    }
    guard.#server = from.server && String(from.server);
    guard.#confirm = from.confirm;
    const [filter, delta, removed] =
      await Promise.all([from.filter, from.delta, from.removed].map(partOf));
    await guard.#become({ version: from.version, id: from.id, base: from.base },
      { filter, delta, removed });
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
    return { ...rest, expressions: expressions(n, bits) };
  }

  async check(given, { insist } = {}) {
    const state = this.#now, { n, bits, url, reason } = this.#look(given);
    const result = {
      verdict: 'clean', url, version: state.version, expressions: n, maybes: 0, asked: 0,
        labels: [],
    };
    if (reason) return { ...result, verdict: 'no-url', reason };
    if (bits === 0) return result;
    const maybes = expressions(n, bits).filter((e) => e.maybe);
    result.maybes = maybes.length;
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
      const { listed, version } = await this.#ask(state, prefixes, insist);
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
    const answer = state.answers.get(hash.slice(0, 8));
    if (answer && this.#options.clock() < answer.until) return answer.listed.get(hash) ?? false;
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
      throw new TamisError('EIO', `${this.#why}; asked again in ${Math.ceil(wait / 1000)} s`);
    try {
      const answer = this.#confirm ? await this.#confirm(prefixes)
        : await this.#json(`v1/confirm?${prefixes.map((p) => `prefix=${p}`).join('&')}`);
      const listed = understood(answer, prefixes), { version = state.version } = answer;
      const until = clock() + 1000 * Math.min(answer.cache_seconds, MOST_SECONDS);
      for (const p of prefixes) state.answers.set(p, { until, listed });
      if (version !== state.version) this.stale = true;
      this.#failures = this.#quiet = 0;
      return { listed, version };
    } catch (e) {
      // Questions that fail together count as one failure.
      this.#failures = failures + 1;
      this.#quiet = clock() + Math.min(QUIET * 2 ** failures, MOST_QUIET);
      this.#why = e.message;
      throw e;
    }
  }

  // --- Versions ----------------------------------------------------------------------------------

  #fetch(path, cache) {
    if (!this.#server) throw new TamisError('EIO', 'there is no server to ask');
    const { timeout, fetch = globalThis.fetch } = this.#options;
    const url = new URL(path.replace(/^\//, ''), this.#server.replace(/\/*$/, '/'));
    // The server need not know which page asked.
    return fetch(url, {
      cache, credentials: 'omit', referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(timeout),
    });
  }

  async #json(path) {
    return JSON.parse(new TextDecoder().decode(await host.read(this.#fetch(path, 'no-store'))));
  }

  async #part(part, held) {
    if (!part) return undefined;
    if (held?.sha256 === part.sha256) return held;
    if (!(part.bytes <= this.#options.maxBytes))
      throw new TamisError('ENOMEM', `${part.bytes} bytes are too many`);
    const bytes = await host.read(this.#fetch(part.url, 'default'));
    if (bytes.length !== part.bytes || sha256(bytes) !== part.sha256)
      throw new TamisError('ECORRUPT', `${part.url}: damaged, or of another version`);
    return bytes;
  }

  update() {
    return this.#updating ||= this.#update().finally(() => { this.#updating = undefined; });
  }

  async #update(attempt = 1, from = this.#now?.version ?? '') {
    const m = await this.#json(`v1/update${from === '' ? '' : `?from=${from}`}`);
    this.#failures = this.#quiet = 0;
    // An equal number is not the same version if the lists were built from scratch.
    if (m.unchanged && from !== '')
      return m.id === this.#now.id ? { changed: false, version: m.version, bytes: 0 }
        : this.#update(attempt, '');
    try {
      const [filter, delta, removed] = await Promise.all(
        ['filter', 'delta', 'removed'].map((name) =>
          this.#part(m[name], name === 'filter' && this.#now?.kept)));
      await this.#become(m, { filter, delta, removed });
      const bytes = [filter, delta, removed].reduce((sum, part) => sum + (part?.length ?? 0), 0);
      return { changed: true, version: m.version, bytes };
    } catch (e) {
      if (attempt >= ATTEMPTS) throw e;
      return this.#update(attempt + 1, from);
    }
  }

  // Switches to a version as a whole. A filter that stays is identified by its checksum alone.
  async #become({ version, id, base }, { filter, delta, removed }) {
    const old = this.#now, stays = old && filter === old.kept;
    const all = removed ?? new Uint8Array(0);
    if (!filter) throw new TamisError('EINVAL', 'a guard requires a filter');
    if (all.length % 4 !== 0) throw new TamisError('ECORRUPT', 'removed: not a list of prefixes');
    const next = {
      version, id, base,
      kept: stays ? old.kept : { sha256: sha256(filter) },
      filter: stays ? old.filter : await Tamis.load(filter),
      delta: delta && await Tamis.load(delta),
      removed: keep(all), removals: all.length / 4,
      refuted: new Bounded(this.#options.remember), answers: new Bounded(this.#options.remember),
      asking: new Map(),
    };
    this.#now = next;
    this.version = version;
    this.stale = false;
    this.#drop(old, stays);
  }

  #drop(state, filterStays) {
    if (!state) return;
    if (!filterStays) state.filter.close();
    state.delta?.close();
    c.free(state.removed);
  }

  save() {
    const { version, id, base, filter, delta, removed, removals, refuted } = this.#now;
    return {
      server: this.#server, version, id, base, refuted: [...refuted.keys()],
      filter: filter.save(), delta: delta?.save(),
      removed: heap().slice(removed, removed + 4 * removals),
    };
  }

  close() {
    this.#drop(this.#now);
    const closed = {
      get handle() { throw new TamisError('EINVAL', 'this guard is closed'); },
      close() {},
    };
    this.#now = { filter: closed, removed: 0 };
  }
}
