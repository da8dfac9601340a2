"""'guard fetch' against servers that are right, slow, broken and hostile. Whatever happens, a list
is the new one or the old one, the others are still fetched, and no URL is printed."""
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import PATIENCE, TAMIS, main, tamis  # noqa: E402
from terminal import Terminal  # noqa: E402
from list_server import (Lists, answer, bomb, drip, endless, endless_head,  # noqa: E402
                         make_certificate, raw, redirect, versioned)

OLD = "".join(f"old{i}.example\n" for i in range(100)).encode()
NEW = "".join(f"new{i}.example\n" for i in range(120)).encode()
HTML = b"""<!DOCTYPE html>
<html>
<head><title>Sign in</title></head>
<body>
<h1>Please sign in to the network</h1>
<p>example.org</p>
</body>
</html>
"""
# No proxy of the machine is between the test and its servers.
CLEAN = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


class Result:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"exit {self.status}: {self.out}{self.err}"


def fetch(directory, *words, environment=None):
    return Result(subprocess.run([TAMIS, "guard", "fetch", str(directory), *map(str, words)],
                                 capture_output=True, text=True, timeout=PATIENCE,
                                 env=dict(CLEAN, **(environment or {}))))


def with_old(room, name="bad"):
    """A directory that has the old list, from no server that is still there."""
    (room / "lists").mkdir(exist_ok=True)
    path = room / "lists" / f"{name}.txt"
    path.write_bytes(OLD)
    return path


def refused(room, give, reason, *options, path="/list", servers=None):
    """The server gives this, and the old list stays."""
    with (servers or Lists()) as s:
        s.answers[path] = give
        bad = with_old(room)
        before = bad.stat().st_ino
        got = fetch(room / "lists", f"bad={s.url(path)}", *options)
        assert got.status == 2 and reason in got.err, (reason, got)
        assert got.err.startswith("tamis: bad: 127.0.0.1: ") and got.out == "", got
        assert got.err.endswith("; the old list stays\n") and got.err.count("\n") == 1, got
        assert bad.read_bytes() == OLD and bad.stat().st_ino == before
        assert sorted(os.listdir(room / "lists")) == ["bad.txt"], os.listdir(room / "lists")
        return s


def test_lists(room):
    """Several lists: some new, some replaced, and what the server knows is not sent again."""
    with Lists() as s:
        tag, date = '"v1"', "Wed, 21 Oct 2015 07:28:00 GMT"
        s.answers.update({"/a": versioned(OLD, ETag=tag), "/b": versioned(OLD, Last_Modified=date),
                          "/c": answer(200, OLD)})
        words = [f"{name}={s.url('/' + name)}" for name in "abc"]
        got = fetch(room / "lists", *words)
        assert got.status == 0 and got.err == "", got
        assert got.out == "".join(f"{name}: 100 entries, new\n" for name in "abc"), got
        paths = {name: room / "lists" / f"{name}.txt" for name in "abc"}
        nodes = {name: path.stat().st_ino for name, path in paths.items()}
        assert all(path.read_bytes() == OLD for path in paths.values())
        assert "If-None-Match" not in s.asked[0][1]
        del s.asked[:]
        got = fetch(room / "lists", *words)
        assert got.out == "".join(f"{name}: unchanged\n" for name in "abc") and got.status == 0, got
        assert {name: path.stat().st_ino for name, path in paths.items()} == nodes
        fields = dict(s.asked)
        assert fields["/a"]["If-None-Match"] == tag and "If-Modified-Since" not in fields["/a"]
        assert fields["/b"]["If-Modified-Since"] == date and "If-None-Match" not in fields["/b"]
        assert "If-None-Match" not in fields["/c"] and "If-Modified-Since" not in fields["/c"]
        assert fields["/c"]["User-Agent"].startswith("tamis/")
        s.answers["/a"] = versioned(NEW, ETag='"v2"')
        got = fetch(room / "lists", *words, "--json")
        assert [json.loads(line) for line in got.out.splitlines()] == [
            {"label": "a", "state": "new", "bytes": len(NEW), "entries": 120, "left_out": 0,
             "before": 100},
            {"label": "b", "state": "unchanged"}, {"label": "c", "state": "unchanged"}], got
        assert paths["a"].read_bytes() == NEW
        assert fetch(room / "lists", *words, "-q").out == ""
        # The build takes the directory, with the labels of the files and without their states.
        out = tamis("guard", "build", room / "guard", room / "lists")
        assert "listed    220 expressions" in out, out
        assert "(b, c: old7.example/)" in tamis("guard", "check", room / "guard", "old7.example")


