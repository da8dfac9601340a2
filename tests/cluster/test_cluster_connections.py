"""How servers are reached: users and passwords from the address, a file or the environment, which
nobody gets to see; sockets, IPv6 addresses, databases."""
import atexit
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_liars import Liar  # noqa: E402
from cluster_servers import tamis  # noqa: E402
from redis_client import TAMIS, Server, main, wait_for  # noqa: E402

ROOM = pathlib.Path(tempfile.mkdtemp(prefix="tamis-connections-"))
atexit.register(shutil.rmtree, ROOM, ignore_errors=True)
USER, SECRET = "some@one", "hush/@ 50%"
ESCAPED = "some%40one:hush%2F%40%2050%25"


def file(name, text, mode=0o600):
    path = ROOM / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def at(server, name="s", user="", more=""):
    return f"redis://{user}127.0.0.1:{server.port}/{name}{more}"


def with_user(server):
    """Nothing is allowed without a password."""
    client = server.client()
    client.do("ACL", "SETUSER", USER, "on", f">{SECRET}", "~*", "+@all")
    client.do("ACL", "SETUSER", "default", "resetpass", ">of default", "on", "~*", "+@all")
    return client


def test_sources():
    """Every way to give a user and a password, and which of several counts."""
    password = file("password", SECRET + "\n")
    of_default = file("default", "of default\r\n")
    wrong = file("wrong", "wrong\n")
    with Server() as server:
        with_user(server)
        me = {"TAMIS_REDIS_USERNAME": USER}
        right = {**me, "TAMIS_REDIS_PASSWORD": SECRET}
        tamis("build", "--items", 9, "-o", at(server, user=ESCAPED + "@"), given="a\n")
        for words, env in (
                ((at(server, user=ESCAPED + "@"),), {}),
                ((at(server, user=":of%20default@"),), {}),
                ((at(server, user="of%20default@"),), {}),  # as for redis-cli
                ((at(server, user="some%40one:@"), "--password-file", password), {}),
                ((at(server, user="some%40one:@", more=f"?password-file={password}"),), {}),
                ((at(server), "--password-file", of_default), {}),
                ((at(server), "--password-file", password), me),
                ((at(server),), right), ((at(server),), {**me, "REDISCLI_AUTH": SECRET}),
                ((at(server),), {"REDISCLI_AUTH": "of default"}),
                ((at(server, user="some%40one:@"),), {"TAMIS_REDIS_PASSWORD": SECRET}),
                # What is more explicit counts.
                ((at(server, user=ESCAPED + "@"),), {"TAMIS_REDIS_USERNAME": "x",
                                                     "TAMIS_REDIS_PASSWORD": "wrong"}),
                ((at(server, user=":of%20default@"),), right),
                ((at(server), "--password-file", password), {**me, "TAMIS_REDIS_PASSWORD": "wrong",
                                                             "REDISCLI_AUTH": "wrong"}),
                ((at(server, more=f"?password-file={password}"), "--password-file", wrong), me),
                ((at(server),), {**right, "REDISCLI_AUTH": "wrong"})):
            assert tamis("check", *words, given="a\nb\n", env=env) == "a\n", (words, env)
        for words, env, why in (
                ((at(server),), {}, "NOAUTH Authentication required. Name a user and a password"),
                ((at(server, user="some%40one:wrong@"),), {}, "WRONGPASS"),
                ((at(server, user="wrong@"),), {}, "WRONGPASS"),
                ((at(server), "--password-file", wrong), {}, "WRONGPASS"),
                ((at(server),), {"TAMIS_REDIS_PASSWORD": "wrong"}, "WRONGPASS"),
                ((at(server),), {"TAMIS_REDIS_PASSWORD": "wrong" * 200},
                 "TAMIS_REDIS_PASSWORD is too long"),
                ((at(server),), {"REDISCLI_AUTH": "wrong" * 200}, "REDISCLI_AUTH is too long"),
                ((at(server),), {"TAMIS_REDIS_USERNAME": "wrong" * 200},
                 "TAMIS_REDIS_USERNAME is too long"),
                ((at(server, user="some%40one:@"),), {}, "a user without a password"),
                ((at(server),), {"TAMIS_REDIS_USERNAME": "wrong"}, "a user without a password"),
                ((at(server, user="wrong@"), "--password-file", password), {},
                 "has a password, so --password-file cannot be used")):
            said = tamis("check", *words, given="a\n", status=2, env=env)
            assert why in said and "wrong" not in said and "hush" not in said \
                and "some" not in said, (words, env, said)


