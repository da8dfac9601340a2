// The entry for Node, which reads files instead of fetching them.
import { webcrypto } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { TamisError, gather, host } from './core.mjs';

const read = host.read;
host.wasm ??= new URL('./tamis.wasm', import.meta.url);
host.subtle = webcrypto.subtle; // Node 18 has no global crypto
host.read = async (from, most, signal) => {
  from = await from;
  const isFile = from instanceof URL ? from.protocol === 'file:'
    : typeof from === 'string' && !/^https?:/.test(from);
  if (!isFile) return read(from, most, signal);
  const file = createReadStream(from, { highWaterMark: 1 << 20 });
  const pieces = file[Symbol.asyncIterator]();
  try {
    return await gather(async () => (await pieces.next()).value, most);
  } catch (e) {
    throw e instanceof TamisError ? e : new TamisError('EIO', e.message);
  } finally {
    file.destroy();
  }
};

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
