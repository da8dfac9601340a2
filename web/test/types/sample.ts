// Compiled by tsc --strict against tamis.d.ts, never run: what users write must compile, and wrong
// uses must not.
import { Guard, Tamis, TamisError } from 'tamis';
import type { Confirmation, Facts, GuardParts, Refusal, Signed, Verdict } from 'tamis';
import { Distinct, TamisError as SketchError } from 'tamis/distinct';
import type { DistinctPlan, Interval } from 'tamis/distinct';
import { Distinct as InlineDistinct } from 'tamis/distinct/inline';
import { Tamis as Inline } from 'tamis/inline';

export async function filters(response: Response): Promise<number> {
  const t: Tamis = await Tamis.load(response, { maxBytes: 1 << 20 });
  const made = await Tamis.create({ kind: 'counting', items: 100, fpr: 0.01, seed: 5n,
    key: new Uint8Array(16) });
  made.addMany(['a', new Uint8Array(3)]).seal();
  const isNew: boolean = made.add('b'), many: boolean[] = t.hasMany(new Set(['a']));
  const facts: Facts = made.info(), image: Uint8Array = made.save();
  const { packedBytes } = await Tamis.plan({ items: 5, bytes: 100 });
  (await Inline.load(fetch('/a'))).close();
  await Tamis.load(new URL('https://a.example/'));
  await Tamis.load(new Blob([image.slice()]));
  return isNew && many[0] ? packedBytes : facts.fprNow;
}

export function why(e: unknown): string {
  return e instanceof TamisError ? `${e.status} ${e.offset ?? ''} ${e.betterKind ?? ''}` : '';
}

export async function urls(parts: GuardParts): Promise<Verdict['verdict']> {
  const confirm = async (prefixes: string[]): Promise<Confirmation> =>
    ({ hashes: prefixes, labels: [['x']], cache_seconds: 1 });
  const guard = await Guard.load({ ...parts, confirm }, { timeout: 1, clock: () => 0 });
  const { changed, version } = await guard.update();
  if (changed && version !== guard.version && guard.stale) guard.close();
  const again = await Guard.load(guard.save());
  return again.look('x').expressions[0].maybe ? 'clean'
    : (await guard.check('http://a.example/', { insist: true })).verdict;
}

export async function signedUrls(text: string): Promise<Refusal | undefined> {
  const guard = await Guard.load('https://a.example/', { publicKeys: [text] as const });
  const signed: Signed | undefined = guard.signed, expired: boolean = guard.expired;
  const until = new Date(1000 * (signed?.expires ?? 0));
  const [by]: readonly string[] = signed?.keys ?? [];
  const again = Guard.load({ ...guard.save(), manifest: guard.save().manifest },
    { publicKeys: [text], accepted: signed });
  return again.then(() => undefined, (e: unknown) =>
    e instanceof TamisError && expired && by < until.toISOString() ? e.refusal : undefined);
}
// @ts-expect-error Public keys are a list.
export const oneKey = () => Guard.load('https://a.example/', { publicKeys: 'RW' });
// @ts-expect-error What is remembered can be read, not set.
export const forget = (g: Guard) => { g.signed = undefined; };

export async function distinct(plan: DistinctPlan): Promise<number> {
  const t: Distinct = await Distinct.create({ ...plan, error: 0.01, key: new Uint8Array(16) });
  const isNew: boolean = t.addMany(['a', 5, 5n, new Uint8Array(3)]).add('b');
  const other = await Distinct.load(fetch('/a'), { keyless: true, maxBytes: 1 << 20 });
  const { count, low, high, confidence, error, exact }: Interval = t.merge(other).interval();
  const image: Uint8Array = t.save();
  (await InlineDistinct.load(image)).close();
  if (new Error() instanceof SketchError) return 0;
  return isNew && exact ? t.count() : count + low + high + confidence + error;
}
// @ts-expect-error A sketch cannot be asked about a key.
export const noAnswer = (t: Distinct) => t.has('a');
// @ts-expect-error The error is a number.
export const wrongError = () => Distinct.create({ error: '1%' });
// @ts-expect-error Only sketches can be merged.
export const wrongMerge = (t: Distinct, filter: Tamis) => t.merge(filter);

export const numbers = (t: Tamis) => t.has(5) && t.has(5n);
export const values = (t: Tamis): (number | undefined)[] => [t.value(5), t.value('a')];
export const labels = (g: Guard, v: Verdict): (string | undefined)[] =>
  [...(v.likely ?? []), ...g.look('a').expressions.map((e) => e.label)];
// @ts-expect-error A key may have no value.
export const sure = (t: Tamis): number => t.value('a');
// @ts-expect-error A key is a string, bytes or an integer.
export const wrongKey = (t: Tamis) => t.has(true);
// @ts-expect-error A URL is a string or bytes.
export const wrongUrl = (g: Guard) => g.look(5);
// @ts-expect-error There is no such kind.
export const wrongKind = () => Tamis.create({ kind: 'blooom', items: 1, fpr: 0.1 });
// @ts-expect-error Filters come from create and load.
export const wrongWay = () => new Tamis();
// @ts-expect-error A verdict is one of four words.
export const wrongVerdict = (v: Verdict) => v.verdict === 'bad';
// @ts-expect-error A version can be read, not set.
export const wrongSet = (g: Guard) => { g.version = 5; };