def test_list_is_not_what_the_server_sent(room):
    """A list that somebody changed, and one from another URL, are fetched anew."""
    with Lists() as s:
        s.answers["/a"] = s.answers["/b"] = versioned(OLD, ETag='"v1"')
        path = room / "lists" / "a.txt"
        fetch(room / "lists", f"a={s.url('/a')}")
        path.write_bytes(OLD + b"by-hand.example\n")
        got = fetch(room / "lists", f"a={s.url('/a')}")
        assert got.out == "a: 100 entries, 101 before\n" and path.read_bytes() == OLD, got
        got = fetch(room / "lists", f"a={s.url('/b')}")
        assert got.out == "a: unchanged\n" and "If-None-Match" not in s.asked[-1][1], got
        state = room / "lists" / "a.state"
        assert state.stat().st_mode & 0o777 == 0o600
        whole = state.read_bytes()
        for damage in (b"", b"\0" * 100, b"x" * 5000, b"etag \x80\n" + whole, whole + b"more\n",
                       whole.replace(b"url ", b"url 0")):
            state.write_bytes(damage)
            got = fetch(room / "lists", f"a={s.url('/b')}")
            assert got.out == "a: unchanged\n" and "If-None-Match" not in s.asked[-1][1], damage
            assert state.read_bytes() == whole, damage
        path.unlink()
        assert fetch(room / "lists", f"a={s.url('/b')}").out == "a: 100 entries, new\n"


def test_odd_tags(room):
    """What cannot be sent back as it is, is not kept."""
    with Lists() as s:
        for tag in ('"' + "x" * 400 + '"', '"\x80"', '"a\tb"'):
            s.answers["/a"] = answer(200, OLD, ETag=tag)
            fetch(room / "lists", f"a={s.url('/a')}")
            assert b"etag" not in (room / "lists" / "a.state").read_bytes(), tag
            got = fetch(room / "lists", f"a={s.url('/a')}")
            assert got.out == "a: unchanged\n" and "If-None-Match" not in s.asked[-1][1], got


def test_not_the_list(room):
    half = b"".join(OLD.splitlines(True)[:49])
    refused(room, answer(200, b""), "0 invalid lines and 0 valid ones are not a list; --lenient")
    refused(room, answer(200, b"# nothing\n\n"), "0 valid ones")
    refused(room, answer(200, HTML, Content_Type="text/html"), "are not a list")
    refused(room, answer(200, b'{"error": "not found"}'), "are not a list")
    refused(room, answer(200, half), "the number of entries fell from 100 to 49; --lenient")
    refused(room, answer(200, half + half), "fell from 100 to 49")  # repeats do not count
    refused(room, answer(200, NEW + b"two words\n" * 121), "121 invalid lines and 120 valid ones")
    for body, entries in ((b"", 0), (HTML, 0), (half, 49)):
        with Lists() as s:
            bad = with_old(room)
            s.answers["/list"] = answer(200, body)
            got = fetch(room / "lists", f"bad={s.url('/list')}", "--lenient")
            assert got.out == f"bad: {entries} entries, 100 before\n" and got.status == 0, got
            assert bad.read_bytes() == body
    # Exactly half is enough, and so are as many invalid lines as entries.
    for body in (b"".join(OLD.splitlines(True)[:50]), NEW + b"two words\n" * 120):
        with Lists() as s:
            bad = with_old(room)
            s.answers["/list"] = answer(200, body)
            assert fetch(room / "lists", f"bad={s.url('/list')}").status == 0
            assert bad.read_bytes() == body
    # Without an old list there is nothing to compare with, but no entry is still an error.
    with Lists() as s:
        s.answers["/list"] = answer(200, HTML)
        got = fetch(room / "none", f"bad={s.url('/list')}")
        assert got.status == 2 and got.err.endswith("; there is no list yet\n"), got
        assert os.listdir(room / "none") == []


