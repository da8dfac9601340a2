// Starts the experiments. The first is the drawing of bits of the guard's page.
import { host, start } from '../apps/core.mjs';
import { $ } from '../apps/dom.mjs';
import { startPlayground } from '../apps/playground.mjs';
import { startFalsePositives } from './falses.mjs';
import { startOverfilling } from './overfilling.mjs';
import { startCacheLines } from './cachelines.mjs';
import { startCounts } from './counts.mjs';
import { startDistinct } from './distinct.mjs';

host.wasm = new URL('../apps/tamis.wasm', import.meta.url);

try {
  await start();
  await Promise.all([startPlayground(), startFalsePositives(), startOverfilling(),
    startCacheLines(), startCounts(), startDistinct()]);
  document.documentElement.dataset.ready = 'true';
} catch (error) {
  $('broken').textContent = `The page does not work here: ${error.message}`;
  $('broken').hidden = false;
}
