// What outlives the worker, which the browser stops after half a minute of rest: the list, and what
// was accepted last of a signed one, in IndexedDB, settings in storage.local, and data of the
// browser's session in storage.session.

function database() {
  return new Promise((done, failed) => {
    const request = indexedDB.open('tamis', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

async function transact(mode, act) {
  const base = await database();
  try {
    return await new Promise((done, failed) => {
      const all = base.transaction('kept', mode);
      all.onabort = () => failed(all.error);
      try {
        const request = act(all.objectStore('kept'));
        all.oncomplete = () => done(request?.result);
      } catch (e) {
        failed(e);
        all.abort(); // or what was requested before the failure would be done
      }
    });
  } finally {
    base.close();
  }
}

export const recall = (name) => transact('readonly', (kept) => kept.get(name));
export const keep = (name, value) => keepAll({ [name]: value });
export const forget = (name) => keepAll({ [name]: undefined });
// Stores all values, and forgets the undefined ones, or fails and changes nothing.
export const keepAll = (values) => transact('readwrite', (kept) => {
  for (const [name, value] of Object.entries(values))
    if (value === undefined) kept.delete(name);
    else kept.put(value, name);
});

export const SERVER = 'http://127.0.0.1:8080';

// server; keys: the public keys that are pinned; tried, updated: when the list was last requested,
// and when that last succeeded; problem: why the last attempt failed; refusal: the guard's word for
// it, if a signed list was refused; word: see rules.mjs.
export const settings = async () =>
  ({ server: SERVER, keys: [], ...await chrome.storage.local.get() });
export const set = (values) => chrome.storage.local.set(values);

// Returns the SHA-256 hash of a text in hexadecimal digits.
export async function digest(text) {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (b) => b.toString(16).padStart(2, '0')).join('');
}

// blocked, warned: numbers of pages; allowed: expressions that the user chose to visit, each with
// the verdict at that time; passes: see rules.mjs.
export const session = () =>
  chrome.storage.session.get({ blocked: 0, warned: 0, allowed: {}, passes: [] });

// Changes the session one after the other, because one of two simultaneous changes would be lost.
let last = Promise.resolve();
export function change(how) {
  const next = last.then(async () => {
    const now = await session(), { values, result } = await how(now);
    if (values) await chrome.storage.session.set(values);
    return result;
  });
  last = next.catch(() => {});
  return next;
}
