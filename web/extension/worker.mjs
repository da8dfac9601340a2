// The worker. It has the list, judges URLs for check.html, lets them through, and keeps the list up
// to date. It may be stopped at any time, so everything it must know afterwards is in store.mjs.
import { Guard } from './tamis/tamis.mjs';
import { end, hold, mayShow, pass, reconcile } from './rules.mjs';
import { checkSandboxed } from './sandboxed.mjs';
import { change, digest, forget, keep, recall, session, set, settings } from './store.mjs';

const MINUTES = 30; // between updates
const MINUTES_WITHOUT = 1; // while there is no list
const CHECK = chrome.runtime.getURL('check.html');
const USER = ''; // not a host
const BY_USER = ['typed', 'auto_bookmark', 'generated', 'keyword', 'keyword_generated', 'reload',
  'start_page'];
const MOST_ALLOWED = 1000; // expressions, of at most LONG_NAME characters each
const LONG_NAME = 1000;
const LONGEST_URL = 2 ** 21; // characters; the browser refuses to open more
// Milliseconds for a list; a confirmation has the guard's own limit of a few seconds.
const LONG = 120000;

// --- The list ------------------------------------------------------------------------------------

const options = {
  fetch: (url, init) => fetch(url,
    url.pathname.endsWith('/v1/confirm') ? init : { ...init, signal: AbortSignal.timeout(LONG) }),
};
let loading, updating;
// What the user asked for, by tab, until check.html asks about it a moment later.
const asked = new Map();
// For each frame that is opening a URL with the cookies of its own site: USER, or the site's host.
const opening = new Map();

// Translates the browser's error messages about requests into plain words.
function plainly(reason) {
  return reason
    ?.replace(/^(Failed to fetch|NetworkError.*?)(?=;|$)/, 'the server cannot be reached')
    .replace(/^.*(is not valid JSON|JSON input|JSON at position \d+)(?=;|$)/,
      'the program at this address is not a server of lists')
    .replace(/^.*(timed out|aborted)(?=;|$)/, 'the server did not answer in time');
}

// Returns the guard, or undefined while there is no list. A damaged list is dropped; a list that
// cannot be read at the moment is kept.
function guard() {
  return loading ||= (async () => {
    let parts;
    try {
      parts = await recall('list');
      if (parts) await set({ server: parts.server });
      return parts && await Guard.load(parts, options);
    } catch (e) {
      loading = undefined;
      if (parts) await forget('list');
      await set({ problem: `The stored list cannot be used: ${e.message}` });
      return undefined;
    }
  })();
}

// Fetches the list. The list of another server replaces the old one. On failure only the reported
// problem changes.
async function fetchNew(server) {
  const old = await guard(), before = (await settings()).server, tried = Date.now();
  try {
    let on = old, changed = true;
    if (old && (server ?? before) === before) ({ changed } = await old.update());
    else on = await Guard.load(server ?? before, options);
    if (changed) await keep('list', on.save());
    loading = Promise.resolve(on);
    await set({ server: server ?? before, tried, updated: tried, problem: '' });
    return {};
  } catch (e) {
    const problem = plainly(e.message);
    if (!server) await set({ tried, problem });
    return { problem };
  } finally {
    if (await guard()) await hold();
    await schedule();
    await show();
  }
}

// Runs one update at a time. An update that is running counts as the new one, unless that is for
// another server.
function update(server) {
  if (updating && !server) return updating;
  const mine = Promise.resolve(updating).then(() => fetchNew(server)).finally(() => {
    if (updating === mine) updating = undefined;
  });
  return updating = mine;
}

async function schedule() {
  const minutes = await guard() ? MINUTES : MINUTES_WITHOUT,
    old = await chrome.alarms.get('update');
  if (old?.periodInMinutes !== minutes)
    await chrome.alarms.create('update', { periodInMinutes: minutes });
}

// --- The button ----------------------------------------------------------------------------------

