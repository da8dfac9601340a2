// An entry with the module of distinct sketches inside the script.
import bytes from './distinct-bytes.mjs';
import { place } from './distinct-core.mjs';

place.wasm ??= Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));

export { Distinct } from './distinct-core.mjs';
export { TamisError } from './core.mjs';
