"""Whom the guard's server answers: the limits per client, from many addresses, and the host names
that it accepts.

The IPv6 addresses are those of a network namespace, in which this program starts itself again."""
import ctypes
import fcntl
import http.client
import os
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import PATIENCE, TAMIS, Server, Answer, build, main, prefix, sha  # noqa: E402

HOSTS = [f"evil{i}.example" for i in range(100)]
PUBLIC = ["/filter", "/v1/update", "/v1/confirm?prefix=00000000"]
PRIVATE = ["/", "/metrics", "/healthz"]


def status(got):
    return int(got[9:12]) if got.startswith(b"HTTP/1.") else 0


class Client:
    """A connection from one of this machine's addresses."""
    def __init__(self, server, source):
        target = "::1" if ":" in source else "127.0.0.1"
        self.http = http.client.HTTPConnection(target, server.port, timeout=PATIENCE,
                                               source_address=(source, 0))

    def ask(self, path="/healthz"):
        """The status, or 0 if the server closes the connection instead."""
        try:
            self.http.request("GET", path, headers={"Host": "localhost"})
            answer = self.http.getresponse()
            answer.read()
            return answer.status
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            self.http.close()
            return 0
        except http.client.HTTPException:
            self.http.close()
            return 0

    def close(self):
        self.http.close()


def check_places(s, clients, most):
    """Each client, which is a list of addresses, has so many connections and no more; one that ends
    makes room."""
    kept = {}
    for addresses in clients:
        kept[addresses] = [Client(s, addresses[i % len(addresses)]) for i in range(most)]
        assert [c.ask() for c in kept[addresses]] == [200] * most, addresses
    for addresses in clients:
        for source in addresses:
            refused = Client(s, source)
            assert refused.ask() == 0, (addresses, source)
        assert [c.ask() for c in kept[addresses]] == [200] * most, addresses
    for addresses in clients:
        for source in addresses:
            kept[addresses].pop().close()
            fresh = Client(s, source)
            s.wait_for(lambda: fresh.ask() == 200, (source, "room again"))
            assert Client(s, source).ask() == 0, source
            kept[addresses].insert(0, fresh)
    for some in kept.values():
        for c in some:
            c.close()


def test_places_v4(room):
    build(room / "d", malware=HOSTS)
    clients = [(f"127.0.0.{i}",) for i in range(2, 8)]
    with Server(room / "d", "--per-address", "3", "--timeout", "600") as s:
        check_places(s, clients, 3)
        assert s.stop() == ""
    with Server(room / "d", "--per-address", "3", "--threads", "4", "--address", "::",
                "--timeout", "600") as s:
        s.host = "127.0.0.1"  # IPv4 addresses inside IPv6 ones are still one each
        check_places(s, clients, 3)
        assert s.stop() == ""


def inside_namespace():
    """The tests that need addresses of our own choice."""
    with tempfile.TemporaryDirectory(prefix="tamis-clients-") as place:
        return main([places_v6, rate_v6], place)


def own_network():
    """Leaves this process in a network of its own, with many IPv6 addresses. Returns False where
    the system does not let it."""
    user, net = 0x10000000, 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(net) != 0 and libc.unshare(user | net) != 0:
        return False
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            up = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
            fcntl.ioctl(s, 0x8914, up)  # SIOCSIFFLAGS
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            for address in sum(NETWORKS, ()):
                fcntl.ioctl(s, 0x8916,  # SIOCSIFADDR
                            struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 128,
                                        socket.if_nametoindex("lo")))
    except OSError as error:
        print(f"no addresses: {error}")
        return False
    return True


NETWORKS = [
    ("2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:1:ffff:ffff:ffff:ffff",
     "2001:db8:1:1:8000::"),
    ("2001:db8:1:2::1", "2001:db8:1:2::2"),
    ("2001:db8:2:1::1", "2001:db8:2:1:1::1"),
    ("fd00::1", "fd00::2"),
    ("64:ff9b::a00:1",), ("64:ff9b::a00:2",),
]


