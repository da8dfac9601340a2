// Starts the parts of the page, each of which can fail alone.
import { host, start } from './core.mjs';
import { $ } from './dom.mjs';
import { startGuard } from './watch.mjs';
import { startPlayground } from './playground.mjs';
import { startSizes } from './sizes.mjs';

host.wasm = new URL('./tamis.wasm', import.meta.url);

function broken(error) {
  $('broken').textContent = `The page does not work here: ${error.message}`;
  $('broken').hidden = false;
}

try {
  await start();
  await Promise.all([startGuard(), startPlayground(), startSizes()]);
} catch (error) {
  broken(error);
}
