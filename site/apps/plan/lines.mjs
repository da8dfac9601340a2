// The lines to paste for a kind: shell, C, Python and SQL. The tests extract them from the page and
// run them.
import { isSketch } from '../apps/kinds.mjs';
import { itemsWithHeadroom, planFor } from '../apps/plans.mjs';
import { parseRate, short } from '../apps/numbers.mjs';

// A rate that was computed, rounded up to a few digits, because a plan meets a higher one as well.
function rounded(rate) {
  const text = rate.toPrecision(3), next = Number(text) < rate ? Number(text) * 1.01 : Number(text);
  return String(Number(Math.min(next, 1).toPrecision(4)));
}

// What the user gave, as far as this kind takes it: items or undefined, a rate or undefined, and
// bytes or undefined. The rate of a sealed kind is always stated, because its keys are counted.
function given(kind, wanted, solved) {
  const items = itemsWithHeadroom(kind, wanted) ?? solved.items;
  const rate = wanted.fpr !== undefined ? String(wanted.fpr) : rounded(solved.fpr);
  if (kind.sealed || kind.id === 'growing') return { items, rate };
  return wanted.fpr === undefined ? { items, bytes: wanted.bytes } : { items, rate };
}

// As a percentage if that is short and the command reads it as the same number.
function percent(given) {
  if (given === undefined) return undefined;
  const rate = Number(given), text = `${Number((100 * rate).toPrecision(6))}%`;
  return rate >= 1e-5 && parseRate(text, 1) === rate ? text : String(rate);
}

const option = (name, value) => (value === undefined ? '' : ` --${name} ${value}`);

// --- Filters -------------------------------------------------------------------------------------

const BUILD = {
  'blocked-compact': '--kind blocked --compact', 'bloom-transfer': '--for-transfer',
  private: '--kind bloom --k 1', exact: '--never never.txt',
};

const AFTER = {
  'bloom-transfer': ['tamis pack -o set.packed set.tamis'],
  cuckoo: ['tamis remove set.tamis gone.txt'],
  counting: ['tamis remove set.tamis gone.txt'],
  pair: ['tamis remove set.tamis gone.txt'],
  growing: ['tamis add set.tamis more.txt'],
  window: ['tamis rotate set.tamis', 'tamis add set.tamis more.txt'],
  private: ['tamis release --epsilon 4 -o public.tamis set.tamis'],
};

function filterShell(kind, wanted, solved) {
  const { items, rate, bytes } = given(kind, wanted, solved), alone = kind.sealed;
  const counted = alone || kind.id === 'growing';
  const needs = (kind.needs ?? []).filter((need) => need !== 'never-items')
    .map((need) => option(need, wanted[need])).join('');
  const build = `tamis build ${BUILD[kind.id] ?? `--kind ${kind.id}`}` +
    `${kind.id === 'map' ? ' --value-field 2' : ''}${needs}` +
    option('items', counted ? undefined : short(items)) + option('fpr', percent(rate)) +
    `${option('bytes', bytes)} -o set.tamis ${kind.id === 'map' ? 'values.tsv' : 'list.txt'}`;
  const ask = kind.id === 'map' ? 'tamis get set.tamis < queries.txt'
    : `tamis check ${kind.id === 'private' ? 'public.tamis' : 'set.tamis'} queries.txt`;
  const after = AFTER[kind.id] ?? [];
  return kind.id === 'private' ? [build, ...after, ask] : [build, ask, ...after];
}

const MACROS = { map: 'VALUE_MAP' };
const macro = (kind) => `TAMIS_${MACROS[kind.id] ?? kind.id.replace(/-(compact|transfer)$/, '')
  .toUpperCase().replaceAll('-', '_')}`;

const whole = (n) => (n >= 2n ** 63n ? `${n}u` : String(n));

// A program around the statements that use a handle.
function program(headers, fields, body, stated = []) {
  return [
    '#include <stdio.h>',
    ...headers.map((name) => `#include <tamis/${name}.h>`),
    '',
    'int main(void)',
    '{',
    ...[
      'tamis_plan plan = TAMIS_PLAN_INIT;',
      ...fields.filter(([, value]) => value !== undefined)
        .map(([name, value]) => `plan.${name} = ${value};`),
      'tamis *t;',
      'tamis_error why;',
      ...stated,
      'if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) {',
      '    fprintf(stderr, "%s\\n", why.text);',
      '    return 1;',
      '}',
      ...body,
      'tamis_close(t);',
      'return 0;',
    ].map((line) => `    ${line}`),
    '}',
  ];
}

