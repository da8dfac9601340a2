// The worker. It has the list, judges URLs for check.html, lets them through, and keeps the list up
// to date. It may be stopped at any time, so everything it must know afterwards is in store.mjs.
import './tamis/signed.mjs'; // which a service worker cannot import when it needs it
import { Guard } from './tamis/tamis.mjs';
import { end, hold, mayShow, pass, reconcile } from './rules.mjs';
import { checkSandboxed } from './sandboxed.mjs';
import { change, digest, forget, keepAll, recall, session, set, settings } from './store.mjs';

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
const pinning = (keys, accepted) => (keys.length > 0 ? { ...options, publicKeys: keys, accepted }
  : options);
let loading, updating;
// The guard of the list in use, with the list's server and the keys that are pinned for it. What
// the settings state of these two is for the user, and for the time without a list.
let used = {};
let unsaved = false; // the list in use is newer than the stored one
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

// Writes of the list, one after the other.
let writing = Promise.resolve();
function write(how) {
  const mine = writing.then(how);
  writing = mine.catch(() => {});
  return mine;
}

// Stores a list with its keys, and what was accepted last also apart from it, because a damaged
// list is dropped. All of it is stored or nothing: the worker can end at any time.
const put = ({ on, keys }) => keepAll({ list: { ...on.save(), keys }, accepted: on.signed });

// Stores a list and puts it in use.
const store = (fresh) => write(async () => {
  await put(fresh);
  used = fresh;
  loading = Promise.resolve(fresh.on);
});

// Whether a stored list itself is to blame, and not the moment.
const isDamage = ({ status, refusal }) => status === 'ECORRUPT' || status === 'EKEY' ||
  (status === 'EMISMATCH' && Boolean(refusal));

// Returns the guard, or undefined while there is no list. A damaged list is dropped; a list that
// cannot be read at the moment is kept. Another list may have been put in use meanwhile.
function guard() {
  return loading ||= (async () => {
    try {
      const [parts, accepted, before] =
        await Promise.all([recall('list'), recall('accepted'), settings()]);
      if (parts) {
        const { server, keys } = { keys: before.keys, ...parts };
        const on = await Guard.load(parts, pinning(keys, accepted));
        if (!used.on) {
          used = { on, server, keys };
          await set({ server, keys });
        }
      }
    } catch (e) {
      if (!used.on) {
        loading = undefined;
        if (isDamage(e)) await write(() => used.on ?? forget('list'));
        await set({ problem: `The stored list cannot be used: ${e.message}` });
      }
    }
    return used.on;
  })();
}

// Fetches the list. The list of another server, or with other keys, replaces the old one; as long
// as one of the keys stays, it must not be older. On failure only the reported problem changes.
async function fetchNew(wanted) {
  const old = await guard(), before = { ...await settings(), ...used }, tried = Date.now();
  const { server, keys } = { ...before, ...wanted };
  const stays = server === before.server && String(keys) === String(before.keys);
  try {
    let on = old, changed = true;
    if (old && stays) {
      ({ changed } = await old.update());
    } else {
      const known = keys.some((key) => before.keys.includes(key));
      on = await Guard.load(server, pinning(keys, known ? await recall('accepted') : undefined));
    }
    unsaved ||= changed;
    if (unsaved) await store({ on, server, keys });
    unsaved = false;
    await set({ server, keys, tried, updated: tried, problem: '', refusal: '' });
    return {};
  } catch (e) {
    const problem = plainly(e.message);
    if (!wanted) await set({ tried, problem, refusal: e.refusal ?? '' });
    return { problem };
  } finally {
    if (await guard()) await hold();
    await schedule();
    await show();
  }
}

// Runs one update at a time. An update that is running counts as the new one, unless that is for
// another server.
function update(wanted) {
  if (updating && !wanted) return updating;
  const mine = Promise.resolve(updating).then(() => fetchNew(wanted)).finally(() => {
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

// Returns the public keys in a text that contains them alone or whole .pub files.
const keysIn = (text) => text.split('\n').map((line) => line.trim())
  .filter((line) => line && !line.startsWith('untrusted comment:'));

// Returns what the user should know about the list in use, or nothing.
async function trouble(on) {
  const { problem, refusal } = await settings(), said = [];
  if (on?.expired)
    said.push(`The list expired on ${new Date(1000 * on.signed.expires).toLocaleString()}. It ` +
      'still stops the pages that it contains, but not those that were found since.');
  if (refusal) said.push(`The list that the server offered last was refused: ${problem}.`);
  return said.join(' ');
}

// --- The button ----------------------------------------------------------------------------------

async function show() {
  const { blocked } = await session(), on = await guard(), wrong = await trouble(on);
  const title = !on ? 'Tamis guard is off: it has no list yet, and nothing is checked'
    : `Tamis guard: list ${on.version}, ${blocked === 1 ? '1 page' : `${blocked} pages`} stopped`;
  await chrome.action.setTitle({ title: wrong ? `${title}. ${wrong}` : title });
  await chrome.action.setBadgeText({
    text: !on ? 'off' : wrong ? '!' : blocked > 999 ? '999+' : blocked ? String(blocked) : '',
  });
  await chrome.action.setBadgeTextColor({ color: '#ffffff' });
  await chrome.action.setBadgeBackgroundColor({ color: on && !wrong ? '#b3261e' : '#8a5a00' });
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
  // Includes the refuted hashes. Another list may be in use meanwhile. Without this, the server is
  // asked once more.
  if (result.verdict === 'clean' && result.asked > 0)
    await write(() => used.on === on && put(used)).catch(() => { unsaved = true; });
  return { ...result, reason: plainly(result.reason), trouble: await trouble(on),
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

// Returns what the filter alone knows about a URL that it cannot exclude, at once.
async function likely({ url }) {
  const on = await guard(), all = on?.look(url).expressions ?? [];
  return { labels: [...new Set(all.map((e) => e.label).filter(Boolean))] };
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
  likely,
  through,
  update: () => update(),
  use: ({ server, keys }) => update({ server, keys: keysIn(keys) }),
  leave: (message, sender) => chrome.tabs.update(sender.tab.id, { url: 'chrome://newtab/' }),
  forget: () => change(async () => ({ values: { allowed: {} } })),
  async status() {
    const [{ server, keys, tried, updated, problem }, { blocked, warned, allowed }, on] =
      await Promise.all([settings(), session(), guard()]);
    return {
      server, keys, tried, updated, problem, blocked, warned, trouble: await trouble(on),
      allowed: Object.keys(allowed), version: on?.version, signed: on?.signed, expired: on?.expired,
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
