"""The guard's server under crowds: silent clients, slow readers, floods of connections, and too few
descriptors. What they can take is bounded, and others are served."""
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
# noqa: E402
from serving import PATIENCE, TAMIS, Server, build, main, prefix, sha

HOSTS = [f"evil{i}.example" for i in range(1000)]
MONITORED = ("--metrics-address", "127.0.0.1:0")


def connect_from(s, source):
    return socket.create_connection((s.host, s.port), timeout=PATIENCE, source_address=(source, 0))


def memory_of(s):
    """Resident kilobytes, and open descriptors."""
    with open(f"/proc/{s.process.pid}/status") as f:
        resident = next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
    return resident, len(os.listdir(f"/proc/{s.process.pid}/fd"))


def confirms(s, connection=None):
    return s.confirm(prefix(HOSTS[5]), on=connection)["hashes"] == [sha(HOSTS[5])]


def test_crowd_of_silent_clients(room):
    """When they have nearly all connections, they are cut long before their time."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", *MONITORED, "--connections", "20", "--threads", "2", "--timeout",
                "1000", "--per-address", "20") as s:
        silent = [connect_from(s, f"127.0.1.{i}") for i in range(1, 41)]
        for one in silent[::2]:
            one.sendall(b"GET /filter HTTP/1.1\r\nHost: ")  # or half a head
        assert confirms(s)  # far sooner than after 1000 s, or this never ends
        assert s.metric("slow_connections_total") >= 1
        assert s.metric("connection_limit") == 20
        for one in silent:
            one.close()
        s.wait_for(lambda: s.metric("connections") == 0, "all gone")
        cut = s.metric("slow_connections_total")
        idle = connect_from(s, "127.0.1.1")  # alone, it may be silent for longer
        time.sleep(2.5)
        assert s.metric("connections") == 1 and s.metric("slow_connections_total") == cut
        idle.close()
        assert s.stop() == ""
    # The idle connections of a trusted proxy stay.
    with Server(room / "d", *MONITORED, "--connections", "10", "--trust-proxy", "127.0.0.1",
                "--timeout", "1000") as s:
        kept = [s.connect() for _ in range(9)]
        for connection in kept:
            assert s.ask("/healthz", on=connection).status == 200
        time.sleep(2.5)
        for connection in kept:
            assert s.ask("/healthz", on=connection).status == 200
        assert s.metric("slow_connections_total") == 0 and s.metric("connections") == 9
        assert s.stop() == ""


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
/* Small buffers, so that the server notices each piece that its client takes. */
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    static int (*real)(int, struct sockaddr *, socklen_t *, int);
    const int bytes = 1024;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "accept4");
    const int got = real(fd, address, size, flags);
    setsockopt(got, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return got;
}
"""


