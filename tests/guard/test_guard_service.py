"""The guard's server as a service: figures at their own address, clients behind trusted proxies,
the access log, Unix sockets."""
import http.client
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
# noqa: E402
from serving import PATIENCE, TAMIS, Answer, Server, build, main, prefix, tamis

HOSTS = [f"evil{i}.example" for i in range(300)]
TRUST = ("--trust-proxy", "127.0.0.1", "--metrics-address", "127.0.0.1:0")


def at(address, path, **fields):
    """One request to an address, which is a pair or the path of a Unix socket."""
    if isinstance(address, tuple):
        connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
    else:
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(PATIENCE)
        connection.sock.connect(str(address))
    connection.request("GET", path, headers={n.replace("_", "-"): v for n, v in fields.items()})
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


def test_metrics_address(room):
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--metrics-address", "127.0.0.1:0", "--rate-limit", "1") as s:
        assert s.metrics_at[1] not in (0, s.port)
        assert s.ask("/metrics").status == 404
        for _ in range(5):  # no limit holds for monitoring
            assert at(s.metrics_at, "/metrics").status == 200
        answer = at(s.metrics_at, "/metrics")
        assert answer.fields["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert at(s.metrics_at, "/healthz").body == b"ok\n"
        for path in ["/", "/filter", "/v1/update", "/v1/confirm?prefix=00000000", "/index.html"]:
            assert at(s.metrics_at, path).status == 404, path
        assert at(s.metrics_at, "/metrics", Host="evil.example").status == 421
        assert s.metric("connections") == 0  # those for monitoring do not count
        assert s.stop() == ""
    # Without an address of their own, only where nobody else can see them.
    for options, seen in [((), True), (("--address", "127.0.0.9"), True),
                          (("--address", "0.0.0.0"), False),
                          (("--trust-proxy", "10.0.0.0/8"), False)]:
        with Server(room / "d", *options) as s:
            s.host = "127.0.0.1" if s.host == "0.0.0.0" else s.host
            answer = s.ask("/metrics")
            assert (answer.status == 200) == seen and (answer.status == 404) != seen, options
            assert (b"tamis_guard_" in answer.body) == seen
            assert s.ask("/healthz").status == 200
    for bad in ["127.0.0.1", "9100", ":9100", "localhost:9100", "127.0.0.1:99999", "::1:9100", ""]:
        tamis("guard", "serve", room / "d", "--port", "0", "--metrics-address", bad, status=2)
    with Server(room / "d") as s:  # taken
        tamis("guard", "serve", room / "d", "--port", "0", "--metrics-address",
              f"127.0.0.1:{s.port}", status=2)


def test_metrics_in_a_crowd(room):
    """A crowd of silent clients is cut, and an idle connection for monitoring is not."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--metrics-address", "127.0.0.1:0", "--connections", "10",
                "--timeout", "60s") as s:
        kept = http.client.HTTPConnection(*s.metrics_at, timeout=PATIENCE)
        assert s.ask("/healthz", on=kept).status == 200
        time.sleep(1.2)  # longer than anybody may be silent in a crowd
        crowd = [s.socket() for _ in range(10)]
        s.wait_for(lambda: s.metric("slow_connections_total") >= 9, "the end of the crowd")
        assert s.ask("/healthz", on=kept).status == 200
        for one in [*crowd, kept]:
            one.close()
        assert s.stop() == ""


def test_metrics_do_not_hold_up_the_end(room):
    """The server ends although clients come to its address for monitoring all the time."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--metrics-address", "127.0.0.1:0", "--timeout",
                f"{10 * PATIENCE}s") as s:
        def come():
            while s.process.poll() is None:
                try:
                    with socket.create_connection(s.metrics_at, timeout=PATIENCE):
                        time.sleep(0.1)
                except OSError:
                    pass
        visitors = [threading.Thread(target=come) for _ in range(4)]
        for v in visitors:
            v.start()
        time.sleep(0.3)
        said = s.stop()  # within our patience, which is less than the time limit
        for v in visitors:
            v.join()
        assert said == "", said


