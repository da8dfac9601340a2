// The page's guard in Chromium: the verdicts on URLs, the requests, and what happens without an
// answer.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { native } from '../help.mjs';
import { listen, serve, shot, visitor, watch } from './chromium.mjs';
import { check, folder, guardServer, texts, verdicts, visit, visitStatic } from './pages.mjs';
import { until } from './world.mjs';

const withGuard = { skip: !native(['help']).includes('guard serve') && 'built without the guard' };
const figures = (page) => texts(page, 'n-checked', 'n-sent', 'n-saved');

test('from the server: all verdicts with their steps, and the counter', withGuard, async (t) => {
  const { url } = await guardServer(t, { malware: ['bad.example', 'evil.example/x'],
    phishing: ['bad.example'] });
  const { page, wrong } = await visit(t, url);
  assert.match(await page.locator('#lists').textContent(),
    /^Version 1 of the server’s lists: 2 entries in .*malware, phishing/);
  assert.equal(await page.locator('#samples').isVisible(), false);
  await check(page, 'http://good.example/', 'HTTP://www.BAD.example:80/a/../b#c',
    'mailto:a@b.example', 'good.example/x');
  assert.deepEqual(await verdicts(page), ['Clean', 'Not a URL', 'Listed', 'Clean']);
  assert.deepEqual(await figures(page), ['3', '1', '2 (67 %)']);
  const listed = await page.locator('#results > li').nth(2).textContent();
  for (const part of ['http://www.bad.example/b', '4 expressions', '611d2cf5', 'Excludes 3 of 4',
    'malware, phishing'])
    assert.ok(listed.includes(part), `${part}: ${listed}`);
  assert.match(await page.locator('#results > li').nth(1).textContent(),
    /This has no canonical form: only http/);
  assert.match(await page.locator('#results > li').nth(0).textContent(),
    /Not asked: the filter’s “no” is certain/);
  await check(page, 'http://bad.example/again');
  assert.match(await page.locator('#results > li').nth(0).textContent(),
    /Not asked again: the answer was kept/);
  assert.deepEqual(await figures(page), ['4', '1', '3 (75 %)']);
  assert.match(await page.locator('#said').textContent(), /^Listed: http:\/\/bad\.example\/again$/);
  assert.deepEqual(wrong, []);
  await shot(page, 'page-server');
});

test('a server that is gone: unconfirmed, never clean, and the way back', withGuard, async (t) => {
  const { url, stop } = await guardServer(t, { malware: ['bad.example'] });
  const { page, wrong } = await visit(t, url);
  assert.deepEqual(wrong, []);
  await stop();
  await check(page, 'http://bad.example/', 'http://good.example/');
  assert.deepEqual(await verdicts(page), ['Clean', 'Unconfirmed']);
  assert.match(await page.locator('#results > li.unconfirmed').textContent(),
    /the server could not be asked.*No valid answer/s);
  await shot(page, 'page-server-gone');
  // Nothing went wrong except the connection.
  await until(() => wrong.length > 0, 'a complaint');
  assert.ok(wrong.every((line) => line.includes('ERR_CONNECTION_REFUSED')),
    wrong.join('\n'));
});

