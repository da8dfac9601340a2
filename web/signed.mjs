// Signed lists. A guard with pinned public keys uses a list only if one of these keys has signed
// its manifest, which names every part by its size and SHA-256. Keys have the form of signify's
// files; docs/GUARD.md describes manifests. A guard without such keys does without this file.
import { TamisError, hex, host, sha256 } from './core.mjs';

// A list may be this many seconds newer than the clock shows.
const FUTURE = 3600;

const REFUSED = {
  unsigned: 'EKEY', 'unknown-key': 'EKEY', 'wrong-signature': 'EKEY', malformed: 'ECORRUPT',
  disagrees: 'ECORRUPT', replayed: 'EMISMATCH', expired: 'EMISMATCH', future: 'EMISMATCH',
};

function refuse(refusal, reason) {
  throw new TamisError(REFUSED[refusal], reason, { refusal });
}

const subtle = () => host.subtle ?? globalThis.crypto?.subtle;

const bad = (reason) => { throw new TamisError('EINVAL', reason); };

// --- Keys ----------------------------------------------------------------------------------------

const P = 2n ** 255n - 19n; // the field of the curve
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n; // of its base point
// The y of the points of order 8 is this or its negative. The other points of small order have the
// y 0, 1 and -1.
const EIGHTH = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const SMALL = [0n, 1n, P - 1n, EIGHTH, P - EIGHTH];

const littleEndian = (bytes) => BigInt(`0x${hex(bytes.slice().reverse())}`);

// Returns the bytes of a text of whole Base64 groups, or undefined if another text stands for the
// same bytes.
function decoded(base64) {
  const text = atob(base64);
  return btoa(text) === base64 ? Uint8Array.from(text, (letter) => letter.charCodeAt(0))
    : undefined;
}

// Returns the number of a public key in hexadecimal digits, and its point.
function keyOf(given) {
  const form = /^(?:untrusted comment: [^\n]*\n)?([A-Za-z0-9+/]{56})$/;
  const found = typeof given === 'string' && form.exec(given.replaceAll('\r\n', '\n').trim());
  const bytes = found ? decoded(found[1]) : [];
  if (bytes[0] !== 0x45 || bytes[1] !== 0x64)
    bad('a public key must be the 56 characters of a signify .pub file, or the whole file');
  const point = bytes.slice(10), number = hex(bytes.subarray(2, 10));
  const y = BigInt.asUintN(255, littleEndian(point));
  if (y >= P || SMALL.includes(y))
    bad(`the public key ${number} is not a safe Ed25519 key: anybody could sign for it`);
  return { number, point };
}

async function imported({ number, point }) {
  if (!subtle())
    throw new TamisError('EUNSUPPORTED', 'signatures cannot be checked: there is no WebCrypto ' +
      "here. Pages have it only over https, and Node 18 only with 'tamis', not 'tamis/inline'");
  try {
    return await subtle().importKey('raw', point, { name: 'Ed25519' }, false, ['verify']);
  } catch (e) {
    if (e.name === 'NotSupportedError')
      throw new TamisError('EUNSUPPORTED', 'signatures cannot be checked: this browser has no ' +
        'Ed25519 (Chromium has it from version 137 on, Firefox from 129 and Safari from 17)');
    return bad(`the public key ${number}: ${e.message}`);
  }
}

// Returns the keys by their numbers.
async function pinned(publicKeys) {
  if (!Array.isArray(publicKeys) || publicKeys.length === 0)
    bad('publicKeys must have at least one key; without publicKeys, signatures are not checked');
  const keys = new Map(), points = new Map();
  for (const { number, point } of publicKeys.map(keyOf)) {
    if ((points.get(number) ?? hex(point)) !== hex(point))
      bad(`two of the public keys have the number ${number}`);
    points.set(number, hex(point));
    keys.set(number, await imported({ number, point }));
  }
  return keys;
}

// --- Manifests -----------------------------------------------------------------------------------

