"""The guard behind nginx and HAProxy, with the configurations that docs/GUARD.md shows: TLS,
HTTP/2, answers, entity tags and ranges, limits for each client, and clients that forge their
address."""
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
# noqa: E402
from serving import PATIENCE, SOURCE, Server, build, main, prefix, sha

HOSTS = [f"evil{i}.example" for i in range(20000)]
NAME = "guard.example.org"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def configuration(language, changes):
    """The block of the document, with the ports and paths of this test. Each must occur."""
    page = (SOURCE / "docs/GUARD.md").read_text()
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) == 1, f"one {language} block"
    text = blocks[0]
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def make_certificate(room):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
                    "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", room / "key.pem", "-out",
                    room / "cert.pem"], check=True, capture_output=True)
    (room / "both.pem").write_text((room / "cert.pem").read_text()
                                   + (room / "key.pem").read_text())


class Proxy:
    """A proxy at two ports of the loopback address, the second in the place of the IPv6 one."""
    def __init__(self, room, words):
        self.room = room
        self.log = open(room / "proxy.out", "w")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                for port in self.ports:
                    socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise AssertionError((self.room / "proxy.out").read_text()) from None
                time.sleep(0.05)

    def __exit__(self, kind, value, trace):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.log.close()
        if kind is not None:
            print((self.room / "proxy.out").read_text())

    def ask(self, *paths, source="127.0.0.5", http="--http2", method=None, port=0, **fields):
        """Requests one after the other on one connection: (status, HTTP version, fields, body) of
        each."""
        words = ["curl", "-sS", http, "--cacert", self.room / "cert.pem", "--interface", source,
                 "--resolve", f"{NAME}:{self.ports[port]}:127.0.0.1", "--max-time", str(PATIENCE),
                 "-w", "%{http_code} %{http_version}\\n"]
        if method == "HEAD":
            words += ["--head"]
        for name, value in fields.items():
            words += ["-H", f"{name.replace('_', '-')}: {value}"]
        for i, path in enumerate(paths):
            for kind, file in ("-o", "body"), ("-D", "fields"):
                if kind == "-o" or i == 0:
                    words += [kind, self.room / f"{file}{i}"]
            words.append(f"https://{NAME}:{self.ports[port]}{path}")
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        heads = (self.room / "fields0").read_text().split("\n\n")
        answers = []
        for i, line in enumerate(done.stdout.split("\n")[:-1]):
            got = dict(re.findall(r"^([^:\n]+): (.*)$", heads[i], re.M))
            body = self.room / f"body{i}"
            answers.append((int(line.split()[0]), line.split()[1],
                            {name.lower(): v for name, v in got.items()},
                            body.read_bytes() if body.exists() else b""))
            if body.exists():
                body.unlink()
        return answers


class Nginx(Proxy):
    def __init__(self, room, guard_port):
        self.ports = free_port(), free_port()
        (room / "guard.conf").write_text(configuration("nginx", {
            "127.0.0.1:8080": f"127.0.0.1:{guard_port}",
            "listen 443": f"listen 127.0.0.1:{self.ports[0]}",
            "listen [::]:443": f"listen 127.0.0.1:{self.ports[1]}",
            "/etc/ssl/guard/fullchain.pem": f"{room}/cert.pem",
            "/etc/ssl/guard/key.pem": f"{room}/key.pem",
            "/var/log/nginx/guard.log": f"{room}/guard.log"}))
        folders = "".join(f"{name}_temp_path {room}/{name};\n"
                          for name in "client_body proxy fastcgi uwsgi scgi".split())
        (room / "nginx.conf").write_text(
            f"daemon off;\npid {room}/pid;\nworker_processes 1;\nevents {{}}\n"
            f"http {{\naccess_log {room}/access;\n{folders}include {room}/guard.conf;\n}}\n")
        super().__init__(room, ["nginx", "-p", room, "-e", room / "errors", "-c",
                                room / "nginx.conf"])


class HAProxy(Proxy):
    def __init__(self, room, guard_port):
        self.ports = free_port(), free_port()
        (room / "haproxy.cfg").write_text(configuration("haproxy", {
            "127.0.0.1:8080": f"127.0.0.1:{guard_port}",
            "bind :443": f"bind 127.0.0.1:{self.ports[0]}",
            "bind :::443 v6only": f"bind 127.0.0.1:{self.ports[1]}",
            "/etc/ssl/guard/both.pem": f"{room}/both.pem"}))
        super().__init__(room, ["haproxy", "-W", "-db", "-f", room / "haproxy.cfg"])


