// Where things are, and the recipes of the C tests, read from their sources so that there is only
// one of each.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const source = resolve(process.env.TAMIS_SOURCE ?? '.');
export const build = resolve(process.env.TAMIS_BUILD ?? join(source, 'build'));
export const command = resolve(process.env.TAMIS ?? join(build, 'tamis'));
export const web = join(build, 'web');
export const { Tamis, TamisError, Guard } = await import(join(web, 'node.mjs'));
export const core = await import(join(web, 'core.mjs'));
export const { Distinct } = await import(join(web, 'distinct-node.mjs'));

export function native(args, input) {
  const run = spawnSync(command, args, { input, maxBuffer: 1 << 28 });
  if (run.error || run.status > 1 || run.status === null)
    throw new Error(`tamis ${args.join(' ')}: ${run.stderr}`);
  return run.stdout;
}

export function room(t) {
  const path = mkdtempSync(join(tmpdir(), 'tamis-web-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

// Whether the help of a command contains a word; false in builds without the command.
export function can(words, word) {
  try {
    return native([...words, '--help']).includes(word);
  } catch {
    return false;
  }
}

// Starts `tamis guard serve` on a directory until the end of the test, and returns its address.
export async function serveNative(t, directory) {
  const child = spawn(command, ['guard', 'serve', directory, '--port', '0'],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill());
  let said = '';
  const url = await new Promise((done) => {
    const hear = (data) => {
      said += data;
      const found = said.match(/http:\/\/[\d.:[\]]+/);
      if (found) done(found[0]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', () => done(undefined));
  });
  if (!url) throw new Error(said);
  return url;
}

export const golden = (name) => new Uint8Array(readFileSync(join(source, 'tests/golden', name)));

// A seeded generator, so that tests fail in the same way twice.
export function random(seed) {
  let x = BigInt(seed);
  return (below) => {
    x = BigInt.asUintN(64, x + 0x9e3779b97f4a7c15n);
    let z = BigInt.asUintN(64, (x ^ x >> 30n) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ z >> 27n) * 0x94d049bb133111ebn);
    return Number((z ^ z >> 31n) % BigInt(below));
  };
}

// The recipes of tests/support/golden.h: name, plan, number of keys, and the remaining fields.
function allRecipes() {
  const text = readFileSync(join(source, 'tests/support/golden.h'), 'utf8');
  const found =
    text.matchAll(/\{"([\w-]+\.tamis)",\s*GOLDEN_PLAN\(([^)]*)\),\s*(\d+),\s*([A-Z_0-9| ]+)\}/g);
  return Array.from(found, ([, name, fields, keys, also]) => {
    const plan = {};
    for (const [, field, value] of fields.matchAll(/\.(\w+) = ([\w.* ]+)/g)) {
      const word = value.trim();
      if (field === 'kind' || field === 'inner_kind') {
        plan[field === 'kind' ? 'kind' : 'innerKind'] =
          word.replace('TAMIS_', '').replace('VALUE_MAP', 'MAP').toLowerCase();
      } else if (field === 'flags') {
        plan[word.replace('TAMIS_', '').toLowerCase().replace('hash_caller', 'callerHashes')] =
          true;
      } else if (field === 'seed') {
        plan.seed = 0x0123456789abcdefn;
      } else if (field === 'encoding') {
        plan.encoding = word.replace('TAMIS_KEYS_', '').toLowerCase().replace('int64', 'int64le');
      } else {
        plan[{ cell_bits: 'cellBits', key_width: 'keyWidth' }[field] ?? field] = word.split('*')
          .reduce((a, b) => a * Number(b), 1);
      }
    }
    return { name, plan, keys: Number(keys), also: also.replaceAll('GOLDEN_', '').split(/[ |]+/) };
  });
}

// Those of filters, except private ones.
const SKETCHES = ['count_min', 'count_sketch', 'tally', 'top', 'signed_tally', 'distinct'];
export const recipes = () => allRecipes().filter(({ plan, also }) =>
  !SKETCHES.includes(plan.kind) && !SKETCHES.includes(plan.innerKind) &&
  !also.includes('RELEASED'));

// Those of distinct sketches and windows of them.
export const distinctRecipes = () => allRecipes().filter(({ plan }) =>
  [plan.kind, plan.innerKind].includes('distinct'));