const COUNT = '0|[1-9]\\d{0,19}', TIME = '0|[1-9]\\d{0,11}', ID = '[0-9a-f]{32}';
const RATE = '\\d(?:\\.\\d+)?(?:e[+-]\\d+)?', PART = '0 -|[1-9]\\d{0,15} [0-9a-f]{64}';
const LABEL = '[!#-[\\]-~]{1,63}', SIGNATURE = '[0-9a-f]{16} [A-Za-z0-9+/]{86}==';
const FIELDS = Object.entries({
  version: COUNT, base: COUNT, built: TIME, id: ID, entries: COUNT, 'base-entries': COUNT,
  added: COUNT, removed: COUNT, lines: COUNT, rejects: COUNT, good: COUNT, rate: RATE, seed: COUNT,
  filter: PART, delta: PART, removal: PART, 'base-store': PART, store: PART,
});
const FORM = new RegExp(`^tamis-guard (1|2)\\n${
  FIELDS.map(([name, form]) => `${name} (${form})\\n`).join('')}(?:label ${LABEL}\\n){0,64}` +
  `(?:expires ([1-9]\\d{0,11})\\n)?((?:signature ${SIGNATURE}\\n){0,8})sum ([0-9a-f]{64})\\n$`);

// Returns a rate from 0 to 1 as the builder writes it: with nine digits, like %.9g in C.
function written(rate) {
  const [digits, exponent] = rate.toExponential(8).split('e');
  return rate === 0 || exponent >= -4 ? String(Number(rate.toPrecision(9)))
    : `${Number(digits)}e-${exponent.slice(1).padStart(2, '0')}`;
}

function partOf(text) {
  const [bytes, sum] = text.split(' ');
  return bytes === '0' ? undefined : { bytes: Number(bytes), sha256: sum };
}

// Returns the members of a manifest, and its signatures by their keys' numbers.
function parse(text) {
  const found = typeof text === 'string' && FORM.exec(text);
  const must = (good) => good ||
    refuse('malformed', 'the manifest of the list is damaged, or of a newer form');
  must(found);
  const [, form, ...values] = found, [expires, lines, sum] = values.splice(FIELDS.length);
  const encoder = new TextEncoder();
  must(sha256(encoder.encode(text.slice(0, -69))) === sum);
  const m = Object.fromEntries(FIELDS.map(([name], i) => [name, values[i]]));
  const pairs = lines.split('\n').slice(0, -1).map((line) => line.split(' ').slice(1));
  const signatures = new Map(pairs), [version, base] = [Number(m.version), Number(m.base)];
  must(signatures.size === pairs.length);
  must(form === '2' || (expires === undefined && pairs.length === 0));
  // Numbers that are read inexactly could differ from what other programs read.
  must(FIELDS.every(([name, type]) => (name === 'seed' ? BigInt(m.seed) < 2n ** 64n
    : (type !== COUNT && type !== PART) || Number.isSafeInteger(parseInt(m[name], 10)))));
  must(m.rate <= 1 && written(Number(m.rate)) === m.rate);
  must(base >= 1 && base <= version && m.filter !== '0 -');
  return {
    text, version, base, id: m.id, built: Number(m.built), entries: Number(m.entries),
    labels: Array.from(text.matchAll(/^label (.*)$/gm), ([, label]) => label),
    rate: Number(m.rate), expires: expires && Number(expires), filter: partOf(m.filter),
    delta: partOf(m.delta), removed: partOf(m.removal), signatures,
    bytes: encoder.encode(text.slice(0, text.length - 69 - lines.length)),
  };
}

// A signature must have its one canonical form: s below the order, and nothing in the unused bits
// of the Base64 text. Programs differ in what else they would accept.
async function isRight(key, base64, bytes) {
  const signature = decoded(base64);
  return signature !== undefined && littleEndian(signature.subarray(32)) < ORDER &&
    subtle().verify({ name: 'Ed25519' }, key, signature, bytes).catch(() => false);
}

// Checks the signatures of a manifest and returns what it states, with the numbers of the pinned
// keys that signed it.
async function verified(text, keys) {
  const unsigned = () => refuse('unsigned',
    'the list is not signed, and only lists that a pinned key has signed are accepted');
  if (text === undefined || text === null) unsigned();
  const { signatures, bytes, ...manifest } = parse(text);
  if (signatures.size === 0) unsigned();
  const all = [...signatures.keys()], known = all.filter((number) => keys.has(number));
  if (known.length === 0)
    refuse('unknown-key', `the list is signed by the key ${all.join(' and the key ')}, ` +
      `which is not pinned; pinned: ${[...keys.keys()].join(', ')}`);
  for (const number of known)
    if (!await isRight(keys.get(number), signatures.get(number), bytes))
      refuse('wrong-signature', `the signature of the key ${number} is wrong: the list was ` +
        'changed, or signed by another key of this number');
  return { ...manifest, keys: known };
}

