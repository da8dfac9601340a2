// The planner: two numbers in the address or in the fields, and the plans of all kinds.
import { host, start } from '../apps/core.mjs';
import { $, bytes, el, number, rate } from '../apps/dom.mjs';
import { FILTERS, KINDS, SKETCHES, isSketch, labelOf } from '../apps/kinds.mjs';
import { exactUntil, solveFor } from '../apps/plans.mjs';
import { grouped } from '../apps/numbers.mjs';
import { keepFragment, readFragment, replaceFragment } from '../apps/address.mjs';
import { FIELDS, FILTER_FIELDS, SKETCH_FIELDS, excerpt, read } from './wanted.mjs';
import { linesFor } from './lines.mjs';
import { drawPlot } from './drawing.mjs';

const START = new Map([['items', '1M'], ['fpr', '1%']]); // without an address
const USUAL_KIND = 'blocked';
const QUIET = 700; // milliseconds without a change, after which screen readers hear the result

host.wasm = new URL('../apps/tamis.wasm', import.meta.url);

let chosen = USUAL_KIND, last;
const rows = new Map();

// --- The tables ----------------------------------------------------------------------------------

const bits = (x) => x.toFixed(2);
// The same names as in the JSON of `tamis plan`; the value is what it prints, the text for people.
const COLUMNS = {
  filters: {
    bytes: (p) => [p.bytes, grouped(p.bytes)],
    bits_per_item: (p) => [p.bitsPerItem, bits(p.bitsPerItem)],
    bound_bits: (p) => (p.bound === 'none' ? ['', '–'] : [p.boundBits, bits(p.boundBits)]),
    bound: (p) => (p.bound === 'none' ? ['', 'none given'] : [p.bound, p.bound]),
    fpr: (p) => [p.fpr, rate(p.fpr)],
    items: (p) => [p.items, grouped(p.items)],
  },
  sketches: {
    bytes: (p) => [p.bytes, grouped(p.bytes)],
    error: (p) => (p.error > 0 ? [p.error, rate(p.error)] : ['', 'measured when asked']),
    m: (p) => [p.m, grouped(p.m)],
  },
};

function makeRow(table, kind) {
  const choice = el('input', { type: 'radio', name: 'kind', id: `kind-${kind.id}`,
    value: kind.id });
  const cells = Object.keys(COLUMNS[table]).map((field) => el('td', { 'data-field': field }));
  const use = el('td', { class: 'use' });
  const row = el('tr', { 'data-kind': kind.id },
    el('th', { scope: 'row' }, el('label', {}, choice, ' ', labelOf(kind))), ...cells, use);
  choice.addEventListener('change', () => {
    chosen = kind.id;
    update();
  });
  rows.set(kind.id, { row, cells, use, choice, columns: Object.values(COLUMNS[table]) });
  return row;
}

function fillRow(kind, plan) {
  const { row, cells, use, choice, columns } = rows.get(kind.id);
  cells.forEach((cell, i) => {
    const [value, shown] = plan.refused ? ['', '–'] : columns[i](plan);
    cell.dataset.value = String(value);
    cell.textContent = shown;
  });
  use.textContent = plan.refused ?? kind.use;
  row.classList.toggle('refused', plan.refused !== undefined);
  row.classList.toggle('chosen', kind.id === chosen);
  choice.checked = kind.id === chosen;
}

// --- The chosen kind -----------------------------------------------------------------------------

const figure = (name, text, value) =>
  el('div', {}, el('dt', {}, name), el('dd', { 'data-value': value }, text));

function figuresOf(kind, p) {
  const size = figure(p.packed > 0n ? 'In memory' : 'File', bytes(Number(p.bytes)), p.bytes);
  if (isSketch(kind)) {
    return [size,
      p.error > 0 ? figure(kind.id === 'distinct' ? 'Standard error' : 'Error', rate(p.error),
        p.error) : undefined,
      kind.id === 'distinct' ? figure('Exact up to', grouped(exactUntil(p.m)), exactUntil(p.m))
        : undefined];
  }
  return [size,
    p.packed > 0n ? figure('Packed', bytes(Number(p.packed)), p.packed) : undefined,
    figure('Bits per item', bits(p.bitsPerItem), p.bitsPerItem),
    p.bound === 'none' ? undefined
      : figure('Times the lower bound', p.boundRatio.toFixed(2), p.boundRatio),
    figure('False positives', rate(p.fpr), p.fpr),
    figure('Items', grouped(p.items), p.items)];
}

let waiting;
function say(text) {
  clearTimeout(waiting);
  waiting = setTimeout(() => { $('said').textContent = text; }, QUIET);
}

