// The extension in Chromium with a malicious list server (../malicious.mjs): it takes no more than
// it needs, asks nobody else, says why it refuses a list, and keeps the list that it has.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Tamis } from '../help.mjs';
import { BODIES, MaliciousServer, RIBBON_OF_ZEROS, filterOf } from '../malicious.mjs';
import { browser, listen } from './chromium.mjs';
import { extension, go, stopped, until } from './world.mjs';

const BUFFERED = 64 << 20; // far more than the browser and the kernel buffer

async function start(t) {
  const other = await listen(t, (request, response) => response.end('rebooting'));
  const hosts = await listen(t, (request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>page</title>page'));
  const server = await MaliciousServer.start(t, { listed: ['bad.test'], other: other.url });
  const context = await browser(t, { extension,
    hosts: [`MAP *.test 127.0.0.1:${hosts.port}`] });
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
  const options = await context.newPage();
  await options.goto(`chrome-extension://${new URL(worker.url()).host}/options.html`);
  const said = async (button) => {
    await options.evaluate(() => { document.getElementById('said').textContent = ''; });
    await options.getByRole('button', { name: button }).click();
    const text = () => options.locator('#said').textContent();
    await until(async () => !/^(Asking.*)?$/.test(await text()), `an answer to "${button}"`);
    return text();
  };
  const use = async () => {
    await options.getByLabel('Server of the list').fill(server.url);
    return said('Use this server');
  };
  return { server, other, hosts, context, options, said, use };
}

const REASONS = {
  endless: /more than \d+ bytes/, bytewise: /more than \d+ bytes/, gzip: /more than \d+ bytes/,
  deflate: /more than \d+ bytes/, longer: /more than \d+ bytes|not a server of lists/,
  flipped: /damaged, or of another version|not a server of lists/, elsewhere: /redirects elsewhere/,
  loop: /redirects elsewhere/, moved: /redirects elsewhere/, error: /HTTP 500/,
  missing: /HTTP 404/,
};

test('bodies without an end, and redirects', async (t) => {
  const it = await start(t), { server } = it;
  for (const path of ['/v1/update', '/filter'])
    for (const [name, reason] of Object.entries(REASONS)) {
      if (path === '/v1/update' && name === 'longer') continue; // this may still be JSON
      server.requests.length = 0;
      server.bodies = { [path]: BODIES[name] };
      const said = await it.use();
      assert.match(said, /^That failed: .* Nothing has changed\.$/, name);
      assert.match(said, reason, `${name} ${path}`);
      await until(() => server.requests.every((r) => r.closed), `${name}: closed connections`);
      for (const { sent } of server.requests) assert.ok(sent < BUFFERED, `${name}: ${sent} bytes`);
      assert.ok(server.requests.every((r) => !r.path.startsWith('/moved')), name);
    }
  assert.deepEqual(it.other.log, []);
  server.behave();
  assert.equal(await it.use(), 'The list of this server is in use.');
});

test('a list that is refused leaves the one in use', async (t) => {
  const it = await start(t), { server } = it, small = { items: 10, fpr: 0.001 };
  assert.equal(await it.use(), 'The list of this server is in use.');
  const part = (change) => (m) => (m.filter ? { ...m, filter: { ...m.filter, ...change } } : m);
  const ones = await Tamis.create({ kind: 'bloom', ...small });
  for (let i = 0; i < 2000; i++) ones.add(`key ${i}`);
  const attacks = [
    [{}, part({ url: `${it.other.url}/internal/reboot` }), /this is not below http:/],
    [{}, part({ url: `//127.0.0.1:${it.other.port}/internal/reboot` }), /HTTP 404|not below/],
    [{}, part({ bytes: 2 ** 40 }), /1099511627776 bytes are more than the 67108864/],
    [{}, part({ bytes: '1' }), /filter\.bytes must be a whole number/],
    [{ filter: ones.seal().save() }, (m) => ({ ...m, rate: 0.001 }), /not the filter of a list/],
    [{ filter: RIBBON_OF_ZEROS }, (m) => ({ ...m, rate: 0.001 }), /rate is 1, far above/],
    [{ filter: RIBBON_OF_ZEROS }, (m) => m, /most that is allowed/],
  ];
  for (const [parts, describe, reason] of attacks) {
    await server.publish({ filter: await filterOf(['else.test']), ...parts });
    server.describe = describe;
    const said = await it.said('Update now');
    assert.match(said, /^That failed: .* Nothing has changed\.$/);
    assert.match(said, reason);
    assert.match(await it.options.locator('#problem').textContent(), reason);
  }
  assert.deepEqual(it.other.log, []);
  // The first list still stops its page. The server's label is shown as text.
  const label = '<img src=x onerror=alert(1)><b>safe</b>';
  server.answer = (a) => ({ ...a, labels: a.labels.map(() => [label]) });
  const page = await it.context.newPage(), wrong = [];
  page.on('dialog', (dialog) => { wrong.push(dialog.message()); dialog.dismiss(); });
  await go(page, 'http://bad.test/');
  await stopped(page);
  await page.getByText(label).first().waitFor();
  assert.equal(await page.locator('img[src=x], b').count(), 0);
  assert.deepEqual(wrong, []);
  assert.deepEqual(it.hosts.log, []);
});
