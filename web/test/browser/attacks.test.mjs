// Ways around the extension that were found or thought of, in Chromium: other elements in which a
// page is shown, URLs that resemble a permitted one, forms, service workers, and pages that use up
// what the extension keeps. In the first group, nothing may reach a listed host.
import assert from 'node:assert/strict';
import test from 'node:test';
import { at, canServe, certificate, go, stopWorker, stopped, until, world } from './world.mjs';

const skip = canServe ? false : 'this build has no guard';
const lists = { malware: ['bad.test', 'path.test/evil/', 'part.test/a', 'part.test/b'] };
const STOPPED = 'This page was stopped';

const doc = (body, fields = {}) => (request, response) => response.writeHead(200, {
  'Content-Type': 'text/html', ...fields,
}).end(`<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,">${body}`);
const redirect = (to, status = 302) => (request, response) =>
  response.writeHead(status, { Location: to }).end();

// Opens a page of good.test with this body in a new tab.
let pages = 0;
async function opened(it, body, { from = 'http://good.test', fields } = {}) {
  const page = await it.context.newPage(), path = `/page-${++pages}`;
  it.pages[`${new URL(from).host}${path}`] = doc(body, fields);
  await go(page, from + path);
  return page;
}

const below = (frame) => frame.childFrames().flatMap((f) => [f, ...below(f)]);

// Waits until a frame below this one shows a text.
const shown = (frame, text, what) => until(async () => {
  for (const f of below(frame))
    if (await f.getByText(text).count().catch(() => 0) > 0) return true;
  return false;
}, `${what}: "${text}" in a frame`);

// Waits for the warning about a page that was shown before it was judged.
async function late(page, kind, url) {
  await page.waitForURL((now) => now.href.endsWith(`/check.html?late=${kind}#${url}`));
  await page.locator('[data-url]').getByText(url, { exact: true }).waitFor();
}

// Does something in a page of the extension.
async function inside(it, act, given) {
  const page = await it.context.newPage();
  await page.goto(it.page('options.html'));
  try {
    return await page.evaluate(act, given);
  } finally {
    await page.close();
  }
}

// The number of the tab that shows a URL.
const tabOf = (it, url) => inside(it, async (u) => (await chrome.tabs.query({}))
  .find((tab) => tab.url === u).id, url);

const rulesOf = (it) => inside(it, () => chrome.declarativeNetRequest.getSessionRules());

async function elements(it) {
  const bodies = (url) => ({
    object: `<object data="${url}"></object>`,
    'object with a type': `<object type="text/html" data="${url}"></object>`,
    'object that fills the window': `<object data="${url}" style="position: fixed; inset: 0">` +
      '</object>',
    embed: `<embed src="${url}">`,
    'embed with a type': `<embed type="text/html" src="${url}">`,
    'embed that claims to be a picture': `<embed type="image/svg+xml" src="${url}">`,
    'object in a frame': `<iframe srcdoc="<object data='${url}'></object>"></iframe>`,
    'frame in an object': `<object data="http://good.test/frame?to=${url}"></object>`,
    'frame in a frame': `<iframe srcdoc="<iframe srcdoc=&quot;<iframe src='${url}'></iframe>` +
      '&quot;></iframe>"></iframe>',
    'frame in a blob': `<iframe></iframe><script>document.querySelector('iframe').src =
      URL.createObjectURL(new Blob(["<iframe src='${url}'></iframe>"], { type: 'text/html' }));
      </script>`,
    frameset: `<frameset><frame src="${url}"></frameset>`,
    'script in an empty frame': `<iframe></iframe><script>frames[0].location = '${url}'</script>`,
    'javascript: in a frame': `<iframe src="javascript:location.replace('${url}')"></iframe>`,
    'link into a frame': `<iframe name="here"></iframe><a target="here" href="${url}"></a>
      <script>document.querySelector('a').click()</script>`,
    'form into a frame': `<iframe name="here"></iframe><form target="here" action="${url}"></form>
      <script>document.forms[0].submit()</script>`,
    'object that is changed': `<object data="http://good.test/ready"></object><script>
      onmessage = () => { document.querySelector('object').data = '${url}'; };</script>`,
    'redirected object': `<object data="http://good.test/redirect?to=${url}"></object>`,
    'refreshed embed': `<embed src="http://good.test/meta?to=${url}">`,
  });
  // One page for all of them: each is in a frame of its own.
  const tryAll = async (url, text) => {
    const all = Object.entries(bodies(url)), page = await opened(it, all.map(([, body], i) => {
      it.pages[`case.test/${text[0]}${i}`] = doc(body);
      return `<iframe name="case-${i}" src="http://case.test/${text[0]}${i}"></iframe>`;
    }).join('') + '<style>iframe { width: 90px; height: 60px }</style>'); // all of them in view
    for (const [i, [what]] of all.entries()) {
      await until(() => page.frame(`case-${i}`), what);
      await shown(page.frame(`case-${i}`), text, what);
    }
    return all.length;
  };
  await tryAll('http://bad.test/in', STOPPED);
  const all = await tryAll('http://fine.test/in', 'fine.test/in');
  assert.deepEqual(it.log('bad.test'), []);
  assert.equal(it.log('fine.test').length, all); // nothing is requested twice
}

