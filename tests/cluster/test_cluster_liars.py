"""The command with false servers: replies that make no sense, connections that end, wrong tables
of slots and redirects, older modules. The command reports an error in time, or gives the right
answer."""
import binascii
import concurrent.futures
import contextlib
import json
import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_liars import FACTS, Liar, one_shard  # noqa: E402
from cluster_servers import lines, tamis  # noqa: E402
from redis_client import TAMIS, free_port, main  # noqa: E402


def facts(url):
    return json.loads(tamis("info", "--json", url))


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def tell(liar, command="add", *words):
    """The status of a command for one line, and what it complains of."""
    done = subprocess.run([TAMIS, command, *words, "--timeout", "5", liar.url], input=b"a\n",
                          capture_output=True)
    liar.socket.close()
    return done.returncode, done.stderr.decode()


def test_users():
    """Whoever the server says has no permission, the message does not name the user."""
    for user in ("a", "ann", "User x", "b has no permissions", "c" * 300):
        refusal = f"-NOPERM User {user} has no permissions to run the 'hmget' command\r\n"
        status, said = tell(Liar(HMGET=refusal.encode()))
        assert status == 2 and user not in said.replace("this user has no permissions", ""), said
        assert "NOPERM this user has no permissions to run the 'hmget' command" in said, said
    scripted = "ACL failure in script: User ann has no permissions to run the 'hget' command"
    status, said = tell(Liar(HMGET=f"-ERR {scripted} script: f00, on @user_script:1.\r\n".encode()))
    assert status == 2 and "ann" not in said and "docs/REDIS.md" in said, said
    for odd in (b"-NOPERM User \r\n", b"-NOPERM User  has no permissions\r\n", b"-User \r\n",
                b"- has no permissions User \r\n"):
        assert tell(Liar(HMGET=odd))[0] == 2