def test_password_files():
    with Server() as server:
        client = server.client()
        url = at(server)
        tamis("build", "--items", 9, "-o", url, given="a\n")
        for text, why in (("", "it is empty"), ("\n", "it is empty"), ("hush\nhush\n", "several"),
                          (b"hu\0sh", "NUL"), ("hush" * 200, "too long"),
                          ("hush" * 128, "too long")):
            said = tamis("check", "--password-file", file("odd", text), url, given="a\n", status=2)
            assert "odd: cannot read the password: " in said and why in said \
                and "hush" not in said, said
        for mode in (0o640, 0o604, 0o620, 0o666):
            path = file("open", "hush\n", mode)
            said = tamis("check", "--password-file", path, url, given="a\n", status=2)
            assert f"{path}: others may read this password (mode {mode:04o})" in said \
                and "hush" not in said, said
            said = tamis("check", url + f"?password-file={path}", given="a\n", status=2)
            assert "others may read this password" in said, said
        said = tamis("check", "--password-file", ROOM / "none", url, given="a\n", status=2)
        assert "none: cannot read the password: No such file" in said, said
        said = tamis("check", "--password-file", ROOM, url, given="a\n", status=2)
        assert "cannot read the password: Is a directory" in said, said
        # The longest, with a line end and without.
        longest = "x" * 511
        client.do("CONFIG", "SET", "requirepass", longest)
        for text in (longest, longest + "\n"):
            assert tamis("check", "--password-file", file("long", text), url, given="a\n") == "a\n"


