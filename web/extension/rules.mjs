// How a page is held before anything is sent to its server. A rule redirects everything that would
// be shown in a tab or a frame to check.html#URL. If the URL is judged to be good, a rule for this
// tab and this URL with a higher priority, a pass, is added, and check.html goes on to the URL. A
// pass ends when something has been shown there.
//
// A URL that an extension with permissions opens gets all cookies of its host, even those that are
// not for requests from other sites (SameSite). So a second rule marks navigations that come from
// the same site, with a word that no web page knows. Everything else is opened by a page without
// permissions, go.html.
//
// Passes are kept in the session as { rule, tab, frame, url, times }.
import { change, set, settings } from './store.mjs';

const api = chrome.declarativeNetRequest;
const HELD = { resourceTypes: ['main_frame', 'sub_frame'], requestMethods: ['get'] };
const MOST_TIMES = 3; // a pass that failed three times does not work
const MOST_PASSES = 1000; // a session may have 5000 rules
// Characters of a regular expression; the browser's limit is 2 KB in its own measure.
const LONG = 200;

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

// Matches exactly this URL. Stars and carets are wildcards of a urlFilter and cannot be escaped
// there. For a URL that contains one, the beginning, which includes the host, has to be enough.
function exactly(url) {
  if (!/[*^|]/.test(url)) return { urlFilter: `|${url}|` };
  const start = url.slice(0, LONG).replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return { regexFilter: `^${start}${url.length > LONG ? '' : '$'}` };
}

// Matches the whole host, for use when a pass for the URL does not work.
const hostOf = (url) => ({ requestDomains: [new URL(url).hostname.replace(/^\[|\]$/g, '')] });

// Lets a frame go to a URL. Returns false if it was let through before and came back, because it
// would then go round for ever.
export function pass(tab, frame, url, { wide = false } = {}) {
  return change(async ({ passes }) => {
    const old = passes.find((p) => p.tab === tab && p.frame === frame && p.url === url);
    if (old && !wide) {
      old.times++;
      return { values: { passes }, result: old.times <= MOST_TIMES };
    }
    const rule = 1 + Math.max(0, ...passes.map((p) => p.rule));
    const gone = passes.splice(0, Math.max(0, passes.length + 1 - MOST_PASSES));
    await api.updateSessionRules({
      removeRuleIds: gone.map((p) => p.rule),
      addRules: [{
        id: rule, priority: 3, action: { type: 'allow' },
        condition: {
          ...HELD, tabIds: [tab], isUrlFilterCaseSensitive: true,
          ...(wide ? hostOf(url) : exactly(url)),
        },
      }],
    });
    return { values: { passes: [...passes, { rule, tab, frame, url, times: 1 }] }, result: true };
  });
}

// Ends the pass of a frame, because something is shown there or nothing will be. Frame 0 is the tab
// itself; its frames disappear with its page. Returns whether there was a pass.
export function end(tab, frame) {
  return change(async ({ passes }) => {
    const ends = passes.filter((p) => p.tab === tab && (frame === 0 || p.frame === frame));
    if (ends.length === 0) return { result: false };
    await api.updateSessionRules({ removeRuleIds: ends.map((p) => p.rule) });
    return {
      values: { passes: passes.filter((p) => !ends.includes(p)) },
      result: ends.some((p) => p.frame === frame),
    };
  });
}
