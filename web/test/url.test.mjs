// Canonical URLs, expressions and hashes: the vectors of the C tests, read from their sources.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Guard, Tamis, core, source } from './help.mjs';

// Strings of C, adjacent literals joined, as bytes.
function unquoted(text) {
  const bytes = [];
  const escapes = { t: 9, n: 10, r: 13, '\\': 92, '"': 34, 0: 0 };
  for (const [, piece] of text.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
    for (const [letter, byte] of piece.matchAll(/\\x([0-9a-fA-F]{1,2})|\\.|[^\\]/g)) {
      if (byte) bytes.push(parseInt(byte, 16));
      else bytes.push(...(letter[0] === '\\' ? [escapes[letter[1]]] : Buffer.from(letter)));
    }
  }
  return Uint8Array.from(bytes);
}

function vectors(table) {
  const text = readFileSync(join(source, 'tests/guard/test_guard_url.c'), 'utf8');
  const body = text.slice(text.indexOf(`${table}[] = {`))
    .match(/\{\n([^]*?)\n\};/)[1].replace(/\/\*[^]*?\*\//g, '');
  const string = '(?:"(?:[^"\\\\]|\\\\.)*"\\s*)+';
  return Array.from(body.matchAll(new RegExp(`\\{\\s*(${string}),\\s*(${string}|NULL)\\s*\\}`,
    'g')), ([, input, wanted]) => ({
    input: unquoted(input), wanted: wanted === 'NULL' ? unquoted(input) : unquoted(wanted),
  }));
}

const guard = await Guard.load({ filter: (await Tamis.create({ items: 1, fpr: 0.01 })).save() });

function canonical(url) {
  const bytes = core.put(url);
  assert.ok(core.c.url(core.room, bytes) > 0);
  return core.text(core.c.urlText());
}

test('the 33 published vectors, and ours', () => {
  assert.equal(vectors('published').length, 33);
  assert.ok(vectors('ours').length > 80);
  for (const { input, wanted } of [...vectors('published'), ...vectors('ours')]) {
    const url = Buffer.from(wanted).toString('latin1');
    assert.equal(canonical(input), url, Buffer.from(input).toString('latin1'));
    // One of them is a name that no browser visits.
    if (url === 'http://%01%80.com/') assert.match(guard.look(input).reason, /no browser/);
    else assert.equal(guard.look(input).url, url);
  }
});

test('the published expressions', () => {
  const of = (url) => guard.look(url).expressions.map((e) => e.expression);
  assert.deepEqual(of('http://a.b.c/1/2.html?param=1'),
    ['a.b.c/1/2.html?param=1', 'a.b.c/1/2.html', 'a.b.c/', 'a.b.c/1/',
    'b.c/1/2.html?param=1', 'b.c/1/2.html', 'b.c/', 'b.c/1/']);
  assert.deepEqual(of('http://a.b.c.d.e.f.g/1.html'),
    ['a.b.c.d.e.f.g/1.html', 'a.b.c.d.e.f.g/', 'c.d.e.f.g/1.html',
    'c.d.e.f.g/', 'd.e.f.g/1.html', 'd.e.f.g/', 'e.f.g/1.html', 'e.f.g/', 'f.g/1.html', 'f.g/']);
  assert.deepEqual(of('http://1.2.3.4/1/'), ['1.2.3.4/1/', '1.2.3.4/']);
  assert.equal(of(`http://a.b.c.d.e.f/1/2/3/4/5/6?q=${'x'.repeat(9000)}`).length, 30);
});

test('a doubt is not clean', async () => {
  for (const url of ['http://a.com℀.evil.com/', 'http:\\\\bücher.de/', 'http://\ufffd.de/'])
    assert.equal((await guard.check(url)).verdict, 'no-url');
});

test('what is not a URL has a reason', () => {
  for (const [url, reason] of [['javascript:alert(1)', /only http, https and ftp/], ['', /./],
    ['http://', /./],
    ['http://a:b:c/', /./], ['http://[::g]/', /IPv6/], ['about:blank', /./]]) {
    assert.match(guard.look(url).reason, reason, url);
    assert.deepEqual(guard.look(url).expressions, []);
  }
});

test('international names as browsers write them', () => {
  for (const [url, wanted] of [['http://Bücher.de/ü', 'http://xn--bcher-kva.de/%C3%BC'],
    ['faß.de', 'http://xn--fa-hia.de/'],
    ['http://b%C3%BCcher.de/', 'http://xn--bcher-kva.de/'],
    ['http://b%25c3%25bccher.de/', 'http://xn--bcher-kva.de/'],
    ['http://例。jp/', 'http://xn--fsq.jp/'],
    // Tabs, line ends and spaces, wherever they are.
    ['ht\ttp://bücher.de/z', 'http://xn--bcher-kva.de/z'],
    ['\n\x01 h\r\nttps:/\t/bü\tcher.de/z\x1f ', 'https://xn--bcher-kva.de/z'],
    ['\x00\x1f bücher.de', 'http://xn--bcher-kva.de/'],
    // Schemes, users and ports.
    ['HTTP://BÜCHER.DE:80/z', 'http://xn--bcher-kva.de/z'],
    ['FTP://bücher.de:2121/z', 'ftp://xn--bcher-kva.de/z'],
    ['a@bücher.de:8080/z', 'http://xn--bcher-kva.de/z'],
    ['http%3A%2F%2Fbücher.de/z', 'http://xn--bcher-kva.de/z'],
    ['http://ü:ü@evil.de@bücher.de/z', 'http://xn--bcher-kva.de/z'],
    ['http://bücher.de?ü\\#ü', 'http://xn--bcher-kva.de/?%C3%BC\\'],
    // Wide letters, dots and digits, and ignored characters.
    ['http://ｅｖｉｌ．example/', 'http://evil.example/'],
    ['http://１２７．0.0.１/', 'http://127.0.0.1/'],
    ['http://ev\u2064il\ufe0f.exam\u00adple/', 'http://evil.example/'],
    ['http://🙂．evil．example/', 'http://xn--938h.evil.example/'],
    ['http://-a｡evil｡example/', 'http://-a.evil.example/'],
    ['http://bücher.de/a\\..\\b%2Fc/../d', 'http://xn--bcher-kva.de/d']]) {
    assert.equal(guard.look(url).url, wanted, url);
    assert.equal(guard.look(new TextEncoder().encode(url)).url, wanted, `${url} as bytes`);
  }
  // Older versions of Node refuse characters that browsers ignore.
  for (const url of ['http://e\u180evil.example/', 'http://ev\u2061il.example/'])
    assert.ok(guard.look(url).reason || guard.look(url).url === 'http://evil.example/');
  // Nothing that browsers visit under another name passes as it is.
  for (const url of ['http:\\\\bücher.de/z', 'http:/bücher.de/z', 'http:bücher.de/z',
    '//bücher.de/z', 'http:///bücher.de/z', 'http://bücher.de\\z', 'ｈｔｔｐ://bücher.de/z',
    '\u180ehttp://bücher.de/z', 'http://bücher.de／z', 'http://a＠bücher.de/',
    'http://bücher.de：80/', 'http://\ud800.de/', 'ws://bücher.de/', 'http://FAẞ.de/',
    'ht\ttp:bücher.de/z', Uint8Array.from([...Buffer.from('http://b'), 0xfc])]) {
    assert.match(guard.look(url).reason, /./, String(url));
    assert.deepEqual(guard.look(url).expressions, []);
  }
  assert.match(guard.look('http://a.com℀.evil.com/').reason, /./);
    // which would be a page of a.com
});

test('SHA-256', () => {
  const hash = (text) => core.sha256(new TextEncoder().encode(text));
  assert.equal(hash('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  assert.equal(hash(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  assert.equal(hash('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'),
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1');
  assert.equal(hash('a'.repeat(1e6)),
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0');
  for (let n = 0; n < 300; n++)
    assert.equal(hash('x'.repeat(n)), createHash('sha256').update('x'.repeat(n)).digest('hex'));
  for (const { expression, hash: ours } of guard.look('http://a.b.c/1/2.html?param=1').expressions)
    assert.equal(ours, createHash('sha256').update(expression).digest('hex'));
});
