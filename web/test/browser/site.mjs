// The interactive pages of the web site (site/apps) for tests: assembled as for a server, and
// served below a path, as a static server would.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { build, source } from '../help.mjs';
import { serve, visitor, watch } from './chromium.mjs';

export const folder = mkdtempSync(join(tmpdir(), 'tamis-site-'));
after(() => rmSync(folder, { recursive: true, force: true }));
execFileSync('sh', [join(source, 'site/apps/assemble.sh'), build, folder]);

// Opens a page of the site, like 'plan' with the fragment '#items=1M', and waits until it is ready.
// `wrong` collects its complaints, and requests to anything outside of the folder.
export async function visitSite(t, name, fragment = '', options = {}) {
  const { url, log } = await serve(t, { '/some/path/': folder });
  const context = await visitor(t, options), page = await context.newPage();
  const base = `${url}/some/path`, wrong = watch(page, base);
  const open = async (hash) => {
    await page.goto(`${base}/${name}/${hash}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  };
  await open(fragment);
  return { context, page, wrong, base, log, open };
}

// Sets the fragment as a user would in the address bar, and waits until the page has read it.
export async function setFragment(page, fragment) {
  await page.evaluate((to) => new Promise((done) => {
    if (location.hash === to) return done();
    addEventListener('hashchange', () => setTimeout(done), { once: true });
    location.hash = to;
  }), fragment);
}
