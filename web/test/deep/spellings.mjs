// URLs in the spellings that people, mails and attackers use, made from a seed. Most are valid in
// a browser.
const HOSTS = ['evil.example', 'a.b.evil.example', 'login-page.evil_1.example', 'evil',
  'bücher.example', 'faß.example', 'xn--bcher-kva.example', '例え.テスト',
  'παράδειγμα.example', 'é.example', '한국.example', 'ab--c.example',
  'क्‍ष.example', 'نامه‌ای.example', '1.2.3.4.example', '0x1.example',
  '-a.evil.example'];
const ADDRESSES = [[195, 127, 0, 11], [10, 0, 0, 1], [1, 2, 3, 4], [0, 0, 0, 0],
  [255, 255, 255, 255]];
const ADDRESSES6 = ['[2001:db8::1]', '[2001:0DB8:0:0:0:0:0:1]', '[::1]', '[::ffff:1.2.3.4]',
  '[::FFFF:102:304]', '[64:ff9b::1.2.3.4]', '[1:2:3:4:5:6:7:8]', '[1::8]', '[::]', '[0:0::0:0]',
  '[1:0:0:2:0:0:0:3]', '[::1.2.3.4]', '[fe80::1%25eth0]', '[1:2:3:4:5:6:1.2.3.4]'];
const IGNORED = ['\u00ad', '\u200b', '\u2060', '\u2064', '\ufe0f', '\ufeff', '\u180e', '\u2061',
  '\u115f', '\u3164', '\uffa0', '\u034f', '\u206a', '\u{e0100}', '\u{1d173}', '\u{1bca0}',
  '\u17b4'];
const STOPS = ['.', '。', '．', '｡', '%2e', '%2E', '%E3%80%82', '..'];
const BELOW = ['www.', 'WWW.', '-.', '-a-.', '🙂.', '\u{1cceb}.', 'ẞ.', 'xn--.', 'xn--a.',
  'xn--zzzz.', 'xn--evil-.', 'ü-.', '-ü.', 'ab--ü.', 'א1.', '1א.', '\u0300.', 'a\u200d.',
  'a_b.', '*.', 'a!b.', '\u{20000}.', '\u{30000}.', '㌀.', '⑴.', '⒈', 'ﬀ.', 'ſ.', 'K.',
  'Å.', 'İ.', 'ı.', `${'a'.repeat(63)}.`, `${'ü'.repeat(60)}.`, `${'b'.repeat(64)}.`, '0.',
  '%31.'];
const SCHEMES = ['http', 'https', 'ftp', 'HTTP', 'hTTps', 'ht\ttp', 'h\r\nttp', 'http\t',
  '\thttps'];
const SLASHES = ['://', ':/\t/', ':\n//'];
const WRONG_SLASHES = [':\\\\', ':/\\', ':\\/', ':///', ':////', ':/', ':'];
const USERS = ['user@', 'u:p@', 'a@b@', 'good.example%2F@', 'good.example%3F@', 'good.example%23@',
  'good.example%40@', 'ü:ü@', '%5c@', 'good.example:80@', ':@', '@', '%@', 'a\tb@', '[::1]@',
  '🙂@', 'http%3A%2F%2Fgood.example%2F@', 'a;b=c&d@'];
const PORTS = [':80', ':443', ':8080', ':0080', ':', ':65535', ':0', ':8\t0', ':00000000000000021'];
const JUNK = [' ', '\t', '\r', '\n', '\x00', '\x01', '\x1f', '\x0b', '  \t'];
const WORDS = ['login', 'a', 'b.html', 'index.php', 'x y', 'ü', '%C3%BC', '%c3%bc', 'A%41',
  '%7Euser', '~user', '%', '%%', '%zz', '%4', '%25', '%2541', '%252541', '%00', '%0a', 'a;b',
  'a=b&c', '"', '<>', '|', '^', '`', '{}', '\'', '@', ':', '80:', '[', '+', '*', '🙂',
  '\ud7ff\u{10ffff}', '%FF', '%80', 'é', 'e\u0301', '．．', '…', '...', '..a', 'a..', '.a',
  '.%2ea', '%2e%2e%2e', '', 'c:', 'C|', '%E0%A4%A', 'a%2Fb', 'a%2fb', 'a%5Cb', 'a%3Fb', 'a%23b',
  '%2F', '%252F', '%255C', '%252e', '%252e%252e', '%25252e', '..%2F', '..%5c', '%2e%2e%2f', '.%00.',
  '\u00ad', '。'];