async function windows(it) {
  it.pages['good.test/refresh'] = doc('', { Refresh: '0; url=http://bad.test/refresh' });
  it.pages['good.test/found'] = redirect('http://bad.test/found');
  it.pages['good.test/kept'] = redirect('http://bad.test/kept', 308);
  const click = (attributes) => `<a href="http://bad.test/link" ${attributes}>x</a><script>
    document.querySelector('a').click()</script>`;
  const here = {
    'Refresh field': '<script>location = "/refresh"</script>',
    'permanent redirect': '<script>location = "/kept"</script>',
    'GET form': '<form action="http://bad.test/form"></form><script>document.forms[0].submit()' +
      '</script>',
    'POST form that is redirected': '<form method="post" action="/found"></form><script>' +
      'document.forms[0].submit()</script>',
    'javascript:': '<script>location = "javascript:location = `http://bad.test/js`"</script>',
    'frame that takes the tab': '<iframe srcdoc="<script>top.location = `http://bad.test/top`' +
      '</script>"></iframe>',
    'link that wants to be a download': click('download'),
    'the same, redirected': click('download').replace('http://bad.test/link', '/found'),
    'picture with areas': '<map name="m"><area href="http://bad.test/area" shape="default"></map>' +
      '<img usemap="#m" alt=""><script>document.querySelector("area").click()</script>',
    'history': '<script>history.pushState(0, "", "/other"); location = "http://bad.test/history"' +
      '</script>',
  };
  const elsewhere = {
    'window.open': '<script>open("http://bad.test/open")</script>',
    'window.open without an opener': '<script>open("http://bad.test/o", "", "noopener")</script>',
    'window that is sent elsewhere': '<script>open("about:blank").location = "http://bad.test/w"' +
      '</script>',
    'window with a frame': '<script>open("about:blank").document.write(' +
      '"<script>location=`http://bad.test/written`<\\/script>")</script>',
    'link to a new window': click('target="_blank"'),
    'form to a new window': '<form target="_blank" action="http://bad.test/form"></form><script>' +
      'document.forms[0].submit()</script>',
  };
  for (const [what, body] of Object.entries(here)) {
    const page = await opened(it, body);
    await stopped(page).catch((e) => { throw new Error(`${what}: ${e.message}`); });
    await page.close();
  }
  for (const [what, body] of Object.entries(elsewhere)) {
    const before = new Set(it.context.pages()), page = await opened(it, body);
    const news = () => it.context.pages().find((p) => p !== page && !before.has(p));
    await until(news, what);
    await stopped(news()).catch((e) => { throw new Error(`${what}: ${e.message}`); });
    await news().close();
    await page.close();
  }
  assert.deepEqual(it.log('bad.test'), []);
}

