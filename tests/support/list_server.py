"""A server of lists for the tests of 'guard fetch': HTTP or HTTPS on a free port, with an answer
for each path, which may be as wrong as a test wants it."""
import gzip
import http.server
import socket
import ssl
import subprocess
import threading


class Lists:
    """Answers are functions of the request's handler, by path. Paths that were asked for are in
    `asked`, with the fields of the request."""

    def __init__(self, certificate=None):
        self.answers, self.asked = {}, []
        lists = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                lists.asked.append((self.path, dict(self.headers)))
                try:
                    lists.answers[self.path.split("?")[0]](self)
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # clients that refuse the certificate
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            self.scheme = "https"
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self, path, user=""):
        return f"{self.scheme}://{user}127.0.0.1:{self.port}{path}"


def answer(status=200, body=b"", close=False, length=True, **fields):
    """An ordinary answer; _ in a field stands for -. `length` may be a wrong number, or False."""
    def give(handler):
        handler.send_response(status)
        for name, value in fields.items():
            handler.send_header(name.replace("_", "-"), value)
        if length is not False:
            handler.send_header("Content-Length", str(len(body) if length is True else length))
        if close or length is not True:
            handler.send_header("Connection", "close")
            handler.close_connection = True
        handler.end_headers()
        handler.wfile.write(body)
    return give


def versioned(body, **fields):
    """Answers 304 to those who have this version, by its ETag or date."""
    def give(handler):
        tag, date = fields.get("ETag"), fields.get("Last_Modified")
        same = tag and handler.headers.get("If-None-Match") == tag
        same = same or (not tag and date and handler.headers.get("If-Modified-Since") == date)
        answer(304 if same else 200, b"" if same else body, **fields)(handler)
    return give


def redirect(to, status=302):
    return answer(status, b"moved", Location=to)


def drip(seconds_between, pieces, body=b"slow.example\n"):
    """Sends pieces slowly, or for ever if `pieces` is None."""
    stop = threading.Event()

    def give(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        sent = 0
        while pieces is None or sent < pieces:
            handler.wfile.write(body)
            handler.wfile.flush()
            sent += 1
            if stop.wait(seconds_between):
                return
    give.stop = stop
    return give


def endless(piece=b"endless.example\n" * 4096, **fields):
    """A body in chunks that never ends."""
    def give(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        for name, value in fields.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        while True:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    return give


def raw(*pieces):
    """These bytes, and then the connection ends."""
    def give(handler):
        for piece in pieces:
            handler.wfile.write(piece)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_WR)
        handler.close_connection = True
    return give


def endless_head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while True:
        handler.wfile.write(b"X-Field-%d: %s\r\n" % (number, b"x" * 1000))
        number += 1


def bomb(unpacked):
    """So many bytes of gzip that unpack to this number."""
    return gzip.compress(b"bomb.example\n" * (unpacked // 13), 9)


def make_certificate(room, name, expired=False, subject="127.0.0.1"):
    """A self-signed certificate, as paths of the certificate and its key."""
    certificate, key, config = (room / f"{name}.{ending}" for ending in ("pem", "key", "cnf"))
    config.write_text(f"""[ca]
default_ca = own
[own]
new_certs_dir = {room}
database = {room / (name + '.index')}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = host
[any]
commonName = supplied
[host]
subjectAltName = {'IP' if subject[0].isdigit() else 'DNS'}:{subject}
basicConstraints = CA:TRUE
""")
    (room / f"{name}.index").write_text("")

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-subj", f"/CN={subject}",
            "-out", room / f"{name}.csr")
    openssl("ca", "-batch", "-config", config, "-selfsign", "-keyfile", key, "-notext", "-in",
            room / f"{name}.csr", "-out", certificate, "-startdate", "20200101000000Z", "-enddate",
            "20210101000000Z" if expired else "20991231000000Z")
    return certificate, key
