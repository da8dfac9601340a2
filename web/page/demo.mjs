// A demonstration list for a page without a server. Its names are reserved and lead nowhere (RFC
// 2606). It is queried like a server, with four bytes of a hash, from the page's own memory.
import { Guard } from './guard.mjs';
import { Tamis, sha256, start } from './core.mjs';

// The list, as the expressions of hosts and paths by which URLs are looked up.
const LIST = {
  malware: ['thisisavirus.example/', 'downloads.example/free/codec.exe', 'bad.example/',
    'mirror.test/cracks/', 'update-now.example/', 'toolbar.test/', 'wincleaner.example/setup/',
    'freeram.example/', 'fonts-pack.test/', '203.0.113.66/'],
  phishing: ['totallynotsuspicious.example/', 'bank-login.example/secure/', 'bad.example/',
    'prize.test/claim?you=won', 'paypa1.example/', 'account-verify.test/',
    'parcel.example/track/', 'webmail.test/signin.php', 'tax-refund.example/',
    'evil.example/login'],
};
// Far too high for a real list, so that a false positive can be seen.
const RATE = 0.05;

export const SAMPLES = [
  ['a clean one', 'http://www.example.org/news/today.html'],
  ['a listed one', 'HTTP://WWW.ThisIsAVirus.example:80/./index.html#top'],
  ['a disguised one', 'http://user@%62ad.example/a/../%2565vil'],
  ['a false positive', 'http://sailing.example/'],
  ['not a URL', 'mailto:someone@example.org'],
];

export const entries = new Set(Object.values(LIST).flat()).size;

// `asked` is called for every request that a server would have received.
export async function demoGuard(asked) {
  await start();
  const encoder = new TextEncoder(), labels = new Map();
  for (const [label, expressions] of Object.entries(LIST))
    for (const expression of expressions) {
      const hash = sha256(encoder.encode(expression));
      labels.set(hash, [...labels.get(hash) ?? [], label]);
    }
  const filter = await Tamis.create({ kind: 'bloom', items: entries, fpr: RATE });
  for (const hash of labels.keys())
    filter.add(Uint8Array.from(hash.match(/../g), (pair) => parseInt(pair, 16)));
  const image = filter.save();
  filter.close();
  const confirm = (prefixes) => {
    asked(prefixes);
    const hashes = [...labels.keys()].filter((hash) => prefixes.includes(hash.slice(0, 8)));
    return { hashes, labels: hashes.map((hash) => labels.get(hash)), cache_seconds: 300 };
  };
  return { guard: await Guard.load({ filter: image, confirm, version: 1 }), bytes: image.length };
}