// Each of them is redirected to a listed page whose URL begins like its own.
async function likenesses(it) {
  const login = 'A'.repeat(250), label = 'l'.repeat(63), labels = `${label}.${label}.${label}`;
  const pairs = [
    [`http://${login}@good.test/x*`, `http://${login}@bad.test/`],
    [`http://${labels}.good.test/x*`, `http://${labels}.bad.test/`],
    [`http://good.test/${login}*x?^|`, 'http://bad.test/'],
    [`http://good.test/${'x'.repeat(5000)}`, `http://bad.test/${'x'.repeat(5000)}`],
    ['http://bad.test@good.test/x*', 'http://good.test@bad.test/x*'],
    [`http://${login}@path.test/x*`, `http://${login}@path.test/evil/`],
    ['http://path.test/*?|', 'http://path.test/evil/?|'],
    [`http://${login}@path.test/x*?^|a|`, `http://${login}@path.test/evil/x*?^|a|`],
  ];
  const page = await it.context.newPage();
  for (const [from, to] of pairs) {
    const { host, pathname } = new URL(from);
    it.pages[host + pathname] = redirect(to);
    await go(page, from);
    await stopped(page).catch((e) => { throw new Error(`${from}: ${e.message}`); });
    assert.equal(await page.locator('[data-url]').textContent(), new URL(to).href);
    delete it.pages[host + pathname];
    await go(page, from);
    await at(page, new URL(from).href);
  }
  assert.deepEqual(it.requests.filter((r) => /bad\.test$/.test(r.host) || /evil/.test(r.path)), []);
}

// Hosts in every spelling that a URL allows: the good ones open, and the listed ones do not.
async function spellings(it) {
  const page = await it.context.newPage(), { port } = it.hosts;
  for (const url of ['http://good.test./x', 'http://good.test./x*', 'http://GOOD.test:8080/x*',
    'http://u:p@good.test:8080/x', 'http://a_b.test/x*', `http://127.0.0.1:${port}/x*`,
    `http://2130706433:${port}/x`, `http://localhost:${port}/x`, 'http://[2001:db8::1]/x',
    'http://[2001:db8:0::1]:8080/x*']) {
    await go(page, url);
    await at(page, new URL(url).href).catch((e) => { throw new Error(`${url}: ${e.message}`); });
  }
  for (const url of ['http://bad.test./x', 'http://BAD.test:8080/x*', 'http://u:p@bad.test/x',
    'http://a.b.c.d.bad.test/', 'http://b%61d.test/', 'http://bad\u3002test/']) {
    await go(page, url);
    await stopped(page);
  }
  assert.deepEqual(it.requests.filter((r) => /bad\.test/.test(r.host)), []);
}

// A form is not held. Wherever the answer is shown, the tab is sent to the warning.
async function forms(it) {
  it.pages['good.test/307'] = redirect('http://bad.test/307', 307);
  it.pages['good.test/308'] = redirect('http://bad.test/308', 308);
  const post = (url, more = '') => `<form method="post" action="${url}" ${more}><input name="a">` +
    '</form><script>document.forms[0].submit()</script>';
  const into = (element) => element + post('http://bad.test/post', 'target="here"');
  for (const [body, kind, url] of [
    [post('http://bad.test/post'), 'form', 'http://bad.test/post'],
    [post('http://bad.test/post*?^|#part'), 'form', 'http://bad.test/post*?^|#part'],
    [post('/307'), 'form', 'http://bad.test/307'],
    [post('/308'), 'form', 'http://bad.test/308'],
    [into('<iframe name="here"></iframe>'), 'frame', 'http://bad.test/post'],
    [`<object name="here" data="http://good.test/ready"></object>${
      post('http://bad.test/post', 'target="here"').replace('<script>', '$&onmessage = () => ')
    }`, 'frame', 'http://bad.test/post'],
    [`<iframe srcdoc='${post('http://bad.test/post')}'></iframe>`, 'frame',
      'http://bad.test/post'],
    [`<iframe name="here"></iframe>${post('http://good.test/307', 'target="here"')}`, 'frame',
      'http://bad.test/307'],
  ]) {
    const page = await opened(it, body);
    await late(page, kind, url);
    await page.close();
  }
  const good = await opened(it, `<iframe name="here"></iframe>${
    post('http://fine.test/post', 'target="here"')}`);
  await shown(good.mainFrame(), 'a=', 'a form of a good page');
  // A user who stays on a page that asks whether to leave it is warned in another tab.
  const page = await opened(it, '<iframe name="here"></iframe><form method="post" target="here" ' +
    'action="http://bad.test/post"><button>send</button></form><script>onbeforeunload = (event) ' +
    '=> event.preventDefault();</script>');
  page.on('dialog', (dialog) => dialog.dismiss());
  const [other] = await Promise.all([it.context.waitForEvent('page'), page.click('button')]);
  await late(other, 'frame', 'http://bad.test/post');
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => dialog.accept());
}

