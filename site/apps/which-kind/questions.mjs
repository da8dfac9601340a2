// The questions and where they lead. A question has answers, and an answer leads to the next
// question or to a kind, with the reason. No way has more than five questions.

const BUILD = (options) => `tamis build ${options} -o set.tamis list.txt`;

// The reason why a kind is recommended, and the line to paste.
export const OUTCOMES = {
  blocked: ['All bits of a key are in one cache line, so that a query takes one access to ' +
    'memory. It is the default.', BUILD('--items 1M --fpr 1%')],
  'blocked-compact': ['The bits of a key may be anywhere in its cache line. This saves 2 % of ' +
    'the space at a rate of 1 %, more at lower rates, and takes more time.',
  BUILD('--compact --items 1M --fpr 1%')],
  bloom: ['The classic filter keeps the size of its formula at low rates too, while blocked ' +
    'needs more and more. With one probe (--k 1) it is a bitmap, which other programs can read.',
  BUILD('--kind bloom --items 1M --fpr 0.001%')],
  'bloom-transfer': ['Few of its bits are set, so that its packed file is small: 8.1 bits per ' +
    'item at 1 %. In memory it is large, and keys can still be added.',
  `${BUILD('--for-transfer --items 1M --fpr 1%')} && tamis pack -o set.packed set.tamis`],
  cuckoo: ['It keeps a fingerprint of each key, which can be removed again. It is the smallest ' +
    'kind that can, but an add can fail if the filter is full, and two of them cannot be merged.',
  BUILD('--kind cuckoo --items 1M --fpr 1%')],
  counting: ['Counters replace the bits, so that a removed key leaves nothing behind, adds never ' +
    'fail and filters can be merged. It takes four times the space.',
  BUILD('--kind counting --items 1M --fpr 1%')],
  pair: ['One filter has the added keys and one the removed ones. A member can be missed if it ' +
    'looks like a removed key, so choose it only where that is harmless.',
  BUILD('--kind pair --items 1M --fpr 1%')],
  growing: ['It doubles its tables while keys arrive, and keeps the false-positive rate with any ' +
    'number of them. Keys can be removed if it is built with --removable.',
  BUILD('--kind growing --fpr 1%')],
  window: ['It has several generations of filters. A rotation forgets the oldest, so that it ' +
    'answers for the last hour or the last million keys.',
  BUILD('--kind window --generations 4 --items 1M --fpr 1%')],
  ribbon: ['It is built from all its keys at once, and is nearly as small as any structure can ' +
    'be. It never changes.', BUILD('--kind ribbon --fpr 1%')],
  fuse: ['It looks at three cells for each key, which is fast on every machine. It is a little ' +
    'larger than ribbon, and never changes.', BUILD('--kind fuse --fpr 1%')],
  map: ['It returns a value of 1 to 32 bits for each key of a set that never changes. The rare ' +
    'non-member that it takes for a member gets an arbitrary value.',
  'tamis build --kind map --value-field 2 --fpr 1% -o set.tamis values.tsv'],
  exact: ['A second structure corrects the first, so that it is never wrong about the keys that ' +
    'you list, members or not.', BUILD('--never never.txt --fpr 1%')],
  private: ['It is a copy with randomly flipped bits, so that nobody can be sure who is in the ' +
    'set. Its answers are evidence and not verdicts: it can miss members as well.',
  `${BUILD('--kind bloom --k 1 --items 1M --fpr 10%')} && ` +
    'tamis release --epsilon 2 -o public.tamis set.tamis'],
  distinct: ['It is exact for small numbers, and then has an error that you choose: 1 % in 8 KB.',
    'tamis distinct --error 1% list.txt'],
  top: ['It keeps the most frequent keys themselves, with a lower and an upper bound of their ' +
    'counts.', 'tamis top -n 10 list.txt'],
  tally: ['It estimates the count of any key, and is never too low. Its counters have one ' +
    'byte, and grow where they must.',
  'tamis count -o counts.tamis list.txt && tamis freq counts.tamis ann'],
  'signed-tally': ['Weights of either sign add up, so that corrections and refunds are counted ' +
    'too. Its counts can be too low as well as too high.',
  'tamis count --kind signed-tally -o counts.tamis list.txt && tamis freq counts.tamis ann'],
};

