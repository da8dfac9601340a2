// The check page against pages that misuse it: what they can make it say, what they can make the
// user click on, and frames in which it may do less than usual.
import assert from 'node:assert/strict';
import test from 'node:test';
import { listen } from './chromium.mjs';
import { at, badge, canServe, go, stopped, until, world } from './world.mjs';

const skip = canServe ? false : 'this build has no guard';
const link = (host, to) => `http://${host}/link?to=${encodeURIComponent(to)}`;

// Opens a page and clicks on its link.
async function follow(page, host, to) {
  await go(page, link(host, to));
  await at(page, link(host, to));
  await page.click('#link');
}

test('whatever a page writes there, the check page calls no bad page good', { skip }, async (t) => {
  const it = await world(t), page = await it.context.newPage();
  const sent = /^Nothing has been sent to its server\.$/,
    late = /^It was opened before it could be checked, .*server may have been sent something\.$/;
  for (const [search, said] of [['gone', sent], ['gone=1&same=x', sent], ['late', late],
    ['late&gone', late], ['late=', late], ['late=toString', late], ['late=__proto__', late],
    ['late=form', /^It came as the answer to a form\. Assume that its server has been sent/],
    ['late=worker', /^It was opened by a service worker .*server may have been sent something\.$/],
    ['late=frame', /^It was opened in a frame .*server may have been sent something\.$/]]) {
    await follow(page, 'good.test', it.page(`check.html?${search}#http://bad.test/x`));
    await stopped(page);
    assert.match(await page.locator('#blocked [data-sent]').innerText(), said, search);
    assert.ok(await page.getByText('The page was let through').isHidden());
  }
  await it.guard.stop();
  await follow(page, 'good.test', it.page('check.html?gone#http://worse.test/'));
  await page.getByRole('heading', { name: 'This page could not be checked' }).waitFor();
  // The other pages of the extension are closed to the web.
  for (const name of ['options.html', 'go.html#http://bad.test/', 'go.html#http://good.test/']) {
    await follow(page, 'good.test', it.page(name));
    await page.getByText(/ERR_BLOCKED_BY_CLIENT/).waitFor();
  }
  assert.deepEqual([...it.log('bad.test'), ...it.log('worse.test')], []);
});

test('“Continue anyway” takes a moment in front, and a press of its own', { skip }, async (t) => {
  const it = await world(t), page = await it.context.newPage(),
    way = page.getByRole('button', { name: 'Continue anyway' });
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000); // time passes only when the test says so
  const moment = (ms) => page.clock.runFor(ms);
  const early = async () => {
    await way.click({ force: true });
    await page.getByText('Wait a moment').waitFor();
  };
  const waits = async (yes) => assert.equal(await way.getAttribute('aria-disabled'), String(yes));
  await go(page, 'http://bad.test/');
  await stopped(page);
  await early(); // like the second half of a double click
  for (let i = 0; i < 3; i++) { // however long it goes on
    await moment(900);
    await early();
  }
  await moment(900);
  await waits(true);
  await moment(100);
  await waits(false);
  await page.getByRole('alert').filter({ hasText: '“Continue anyway” works now.' }).waitFor();
  // Something else was in front.
  for (const name of ['blur', 'focus', 'visibilitychange']) {
    await page.evaluate((event) => { dispatchEvent(new Event(event)); }, name);
    await waits(true);
    await moment(1000);
    await waits(false);
  }
  for (const [name, value] of [['hasFocus', false], ['visibilityState', 'hidden']]) {
    await page.evaluate(([what, now]) => {
      Object.defineProperty(document, what,
        { configurable: true, value: what === 'hasFocus' ? () => now : now });
      dispatchEvent(new Event('blur'));
    }, [name, value]);
    await moment(5000);
    await waits(true);
    await early();
    await page.evaluate(() => {
      delete document.hasFocus;
      delete document.visibilityState;
      dispatchEvent(new Event('focus'));
    });
    await moment(1000);
    await waits(false);
  }
  // Not a press of the user, and a key that is held down.
  await page.evaluate(() => {
    globalThis.asked = 0;
    const send = chrome.runtime.sendMessage;
    chrome.runtime.sendMessage = (...all) => { globalThis.asked++; return send(...all); };
    document.getElementById('go').click();
    document.activeElement.blur();
  });
  await page.keyboard.down('Enter');
  await way.focus();
  for (let i = 0; i < 5; i++) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  assert.equal(await page.evaluate(() => globalThis.asked), 0);
  assert.deepEqual(it.log('bad.test'), []);
  await page.keyboard.press('Enter');
  await at(page, 'http://bad.test/');
});

