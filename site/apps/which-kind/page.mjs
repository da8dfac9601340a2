// Shows the questions one after the other. The answers are in the address, each with an entry in
// the history, so that Back takes the last one back.
import { $, el } from '../apps/dom.mjs';
import { KINDS, labelOf } from '../apps/kinds.mjs';
import { keepFragment, readFragment, writeFragment } from '../apps/address.mjs';
import { OUTCOMES, QUESTIONS, wayOf } from './questions.mjs';

let answers = new Map();

function makeQuestion(name) {
  const { text, answers: choices } = QUESTIONS[name];
  const options = Object.entries(choices).map(([value, [label, hint]]) => {
    const box = el('input', { type: 'radio', name, value, id: `${name}-${value}` });
    box.addEventListener('change', () => answer(name, value));
    return el('label', {}, box, ' ', label,
      hint === '' ? undefined : el('span', { class: 'hint' }, hint));
  });
  return el('fieldset', { id: `question-${name}` }, el('legend', {}, text),
    el('div', { class: 'answers' }, ...options));
}

// Keeps the fieldsets that stay, because one of them has the focus.
function show() {
  const { way, kind } = wayOf(answers), form = $('questions');
  for (const old of [...form.children])
    if (!way.includes(old.id.replace('question-', ''))) old.remove();
  for (const name of way) {
    if (!$(`question-${name}`)) form.append(makeQuestion(name));
    for (const box of $(`question-${name}`).querySelectorAll('input'))
      box.checked = box.value === answers.get(name);
  }
  $('outcome').hidden = kind === undefined;
  if (kind === undefined) {
    const left = QUESTIONS[way.at(-1)].text;
    $('said').textContent = way.length > 1 ? `Next question: ${left}` : '';
    return;
  }
  const [reason, line] = OUTCOMES[kind], it = KINDS.get(kind);
  $('kind').textContent = labelOf(it);
  $('reason').textContent = reason;
  $('use').textContent = it.use;
  $('line').textContent = `${line}\n`;
  $('plan').href = `../plan/index.html#kind=${kind}` + (it.number < 32 ? '&items=1M&fpr=1%' : '');
  $('said').textContent = `Take ${labelOf(it)}. ${reason}`;
}

function answer(name, value) {
  const isNew = !answers.has(name), { way } = wayOf(answers);
  // What was answered after this question belongs to another way now.
  const kept = way.slice(0, way.indexOf(name)).map((one) => [one, answers.get(one)]);
  answers = new Map([...kept, [name, value]]);
  history[isNew ? 'pushState' : 'replaceState'](null, '', writeFragment([...answers]));
  $('problem').hidden = true;
  show();
}

// Answers of a strange address that do not exist are left out, with a complaint.
function fromAddress() {
  const wanted = readFragment(location.hash), unknown = [];
  answers = new Map();
  for (const [name, value] of wanted) {
    const known = Object.hasOwn(QUESTIONS, name) && Object.hasOwn(QUESTIONS[name].answers, value);
    if (known) answers.set(name, value);
    else unknown.push(name);
  }
  if (wanted.size === 0 && location.hash.length > 1) unknown.push(location.hash);
  const shown = unknown.slice(0, 3).map((text) => `“${text.slice(0, 30)}”`).join(', ');
  $('problem').textContent = `The address has answers that do not exist: ${shown}.`;
  $('problem').hidden = unknown.length === 0;
  show();
}

$('questions').addEventListener('submit', (event) => event.preventDefault());
$('again').addEventListener('click', () => {
  answers = new Map();
  history.pushState(null, '', location.pathname + location.search);
  show();
  $('questions').querySelector('input').focus();
});
addEventListener('hashchange', fromAddress);
addEventListener('popstate', fromAddress);
keepFragment();
fromAddress();
document.documentElement.dataset.ready = 'true';
