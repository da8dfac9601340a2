// The entry for Node, which reads files instead of fetching them.
import { readFile } from 'node:fs/promises';
import { TamisError, host } from './core.mjs';

const read = host.read;
host.wasm ??= new URL('./tamis.wasm', import.meta.url);
host.read = async (from) => {
  from = await from;
  const isFile = from instanceof URL ? from.protocol === 'file:'
    : typeof from === 'string' && !/^https?:/.test(from);
  if (!isFile) return read(from);
  try {
    return await readFile(from);
  } catch (e) {
    throw new TamisError('EIO', e.message);
  }
};

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
