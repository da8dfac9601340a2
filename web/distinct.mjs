// The entry for distinct sketches in browsers and workers: the module is a file next to this one.
import { place } from './distinct-core.mjs';

place.wasm ??= new URL('./distinct.wasm', import.meta.url);

export { Distinct } from './distinct-core.mjs';
export { TamisError } from './core.mjs';
