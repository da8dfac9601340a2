"""The guard's server end to end, over real HTTP: its answers, and new versions while it serves."""
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
# noqa: E402
from serving import BUILD, PATIENCE, SOURCE, TAMIS, Server, Answer, build, main, prefix, sha, tamis

HOSTS = [f"evil{i}.example" for i in range(3000)]
PUBLIC = "/filter /delta /removed /v1/confirm /v1/update".split()
PRIVATE = "/ /metrics /healthz".split()


def two_versions(room):
    """A directory whose version 2 has a delta and removed ones."""
    build(room / "d", malware=HOSTS, phishing=HOSTS[:10])
    build(room / "d", malware=HOSTS[20:] + ["new.example"], phishing=HOSTS[:10])
    return room / "d"


def test_confirm(room):
    with Server(two_versions(room)) as s:
        got = s.confirm(prefix("evil3.example"), prefix("evil50.example").upper(), "00000000",
                        prefix("evil3.example"))
        assert got == {"version": 2, "hashes": [sha("evil3.example"), sha("evil50.example")],
                       "labels": [["phishing"], ["malware"]], "cache_seconds": 300}, got
        assert s.confirm(prefix("evil15.example"))["hashes"] == []  # removed
        assert s.confirm(prefix("new.example"))["labels"] == [["malware"]]
        most = [f"{i:08x}" for i in range(29)] + [prefix("evil99.example")]
        assert s.confirm(*most)["hashes"] == [sha("evil99.example")]
        escaped = "".join(f"%{ord(c):02x}" for c in prefix("evil99.example"))
        assert s.confirm(escaped)["hashes"] == [sha("evil99.example")]
        p = prefix("evil99.example")
        bad = ["", "?", "?prefix", "?prefix=", f"?prefix={p[:7]}", f"?prefix={p}0",
               f"?prefix={p[:7]}g", f"?prefix=+{p[1:]}",
               f"?prefix=0x{p[2:]}", f"?prefix={p}%00", f"?prefix={p[:7]}%00", f"?prefix={p}&x=1",
               f"?Prefix={p}",
               f"?prefix={p}&prefix=", "?" + "&".join(["prefix=" + p] * 31),
               f"?prefix={p}&version=2", f"?prefix=%zz{p[3:]}"]
        for query in bad:
            answer = s.ask("/v1/confirm" + query)
            assert answer.status == 400 and list(answer.json()) == ["error"], \
                (query, answer.status, answer.body)
        assert s.metric("confirm_prefixes_total") == 37 and s.metric("confirm_hashes_total") == 5
        assert s.stop() == ""


def test_everything_listed(room):
    """Every listed host is confirmed, with its full hash."""
    with Server(two_versions(room)) as s:
        connection = s.connect()
        listed = HOSTS[:10] + HOSTS[20:] + ["new.example"]
        for i in range(0, len(listed), 30):
            some = listed[i:i + 30]
            hashes = s.confirm(*map(prefix, some), on=connection)["hashes"]
            assert {sha(host) for host in some} <= set(hashes)