def test_damaged_old_list(room):
    """It counts as it can be read, so that a good list can replace it."""
    with Lists() as s:
        s.answers["/list"] = answer(200, b"".join(OLD.splitlines(True)[:2]))
        path = with_old(room)
        path.write_bytes(gzip.compress(OLD)[:-9])
        assert fetch(room / "lists", f"bad={s.url('/list')}").status == 0
        path.unlink()
        path.mkdir()
        got = fetch(room / "lists", f"bad={s.url('/list')}")
        assert got.status == 2 and "is not a regular file; the old list stays" in got.err, got


def test_state_cannot_be_written(room):
    """The new list is in place and is not called the old one; next time it is sent again."""
    with Lists() as s:
        s.answers["/list"] = versioned(NEW, ETag='"v1"')
        bad, state = with_old(room), room / "lists" / "bad.state"
        state.mkdir()
        got = fetch(room / "lists", f"bad={s.url('/list')}")
        assert got.status == 2 and "bad.state: " in got.err and bad.read_bytes() == NEW, got
        assert got.err.endswith("; the new list is in place, and is downloaded again next time\n")
        with_old(room)
        row = json.loads(fetch(room / "lists", f"bad={s.url('/list')}", "--json").out)
        assert row["state"] == "failed" and row["entries"] == 120 and row["before"] == 100, row
        got = fetch(room / "lists", f"bad={s.url('/list')}")  # the same list once more
        assert got.status == 2 and got.err.endswith("; the old list stays\n"), got
        state.rmdir()
        assert fetch(room / "lists", f"bad={s.url('/list')}").out == "bad: unchanged\n"
        assert "If-None-Match" not in s.asked[-1][1]


def test_statuses(room):
    for status in (204, 206, 300, 400, 401, 403, 404, 410, 429, 500, 503):
        refused(room, answer(status, b"" if status == 204 else HTML), f"with status {status}")
    refused(room, answer(301, HTML), "with status 301")  # it does not say where to
    refused(room, answer(304), "with status 304")  # nobody asked whether it is modified


