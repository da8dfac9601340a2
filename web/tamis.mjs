// For browsers and workers: the module is a file beside this one.
import { host } from './core.mjs';

host.wasm ??= new URL('./tamis.wasm', import.meta.url);

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
