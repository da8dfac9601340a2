// Chromium for tests: a browser with a temporary profile, folders over HTTP, the complaints of
// pages, and screenshots. web/tools.sh fetches what drives it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, normalize, sep } from 'node:path';
import { after } from 'node:test';
import { build } from '../help.mjs';

const { chromium } = createRequire(join(build, 'web-tools/'))('playwright-core');

// Nothing that contacts the outside world, and nothing that needs a screen.
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb'];

// Milliseconds: only a hanging test takes so long, whatever else the machine does.
export const PATIENCE = Number(process.env.PATIENCE ?? 60000);

// A directory for a profile, for tests that start a browser on it twice. It is removed after the
// test, once its browsers are closed.
const open = new Map();
export function profile(t) {
  const path = mkdtempSync(join(tmpdir(), 'tamis-chromium-'));
  open.set(path, []);
  t.after(async () => {
    for (const context of open.get(path)) await context.close();
    rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  return path;
}

// A browser on a busy machine may draw nothing for minutes. Then there are no animation frames,
// with which waitForFunction would look, so its pages look by the clock.
function patient(context) {
  const look = (page) => {
    const wait = page.waitForFunction.bind(page);
    page.waitForFunction = (done, arg, options) => wait(done, arg, { polling: 100, ...options });
  };
  context.setDefaultTimeout(PATIENCE);
  context.pages().forEach(look);
  context.on('page', look);
}

const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
let one;
after(async () => (await one)?.close());

// Opens a separate context in one browser for all tests of a file, which is much faster than
// starting a browser. It resolves no names.
export async function visitor(t, options = {}) {
  one ??= chromium.launch({ executablePath: program, headless: true,
    args: [...ARGS, '--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.0.0.1'] });
  const context = await (await one).newContext({ viewport: { width: 1024, height: 768 },
    ...options });
  patient(context);
  t.after(() => context.close());
  return context;
}

// Starts a browser, closed after the test. `hosts` are Chromium's rules for names, like 'MAP *.test
// 127.0.0.1:8080'; names without a rule do not exist. `extension` is the folder of one. Everything
// else goes to playwright: viewport, colorScheme, ...
export async function browser(t, given = {}) {
  const { extension, hosts = [], args = [], at = profile(t), ...options } = given;
  const rules = [...hosts, 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost', 'MAP * ~NOTFOUND'];
  const context = await chromium.launchPersistentContext(at, {
    executablePath: program,
    headless: true,
    viewport: { width: 1024, height: 768 },
    args: [...ARGS, `--host-resolver-rules=${rules.join(',')}`, ...args,
      ...(extension ? [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`]
        : [])],
    ...options,
  });
  patient(context);
  open.get(at).push(context);
  return context;
}

const TYPES = {
  '.css': 'text/css', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript',
    '.json': 'application/json',
  '.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.wasm': 'application/wasm',
};

// Starts an HTTP server at a free port of the loopback address, closed after the test:
// `answer(request, response)`. Its log has a line per request: method, host and path. With
// `secret`, { key, cert }, it speaks HTTPS.
export async function listen(t, answer, secret) {
  const log = [];
  const take = (request, response) => {
    log.push(`${request.method} ${request.headers.host}${request.url}`);
    return answer(request, response);
  };
  const server = secret ? createSecureServer(secret, take) : createServer(take);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections?.();
  });
  t.after(close);
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, port, log, close };
}

// Serves folders: { '/': dir, '/golden/': dir }; the longest prefix wins. `fields` are sent with
// every file.
export function serve(t, folders, fields = {}) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  return listen(t, (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    const prefix = prefixes.find((p) => path.startsWith(p));
    const root = prefix && normalize(folders[prefix] + sep);
    const file = root && join(root, path.slice(prefix.length).replace(/(^|\/)$/, '$1index.html'));
    try {
      if (!file?.startsWith(root)) throw new Error('outside');
      const bytes = readFileSync(file);
      response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
        ...fields }).end(bytes);
    } catch {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('there is no such file\n');
    }
  });
}

// Collects everything that goes wrong in a page from now on, as text: exceptions, console errors
// (which include violations of the Content-Security-Policy), requests to origins other than
// `origin`.
export function watch(page, origin) {
  const wrong = [];
  page.on('pageerror', (e) => wrong.push(`exception: ${e.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (origin && !request.url().startsWith(origin) && !/^(blob|data):/.test(request.url()))
      wrong.push(`request: ${request.url()}`);
  });
  return wrong;
}

// Writes build/screenshots/NAME.png, for people to look at.
export async function shot(page, name) {
  const dir = join(build, 'screenshots');
  mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: join(dir, `${name}.png`), fullPage: true });
}
