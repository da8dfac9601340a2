// For where a file of its own is a nuisance: the module is in this one.
import bytes from './bytes.mjs';
import { host } from './core.mjs';

host.wasm ??= Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
