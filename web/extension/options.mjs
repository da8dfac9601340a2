// The options page: the server of the list, and the state of the list.
import { ask } from './ask.mjs';

const $ = (id) => document.getElementById(id);
const pages = (n) => (n === 1 ? '1 page' : `${n} pages`);

// The user's input stays until it is in use, and the field does not change while it has the focus.
let entered = false;

async function show() {
  const { server, version, updated, problem, blocked, warned, allowed } =
    await ask({ ask: 'status' });
  const on = version !== undefined;
  $('state').classList.toggle('off', !on);
  if (!server) {
    $('state').textContent = `It is unknown whether pages are checked: ${problem}.`;
    return;
  }
  $('state').textContent = on ? 'On. Pages are checked before they are opened.'
    : 'Off. There is no list yet, and nothing is checked.';
  if (!entered && document.activeElement !== $('server')) $('server').value = server;
  $('version').textContent = on ? String(version) : 'none';
  $('updated').textContent = updated ? new Date(updated).toLocaleString() : 'never';
  $('problem').textContent = problem ?? '';
  $('problem').hidden = $('problem-name').hidden = !problem;
  $('blocked').textContent = pages(blocked);
  $('warned').textContent = pages(warned);
  $('allowed').replaceChildren(...allowed.map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  }));
  $('allowed-part').hidden = allowed.length === 0;
}

async function busy(what, done) {
  $('said').textContent = 'Asking the server…';
  const { problem } = await ask(what);
  $('said').textContent = problem ? `That failed: ${problem}. Nothing has changed.` : done;
  $('said').classList.toggle('problem', Boolean(problem));
  if (!problem) entered = false;
  await show();
}

$('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = $('server').value.trim();
  if (/^https?:\/\//.test(text) && URL.canParse(text)) {
    busy({ ask: 'use', server: text }, 'The list of this server is in use.');
  } else {
    $('said').textContent = 'A server’s address begins with https:// or http://.';
    $('said').classList.add('problem');
  }
});
$('server').addEventListener('input', () => { entered = true; });
$('server').addEventListener('blur', show);
$('update').addEventListener('click', () => busy({ ask: 'update' }, 'The list is up to date.'));
$('forget').addEventListener('click', async () => {
  await ask({ ask: 'forget' });
  await show();
  $('server').focus();
});
chrome.storage.onChanged.addListener(show);
show();
