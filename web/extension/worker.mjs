// The worker: has the list, judges URLs for check.html, lets them through, and keeps the list fresh. It may be stopped at
// any time, so whatever it must know afterwards is in store.mjs.
import { Guard } from './tamis/tamis.mjs';
import { end, hold, pass } from './rules.mjs';
import { change, forget, keep, recall, session, set, settings } from './store.mjs';

const MINUTES = 30; // between updates
const MINUTES_WITHOUT = 1; // while there is no list
const CHECK = chrome.runtime.getURL('check.html');
const USER = ''; // no host
const BY_USER = ['typed', 'auto_bookmark', 'generated', 'keyword', 'keyword_generated', 'reload', 'start_page'];
const LONG = 120000; // milliseconds for a list; a confirmation has the guard's own few seconds

// --- The list -----------------------------------------------------------------------------------------------

const options = {
  fetch: (url, init) => fetch(url, url.pathname.endsWith('/v1/confirm') ? init : { ...init, signal: AbortSignal.timeout(LONG) }),
};
let loading, updating;
const asked = new Map(); // what the user asked for, by tab: it is held a moment before check.html wants to know
const opening = new Map(); // for whom a frame is going where cookies of the site's own are sent: USER, or the site's host

// The browser's words for what happens to requests, in ours.
function plainly(reason) {
  return reason?.replace(/^(Failed to fetch|NetworkError.*?)(?=;|$)/, 'the server cannot be reached')
    .replace(/^.*(is not valid JSON|JSON input|JSON at position \d+)(?=;|$)/, 'what answers there is no server of lists')
    .replace(/^.*(timed out|aborted)(?=;|$)/, 'the server did not answer in time');
}

// The guard, or undefined while there is no list. A list that is damaged is dropped; one that cannot be read just now is not.
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
      await set({ problem: `The list that was kept cannot be used: ${e.message}` });
      return undefined;
    }
  })();
}

// With another server than before, that one's list replaces the old one. On failure nothing changes but what is said about it.
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

// One at a time; a try that runs already is as good as a new one, unless that is about another server.
function update(server) {
  if (updating && !server) return updating;
  const mine = Promise.resolve(updating).then(() => fetchNew(server)).finally(() => {
    if (updating === mine) updating = undefined;
  });
  return updating = mine;
}

async function schedule() {
  const minutes = await guard() ? MINUTES : MINUTES_WITHOUT, old = await chrome.alarms.get('update');
  if (old?.periodInMinutes !== minutes) await chrome.alarms.create('update', { periodInMinutes: minutes });
}

// --- What the button says -----------------------------------------------------------------------------------

async function show() {
  const { blocked } = await session(), on = await guard();
  const title = !on ? 'Tamis guard is off: it has no list yet, and nothing is checked'
    : `Tamis guard: list ${on.version}, ${blocked === 1 ? '1 page' : `${blocked} pages`} stopped`;
  await chrome.action.setTitle({ title });
  await chrome.action.setBadgeText({ text: !on ? 'off' : blocked > 999 ? '999+' : blocked ? String(blocked) : '' });
  await chrome.action.setBadgeTextColor({ color: '#ffffff' });
  await chrome.action.setBadgeBackgroundColor({ color: on ? '#b3261e' : '#8a5a00' });
}

const count = (what) => change(async (now) => ({ values: { [what]: now[what] + 1 } })).then(show);

// --- URLs ---------------------------------------------------------------------------------------------------

// What a URL is stopped for: expressions that the user would have to allow. A doubt that was allowed does not allow what is
// known for certain by now.
function grounds(on, url, { verdict, expression }, allowed) {
  const all = {
    clean: () => [],
    listed: () => [expression],
    unconfirmed: () => on.look(url).expressions.filter((e) => e.maybe).map((e) => e.expression),
    'no-url': () => [url],
  }[verdict]();
  return all.filter((e) => allowed[e] !== 'listed' && allowed[e] !== verdict);
}