async function show() {
  const { blocked } = await session(), on = await guard();
  const title = !on ? 'Tamis guard is off: it has no list yet, and nothing is checked'
    : `Tamis guard: list ${on.version}, ${blocked === 1 ? '1 page' : `${blocked} pages`} stopped`;
  await chrome.action.setTitle({ title });
  await chrome.action.setBadgeText({
    text: !on ? 'off' : blocked > 999 ? '999+' : blocked ? String(blocked) : '',
  });
  await chrome.action.setBadgeTextColor({ color: '#ffffff' });
  await chrome.action.setBadgeBackgroundColor({ color: on ? '#b3261e' : '#8a5a00' });
}

const count = (what) => change(async (now) => ({ values: { [what]: now[what] + 1 } })).then(show);

// --- URLs ----------------------------------------------------------------------------------------

// Returns the name under which an expression is allowed: itself, or the beginning and the hash of a
// long one, because the session may have 10 MB in all.
const nameOf = async (expression) => (expression.length <= LONG_NAME ? expression
  : `${expression.slice(0, LONG_NAME - 100)}… (SHA-256: ${await digest(expression)})`);

// Returns the names of the expressions for which a URL is stopped and that the user would have to
// allow. If the user allowed an unconfirmed expression, that does not cover it once it is known to
// be listed.
async function grounds(on, url, { verdict, expression }, allowed) {
  const all = {
    clean: () => [],
    listed: () => [expression],
    unconfirmed: () => on.look(url).expressions.filter((e) => e.maybe).map((e) => e.expression),
    'no-url': () => [url],
  }[verdict]();
  const names = await Promise.all(all.map(nameOf));
  return names.filter((e) => allowed[e] !== 'listed' && allowed[e] !== verdict);
}

async function judge(url, insist) {
  const on = await guard();
  if (!on) {
    update();
    return { verdict: 'no-list', stops: [] };
  }
  const result = await on.check(url, { insist }), { allowed } = await session();
  if (on.stale) update();
  // Includes the refuted hashes.
  if (result.verdict === 'clean' && result.asked > 0) await keep('list', on.save());
  return { ...result, reason: plainly(result.reason),
    stops: await grounds(on, url, result, allowed) };
}

const near = (a, b) => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);

// Decides whether a URL may get the cookies that are only for requests from its own site: if the
// user asked for it, or a page of the same site did, or for a redirect to it. A frame must also be
// in a page of the same host.
async function isOwn({ url, same }, { tab, frameId }) {
  const host = new URL(url).hostname, key = `${tab.id} ${frameId}`, before = opening.get(key);
  const user = frameId === 0 && (asked.get(tab.id) === url || before === USER);
  const site = same === (await settings()).word || (before !== undefined && near(before, host));
  const own = user || (site && (frameId === 0 || near(new URL(tab.url).hostname, host)));
  if (own) opening.set(key, user ? USER : host);
  else opening.delete(key);
  return own;
}

// Tells check.html what to do next: open the URL itself, or through go.html.
async function open(message, sender, how) {
  const { url } = message, own = await isOwn(message, sender);
  return await pass(sender.tab.id, sender.frameId, url, how) && (own ? 'here' : 'apart');
}

async function check(message, sender) {
  const { stops, ...result } = await judge(message.url, message.insist);
  if (stops.length > 0) {
    if (!message.insist || result.verdict === 'listed')
      await count(result.verdict === 'listed' ? 'blocked' : 'warned');
    return result;
  }
  const go = await open(message, sender);
  return go ? { go } : { ...result, verdict: 'round' };
}

// The user wants to see the page anyway. In a frame, another page could trick the user into a
// click.
async function through(message, sender) {
  if (sender.frameId !== 0) throw new Error('only from a separate tab');
  // Only if the pass for this URL did not work is there one for the whole host.
  const { stops, verdict } = await judge(message.url), more = stops.map((e) => [e, verdict]),
    failed = stops.length === 0 && await mayShow(sender.tab.id, sender.frameId, message.url);
  await change(async ({ allowed }) => {
    const all = [...Object.entries(allowed), ...more].slice(-MOST_ALLOWED);
    return { values: { allowed: Object.fromEntries(all) } };
  });
  return { go: await open(message, sender, { wide: failed }) };
}

// --- Questions of the extension's pages ----------------------------------------------------------

