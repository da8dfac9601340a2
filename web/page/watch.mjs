// The guard at work: shows the steps of every URL, and the requests that were saved.
import { Guard } from './guard.mjs';
import { $, bytes, count, el, plural } from './dom.mjs';
import { SAMPLES, demoGuard, entries } from './demo.mjs';
import server from './server.mjs';

const MOST_AT_ONCE = 200, MOST_SHOWN = 100;
const VERDICTS = {
  clean: ['Clean', 'certainly not listed'],
  listed: ['Listed', 'certainly listed'],
  unconfirmed: ['Unconfirmed', 'it may be listed, and the server could not be asked'],
  'no-url': ['Not a URL', 'not a URL that could be listed'],
};

const HINT = $('urls-hint').textContent;

let guard, checked = 0, sent = 0, prefixes = [], working = Promise.resolve();

function asked(some) {
  sent++;
  prefixes = some;
}

// Does the same as fetch, and records requests for confirmation.
function watched(url, init) {
  if (new URL(url).pathname.endsWith('/v1/confirm'))
    asked(new URL(url).searchParams.getAll('prefix'));
  return fetch(url, init);
}

// --- One URL, step by step -----------------------------------------------------------------------

const step = (state, title, ...more) => el('li', { class: state }, el('h3', {}, title), ...more);