def test_incomplete(room):
    """A body that ends early is noticed, whatever says where its end is."""
    refused(room, answer(200, NEW, length=len(NEW) + 1), "transfer closed")
    refused(room, raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                      b"%x\r\n%s\r\n" % (len(NEW), NEW)), "transfer closed")
    refused(room, raw(b"HTTP/1.0 200 OK\r\n\r\n", NEW),
            "the server did not state the length of the list, so its end may be missing")
    refused(room, raw(b"HTTP/1.1 200 OK\r\nContent-Length: "), "did not state the length")
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
    for fields in (b"Content-Length: %d\r\nTransfer-Encoding: identity\r\n" % (len(NEW) + 1),
                   b"Transfer-Encoding: identity\r\n", b"Content-Length: 9%s\r\n" % (b"9" * 25)):
        refused(room, raw(head + fields + b"\r\n", NEW), "did not state the length")
    refused(room, raw(), "Empty reply")
    refused(room, raw(NEW), "HTTP/0.9")
    packed = gzip.compress(NEW)
    refused(room, answer(200, packed[:-9], Content_Encoding="gzip"), "gzip data ends too early")
    refused(room, answer(200, packed + b"x", Content_Encoding="gzip"), "followed by something else")
    refused(room, answer(200, packed[:50] + b"\0" + packed[51:], Content_Encoding="gzip"),
            "gzip data is damaged")
    for field in (b"chunked", b"Chunked", b"identity\r\nTransfer-Encoding: chunked",
                  b"identity,\tchunked "):
        with Lists() as s:
            bad = with_old(room)
            s.answers["/list"] = raw(head + b"Transfer-Encoding: %s\r\n\r\n" % field,
                                     b"%x\r\n%s\r\n0\r\n\r\n" % (len(NEW), NEW))
            got = fetch(room / "lists", f"bad={s.url('/list')}")
            assert got.status == 0 and bad.read_bytes() == NEW, (field, got)
            os.remove(room / "lists" / "bad.state")
    with Lists() as s:  # what follows the stated length belongs to no list
        bad = with_old(room)
        s.answers["/list"] = answer(200, NEW, length=len(NEW) - 1)
        assert fetch(room / "lists", f"bad={s.url('/list')}").status == 0
        assert bad.read_bytes() == NEW[:-1]
        s.answers["/list"] = raw(b"HTTP/1.0 200 OK\r\n\r\n", NEW)
        assert fetch(room / "lists", f"bad={s.url('/list')}", "--lenient").status == 0
        assert bad.read_bytes() == NEW


def test_compressed(room):
    with Lists() as s:
        for n, fields in enumerate([{"Content_Encoding": "gzip"}, {"Content_Encoding": "x-gzip"},
                                    {}]):
            s.answers["/list"] = answer(200, gzip.compress(NEW), **fields)
            got = fetch(room / f"{n}", f"bad={s.url('/list')}")
            assert got.out == "bad: 120 entries, new\n", got
            assert s.asked[-1][1]["Accept-Encoding"] == "gzip"
            out = tamis("guard", "build", room / f"guard{n}", room / f"{n}")
            assert "listed    120 expressions" in out, out
    refused(room, answer(200, NEW, Content_Encoding="br"), "sent the encoding 'br'")
    refused(room, answer(200, NEW, Content_Encoding="gzip, gzip"), "sent the encoding")
    refused(room, answer(200, NEW, Content_Encoding="é\tx".encode().decode("latin-1")),
            "sent the encoding 'é x'")


def test_too_large(room):
    refused(room, answer(200, NEW), "larger than --max-bytes allows", "--max-bytes", len(NEW) - 1)
    refused(room, endless(), "larger than --max-bytes allows", "--max-bytes", "1MB")
    refused(room, answer(200, bomb(10**8), Content_Encoding="gzip"),
            "more than 1000000 bytes when it is unpacked", "--max-bytes", "1MB")
    refused(room, answer(200, gzip.compress(bomb(10**8)), Content_Encoding="gzip"), "not a list",
            "--max-bytes", "1MB")
    refused(room, endless_head, "the head of the answer does not end")
    with Lists() as s:
        s.answers["/list"] = answer(200, NEW)
        assert fetch(room / "new", f"bad={s.url('/list')}", "--max-bytes", len(NEW)).status == 0


def test_slow(room):
    for pieces, options, reason in ((None, ["--timeout", "2s"], "timed out"),
                                    (1, ["--timeout", "40s"], "Operation too slow")):
        give = drip(0.1 if pieces is None else PATIENCE, pieces, b"slow.example\n" * 500)
        refused(room, give, reason, *options)
        give.stop.set()
    got = fetch(room / "lists", "bad=http://127.0.0.1:1/", "--timeout", "1500ms")
    assert got.status == 2 and "--timeout must be whole seconds" in got.err, got