const to = (kind) => ({ kind });

export const QUESTIONS = {
  ask: { text: 'What do you want to know?', answers: {
    seen: ['Have I seen this key?', 'membership of a set', 'change'],
    often: ['How often did it occur?', 'counts', 'list'],
    distinct: ['How many distinct keys were there?', 'like sort -u | wc -l', to('distinct')],
    value: ['Which value belongs to this key?', 'a category, a shard, a version', to('map')],
  } },
  list: { text: 'Do you want the most frequent keys themselves?', answers: {
    yes: ['Yes, a list of them', 'like sort | uniq -c | sort -rn | head', to('top')],
    no: ['No, the count of any key', 'I will ask about keys that I know', 'signs'],
  } },
  signs: { text: 'Can weights be negative?', answers: {
    yes: ['Yes', 'corrections, refunds, the difference of two streams', to('signed-tally')],
    no: ['No, counts only rise', '', to('tally')],
  } },
  change: { text: 'Does the set change after it is built?', answers: {
    yes: ['Yes', 'keys come or go later', 'remove'],
    no: ['No', 'all keys are there when it is built', 'publish'],
  } },
  publish: { text: 'Do you publish it, although its members are private?', answers: {
    yes: ['Yes', 'nobody may learn for certain who is in it', to('private')],
    no: ['No', '', 'wrong'],
  } },
  wrong: { text: 'Are there keys for which a wrong “maybe” must not happen?', answers: {
    yes: ['Yes, and I can list them', 'important sites on no blocklist', to('exact')],
    no: ['No', 'a wrong “maybe” is rare, and that suffices', 'simd'],
  } },
  simd: { text: 'Where will it be queried?', answers: {
    usual: ['On usual computers', 'the smallest file', to('ribbon')],
    small: ['On machines without SIMD', 'small processors, or in a browser', to('fuse')],
  } },
  remove: { text: 'Do you need to remove keys?', answers: {
    no: ['No, keys are only added', '', 'known'],
    chosen: ['Yes, keys that I name', '', 'guarantee'],
    old: ['Yes, the oldest ones', '“seen in the last hour?”', to('window')],
  } },
  guarantee: { text: 'What matters most when keys are removed?', answers: {
    space: ['Little space, or a low rate', 'an add may fail if the filter is full', to('cuckoo')],
    never: ['That adds never fail', 'the classic guarantee, and filters that merge',
      to('counting')],
    harmless: ['Less space than counters; a rare miss is harmless', 'two filters of bits',
      to('pair')],
  } },
  known: { text: 'Do you know how many keys there will be?', answers: {
    yes: ['Yes, at least roughly', '', 'matters'],
    no: ['No', 'a hundred or a hundred million', to('growing')],
  } },
  matters: { text: 'What matters most?', answers: {
    speed: ['Speed', '', to('blocked')],
    space: ['Slightly less space, at less speed', '', to('blocked-compact')],
    rate: ['A low rate, or a bitmap', 'below 1 in 10,000, or one bit for each key', to('bloom')],
    sending: ['Sending it again and again', 'a set that keeps changing, over a network',
      to('bloom-transfer')],
  } },
};

// Returns the way that these answers, a Map by the names of questions, lead: the questions in
// order, and the kind or undefined.
export function wayOf(answers) {
  const way = [];
  let name = 'ask';
  for (;;) {
    way.push(name);
    const answer = QUESTIONS[name].answers[answers.get(name)];
    if (answer === undefined) return { way };
    const next = answer[2];
    if (typeof next === 'object') return { way, kind: next.kind };
    name = next;
  }
}
