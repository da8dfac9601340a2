// How a page is held before anything is sent to its server. A rule redirects everything that would
// be shown in a tab, a frame, an <object> or an <embed> to check.html#URL. If the URL is judged to
// be good, a rule for this tab and this URL with a higher priority, a pass, is added, and
// check.html goes on to the URL. A pass ends when something has been shown there.
//
// A pass cannot always name exactly one URL, and some pages arrive without being held
// (docs/BROWSER.md). So the worker compares the URL of every page that is shown with the URL of the
// pass, and judges it if they differ.
//
// A URL that an extension with permissions opens gets all cookies of its host, even those that are
// not for requests from other sites (SameSite). So a second rule marks navigations that come from
// the same site, with a word that no web page knows. Everything else is opened by a page without
// permissions, go.html.
//
// Passes are kept in the session as { rule, tab, frame, hash, times }. The hash stands for the URL,
// because URLs may have 2 MB each, and the session may have 10 MB in all.
import { change, digest, session, set, settings } from './store.mjs';

const api = chrome.declarativeNetRequest;
const HELD = { resourceTypes: ['main_frame', 'sub_frame', 'object'], requestMethods: ['get'] };
const MOST_TIMES = 3; // a pass that failed three times does not work
const MOST_PASSES = 900; // a session may have 5000 rules, and 1000 with a regular expression
// Characters of a regular expression; the browser's limit is 2 KB in its own measure.
const LONG = 200;
const LONGEST = 4000; // characters of a URL in a rule

// Rules are shared with private windows, which have their own worker and session. So their ids
// differ in the last bit.
const SIDE = chrome.extension.inIncognitoContext ? 1 : 0;
const newId = () => 2 + 2 * (crypto.getRandomValues(new Uint32Array(1))[0] >>> 3) + SIDE;

// POST is not held, because its body would be lost.
export async function hold() {
  let { word } = await settings();
  if (!word) await set({ word: word = crypto.randomUUID() });
  const rule = (id, also, search) => ({
    id, priority: id, condition: { ...HELD, regexFilter: '^https?://.*', ...also },
    action: {
      type: 'redirect',
      redirect: { regexSubstitution: `${chrome.runtime.getURL('check.html')}${search}#\\0` },
    },
  });
  const old = await api.getDynamicRules();
  await api.updateDynamicRules({
    removeRuleIds: old.map(({ id }) => id),
    addRules: [rule(1, {}, ''), rule(2, { domainType: 'firstParty' }, `?same=${word}`)],
  });
}

// Matches the whole host, for use when a pass for the URL does not work.
const hostOf = (url) => ({ requestDomains: [new URL(url).hostname.replace(/\.$/, '')] });

// Matches this URL, and others of its host only if it is long: then its beginning has to be enough.
// Stars and carets are wildcards of a urlFilter and cannot be escaped there, so a URL that has them
// needs a regular expression. A name and a password before the host could fill that, and after them
// the wildcards are the lesser evil.
function exactly(url) {
  const start = url.slice(0, LONGEST), part = url.slice(0, LONG), { username } = new URL(url);
  if (/[*^|]/.test(start) && (part === url || !username)) {
    const text = part.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return { ...hostOf(url), regexFilter: `^${text}${part === url ? '$' : ''}` };
  }
  return { ...hostOf(url), urlFilter: `|${start}${start === url ? '|' : ''}` };
}

// Returns the oldest pass of the tab that has the most of them, so that a page with very many
// frames takes passes only from itself.
function mostExpendable(passes) {
  const counts = new Map();
  for (const { tab } of passes) counts.set(tab, (counts.get(tab) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return passes.find(({ tab }) => counts.get(tab) === most);
}

// Fragments are not sent, and no list knows them.
const hashOf = (url) => digest(url.replace(/#.*/s, ''));

// Removes the rules that no pass knows and the passes that have no rule. Such may exist if the
// worker was stopped, or the session refused to be changed, between the two.
export function reconcile() {
  return change(async ({ passes }) => {
    const rules = (await api.getSessionRules()).map(({ id }) => id).filter((id) => id % 2 === SIDE),
      known = new Set(passes.map((p) => p.rule)), orphans = rules.filter((id) => !known.has(id)),
      kept = passes.filter((p) => rules.includes(p.rule));
    if (orphans.length > 0) await api.updateSessionRules({ removeRuleIds: orphans });
    return kept.length < passes.length ? { values: { passes: kept } } : {};
  });
}

// Lets a frame go to a URL. Returns false if it was let through before and came back, because it
// would then go round for ever.
export async function pass(tab, frame, url, { wide = false } = {}) {
  const add = async ({ passes }) => {
    const hash = await hashOf(url);
    const old = passes.find((p) => p.tab === tab && p.frame === frame && p.hash === hash);
    if (old && !wide) {
      old.times++;
      return { values: { passes }, result: old.times <= MOST_TIMES };
    }
    const rule = newId(), gone = passes.length < MOST_PASSES ? [] : [mostExpendable(passes)];
    await api.updateSessionRules({
      removeRuleIds: [rule, ...gone.map((p) => p.rule)],
      addRules: [{
        id: rule, priority: 3, action: { type: 'allow' },
        condition: {
          ...HELD, tabIds: [tab], isUrlFilterCaseSensitive: true,
          ...(wide ? hostOf(url) : exactly(url)),
        },
      }],
    });
    const kept = passes.filter((p) => !gone.includes(p));
    return { values: { passes: [...kept, { rule, tab, frame, hash, times: 1 }] }, result: true };
  };
  try {
    return await change(add);
  } catch (e) {
    await reconcile();
    throw e;
  }
}

// Returns whether a frame has a pass for a URL. It does not wait for its turn to change the
// session, because a page with very many frames could make that long.
export async function mayShow(tab, frame, url) {
  const [{ passes }, hash] = await Promise.all([session(), hashOf(url)]);
  return passes.some((p) => p.tab === tab && p.frame === frame && p.hash === hash);
}

// Ends the passes of a frame, because something is shown there or nothing will be. Frame 0 is the
// tab itself; its frames disappear with its page.
export function end(tab, frame) {
  return change(async ({ passes }) => {
    const ends = passes.filter((p) => p.tab === tab && (frame === 0 || p.frame === frame));
    if (ends.length === 0) return {};
    await api.updateSessionRules({ removeRuleIds: ends.map((p) => p.rule) });
    return { values: { passes: passes.filter((p) => !ends.includes(p)) } };
  });
}