def test_redirects(room):
    with Lists() as s:
        s.answers.update({f"/{i}": redirect(f"/{i + 1}") for i in range(5)})
        s.answers["/5"] = versioned(NEW, ETag='"v1"')
        assert fetch(room / "new", f"a={s.url('/0')}").out == "a: 120 entries, new\n"
        assert fetch(room / "new", f"a={s.url('/0')}").out == "a: unchanged\n"
    refused(room, redirect("/list"), "Maximum (5) redirects followed")
    for target in ("ftp://127.0.0.1/", "file:///etc/hosts", "gopher://127.0.0.1/"):
        refused(room, redirect(target), "not supported or disabled")


def test_tls(room):
    good, other, expired = (make_certificate(room, name, **how) for name, how in
                            (("good", {}), ("other", {"subject": "other.example"}),
                             ("expired", {"expired": True})))
    with Lists(good) as s:
        s.answers["/list"] = answer(200, NEW)
        got = fetch(room / "new", f"bad={s.url('/list')}", "--cacert", good[0])
        assert got.out == "bad: 120 entries, new\n", got
    refused(room, answer(200, NEW), "certificate", servers=Lists(good))  # self-signed
    refused(room, answer(200, NEW), "certificate", "--cacert", other[0], servers=Lists(good))
    refused(room, answer(200, NEW), "certificate has expired", "--cacert", expired[0],
            servers=Lists(expired))
    refused(room, answer(200, NEW), "name matches target", "--cacert", other[0],
            servers=Lists(other))
    refused(room, answer(200, NEW), "error setting certificate", "--cacert", room / "nothing",
            servers=Lists(good))
    # The given certificates replace those of the system, which are not even looked at.
    with Lists(good) as s:
        s.answers["/list"] = answer(200, NEW)
        for options, seen in (([], True), (["--cacert", other[0]], False)):
            trace = room / "trace"
            done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=%file", "-o", trace, TAMIS,
                                   "guard", "fetch", room / "new", f"bad={s.url('/list')}",
                                   *options], capture_output=True, timeout=PATIENCE,
                                  env=dict(CLEAN, ASAN_OPTIONS="detect_leaks=0"))  # with strace
            assert done.returncode == 2, done
            assert ("ssl/certs" in trace.read_text()) == seen, trace.read_text()
    # The servers of the redirects: no list comes over HTTP after HTTPS.
    with Lists() as plain:
        plain.answers["/list"] = answer(200, NEW)
        refused(room, redirect(plain.url("/list")), "not supported or disabled", "--cacert",
                good[0], servers=Lists(good))
        assert plain.asked == []
        with Lists(good) as s:
            s.answers["/list"] = redirect(plain.url("/list"))
            refused(room, redirect(s.url("/list")), "redirected from HTTPS to HTTP", "--cacert",
                    good[0])


def test_one_fails(room):
    """The others are still updated, and the exit status says that not all were."""
    with Lists() as s:
        s.answers.update({"/a": answer(200, NEW), "/b": answer(500), "/c": answer(200, NEW)})
        old = with_old(room, "b")
        got = fetch(room / "lists", *(f"{name}={s.url('/' + name)}" for name in "abc"), "--json")
        assert got.status == 2, got
        assert [json.loads(line)["state"] for line in got.out.splitlines()] \
            == ["new", "failed", "new"]
        assert old.read_bytes() == OLD and (room / "lists" / "c.txt").read_bytes() == NEW
        assert got.err == ("tamis: b: 127.0.0.1: the server answered with status 500; the old list "
                           "stays\n"), got


