// A malicious list server, for the tests of Node and of the browser. It publishes a small list as
// `tamis guard serve` does, until it is given something else to do:
//
//     server.bodies['/filter'] = BODIES.endless    how a body is delivered, by path
//     server.describe = (m) => ({ ...m, ... })     changes the answer of /v1/update
//     server.answer = (a) => ({ ...a, ... })       changes the answer of /v1/confirm
//     server.publish({ filter: image })            publishes other parts, with correct sums
//
// `requests` records what clients asked for and how many bytes they took.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { brotliCompressSync, constants, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { Tamis } from './help.mjs';

export const sha256 = (data) => createHash('sha256').update(data).digest();
const MIB = 1 << 20;

// An endless body ends here, so that a client without a limit fails a test but not the machine.
export const END = 768 * MIB;

export async function filterOf(names, plan = {}) {
  const t = await Tamis.create({ kind: 'fuse', items: Math.max(names.length, 1), fpr: 0.004,
    ...plan });
  return t.addMany(names.map((name) => sha256(`${name}/`))).seal().save();
}

// A ribbon of three keys, planned for a rate of 0.01, whose cells have been set to zero and whose
// sums have been corrected. It matches every key.
export const RIBBON_OF_ZEROS = gunzipSync(Buffer.from(
  'H4sIAAAAAAACA+sMcfT1DOblYmRgZGhggABGOM3FgAswo9EMDA/u3K1qsUdXx4hGW0AZzxbyF5a7BM4H2QGymx1NHQMO' +
  'PkzAAspVu/FljeyF+QsY6AwAfa7YIDgBAAA=', 'base64'));

// --- Bodies --------------------------------------------------------------------------------------

// Writes the piece again and again, as fast as the client takes it, `end` bytes in all.
function repeat(response, piece, end) {
  let left = Math.ceil(end / piece.length);
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return;
    if (!response.destroyed) response.end();
  };
  response.on('drain', more);
  more();
}

// Deflated zeros that refer to nothing before them, so that they can be repeated without end.
const ZEROS = deflateRawSync(Buffer.alloc(MIB), { level: 9,
  finishFlush: constants.Z_FULL_FLUSH });
