// Keys in the form of signify, manifests as `tamis guard build --sign` writes them, and a server
// that has them: an operator's, or a hostile mirror of it.
//
//     server.signers = [key, other]      who signs; nobody: the manifest is null
//     server.built, server.expires       seconds
//     server.tamper = (text) => ...      changes the manifest after it was signed
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { MaliciousServer, sha256 } from './malicious.mjs';

export const NOW = 1_800_000_000; // seconds; what the clock of the tests shows

// The same in every run if a seed is given: one byte, which is repeated.
export class Signer {
  constructor(number, seed) {
    const head = Buffer.from('302e020100300506032b657004220420', 'hex');
    this.secret = seed === undefined ? generateKeyPairSync('ed25519').privateKey
      : createPrivateKey({ key: Buffer.concat([head, Buffer.alloc(32, seed)]), format: 'der',
        type: 'pkcs8' });
    this.number = number;
    this.point = createPublicKey(this.secret).export({ format: 'der', type: 'spki' }).subarray(-32);
    this.line = keyLine(number, this.point);
    this.file = `untrusted comment: public key of a test\n${this.line}\n`;
  }

  sign(text) {
    return sign(null, Buffer.from(text), this.secret).toString('base64');
  }

  signatureLine(text) {
    return `signature ${this.number} ${this.sign(text)}\n`;
  }
}

export const keyLine = (number, point, algorithm = 'Ed') => Buffer.concat([Buffer.from(algorithm),
  Buffer.from(number, 'hex'), Buffer.from(point)]).toString('base64');

// Appends the sum, as the builder does, also to a text that nobody built.
export const summed = (text) => `${text}sum ${sha256(text).toString('hex')}\n`;
export const unsummed = (text) => text.replace(/sum [0-9a-f]*\n$/, '');

const ZERO = 'base-entries added removed lines rejects good'.split(' ');

// Returns the part of a manifest that is signed.
export function unsigned({ version, id, base, rate, built, expires, parts, labels = ['malware'],
  form = 2, entries = 1 }) {
  const part = (bytes) => (bytes?.length ? `${bytes.length} ${sha256(bytes).toString('hex')}`
    : '0 -');
  return [`tamis-guard ${form}`, `version ${version}`, `base ${base}`, `built ${built}`, `id ${id}`,
    `entries ${entries}`, ...ZERO.map((name) => `${name} 0`), `rate ${rate}`,
    'seed 18446744073709551615', `filter ${part(parts.filter)}`, `delta ${part(parts.delta)}`,
    `removal ${part(parts.removed)}`, `base-store ${part(Buffer.from('s'))}`, 'store 0 -',
    ...labels.map((label) => `label ${label}`),
    ...(expires === undefined ? [] : [`expires ${expires}`]), ''].join('\n');
}

export function signed(text, signers) {
  return summed(text + signers.map((signer) => signer.signatureLine(text)).join(''));
}

export class SigningServer extends MaliciousServer {
  static async start(t, { signers, built = NOW - 60, expires = NOW + 86400, ...options }) {
    const server = await super.start(t, options);
    return Object.assign(server, { signers, built, expires, id: 'ab'.repeat(16) });
  }

  behave() {
    super.behave();
    this.tamper = (text) => text;
  }

  // What the operator publishes; a mirror can keep it.
  manifest() {
    const text = unsigned({ ...this, base: 1 });
    return this.signers.length > 0 ? signed(text, this.signers) : null;
  }

  update(from) {
    return { ...super.update(from), built: this.built, entries: 1,
      manifest: this.tamper(this.manifest()) };
  }
}