const ASK = ['puts(tamis_may_contain(t, "ann", 3) ? "maybe" : "certainly not");'];
const USES = {
  cuckoo: [...ASK, 'tamis_remove(t, "ann", 3, NULL);'],
  window: [...ASK, 'tamis_rotate(t, NULL);'],
  exact: ['tamis_exclude(t, "eve", 3, NULL);', 'if (tamis_seal(t, &why) != TAMIS_OK) return 1;',
    ...ASK],
  map: ['if (tamis_seal(t, &why) != TAMIS_OK) return 1;', 'uint32_t value;',
    'if (tamis_value(t, "ann", 3, &value) == TAMIS_OK) printf("%u\\n", (unsigned)value);'],
  private: ['tamis *copy;', 'if (tamis_release(t, 4, &copy, &why) != TAMIS_OK) return 1;',
    'tamis_save(copy, "public.tamis", NULL, NULL);', 'tamis_close(copy);'],
  'bloom-transfer': [...ASK,
    'tamis_save_options packed = {.struct_size = sizeof packed, .flags = TAMIS_SAVE_PACKED};',
    'tamis_save(t, "set.packed", &packed, NULL);'],
};
USES.counting = USES.pair = USES.cuckoo;
USES.ribbon = USES.fuse = ['if (tamis_seal(t, &why) != TAMIS_OK) return 1;', ...ASK];

function filterC(kind, wanted, solved) {
  const { items, rate, bytes } = given(kind, wanted, solved), plan = planFor(kind, wanted);
  const fields = [
    ['kind', macro(kind)],
    ['flags', { 'blocked-compact': 'TAMIS_COMPACT', 'bloom-transfer': 'TAMIS_TRANSFER' }[kind.id]],
    ['items', kind.id === 'growing' ? undefined : whole(items)],
    ['fpr', rate], ['bytes', bytes === undefined ? undefined : whole(bytes)],
    ['k', kind.k], ['cell_bits', plan.cellBits], ['generations', plan.generations],
    ['excluded', plan.excluded],
  ];
  if (kind.id === 'private') fields[0][1] = 'TAMIS_BLOOM';
  const add = kind.id === 'map' ? 'tamis_add_value(t, "ann", 3, 1, NULL);'
    : 'tamis_add(t, "ann", 3, NULL);';
  const headers = { map: ['map'], private: ['publish'], 'bloom-transfer': ['publish'] }[kind.id];
  return program(headers ?? ['tamis'], fields, [add, ...USES[kind.id] ?? ASK]);
}

const named = (name, value) => (value === undefined ? '' : `, ${name}=${value}`);

function filterPython(kind, wanted, solved) {
  const { items, rate, bytes } = given(kind, wanted, solved);
  const size = `items=${items}${named('fpr', rate)}${named('bytes', bytes)}`;
  const plain = (more, ...after) => [`seen = tamis.Filter(${size}${more})`,
    'seen.update(["ann", "bob"])', 'assert "ann" in seen', ...after, 'seen.save("seen.tamis")'];
  const lines = {
    'blocked-compact': () => plain(', kind="blocked", compact=True'),
    'bloom-transfer': () => plain(', kind="bloom", for_transfer=True'),
    growing: () => [`seen = tamis.Filter(fpr=${rate}, kind="growing")`,
      ...plain('').slice(1)],
    counting: () => plain(`, kind="counting"${named('cell_bits', wanted['counter-bits'])}`,
      'seen.remove("bob")'),
    window: () => [`seen = tamis.Window(${size}${named('generations', wanted.generations)})`,
      'seen.add("ann")', 'seen.rotate()', 'assert "ann" in seen'],
    map: () => [`group = tamis.Map({"ann": 1, "bob": 0}, fpr=${rate}` +
      `${named('value_bits', wanted['value-bits'])})`, 'assert group["ann"] == 1'],
    exact: () => [`seen = tamis.exact(["ann", "bob"], never=["eve"], fpr=${rate})`,
      'assert "ann" in seen and "eve" not in seen'],
    private: () => ['# The command makes the release: tamis release',
      'public = tamis.open("public.tamis")',
      'print(public.probability("ann"))  # from 0.5 before to this'],
  };
  lines.cuckoo = lines.pair = () => plain(`, kind="${kind.id}"`, 'seen.remove("bob")');
  lines.ribbon = lines.fuse = () => [
    `seen = tamis.seal(["ann", "bob"], fpr=${rate}, kind="${kind.id}")`, 'assert "ann" in seen'];
  return ['import tamis', '', ...(lines[kind.id] ?? (() => plain(`, kind="${kind.id}"`)))()];
}

