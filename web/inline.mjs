// An entry with the module inside the script, for places where a separate file is inconvenient.
import bytes from './bytes.mjs';
import { host } from './core.mjs';

host.wasm ??= Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));

export { Tamis, TamisError } from './core.mjs';
export { Guard } from './guard.mjs';