def check_part(s, path, part, immutable, kind="application/octet-stream"):
    whole = s.ask(path)
    tag = f'"{part["sha256"]}"'
    n = part["bytes"]
    assert whole.status == 200 and len(whole.body) == n
    assert hashlib.sha256(whole.body).hexdigest() == part["sha256"] and whole.fields["ETag"] == tag
    assert whole.fields["Content-Type"] == kind
    assert whole.fields["Cache-Control"] \
        == ("public, max-age=31536000, immutable" if immutable else "no-cache")
    for match in [tag, "*", f'"x", {tag}', f"W/{tag}", f'"x",W/{tag} , "y"']:
        answer = s.ask(path, If_None_Match=match)
        assert (answer.status, answer.body, answer.fields["ETag"]) == (304, b"", tag), match
    for match in ['"x"', tag[:-2] + '"', tag.strip('"'), tag + "x", ""]:
        assert s.ask(path, If_None_Match=match).status == 200, match
    for wanted, a, b in [("0-0", 0, 1), ("1-3", 1, 4), ("5-", 5, n), ("-4", n - 4, n),
                         (f"-{n + 9}", 0, n),
                         (f"2-{n + 9}", 2, n), (f"{n - 1}-{10**30}", n - 1, n), ("0-", 0, n)]:
        answer = s.ask(path, Range="bytes=" + wanted)
        assert answer.status == 206 and answer.body == whole.body[a:b], wanted
        assert answer.fields["Content-Range"] == f"bytes {a}-{b - 1}/{n}" \
            and answer.fields["ETag"] == tag
    for wanted in [f"{n}-", f"{n}-{n + 1}", "-0", f"{10**30}-"]:
        answer = s.ask(path, Range="bytes=" + wanted)
        assert answer.status == 416 and answer.fields["Content-Range"] == f"bytes */{n}", wanted
    for wanted in ["bytes=0-1,3-4", "bytes=3-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=1",
                   "lines=0-1", "bytes=0-1x", ""]:
        assert s.ask(path, Range=wanted).body == whole.body, wanted
    assert s.ask(path, Range="bytes=0-0", If_Range=tag).status == 206
    assert s.ask(path, Range="bytes=0-0", If_Range='"x"').body == whole.body
    assert s.ask(path, Range="bytes=0-0", If_None_Match=tag).status == 304
    assert s.ask(path, method="HEAD", Range="bytes=0-0").status == 200
    twice = s.raw(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-0\r\nRange: bytes=1-1\r\n"
        f"Connection: close\r\n\r\n".encode())
    assert twice.startswith(b"HTTP/1.1 200 ") and twice.endswith(whole.body)
    return whole.body


def test_parts(room):
    with Server(two_versions(room)) as s:
        update = s.ask("/v1/update").json()
        for name, version in [("filter", 1), ("delta", 2), ("removed", 2)]:
            part = update[name]
            assert part["url"] == f"/{name}?version={version}"
            assert check_part(s, part["url"], part, True) == check_part(s, "/" + name, part, False)
            for other in [0, 3 - version, 3, 2**64 - 1]:
                answer = s.ask(f"/{name}?version={other}")
                assert answer.status == 404 and "error" in answer.json(), other
            for bad in ["", "x", "-1", "1x", "1.0", str(2**64), "+1", "1&version=1", "1&x=1",
                        "1%00"]:
                answer = s.ask(f"/{name}?version={bad}")
                assert answer.status == 400 and "error" in answer.json(), bad
        removed = s.ask("/removed").body
        prefixes = [removed[i:i + 4].hex() for i in range(0, len(removed), 4)]
        assert prefixes == sorted(prefix(host) for host in HOSTS[10:20])
        assert s.stop() == ""
    build(room / "e", malware=HOSTS[:5])
    with Server(room / "e") as s:
        update = s.ask("/v1/update").json()
        assert update["delta"] is None and update["removed"] is None
        assert s.ask("/delta").status == 404 and s.ask("/removed?version=1").status == 404


def test_update(room):
    hosts = [f"host{i}.example" for i in range(20000)]
    build(room / "d", malware=hosts)
    with Server(room / "d", "--cache", "77") as s:
        first = s.ask("/v1/update").json()
        assert (first["version"], first["base"], first["unchanged"], first["entries"]) \
            == (1, 1, False, 20000)
        assert first["labels"] == ["malware"] and first["cache_seconds"] == 77 \
            and 0 < first["rate"] < 1e-6
        assert len(first["id"]) == 32 and first["built"] > 1.6e9
        same = s.ask("/v1/update?from=1").json()
        assert same["unchanged"] is True and same["id"] == first["id"]
        assert not {"filter", "delta", "removed"} & set(same)
        # One in a hundred changes: far less to fetch than the whole.
        build(room / "d", malware=hosts[100:] + [f"new{i}.example" for i in range(100)])
        s.hup()
        s.wait_for(lambda: s.ask("/v1/update").json()["version"] == 2, "version 2")
        second = s.ask("/v1/update?from=1").json()
        assert second["base"] == 1 and second["filter"] == first["filter"] \
            and second["unchanged"] is False
        assert 0 < second["delta"]["bytes"] + second["removed"]["bytes"] < first["filter"][
            "bytes"] / 20
        # Half of it: a new base.
        build(room / "d", malware=hosts[:10000])
        s.hup()
        s.wait_for(lambda: s.ask("/v1/update").json()["version"] == 3, "version 3")
        third = s.ask("/v1/update?from=2").json()
        assert third["base"] == 3 and third["delta"] is None and third["removed"] is None
        assert s.ask("/filter?version=1").status == 404
        assert s.ask("/v1/update?from=99").json()["unchanged"] is False
        for bad in ["", "x", "-1", "1&from=1", "1&x=2", str(2**64)]:
            assert s.ask("/v1/update?from=" + bad).status == 400, bad
        assert s.metric("reloads_total") == 2 and s.metric("version") == 3 \
            and s.metric("entries") == 10000
        assert s.stop() == ""


