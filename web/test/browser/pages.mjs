// The page for tests: as static files, or from the guard's own server.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, command, native, room } from '../help.mjs';
import { PATIENCE, serve, visitor, watch } from './chromium.mjs';

export const folder = join(build, 'page');

// Opens the page at an address and waits until it is ready; `wrong` collects its complaints.
export async function visit(t, url, options = {}) {
  const context = await visitor(t, options), page = await context.newPage(),
    wrong = watch(page, url);
  await page.goto(`${url}/`);
  await page.waitForFunction(() => document.querySelectorAll('#costs tbody tr').length > 0 &&
    !document.getElementById('lists').textContent.startsWith('Loading'));
  return { context, page, wrong, url };
}

export async function visitStatic(t, options) {
  const { url, log } = await serve(t, { '/': folder });
  return { ...await visit(t, url, options), log };
}

// Starts `tamis guard serve` over lists of hosts, each under its label.
export async function guardServer(t, lists, ...options) {
  const dir = room(t), named = Object.entries(lists).map(([label, hosts]) => {
    writeFileSync(join(dir, label), hosts.map((host) => `${host}\n`).join(''));
    return `${label}=${join(dir, label)}`;
  });
  const directory = join(dir, 'guard');
  native(['guard', 'build', '-q', directory, ...named, ...options]);
  const child = spawn(command, ['guard', 'serve', directory, '--port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.on('exit', done);
    return child.kill();
  });
  t.after(stop);
  const said = await new Promise((done) => { child.stdout.once('data',
    (data) => done(String(data))); child.once('exit', done); });
  const url = said.match(/http:\/\/[\d.:]+/)[0];
  return { url, stop, directory };
}

// The verdicts in the list, the newest first.
export const verdicts = (page) => page.locator('#results .badge').allTextContents();

export async function check(page, ...urls) {
  const before = await page.locator('#results > li').count();
  await page.fill('#urls', urls.join('\n'));
  await page.press('#urls', 'Enter');
  await page.waitForFunction((n) => document.querySelectorAll('#results > li').length >= n, before +
    urls.length, { timeout: PATIENCE });
}

export const texts = async (page, ...ids) =>
  Promise.all(ids.map((id) => page.locator(`#${id}`).textContent()));
