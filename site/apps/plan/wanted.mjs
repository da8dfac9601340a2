// What the user wants, from texts to numbers.
import { parseCount, parseRate, parseShare } from '../apps/numbers.mjs';

const count = (what) => ({ parse: parseCount, what });
const COUNT = 'a whole number of at least 1, like 1000000, 1M or 1e6';
const RATE = 'a rate between 0 and 1, like 0.01, 1% or 1/100';
const ERROR = 'an error above 0 and below 1, like 1% or 1e-4';

// By the names in the address, which are those of the command's options where it has them.
export const FILTER_FIELDS = {
  items: count(`${COUNT}`),
  fpr: { parse: (text) => parseRate(text, 1), what: RATE },
  bytes: count('a size in bytes of at least 1, like 2000000, 2MB or 2MiB'),
  headroom: { parse: parseShare, what: 'a share, like 50% or 0.5' },
  'value-bits': count(COUNT), 'never-items': count(COUNT), generations: count(COUNT),
  'counter-bits': count(COUNT),
};
export const SKETCH_FIELDS = {
  error: { parse: parseRate, what: ERROR }, 'count-error': { parse: parseRate, what: ERROR },
  delta: { parse: parseRate, what: 'a probability between 0 and 1, like 1%' },
  memory: count('a size in bytes of at least 1, like 64KiB or 1MB'),
};
export const FIELDS = { ...FILTER_FIELDS, ...SKETCH_FIELDS };

const MOST_TEXT = 80; // characters of a number

// What is shown of a text that a stranger may have put into an address.
export const excerpt = (text) => (text.length > 30 ? `${text.slice(0, 30)}…` : text);

// Returns two objects by the names of fields: the numbers, and the reasons why other texts are not
// numbers.
export function read(texts) {
  const wanted = {}, wrong = {};
  for (const [name, { parse, what }] of Object.entries(FIELDS)) {
    const text = (texts.get(name) ?? '').trim();
    if (text === '') continue;
    const value = text.length <= MOST_TEXT ? parse(text) : undefined;
    if (value === undefined) wrong[name] = `“${excerpt(text)}” is not ${what}`;
    else wanted[name] = value;
  }
  return { wanted, wrong };
}