def test_nobody_sees():
    """No output shows a user or a password, not even where the address is in the wrong place; the
    list of processes does not, once the command has begun."""
    with Server() as server:
        client = with_user(server)
        client.do("AUTH", "of default")
        url, shown = at(server, user=ESCAPED + "@"), at(server)
        tamis("build", "--items", 9, "-o", url, given="a\n")
        tamis("count", "-o", at(server, "n", ESCAPED + "@"), given="a\n")
        assert json.loads(tamis("check", "--json", url, given="a\n"))["filter"] == shown
        assert json.loads(tamis("info", "--json", url))["set"] == shown
        assert tamis("info", url).startswith(shown + ":")
        outputs = []
        for words in (("check", url, "/nonexistent"), ("build", "-o", ROOM / "x.tamis", url),
                      ("build", "-o", url, "--items", 9), ("check", f"--outptu={url}"),
                      ("verify", url), ("top", "-3", url), (url,), ("freq", url, "a"),
                      ("check", at(server, "none", ESCAPED + "@")), ("uniq", "--state", url),
                      ("check", "--confirm", url, ROOM / "x.tamis"), ("check", "-f", url, url),
                      ("merge", "-o", at(server, "m", ESCAPED + "@"), url,
                       at(server, "n", ESCAPED + "@")),
                      ("merge", "-o", at(server, "m", ESCAPED + "@"), url.replace("hush", "xhush")),
                      ("info", url.replace("@", "")), ("info", url.replace("%2F", "/")),
                      ("info", url + "?password=hush"), ("info", url + "?hush"),
                      ("info", f"redis://{ESCAPED}/s"), ("key", "id", url), ("add", url, url),
                      # Schemes that are mistyped.
                      ("info", url.replace("redis", "REDIS")), ("info", url.replace("//", "/")),
                      ("check", "a b" + url.replace("redis", "Rediss")),
                      ("info", url.replace("redis://", "UNIX:/")),
                      ("migrate", url.replace("redis", "Redis"), url)):
            outputs.append(tamis(*words, given="", status=2))
        assert not any(word in said for said in outputs
                       for word in ("hush", "some%40one", "some@one")), outputs
        # A data item is not an address, whatever it looks like.
        sketch = ROOM / "items.tamis"
        tamis("count", "-o", sketch, given=f"{url}\n")
        assert tamis("freq", sketch, url).split()[0::2][:2] == ["1", url]
        check = subprocess.Popen([TAMIS, "check", url], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        wait_for(lambda: b"cmd=hmget " in client.do("CLIENT", "LIST").lower(), "it does not begin")
        line = pathlib.Path(f"/proc/{check.pid}/cmdline").read_bytes()
        assert check.communicate(b"a\n")[0] == b"a\n"
        assert line.rstrip(b"\0").split(b"\0") == [TAMIS.encode(), b"check", shown.encode()], line
    # A server that sends the password back.
    liar = Liar(AUTH=b"-ERR no\r\n")
    liar.replies = {"hush": b"-ERR hush is wrong\r\n"}
    said = tamis("check", liar.url.replace("//", "//me:hush@"), given="a\n", status=2)
    assert "the server refuses the password" in said and "hush" not in said, said
    liar.socket.close()


def test_socket():
    path = ROOM / "r.sock"
    with Server("--unixsocket", path) as server:
        client = with_user(server)
        client.do("AUTH", "of default")
        url = f"unix://{ESCAPED}@{path}?name=s%26t"
        tamis("build", "--items", 9, "-o", url, given="a\n")
        assert tamis("check", url, given="a\nb\n") == "a\n" and client.do("EXISTS", "s&t") == 1
        assert tamis("info", url).startswith(f"unix://{path}?name=s&t: ")
        tamis("build", "--items", 9, "-o", url.replace("s%26t", "u") + "&db=1", given="u\n")
        assert client.do("EXISTS", "u") == 0
        said = tamis("check", url.replace("s%26t", "u"), given="a\n", status=2)
        assert "no such set" in said and "hush" not in said, said
        said = tamis("merge", "-o", url.replace("s%26t", "v"), url,
                     url.replace("s%26t", "u") + "&db=1", status=2)
        assert "is at another address" in said, said
        # A server that may be reached both ways is still two addresses.
        assert "is at another address" in tamis("merge", "-o", url.replace("s%26t", "v"),
                                                at(server, user=ESCAPED + "@"), status=2)
    for name, why in (("none.sock", "No such file"), ("password2", "Connection refused")):
        file("password2", "x")
        said = tamis("check", f"unix://{ROOM / name}?name=s", given="a\n", status=2)
        assert f"{ROOM / name}: {why}" in said, said
    with Server("--unixsocket", path, "--cluster-enabled", "yes") as server:
        server.client().do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        said = tamis("check", f"unix://{path}?name=s", given="a\n", status=2)
        assert "is a node of a cluster" in said, said


def test_ipv6():
    """Also where a cluster announces such addresses."""
    with Server("--bind", "127.0.0.1 ::1", "--cluster-enabled", "yes") as server:
        client = server.client()
        client.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        client.do("CONFIG", "SET", "cluster-announce-ip", "::1")
        wait_for(lambda: b"cluster_state:ok" in client.do("CLUSTER", "INFO"), "no cluster")
        url = f"redis://[::1]:{server.port}/s"
        tamis("build", "--items", 9, "-o", url, given="a\n")
        assert tamis("check", at(server), given="a\nb\n") == "a\n"
        assert tamis("info", url).startswith(url + ": ")
        said = tamis("build", "--items", 9, "--timeout", 1, "--wait", 1, "-o", url + "2", status=2)
        assert f"[::1]:{server.port}: only 0 of 1 replicas" in said, said
    said = tamis("check", url, given="a\n", status=2)
    assert f"[::1]:{server.port}: Connection refused" in said, said
    said = tamis("info", f"redis://[::1]:{server.port}", status=2)
    assert f"tamis: redis://[::1]:{server.port}: the address lacks the name" in said, said
    said = tamis("check", f"redis://::1:{server.port}/s", given="a\n", status=2)
    assert "in brackets" in said, said


if __name__ == "__main__":
    main([test_sources, test_password_files, test_nobody_sees, test_socket, test_ipv6])