def test_sources(room):
    with Lists() as s:
        s.answers.update({"/a": answer(200, NEW), "/b": answer(200, OLD)})
        sources = room / "sources"
        sources.write_text(f"# two lists\n\n  a \t {s.url('/a')}\r\nb {s.url('/b')}")
        (room / "lists").mkdir()
        (room / "lists" / "own.txt").write_text("own.example\n")
        # Files of others whose names look like ours, one of them even with our first line.
        foreign = {"guard.txt": "x.example\n", "guard.state": "tamis guard state\nversion 3\n",
                   "half.txt": "x.example\n", "half.state": "url " + "0" * 64 + "\n",
                   "none.txt": "x.example\n", "none.state": "", "a b.txt": "x.example\n",
                   "a b.state": f"url {'0' * 64}\nlist {'0' * 64}\n"}
        for name, text in foreign.items():
            (room / "lists" / name).write_text(text)
        os.mkfifo(room / "lists" / "fifo.state")
        got = fetch(room / "lists", "--sources", sources)
        assert got.out == "a: 120 entries, new\nb: 100 entries, new\n" and got.status == 0, got
        # The file decides which lists there are, except those that fetch did not make.
        sources.write_text(f"b {s.url('/b')}\n")
        got = fetch(room / "lists", f"c={s.url('/a')}", "--sources", sources)
        assert got.out == ("c: 120 entries, new\nb: unchanged\n"
                           "a: removed, because the sources do not name it any more\n"), got
        assert sorted(os.listdir(room / "lists")) == sorted(
            ["b.state", "b.txt", "c.state", "c.txt", "fifo.state", "own.txt", *foreign])
        assert all((room / "lists" / name).read_text() == foreign[name] for name in foreign)
        assert fetch(room / "lists", f"b={s.url('/b')}").status == 0  # without a file, nothing goes
        assert (room / "lists" / "c.txt").exists()
        for text, reason in (("", "there is no source in it"),
                             ("# x\n", "there is no source in it"),
                             ("a\n", "line 1: a line has a label, a blank and a URL"),
                             ("\na b c\n", "line 2: there is something behind the URL"),
                             ("a/b http://x\n", "line 1: a label has 1 to 63 letters"),
                             ("../a http://x\n", "line 1: a label has"),
                             ("x" * 64 + " http://x\n", "line 1: a label has"),
                             ("-a http://x\n", "line 1: a label has"),
                             ("a http://x\na http://y\n", "line 2: two sources have the label 'a'"),
                             ("a http://x\n\0b http://y\n", "line 2: there is a NUL byte in it"),
                             ("a http://x\0y\n", "line 1: there is a NUL byte in it"),
                             ("".join(f"l{i} http://x\n" for i in range(65)),
                              "line 65: there can be up to 64 sources")):
            sources.write_text(text)
            got = fetch(room / "lists", "--sources", sources)
            assert got.status == 2 and reason in got.err and got.err.count("\n") == 1, (text, got)
        assert "b.txt" in os.listdir(room / "lists")
    for words, reason in (((), "name a list"), (["http://x/"], "a source is LABEL=URL"),
                          (["http://x/?a=b"], "a source is LABEL=URL"),
                          (["--sources", room / "nothing"], "cannot read: No such file"),
                          (["--sources", room], "cannot read: Is a directory")):
        got = fetch(room / "lists", *words)
        assert got.status == 2 and reason in got.err, (words, got)


def test_addresses(room):
    for url in ("ftp://127.0.0.1/x", "file:///etc/hosts", "127.0.0.1/x", "http://", "",
                "http://127.0.0.1:99999/", "http://a b/"):
        for old, what in ((False, "there is no list yet"), (True, "the old list stays")):
            if old:
                with_old(room, "b")
            got = fetch(room / "lists", f"{'b' if old else 'a'}={url}")
            assert got.status == 2 and got.err.endswith(
                f": its address is not a valid http or https URL; {what}\n"), got
    got = fetch(room / "lists", "a=http://127.0.0.1:1/x")
    assert got.status == 2 and "tamis: a: 127.0.0.1: " in got.err, got
    (room / "file").write_text("")
    with Lists() as s:
        s.answers["/a"] = answer(200, NEW)
        got = fetch(room / "file", f"a={s.url('/a')}")
        assert got.status == 2 and got.err.startswith("tamis: a: "), got


