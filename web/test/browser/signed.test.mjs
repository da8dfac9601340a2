// The extension in Chromium with pinned keys: what it accepts, what it refuses and says, and what
// it remembers when its worker ends, its list is damaged or the keys change.
import assert from 'node:assert/strict';
import test from 'node:test';
import { filterOf } from '../malicious.mjs';
import { Signer, SigningServer, signed, unsigned } from '../signing.mjs';
import { browser, listen, shot } from './chromium.mjs';
import { at, badge, extension, go, stopWorker, stopped, until } from './world.mjs';

const A = new Signer('0123456789abcdef', 1), B = new Signer('00000000000000b0', 2);
const DAY = 86400, now = () => Math.floor(Date.now() / 1000);

async function start(t) {
  const hosts = await listen(t, (request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>page</title>page'));
  const server = await SigningServer.start(t, { signers: [A], listed: ['bad.test'],
    built: now() - DAY, expires: now() + DAY });
  server.version = 5;
  const context = await browser(t, { extension, hosts: [`MAP *.test 127.0.0.1:${hosts.port}`] });
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
  const page = (name) => `chrome-extension://${new URL(worker.url()).host}/${name}`;
  const options = await context.newPage();
  await options.goto(page('options.html'));
  const it = { server, hosts, context, page, options };
  it.said = async (button) => {
    await options.evaluate(() => { document.getElementById('said').textContent = ''; });
    await options.getByRole('button', { name: button }).click();
    const text = () => options.locator('#said').textContent();
    await until(async () => !/^(Asking.*)?$/.test(await text()), `an answer to "${button}"`);
    return text();
  };
  it.use = async (keys) => {
    await options.getByLabel('Server of the list').fill(server.url);
    await options.getByLabel('Public keys of the list').fill(keys);
    return it.said('Use this server');
  };
  it.text = (id) => options.locator(`#${id}`).textContent();
  it.shows = (id, pattern) => until(async () => pattern.test(await it.text(id)),
    `${pattern} in #${id}`);
  return it;
}

const IN_USE = 'The list of this server is in use.', ON = 'On. Pages are checked before they are ' +
  'opened.';
const failed = (reason) => `That failed: ${reason}. Nothing has changed.`;
const UNSIGNED = 'the list is not signed, and only lists that a pinned key has signed are accepted';
const OLD = 'this is version 5 of the list, and version 6 was accepted before: an old list is ' +
  'offered again';

test('a pinned key: only what it has signed is used, and the user sees why', async (t) => {
  const it = await start(t), { server } = it;
  assert.equal(await it.use('nonsense'),
    failed('a public key must be the 56 characters of a signify .pub file, or the whole file'));
  assert.equal(await it.use(B.file), failed('the list is signed by the key 0123456789abcdef, ' +
    'which is not pinned; pinned: 00000000000000b0'));
  assert.equal(await badge(it), 'off');
  assert.equal(await it.use(A.file), IN_USE);
  assert.match(await it.text('signed'), /^by key 0123456789abcdef, valid until .*\d/);
  assert.equal(await it.text('state'), ON);
  assert.equal(await it.options.getByLabel('Public keys of the list').inputValue(), A.line);
  await shot(it.options, 'extension-options-signed');
  // A mirror that delivers another list, without a signature.
  server.signers = [];
  await server.publish({ filter: await filterOf(['other.test']) });
  for (const restart of [false, true]) {
    if (restart) await stopWorker(it);
    assert.equal(await it.said('Update now'), failed(UNSIGNED));
    assert.equal(await it.text('problem'), UNSIGNED);
    await it.shows('state', new RegExp(`^${ON} The list that the server offered last was ` +
      `refused: ${UNSIGNED}\\.$`));
    assert.equal(await badge(it), '!');
    assert.equal(await it.text('version'), '5');
  }
  await shot(it.options, 'extension-options-refused');
  const page = await it.context.newPage();
  await go(page, 'http://bad.test/');
  await stopped(page);
  assert.equal(await page.locator('[data-trouble]').textContent(),
    `The list that the server offered last was refused: ${UNSIGNED}.`);
  await shot(page, 'extension-blocked-refused');
  await go(page, 'http://other.test/');
  await at(page, 'http://other.test/');
  // The operator's own list ends all this.
  server.signers = [A];
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  assert.equal(await it.text('state'), ON);
  assert.equal(await it.text('version'), '6');
  assert.equal(await badge(it), '1');
  assert.deepEqual(it.hosts.log.filter((line) => line.includes('bad.test')), []);
});

test('rotation: both keys, then the new one alone', async (t) => {
  const it = await start(t), { server } = it;
  assert.equal(await it.use(A.line), IN_USE);
  // The new key alone is refused as long as it has signed nothing, and the old one stays.
  assert.match(await it.use(B.line), /^That failed: the list is signed by the key 0123456789abc/);
  assert.equal(await it.use(`${A.file}${B.file}`), IN_USE);
  assert.match(await it.text('signed'), /^by key 0123456789abcdef, /);
  server.signers = [A, B];
  await server.publish({ delta: await filterOf(['new.test']) });
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  assert.match(await it.text('signed'), /^by key 0123456789abcdef and key 00000000000000b0, /);
  server.signers = [B];
  await server.publish({ delta: await filterOf(['newer.test']) });
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  assert.match(await it.text('signed'), /^by key 00000000000000b0, /);
  assert.equal(await it.use(B.line), IN_USE);
  await stopWorker(it);
  await it.options.reload();
  await it.shows('signed', /^by key 00000000000000b0, /);
  assert.equal(await it.options.getByLabel('Public keys of the list').inputValue(), B.line);
  assert.equal(await it.text('version'), '7');
  server.signers = [A];
  await server.publish({ delta: await filterOf(['newest.test']) });
  assert.match(await it.said('Update now'), /^That failed: .* 0123456789abcdef, which is not pin/);
  assert.equal(await it.text('version'), '7');
});

test('what was accepted is remembered until the keys are removed', async (t) => {
  const it = await start(t), { server } = it;
  server.version = 6;
  assert.equal(await it.use(A.line), IN_USE);
  server.version = 5;
  assert.equal(await it.said('Update now'), failed(OLD));
  // Also if the keys are entered again, and from another address.
  assert.equal(await it.use(`${A.line}\n${B.line}`), failed(OLD));
  server.url = server.url.replace('127.0.0.1', 'localhost');
  assert.equal(await it.use(A.line), failed(OLD));
  // Also if the list itself is lost.
  await it.options.evaluate(async () => {
    const { keep, recall } = await import('./store.mjs'), list = await recall('list');
    list.filter[list.filter.length - 1] ^= 1;
    await keep('list', list);
  });
  await stopWorker(it);
  await until(async () => await badge(it) === 'off', 'the badge "off"');
  assert.equal(await it.said('Update now'), failed(OLD));
  await it.shows('state', new RegExp('^Off\\. There is no list yet, and nothing is checked\\. ' +
    `The list that the server offered last was refused: ${OLD}\\.$`));
  // Without keys, everything is as the server wants it, and nothing is remembered.
  assert.equal(await it.use(''), IN_USE);
  assert.equal(await it.text('signed'), 'not checked, because no public key is entered');
  assert.equal(await it.text('state'), ON);
  assert.equal(await it.use(A.line), IN_USE);
  assert.equal(await it.text('version'), '5');
});

const lineOf = (it) => it.options.getByLabel('Public keys of the list').inputValue();

test('a change of keys is stored whole, wherever the worker ends', async (t) => {
  const it = await start(t), { server } = it;
  assert.equal(await it.use(A.line), IN_USE);
  server.signers = [B];
  assert.equal(await it.use(B.line), IN_USE);
  // As if the worker had ended after the list was stored, and before the settings were.
  await it.options.evaluate((keys) => chrome.storage.local.set({ keys }), [A.line]);
  await stopWorker(it);
  await it.options.reload();
  await it.shows('signed', /^by key 00000000000000b0, /);
  await until(async () => await lineOf(it) === B.line, 'the keys of the list');
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  // Not everything can be written: nothing is, and the old list and keys stay.
  const worker = it.context.serviceWorkers()[0];
  const breakStore = (broken) => worker.evaluate((names) => {
    const { prototype } = IDBObjectStore;
    globalThis.put ??= prototype.put;
    prototype.put = function put(value, name) {
      if (names.includes(name)) throw new Error('no room');
      return globalThis.put.call(this, value, name);
    };
  }, broken);
  server.signers = [A];
  await breakStore(['accepted']);
  assert.equal(await it.use(A.line), failed('no room'));
  await it.options.reload();
  await it.shows('signed', /^by key 00000000000000b0, /);
  // An update that could not be stored is stored by the next one, though nothing is new then.
  server.signers = [B];
  await server.publish({ delta: await filterOf(['new.test']) });
  assert.equal(await it.said('Update now'), failed('no room'));
  await breakStore([]);
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  await stopWorker(it);
  await it.options.reload();
  await it.shows('version', /^6$/);
  assert.equal(await lineOf(it), B.line);
  await it.shows('state', new RegExp(`^${ON}$`));
});

test('a check that ends late does not store an old list over a new one', async (t) => {
  const it = await start(t), { server } = it;
  assert.equal(await it.use(A.line), IN_USE);
  server.answer = (a) => ({ ...a, hashes: [], labels: [] }); // the check stores this refutation
  const worker = it.context.serviceWorkers()[0];
  await worker.evaluate(() => {
    const { open } = IDBFactory.prototype;
    globalThis.waiting = false;
    IDBFactory.prototype.open = function late(...how) {
      const seeming = {};
      IDBFactory.prototype.open = open;
      globalThis.waiting = true;
      globalThis.release = () => {
        const request = this.open(...how);
        request.onsuccess = () => {
          seeming.result = request.result;
          seeming.onsuccess();
        };
      };
      return seeming;
    };
  });
  const page = await it.context.newPage(), opened = go(page, 'http://bad.test/');
  await until(() => worker.evaluate(() => globalThis.waiting), 'the check stores something');
  await server.publish({ delta: await filterOf(['new.test']) });
  const said = it.said('Update now');
  await Promise.race([said, new Promise((next) => { setTimeout(next, 2000); })]);
  await worker.evaluate(() => globalThis.release());
  assert.equal(await said, 'The list is up to date.');
  await opened;
  await at(page, 'http://bad.test/');
  await stopWorker(it);
  await it.options.reload();
  await it.shows('state', new RegExp(`^${ON}$`));
  assert.equal(await it.text('version'), '6');
});

test('a failure that passes does not cost the list', async (t) => {
  const it = await start(t);
  assert.equal(await it.use(A.line), IN_USE);
  const exchange = (values) => it.options.evaluate(async (fresh) => {
    const { keep, recall } = await import('./store.mjs'), old = await recall('accepted');
    await keep('accepted', fresh);
    return old;
  }, values);
  const old = await exchange({});
  await stopWorker(it);
  await until(async () => await badge(it) === 'off', 'the badge "off"');
  await it.options.reload();
  await it.shows('problem', /accepted must have a version/);
  await exchange(old);
  await it.options.reload();
  await it.shows('state', new RegExp(`^${ON}`));
  await it.shows('version', /^5$/);
  const page = await it.context.newPage();
  await go(page, 'http://bad.test/');
  await stopped(page);
});

test('a list that expired stays in use, and the user sees it', async (t) => {
  const it = await start(t), { server } = it;
  assert.equal(await it.use(A.line), IN_USE);
  server.expires = now() - 60;
  await it.options.evaluate(async (manifest) => {
    const { keep, recall } = await import('./store.mjs');
    await keep('list', { ...await recall('list'), manifest });
  }, signed(unsigned({ ...server, base: 1 }), [A]));
  await stopWorker(it);
  await it.options.reload();
  await it.shows('signed', /^by key 0123456789abcdef, expired on .*\d/);
  const EXPIRED = 'The list expired on .*\\d.*\\. It still stops the pages that it contains, but ' +
    'not those that were found since\\.';
  assert.match(await it.text('state'), new RegExp(`^${ON} ${EXPIRED}$`));
  await until(async () => await badge(it) === '!', 'the badge "!"');
  await shot(it.options, 'extension-options-expired');
  assert.match(await it.said('Update now'), new RegExp('^That failed: the list expired at .*Z; ' +
    'the clock of this computer shows .*Z, and may be wrong\\. Nothing has changed\\.$'));
  const page = await it.context.newPage();
  await go(page, 'http://bad.test/');
  await stopped(page);
  assert.match(await page.locator('[data-trouble]').textContent(), new RegExp(EXPIRED));
  await go(page, 'http://good.test/');
  await at(page, 'http://good.test/');
  // The same version, signed again.
  server.expires = now() + DAY;
  assert.equal(await it.said('Update now'), 'The list is up to date.');
  assert.equal(await it.text('state'), ON);
  assert.equal(await badge(it), '1');
  await stopWorker(it);
  await it.options.reload();
  await it.shows('signed', /^by key 0123456789abcdef, valid until .*\d/);
});
