// The options page: the server of the list, and the state of the list.
import { ask } from './ask.mjs';

const $ = (id) => document.getElementById(id);
const pages = (n) => (n === 1 ? '1 page' : `${n} pages`);

const FIELDS = [$('server'), $('keys')];

// The user's input stays until it is in use, and no field changes while one of them has the focus.
let entered = false;

// Says who signed the list, and until when.
function signature({ version, signed, expired }) {
  if (version === undefined) return '';
  if (!signed) return 'not checked, because no public key is entered';
  const by = `by key ${signed.keys.join(' and key ')}`;
  if (signed.expires === undefined) return `${by}, without an expiry`;
  return `${by}, ${expired ? 'expired on' : 'valid until'} ${
    new Date(1000 * signed.expires).toLocaleString()}`;
}

async function show() {
  const status = await ask({ ask: 'status' });
  const { server, keys, version, updated, problem, trouble, blocked, warned, allowed } = status;
  const on = version !== undefined;
  $('state').classList.toggle('off', !on || Boolean(trouble));
  if (!server) {
    $('state').textContent = `It is unknown whether pages are checked: ${problem}.`;
    return;
  }
  $('state').textContent = `${on ? 'On. Pages are checked before they are opened.'
    : 'Off. There is no list yet, and nothing is checked.'} ${trouble}`.trim();
  if (!entered && !FIELDS.includes(document.activeElement)) {
    $('server').value = server;
    $('keys').value = keys.join('\n');
  }
  $('signed').textContent = signature(status);
  $('signed').classList.toggle('problem', Boolean(status.expired));
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
    busy({ ask: 'use', server: text, keys: $('keys').value },
      'The list of this server is in use.');
  } else {
    $('said').textContent = 'A server’s address begins with https:// or http://.';
    $('said').classList.add('problem');
  }
});
for (const field of FIELDS) {
  field.addEventListener('input', () => { entered = true; });
  field.addEventListener('blur', show);
}
$('update').addEventListener('click', () => busy({ ask: 'update' }, 'The list is up to date.'));
$('forget').addEventListener('click', async () => {
  await ask({ ask: 'forget' });
  await show();
  $('server').focus();
});
chrome.storage.onChanged.addListener(show);
show();