async function judge(url, insist) {
  const on = await guard();
  if (!on) {
    update();
    return { verdict: 'no-list', stops: [] };
  }
  const result = await on.check(url, { insist }), { allowed } = await session();
  if (on.stale) update();
  if (result.verdict === 'clean' && result.asked > 0) await keep('list', on.save()); // with what was refuted
  return { ...result, reason: plainly(result.reason), stops: grounds(on, url, result, allowed) };
}

const near = (a, b) => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);

// Whether a URL may get the cookies that are for requests from its own site alone: the user asked for it, or a page of the same
// site did, or for what redirects to it. Frames also have to stand in a page of the same host.
async function isOwn({ url, same }, { tab, frameId }) {
  const host = new URL(url).hostname, key = `${tab.id} ${frameId}`, before = opening.get(key);
  const user = frameId === 0 && (asked.get(tab.id) === url || before === USER);
  const site = same === (await settings()).word || (before !== undefined && near(before, host));
  const own = user || (site && (frameId === 0 || near(new URL(tab.url).hostname, host)));
  if (own) opening.set(key, user ? USER : host);
  else opening.delete(key);
  return own;
}

// What check.html does next: goes on by itself, or by go.html.
async function open(message, sender, how) {
  const { url } = message, own = await isOwn(message, sender);
  return await pass(sender.tab.id, sender.frameId, url, how) && (own ? 'here' : 'apart');
}

async function check(message, sender) {
  const { stops, ...result } = await judge(message.url, message.insist);
  if (stops.length > 0) {
    if (!message.insist || result.verdict === 'listed') await count(result.verdict === 'listed' ? 'blocked' : 'warned');
    return result;
  }
  const go = await open(message, sender);
  return go ? { go } : { ...result, verdict: 'round' };
}

// The user wants to see it all the same. In a frame, another page could make them click without their knowing.
async function through(message, sender) {
  if (sender.frameId !== 0) throw new Error('only from a tab of its own');
  const { stops, verdict } = await judge(message.url), more = Object.fromEntries(stops.map((e) => [e, verdict]));
  await change(async ({ allowed }) => ({ values: { allowed: { ...allowed, ...more } } }));
  return { go: await open(message, sender, { wide: stops.length === 0 }) };
}

// --- What pages of the extension ask -------------------------------------------------------------------------

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
    return { server, tried, updated, problem, blocked, warned, allowed: Object.keys(allowed), version: on?.version };
  },
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const ours = sender.url?.startsWith(chrome.runtime.getURL('')) && Object.hasOwn(answers, message?.ask);
  Promise.resolve(ours ? answers[message.ask](message, sender) : { problem: 'not for you' })
    .then((answer) => reply(answer ?? {}), (e) => reply({ problem: e.message }));
  return true;
});

// --- What happens in the browser ------------------------------------------------------------------------------

function ended(tab, frame) {
  for (const key of opening.keys())
    if (key === `${tab} ${frame}` || (frame === 0 && key.startsWith(`${tab} `))) opening.delete(key);
  return end(tab, frame);
}

// The second line: what came in without being held, as the answer to a form. Its server has the request by then, but nobody
// goes on unwarned.
chrome.webNavigation.onCommitted.addListener(async ({ tabId, frameId, url, transitionType }) => {
  if (frameId === 0) {
    asked.delete(tabId);
    if (url.startsWith(CHECK) && BY_USER.includes(transitionType)) asked.set(tabId, url.slice(url.indexOf('#') + 1));
  }
  if (!/^https?:/.test(url)) return;
  const held = await ended(tabId, frameId);
  if (held || frameId !== 0 || (await judge(url)).stops.length === 0) return;
  await chrome.tabs.update(tabId, { url: `${CHECK}?late#${url}` });
});
chrome.webNavigation.onErrorOccurred.addListener(({ tabId, frameId, url }) => {
  if (/^https?:/.test(url)) ended(tabId, frameId);
});
chrome.tabs.onRemoved.addListener((tabId) => {
  asked.delete(tabId);
  ended(tabId, 0);
});
chrome.alarms.onAlarm.addListener(() => { update(); });
chrome.runtime.onInstalled.addListener(() => { update(); });
chrome.runtime.onStartup.addListener(() => { update(); });
chrome.action.onClicked.addListener(() => chrome.runtime.openOptionsPage());
show();
