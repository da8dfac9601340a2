"""The guard's server under clients that are slow, wrong, greedy or many.

TAMIS_REQUESTS says how many random requests; TAMIS_SEED repeats those of an earlier run."""
import concurrent.futures
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import Server, build, main, prefix, sha  # noqa: E402

HOSTS = [f"evil{i}.example" for i in range(1000)]
REQUESTS = int(os.environ.get("TAMIS_REQUESTS", "10000"))
SEED = int(os.environ.get("TAMIS_SEED", "20240607"))


def alive(s):
    got = s.confirm(prefix(HOSTS[5]))
    return got["hashes"] == [sha(HOSTS[5])] and got["version"] == 1


def status(got):
    """The status of the first answer; 0 if there was none."""
    return int(got[9:12]) if got.startswith(b"HTTP/1.") else 0


def test_slow(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--timeout", "1", "--threads", "1") as s:
        silent = [s.socket() for _ in range(20)]
        half = [s.socket() for _ in range(20)]
        for one in half:
            one.sendall(b"GET /filter HTTP/1.1\r\nHost: ")
        assert alive(s)  # while they sit there
        for one in silent + half:
            got = one.recv(1000)  # until it is shown out
            assert got == b"" or status(got) == 408, got
            one.close()
        # A byte at a time is not silence, but it ends as well.
        drip, sent = s.socket(), 0
        try:
            for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10000:
                drip.sendall(bytes([byte]))
                sent += 1
                time.sleep(0.1)
                assert sent < 2000, "never cut"
        except OSError:
            pass
        drip.close()
        assert alive(s) and s.metric("slow_connections_total") >= 1
        s.wait_for(lambda: s.metric("connections") == 1, "all others gone")
        assert s.stop() == ""
    # a client that waits between requests does not count as slow
    with Server(room / "d", "--timeout", "2") as s:
        connection = s.connect()
        for _ in range(9):
            assert s.ask("/healthz", on=connection).status == 200
            time.sleep(0.6)
        assert s.metric("slow_connections_total") == 0 and s.stop() == ""


def test_huge(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d") as s:
        for size in 4000, 8000, 9000, 100000, 5000000:
            url = s.raw(b"GET /" + b"a" * size
                        + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            field = s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: "
                          + b"a" * size + b"\r\n\r\n")
            fields = s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           + b"X: y\r\n" * (size // 6) + b"\r\n")
            query = s.raw(b"GET /v1/confirm?" + b"prefix=00000000&" * (size // 16)
                          + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            parameters = s.raw(b"GET /v1/confirm?" + b"&" * size
                               + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            big = size > 7000  # more than a connection has room for
            for got in query, parameters:
                assert status(got) in ((0, 414, 431) if big else (414,)), (size, got[:99])
            assert status(url) in ((0, 414, 431, 500) if big else (404, 414, 500)), (size, url[:99])
            for got in field, fields:
                assert status(got) in ((0, 413, 431, 500) if big else (200, 413, 431, 500)), \
                    (size, got[:99])
            assert alive(s)
        # Each number of parameters has an answer, and the connection stays usable if it was ours.
        connection = s.connect()
        for path, wanted in [("/v1/confirm", 400), ("/v1/update", 400), ("/filter", 400),
                             ("/healthz", 200), ("/nothing", 404)]:
            for n in [*range(40, 60), 100, 119, 120, 121, 200, 500, 1000, 3000, 7000]:
                for piece in "&", "a&", "=&", "a=b&":
                    if n * len(piece) > 7000:
                        continue
                    answer = s.ask(f"{path}?{piece * n}", on=connection)
                    assert answer.status == (wanted if n < 48 and n * len(piece) < 1900 else 414), \
                        (path, n, piece, answer.status)
                    assert answer.status == 200 or "error" in answer.json()
            for n in 2100, 5000, 7000:
                assert s.ask(f"{path}?{'a' * n}", on=connection).status == 414
        connection.close()
        # What a browser sends, with the most prefixes that are allowed, fits.
        words = " ".join(["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"] * 12)
        answer = s.ask("/v1/confirm?" + "&".join(f"prefix={i:08x}" for i in range(30)),
                       User_Agent=words, Accept="*/*",
                       Accept_Language="en", Origin="chrome-extension://" + "a" * 32,
                       Sec_Fetch_Site="cross-site")
        assert answer.status == 200, answer.status
        assert s.stop() == ""


MALFORMED = [
    b"\x00", b"\xff" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"/ HTTP/1.1\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1e3\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"ffffffffffffffffff\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n"
    b"\r\n0\r\n\r\n"
    b"GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n", b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
             b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
             b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n" * 5000, b" " * 5000,
             b"GET " * 3000,
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX:" + b"\t \r\n" * 3000,
]


def test_malformed(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--timeout", "1") as s:
        # libmicrohttpd ends a target at a NUL: never more than the target before it.
        got = s.raw(
            b"GET /v1/confirm?prefix=0000\x000000 HTTP/1.1\r\nHost: localhost\r\n"
            b"Connection: close\r\n\r\n")
        assert status(got) == 400, got
        chance = random.Random(SEED)
        good = (
            b"GET /v1/confirm?prefix=00000000 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\n"
            b"Connection: close\r\n\r\n")
        near_misses = []
        for _ in range(REQUESTS // 50):
            text = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(text))
                text[at:at
                     + chance.randrange(3)] = bytes(
                         chance.choices(range(256), k=chance.randrange(3)))
            near_misses.append(bytes(text))
        with concurrent.futures.ThreadPoolExecutor(20) as pool:  # some end only by the timeout
            list(pool.map(s.raw, near_misses))
            for bad, got in zip(MALFORMED, pool.map(s.raw, MALFORMED)):
                assert status(got) != 200, (bad[:60], got[:200])
        assert alive(s) and s.stop() == ""


def test_bodies(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d") as s:
        for method in b"GET", b"HEAD", b"POST", b"PUT", b"DELETE":
            for length in 1, 5, 1000, 3000000:
                head = b"%s /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" \
                    % (method, length)
                # The body would be a request of its own, if it were not taken for one.
                body = (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        * (length // 35 + 1))[:length]
                got = s.raw(head, body)
                assert status(got) in (0, 413) and got.count(b"HTTP/1.1 ") <= 1, \
                    (method, length, got[:300])
            chunked = s.raw(method
                            + b" / HTTP/1.1\r\nHost: localhost\r\n"
                              b"Transfer-Encoding: chunked\r\n\r\n5\r\n"
                              b"hello\r\n0\r\n\r\n")
            assert status(chunked) in (0, 400, 413) and chunked.count(b"HTTP/1.1 ") <= 1, \
                (method, chunked[:200])
            # Without the body, the refusal arrives whole.
            small = s.raw(method + b" / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
                          end=False)
            assert status(small) == 413 and b"Connection: close" in small, small
        none = s.ask("/healthz", Content_Length="0")
        assert none.status == 200 and alive(s)
        assert s.stop() == ""


def test_pipelining(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d") as s:
        requests = b"".join(b"GET /v1/confirm?prefix=%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            % prefix(host).encode()
                            for host in HOSTS[:200])
        end = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        with s.socket() as c:
            for at in range(0, len(requests), 777):
                c.sendall(requests[at:at + 777])
            c.sendall(end)
            got = b""
            while piece := c.recv(65536):
                got += piece
        bodies = got.split(b"HTTP/1.1 ")[1:]
        assert len(bodies) == 201 and bodies[-1].startswith(b"404 ")
        for body, host in zip(bodies, HOSTS[:200]):
            assert body.startswith(b"200 ") and sha(host).encode() in body
        assert s.stop() == ""


def random_request(chance):
    """A path, and the statuses that are right for it."""
    kind = chance.randrange(8)
    if kind == 0:
        host = chance.choice(HOSTS)
        return f"/v1/confirm?prefix={prefix(host)}", {200}, sha(host)
    if kind == 1:
        count = chance.randrange(1, 40)
        return "/v1/confirm?" + "&".join(f"prefix={chance.randrange(2**32):08X}"
                                         for _ in range(count)), \
            {200 if count <= 30 else 400}, None
    if kind == 2:
        return f"/v1/update?from={chance.randrange(5)}", {200}, None
    if kind == 3:
        letters = "".join(chance.choices("prefix=&%0123456789abcdefG+;?/", k=chance.randrange(60)))
        return "/v1/confirm?" + letters, {200, 400}, None
    if kind == 4:
        escapes = "".join(f"%{chance.randrange(256):02x}" for _ in range(chance.randrange(20)))
        return "/" + escapes + "x", {404}, None
    if kind == 5:
        return f"/filter?version={chance.choice(['1', '2', 'x', '', '1' * 50])}", {
            200, 400, 404}, None
    return chance.choice(["/", "/metrics", "/healthz", "/filter"]), {200}, None


def test_many(room):
    build(room / "d", malware=HOSTS)
    chance = random.Random(SEED)
    with Server(room / "d", "--per-address", "20") as s:
        connections = [s.connect() for _ in range(8)]
        for i in range(REQUESTS):
            if chance.random() < 0.01:
                chance.choice(connections).close()  # it opens itself again
            path, statuses, wanted = random_request(chance)
            answer = s.ask(path, on=chance.choice(connections),
                           method=chance.choice(["GET", "GET", "HEAD"]))
            assert answer.status in statuses, (SEED, i, path, answer.status)
            assert wanted is None or not answer.body or wanted.encode() in answer.body, \
                (SEED, i, path)
        total = sum(n for name, n in s.metrics().items()
                    if name.startswith("tamis_guard_requests_total"))
        assert total == REQUESTS and alive(s)
        for connection in connections:
            connection.close()
        assert s.stop() == ""


def test_connections(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--per-address", "4") as s:
        kept = [s.connect() for _ in range(4)]
        for connection in kept:
            assert s.ask("/healthz", on=connection).status == 200
        assert s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", end=False) == b""  # one too many
        for connection in kept:
            assert s.ask("/healthz", on=connection).status == 200
            connection.close()
        def free():
            try:
                return alive(s)
            except OSError:
                return False
        s.wait_for(free, "room again")
        assert s.stop() == ""
    with Server(room / "d", "--connections", "3", "--threads", "1") as s:
        kept = [s.connect() for _ in range(3)]
        for connection in kept:
            assert s.ask("/healthz", on=connection).status == 200
        waiting = s.socket()  # in the queue, until there is room
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        waiting.settimeout(0.5)
        try:
            raise AssertionError(waiting.recv(1000))
        except TimeoutError:
            pass
        kept[0].close()
        waiting.settimeout(60)
        assert status(waiting.recv(1000)) == 200
        assert s.stop() == ""


def test_rate(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--rate-limit", "1") as s:
        connection = s.connect()
        answers = [s.ask(path, on=connection)
                   for path in ["/healthz", "/v1/update"] + ["/nothing", "/filter"] * 50]
        assert [a.status for a in answers[:2]] == [200, 200]  # a burst of two is allowed
        refused = [a for a in answers if a.status == 429]
        assert len(refused) > 50  # else these would have taken most of a minute
        assert all(a.fields["Retry-After"] in ("1", "2") and "error" in a.json() for a in refused)
        def again():
            answer = s.ask("/metrics", on=connection)
            return answer.status == 200 \
                and b"\ntamis_guard_rate_limited_total 0\n" not in answer.body
        s.wait_for(again, "a token")
        assert s.stop() == ""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-hostile-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
