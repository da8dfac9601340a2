// Frames in which check.html cannot ask, because the page around them allows them no scripts:
// <iframe sandbox>. The worker asks for them, and the page around them opens what is good, as it
// would without the extension, so that the server gets the same cookies. This only works for the
// URL that is in the page. Where something else leads to, a redirect or a link, was not asked for
// by the page around it, so there check.html's explanation stays.
const CHECK = chrome.runtime.getURL('check.html');
const MOMENT = 500; // ms; by then nearly all other frames have asked

const asked = new Set(); // documents

// These two run in the page around the frame. `find` runs out of its reach, and returns which of
// its frames this is. Frames with the same URL take turns. `open` is subject to the page's policy
// about frames, and the page cannot change what its names mean.
function find(url) {
  // Not a string, because the page's elements can have any string as their name.
  const turns = globalThis[Symbol.for('turns')] ??= new WeakMap();
  const turn = (it) => turns.get(it) ?? 0;
  const [frame] = Array.from(document.querySelectorAll('iframe[sandbox]'))
    .filter((it) => it.src === url && !it.sandbox.contains('allow-scripts'))
    .sort((a, b) => turn(a) - turn(b));
  if (frame) turns.set(frame, turn(frame) + 1);
  for (let i = 0; frame && i < window.length; i++)
    if (window[i] === frame.contentWindow) return i;
  return -1;
}
function open(i, url) {
  window[i].location.replace(url);
}

async function around(target, world, func, ...args) {
  const [{ result }] = await chrome.scripting.executeScript({ target, world, func, args });
  return result;
}

async function askFor({ tabId, frameId, parentFrameId, url: here }, check) {
  const url = here.slice(here.indexOf('#') + 1), target = { tabId, frameIds: [parentFrameId] };
  if (!/^https?:\/\//.test(url)) return;
  const i = await around(target, 'ISOLATED', find, url);
  if (i < 0) return;
  const { go } = await check({ url }, { tab: await chrome.tabs.get(tabId), frameId });
  if (go) await around(target, 'MAIN', open, i, url);
}

// `check` answers the question of a frame, and adds a pass for what is good.
export function checkSandboxed(check) {
  chrome.runtime.onMessage.addListener((message, { documentId }) => {
    if (message?.ask === 'check') asked.add(documentId);
  });
  chrome.webNavigation.onCommitted.addListener(async (at) => {
    await new Promise((done) => { setTimeout(done, MOMENT); });
    if (asked.delete(at.documentId) || at.frameId === 0) return;
    // It fails when the page around the frame is gone.
    await askFor(at, check).catch(() => {});
  }, { url: [{ urlPrefix: CHECK }] });
}