// --- What a guard asks ---------------------------------------------------------------------------

const at = (seconds) => new Date(1000 * seconds).toISOString().replace('.000', '');

// Checks that a manifest is not older than the last accepted one.
function notOlder({ version, id, built }, last) {
  const replayed = (reason) => refuse('replayed', reason);
  if (!last) return;
  if (version < last.version)
    replayed(`this is version ${version} of the list, and version ${last.version} was accepted ` +
      'before: an old list is offered again');
  if (version === last.version && id !== last.id)
    replayed(`this is another version ${version} of the list than the one accepted before`);
  if (built < last.built)
    replayed(`the list was built at ${at(built)}, and one that was built at ${at(last.built)} ` +
      'was accepted before: an old list is offered again');
}

// Checks the times of a manifest; `now` is in seconds.
function inTime({ built, expires }, now) {
  const clock = `the clock of this computer shows ${at(Math.floor(now))}, and may be wrong`;
  if (expires <= now) refuse('expired', `the list expired at ${at(expires)}; ${clock}`);
  if (built > now + FUTURE)
    refuse('future', `the list was built in the future, at ${at(built)}; ${clock}`);
}

const PARTS = ['filter', 'delta', 'removed'];
const isSame = (a, b) => a?.bytes === b?.bytes && a?.sha256 === b?.sha256;

// Checks that a description states what its manifest does.
function agree(description, manifest) {
  const differ = [
    ...['version', 'id', 'base', 'rate', 'built', 'entries'].filter((name) =>
      (description[name] ?? manifest[name]) !== manifest[name]),
    ...PARTS.filter((name) => !description.unchanged && !isSame(description[name], manifest[name])),
  ];
  if (differ.length > 0)
    refuse('disagrees', 'the description of the list and its signed manifest differ in ' +
      differ.join(', '));
}

const partsOf = (manifest) => JSON.stringify(PARTS.map((name) => manifest[name] ?? null));

// The pinned keys of a guard, the manifest of its list, and what it accepted last.
export class Signing {
  #keys;
  #clock;
  #last;
  #manifest;

  static async start({ publicKeys, accepted, clock }) {
    const it = new Signing();
    it.#keys = await pinned(publicKeys);
    it.#clock = () => clock() / 1000;
    it.#last = accepted;
    if (accepted !== undefined && !(Number.isSafeInteger(accepted?.version) &&
      typeof accepted.id === 'string' && Number.isSafeInteger(accepted.built)))
      bad('accepted must have a version, an id and the time built, as Guard.signed has them');
    return it;
  }

  // Checks the manifest in an answer of a server, and that the answer states the same.
  async offered(answer) {
    const manifest = await verified(answer.manifest, this.#keys);
    notOlder(manifest, this.#last);
    inTime(manifest, this.#clock());
    agree(answer, manifest);
    return manifest;
  }

  // Checks parts that were stored with their manifest. It may have expired meanwhile.
  async stored({ version, id, base, manifest: text }, parts) {
    const manifest = await verified(text, this.#keys);
    notOlder(manifest, this.#last);
    agree({ version, id, base, unchanged: true }, manifest);
    for (const name of PARTS) {
      const part = parts[name]?.length &&
        { bytes: parts[name].length, sha256: sha256(parts[name]) };
      if (!isSame(manifest[name], part || undefined))
        refuse('disagrees', `the stored ${name} is not the one that the signed manifest names`);
    }
    return { version: manifest.version, id: manifest.id, base: manifest.base, signed: manifest };
  }

  // Returns whether a manifest names other parts than those in use.
  hasOther(manifest) {
    return partsOf(manifest) !== partsOf(this.#manifest);
  }

  // Remembers the manifest of the list that is in use now. Returns whether it is a new one.
  accept(manifest) {
    const isNew = manifest.text !== this.text;
    this.#manifest = this.#last = manifest;
    return isNew;
  }

  get text() {
    return this.#manifest?.text;
  }

  get signed() {
    if (!this.#manifest) return undefined;
    const { version, id, base, built, expires, keys } = this.#manifest;
    return { version, id, base, built, expires, keys: [...keys] };
  }

  get expired() {
    return this.#manifest?.expires <= this.#clock();
  }
}

host.signed = { Signing };
