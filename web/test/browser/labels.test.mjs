// The extension, and the page of the server, with a list whose filter has labels: they show them
// while the server is asked, and when it cannot be asked, but only the server's answer decides.
import assert from 'node:assert/strict';
import test from 'node:test';
import { shot, watch } from './chromium.mjs';
import { check, guardServer, visit } from './pages.mjs';
import { at, canServe, go, stopped, until, world } from './world.mjs';

const skip = canServe ? false : 'this build has no guard';
const lists = { malware: ['bad.test'], phishing: ['worse.test'] };

test('labels of the filter before the answer and without one', { skip }, async (t) => {
  const it = await world(t, { lists, buildOptions: ['--labels-in-filter'] });
  const page = await it.context.newPage(), wrong = watch(page);
  const checking = page.locator('#checking'), probably = page.locator('[data-likely]');
  // A server that does not answer. The text is in the page, whether it is still shown or not.
  const { process } = it.guard;
  process.kill('SIGSTOP');
  t.after(() => process.kill('SIGCONT'));
  await go(page, 'http://worse.test/');
  const said = 'Checking this page… It may be on a list of bad pages: phishing.';
  await until(async () => await checking.textContent() === said, said);
  process.kill('SIGCONT');
  await page.reload();
  await stopped(page);
  assert.ok(await probably.isHidden());
  assert.equal(await page.locator('#blocked [data-labels]').textContent(), 'phishing');
  await go(page, 'http://good.test/');
  await at(page, 'http://good.test/');

  await it.guard.stop();
  await go(page, 'http://bad.test/x');
  await page.getByText('This page could not be checked').waitFor();
  assert.equal(await probably.textContent(), 'malware');
  assert.ok(await probably.isVisible());
  await shot(page, 'extension-probably');
  assert.deepEqual([...it.log('bad.test'), ...it.log('worse.test'), ...wrong], []);
});

test('a filter without labels shows none', { skip }, async (t) => {
  const it = await world(t, { lists }), page = await it.context.newPage();
  await it.guard.stop();
  await go(page, 'http://bad.test/');
  await page.getByText('This page could not be checked').waitFor();
  assert.ok(await page.locator('[data-likely]').isHidden());
  assert.equal(await page.locator('#checking').textContent(), 'Checking this page…');
});

test('the page shows the label of each maybe', { skip }, async (t) => {
  const { url, stop } = await guardServer(t, lists, '--labels-in-filter');
  const { page } = await visit(t, url);
  const cells = () => page.locator('#results > li').first().locator('tbody td:last-child')
    .allTextContents();
  await check(page, 'http://worse.test/');
  assert.deepEqual(await cells(), ['maybe phishing']);
  await stop();
  await check(page, 'http://x.bad.test/');
  assert.deepEqual(await cells(), ['no', 'maybe malware']);
});