def test_liars():
    """Servers that reply with nonsense, or hang up: an error, and in time."""
    many = b"*100000\r\n" + b":1\r\n" * 100000
    told = []
    for replies in ({"CLUSTER": b""}, {"CLUSTER": b"hello\r\n"}, {"CLUSTER": b"*1\r\n:5\r\n"},
                    {"CLUSTER": b":1\r\n"}, {"CLUSTER": b"*0\r\n"},
                    {"CLUSTER": b"*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$1\r\nh\r\n:1\r\n"},
                    {"CLUSTER": b"*2147483647\r\n"},
                    {"CLUSTER": b"*1\r\n" * 9 + b":1\r\n"},
                    {"HMGET": FACTS.replace(b"$1\r\n1\r\n", b"$-1\r\n", 1)}, {"HMGET": b"+OK\r\n"},
                    {"HMGET": b"*0\r\n"}, {"HMGET": b"*6\r\n" + b":1\r\n" * 6},
                    {"HMGET": b"*6\r\n" + b"$-1\r\n" * 6, "EXISTS": b":0\r\n"}, {"HMGET": b""},
                    {"HMGET": FACTS.replace(b"\r\n2\r\n", b"\r\n0\r\n")},
                    {"HMGET": FACTS.replace(b"$1\r\n2\r\n", b"$6\r\n999999\r\n")},
                    {"HMGET": b"-MOVED\r\n"}, {"HMGET": b"-MOVED 5 nowhere\r\n"},
                    {"HMGET": b"-ASK 5 :0\r\n"}, {"HMGET": b"-MOVED 5 127.0.0.1:65537\r\n"},
                    {"HMGET": b"-MOVED 5 127.0.0.1:1x\r\n"}, {"HMGET": b"-ASK x 127.0.0.1:1\r\n"},
                    {"HMGET": b"-MOVED 16384 127.0.0.1:1\r\n"},
                    {"HMGET": b"-CLUSTERDOWN\r\n"},
                    {"TAMIS_MHAS": b"+OK\r\n"}, {"TAMIS_MHAS": b"*0\r\n"}, {"TAMIS_MHAS": many},
                    {"TAMIS_MHAS": b"$-1\r\n"}, {"TAMIS_MHAS": b""},
                    {"TAMIS_MHAS": b"*1\r\n-ERR no\r\n"}, {"TAMIS_MHAS": b"$5\r\nab\r\n"},
                    {"TAMIS_MHAS": b"\xff\xfe"},
                    {"TAMIS_MHAS": b"*1\r\n*2\r\n:1\r\n:2\r\n"}):
        told.append((("check",), replies))
    told += (*((("freq", "a"), {"TAMIS_ESTIMATE": b"*1\r\n" + reply}) for reply in (
                 b":1\r\n", b"*0\r\n", b"*4\r\n" + b":1\r\n" * 4, b"*7\r\n" + b":1\r\n" * 7,
                 b"*3\r\n" + b"$1\r\nx\r\n" * 3,
                 b"*7\r\n:1\r\n:1\r\n:1\r\n$3\r\nnan\r\n:1\r\n:1\r\n:1\r\n",
                 b"*7\r\n:1\r\n:1\r\n:1\r\n$1\r\n2\r\n:1\r\n:1\r\n:1\r\n",
                 b"*7\r\n:1\r\n:1\r\n:1\r\n$2\r\n1x\r\n:1\r\n:1\r\n:1\r\n",
                 b"*7\r\n:1\r\n:1\r\n:1\r\n$1\r\n1\r\n$-1\r\n:1\r\n:1\r\n")),
             *((("top",), {"TAMIS_TOP": b"*1\r\n*10\r\n" + reply
                           + b":8\r\n:8\r\n:8\r\n$1\r\n1\r\n:0\r\n:8\r\n:0\r\n"}) for reply in (
                 b"$1\r\nb\r\n:0\r\n$16\r\n00000000000000ff\r\n", b"$1\r\nb\r\n:1\r\n$2\r\nff\r\n",
                 b"$1\r\nb\r\n:1\r\n$16\r\n00000000000000fx\r\n",
                 b":1\r\n:1\r\n$16\r\n00000000000000ff\r\n")),
             (("info",), {"TAMIS_INFO": b":1\r\n"}), (("top",), {"TAMIS_TOP": b"*1\r\n:1\r\n"}),
                           (("add",), {"TAMIS_MADD": b"*1\r\n$-1\r\n*1\r\n"}),
             *(((command,), {"HMGET": FACTS.replace(b"$1\r\n1\r\n", b"$-1\r\n", 1)})
               for command in ("add", "info")))

    def ask(case):
        (command, *items), replies = case
        liar = Liar(**replies)
        try:
            for line in (b"a\n", b"a\nb\nc\nd\n"):  # of one shard, and of both
                said = tamis(command, "--timeout", 1, liar.url, *items, given=line, status=2)
                assert said.startswith("tamis: redis://"), (case, said)
        finally:
            liar.socket.close()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(ask, told))) == len(told) > 25


def test_repeats():
    """A command that a server may have executed before it hung up is sent again, and a warning
    says so for kinds that count."""
    twice = [b"", b"*1\r\n:1\r\n"]
    status, said = tell(Liar(HMGET=one_shard(b"tally"), TAMIS_MADD=list(twice)))
    again = "warning: 1 line was sent again after a failure and may be counted twice"
    assert status == 0 and again in said, said
    assert tell(Liar(HMGET=one_shard(b"blocked"), TAMIS_MADD=list(twice))) == (0, "")
    # To do it twice would be wrong: that is an error, unless the connection was closed before it
    # was asked.
    status, said = tell(Liar(HMGET=one_shard(b"counting"), TAMIS_REMOVE=list(twice)), "remove")
    assert status == 2 and "must not be executed twice" in said, said