const answers = {
  check,
  through,
  update: () => update(),
  use: ({ server }) => update(server),
  leave: (message, sender) => chrome.tabs.update(sender.tab.id, { url: 'chrome://newtab/' }),
  forget: () => change(async () => ({ values: { allowed: {} } })),
  async status() {
    const [{ server, tried, updated, problem }, { blocked, warned, allowed }, on] =
      await Promise.all([settings(), session(), guard()]);
    return {
      server, tried, updated, problem, blocked, warned,
      allowed: Object.keys(allowed), version: on?.version,
    };
  },
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const ours = sender.url?.startsWith(chrome.runtime.getURL('')) &&
    Object.hasOwn(answers, message?.ask);
  Promise.resolve(ours ? answers[message.ask](message, sender) : { problem: 'not allowed' })
    .then((answer) => reply(answer ?? {}), (e) => reply({ problem: e.message }));
  return true;
});

// --- Events of the browser -----------------------------------------------------------------------

function ended(tab, frame) {
  for (const key of opening.keys())
    if (key === `${tab} ${frame}` || (frame === 0 && key.startsWith(`${tab} `)))
      opening.delete(key);
  end(tab, frame);
}

// Returns the address of the warning about a page that is already shown. A URL that would make it
// too long is cut, down to the host if necessary.
function warning(kind, url) {
  const { origin, pathname } = new URL(url), start = `${CHECK}?late${kind && `=${kind}`}#`;
  return [url, origin + pathname, origin].map((u) => start + u)
    .find((address) => address.length <= LONGEST_URL);
}

// Sends a tab to the warning. A page can have the browser ask the user whether to leave it. If the
// user stays, the warning gets a tab of its own.
const MOMENT = 250; // ms
const leaving = new Map(); // addresses of warnings, by tab
async function leave(tabId, address) {
  leaving.set(tabId, address);
  await chrome.tabs.update(tabId, { url: address });
  for (let stays = 0; stays < 2;) {
    await new Promise((done) => { setTimeout(done, MOMENT); });
    const { pendingUrl } = await chrome.tabs.get(tabId);
    if (leaving.get(tabId) !== address) return;
    stays = pendingUrl === address ? 0 : stays + 1;
  }
  leaving.delete(tabId);
  await chrome.tabs.create({ url: address });
}

// The second line of defence: pages that arrived without being held, as the answer to a form or
// from a service worker. Their script may have run by then, but the user is warned. For a frame,
// which an extension cannot navigate, the whole tab is sent to the warning.
chrome.webNavigation.onCommitted.addListener(async (shown) => {
  const { tabId, frameId, transitionType, transitionQualifiers } = shown;
  if (frameId === 0) {
    leaving.delete(tabId);
    asked.delete(tabId);
    if (shown.url.startsWith(CHECK) && BY_USER.includes(transitionType))
      asked.set(tabId, shown.url.slice(shown.url.indexOf('#') + 1));
  }
  // A page can make documents of its own at blob:ORIGIN/NAME.
  const url = shown.url.replace(/^blob:/, '');
  if (!/^https?:/.test(url)) return;
  const held = mayShow(tabId, frameId, url);
  ended(tabId, frameId);
  if (await held || (await judge(url)).stops.length === 0) return;
  const kept = url !== shown.url || transitionQualifiers.includes('forward_back');
  const kind = frameId !== 0 ? 'frame' : transitionType === 'form_submit' ? 'form'
    : kept ? '' : 'worker';
  await leave(tabId, warning(kind, url)).catch(() => {}); // the tab is gone
});
chrome.webNavigation.onErrorOccurred.addListener(({ tabId, frameId, url }) => {
  if (/^https?:/.test(url)) ended(tabId, frameId);
});
chrome.tabs.onRemoved.addListener((tabId) => {
  leaving.delete(tabId);
  asked.delete(tabId);
  ended(tabId, 0);
});
chrome.alarms.onAlarm.addListener(() => { update(); });
chrome.runtime.onInstalled.addListener(() => { update(); });
chrome.runtime.onStartup.addListener(() => { update(); });
checkSandboxed(check);
chrome.action.onClicked.addListener(() => chrome.runtime.openOptionsPage());
reconcile();
show();
