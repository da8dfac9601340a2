// The page at which a navigation is held: check.html#URL. It asks the worker, and goes on or
// explains why not. Parts of a URL are only ever shown as text, and only http and https are opened,
// because any page can open this one with any text after the #.
import { ask } from './ask.mjs';

const $ = (id) => document.getElementById(id);
const alone = window.top === window;
const search = new URLSearchParams(location.search), late = search.has('late');

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

// The section that explains each verdict.
const VIEWS = { listed: 'blocked', unconfirmed: 'doubt', 'no-url': 'strange', round: 'round' };

function show(view, url, answer = {}) {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== view;
  document.title = $(`${view}-title`).textContent;
  document.body.className = alone ? '' : 'framed';
  fill('host', url?.hostname);
  fill('url', url?.href);
  fill('labels', answer.labels?.join(', '));
  fill('expression', answer.expression);
  fill('reason', answer.reason ?? answer.problem);
  fill('version', answer.version && String(answer.version));
  fill('sent', late ? 'It came as the answer to a form, so its server has been sent that form.'
    : 'Nothing has been sent to its server.');
  const stopped = !['none', 'gone'].includes(view);
  $('facts').hidden = !url;
  $('ways').hidden = false;
  $('back').hidden = !alone;
  $('again').hidden = !['doubt', 'broken'].includes(view);
  $('go').hidden = !stopped || !alone || view === 'broken';
  $('alone').hidden = !stopped || alone;
  if (url) $('alone').href = url.href;
  if (alone) $('back').focus(); // a frame must not take the focus from its page
}

// Opens the URL here, or through a page without permissions (rules.mjs). If this page is still
// there afterwards, the URL was a download.
function goTo(url, how) {
  if (how === 'apart') {
    location.replace(`go.html#${url.href}`);
  } else {
    location.replace(url.href);
    setTimeout(() => show('gone', url), 4000);
  }
}

async function check(url, insist) {
  const answer = await ask({ ask: 'check', url: url.href, same: search.get('same'), insist });
  if (answer.go) goTo(url, answer.go);
  else show(VIEWS[answer.verdict] ?? 'broken', url, answer);
}

const url = target();
addEventListener('hashchange', () => location.reload());
$('back').addEventListener('click', () => {
  if (history.length > 1) history.back();
  else ask({ ask: 'leave' });
});
$('again').addEventListener('click', () => {
  $('said').textContent = '';
  check(url, true);
});
$('go').addEventListener('click', async () => {
  const answer = await ask({ ask: 'through', url: url.href, same: search.get('same') });
  if (answer.go) goTo(url, answer.go);
  else $('said').textContent = `That failed: ${answer.problem}.`;
});
if (!url) show('none');
else if (search.has('gone')) show('gone', url);
else check(url);
