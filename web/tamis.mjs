// The entry for browsers and workers: the module is a file next to this one.
import { host } from './core.mjs';

host.wasm ??= new URL('./tamis.wasm', import.meta.url);

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