function expressionTable(expressions) {
  return el('div', { class: 'scroll' }, el('table', {},
    el('thead', {},
      el('tr', {}, ...['Expression', 'Hash',
        'Filter'].map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, ...expressions.map(({ expression, hash, maybe, label }) =>
      el('tr', { class: maybe ? 'maybe' : 'no' },
        el('td', {}, el('code', {}, expression)),
        el('td', {},
          el('code', { title: hash }, hash.slice(0, 8), el('span', { class: 'faint' }, '…'))),
        el('td', {}, !maybe ? 'no' : label ? `maybe ${label}` : 'maybe'))))));
}

function serverStep(found, known) {
  const { verdict, labels, expression, reason, maybes } = found;
  if (maybes === 0)
    return step('skipped', 'Server', el('p', {}, 'Not asked: the filter’s “no” is certain.'));
  const question = known.length === 0 ? 'Not asked again: the answer was kept.'
    : `Sent ${plural(known.length, 'prefix', 'prefixes')} of four bytes: ${known.join(', ')}.`;
  const answer = {
    listed: () => [`The full hash is listed (${labels.join(', ')}): `, el('code', {}, expression)],
    clean: () => [known.length === 0 ? 'No such hash is listed.'
      : 'The server has no such hash: the “maybe” was a false positive.'],
    unconfirmed: () => [`No valid answer: ${reason}`],
  }[verdict]();
  return step(verdict === 'unconfirmed' ? 'failed' : 'done', 'Server',
    el('p', {}, question, ' ', ...answer));
}

function way(look, found, known) {
  if (found.verdict === 'no-url')
    return [step('failed', 'Canonical form',
      el('p', {}, `This has no canonical form: ${found.reason}`))];
  const n = look.expressions.length;
  return [
    step('done', 'Canonical form', el('p', {}, el('code', {}, look.url))),
    step('done', plural(n, 'expression'), expressionTable(look.expressions)),
    step('done', 'Filter', el('p', {}, found.maybes === 0
      ? `Excludes ${n === 1 ? 'it' : `all ${n}`}.`
      : `Excludes ${count(n - found.maybes)} of ${count(n)}; ` +
        `${count(found.maybes)} may be listed.`)),
    serverStep(found, known),
  ];
}

function show(url, look, found, known) {
  const [name, meaning] = VERDICTS[found.verdict], results = $('results');
  for (const details of results.querySelectorAll('details[open]')) details.open = false;
  results.prepend(el('li', { class: `result ${found.verdict}` },
    el('details', { open: true },
      el('summary', {}, el('span', { class: 'badge' }, name), ' ',
        el('span', { class: 'url' }, url)),
      el('p', { class: 'meaning' }, `${meaning[0].toUpperCase()}${meaning.slice(1)}`,
        found.labels.length > 0 ? `: ${found.labels.join(', ')}.` : '.'),
      el('ol', { class: 'way' }, ...way(look, found, known)))));
  while (results.children.length > MOST_SHOWN) results.lastElementChild.remove();
  if (found.verdict !== 'no-url') checked++;
  $('n-checked').textContent = count(checked);
  $('n-sent').textContent = count(sent);
  $('n-saved').textContent = checked > 0
    ? `${count(checked - sent)} (${Math.round(100 * (checked - sent) / checked)} %)` : '0';
  return `${name}: ${url}`;
}

// Checks one URL after the other, so that each is shown with its own request.
async function checkAll(urls) {
  let said = '';
  for (const url of urls) {
    prefixes = [];
    const look = guard.look(url), found = await guard.check(url, { insist: true });
    said = show(url, look, found, prefixes);
  }
  $('said').textContent = urls.length > 1
    ? `${plural(urls.length, 'URL')} checked; the last one: ${said}` : said;
  if (guard.stale) await load(() => guard.update());
}

// Complaints are also announced to screen readers.
function hint(complaint) {
  $('urls-hint').textContent = complaint ?? HINT;
  if (complaint) $('said').textContent = complaint;
}

function submit() {
  const urls = $('urls').value.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  if (!guard || urls.length === 0) return;
  if (urls.length > MOST_AT_ONCE) {
    hint(`${count(urls.length)} URLs are too many: the limit is ${MOST_AT_ONCE} at once.`);
    return;
  }
  $('urls').value = '';
  hint();
  working = working.then(() => checkAll(urls))
    .catch((error) => hint(`This could not be checked: ${error.message}`));
}

// --- The lists -----------------------------------------------------------------------------------

function say(...children) {
  $('lists').replaceChildren(...children);
}

async function fromServer() {
  const base = new URL(server, import.meta.url);
  guard ??= await Guard.load(base, { fetch: watched });
  const about = await (await fetch(new URL('v1/update', base), { cache: 'no-store' })).json();
  const size = ['filter', 'delta', 'removed']
    .reduce((sum, part) => sum + (about[part]?.bytes ?? 0), 0);
  // With few entries the header dominates the size.
  const each = about.entries >= 1000 ? `, ${(8 * size / about.entries).toFixed(1)} bits each` : '';
  say(`Version ${count(guard.version)} of the server’s lists: ` +
    `${plural(about.entries, 'entry', 'entries')} in ${bytes(size)}${each}. ` +
    `Lists: ${about.labels.join(', ')}.`);
}

async function fromDemo() {
  const demo = await demoGuard(asked);
  guard = demo.guard;
  say(el('strong', {}, 'This page has no server.'),
    ` It uses a demonstration list instead: ${plural(entries, 'entry', 'entries')} in ` +
    `${bytes(demo.bytes)}, queried like a server. One in twenty expressions is a false positive, ` +
    'on purpose.');
  $('samples').append(el('span', { class: 'hint' }, 'Try '),
    ...SAMPLES.map(([name, url]) => el('button', {
    type: 'button', class: 'small', click: () => {
      $('urls').value = url;
      submit();
    },
  }, name)));
  $('samples').hidden = false;
}

// Shows any failure, with a button to try again.
async function load(doIt) {
  try {
    await doIt();
    if (server !== null) await fromServer();
    $('lists').classList.remove('bad');
    $('check').querySelector('[type=submit]').disabled = false;
  } catch (error) {
    $('lists').classList.add('bad');
    say(`The server’s lists could not be loaded: ${error.message}. `,
      el('button', {
        type: 'button', class: 'small', click: () => load(async () => guard?.update()),
      }, 'Try again'));
  }
}

export async function startGuard() {
  $('check').addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  $('urls').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  // URLs pasted into an empty field are checked at once.
  $('urls').addEventListener('paste', () => {
    if ($('urls').value === '') setTimeout(submit);
  });
  await load(server === null ? fromDemo : async () => {});
}