def places_v6(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--address", "::", "--per-address", "3", "--timeout", "600") as s:
        s.host = "127.0.0.1"
        check_places(s, NETWORKS, 3)
        assert s.stop() == ""


def rate_v6(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--address", "::", "--rate-limit", "1") as s:
        for addresses in NETWORKS:
            answers = [Client(s, addresses[i % len(addresses)]).ask() for i in range(60)]
            assert answers[:2] == [200, 200] and set(answers) == {200, 429}, answers
            assert answers.count(429) > 20, answers
        assert s.process.poll() is None


def test_places_v6(room):
    """One /64 is one client. Where this program may not make a network, test_guard_limits checks
    the same arithmetic."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__)], capture_output=True,
                          text=True, timeout=10 * PATIENCE,
                          env={**os.environ, "TAMIS_OWN_NETWORK": "1"})
    print(done.stdout + done.stderr, end="")
    assert done.returncode == 0, done.returncode


def test_rate_counts_bodies(room):
    """Requests that are refused for their form cost a token like all others."""
    build(room / "d", malware=HOSTS)
    heads = [b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
             b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
             b"PUT /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
             b"Expect: 100-continue\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
             b"GET /v1/confirm?" + b"&" * 3000 + b" HTTP/1.1\r\nHost: localhost\r\n"
             b"Connection: close\r\n\r\n",
             b"DELETE /filter HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]
    for head in heads:
        with Server(room / "d", "--rate-limit", "1") as s:
            answers = [s.raw(head, end=False) for _ in range(60)]
            first, refused = answers[0], [a for a in answers if status(a) == 429]
            assert status(first) in (400, 405, 413, 414, 421), first
            assert len(refused) > 20, [status(a) for a in answers]
            for a in refused:
                assert b"Retry-After: " in a and b"Connection: close" in a \
                    and b"100 Continue" not in a and a.endswith(b'{"error":"too many requests"}\n')


def test_bodies_end_the_connection(room):
    """A body, however it is announced, is never taken for the next request."""
    build(room / "d", malware=HOSTS)
    inner = b"GET /v1/update HTTP/1.1\r\nHost: localhost\r\n\r\n"
    n = str(len(inner)).encode()
    cases = {413: [b"Content-Length: " + n, b"content-length:" + n, b"Content-Length: 0" + n,
                   b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity",
                   b"Transfer-Encoding: gzip, chunked", b"transfer-encoding: ",
                   b"Content-Length: " + n + b"\r\nTransfer-Encoding: chunked",
                   b"Content-Length: " + n + b"\r\nExpect: 100-continue"],
             400: [b"Content-Length: 0\r\nContent-Length: " + n,
                   b"Content-Length: " + n + b"\r\nContent-Length: 0",
                   b"Content-Length: 0\r\nContent-Length: 0", b"Content-Length : " + n,
                   b"Content-Length\t: " + n, b"Transfer-Encoding : chunked", b"X Y: z",
                   b"Host: localhost", b"Host: evil.example", b"Content-Length: 0, " + n,
                   b"Content-Length: +0", b"Content-Length:", b"Content-Length: 0x0"]}
    with Server(room / "d") as s:
        for wanted, fields in cases.items():
            for field in fields:
                for method in b"GET", b"HEAD", b"POST", b"OPTIONS":
                    got = s.raw(method + b" /filter HTTP/1.1\r\nHost: localhost\r\n" + field
                                + b"\r\n\r\n", inner)
                    assert status(got) in (0, wanted) and b'"version"' not in got, (field, got)
                    # Without what follows the refusal arrives whole.
                    got = s.raw(method + b" /filter HTTP/1.1\r\nHost: localhost\r\n" + field
                                + b"\r\n\r\n", end=False)
                    assert status(got) == wanted and b"100 Continue" not in got, (field, got)
        # A client that asks first, but has nothing to send, is answered.
        got = s.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                    b"Connection: close\r\n\r\n", end=False)
        assert got.endswith(b"\r\n\r\nok\n"), got
        assert s.stop() == ""


def test_endless_body(room):
    """Chunks without end are not read."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d") as s:
        for head in [b"Transfer-Encoding: chunked", b"Content-Length: 9000000000000000000"]:
            with s.socket() as c:
                c.sendall(b"POST /v1/confirm HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
                sent = 0
                try:
                    while sent < 1 << 30:
                        c.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                        sent += 4096
                except OSError:
                    pass
                assert sent < 1 << 30
        assert s.ask("/healthz").status == 200 and s.stop() == ""


def ask_as(s, path, *hosts, version=b"1.1", method=b"GET"):
    fields = b"".join(b"Host: " + host.encode("latin-1") + b"\r\n" for host in hosts)
    got = s.raw(method + b" " + path.encode() + b" HTTP/" + version + b"\r\n" + fields
                + b"Connection: close\r\n\r\n", end=False)
    return status(got), got


def test_hosts(room):
    build(room / "d", malware=HOSTS)
    own = ["127.0.0.1", "127.0.0.1:80", "127.0.0.1:", "10.1.2.3:99999", "[::1]", "[::1]:8080",
           "[2001:db8::1]", "localhost", "LocalHost:8080", "localhost.", "a.localhost",
           "a.b.localhost.:1", "0.0.0.0"]
    named = ["guard.example.org", "Guard.Example.ORG:8080", "guard.example.org.", "intranet",
             "under_score.example"]
    strange = ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil",
               "notlocalhost", ".localhost", "guard.example.org.evil.example",
               "sub.guard.example.org", "guard.example.orgx", "", ":8080", ".", "..", "[::1",
               "::1", "[::1]x", "[localhost]", "127.0.0.1:80:80", "127.0.0.1:x", "127.1",
               "0x7f000001", "2130706433", "127.0.0.1@evil.example", "evil.example@127.0.0.1",
               "localhost/evil", "local host", "localhost,evil.example", "evil.example#localhost",
               "guard.example.org\t.", "\xfcber.example", "a" * 300, "a" * 3000, "localhost..",
               "[127.0.0.1]", "127.0.0.1."]
    with Server(room / "d", "--host-name", "guard.example.org", "--host-name", "INTRANET.",
                "--host-name", "under_score.example") as s:
        for host in own + named:
            for path in PUBLIC + PRIVATE:
                assert ask_as(s, path, host)[0] == 200, (path, host)
        for host in strange:
            for path in PRIVATE:
                code, got = ask_as(s, path, host)
                assert code == 421 and b"--host-name" in got, (path, host, got)
                assert b"tamis_guard_" not in got and b"Access-Control" not in got
                assert ask_as(s, path, host, method=b"HEAD")[0] == 421
                assert ask_as(s, path, host, method=b"POST")[0] == 421
            for path in PUBLIC:
                assert ask_as(s, path, host)[0] == 200, (path, host)
        for path in PUBLIC + PRIVATE:
            assert ask_as(s, path)[0] == 400  # HTTP/1.1 requires the field,
            assert ask_as(s, path, version=b"1.0")[0] == 200  # HTTP/1.0 does not
            for two in [("localhost", "evil.example"), ("evil.example", "localhost"),
                        ("localhost", "localhost")]:
                assert ask_as(s, path, *two)[0] == 400, (path, two)
                assert ask_as(s, path, *two, version=b"1.0")[0] == 400, (path, two)
            # With a target of its own, the field does not count: this is not a proxy.
            for target in "http://localhost", "http://evil.example", "//evil.example":
                assert ask_as(s, target + path, "localhost")[0] == 404, (target, path)
        assert s.metrics()['tamis_guard_requests_total{endpoint="metrics",status="421"}'] \
            == 3 * len(strange)
        assert s.stop() == ""
    with Server(room / "d") as s:
        assert ask_as(s, "/metrics", "guard.example.org")[0] == 421
        assert ask_as(s, "/metrics", "localhost")[0] == 200
        assert s.stop() == ""


def test_host_names(room):
    """A name with a scheme or a port would never match, so it is refused at the start."""
    build(room / "d", malware=HOSTS)
    for name in ["http://guard.example", "guard.example:8080", "", ".", "a..b", ".a", "a b",
                 "\u00fcber.example", "*", "*.example", "a" * 255, "[::1]"]:
        done = subprocess.run([TAMIS, "guard", "serve", room / "d", "--port", "0", "--host-name",
                               name], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 2 and done.stdout == "" and "host name" in done.stderr, \
            (name, done.stderr)


if __name__ == "__main__":
    if "TAMIS_OWN_NETWORK" in os.environ:
        if not own_network():
            print("this system lets nobody make a network: left to test_guard_limits")
            sys.exit(0)
        sys.exit(inside_namespace())
    with tempfile.TemporaryDirectory(prefix="tamis-clients-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