def test_untold_rate():
    """Where the servers do not tell whether a set is overfull, the lines are in all the same, and
    that is noted."""
    one = {"HMGET": one_shard(b"blocked"), "TAMIS_MADD": b"*1\r\n:1\r\n"}
    status, said = tell(Liar(**one, TAMIS_INFO=b"-NOPERM this user has no permissions\r\n"))
    assert status == 0 and "NOPERM" in said, said
    assert "cannot determine whether it is overfull: " in said, said
    for kind in (b"tally", b"growing"):  # are never asked
        assert tell(Liar(**{**one, "HMGET": one_shard(kind)}, TAMIS_INFO=b"-NOPERM no\r\n")) \
            == (0, "")
    fields = (
        b"kind blocked items 30 planned-items 10 items-estimate 31.0 items-low 29 items-high 32 "
        b"rate-planned 0.01 rate-now 0.2 overfull 1")
    parts = [b":%s" % x if x in (b"30", b"10", b"1") else b"$%d\r\n%s" % (len(x), x)
             for x in fields.split()]
    status, said = tell(Liar(**one, TAMIS_INFO=b"*%d\r\n" % len(parts) + b"\r\n".join(parts)
                             + b"\r\n"))
    changed = "the set was changed nevertheless: it now holds about 31 items, planned for 10; "
    assert status == 2 and changed in said, said
    older = parts[:6] + parts[12:]  # does not tell the interval
    status, said = tell(Liar(**one, TAMIS_INFO=b"*%d\r\n" % len(older) + b"\r\n".join(older)
                             + b"\r\n"))
    assert status == 2 and "it now holds more than 30 items, planned for 10; " in said, said


def test_older_modules():
    """A module without TAMIS.ESTIMATE and FULL: what it does not tell is null, in words without a
    mark; of some servers or of all."""
    none = b"-ERR unknown command 'TAMIS.ESTIMATE', with args beginning with: \r\n"
    counts = b"*1\r\n*3\r\n:7\r\n:5\r\n:9\r\n"
    unknown = {"count": 7, "lower": 5, "upper": 9, "confidence": None, "below_noise": None,
               "certain": None, "suspect": None}
    liar = Liar(HMGET=one_shard(b"top"), TAMIS_ESTIMATE=none, TAMIS_COUNT=counts)
    assert objects(tamis("freq", "--json", liar.url, "a", "b")) \
        == [{"item": x, **unknown} for x in "ab"]
    assert tamis("freq", liar.url, "a").split() == ["7", "5..9", "a"]
    many = b"*300\r\n" + counts[4:] * 300
    liar.replies["TAMIS_COUNT"] = many
    assert len(objects(tamis("freq", "--json", liar.url, given=lines(range(300))))) == 300
    liar.replies["TAMIS_COUNT"] = none  # without any module
    assert "lacks the module" in tamis("freq", liar.url, "a", status=2)
    liar.socket.close()
    full = (
        b"*1\r\n*10\r\n$1\r\nb\r\n:1\r\n$16\r\n00000000000000ff\r\n:8\r\n:8\r\n:8\r\n$1\r\n1\r\n"
        b":0\r\n:8\r\n:0\r\n")
    brief = b"*1\r\n*4\r\n$1\r\na\r\n:7\r\n:5\r\n:9\r\n"
    arity = b"-ERR wrong number of arguments for 'tamis.top' command\r\n"
    # Two shards, whose servers are asked at once: each says that it lacks it.
    liar = Liar(TAMIS_TOP=[arity, arity, brief, brief.replace(b"$1\r\na", b"$-1")])
    assert objects(tamis("top", "--json", liar.url)) \
        == [{"item": "a", **unknown}, {"item": None, "length": 0, **unknown}]
    liar.replies["TAMIS_TOP"] = [arity, full, brief]
    assert [line.split() for line in tamis("top", liar.url).splitlines()] \
        == [["8", "8..8", "b"], ["7", "5..9", "a"]]
    liar.replies["TAMIS_TOP"] = arity
    assert "wrong number of arguments" in tamis("top", liar.url, status=2)
    # Facts that are not told are null, and not made up.
    liar = Liar(HMGET=one_shard(b"blocked"),
                TAMIS_INFO=b"*4\r\n$4\r\nkind\r\n$7\r\nblocked\r\n$5\r\nitems\r\n:5\r\n")
    said = facts(liar.url)
    assert [said[name] for name in ("items_low", "items_high", "bound_bits", "bound_ratio",
                                    "bound")] == [None] * 5 and said["items"] == 5
    assert "distinct" not in tamis("info", liar.url) and "bound" not in tamis("info", liar.url)
    liar.socket.close()