function showChosen(kind, plan, wanted) {
  const lines = plan.refused ? {} : linesFor(kind, wanted, plan);
  $('chosen').textContent = labelOf(kind);
  $('chosen-use').textContent = `For: ${kind.use}.`;
  $('chosen').parentElement.firstChild.textContent =
    isSketch(kind) ? 'Your sketch: ' : 'Your filter: ';
  $('refused').hidden = plan.refused === undefined;
  $('refused').textContent = plan.wrong ? 'Correct the field first.'
    : `There is no such plan: ${plan.refused}.`;
  $('figures').replaceChildren(...plan.refused ? []
    : figuresOf(kind, plan).filter((it) => it !== undefined));
  document.querySelector('.lines').hidden = plan.refused !== undefined;
  for (const code of document.querySelectorAll('[data-lang]'))
    code.textContent = lines[code.dataset.lang] ?? '';
  say(plan.refused ? `${labelOf(kind)}: ${plan.refused}`
    : `${labelOf(kind)}: ${bytes(Number(plan.bytes))}` +
      (isSketch(kind) ? '' : `, ${number(plan.bitsPerItem)} bits per item`));
}

async function copy(event) {
  const button = event.currentTarget;
  const code = document.querySelector(`code[data-lang=${button.dataset.copy}]`);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(code); // without permission, selected to be copied by hand
    button.textContent = 'Selected';
  }
  $('said').textContent = button.textContent;
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

// --- From the fields to everything else ----------------------------------------------------------

const texts = () => new Map(Object.keys(FIELDS).map((name) => [name, $(name).value]));

// Each complaint names its field as the page does.
function complaints(wrong) {
  return Object.entries(wrong).map(([name, why]) =>
    `${$(name).labels[0].textContent}: ${why}.`);
}

function mark(wrong) {
  for (const name of Object.keys(FIELDS))
    $(name).setAttribute('aria-invalid', String(wrong[name] !== undefined));
}

function draw() {
  if (last) drawPlot($('plot'), $('plot-items'), last);
}

// `unknown` are complaints about the address.
function update(unknown = []) {
  const given = texts(), { wanted, wrong } = read(given);
  const refusal = (fields) => {
    const names = Object.keys(wrong).filter((name) => name in fields);
    return names.length > 0 ? complaints({ [names[0]]: wrong[names[0]] })[0].slice(0, -1)
      : undefined;
  };
  const of = { filters: refusal(FILTER_FIELDS), sketches: refusal(SKETCH_FIELDS) };
  const plans = new Map();
  for (const kind of KINDS.values()) {
    const refused = of[isSketch(kind) ? 'sketches' : 'filters'];
    const plan = refused ? { refused, wrong: true } : solveFor(kind, wanted);
    plans.set(kind.id, plan);
    fillRow(kind, plan);
  }
  const all = [...unknown, ...complaints(wrong)];
  $('problem').textContent = all.join(' ');
  $('problem').hidden = all.length === 0;
  mark(wrong);
  const kind = KINDS.get(chosen);
  showChosen(kind, plans.get(chosen), wanted);
  last = { kind, plan: plans.get(chosen), wanted: of.filters ? {} : wanted };
  draw();
  if (unknown.length === 0)
    replaceFragment([...given, ['kind', chosen === USUAL_KIND ? '' : chosen]]);
}

// Takes the state from the address. What it has wrong stays there, and in the fields, to be seen.
function fromAddress() {
  const state = readFragment(location.hash), unknown = [];
  const found = state.size > 0 ? state : START;
  for (const name of Object.keys(FIELDS)) $(name).value = found.get(name) ?? '';
  chosen = found.get('kind') ?? USUAL_KIND;
  if (!KINDS.has(chosen)) {
    unknown.push(`The address names a kind that does not exist: “${excerpt(chosen)}”.`);
    chosen = USUAL_KIND;
  }
  for (const name of state.keys())
    if (name !== 'kind' && !Object.hasOwn(FIELDS, name))
      unknown.push(`The address has an unknown setting: “${excerpt(name)}”.`);
  if (state.size === 0 && location.hash.length > 1)
    unknown.push(`The address has no settings: “${excerpt(location.hash)}”.`);
  for (const [fields, box] of [[['headroom', 'value-bits', 'never-items', 'generations',
    'counter-bits'], 'more']])
    if (fields.some((name) => $(name).value !== '')) $(box).open = true;
  update(unknown);
}

function listen() {
  for (const form of ['wanted', 'sketch-wanted']) {
    $(form).addEventListener('input', () => update());
    $(form).addEventListener('submit', (event) => event.preventDefault());
  }
  for (const button of document.querySelectorAll('[data-copy]'))
    button.addEventListener('click', copy);
  addEventListener('hashchange', fromAddress);
  keepFragment();
  new ResizeObserver(draw).observe($('plot'));
}

try {
  await start();
  $('filters').tBodies[0].append(...FILTERS.map((kind) => makeRow('filters', kind)));
  $('sketches').tBodies[0].append(...SKETCHES.map((kind) => makeRow('sketches', kind)));
  fromAddress();
  listen();
  document.documentElement.dataset.ready = 'true';
} catch (error) {
  $('broken').textContent = `The page does not work here: ${error.message}`;
  $('broken').hidden = false;
}