def check_answers(proxy, s):
    for port in 0, 1:
        for http, wanted in ("--http2", "2"), ("--http1.1", "1.1"):
            (status, version, fields, body), = proxy.ask("/v1/confirm?prefix=" + prefix(HOSTS[3]),
                                                         http=http, port=port)
            assert (status, version) == (200, wanted) and sha(HOSTS[3]).encode() in body
            assert fields["cache-control"] == "no-store" \
                and fields["access-control-allow-origin"] == "*"
    whole = s.ask("/filter")
    tag = whole.fields["ETag"]
    (status, _, fields, body), = proxy.ask("/filter")
    assert status == 200 and body == whole.body and fields["etag"] == tag
    (status, _, fields, body), = proxy.ask("/filter", If_None_Match=tag)
    assert (status, body) == (304, b"") and fields["etag"] == tag
    (status, _, fields, body), = proxy.ask("/filter", Range="bytes=1000-1999")
    assert status == 206 and body == whole.body[1000:2000] \
        and fields["content-range"] == f"bytes 1000-1999/{len(whole.body)}"
    (status, _, fields, body), = proxy.ask("/filter", Range="bytes=0-9", If_Range='"x"')
    assert status == 200 and body == whole.body
    (status, _, fields, body), = proxy.ask("/filter", method="HEAD")
    assert status == 200 and fields["content-length"] == str(len(whole.body))
    for path, wanted in ("/healthz", 200), ("/", 200), ("/metrics", 404), ("/nothing", 404):
        assert proxy.ask(path)[0][0] == wanted, path
    assert proxy.ask("/healthz", Host="evil.example")[0][0] == 421


def check_limits(proxy, s):
    """The rate is 5 a second, so 10 at once."""
    def statuses(source, n, **fields):
        return [a[0] for a in proxy.ask(*["/v1/update"] * n, source=source, **fields)]
    emptied = time.monotonic()
    first = statuses("127.0.0.2", 60)
    assert first[:10] == [200] * 10 and 429 in first, first
    assert statuses("127.0.0.3", 5) == [200] * 5  # another client
    # The first one, under any address that it invents: no more than what has come back since.
    for i in range(3):
        for fields in ({"X_Forwarded_For": f"192.0.2.{i}"},
                       {"X_Forwarded_For": f"192.0.2.{i}, 127.0.0.1"},
                       {"X_Forwarded_For": "127.0.0.1"}, {"X_Forwarded_For": "junk"},
                       {"Forwarded": f"for=192.0.2.{i}"}, {"X_Real_IP": f"192.0.2.{i}"}):
            got = statuses("127.0.0.2", 60, **fields)
            now = time.monotonic()
            assert got.count(200) <= 2 + 5 * (now - emptied) and 429 in got, (fields, got)
            emptied = now
    # and at the guard itself, where only the proxy is believed
    connection = s.connect("127.0.0.4")
    got = [s.ask("/healthz", on=connection, X_Forwarded_For=f"192.0.2.{i}").status
           for i in range(60)]
    assert 429 in got, got
    connection.close()


def check_proxy(room, kind):
    make_certificate(room)
    build(room / "d", malware=HOSTS)
    log = room / "log"
    with Server(room / "d", "--trust-proxy", "127.0.0.1", "--host-name", NAME, "--access-log", log,
                "--log-clients", "address", "--metrics-address", "127.0.0.1:0") as s, \
            kind(room, s.port) as proxy:
        check_answers(proxy, s)
        build(room / "d", malware=HOSTS[1:])
        s.hup()
        s.wait_for(lambda: s.metric("version") == 2, "version 2")
        assert proxy.ask("/v1/confirm?prefix=" + prefix(HOSTS[0]))[0][3].startswith(
            b'{"version":2,"hashes":[],')
        assert s.stop() == ""
        clients = {line.split()[-1] for line in log.read_text().splitlines()}
        # The test itself and, without a field, the health checks of HAProxy.
        assert clients == {"127.0.0.1", "127.0.0.5"}, clients
        # No log of the proxy has a prefix, also when there is nobody to answer.
        secret = "5ec2e700"
        assert proxy.ask(f"/v1/confirm?prefix={secret}")[0][0] in (502, 503)
    for file in room.glob("**/*"):
        if file.is_file() and file.parent != room / "d":
            assert secret.encode() not in file.read_bytes(), file
    with Server(room / "d", "--trust-proxy", "127.0.0.1", "--rate-limit", "5") as s, \
            kind(room, s.port) as proxy:
        check_limits(proxy, s)
        assert s.stop() == ""


def test_nginx(room):
    check_proxy(room, Nginx)


def test_haproxy(room):
    check_proxy(room, HAProxy)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-proxies-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