test('the check page asks once at a time, and anew when it comes back', { skip }, async (t) => {
  const it = await world(t), page = await it.context.newPage();
  await it.guard.stop();
  await go(page, 'http://bad.test/');
  await page.getByRole('heading', { name: 'This page could not be checked' }).waitFor();
  await page.evaluate(() => {
    globalThis.asked = 0;
    const send = chrome.runtime.sendMessage;
    chrome.runtime.sendMessage = async (...all) => {
      globalThis.asked++;
      await new Promise((done) => { globalThis.answer = done; });
      return send(...all);
    };
  });
  const hammer = () => page.evaluate(() => {
    for (let i = 0; i < 20; i++) document.getElementById('again').click();
    return globalThis.asked;
  });
  assert.equal(await hammer(), 1);
  assert.equal(await hammer(), 1);
  await page.evaluate(() => globalThis.answer());
  await until(async () => await hammer() === 2, 'another try');
  // As from the browser's memory of pages that were left.
  await page.evaluate(() => {
    document.title = 'before';
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  });
  await page.waitForFunction(() => document.title === 'This page could not be checked');
});

test('a slow page arrives in the end', { skip }, async (t) => {
  const it = await world(t), waiting = new Map(), user = await it.context.newPage(),
    other = await it.context.newPage(), beside = await it.context.newPage();
  const slow = await listen(t, (request, response) => { waiting.set(request.url, response); });
  await beside.goto(it.page('options.html'));
  await go(user, `${slow.url}/user`);
  await follow(other, 'good.test', `${slow.url}/link`);
  await until(() => waiting.size === 2, 'two requests');
  // While they wait, the pages themselves cannot be asked.
  const titles = () => beside.evaluate(async () =>
    (await chrome.tabs.query({})).map(({ title }) => title));
  await until(async () => (await titles())
    .filter((title) => title === 'The page was let through').length === 2, 'an explanation');
  for (const [path, page] of [['/user', user], ['/link', other]]) {
    waiting.get(path).writeHead(200, { 'Content-Type': 'text/html' }).end('<title>slow</title>');
    await at(page, `${slow.url}${path}`);
  }
});

// Adds a sandboxed frame to a page and returns it.
async function sandboxed(page, sandbox, url) {
  await page.evaluate(([flags, src]) => {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', flags);
    frame.src = src;
    document.body.replaceChildren(frame);
  }, [sandbox, url]);
  return page.frameLocator('iframe');
}

test('sandboxed frames are checked', { skip }, async (t) => {
  const it = await world(t), page = await it.context.newPage();
  const visit = async (url) => {
    await go(page, url);
    await at(page, url);
  };
  await visit('http://good.test/cookie');
  const cookies = async (host, flags) => {
    await visit(`http://${host}/around`);
    await (await sandboxed(page, flags, 'http://good.test/in')).getByText('good.test/in').waitFor();
    return it.requests.findLast((r) => r.path === '/in').headers.cookie;
  };
  for (const flags of ['', 'allow-scripts'])
    assert.equal(await cookies('other.test', flags), undefined, flags);
  for (const flags of ['', 'allow-scripts allow-same-origin'])
    assert.equal(await cookies('good.test', flags), 'strict=1; lax=1', flags);
  // Without the extension it would get them; so it gets fewer, never more.
  assert.equal(await cookies('good.test', 'allow-scripts'), undefined);
  for (const url of ['http://bad.test/x', 'http://fine.test/redirect?to=http://bad.test/'])
    await (await sandboxed(page, 'allow-scripts', url)).getByText('This page was stopped')
      .waitFor();
  assert.equal(await badge(it), '2');
  // Without scripts there is one explanation for everything.
  const explained = async (url, last) => {
    const frame = await sandboxed(page, 'allow-forms allow-popups', url);
    await until(() => page.frames().some((one) => one.url() === it.page(`check.html#${last}`)),
      last);
    await frame.locator('noscript h1').waitFor();
  };
  await explained('http://bad.test/x', 'http://bad.test/x');
  await until(async () => await badge(it) === '3', 'a third page that was stopped');
  await explained('http://fine.test/redirect?to=http://bad.test/y', 'http://bad.test/y');
  await explained(it.page('check.html#http://fine.test/unseen'), 'http://fine.test/unseen');
  // Frames with the same URL take turns.
  await page.evaluate(() => {
    const one = '<iframe sandbox src="http://fine.test/twice#part"></iframe>';
    document.body.innerHTML = one + one;
  });
  for (const i of [0, 1])
    await page.frameLocator(`iframe >> nth=${i}`).getByText('fine.test/twice').waitFor();
  assert.equal(it.log('fine.test').filter((line) => line === 'GET /twice').length, 2);
  // The names of a page's elements are names in the scripts that run there as well.
  await visit('http://good.test/names');
  await page.evaluate(() => {
    document.body.innerHTML = '<p id="turns"></p><form name="querySelectorAll"></form>' +
      '<iframe sandbox src="http://fine.test/named"></iframe>';
  });
  await page.frameLocator('iframe').getByText('fine.test/named').waitFor();
  assert.deepEqual(it.log('bad.test'), []);
  assert.ok(!it.log('fine.test').includes('GET /unseen'));
});