def test_prometheus(room):
    """promtool reads the figures and finds nothing to object to."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--metrics-address", "127.0.0.1:0", "--access-log",
                room / "log") as s:
        s.confirm(prefix(HOSTS[0]))
        s.ask("/nothing")
        text = at(s.metrics_at, "/metrics").body
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        assert done.returncode == 0 and done.stdout + done.stderr == b"", done
        assert subprocess.run(["promtool", "check", "metrics"], capture_output=True,
                              input=b"# TYPE x_total gauge\nx_total 1\n").returncode != 0
        names = set(re.findall(rb"^(tamis_guard_\w+)", text, re.M))
        for name in names:
            assert b"# HELP " + name + b" " in text and b"# TYPE " + name + b" " in text, name
        assert s.stop() == ""


def test_unix_sockets(room):
    build(room / "d", malware=HOSTS)
    words = [TAMIS, "guard", "serve", room / "d", "--address", room / "guard.sock",
             "--metrics-address", room / "metrics.sock", "--trust-proxy", "unix",
             "--rate-limit", "1", "--access-log", room / "log", "--log-clients", "address"]
    for _ in range(2):  # the second one finds what the killed first one left
        p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert p.stdout.readline() == f"listening at unix:{room}/guard.sock\n"
        assert p.stdout.readline() == f"metrics at unix:{room}/metrics.sock\n"
        for name in "guard.sock", "metrics.sock":
            assert os.stat(room / name).st_mode & 0o777 == 0o660
        confirm = "/v1/confirm?prefix=" + prefix(HOSTS[0])
        for client in "192.0.2.1", "192.0.2.2", "2001:db8::1":
            for wanted in 200, 200, 429:
                answer = at(room / "guard.sock", confirm, X_Forwarded_For=client)
                assert answer.status == wanted, client
        assert at(room / "guard.sock", "/metrics").status == 404
        assert b"\ntamis_guard_rate_limited_total 3\n" in at(room / "metrics.sock",
                                                           "/metrics").body
        tamis("guard", "serve", room / "d", "--address", room / "guard.sock", status=2)
        assert at(room / "guard.sock", "/healthz").status == 200  # it still has its socket
        p.kill()
        p.communicate()
        assert (room / "guard.sock").exists()
    p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    p.stdout.readline()
    assert at(room / "guard.sock", "/healthz").status == 200
    p.terminate()
    assert p.communicate(timeout=PATIENCE)[1] == "" and p.returncode == 0
    assert not (room / "guard.sock").exists() and not (room / "metrics.sock").exists()
    assert (room / "log").read_text().split("\n")[-2].endswith(" unix")
    # Whoever connects to a Unix socket is not believed without "unix".
    words[words.index("unix")] = "10.0.0.0/8"
    p = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    p.stdout.readline()
    statuses = [at(room / "guard.sock", "/healthz", X_Forwarded_For=f"192.0.2.{i}").status
                for i in range(5)]
    assert statuses[:2] == [200, 200] and 429 in statuses, statuses
    p.kill()
    p.communicate()
    (room / "file").write_text("precious\n")
    tamis("guard", "serve", room / "d", "--address", room / "file", status=2)
    assert (room / "file").read_text() == "precious\n"
    tamis("guard", "serve", room / "d", "--address", "/" + "x" * 200, status=2)


def serve_at(room, *words):
    p = subprocess.Popen([TAMIS, "guard", "serve", room / "d", *words], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline().startswith("listening at ")
    return p


def test_successor(room):
    """A server that stops removes its own socket, at once, and never that of its successor."""
    build(room / "d", malware=[f"host{i}.example" for i in range(150000)])
    path = room / "guard.sock"
    first = serve_at(room, "--address", path)
    with socket.socket(socket.AF_UNIX) as slow:  # an answer that takes as long as the test wants
        slow.settimeout(PATIENCE)
        slow.connect(str(path))
        slow.sendall(b"GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n" * 30)
        assert slow.recv(12) == b"HTTP/1.1 200"
        first.terminate()
        end = time.monotonic() + PATIENCE
        while path.exists() and time.monotonic() < end:
            time.sleep(0.02)
        second = serve_at(room, "--address", path)
        assert first.poll() is None
    assert first.communicate(timeout=PATIENCE)[1] == "" and first.returncode == 0
    assert at(path, "/healthz").status == 200
    path.unlink()  # by hand, and the next one does not know the one before
    third = serve_at(room, "--address", path)
    second.terminate()
    assert second.communicate(timeout=PATIENCE)[1] == "" and second.returncode == 0
    assert at(path, "/healthz").status == 200
    third.terminate()
    assert third.communicate(timeout=PATIENCE)[1] == "" and not path.exists()


def test_no_threads(room):
    """Where no thread can be started, nothing is left behind and nothing is closed twice."""
    build(room / "d", malware=HOSTS)
    for threads, number in ("1", "1+"), ("2", "1+"), ("2", "2+"):
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", room / "trace", "-e", "trace=clone,clone3,close", "-e",
             f"inject=clone,clone3:error=EAGAIN:when={number}", TAMIS, "guard", "serve", room / "d",
             "--threads", threads, "--address", room / "guard.sock"], capture_output=True,
            text=True, timeout=PATIENCE, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        assert done.returncode == 2 and "cannot start the threads" in done.stderr, done
        assert "EBADF" not in (room / "trace").read_text(), (room / "trace").read_text()
        assert not (room / "guard.sock").exists()


def statuses_for(s, field, n=4, source="127.0.0.1", name="X_Forwarded_For"):
    """The statuses of n requests whose proxy writes this field."""
    connection = s.connect(source)
    got = [s.ask("/healthz", on=connection, **{name: field}).status for _ in range(n)]
    connection.close()
    return got


def test_trusted_proxies(room):
    build(room / "d", malware=HOSTS)
    fresh, limited = [200, 200, 429, 429], [429] * 4
    with Server(room / "d", *TRUST, "--trust-proxy", "10.0.0.0/8", "--trust-proxy",
                "127.0.0.3/32", "--rate-limit", "1") as s:
        def check(wanted, *words, **more):
            got = statuses_for(s, *words, **more)
            # A token may come back between two requests.
            assert got == wanted or (sum(a != b for a, b in zip(got, wanted)) == 1
                                     and got.count(200) == wanted.count(200) + 1), (words, got)
        check(fresh, "192.0.2.1")
        check(fresh, "192.0.2.2")
        check(limited, "192.0.2.2")
        check(limited, "192.0.2.99, 192.0.2.1")  # what is left of the client is its own invention
        check(limited, "192.0.2.1, 10.1.2.3")
        check(limited, "192.0.2.98, 192.0.2.1:1234, 10.1.2.3, 10.1.2.4")
        check(fresh, "2001:db8::1")
        check(limited, "[2001:db8::2]:99")  # the same network
        check(limited, "::ffff:192.0.2.1")
        check(fresh, "junk")  # the proxy itself
        check(limited, "192.0.2.50, unknown")
        check(limited, "")
        check(fresh, "192.0.2.51, unknown, 10.9.9.9")  # the proxy that wrote "unknown"
        check(fresh, "192.0.2.60", source="127.0.0.3")  # the other proxy
        check(limited, "192.0.2.60")
        # Others are not believed, whatever they write.
        check(fresh, "192.0.2.70", source="127.0.0.2")
        check(limited, "192.0.2.71", source="127.0.0.2")
        check(limited, "127.0.0.1, 192.0.2.72", source="127.0.0.2")
        # No other field is read.
        for name in "Forwarded", "X_Real_IP", "X_Client_IP", "True_Client_IP":
            got = statuses_for(s, "for=192.0.2.80" if name == "Forwarded" else "192.0.2.80",
                               name=name)
            assert got.count(200) <= 1, (name, got)  # that of the proxy itself
        # Several fields are one, in their order.
        request = (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.%d\r\n"
                   b"x-forwarded-for: 192.0.2.90\r\nConnection: close\r\n\r\n")
        got = [s.raw(request % i)[9:12] for i in range(100, 106)]
        assert got[:2] == [b"200", b"200"] and got.count(b"429") >= 3, got
        assert s.stop() == ""
    for bad in ["localhost", "10.0.0.1/8", "0.0.0.0/0", "10.0.0.0/33", "", "[::1]"]:
        tamis("guard", "serve", room / "d", "--port", "0", "--trust-proxy", bad, status=2)


def test_proxied_connections(room):
    """A proxy may have more connections than one client, and the requests of one client behind it
    take no more of them than --per-address."""
    build(room / "d", malware=[f"host{i}.example" for i in range(150000)])
    with Server(room / "d", *TRUST, "--per-address", "3", "--timeout", "30") as s:
        many = [s.connect() for _ in range(20)]
        for i, connection in enumerate(many):
            assert s.ask("/healthz", on=connection, X_Forwarded_For=f"192.0.2.{i}").status == 200
        for connection in many:  # one after the other, a client may use all of them
            assert s.ask("/healthz", on=connection, X_Forwarded_For="192.0.2.1").status == 200
        slow = []
        for _ in range(3):  # far more than the buffers between us hold
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(PATIENCE)
            one.connect((s.host, s.port))
            one.sendall(b"GET /filter HTTP/1.1\r\nHost: localhost\r\n"
                        b"X-Forwarded-For: 192.0.2.1\r\n\r\n" * 30)
            slow.append(one)
        s.wait_for(lambda: s.metric("sent_bytes_total") > 3 * 300000, "slow clients")
        answer = s.ask("/healthz", on=many[0], X_Forwarded_For="192.0.2.1")
        s.wait_for(lambda: s.ask("/healthz", on=many[0],
                                 X_Forwarded_For="192.0.2.1").status == 429, "a crowd")
        answer = s.ask("/healthz", on=many[0], X_Forwarded_For="192.0.2.1")
        assert answer.status == 429 and answer.fields["Retry-After"] == "1"
        assert s.ask("/healthz", on=many[0], X_Forwarded_For="192.0.2.2").status == 200
        for one in slow:
            one.close()
        s.wait_for(lambda: s.ask("/healthz", on=many[0],
                                 X_Forwarded_For="192.0.2.1").status == 200, "places again")
        # The limit on connections still holds for others.
        others = [s.connect("127.0.0.2") for _ in range(3)]
        for connection in others:
            assert s.ask("/healthz", on=connection).status == 200
        try:
            extra = s.ask("/healthz", on=s.connect("127.0.0.2"))
            raise AssertionError(extra.status)
        except (OSError, http.client.HTTPException):
            pass
        assert s.metric("refused_connections_total") == 1
        assert s.stop() == ""


LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
                  r"(page|filter|delta|removed|confirm|update|metrics|healthz|other) "
                  r"(\d{3}) (\d+|-) (\d+\.\d{6})( \S+)?\n")


def read_log(s, path, lines):
    s.wait_for(lambda: path.exists() and path.read_text().count("\n") >= lines, "lines")
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines(keepends=True)]
    assert all(found), path.read_text()
    return [(f[1], int(f[2]), f[3], (f[5] or "").strip()) for f in found]


def test_access_log(room):
    build(room / "d", malware=HOSTS)
    log = room / "access.log"
    with Server(room / "d", "--access-log", log) as s:
        whole = s.ask("/filter").body
        p = prefix(HOSTS[7])
        s.confirm(p, on=None)
        s.ask("/v1/confirm?prefix=secret-" + p)
        s.ask("/secret-path?secret-query", method="POST", Referer="http://secret.example/")
        s.ask("/filter", method="HEAD")
        s.ask("/healthz", User_Agent="secret-agent", X_Forwarded_For="192.0.2.1")
        rows = read_log(s, log, 6)
        # The line of an answer may come after that of the next, which another thread gave.
        assert sorted(row[:2] for row in rows) == [
            ("confirm", 200), ("confirm", 400), ("filter", 200), ("filter", 200),
            ("healthz", 200), ("other", 404)], rows
        assert {(row[0], row[2]) for row in rows} >= {
            ("filter", str(len(whole))), ("filter", "0"), ("healthz", "3")}, rows
        text = log.read_text()
        assert "secret" not in text and p not in text and "127.0.0.1" not in text \
            and "192.0.2" not in text and "http" not in text, text
        assert os.stat(log).st_mode & 0o777 & ~0o640 == 0
        # Rotation: the renamed file is complete, and both signals' duties are done.
        log.rename(room / "access.log.1")
        s.ask("/healthz")
        build(room / "d", malware=HOSTS[1:])
        s.hup()
        s.wait_for(lambda: log.exists(), "a new file")
        s.wait_for(lambda: s.metric("version") == 2, "version 2")
        s.ask("/removed")
        assert ("removed", 200) in [row[:2] for row in read_log(s, log, 2)]
        assert [row[0] for row in read_log(s, room / "access.log.1", 7)].count("filter") == 2
        # If it cannot be opened again, the old file stays in use.
        old = room / "old"
        log.rename(old)
        log.mkdir()
        s.hup()
        s.wait_for(lambda: s.metric("access_log_errors_total") == 1, "a failure")
        s.ask("/v1/update")
        s.wait_for(lambda: " update 200 " in old.read_text(), "a line in the old file")
        said = s.stop()
        assert said.count("\n") == 1 and "the old file stays in use" in said, said
    assert LINE.fullmatch(old.read_text().splitlines(keepends=True)[-1])


def test_access_log_addresses(room):
    build(room / "d", malware=HOSTS)
    for how, wanted in [("network", ["127.0.0.0/24", "192.0.2.0/24", "2001:db8:1::/48"]),
                        ("address", ["127.0.0.5", "192.0.2.7", "2001:db8:1:2::3"])]:
        log = room / how
        with Server(room / "d", *TRUST, "--access-log", log, "--log-clients", how) as s:
            s.ask("/healthz", on=s.connect("127.0.0.5"), X_Forwarded_For="192.0.2.9")
            s.ask("/healthz", X_Forwarded_For="6.6.6.6, 192.0.2.7:80")
            s.ask("/healthz", X_Forwarded_For="2001:db8:1:2::3")
            assert sorted(row[3] for row in read_log(s, log, 3)) == wanted
            assert s.stop() == ""
    serve = ["guard", "serve", room / "d", "--port", "0"]
    tamis(*serve, "--access-log", room / "x", "--log-clients", "all", status=2)
    tamis(*serve, "--log-clients", "network", status=2)
    tamis(*serve, "--access-log", room / "none" / "log", status=2)
    tamis(*serve, "--access-log", room, status=2)


def test_access_log_full(room):
    """A log that cannot be written costs lines, which are counted, and nothing else."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--access-log", "/dev/full") as s:
        for _ in range(10):
            assert s.ask("/healthz").status == 200
        s.wait_for(lambda: s.metric("access_log_lost_lines_total") >= 10, "lost lines")
        assert s.metric("access_log_errors_total") >= 1
        said = s.stop()
        assert said.count("\n") == 1 and "No space left on device" in said, said
    # A pipe that nobody reads any more delays neither an answer nor the end.
    os.mkfifo(room / "fifo")
    tamis("guard", "serve", room / "d", "--port", "0", "--access-log", room / "fifo", status=2)
    reader = os.open(room / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    with Server(room / "d", "--access-log", room / "fifo") as s:
        connection = s.connect()
        for _ in range(3000):  # more lines than a pipe holds
            assert s.ask("/healthz", on=connection).status == 200
        assert len(os.read(reader, 1 << 20)) >= 4096
        for _ in range(3000):  # and now the writer waits in the middle of some
            assert s.ask("/healthz", on=connection).status == 200
        time.sleep(0.3)
        connection.close()
        start = time.monotonic()
        said = s.stop()
        assert time.monotonic() - start < PATIENCE / 2 and "lines are lost" in said, said
    os.close(reader)
    # One that is read gets every line, and so does standard output.
    with Server(room / "d", "--access-log", "-") as s:
        for _ in range(5):
            s.ask("/healthz")
        lines = [s.process.stdout.readline() for _ in range(5)]
        assert all(LINE.fullmatch(line)[1] == "healthz" for line in lines), lines
        assert s.stop() == ""


def test_access_log_torn(room):
    """A line that did not fit is lost; those after it are whole again, also in the same file, and
    also if that was opened again."""
    build(room / "d", malware=HOSTS)
    check_torn(room, room / "log", False)
    check_torn(room, room / "again", True)


def check_torn(room, log, again):
    with Server(room / "d", "--access-log", log) as s:
        s.ask("/healthz")
        size = len(read_log(s, log, 1)) and log.stat().st_size
        resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (size + size // 2, -1))
        s.ask("/healthz")
        s.wait_for(lambda: s.metric("access_log_lost_lines_total") >= 1, "a lost line")
        assert log.stat().st_size == size + size // 2
        if again:
            s.hup()
            time.sleep(0.5)
        resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (-1, -1))
        s.ask("/v1/update")
        s.wait_for(lambda: " update 200 " in log.read_text(), "a line")
        said = s.stop().splitlines()
        if again:  # the signal asks for two things, and the limit is in the way of the other, too
            assert "still serving version 1" in said.pop(), said
        assert len(said) == 1 and "File too large" in said[0], said
    lines = log.read_text().splitlines(keepends=True)
    whole = [LINE.fullmatch(line) for line in lines]
    assert whole[0] and not whole[1] and all(whole[2:]), lines
    assert len(lines[1]) == size // 2 + 1, lines  # alone, not glued to the next
    assert "update" in "".join(lines[2:])


def test_access_log_many(room):
    """Every answer has its line, however many threads answer, and also across rotations."""
    build(room / "d", malware=HOSTS)
    log = room / "log"
    with Server(room / "d", "--access-log", log, "--threads", "3") as s:
        def ask():
            connection = s.connect()
            for i in range(500):
                s.ask(f"/v1/confirm?prefix={i:08x}", on=connection)
            connection.close()
        askers = [threading.Thread(target=ask) for _ in range(4)]
        for a in askers:
            a.start()
        for i in range(5):
            log.rename(room / f"log.{i}")
            s.hup()
            s.wait_for(log.exists, "a new file")
        for a in askers:
            a.join()
        assert s.metric("access_log_lost_lines_total") == 0
        assert s.stop() == ""
    text = "".join(f.read_text() for f in room.glob("log*"))
    lines = text.splitlines(keepends=True)
    assert all(LINE.fullmatch(line) for line in lines)
    assert sum(" confirm 200 " in line for line in lines) == 2000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-service-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