function filterSql(kind, wanted, solved) {
  const { items, rate } = given(kind, wanted, solved), p = rate ?? rounded(solved.fpr);
  const of = (aggregate) => `SELECT tamis_contains(${aggregate}, 'ann') FROM people;`;
  if (kind.id === 'ribbon') return [of(`tamis_seal_agg(name, ${p})`)];
  if (kind.id === 'map')
    return [`SELECT tamis_value(tamis_map_agg(name, team, ${p}), 'ann') FROM people;`];
  // No aggregate makes these kinds, or with these options; a file of the command is read instead.
  const [file] = { private: ['public.tamis'], window: ['set.tamis'], exact: ['set.tamis'],
    'blocked-compact': ['set.tamis'], 'bloom-transfer': ['set.tamis'] }[kind.id] ?? [];
  if (file)
    return ['-- SQLite; the shell lines make the file.',
      `SELECT tamis_contains(tamis_file('${file}'), 'ann');`];
  return [of(`tamis_filter_agg(name, ${items}, ${p}, '${kind.id}')`)];
}

// --- Sketches ------------------------------------------------------------------------------------

// The size as the user gave it: an error, or bytes; nothing for the size that is usual.
function size(kind, wanted) {
  const { error, delta, bytes } = planFor(kind, wanted);
  const usual = bytes !== undefined && wanted.memory === undefined;
  return { error, delta, bytes: usual ? undefined : bytes };
}

function sketchShell(kind, wanted) {
  const { error, delta, bytes } = size(kind, wanted);
  const sized = option('error', percent(error)) + option('delta', percent(delta)) +
    option('bytes', bytes === undefined ? undefined : short(bytes));
  if (kind.id === 'distinct') return [`tamis distinct${sized} list.txt`];
  if (kind.id === 'top') return [`tamis top${sized} -n 10 list.txt`];
  return [`tamis count --kind ${kind.id}${sized} -o counts.tamis list.txt`,
    'tamis freq counts.tamis ann'];
}

const COUNT = ['tamis_estimate e;', 'if (tamis_count(t, "ann", 3, &e, &why) == TAMIS_OK)',
  '    printf("between %lld and %lld\\n", (long long)e.lower, (long long)e.upper);'];
const SHOW = {
  distinct: ['tamis_cardinality n = TAMIS_CARDINALITY_INIT;',
    'if (tamis_distinct(t, &n, &why) == TAMIS_OK)',
    '    printf("%.0f (%.0f to %.0f)\\n", n.value, n.low, n.high);'],
  top: ['tamis_heavy top[10];', 'const size_t n = tamis_top(t, top, 10);',
    'for (size_t i = 0; i < n; i++)',
    '    printf("%lld %.*s\\n", (long long)top[i].count.estimate, (int)top[i].item.len,',
    '           (const char *)top[i].item.p);'],
};

function sketchC(kind, wanted) {
  const { error, delta, bytes, m } = planFor(kind, wanted);
  const fields = [['kind', macro(kind)], ['error', error], ['delta', delta],
    ['bytes', bytes === undefined ? undefined : whole(bytes)], ['m', m]];
  return program([kind.id === 'distinct' ? 'distinct' : 'count'], fields,
    ['tamis_add(t, "ann", 3, NULL);', ...SHOW[kind.id] ?? COUNT]);
}

function sketchPython(kind, wanted) {
  const { error, delta, bytes } = size(kind, wanted);
  const all = [bytes === undefined ? undefined : `bytes=${bytes}`,
    error === undefined ? undefined : `error=${error}`,
    delta === undefined ? undefined : `delta=${delta}`,
    ['distinct', 'top'].includes(kind.id) ? undefined : `kind="${kind.id}"`];
  const made = all.filter((one) => one !== undefined).join(', ');
  const [name, show] = {
    distinct: ['Distinct', 'print(int(sketch))'],
    top: ['Top', 'print(sketch.most_common(10))'],
  }[kind.id] ?? ['Counts', 'print(sketch["ann"])'];
  return ['import tamis', '', `sketch = tamis.${name}(${made})`,
    'sketch.update(["ann", "bob", "ann"])', show];
}

function sketchSql(kind, wanted, solved) {
  const { error, bytes } = size(kind, wanted);
  if (kind.id === 'distinct')
    return [`SELECT tamis_cardinality(tamis_distinct_agg(name, ${error ?? rounded(solved.error)}))`,
      '    FROM people;'];
  if (kind.id === 'top') return ['SELECT approx_top_k(name, 10) FROM people;'];
  if (kind.id === 'tally')
    return [`SELECT tamis_estimate(tamis_count_agg(name${bytes ? `, 1, ${bytes}` : ''}), 'ann') ` +
      'FROM people;'];
  return ['-- SQLite; the shell lines make the file.',
    "SELECT tamis_estimate(tamis_file('counts.tamis'), 'ann');"];
}

// Returns the lines of each language, for what was given and what the planner made of it.
export function linesFor(kind, wanted, solved) {
  const [shell, c, python, sql] = isSketch(kind)
    ? [sketchShell, sketchC, sketchPython, sketchSql]
    : [filterShell, filterC, filterPython, filterSql];
  return Object.fromEntries([['shell', shell], ['c', c], ['python', python], ['sql', sql]]
    .map(([language, make]) => [language, `${make(kind, wanted, solved).join('\n')}\n`]));
}
