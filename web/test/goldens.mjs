// What the golden images promise, for any place where the package runs: Node and Chromium run the
// same checks. `read` returns the bytes of a golden image; anything wrong is an exception.

export const MADE_HERE = ['bloom', 'partitioned', 'blocked', 'counting', 'fuse'];
export const secret = Uint8Array.from({ length: 16 }, (_, i) => i);
export const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [],
  (pair) => parseInt(pair, 16));
export const keyOf = (recipe) => (recipe.also.includes('KEYED') ? { key: secret } : {});

function must(right, what) {
  if (!right) throw new Error(what);
}

const equal = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

export const widthOf = ({ encoding, keyWidth = 0 }) => ({ int64le: 8, sha256: 32 }[encoding] ??
  keyWidth);

// tests/support/golden.h: golden_key_of.
export function goldenKey(i, plan = {}) {
  const lengths = [4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 4, 4, 4];
  if (i === 0 && !widthOf(plan)) return new Uint8Array(0);
  const n = widthOf(plan) || (i % 64 === 61 ? 129 : i % 64 === 62 ? 241 : lengths[i % 16]);
  const key = Uint8Array.from({ length: n }, (_, b) => (i * 7 + b * 13) & 255);
  new DataView(key.buffer).setUint32(0, i, true);
  return key;
}

// Checks that every image answers as before; `text` is tests/golden/answers.txt. Returns how many
// did.
export async function answers(Tamis, recipes, read, text) {
  const known = new Set(recipes.map((r) => r.name));
  const images = text.split(/^image /m).slice(1)
    .filter((part) => known.has(part.split(/[ \n]/)[0]));
  let maybes = 0;
  must(images.length === recipes.length, `${images.length} images of ${recipes.length}`);
  for (const part of images) {
    const [head, ...lines] = part.trimEnd().split('\n');
    const [name, key] = head.split(' ');
    const t = await Tamis.load(await read(name), key ? { key: bytesOf(key) } : {});
    const own = t.info().hash === 'own';
    must(lines.length === 128, name);
    for (const line of lines) {
      const [word, hex, answer] = line.split(' ');
      const bytes = hex === '-' ? new Uint8Array(0) : bytesOf(hex);
      must((own ? t.hasHash(bytes) : t.has(bytes)) === (answer === '1'), `${name}: ${line}`);
      if (word === 'not' && answer === '1') maybes++;
    }
    t.close();
  }
  must(maybes > 0, 'false positives are part of the promise');
  return images.length;
}

// Checks that a loaded image is saved as the same bytes and reports its facts.
export async function savedAgain(Tamis, recipes, read) {
  for (const recipe of recipes) {
    const image = await read(recipe.name), t = await Tamis.load(image, keyOf(recipe));
    must(equal(t.save(), image), `${recipe.name}: other bytes`);
    const { kind, bytes, seed, sealed, readOnly, encoding, keyWidth } = t.info();
    must(encoding === recipe.plan.encoding, `${recipe.name}: ${encoding}`);
    must(keyWidth === widthOf(recipe.plan), `${recipe.name}: ${keyWidth} bytes a key`);
    must(kind === recipe.plan.kind, `${recipe.name}: ${kind}`);
    must(bytes === image.length, `${recipe.name}: ${bytes} bytes`);
    must(seed === BigInt(recipe.plan.seed ?? 0), `${recipe.name}: seed ${seed}`);
    must(sealed === recipe.also.includes('SEALED'), `${recipe.name}: sealed is ${sealed}`);
    must(readOnly === (sealed || !MADE_HERE.includes(kind)),
      `${recipe.name}: readOnly is ${readOnly}`);
    t.close();
  }
  return recipes.length;
}

// Checks that images which can be made here are made byte for byte. Returns how many were.
export async function made(Tamis, recipes, read) {
  let count = 0;
  for (const recipe of recipes) {
    const { name, plan, keys, also } = recipe;
    if (!MADE_HERE.includes(plan.kind) || also.includes('MERGED') || plan.callerHashes) continue;
    let t = await Tamis.create({ ...plan, ...keyOf(recipe) });
    const gone = Array.from({ length: also.includes('REMOVED') ? 40 : 0 },
      (_, i) => goldenKey(500000000 + i, plan));
    t.addMany(gone);
    for (let i = 0; i < Math.floor(keys / 2); i++) t.add(goldenKey(i, plan));
    if (also.includes('AGAIN')) t = await Tamis.load(t.save(), keyOf(recipe));
    for (let i = Math.floor(keys / 2); i < keys; i++) t.add(goldenKey(i, plan));
    for (const key of gone) t.remove(key);
    if (also.includes('SEALED')) t.seal();
    must(equal(t.save(), await read(name)), `${name}: other bytes`);
    count++;
  }
  return count;
}

// --- Distinct sketches ---

// Checks that every image of distinct sketches and their windows counts as before and is saved as
// the same bytes; `text` is tests/golden/distinct.txt. Returns how many did.
export async function counted(Distinct, recipes, read, text) {
  const said = new Map(text.split(/^image /m).slice(1).map((part) => part.trim().split('\n')));
  must(said.size === recipes.length, `${said.size} images of ${recipes.length}`);
  for (const recipe of recipes) {
    const image = await read(recipe.name), t = await Distinct.load(image, keyOf(recipe));
    const [value, low, high] = said.get(recipe.name).split(' ').map(Number), n = t.interval();
    must(n.count === Math.round(value) && n.low === low && n.high === high,
      `${recipe.name}: ${n.count}, ${n.low} to ${n.high}`);
    must(t.count() === n.count && n.exact === (low === high), recipe.name);
    must(equal(t.save(), image), `${recipe.name}: other bytes`);
    t.close();
  }
  return recipes.length;
}

// Checks that sketches are made byte for byte, in this order of the keys and in the reverse one.
// Returns how many were.
export async function sketched(Distinct, recipes, read) {
  let count = 0;
  for (const recipe of recipes.filter(({ plan }) => plan.kind === 'distinct')) {
    const { name, plan, also } = recipe, options = { ...plan, ...keyOf(recipe) };
    delete options.kind;
    const keys = Array.from({ length: recipe.keys }, (_, i) => goldenKey(i, plan));
    const half = Math.floor(keys.length / 2);
    for (const order of [keys, keys.slice().reverse()]) {
      let t = await Distinct.create(options);
      t.addMany(order.slice(0, half));
      if (also.includes('AGAIN')) t = await Distinct.load(t.save(), keyOf(recipe));
      if (also.includes('MERGED'))
        t.merge((await Distinct.create(options)).addMany(order.slice(half)));
      else t.addMany(order.slice(half));
      must(equal(t.save(), await read(name)), `${name}: other bytes`);
    }
    count++;
  }
  return count;
}