// A pass for another URL of the same frame, as a navigation has that was held a moment ago, is not
// one for the answer of a form.
async function otherPass(it) {
  const url = 'http://good.test/form?to=http://bad.test/post', page = await it.context.newPage();
  await go(page, url);
  await at(page, url);
  const tab = await tabOf(it, url);
  const given = await inside(it, async (to) =>
    (await import('./rules.mjs')).pass(to, 0, 'http://good.test/held'), tab);
  assert.ok(given);
  await page.click('button');
  await late(page, 'form', 'http://bad.test/post');
  await until(async () => (await rulesOf(it)).length === 0, 'the end of the pass');
}

// The page before a late warning is the listed one, so "Go back" leads to the one before that, or
// to a new tab. (In a browser without a page for new tabs, that is an error.)
async function wayBack(it) {
  const leave = async (page) => {
    await late(page, 'form', 'http://bad.test/post');
    await page.getByRole('button', { name: 'Go back' }).click();
  };
  const body = (more) => `<form method="post" action="http://bad.test/post" ${more}>` +
    '<button>send</button></form>';
  const page = await opened(it, body(''));
  await page.getByText('send').waitFor();
  const url = page.url();
  await page.click('button');
  await leave(page);
  await until(() => page.url() === url, 'the page with the form');
  const from = await opened(it, body('target="_blank"'));
  const [other] = await Promise.all([it.context.waitForEvent('page'), from.click('button')]);
  await leave(other);
  await until(() => /^chrome(-error)?:/.test(other.url()), 'a new tab');
}