def test_slow_reader(room):
    """Taking an answer piece by piece is not silence, but it ends as well."""
    if "sanitize" in os.environ.get("TEST_CFLAGS", ""):
        return  # cannot be preloaded into
    (room / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", room / "shim.c", "-o", room / "shim.so"],
                   check=True)
    build(room / "d", malware=[f"host{i}.example" for i in range(24000)])
    p = subprocess.Popen([TAMIS, "guard", "serve", room / "d", "--address", room / "socket",
                          "--timeout", "6", "--metrics-address", "127.0.0.1:0"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=dict(os.environ, LD_PRELOAD=str(room / "shim.so")))
    try:
        p.stdout.readline()
        metrics = p.stdout.readline().split()[-1]
        with socket.socket(socket.AF_UNIX) as slow:
            slow.settimeout(PATIENCE)
            slow.connect(str(room / "socket"))
            slow.sendall(b"GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n")
            got = 0
            start = time.monotonic()
            piece = b"x"
            while piece:  # half of the slowest rate, in pieces that are never far apart
                piece = slow.recv(max(1, int(2000 * (time.monotonic() - start)) - got))
                got += len(piece)
                assert got < 70000, "it may take all"
                time.sleep(0.4)
        assert time.monotonic() - start > 2 * 6, "before its time"
        with urllib.request.urlopen(metrics) as answer:  # and not because of silence
            assert b"\ntamis_guard_slow_connections_total 1\n" in answer.read()
        p.terminate()
        assert p.communicate(timeout=PATIENCE)[1] == "" and p.returncode == 0
    finally:
        p.kill()
        p.communicate()
    # A client that takes its time within the limit gets everything.
    with Server(room / "d", "--timeout", "30") as s, s.socket() as patient:
        patient.sendall(b"GET /filter HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        got = b""
        while piece := patient.recv(300):
            got += piece
            time.sleep(0.05)
        assert got.endswith(s.ask("/filter").body) and s.metric("slow_connections_total") == 0
        assert s.stop() == ""


def test_memory(room):
    """A thousand connections take what the document says, however long their heads are, and
    nothing is left of them."""
    build(room / "d", malware=HOSTS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    head = b"GET /filter HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 6000
    with Server(room / "d", *MONITORED, "--per-address", "1000", "--timeout", "15") as s:
        assert confirms(s)
        before, descriptors = memory_of(s)
        crowd = [s.socket() for _ in range(890)]
        for one in crowd:
            one.sendall(head)
        s.wait_for(lambda: s.metric("connections") == len(crowd), "a crowd")
        assert confirms(s)
        resident, _ = memory_of(s)
        if "sanitize" not in os.environ.get("TEST_CFLAGS", ""):
            assert resident - before < 20000, (before, resident)
        for one in crowd:
            one.close()
        s.wait_for(lambda: memory_of(s)[1] <= descriptors, "closed descriptors")
        assert s.metric("connections") == 0 and confirms(s) and s.stop() == ""
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connection_flood(room):
    """Connections that come and go as fast as they can, from one address and from many."""
    build(room / "d", malware=HOSTS)
    with Server(room / "d", *MONITORED, "--per-address", "8") as s:
        enough = threading.Event()

        def flood(number):
            n = 0
            while not enough.is_set():
                n += 1
                try:
                    one = connect_from(s, f"127.{number}.{n // 250 % 250}.{n % 250 + 1}"
                                       if number else "127.0.0.9")
                    if n % 3 == 0:
                        one.sendall(b"GET / HT")
                    if n % 5 == 0:  # a reset instead of an end
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    if n % 2 == 0:
                        held[number].append(one)
                        if len(held[number]) > 50:
                            held[number].pop(0).close()
                    else:
                        one.close()
                except OSError:
                    pass
        held = [[] for _ in range(3)]
        floods = [threading.Thread(target=flood, args=(i,)) for i in range(3)]
        for f in floods:
            f.start()
        try:
            for _ in range(100):  # on new connections
                assert confirms(s)
            s.wait_for(lambda: s.metric("refused_connections_total") > 0, "refused ones")
        finally:
            enough.set()
            for f in floods:
                f.join()
        for one in sum(held, []):
            one.close()
        s.wait_for(lambda: s.metric("connections") == 0, "all gone")
        assert confirms(s) and s.stop() == ""


def test_few_descriptors(room):
    """With fewer descriptors than connections, the server has fewer connections, and can still
    load a new version while all are in use."""
    build(room / "d", malware=HOSTS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wrapper = room / "few"
    wrapper.write_text(f"#!/bin/sh\nulimit -n $FILES\nexec '{TAMIS}' \"$@\"\n")
    wrapper.chmod(0o755)
    words = [wrapper, "guard", "serve", room / "d", "--port", "0", "--threads", "2",
             "--per-address", "1000", "--timeout", "60", "--access-log", room / "log"]
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ, FILES="100"))
    assert done.returncode == 2 and "may open only 100 files" in done.stderr, done
    os.environ["FILES"] = "200"
    import serving
    plain, serving.TAMIS = serving.TAMIS, str(wrapper)
    try:
        with Server(room / "d", *MONITORED, *map(str, words[6:])) as s:
            said = s.process.stderr.readline()
            most = s.metric("connection_limit")
            assert said == (f"tamis: at most {most} connections, because the process may open "
                            "only 200 files\n"), said
            assert 50 <= most < 200
            kept = s.connect("127.0.0.2")
            assert confirms(s, kept)
            crowd = [s.socket() for _ in range(300)]
            for one in crowd:
                one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
            s.wait_for(lambda: s.metric("connections") >= most * 9 // 10, "a crowd")
            serving.TAMIS = plain
            build(room / "d", malware=HOSTS[:500])
            s.hup()
            s.wait_for(lambda: s.metric("version") == 2, "version 2")
            assert s.metric("failed_reloads_total") == 0
            for one in crowd:
                one.close()
            assert confirms(s) and s.stop() == ""
    finally:
        serving.TAMIS = plain
        del os.environ["FILES"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-floods-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