def test_fields(room):
    with Server(two_versions(room)) as s:
        ok = {path: path + ("?prefix=00000000" if "confirm" in path else "")
              for path in PUBLIC + PRIVATE}
        for path, url in ok.items():
            get, head = s.ask(url), s.ask(url, method="HEAD")
            assert get.status == head.status == 200 and head.body == b"", path
            if path != "/metrics":
                assert head.fields["Content-Length"] == str(len(get.body)), path
            for answer in get, head:
                assert answer.fields["X-Content-Type-Options"] == "nosniff"
                assert answer.fields["Access-Control-Allow-Origin"] \
                    == ("*" if path in PUBLIC else None), path
            for method in "POST PUT DELETE PATCH TRACE FOO".split() + ["OPTIONS"] * (
                    path in PRIVATE):
                answer = s.ask(url, method=method)
                allow = "GET, HEAD, OPTIONS" if path in PUBLIC else "GET, HEAD"
                assert answer.status == 405 and answer.fields["Allow"] == allow \
                    and "error" in answer.json(), method
            if path in PUBLIC:
                answer = s.ask(path, method="OPTIONS", Origin="https://a.example",
                               Access_Control_Request_Method="GET")
                assert answer.status == 204 and answer.fields["Access-Control-Allow-Origin"] == "*"
                assert "Range" in answer.fields["Access-Control-Allow-Headers"]
        assert s.ask("/healthz").body == b"ok\n"
        for path in ["/x", "/filter/", "//filter", "/v1", "/v1/", "/v1/confirm/", "/filter%00",
                     "/filter%00.x", "/FILTER",
                     "/../filter", "/%2e%2e/etc/passwd", "/manifest", "/1.store", "*"]:
            answer = s.ask(path)
            assert answer.status == 404 and "error" in answer.json(), path
        assert s.ask("/f%69lter").status == 200
        metrics = s.metrics()
        assert metrics['tamis_guard_requests_total{endpoint="filter",status="204"}'] == 1
        assert metrics['tamis_guard_requests_total{endpoint="other",status="404"}'] == 14
        assert metrics["tamis_guard_sent_bytes_total"] > 10000 \
            and metrics["tamis_guard_connections"] >= 1
        assert s.stop() == ""