def slot_of(key):
    return binascii.crc_hqx(re.sub(rb".*{(.*)}", rb"\1", key), 0) % 16384


def table(*ranges):
    """The reply of CLUSTER SLOTS for (first, last, port)."""
    return b"*%d\r\n" % len(ranges) + b"".join(
        b"*3\r\n:%d\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n" % r for r in ranges)


def test_tables():
    """Tables of slots that are wrong are not taken, and others are asked."""
    one, facts_of_one = b"*1\r\n:1\r\n", one_shard(b"blocked")
    for bad in (b"*0\r\n", table((0, 0, 1), (0, 99999, 1)), b":5\r\n"):
        liar = Liar(HMGET=[b"-CLUSTERDOWN\r\n"] * 6 + [facts_of_one], TAMIS_MHAS=one)
        liar.replies["CLUSTER"] = [table((0, 16383, liar.port)), bad]
        assert tell(liar, "check") == (0, ""), bad
    # One that does not know that a server is gone.
    liar, other, shard = Liar(HMGET=facts_of_one), Liar(TAMIS_MHAS=one), slot_of(b"0")
    liar.replies["CLUSTER"] = table((0, 16383, liar.port), (shard, shard, free_port()),
                                    (1, 1, other.port))
    other.replies["CLUSTER"] = table((0, 16383, other.port))
    assert shard not in (1, slot_of(b"s")) and tell(liar, "check") == (0, "")
    # A redirect is followed to the port it names, not to what is left of a number that is too big:
    # 65536 more would be the other.
    for port, status in ((other.port, 0), (other.port + 65536, 2), (f"{other.port}x", 2)):
        liar = Liar(HMGET=[b"-MOVED %d 127.0.0.1:%s\r\n" % (slot_of(b"s"), str(port).encode())],
                    TAMIS_MHAS=one)
        other.replies["HMGET"] = facts_of_one
        done = subprocess.run([TAMIS, "check", "--timeout", "1", liar.url], input=b"a\n",
                              capture_output=True)
        assert done.returncode == status and (status == 0 or b"gave up" in done.stderr
                                              and b": MOVED " in done.stderr), (port, done)
        liar.socket.close()
    # A master that was replaced before a replica confirmed is asked no more: the line goes to the
    # next.
    liar = Liar(HMGET=facts_of_one, TAMIS_MADD=one, WAIT=b":0\r\n")
    other.replies.update(TAMIS_MADD=one, WAIT=b":1\r\n")
    liar.replies["CLUSTER"] = [table((0, 16383, liar.port)), other.replies["CLUSTER"]]
    assert tell(liar, "add", "--wait", "1") == (0, "")
    other.socket.close()


def test_dead_host():
    """A host that does not reply at all costs its time once, not for each request; and it is named,
    not one that works."""
    with socket.socket() as dead, contextlib.ExitStack() as opened:
        dead.bind(("127.0.0.1", 0))
        dead.listen(0)
        port = dead.getsockname()[1]
        for _ in range(4):  # a queue that is full, so that the next one waits
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        parts = [next(s for s in (slot_of(b"%d" % tag) for tag in range(9999))
                      if s * 4 // 16384 == i) for i in range(4)]
        liar = Liar(HMGET=FACTS.replace(b"\r\n2\r\n", b"\r\n4\r\n"),
                    TAMIS_INFO=b"*2\r\n$4\r\nkind\r\n$7\r\nblocked\r\n")
        liar.replies["CLUSTER"] = table((0, 16383, liar.port), *((s, s, port) for s in parts[1:]))
        assert slot_of(b"s") not in parts
        said = tamis("info", "--timeout", 2, liar.url, status=2)
        assert "gave up after" in said and f"127.0.0.1:{port}: Connection timed out" in said, said
        liar.socket.close()


if __name__ == "__main__":
    main([test_liars, test_repeats, test_untold_rate, test_older_modules, test_tables,
          test_dead_host])