def test_secrets(room):
    """Names, passwords and tokens go to the server, and nowhere else."""
    secret = "hunter2"
    with Lists() as s, Lists() as other:
        for give in (answer(200, NEW), answer(500), answer(200, b""), raw(), redirect("ftp://x/"),
                     redirect(f"http://{secret}:{secret}@127.0.0.1:1/{secret}"),
                     redirect(other.url("/there"))):
            s.answers[f"/{secret}"] = give
            other.answers["/there"] = answer(404)
            url = s.url(f"/{secret}?token={secret}#{secret}", user=f"{secret}:{secret}@")
            (room / "sources").write_text(f"a {url}\n")
            for options in ([], ["--json"]):
                got = fetch(room / "lists", "--sources", room / "sources", *options)
                assert secret not in got.out + got.err, got
            assert s.asked[-1][1]["Authorization"].startswith("Basic "), s.asked
        assert other.asked and all("Authorization" not in fields for _, fields in other.asked)
        kept = b"".join(path.read_bytes() for path in pathlib.Path(room, "lists").iterdir())
        assert secret.encode() not in kept
        for url in (f"ftp://{secret}@x/", f"http://{secret}:{secret}@x:99999/", f"{secret}"):
            got = fetch(room / "lists", f"a={url}")
            assert secret not in got.out + got.err, got