// A user who continues to one page of a host has not continued to another one, even if the first
// page was already allowed in another tab.
async function oneWayThrough(it) {
  it.pages['part.test/a'] = redirect('/b');
  const warned = [];
  for (let i = 0; i < 2; i++) {
    const page = await opened(it, '<script>location = "http://part.test/a"</script>');
    await stopped(page);
    warned.push(page);
  }
  for (const page of warned) {
    await page.bringToFront();
    await page.locator('#go[aria-disabled=false]').click();
    await page.waitForURL(/#http:[/][/]part[.]test[/]b$/);
    await stopped(page);
  }
  assert.deepEqual(it.log('part.test'), ['GET /a', 'GET /a']);
}

// URLs of 2 MB, which seven frames of any page can have, must not use up what the session may hold.
// The frames here have shorter ones, because the browser itself takes seconds for each of 2 MB.
async function longUrls(it) {
  const url = 'http://good.test/crowd', page = await it.context.newPage();
  await go(page, url);
  await at(page, url);
  const given = await inside(it, async (tab) => {
    const { pass } = await import('./rules.mjs'), long = 'x'.repeat(2 ** 21 - 100);
    for (let i = 1; i <= 7; i++) await pass(tab, i, `http://f${i}.test/${long}`);
    return JSON.stringify(await chrome.storage.session.get()).length +
      JSON.stringify(await chrome.declarativeNetRequest.getSessionRules()).length;
  }, await tabOf(it, url));
  assert.ok(given < 100000, `${given} characters`);
  await page.evaluate(() => {
    for (let i = 1; i <= 7; i++) {
      const frame = document.createElement('iframe');
      frame.src = `http://g${i}.test/${'x'.repeat(100000)}`;
      document.body.append(frame);
    }
  });
  const other = await it.context.newPage();
  for (const path of [1, 2, 3]) {
    await go(other, `http://fine.test/${path}`);
    await at(other, `http://fine.test/${path}`);
  }
  await page.close();
  await until(async () => (await rulesOf(it)).length === 0, 'the end of all passes');
  await go(other, 'http://bad.test/');
  await stopped(other);
  assert.deepEqual(it.log('bad.test'), []);
}

// A tab with very many frames loses its own passes, not those of others.
async function manyFrames(it) {
  const left = await inside(it, async () => {
    const { pass, reconcile } = await import('./rules.mjs');
    const condition = (tab) => ({ tabIds: [tab], urlFilter: '|http://x.test/|' });
    const passes = Array.from({ length: 899 }, (_, i) => (
      { rule: 2 * i + 2, tab: i === 0 ? 1 : 2, frame: i, hash: String(i), times: 1 }));
    await chrome.declarativeNetRequest.updateSessionRules({ addRules: passes.map((p) => (
      { id: p.rule, action: { type: 'allow' }, condition: condition(p.tab) })) });
    await chrome.storage.session.set({ passes });
    for (const tab of [3, 2, 2, 4]) await pass(tab, 5, `http://y${Math.random()}.test/`);
    const now = (await chrome.storage.session.get('passes')).passes, tabs = {};
    for (const { tab } of now) tabs[tab] = (tabs[tab] ?? 0) + 1;
    const rules = (await chrome.declarativeNetRequest.getSessionRules()).length;
    await chrome.storage.session.set({ passes: [] });
    await reconcile();
    return [tabs, rules];
  });
  assert.deepEqual(left, [{ 1: 1, 2: 897, 3: 1, 4: 1 }, 900]);
  assert.deepEqual(await rulesOf(it), []);
}

// Rules that nobody remembers and passes without a rule disappear when the worker starts, and when
// the session refuses a change.
async function leftovers(it) {
  const page = await it.context.newPage(), url = 'http://good.test/leftover';
  await go(page, url);
  await at(page, url);
  const tab = await tabOf(it, url), orphan = (id) => inside(it, ([rule, tabId]) =>
    chrome.declarativeNetRequest.updateSessionRules({ addRules: [{ id: rule, priority: 3,
      action: { type: 'allow' }, condition: { requestDomains: ['bad.test'], tabIds: [tabId],
        resourceTypes: ['main_frame'] } }] }), [id, tab]);
  await orphan(2);
  await inside(it, async (tabId) => {
    const { digest } = await import('./store.mjs');
    await chrome.storage.session.set({ passes: [{ rule: 44, tab: tabId, frame: 0, times: 3,
      hash: await digest('http://good.test/again') }] });
  }, tab);
  await stopWorker(it);
  await go(page, 'http://good.test/again'); // starts the worker
  await at(page, 'http://good.test/again');
  await until(async () => (await rulesOf(it)).length === 0, 'the end of a rule');
  await go(page, 'http://bad.test/');
  await stopped(page);
  await orphan(4);
  await inside(it, async () => {
    const { QUOTA_BYTES, getBytesInUse } = chrome.storage.session;
    const room = QUOTA_BYTES - await getBytesInUse.call(chrome.storage.session) - 100;
    await chrome.storage.session.set({ junk: 'x'.repeat(room) });
  });
  await go(page, 'http://good.test/full');
  await page.getByText('The check failed').waitFor();
  assert.deepEqual(await rulesOf(it), []);
  await inside(it, () => chrome.storage.session.remove('junk'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await at(page, 'http://good.test/full');
  assert.deepEqual(it.log('bad.test'), []);
}

// What the user allowed is bounded too.
async function allowedMuch(it) {
  const page = await it.context.newPage();
  await inside(it, () => chrome.storage.session.set({ allowed: Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`${i}.test/`, 'listed'])) }));
  await go(page, 'http://bad.test/allowed');
  await stopped(page);
  await page.evaluate(() => chrome.runtime.sendMessage({ ask: 'through',
    url: 'http://bad.test/allowed' }));
  const { allowed } = await inside(it, () => chrome.storage.session.get('allowed'));
  assert.equal(Object.keys(allowed).length, 1000);
  assert.equal(allowed['bad.test/'], 'listed');
  assert.ok(!Object.hasOwn(allowed, '0.test/') && Object.hasOwn(allowed, '999.test/'));
  await go(page, 'http://bad.test/allowed');
  await at(page, 'http://bad.test/allowed');
  // A page that was allowed and is in the history is judged when it is shown again, and so is a
  // document that it makes.
  const other = await it.context.newPage();
  await go(other, 'http://bad.test/allowed');
  await at(other, 'http://bad.test/allowed');
  await go(page, 'http://good.test/later');
  await at(page, 'http://good.test/later');
  await inside(it, () => chrome.storage.session.set({ allowed: {} }));
  await page.goBack({ waitUntil: 'commit' });
  await stopped(page);
  await other.evaluate(() => {
    location = URL.createObjectURL(new Blob(['evil'], { type: 'text/html' }));
  });
  await stopped(other);
  assert.match(other.url(), /check[.]html[?]late#http:[/][/]bad[.]test[/]/);
}

test('over HTTP', { skip }, async (t) => {
  const it = await world(t, { lists, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  it.pages['good.test/ready'] = doc('<script>parent.postMessage(1, "*")</script>');
  for (const [what, attack] of Object.entries({
    'no element shows a listed page': elements,
    'no window shows a listed page': windows,
    'a pass is for one URL, not for those like it': likenesses,
    'hosts in all spellings': spellings,
    'answers to forms are judged, in frames too': forms,
    'a pass for another URL does not count': otherPass,
    'the way back from a late warning': wayBack,
    'the way through leads to one page': oneWayThrough,
    'seven frames with URLs of 2 MB': longUrls,
    'very many frames': manyFrames,
    'rules without passes, and passes without rules': leftovers,
    'very many permissions, and a page in the history': allowedMuch,
  })) {
    await t.test(what, async () => {
      it.requests.length = 0;
      try {
        await attack(it);
      } finally {
        for (const page of it.context.pages().slice(1)) await page.close();
      }
    });
  }
});

// A service worker answers before any rule applies. What it answers is judged when it is shown.
test('service workers and what is fetched in advance', { skip }, async (t) => {
  const secret = certificate(t);
  if (!secret) return t.skip('there is no openssl');
  const it = await world(t, { lists, secret }), from = 'https://path.test';
  it.pages['path.test/worker.js'] = (request, response) => response.writeHead(200,
    { 'Content-Type': 'text/javascript' }).end(`
    addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    addEventListener('fetch', (event) => {
      if (/[/](evil|fine)[/]/.test(new URL(event.request.url).pathname))
        event.respondWith(new Response('from the worker',
          { headers: { 'Content-Type': 'text/html' } }));
    });`);
  const ahead = (what, url) =>
    `<script type="speculationrules">{"${what}":[{"urls":["${url}"],"eagerness":"immediate"}]}` +
    `</script><a id="link" href="${url}">link</a>`;
  // Before there is a worker: the rules apply.
  for (const what of ['prefetch', 'prerender'])
    for (const url of ['/evil/ahead', 'https://bad.test/ahead']) {
      const page = await opened(it, ahead(what, url), { from });
      await page.click('#link');
      await stopped(page);
      await page.close();
    }
  assert.deepEqual(it.requests.filter((r) => /ahead/.test(r.path)), []);
  const page = await opened(it, `<script>navigator.serviceWorker.register('/worker.js')
    .then(() => navigator.serviceWorker.ready).then(() => { document.title = 'ready'; })</script>`,
    { from });
  await until(async () => await page.title() === 'ready', 'a service worker');
  const inFrame = (url) => `<iframe src="${url}"></iframe>`;
  for (const [kind, body] of [
    ['worker', '<script>location = "/evil/a"</script>'],
    ['frame', inFrame('/evil/a')],
    ['frame', `<iframe srcdoc="<iframe src='/evil/a'></iframe>"></iframe>`],
    ['frame', '<iframe></iframe><script>frames[0].location = "/evil/a"</script>'],
  ]) {
    const other = await opened(it, body, { from });
    await late(other, kind, 'https://path.test/evil/a');
    await other.close();
  }
  const good = await opened(it, inFrame('/fine/a'), { from });
  await shown(good.mainFrame(), 'from the worker', 'a good page from a worker');
  assert.deepEqual(it.requests.filter((r) => /evil/.test(r.path)), []);
  return undefined;
});