test('lists that cannot be loaded are reported, and can be tried again', withGuard, async (t) => {
  const { url } = await guardServer(t, { malware: ['bad.example'] });
  const context = await visitor(t), page = await context.newPage();
  await page.route('**/v1/update', (route) =>
    route.fulfill({ status: 503, body: '{"error":"cannot confirm"}' }));
  await page.goto(`${url}/`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  assert.match(await page.locator('#lists').textContent(), /could not be loaded: .*HTTP 503/);
  assert.equal(await page.locator('#check [type=submit]').isDisabled(), true);
  await page.unroute('**/v1/update');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForFunction(() =>
    document.getElementById('lists').textContent.startsWith('Version 1'));
  await check(page, 'http://bad.example/');
  assert.deepEqual(await verdicts(page), ['Listed']);
});

test('a new version is loaded when an answer reports it', withGuard, async (t) => {
  const { url, directory } = await guardServer(t, { malware: ['bad.example', 'worse.example'] });
  const { page } = await visit(t, url);
  native(['guard', 'build', '-q', directory, '-'], 'bad.example\nnew.example\n');
  await until(async () => (await (await fetch(`${url}/v1/update`)).json()).version === 2,
    'version 2');
  await check(page, 'http://bad.example/');
  await page.waitForFunction(() =>
    document.getElementById('lists').textContent.startsWith('Version 2'));
  await check(page, 'http://new.example/', 'http://worse.example/');
  assert.deepEqual(await verdicts(page), ['Clean', 'Listed', 'Listed']);
});

test('as static files: says so, and uses a demonstration list', async (t) => {
  const { page, wrong, log } = await visitStatic(t);
  assert.match(await page.locator('#lists').textContent(), /^This page has no server\./);
  for (const [name, verdict] of [['a clean one', 'Clean'], ['a listed one', 'Listed'],
    ['a disguised one', 'Listed'],
    ['a false positive', 'Clean'], ['not a URL', 'Not a URL']]) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.waitForFunction((text) =>
      document.querySelector('#results .badge')?.textContent === text, verdict);
  }
  assert.match(await page.locator('#results > li').nth(1).textContent(),
    /Excludes 0 of 1; 1 may be listed.*was a false positive/s);
  assert.deepEqual(await figures(page), ['4', '3', '1 (25 %)']);
  assert.deepEqual(wrong, []);
  assert.ok(log.every((line) => line.startsWith('GET 127.0.0.1')) &&
    !log.some((line) => line.includes('/v1/')), log.join('\n'));
  await shot(page, 'page-static');
});

test('what is pasted into the empty field is checked at once; too many are refused', async (t) => {
  const { page, context } = await visitStatic(t);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() =>
    navigator.clipboard.writeText('http://bad.example/\nhttp://www.example.org/'));
  await page.focus('#urls');
  await page.keyboard.press('Control+V');
  await page.waitForFunction(() => document.querySelectorAll('#results > li').length === 2);
  assert.deepEqual(await verdicts(page), ['Clean', 'Listed']);
  await page.fill('#urls', 'example.org\n'.repeat(201));
  await page.press('#urls', 'Enter');
  assert.match(await page.locator('#urls-hint').textContent(), /201 URLs are too many/);
  assert.equal((await verdicts(page)).length, 2);
});

test('names in URLs are text, not HTML', async (t) => {
  const { page, wrong } = await visitStatic(t);
  await check(page, 'http://bad.example/<img src=x onerror=alert(1)>', '<script>alert(1)</script>');
  assert.equal(await page.locator('#results img, #results script').count(), 0);
  assert.deepEqual(wrong, []);
});

test('without its module the page says that it does not work', async (t) => {
  const { url } = await listen(t, (request, response) => {
    const path = new URL(request.url, 'http://x').pathname;
    const type = { mjs: 'text/javascript', css: 'text/css', html: 'text/html',
      svg: 'image/svg+xml' };
    if (path === '/tamis.wasm') return response.writeHead(404).end();
    const file = path === '/' ? 'index.html' : path.slice(1);
    return response.writeHead(200, { 'Content-Type': type[file.split('.').pop()] })
      .end(readFileSync(join(folder, file)));
  });
  const page = await (await visitor(t)).newPage();
  await page.goto(`${url}/`);
  await page.locator('#broken').waitFor();
  assert.match(await page.locator('#broken').textContent(),
    /does not work here: .*tamis\.wasm: HTTP 404/);
});

test('the strict policy in the page holds: no inline scripts, no other origins', async (t) => {
  const { url } = await serve(t, { '/': folder });
  const other = await listen(t, (request, response) => response.writeHead(200,
    { 'Access-Control-Allow-Origin': '*' }).end('x'));
  const page = await (await visitor(t)).newPage(), wrong = watch(page);
  await page.goto(`${url}/`);
  await page.evaluate(async (address) => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "inline"';
    document.body.append(script);
    document.body.setAttribute('onclick', 'document.title = "inline"');
    document.body.click();
    await fetch(address).then(() => { document.title = 'fetched'; }, () => {});
  }, other.url);
  assert.equal(await page.title(), 'Tamis: have I seen this?');
  assert.deepEqual(other.log, []);
  await until(() => wrong.filter((line) => line.includes('Content Security Policy')).length >= 3,
    'three complaints');
});