def test_passwords_in_wrong_places(room):
    """An address in place of the directory, of the file of sources, or of a Redis server."""
    secret = "hunter2"
    url = f"http://me:{secret}@localhost:1/x"
    for words in (("guard", "fetch", f"a={url}", "b=http://localhost:1/"),
                  ("guard", "fetch", room / "lists", "--sources", url),
                  ("guard", "fetch", url, "a=http://localhost:1/"), ("guard", "check", url),
                  ("migrate", url, "redis://localhost:1"), ("check", url, "-"),
                  ("check", f"redis//me:{secret}@localhost/x", "-"),
                  ("check", f"redis:me:{secret}@localhost/x", "-")):
        done = subprocess.run([TAMIS, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, env=CLEAN, cwd=room)
        assert done.returncode == 2 and secret not in done.stdout + done.stderr, done


def test_links(room):
    """Nothing is written through a symbolic link, which may lead to any file."""
    victim = room / "victim"
    for name, made in (("bad.txt", []), ("bad.state", ["bad.txt"])):
        for path in (room / "lists").glob("*"):
            path.unlink()
        (room / "lists").mkdir(exist_ok=True)
        victim.write_bytes(OLD)
        (room / "lists" / name).symlink_to(victim)
        with Lists() as s:
            s.answers["/list"] = answer(200, NEW)
            got = fetch(room / "lists", f"bad={s.url('/list')}")
        assert got.status == 2 and f"lists/{name}: is a symbolic link" in got.err, got
        assert victim.read_bytes() == OLD and not s.asked


def test_proxy(room):
    """As in curl, the environment names a proxy, and hosts that need none."""
    with Lists() as proxy, Lists() as s:
        proxy.answers["http://lists.example/x"] = answer(200, NEW)
        here = {"http_proxy": proxy.url("")}
        got = fetch(room / "lists", "a=http://lists.example/x", environment=here)
        assert got.out == "a: 120 entries, new\n", got
        s.answers["/x"] = answer(200, NEW)
        got = fetch(room / "lists", f"b={s.url('/x')}",
                    environment=dict(here, no_proxy="127.0.0.1"))
        assert got.out == "b: 120 entries, new\n" and len(proxy.asked) == 1, got


def test_directory_of_lists(room):
    """What 'guard build' makes of a directory."""
    lists = room / "lists"
    lists.mkdir()
    for name in ("b.txt", "a.txt", ".hidden.txt", "notes", "x.state", ".txt"):
        (lists / name).write_text(f"{name.strip('.').split('.')[0]}.example\n")
    out = tamis("guard", "build", room / "guard", lists, "--json")
    assert json.loads(out)["lines"] == 2, out
    for host in "ab":
        assert f"({host}: {host}.example/)" in tamis("guard", "check", room / "guard",
                                                     f"{host}.example")
    # A = in the name of the directory makes no label, whatever else is there.
    for folder in ("x=y", "y"):
        (room / folder).mkdir()
        (room / folder / "l.txt").write_text(f"{folder.replace('=', '-')}.example\n")
    subprocess.run([TAMIS, "guard", "build", "g", "x=y"], cwd=room, check=True,
                   capture_output=True, timeout=PATIENCE)
    assert "(l: x-y.example/)" in tamis("guard", "check", room / "g", "x-y.example")
    (room / "empty").mkdir()
    done = subprocess.run([TAMIS, "guard", "build", room / "guard", room / "empty"],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "has no list; their names end in .txt" in done.stderr, done


def test_no_library(room):
    """Without a libcurl that works there is a reason, and other commands do not need it."""
    (room / "libcurl.so.4").write_text("")
    (room / "libcurl-gnutls.so.4").write_text("")
    broken = {"LD_LIBRARY_PATH": str(room)}
    got = fetch(room / "lists", "a=http://127.0.0.1:1/", environment=broken)
    assert got.status == 2 and "a: libcurl cannot be loaded: " in got.err, got
    done = subprocess.run([TAMIS, "guard", "explain", "a.example"], capture_output=True,
                          env=dict(CLEAN, **broken), timeout=PATIENCE)
    assert done.returncode == 0, done


def test_progress(room):
    """On a terminal, a slow download shows how far it is."""
    give = drip(0.1, None, b"x.example\n" * 1000)
    with Lists() as s:
        s.answers["/slow"] = give
        t = Terminal([TAMIS, "guard", "fetch", str(room / "lists"), f"bad={s.url('/slow')}"],
                     env=dict(CLEAN, TERM="xterm"))
        t.until(rb"fetching bad.*%")
        t.process.send_signal(signal.SIGINT)
        assert t.finish() == -signal.SIGINT
        give.stop.set()


def test_signal(room):
    """SIGTERM ends a slow download; the list is the old one, and no file is left behind."""
    give = drip(0.2, None, b"x.example\n" * 1000)
    with Lists() as s:
        s.answers["/slow"] = give
        bad = with_old(room)
        child = subprocess.Popen([TAMIS, "guard", "fetch", str(room / "lists"),
                                  f"bad={s.url('/slow')}"], stderr=subprocess.PIPE, text=True,
                                 env=CLEAN)
        end = time.monotonic() + PATIENCE
        while not s.asked and time.monotonic() < end:
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        said = child.communicate(timeout=PATIENCE)[1]
        give.stop.set()
        assert child.returncode == -signal.SIGTERM and "interrupted" in said, (child, said)
        assert bad.read_bytes() == OLD and os.listdir(room / "lists") == ["bad.txt"]


def test_signal_too_late(room):
    """A list that was replaced before the signal is reported."""
    with Lists() as s:
        s.answers["/list"] = answer(200, NEW)
        bad = with_old(room)
        done = subprocess.run(["strace", "-qq", "-f", "-o", os.devnull, "-e",
                               "trace=rename,renameat,renameat2", "-e",
                               "inject=rename,renameat,renameat2:signal=SIGTERM:when=1", TAMIS,
                               "guard", "fetch", room / "lists", f"bad={s.url('/list')}"],
                              capture_output=True, text=True, timeout=PATIENCE,
                              env=dict(CLEAN, ASAN_OPTIONS="detect_leaks=0"))
        assert bad.read_bytes() == NEW and done.returncode == -signal.SIGTERM, done
        assert done.stdout == "bad: 120 entries, 100 before\n", done
        assert "interrupted" in done.stderr, done


TESTS = [value for name, value in list(globals().items()) if name.startswith("test_")]
with tempfile.TemporaryDirectory() as scratch:
    status = main(TESTS, scratch)
sys.exit(status)
