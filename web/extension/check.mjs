// The page at which a navigation is held: check.html#URL. It asks the worker, and goes on or
// explains why not. Parts of a URL are only ever shown as text, and only http and https are opened,
// because any page can open this one with any text after the # and any parameters. So no parameter
// may make it say that a page is good.
import { ask } from './ask.mjs';

const $ = (id) => document.getElementById(id);
const alone = window.top === window;
const search = new URLSearchParams(location.search);

function target() {
  const text = location.href.slice(location.href.indexOf('#') + 1);
  try {
    return /^https?:\/\//.test(text) && text === location.hash.slice(1) ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

function fill(name, text) {
  for (const at of document.querySelectorAll(`[data-${name}]`)) at.textContent = text ?? '';
  for (const at of document.querySelectorAll(`[data-if="${name}"]`)) at.hidden = !text;
}

// What became of the request. These pages were warned about late (worker.mjs): they were opened
// before they could be checked.
const SENT = {
  form: 'It came as the answer to a form. Assume that its server has been sent that form.',
  worker: 'It was opened by a service worker that its site keeps in this browser, before it ' +
    'could be checked. Its scripts may have run, and its server may have been sent something.',
  frame: 'It was opened in a frame of another page before it could be checked. Its scripts may ' +
    'have run, and its server may have been sent something.',
  '': 'It was opened before it could be checked, as the answer to a form, by a service worker of ' +
    'its site or in a frame. Its scripts may have run, and its server may have been sent ' +
    'something.',
};

function sent() {
  const late = search.get('late');
  if (late === null) return 'Nothing has been sent to its server.';
  return Object.hasOwn(SENT, late) ? SENT[late] : SENT[''];
}

// The section that explains each verdict.
const VIEWS = { listed: 'blocked', unconfirmed: 'doubt', 'no-url': 'strange', round: 'round' };

function show(view, url, answer = {}) {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== view;
  document.title = $(`${view}-title`).textContent;
  document.body.className = alone ? '' : 'framed';
  fill('host', url?.hostname);
  fill('url', url?.href);
  fill('labels', answer.labels?.join(', '));
  fill('likely', view === 'doubt' ? answer.likely?.join(', ') : '');
  fill('expression', answer.expression);
  fill('reason', answer.reason ?? answer.problem);
  fill('version', answer.version && String(answer.version));
  fill('trouble', answer.trouble);
  fill('sent', sent());
  const stopped = !['none', 'gone'].includes(view);
  $('facts').hidden = !url;
  $('ways').hidden = false;
  $('back').hidden = !alone;
  $('again').hidden = !['doubt', 'broken'].includes(view);
  $('go').hidden = !stopped || !alone || view === 'broken';
  $('alone').hidden = !stopped || alone;
  if (url) $('alone').href = url.href;
  // A frame must not take the focus from its page. A small window must show the heading first.
  if (alone) $('back').focus({ preventScroll: true });
  pause();
}

// "Continue anyway" works once this page has been in front for a moment, so that a click that was
// meant for something else, like the second half of a double click on a page that opens this one,
// does not count. A click that comes too early starts the moment again, and so does losing the
// focus.
const MOMENT = 1000; // ms
const inFront = () => document.visibilityState === 'visible' && document.hasFocus();
let ready = false, early = false, timer;

function setReady(now) {
  ready = now;
  $('go').setAttribute('aria-disabled', String(!now));
}

function pause() {
  setReady(false);
  clearTimeout(timer);
  if (!inFront()) return;
  timer = setTimeout(() => {
    setReady(inFront());
    if (ready && early) $('said').textContent = '“Continue anyway” works now.';
    early &&= !ready;
  }, MOMENT);
}

for (const name of ['focus', 'blur', 'visibilitychange']) addEventListener(name, pause);
// A page that comes back from the browser's memory is checked anew.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

// Opens the URL here, or through a page without permissions (rules.mjs). In a sandboxed frame this
// page has no permissions itself, and may not open the other one. If this page is still there
// afterwards, the URL is a download, or its server is slow.
function goTo(url, how) {
  if (how === 'apart' && self.origin !== 'null') {
    location.replace(`go.html#${url.href}`);
  } else {
    location.replace(url.href);
    setTimeout(() => show('gone', url), 4000);
  }
}

// The server may take seconds to answer. Meanwhile the page shows the labels that the filter has.
async function guess(url) {
  const { labels = [] } = await ask({ ask: 'likely', url: url.href });
  if (labels.length > 0)
    $('checking').textContent =
      `Checking this page… It may be on a list of bad pages: ${labels.join(', ')}.`;
}

async function check(url, insist) {
  const answer = await ask({ ask: 'check', url: url.href, same: search.get('same'), insist });
  if (answer.go) goTo(url, answer.go);
  else show(VIEWS[answer.verdict] ?? 'broken', url, answer);
}

const url = target();

// Does one thing at a time, however often a button is pressed.
let busy = false;
async function once(act) {
  if (busy) return;
  busy = true;
  $('said').textContent = '';
  try {
    await act();
  } finally {
    busy = false;
  }
}

async function through() {
  const answer = await ask({ ask: 'through', url: url.href, same: search.get('same') });
  if (answer.go) goTo(url, answer.go);
  else $('said').textContent = `That failed: ${answer.problem}.`;
}

addEventListener('hashchange', () => location.reload());
$('back').addEventListener('click', () => {
  // The page before a late warning is the one that it warns about.
  const pages = search.has('late') ? 2 : 1;
  if (history.length > pages) history.go(-pages);
  else ask({ ask: 'leave' });
});
$('again').addEventListener('click', () => once(() => check(url, true)));
// A key that is held down is not a decision either.
$('go').addEventListener('keydown', (event) => { if (event.repeat) event.preventDefault(); });
$('go').addEventListener('click', (event) => {
  if (!event.isTrusted) return;
  if (ready && inFront()) {
    once(through);
  } else {
    pause();
    early = true;
    $('said').textContent = 'Wait a moment: “Continue anyway” works once this page has been in ' +
      'front for a second.';
  }
});
$('checking').textContent = 'Checking this page…';
if (url) {
  check(url);
  guess(url);
} else {
  show('none');
}