// The bombs that cannot be repeated; small beside an endless one, and far above any limit of JSON.
const NOTHING = Buffer.alloc(64 * MIB);
const BROTLI = brotliCompressSync(NOTHING, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const NESTED = gzipSync(gzipSync(NOTHING, { level: 1 }));
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

function send(type, head, body) {
  return (response) => {
    response.writeHead(200, { 'Content-Encoding': type });
    if (head) response.write(head);
    body(response);
  };
}

// Each takes the response, the honest body, and the address of another origin.
export const BODIES = {
  endless: (response) => repeat(response, Buffer.alloc(1 << 16, '['), END),
  bytewise(response) { // one chunk for each byte, which costs a client far more than a byte
    response.writeHead(200, { 'Transfer-Encoding': 'chunked' }).flushHeaders();
    repeat({ // beside the encoding of Node, which would join the chunks
      write: (piece) => response.socket?.write(piece) ?? true,
      on: (...args) => response.socket.on(...args),
      end: () => response.destroy(),
      get destroyed() { return response.destroyed || !response.socket; },
    }, Buffer.from('1\r\n[\r\n'.repeat(10000)), END / 8);
  },
  gzip: send('gzip', GZIP_HEAD, (response) => repeat(response, ZEROS, END / MIB * ZEROS.length)),
  deflate: send('deflate', Buffer.from([0x78, 0x9c]), (response) =>
    repeat(response, ZEROS, END / MIB * ZEROS.length)),
  brotli: send('br', null, (response) => response.end(BROTLI)),
  nested: send('gzip, gzip', null, (response) => response.end(NESTED)),
  longer: (response, body) => response.end(Buffer.concat([body, Buffer.alloc(1)])),
  shorter: (response, body) => response.end(body.subarray(0, -1)),
  flipped: (response, body) => response.end(Buffer.from(body).map((b) => b ^ 1)),
  broken(response, body) { // ends before the length that was announced
    response.writeHead(200, { 'Content-Length': body.length });
    response.write(body.subarray(0, 1));
    setImmediate(() => response.destroy());
  },
  drip(response) {
    const timer = setInterval(() => response.write('['), 20);
    response.on('close', () => clearInterval(timer));
  },
  silent: (response) => response.flushHeaders(),
  mute: () => {},
  elsewhere(response, body, other) {
    response.writeHead(302, { Location: `${other}/internal/reboot` });
    BODIES.endless(response);
  },
  loop: (response) => response.writeHead(302, { Location: response.req.url }).end(),
  // The honest body, at another path of the same server.
  moved: (response) => response.writeHead(307, { Location: `/moved${response.req.url}` }).end(),
  missing(response) {
    response.writeHead(404);
    BODIES.endless(response);
  },
  error(response) {
    response.writeHead(500);
    BODIES.endless(response);
  },
};

// What is wrong with HTTP itself: how an answer begins, and what follows again and again.
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
export const RAW = {
  head: ['HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(5000)],
  field: ['HTTP/1.1 200 OK\r\nX-A: ', 'x'.repeat(50000)],
  early: ['', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(1000)],
  extension: [`${CHUNKED}1;`, 'x'.repeat(50000)],
  trailers: [`${CHUNKED}0\r\n`, 'X-A: b\r\n'.repeat(5000)],
};

// --- The server ----------------------------------------------------------------------------------

export class MaliciousServer {
  // `other` is the address of another origin, for redirects and URLs.
  static async start(t, { listed = ['bad.example'], other = 'http://127.0.0.1:9' } = {}) {
    const server = new this();
    Object.assign(server, { listed, other, requests: [], version: 0, id: 'c0ffee', parts: {} });
    server.behave();
    await server.publish({ filter: await filterOf(listed) });
    server.http = createServer((request, response) => server.#take(request, response));
    await new Promise((done) => { server.http.listen(0, '127.0.0.1', done); });
    server.url = `http://127.0.0.1:${server.http.address().port}`;
    t.after(() => new Promise((done) => {
      server.http.close(done);
      server.http.closeAllConnections?.();
    }));
    return server;
  }

  // Returns to honest behaviour.
  behave() {
    this.bodies = {};
    this.describe = this.answer = (it) => it;
  }

  // Publishes the parts as the next version, at the rate that their bits have.
  async publish({ filter = this.parts.filter, delta = null, removed = null }) {
    this.version++;
    this.parts = { filter, delta, removed };
    this.rate = 0;
    for (const image of [filter, delta]) {
      if (!image) continue;
      const part = await Tamis.load(image);
      this.rate += part.info().fprNow;
      part.close();
    }
  }

  update(from) {
    const head = { version: this.version, id: this.id, base: 1, rate: this.rate };
    if (from === String(this.version)) return { ...head, unchanged: true };
    const described = Object.entries(this.parts).map(([name, bytes]) => [name, bytes && {
      url: `/${name}?version=${this.version}`, bytes: bytes.length,
      sha256: sha256(bytes).toString('hex'),
    }]);
    return { ...head, unchanged: false, ...Object.fromEntries(described) };
  }

  confirm(prefixes) {
    const hashes = this.listed.map((name) => sha256(`${name}/`).toString('hex'))
      .filter((hash) => prefixes.includes(hash.slice(0, 8)));
    return { version: this.version, hashes, labels: hashes.map(() => ['malware']),
      cache_seconds: 0 };
  }

  #honest(url) {
    const path = url.pathname.replace(/^\/moved/, ''), part = this.parts[path.slice(1)];
    // A string is sent as it is: not everything that a server can send is the JSON of something.
    const json = (it) => Buffer.from(typeof it === 'string' ? it : JSON.stringify(it));
    if (path === '/v1/update')
      return json(this.describe(this.update(url.searchParams.get('from'))));
    if (path === '/v1/confirm')
      return json(this.answer(this.confirm(url.searchParams.getAll('prefix'))));
    return part && Buffer.from(part);
  }

  #take(request, response) {
    const url = new URL(request.url, 'http://x'), body = this.#honest(url);
    const record = { path: url.pathname, sent: 0, closed: false };
    const { socket } = response, before = socket.bytesWritten;
    this.requests.push(record);
    response.on('close', () => {
      record.sent = socket.bytesWritten - before;
      record.closed = true;
    });
    response.setHeader('Access-Control-Allow-Origin', '*');
    const how = this.bodies[url.pathname];
    if (how) how(response, body ?? Buffer.alloc(1), this.other);
    else if (body) response.end(body);
    else response.writeHead(404).end('{}');
  }
}