const DOTS = ['.', '..', '..', '..', '%2e', '%2E%2e', '.%2e', '%2e.', '%2E'];
const BETWEEN = ['/', '/', '/', '/', '/', '/', '\\', '//', '/\t', '\\\\', '/\n'];
const QUERIES = ['?', '?a=b', '?a/../b', '?x\\..\\y', '?ü=ü', '?%41%2541', '?a\'b"c<d>', '?a?b',
  '?%23', '?a=http://good.example/', '?a\tb', '? ', '?🙂', '?%', '?%FF', '?/', '?\\', '?&&',
  '?{|}'];
const FRAGMENTS = ['#', '#x', '#/../x?y', '#ü', '#a#b', '# ', '#\\'];

// Where alphabets begin that are mapped to a to z.
const FANCY = [0xff41, 0xff21, 0x24d0, 0x24b6, 0x1d41a, 0x1d44e, 0x1d586, 0x1d68a, 0x1ccd6,
  0x1f130];

// Where blocks begin whose letters are composed, mapped, ignored or refused in labels.
const BLOCKS = [0x80, 0x100, 0x300, 0x380, 0x580, 0x600, 0x900, 0xe00, 0x1100, 0x1e00, 0x1f00,
  0x2000, 0x2100, 0x3000, 0x3300, 0xa640, 0xac00, 0xf900, 0xfb00, 0xfe00, 0xff00, 0x1d400, 0x1f100,
  0x2f800];

const escaped = (text) => [...new TextEncoder().encode(text)]
  .map((b) => `%${b.toString(16).padStart(2, '0')}`).join('');

// `random(n)` returns a number below n.
export function speller(random) {
  const one = (list) => list[random(list.length)];
  const maybe = (chance, list) => random(chance) === 0 ? one(list) : '';
  const times = (most, make) => Array.from({ length: random(most + 1) }, make).join('');

  const letter = (c, effort) => {
    if (random(40) < effort) c += one(IGNORED);
    if (random(12) >= effort) return c;
    const ascii = /^[a-z]$/.test(c), digit = /^[0-9]$/.test(c);
    switch (random(5)) {
      case 0: return c.toUpperCase();
      case 1: return escaped(c);
      case 2: return ascii ? String.fromCodePoint(one(FANCY) + c.charCodeAt(0) - 97) : c;
      case 3: return digit ? String.fromCodePoint(0xff10 + Number(c)) : c.normalize('NFD');
      default: return random(30) === 0 ? `%25${escaped(c).slice(1)}` : c;
    }
  };
  const name = () => {
    const effort = random(4);
    return maybe(3, BELOW) + [...one(HOSTS)].map((c) =>
      c === '.' && random(3) < effort ? one(STOPS) : letter(c, effort)).join('') +
      maybe(10, ['.', '。', '%2e']);
  };
  const number = (n) => {
    switch (random(5)) {
      case 0: return `0x${n.toString(16)}`;
      case 1: return `0X${'0'.repeat(random(12))}${n.toString(16).toUpperCase()}`;
      case 2: return `0${n.toString(8)}`;
      case 3: return n === 0 ? one(['0', '00', '0x']) : `${n}`;
      default: return `${n}`;
    }
  };
  const address = () => {
    const bytes = one(ADDRESSES), parts = 1 + random(4), effort = random(3);
    const values = bytes.slice(0, parts - 1);
    values.push(bytes.slice(parts - 1).reduce((sum, b) => sum * 256 + b, 0) +
      (random(40) === 0 ? 1 : 0));
    return values.map((v) => [...number(v)].map((c) => letter(c, effort)).join(''))
      .join(random(6) === 0 ? one(STOPS) : '.') + maybe(8, ['.', '。', '..']);
  };
  const strange = () => `${maybe(3, ['a', 'ab-'])}${times(4, () =>
    String.fromCodePoint(one(BLOCKS) + random(0x80)))}.evil.example`;
  const host = () => [name, name, name, name, strange, address, address,
    () => one(ADDRESSES6)][random(8)]();
  const path = () => times(5, () => one(BETWEEN) + one(random(3) === 0 ? DOTS : WORDS)) +
    maybe(3, BETWEEN);

  return () => times(1, () => maybe(4, JUNK)) + one(random(4) === 0 ? SCHEMES : ['http', 'https']) +
    one(random(12) === 0 ? WRONG_SLASHES : SLASHES) + maybe(4, USERS) + host() + maybe(5, PORTS) +
    (random(8) === 0 ? '' : (maybe(15, ['\\']) || '/') + path().replace(/^[/\\]/, '')) +
    maybe(3, QUERIES) + maybe(6, FRAGMENTS) + times(1, () => maybe(6, JUNK));
}
