// A small world for the extension: hosts under .test that are all one server of this process, a
// real `tamis guard serve`, and a browser with the extension that knows both.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, command, native, room } from '../help.mjs';
import { PATIENCE, browser, listen, profile } from './chromium.mjs';

export const extension = join(build, 'extension');

// Lists on disk and their server, which can be stopped and started again at the same port.
export class GuardServer {
  constructor(t) {
    this.dir = room(t);
    t.after(() => this.stop());
  }

  publish(labels, options = []) {
    const lists = Object.entries(labels).map(([label, hosts]) => {
      const path = join(this.dir, `${label}.txt`);
      writeFileSync(path, hosts.map((host) => `${host}\n`).join(''));
      return `${label}=${path}`;
    });
    native(['guard', 'build', '-q', join(this.dir, 'guard'), ...lists, ...options]);
    this.process?.kill('SIGHUP');
  }

  async start(...options) {
    this.process = spawn(command, ['guard', 'serve', join(this.dir, 'guard'), '--port',
      String(this.port ?? 0), ...options],
      { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = new Promise((done) => { this.process.on('exit', done); });
    const line = await new Promise((done) => {
      this.process.stdout.once('data', (data) => done(String(data)));
    });
    this.url = line.match(/http:\S+/)[0].replace(/\/$/, '');
    this.port = Number(new URL(this.url).port);
  }

  async stop() {
    if (!this.process) return;
    this.process.kill('SIGTERM');
    await this.ended;
    this.process = undefined;
  }

  // The value of one of its metrics.
  async metric(name) {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(text.match(new RegExp(`^tamis_guard_${name} (\\d+)$`, 'm'))[1]);
  }
}

const html = (title, body = '') =>
  `<!DOCTYPE html><html lang="en"><title>${title}</title><link rel="icon" href="data:,">` +
  `<h1>${title}</h1>${body}`;

// What the hosts answer: any path is a page with itself as the title, and a few do something.
const frame = (url, more = '') => `<iframe src="${url}"${more}></iframe>`;
const BODIES = {
  '/meta': ([to]) => `<meta http-equiv="refresh" content="0;url=${to}">`,
  '/link': ([to]) => `<a id="link" href="${to}">link</a>`,
  '/script': ([to]) => `<script>location.href = ${JSON.stringify(to)}</script>`,
  '/frame': ([to]) => frame(to, ' width="600" height="400"'),
  '/frames': (to) => to.map((url) => frame(url)).join(''),
  '/frame-policy': ([to]) => frame(to),
  '/form': ([to]) => `<form method="post" action="${to}">` +
    '<input name="word" value="kept"><button>send</button></form>',
};
const FIELDS = {
  '/frame-policy': { 'Content-Security-Policy': "frame-src 'self' http:" },
  '/cookie': { 'Set-Cookie': ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax'] },
};

async function answer(request, response) {
  const url = new URL(request.url, `http://${request.headers.host}`),
    to = url.searchParams.getAll('to'), path = url.pathname;
  if (path === '/redirect') return response.writeHead(302, { Location: to[0] }).end();
  if (path === '/download')
    return response.writeHead(200, { 'Content-Disposition': 'attachment; filename=a.bin' })
      .end('abc');
  const body = request.method === 'POST' ? `<p>${Buffer.concat(await request.toArray())}</p>`
    : BODIES[path]?.(to);
  return response.writeHead(200, { 'Content-Type': 'text/html', ...FIELDS[path] })
    .end(html(`${url.hostname}${path}`, body));
}

export const canServe = (() => {
  try {
    return native(['guard', 'serve', '--help']).includes('--port');
  } catch {
    return false;
  }
})();

// Makes a certificate that only a browser with the right option trusts. Undefined without openssl.
export function certificate(t) {
  const dir = room(t), key = join(dir, 'key.pem'), cert = join(dir, 'cert.pem');
  const run = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
    'ec_paramgen_curve:prime256v1', '-nodes',
    '-days', '2', '-subj', '/CN=test', '-addext', 'subjectAltName=DNS:*.test', '-keyout', key,
      '-out', cert]);
  return run.status === 0 ? { key: readFileSync(key), cert: readFileSync(cert) } : undefined;
}

const NAMES = ['*.test', '*.test.', '2001:db8::1'];
const LISTS = { malware: ['bad.test', 'worse.test'] };

// `pages` may have a function of a request and its response for 'HOST/PATH'.
export async function world(t, { lists = LISTS, buildOptions = [], configured = true, secret,
  args: more = [], ...options } = {}) {
  const guard = new GuardServer(t), requests = [], pages = {};
  guard.publish(lists, buildOptions);
  await guard.start();
  const take = (request, response) => {
    requests.push({ method: request.method, host: request.headers.host, path: request.url,
      headers: request.headers });
    const special = pages[`${request.headers.host}${request.url.replace(/\?.*/s, '')}`];
    if (special) special(request, response);
    else answer(request, response);
  };
  const hosts = await listen(t, take),
    rules = NAMES.map((name) => `MAP ${name} 127.0.0.1:${hosts.port}`);
  if (secret) rules.unshift(`MAP *.test:443 127.0.0.1:${(await listen(t, take, secret)).port}`);
  const at = profile(t), args = [...secret ? ['--ignore-certificate-errors'] : [], ...more];
  const open = async () => {
    const context = await browser(t, { extension, hosts: rules, args, at, ...options });
    const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
    return { context, id: new URL(worker.url()).host };
  };
  const it = { guard, requests, pages, hosts, open, ...await open() };
  it.log = (host) => requests.filter((r) => r.host === host).map((r) => `${r.method} ${r.path}`);
  it.page = (name) => `chrome-extension://${it.id}/${name}`;
  if (configured) await use(it, guard.url);
  return it;
}

// Starts going there. `at` and `stopped` report where that leads: a navigation that is held and
// goes on counts as aborted.
export const held = (navigation) => navigation.catch((e) => {
  if (!/ERR_ABORTED|interrupted by another navigation/.test(e.message)) throw e;
});
export const go = (page, url) => held(page.goto(url, { waitUntil: 'commit' }));
export const at = (page, url) => page.waitForURL((now) => now.href === url, { waitUntil: 'load' });
export const stopped = (page) => page.getByRole('heading', { name: 'This page was stopped' })
  .waitFor();

// Waits for something that happens outside a page.
export async function until(done, what) {
  for (const end = Date.now() + PATIENCE; !await done();) {
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((next) => { setTimeout(next, 20); });
  }
}

// Does something in a page of the extension, because the worker may be asleep.
async function aside(it, act) {
  const page = await it.context.newPage();
  await page.goto(it.page('options.html'));
  try {
    return await act(page);
  } finally {
    await page.close();
  }
}

export const badge = (it) => aside(it, (page) =>
  page.evaluate(() => chrome.action.getBadgeText({})));

// The passes that the browser knows.
export const rules = (it) => aside(it, (page) =>
  page.evaluate(() => chrome.declarativeNetRequest.getSessionRules()));

// Stops the worker, as the browser does after half a minute of rest.
export const stopWorker = (it) => aside(it, async (page) => {
  const session = await it.context.newCDPSession(page);
  const done = new Promise((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.some((v) => v.runningStatus === 'stopped')) resolve();
    });
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await done;
  await session.detach();
});

// Enters the server's address in the options page, as a user does.
export async function use(it, url) {
  const page = await it.context.newPage();
  await page.goto(it.page('options.html'));
  await page.getByLabel('Server of the list').fill(url);
  await page.getByRole('button', { name: 'Use this server' }).click();
  const said = () => page.locator('#said').textContent();
  await until(async () => !/^(Asking.*)?$/.test(await said()), 'an answer to "Use this server"');
  assert.equal(await said(), 'The list of this server is in use.');
  await page.close();
}