TYPES = {".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
         ".mjs": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml", ".wasm": "application/wasm"}
STRICT = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; ")


def test_page(room):
    """The files of build/page, from the program itself; where it was built without them, the bare
    facts and how to get more."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    made = all(line in cache for line in ["TAMIS_WEB:BOOL=ON", "WASM_CLANG:FILEPATH=/",
                                          "WASM_LD:FILEPATH=/"])
    files = sorted((BUILD / "page").glob("*")) if made else []
    assert made == bool(files)
    with Server(two_versions(room)) as s:
        page = s.ask("/")
        policy = page.fields["Content-Security-Policy"]
        assert page.status == 200 and page.fields["Content-Type"] == TYPES[".html"] \
            and page.fields["Referrer-Policy"] == "no-referrer"
        assert policy.endswith("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"), \
            policy
        if not files:
            assert b"built without its page" in page.body and b"clang lld" in page.body \
                and b"Version 2" in page.body
            assert policy.startswith("default-src 'none'; base-uri") and b"http:" not in page.body
            assert s.ask("/index.html").status == 404
        for file in files:
            path, whole = "/" + file.name, file.read_bytes()
            if file.name == "server.mjs":
                whole = (SOURCE / "web/page/served/server.mjs").read_bytes()
            answer = check_part(s, path,
                                {"sha256": hashlib.sha256(whole).hexdigest(), "bytes": len(whole)},
                                False, TYPES[file.suffix])
            assert answer == whole, path
            fields = s.ask(path).fields
            assert fields["Content-Security-Policy"] == policy \
                and fields["X-Content-Type-Options"] == "nosniff", path
            assert fields["Access-Control-Allow-Origin"] is None \
                and fields["Cross-Origin-Resource-Policy"] == "same-origin", path
            assert s.ask(path, method="POST").fields["Allow"] == "GET, HEAD", path
        if files:
            assert page.body == (BUILD / "page/index.html").read_bytes() \
                and policy.startswith(STRICT)
            # The same policy for other servers, except for what only a field can express.
            text = " ".join(page.body.decode().split())
            assert policy.removesuffix("; frame-ancestors 'none'") in text
            for name in re.findall(r'(?:src|href)="([^"#]+)"', page.body.decode()):
                assert s.ask("/" + name).status == 200 and ":" not in name, name
            for module in (file for file in files if file.suffix == ".mjs"):
                text = module.read_text()
                for name in re.findall(r"from '([^']+)'", text):
                    assert s.ask("/" + name.removeprefix("./")).status == 200, (module, name)
                assert "innerHTML" not in text and "eval(" not in text
            assert {"tamis.wasm", "core.mjs", "guard.mjs",
                    "style.css"} <= {file.name for file in files}
        assert s.metrics()['tamis_guard_requests_total{endpoint="page",status="200"}'] >= 1
        for path in ["/page", "/index", "/cells.c", "/served/server.mjs", "/index.html/",
                     "/../index.html", "/INDEX.HTML"]:
            assert s.ask(path).status == 404, path
        assert s.stop() == ""


def test_ipv6(room):
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        return
    build(room / "d", malware=HOSTS)
    with Server(room / "d", "--address", "::1", "--rate-limit", "1000") as s:
        assert s.host == "::1" and s.ask("/healthz").status == 200
    with Server(room / "d", "--address", "::", "--rate-limit", "1000") as s:
        for host in "::1", "127.0.0.1":
            s.host = host
            assert s.ask("/healthz").status == 200
        assert s.stop() == ""


def publish_copies(source, target, names):
    """The files of one directory into another, the manifest last and at once."""
    for name in names:
        shutil.copy(source / name, target / (name + "~"))
        os.rename(target / (name + "~"), target / name)


def test_damaged_version(room):
    d, copy = room / "d", room / "copy"
    build(d, malware=HOSTS)
    with Server(d) as s:
        shutil.copytree(d, copy)
        build(copy, malware=HOSTS[1:])
        good = (copy / "2.store").read_bytes()
        # All but the store: it must never be whole beside this manifest, whenever the server looks.
        publish_copies(copy, d, ["2.removed"])
        for damage in [good[:5000] + bytes([good[5000] ^ 1]) + good[5001:], good[:-1], good + b"x",
                       b"", None]:
            if damage is None:
                (d / "2.store").unlink()
            else:
                (d / "2.store").write_bytes(damage)
            failed = s.metric("failed_reloads_total")
            publish_copies(copy, d, ["manifest"])
            for _ in range(3):
                s.hup()
                s.wait_for(lambda: s.metric("failed_reloads_total") > failed, "a failed reload")
                failed = s.metric("failed_reloads_total")
            got = s.confirm(prefix(HOSTS[0]))
            assert got["version"] == 1 and got["hashes"] == [sha(HOSTS[0])]
            assert s.ask("/healthz").status == 200
        (d / "manifest").write_bytes(b"tamis-guard 1\nversion 3\n")
        s.hup()
        s.wait_for(lambda: s.metric("failed_reloads_total") > failed, "a damaged manifest")
        failed = s.metric("failed_reloads_total")
        os.rename(d, room / "elsewhere")
        s.hup()
        s.wait_for(lambda: s.metric("failed_reloads_total") > failed, "a missing directory")
        assert s.confirm(prefix(HOSTS[0]))["version"] == 1
        # And whole at last.
        shutil.copytree(copy, d)
        s.hup()
        s.wait_for(lambda: s.metric("version") == 2, "version 2")
        assert s.confirm(prefix(HOSTS[0]))["hashes"] == [] and s.metric("reloads_total") == 1
        lines = s.stop().strip().split("\n")
    # One line for each failure of a new sort: the sum (four times the same words), the missing
    # file, the manifest, the directory.
    assert len(lines) == 4 and all("still serving version 1" in line for line in lines), lines


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
/* A store that fails, or that never ends, while a file says so. */
int mdb_cursor_get(void *cursor, void *key, void *value, int op)
{
    static int (*real)(void *, void *, void *, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "mdb_cursor_get");
    if (access(getenv("SHIM_FAIL"), F_OK) == 0) return -30796;
    if (op == 8 && access(getenv("SHIM_LOOP"), F_OK) == 0) return 0;
    return real(cursor, key, value, op);
}
"""


def test_store_in_doubt(room):
    """A store that cannot tell is never taken for one that says no."""
    if "sanitize" in os.environ.get("TEST_CFLAGS", ""):
        return  # cannot be preloaded into
    (room / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", room / "shim.c", "-o", room / "shim.so"],
                   check=True)
    build(room / "d", malware=HOSTS)
    fail, loop = room / "fail", room / "loop"
    with Server(room / "d", environment={"LD_PRELOAD": str(room / "shim.so"),
                                         "SHIM_FAIL": str(fail),
                                         "SHIM_LOOP": str(loop)}) as s:
        for flag in fail, loop:
            assert s.confirm(prefix(HOSTS[0]))["hashes"] == [sha(HOSTS[0])]
            flag.touch()
            answer = s.ask(f"/v1/confirm?prefix=00000000&prefix={prefix(HOSTS[0])}")
            assert answer.status == 503 and answer.json() == {"error": "cannot confirm"}, \
                answer.body
            flag.unlink()
        assert s.confirm(prefix(HOSTS[0]))["hashes"] == [sha(HOSTS[0])]
        assert s.stop() == ""


class Asker(threading.Thread):
    """Asks and asks; every answer must be that of the version it names."""
    def __init__(self, server, markers):
        super().__init__()
        self.server, self.markers = server, markers
        self.enough, self.wrong, self.asked, self.seen = threading.Event(), [], 0, set()
        self.start()

    def once(self, connection, chance):
        if chance.random() < 0.7:
            got = self.server.confirm(*map(prefix, self.markers), on=connection)
            if got["hashes"] != [sha(self.markers[got["version"]])]:
                self.wrong.append(got)
        else:
            got = self.server.ask("/v1/update", on=connection).json()
            for name in "filter", "delta", "removed":
                if got[name] is None:
                    continue
                answer = self.server.ask(got[name]["url"], on=connection)
                if answer.status == 200 \
                        and hashlib.sha256(answer.body).hexdigest() != got[name]["sha256"]:
                    self.wrong.append((got, name))
                if answer.status != 200:  # only when there is a newer one by now
                    later = self.server.ask("/v1/update", on=connection).json()
                    if answer.status != 404 or later["version"] == got["version"]:
                        self.wrong.append((got, name, answer.status))
        self.seen.add(got["version"])
        self.asked += 1

    def run(self):
        chance, connection = random.Random(self.name), self.server.connect()
        try:
            while not self.enough.is_set():
                self.once(connection, chance)
        except Exception as error:
            self.wrong.append(repr(error))


def test_new_versions_while_serving(room):
    markers = [f"marker{i}.example" for i in range(9)]
    common = [f"common{i}.example" for i in range(1000)]

    def publish(i):  # each third is a new base
        extra = [f"more{i}-{j}.example" for j in range(300)] if i % 3 == 0 else []
        build(room / "d", malware=common + extra + [markers[i]])
    publish(1)
    with Server(room / "d", "--threads", "3") as s:
        askers = [Asker(s, markers) for _ in range(4)]
        for i in range(2, 9):
            # None of the askers starves between the versions.
            seen = [a.asked for a in askers]
            s.wait_for(lambda: all(a.wrong or a.asked > n + 5 for a, n in zip(askers, seen)),
                       "answers")
            publish(i)
            if i % 2 == 0:
                s.hup()  # else it must find out by itself
            s.wait_for(lambda: s.metric("version") == i, f"version {i}")
        for a in askers:
            a.enough.set()
        for a in askers:
            a.join()
            assert a.wrong == [], a.wrong[:3]
        assert set().union(*(a.seen for a in askers)) >= set(range(2, 8))
        assert s.metric("reloads_total") == 7 and s.metric("failed_reloads_total") == 0
        assert s.stop() == ""


def test_stops(room):
    """What has been asked is answered in full, then it ends."""
    build(room / "d", malware=[f"host{i}.example" for i in range(150000)])
    for ending in signal.SIGTERM, signal.SIGINT:
        with Server(room / "d") as s, socket.socket() as slow:
            whole = s.ask("/filter").body
            before = s.metric("sent_bytes_total")
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.settimeout(60)
            slow.connect((s.host, s.port))
            slow.sendall(b"GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n" * 30)
            # Far more than the buffers between us hold: it stops in the middle of an answer.
            s.wait_for(lambda: s.metric("sent_bytes_total") >= before + len(whole), "a start")
            s.process.send_signal(ending)
            got = b""
            while piece := slow.recv(1 << 20):
                got += piece
            answers = got.count(b"HTTP/1.1 200 OK\r\n")
            last = got[got.rindex(b"HTTP/1.1 200 OK\r\n"):]
            assert 2 <= answers < 30 and got.count(whole) == answers, answers
            assert b"Connection: close" in last[:1000] and last.endswith(whole)
            said = s.process.communicate(timeout=60)[1]
            assert s.process.returncode == 0 and said == "", said
    build(room / "d", malware=HOSTS)
    with Server(room / "d") as s:  # idle connections do not hold it up
        idle = [s.socket() for _ in range(10)]
        kept = s.connect()
        s.ask("/healthz", on=kept)
        assert s.stop() == ""
        for one in idle:
            one.close()


def test_stops_at_the_limit(room):
    """A thread of libmicrohttpd that reaches its limit of connections while the server stops cannot
    go on. The server still ends in order."""
    build(room / "d", malware=HOSTS)
    for _ in range(10):  # until the signal arrives during the delay
        # The third call of the thread that answers removes the listening socket.
        p = subprocess.Popen(["strace", "-D", "-f", "-qq", "-o", os.devnull, "-e",
                              "trace=epoll_ctl", "-e",
                              "inject=epoll_ctl:delay_enter=1500000:when=3", TAMIS, "guard",
                              "serve", room / "d", "--port", "0", "--threads", "1",
                              "--connections", "2", "--timeout", "2s"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        port = int(p.stdout.readline().rsplit(":", 1)[1].strip("/\n"))
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
        time.sleep(0.3)
        p.terminate()
        said = p.communicate(timeout=60)[1]
        for client in clients:
            client.close()
        assert p.returncode == 0, (p.returncode, said)
        if said != "":
            break
    assert said.startswith("tamis: libmicrohttpd ended one of the threads") \
        and said.count("\n") == 1, said


def test_cannot_say_where(room):
    """It serves all the same, says the port where it can, and the exit status tells."""
    build(room / "d", malware=HOSTS)
    with open("/dev/full", "w") as full:
        p = subprocess.Popen([TAMIS, "guard", "serve", room / "d", "--port", "0"], stdout=full,
                             stderr=subprocess.PIPE, text=True)
    said = p.stderr.readline()
    port = re.fullmatch(r"tamis: standard output: cannot write the address; "
                        r"the server is listening at port (\d+)\n", said)
    assert port, said
    with socket.create_connection(("127.0.0.1", int(port[1])), timeout=PATIENCE):
        pass
    p.terminate()
    said = p.communicate(timeout=PATIENCE)[1]
    assert p.returncode == 2 and "cannot write: No space left on device" in said, \
        (p.returncode, said)


def test_does_not_start(room):
    build(room / "d", malware=HOSTS)
    (room / "empty").mkdir()
    tamis("guard", "serve", room / "none", "--port", "0", status=2)
    tamis("guard", "serve", room / "empty", "--port", "0", status=2)
    for bad in ["65536", "-1", "x", "1x", ""]:
        tamis("guard", "serve", room / "d", "--port", bad, status=2)
    for bad in ["localhost", "1.2.3", "::g", "[::1]", ""]:
        tamis("guard", "serve", room / "d", "--port", "0", "--address", bad, status=2)
    tamis("guard", "serve", room / "d", "--port", "0", "--connections", "5000000000", status=2)
    with Server(room / "d") as s:
        tamis("guard", "serve", room / "d", "--port", s.port, status=2)
    store = bytearray((room / "d" / "1.store").read_bytes())
    store[4000] ^= 1
    (room / "d" / "1.store").write_bytes(store)
    tamis("guard", "serve", room / "d", "--port", "0", status=2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-server-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
