// Every kind of filter and sketch that the pages show. `use` is the sentence of the table in
// docs/KINDS.md, which a test compares.

// Numbers of kinds, flags and bounds: <tamis/tamis.h>, <tamis/inspect.h>.
export const COMPACT = 4, TRANSFER = 16;
export const BOUNDS = ['none', 'static', 'dynamic', 'two-set'];

// Fields besides: `label` is what the command is given, `sealed` that all keys come at once,
// `needs` the inputs that only some kinds have, `command` what `tamis plan` is given besides them.
export const FILTERS = [
  { id: 'blocked', number: 3, use: 'speed' },
  { id: 'blocked-compact', number: 3, flags: COMPACT, label: 'blocked --compact',
    command: ['--kind', 'blocked', '--compact'], use: 'slightly less space, at less speed' },
  { id: 'bloom', number: 1, use: 'low rates, teaching, bitmaps (k = 1)' },
  { id: 'bloom-transfer', number: 1, flags: TRANSFER, label: 'bloom --for-transfer',
    command: ['--for-transfer'], use: 'sending sets that keep changing' },
  { id: 'partitioned', number: 2, use: 'teaching: the form that lectures show' },
  { id: 'cuckoo', number: 8, use: 'removing keys; low rates' },
  { id: 'counting', number: 4, needs: ['counter-bits'],
    use: 'removing keys with the classic guarantee' },
  { id: 'pair', number: 5, use: 'removing keys, when a rare miss is harmless' },
  { id: 'growing', number: 6, use: 'a set of unknown size' },
  { id: 'window', number: 7, needs: ['generations'], use: '"seen in the last hour?"' },
  { id: 'ribbon', number: 10, sealed: true, use: 'the smallest file for a set that never changes' },
  { id: 'fuse', number: 9, sealed: true,
    use: 'sets that never change, on machines without SIMD' },
  { id: 'map', number: 13, sealed: true, needs: ['value-bits'], command: ['--kind', 'map'],
    use: 'categories, shards, versions of keys that never change' },
  { id: 'exact', number: 11, sealed: true, needs: ['never-items'],
    use: 'sets that never change, with no false positives among keys that you list' },
  { id: 'private', number: 1, k: 1, command: ['--kind', 'bloom', '--k', '1'],
    use: 'publishing a set without revealing its members' },
];

export const SKETCHES = [
  { id: 'distinct', number: 48, use: 'how many distinct keys there were' },
  { id: 'top', number: 35, use: 'the most frequent keys, and how often they occurred' },
  { id: 'tally', number: 34, use: 'how often any key occurred; never too low' },
  { id: 'signed-tally', number: 36, use: 'how often, with weights that can be negative' },
  { id: 'count-min', number: 32, use: 'the textbook’s sketch, with its guarantee' },
  { id: 'count-sketch', number: 33, use: 'the same, with errors to both sides' },
];

export const KINDS = new Map([...FILTERS, ...SKETCHES].map((kind) => [kind.id, kind]));
export const isSketch = (kind) => kind.number >= 32;
export const labelOf = (kind) => kind.label ?? kind.id;
