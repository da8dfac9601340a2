"""tamis migrate when something goes wrong: keys that exist, change or vanish, servers that are the
wrong ones, full, older, killed or lying, signals and kill -9. After each, a key at the target is
whole or absent, and nothing at the source has changed."""
import binascii
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster_liars import Meddler  # noqa: E402
from cluster_servers import cluster  # noqa: E402
from redis_client import (PATIENCE, TAMIS, Server, free_port, main, used_memory,  # noqa: E402
                          vectors, wait_for)
from redis_values import synced  # noqa: E402
from test_cluster_migrate import BINARY, migrate, restore_vectors, at, url, values  # noqa: E402


def adds(client, n, prefix="k"):
    client.pipeline([("BF.ADD", f"{prefix}{i}", i) for i in range(n)])


def check_whole(c, d):
    """What is at the target is a copy."""
    mine, theirs = values(c), values(d)
    assert all(mine[key] == value for key, value in theirs.items())
    return len(theirs)


def test_existing():
    """A key that exists is compared; one that differs is left alone without --replace."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        adds(c, 4)
        c.do("BF.ADD", BINARY, 1)
        d.do("SET", "k0", "text")
        d.do("BF.ADD", "k1", "another")
        d.do("RESTORE", "k2", 0, c.do("DUMP", "k2"))
        d.do("PEXPIREAT", "k2", 4102444800000)
        d.do("RESTORE", "k3", 0, c.do("DUMP", "k3"))
        d.do("SET", BINARY, 1)
        before = values(d)
        made, said = migrate(url(one), url(two), status=2)
        assert (made["existing"], made["equal"], made["copied"], made["complete"]) \
            == (4, 1, 0, False), made
        for reason in ("k0: the target has a key of type string with this name; --replace",
                       "k1: the target has this key with another value; --replace",
                       "k2: the target has this key with another time to live; --replace",
                       r"x:\x00\xff\x0a\x5c ä{}: the target has a key of type string"):
            assert reason in said, said
        assert values(d) == before
        made, said = migrate(url(one), url(two), "--replace")
        assert (made["replaced"], made["copied"], made["equal"]) == (4, 4, 1) and said == "", made
        assert values(d) == values(c) and d.do("PEXPIRETIME", "k2") == -1
        # If there are very many, only the first are named.
        adds(c, 150, "m")
        d.pipeline([("SET", f"m{i}", 1) for i in range(150)])
        made, said = migrate(url(one), url(two), status=2)
        assert made["existing"] == 150 and said.count("the target has a key") == 100, made
        assert "further keys that are not copied are only counted" in said


def test_wrong_servers():
    """Each is an error before anything is copied. No message shows a password."""
    with Server() as one, Server() as two, Server(module=False) as bare, \
            Server() as locked:
        c, d = one.client(), two.client()
        locked.client().do("CONFIG", "SET", "requirepass", "hunter2")
        adds(c, 3)
        c.do("TOPK.RESERVE", "top", 3)
        assert "lacks the module tamis-redis.so" in migrate(url(one), url(bare), status=2)[1]
        for target in (url(one), url(one).replace("127.0.0.1", "localhost")):
            assert "has the same data as the source" in migrate(url(one), target, status=2)[1]
        # A type that only the source has.
        with Meddler(two, lambda words: b"-ERR unknown command 'TOPK.INFO'\r\n"
                     if words[0] == b"TOPK.INFO" else None) as older:
            made, said = migrate(url(one), older.url, status=2)
            assert "does not know the type TopK-TYPE (it lacks TOPK.INFO)" in said, said
            assert made["copied"] == 0 and d.do("DBSIZE") == 0
            migrate(url(one), older.url, "--match", "k*")
            d.do("FLUSHALL")
        d.do("REPLICAOF", "127.0.0.1", locked.port)
        assert "is a replica; name its master" in migrate(url(one), url(two), status=2)[1]
        d.do("REPLICAOF", "127.0.0.1", one.port)
        synced(c, d)
        assert "has the same data as the source" in migrate(url(two), url(one), status=2)[1]
        d.do("REPLICAOF", "NO", "ONE")
        for address in (f"redis://hunter2@127.0.0.1:{locked.port}",
                        f"redis://127.0.0.1:{locked.port}", f"redis://hunter2@127.0.0.1:{one.port}",
                        f"redis://wrong-hunter2@127.0.0.1:{locked.port}",
                        f"redis://hunter2@127.0.0.1:{free_port()}", "redis://hunter2@:1",
                        "redis://u:hunter2/@127.0.0.1:1", "redis://hunter2@127.0.0.1:1/name",
                        f"redis://127.0.0.1:{one.port}/name", "redis://", "redis:///"):
            done = subprocess.run([TAMIS, "migrate", "--json", url(one), address],
                                  capture_output=True, text=True)
            good = address == f"redis://hunter2@127.0.0.1:{locked.port}"
            assert done.returncode == (0 if good else 2), (address, done)
            assert "hunter2" not in done.stdout + done.stderr, done
            assert good == ('"complete": true' in done.stdout), done
        done = subprocess.run([TAMIS, "migrate", "a", "b"], capture_output=True, text=True)
        assert done.returncode == 2 and "a: is not the address of a server" in done.stderr
        done = subprocess.run([TAMIS, "migrate", url(one), "b"], capture_output=True, text=True)
        assert done.returncode == 2 and "b: is not the address of a server" in done.stderr
        done = subprocess.run([TAMIS, "migrate", url(one), url(two), url(bare)],
                              capture_output=True, text=True)
        assert done.returncode == 2 and "give two servers" in done.stderr


def test_full():
    """A target without memory ends the work; what is there is whole, and counted."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        for i in range(20):
            c.do("BF.RESERVE", f"big{i:02}", 0.01, 200000)
        d.do("CONFIG", "SET", "maxmemory", used_memory(d) + (2 << 20))
        made, said = migrate(url(one), url(two), status=2)
        assert "the server has no more memory: OOM command not allowed" in said, said
        assert 0 < made["copied"] + made["unverified"] == check_whole(c, d) < 20, made
        d.do("CONFIG", "SET", "maxmemory", 0)
        there = d.do("DBSIZE")
        made, said = migrate(url(one), url(two))
        assert made["equal"] == there and made["copied"] == 20 - there, made
        # What the module itself refuses concerns one key.
        d.do("FLUSHALL")
        with Meddler(two, lambda words: b"-ERR Bad data format\r\n"
                     if words[:2] == [b"RESTORE", b"big07"] else None) as target:
            made, said = migrate(url(one), target.url, status=2)
        assert made["failed"] == 1 and made["copied"] == 19, made
        assert "big07: the target does not accept its value: ERR Bad data format" in said, said


def test_changing():
    """A key that changes while it is copied is copied again, and reported if it does not rest."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        meddling = one.client()
        c.do("BF.RESERVE", "k", 0.01, 1000), c.do("BF.ADD", "other", 1)
        often = []

        def change(words):
            if words[0] == b"RESTORE" and words[1] == b"k" and len(often) < most:
                often.append(1)
                meddling.do("BF.ADD", "k", f"item{len(often)}")
        with Meddler(two, change) as target:
            most = 2
            made, said = migrate(url(one), target.url)
            assert made["copied"] == 2 and said == "" and len(often) == 2, made
            assert values(d) == values(c) and d.do("BF.CARD", "k") == 2
            d.do("FLUSHALL")
            most = 100
            made, said = migrate(url(one), target.url, status=2)
            assert len(often) == 7 and made["failed"] == 1 and made["copied"] == 1, made
            assert "k: it has changed at the source during each of 5 attempts" in said, said
            assert d.do("BF.CARD", "k") == c.do("BF.CARD", "k") - 1
            # Its time to live changes.
            most = 0
            d.do("FLUSHALL")
            target.before = lambda words: meddling.do("PEXPIREAT", "k", 4102444800000) and None \
                if words[0] == b"RESTORE" else None
            migrate(url(one), target.url)
            assert d.do("PEXPIRETIME", "k") == 4102444800000
            # It is deleted: then the target does not have it either.
            d.do("FLUSHALL")
            target.before = lambda words: meddling.do("DEL", "k") and None \
                if words[:2] == [b"RESTORE", b"k"] else None
            made, said = migrate(url(one), target.url)
            assert made["gone"] == 1 and made["copied"] == 1 and said == "", made
            assert d.do("KEYS", "*") == [b"other"]


def test_gone():
    """Keys that expire or are deleted before they are read, and those that somebody makes at the
    target meanwhile."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        meddling, there = one.client(), two.client()
        adds(c, 10)

        def drop(words):
            if words[:2] == [b"DUMP", b"k3"]:
                meddling.do("DEL", "k3")
            if words[:2] == [b"DUMP", b"k4"]:
                meddling.do("PEXPIRE", "k4", 1)
                wait_for(lambda: not meddling.do("EXISTS", "k4"), "k4 does not expire")
        with Meddler(one, drop) as source:
            made, said = migrate(source.url, url(two))
            assert made["gone"] == 2 and made["copied"] == 8 and said == "", made
            assert check_whole(c, d) == 8
        d.do("FLUSHALL")

        def make(words):
            if words[:2] == [b"RESTORE", b"k5"]:
                there.do("BF.ADD", "k5", "somebody else")
        with Meddler(two, make) as target:
            made, said = migrate(url(one), target.url, status=2)
            assert made["existing"] == 1 and made["copied"] == 7, made
            assert "k5: the target has got a key with this name meanwhile" in said, said
            assert d.do("BF.EXISTS", "k5", "somebody else") == 1


def test_written_to():
    """A source that is written to all the time: every copy is a value that the source once had, and
    a run after the last write makes all equal."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        adds(c, 50)
        c.do("CMS.INITBYDIM", "counts", 100, 3)
        done = threading.Event()

        def write():
            w, i = one.client(), 0
            while not done.is_set():
                i += 1
                w.do("CMS.INCRBY", "counts", "x", 1)
                w.do("BF.ADD", f"k{i % 50}", f"new{i}")
        writer = threading.Thread(target=write)
        writer.start()
        try:
            process = subprocess.run([TAMIS, "migrate", "--json", url(one), url(two)],
                                     capture_output=True, text=True, timeout=PATIENCE)
        finally:
            done.set()
            writer.join()
        assert process.returncode in (0, 2), process
        assert d.do("DBSIZE") == 51
        assert d.do("CMS.QUERY", "counts", "x")[0] <= c.do("CMS.QUERY", "counts", "x")[0]
        assert all(d.do("BF.EXISTS", f"k{i}", i) == 1 for i in range(50))
        migrate(url(one), url(two), "--replace")
        assert values(d) == values(c)


def test_differs():
    """A copy that is not equal is an error, and is removed again."""
    with Server("--rdbcompression", "no") as one, Server("--rdbcompression", "no") as two:
        c, d = one.client(), two.client()
        adds(c, 3)

        def spoil(words, reply):
            if words[:2] == [b"DUMP", b"k1"] and reply != b"$-1\r\n":
                return reply[:60] + bytes([reply[60] ^ 1]) + reply[61:]
        with Meddler(two, after=spoil) as target:
            made, said = migrate(url(one), target.url, status=2)
            assert "k1: the copy differs from the source, and was removed" in said, said
            assert made["failed"] == 1 and made["copied"] == 2 and check_whole(c, d) == 2

        def late(words, reply):
            if words[:2] == [b"PEXPIRETIME", b"k1"]:
                return b":4102444800000\r\n"
        d.do("FLUSHALL")
        with Meddler(two, after=late) as target:
            assert "k1: the copy differs" in migrate(url(one), target.url, status=2)[1]
            assert check_whole(c, d) == 2


def test_older_target():
    """A target that knows only an older version of RDB, or no PEXPIRETIME."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        restore_vectors(at(c))
        c.do("TAMIS.CREATE", "t", "bloom", "ITEMS", 100, "RATE", 0.01)
        c.do("PEXPIRE", "t", 10000000)

        def newer(words, reply):
            if words[0] == b"DUMP":
                return reply[:-12] + b"\x63\x00" + reply[-10:]
        with Meddler(one, after=newer) as source:
            made, said = migrate(source.url, url(two))
            assert made["copied"] == made["older_version"] == 9 and said == "", made
            assert values(d) == values(c)
        d.do("FLUSHALL")
        unknown = b"-ERR unknown command 'PEXPIRETIME', with args\r\n"
        for which in (one, two):
            d.do("FLUSHALL")
            with Meddler(which, lambda words: unknown if words[0] == b"PEXPIRETIME" else None) as m:
                ends = (m.url, url(two)) if which is one else (url(one), m.url)
                assert migrate(*ends)[0]["copied"] == 9
                assert abs(d.do("PTTL", "t") - c.do("PTTL", "t")) < 10000
                assert migrate(*ends)[0]["equal"] == 9


def test_older_layout():
    """A source whose module saves an older version of the fields: the cells must be equal, and so
    must be what BF.INFO reports."""
    def older(words, reply):
        """Version 3 has no growth, the fourth field."""
        if words[0] != b"DUMP":
            return None
        begin = reply.index(b"\r\n") + 2
        payload = reply[begin:-2]
        assert payload[9] == 4 and payload[10:18] == bytes([2, 1, 2, 1, 2, 5, 2, 2])
        payload = payload[:9] + b"\x03" + payload[10:16] + payload[18:-8] + bytes(8)
        return b"$%d\r\n%s\r\n" % (len(payload), payload)
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        c.do("BF.ADD", "k", "a")
        with Meddler(one, after=older) as source:
            made, said = migrate(source.url, url(two))
            assert made["copied"] == 1 and values(d) == values(c), made
            assert migrate(source.url, url(two))[0]["equal"] == 1
            d.do("FLUSHALL")
            source.before = lambda words: b"*2\r\n+Capacity\r\n:5\r\n" \
                if words[0] == b"BF.INFO" else None
            assert "the copy differs" in migrate(source.url, url(two), status=2)[1]
            assert d.do("DBSIZE") == 0


def test_no_cells():
    """Nothing of t-digests with different versions of the fields can be compared, so they are not
    taken for equal."""
    def newer(words, reply):
        if words[0] != b"DUMP" or reply == b"$-1\r\n":
            return None
        begin = reply.index(b"\r\n") + 2
        return reply[:begin + 9] + bytes([reply[begin + 9] ^ 1]) + reply[begin + 10:]
    with Server() as one, Server() as two:
        one.client().do("TDIGEST.CREATE", "t"), one.client().do("TDIGEST.ADD", "t", 1, 2, 3)
        with Meddler(two, after=newer) as target:
            assert "t: the copy differs" in migrate(url(one), target.url, status=2)[1]


def test_pointers():
    """RedisBloom saves addresses of its process with the heap of a TopK, and this module zeros:
    they do not count."""
    made = next(v for v in vectors() if v.name == "topk")
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        c.do("RESTORE", "topk", 0, made.dump)
        as_made = b"$%d\r\n%s\r\n" % (len(made.dump), made.dump)
        with Meddler(one, lambda words: as_made if words[0] == b"DUMP" else None) as source:
            assert migrate(source.url, url(two))[0]["copied"] == 1
            assert migrate(source.url, url(two))[0]["equal"] == 1
        assert d.do("TOPK.LIST", "topk", "WITHCOUNT") == c.do("TOPK.LIST", "topk", "WITHCOUNT")


def interrupted(source, target, number, ready, *words):
    """Starts it, sends the signal when `ready` calls its argument, and returns its output."""
    process = subprocess.Popen([TAMIS, "migrate", *words, source, target],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ready(lambda: process.send_signal(number))
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == -number, (process.returncode, out, said)
    return out, said


def test_interrupted():
    """Ctrl-C finishes the keys at hand and reports; kill -9 reports nothing. Both leave whole keys,
    and the next run does the rest."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        adds(c, 500)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            d.do("FLUSHALL")
            begun, sent = threading.Event(), threading.Event()
            seen = []

            def hold(words):
                if words[0] == b"RESTORE":
                    seen.append(1)
                    if len(seen) == 200:
                        begun.set()
                        sent.wait(PATIENCE)
            with Meddler(two, hold) as target:
                def ready(kill):
                    assert begun.wait(PATIENCE)
                    kill()
                    sent.set()
                out, said = interrupted(url(one), target.url, number, ready)
            wait_for(lambda: d.do("DBSIZE") >= 199, "too few keys")
            there = check_whole(c, d)
            assert 199 <= there < 500, there
            if number != signal.SIGKILL:
                assert out.startswith(f"{there} keys copied and verified"), out
                assert said == (f"tamis: interrupted: {target.url} has what is reported above; run "
                                "the command again to resume\n"), said
            made, _ = migrate(url(one), url(two))
            assert made["equal"] == there and made["copied"] == 500 - there, made
            assert values(d) == values(c)


def slot_of(key):
    return binascii.crc_hqx(re.sub(rb".*{(.+)}.*", rb"\1", key), 0) % 16384


def same_chunks(c, d, key, verb):
    iterator = 0
    while True:
        mine, theirs = c.do(verb, key, iterator), d.do(verb, key, iterator)
        assert mine == theirs
        iterator = mine[0]
        if iterator == 0:
            return


def test_chunks():
    """Filters that are too big for RESTORE are copied in chunks, under another name until they are
    complete."""
    with Server() as one, Server("--proto-max-bulk-len", "40mb") as two:
        c, d = one.client(), two.client()
        c.do("BF.RESERVE", "bf", 0.01, 25000000)
        c.do("CF.RESERVE", "cf{x}", 30000000)
        c.do("CF.RESERVE", "empty", 30000000)
        for i in range(0, 20000, 1000):
            c.do("BF.MADD", "bf", *range(i, i + 1000))
            c.do("CF.INSERT", "cf{x}", "ITEMS", *range(i, i + 1000))
        c.do("PEXPIREAT", "bf", 4102444800123)
        c.do("CMS.INITBYDIM", "counts", 3000000, 4)  # has no chunks: compressed it is small
        made, said = migrate(url(one), url(two))
        assert made["in_chunks"] == 2 and made["copied"] == 4 and said == "", made
        assert sorted(d.do("KEYS", "*")) == sorted(c.do("KEYS", "*"))
        same_chunks(c, d, "bf", "BF.SCANDUMP"), same_chunks(c, d, "cf{x}", "CF.SCANDUMP")
        assert d.do("PEXPIRETIME", "bf") == 4102444800123 and d.do("PEXPIRETIME", "cf{x}") == -1
        assert d.do("CF.INFO", "empty") == c.do("CF.INFO", "empty")
        assert migrate(url(one), url(two))[0]["equal"] == 4
        c.do("BF.ADD", "bf", "new")
        made, said = migrate(url(one), url(two), "--match", "bf", status=2)
        assert made["existing"] == 1 and "bf: the target has this key with another value" in said
        made, _ = migrate(url(one), url(two), "--match", "bf", "--replace")
        assert made["replaced"] == made["in_chunks"] == 1, made
        same_chunks(c, d, "bf", "BF.SCANDUMP")
        check_chunks_trouble(one, two)
        # The other name has the slot of the key, so that it can be renamed in a cluster.
        with cluster(3, 0, options=("--proto-max-bulk-len", "40mb")) as servers:
            assert migrate(url(one), servers.url())[0]["in_chunks"] == 2
            for key in (b"bf", b"cf{x}"):
                owner = servers.owner(slot_of(key)).client()
                same_chunks(c, owner, key, "BF.SCANDUMP" if key == b"bf" else "CF.SCANDUMP")


def check_chunks_trouble(one, two):
    c, d = one.client(), two.client()
    d.do("FLUSHALL")
    # A chunk that arrives damaged, and one that the target refuses.
    for reply in (b"-ERR received bad data\r\n", b"+OK\r\n"):
        with Meddler(two, lambda words: reply if words[0] == b"BF.LOADCHUNK"
                     and words[2] != b"1" else None) as target:
            made, said = migrate(url(one), target.url, "--match", "bf", status=2)
            assert made["failed"] == 1 and d.do("DBSIZE") == 0, made
            assert "bf: the " in said, said
    # It changes each time.
    adder, often = one.client(), []

    def change(words):
        if words[0] == b"BF.LOADCHUNK" and words[2] != b"1":
            often.append(1)
            adder.do("BF.ADD", "bf", f"change{len(often)}")
    with Meddler(two, change) as target:
        made, said = migrate(url(one), target.url, "--match", "bf", status=2)
        assert "bf: it has changed at the source during each of 5 attempts" in said, said
        assert d.do("DBSIZE") == 0 and made["failed"] == 1
    # The target has no more memory.
    with Meddler(two, lambda words: b"-OOM command not allowed\r\n"
                 if words[0] == b"BF.LOADCHUNK" and words[2] != b"1" else None) as target:
        made, said = migrate(url(one), target.url, "--match", "bf", status=2)
        assert "the server has no more memory: OOM" in said and d.do("DBSIZE") == 0, said
    # It is interrupted, or killed: then a key is left that expires.
    for number in (signal.SIGINT, signal.SIGKILL):
        begun, sent = threading.Event(), threading.Event()

        def hold(words):
            if words[0] == b"BF.LOADCHUNK" and words[2] != b"1":
                begun.set()
                sent.wait(PATIENCE)
        with Meddler(two, hold) as target:
            def ready(kill):
                assert begun.wait(PATIENCE)
                kill()
                sent.set()
            interrupted(url(one), target.url, number, ready, "--match", "bf")
        left = d.do("KEYS", "*")
        assert b"bf" not in left and len(left) == (number == signal.SIGKILL), left
        assert all(key.startswith(b"tamis-migrate:{") and d.do("PTTL", key) > 0 for key in left)
    migrate(url(one), url(two), "--match", "bf")
    same_chunks(c, d, "bf", "BF.SCANDUMP")


def test_too_long():
    """Values and chunks that the target does not accept, whatever their number."""
    with Server("--rdbcompression", "no") as one, Server("--proto-max-bulk-len", "1mb") as two:
        c, d = one.client(), two.client()
        c.do("CMS.INITBYDIM", "counts", 100000, 3)
        c.do("BF.RESERVE", "bf", 0.01, 2000000)
        c.do("BF.ADD", "small", 1)
        made, said = migrate(url(one), url(two), status=2)
        assert made["failed"] == 2 and made["copied"] == 1, made
        assert "counts: its value has 12000" in said and "bf: its chunk has 2" in said, said
        assert said.count("and the target accepts less than 1048576") == 2, said
        assert d.do("KEYS", "*") == [b"small"]


def test_lost():
    """A server that dies in the middle: an error, in time, and the next run does the rest."""
    with Server("--appendonly", "yes", "--appendfsync", "always") as one, Server() as two:
        c, d = one.client(), two.client()
        adds(c, 2000)
        seen = []

        def die(words):
            seen.append(words[0])
            if seen.count(b"RESTORE") == 100 and words[0] == b"RESTORE":
                one.stop()
        with Meddler(two, die) as target:
            done = subprocess.run([TAMIS, "migrate", "--timeout", "1", url(one), target.url],
                                  capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == 2 and done.stderr.startswith(f"tamis: {url(one)}: "), done
            assert "gave up after" in done.stderr or "connection was lost" in done.stderr, done
            assert "copied and verified" in done.stdout
        one.start()
        c = one.client()
        assert 0 < check_whole(c, d) < 2000
        assert migrate(url(one), url(two))[0]["complete"]
        assert values(c) == values(d)
        # The connection of SCAN ends, which cannot be continued elsewhere.
        with Meddler(one, lambda words: b"" if words[0] == b"SCAN" and words[1] != b"0"
                     else None) as source:
            _, said = migrate(source.url, url(two), status=2)
            assert "the connection was lost" in said and "run the command again" in said, said


NONSENSE = [(b"SCAN", reply) for reply in (
    b":1\r\n", b"*0\r\n", b"*2\r\n$1\r\n0\r\n:1\r\n", b"*2\r\n$1\r\nx\r\n*0\r\n",
    b"*2\r\n:0\r\n*0\r\n", b"*2\r\n$1\r\n0\r\n*1\r\n:1\r\n", b"-ERR no\r\n", b"hello\r\n", b"",
    b"*2\r\n$21\r\n111111111111111111111\r\n*0\r\n", b"*2\r\n$1\r\n5\r\n*0\r\n",
    b"*2\r\n$1\r\n0\r\n$-1\r\n", b"*2147483647\r\n")] + [
    (b"TYPE", reply) for reply in (b":1\r\n", b"$-1\r\n", b"-NOPERM no\r\n", b"*0\r\n")] + [
    (b"DUMP", reply) for reply in (
        b":1\r\n", b"+OK\r\n", b"$0\r\n\r\n", b"*0\r\n", b"-NOPERM no\r\n", b"$5\r\nhello\r\n",
        b"$12\r\n\x07\x81aaaaaaaabb\r\n", b"$30\r\n" + b"\x07" * 30 + b"\r\n")] + [
    (b"PEXPIRETIME", reply) for reply in (
        b"$1\r\n1\r\n", b":-7\r\n", b"*0\r\n", b"-NOPERM no\r\n")] + [
    (b"INFO", b""), (b"MEMORY", b""), (b"CLUSTER", b":1\r\n")]
HARMLESS = [(b"MEMORY", b"-ERR no\r\n"), (b"MEMORY", b":-5\r\n"), (b"INFO", b"-NOPERM no\r\n"),
            (b"INFO", b"*0\r\n"), (b"CONFIG", b"-NOPERM no\r\n"), (b"CONFIG", b":1\r\n"),
            (b"TYPE", b"+" + b"z" * 5000 + b"\r\n")]


def test_liars():
    """Replies that make no sense, of the source and of the target: an error in time, or the right
    result; never a key that is not a copy."""
    with Server() as one:
        adds(one.client(), 3)
        # The runs read its values at the same time, and would set this and back (values).
        one.client().do("CONFIG", "SET", "rdbcompression", "no")

        def run(case):
            (word, reply), lies_at_source, status = case
            with Server() as two:
                lying = one if lies_at_source else two
                # Questions of the beginning, before there are keys, are answered.
                with Meddler(lying, lambda words: reply if words[0] == word
                             and words[1:2] != [b"tamis-migrate:none"] else None) as liar:
                    ends = (liar.url, url(two)) if lies_at_source else (url(one), liar.url)
                    done = subprocess.run([TAMIS, "migrate", "--timeout", "1", *ends],
                                          capture_output=True, text=True, timeout=PATIENCE)
                    assert done.returncode == status, (case, done)
                    assert status == 0 or done.stderr.startswith("tamis: redis://"), (case, done)
                    there = check_whole(one.client(), two.client())
                    assert status == 2 or there == 3 or word == b"TYPE", (case, there)
        never = (b"SCAN", b"MEMORY")  # are not asked at the target
        cases = [(lie, True, 2) for lie in NONSENSE] \
            + [(lie, False, 2) for lie in NONSENSE if lie[0] not in never] \
            + [(lie, True, 0) for lie in HARMLESS if lie[0] != b"CONFIG"] \
            + [(lie, False, 0) for lie in HARMLESS if lie[0] not in (b"TYPE", b"MEMORY")] \
            + [((b"RESTORE", reply), False, 2) for reply in (b":1\r\n", b"*0\r\n", b"+NO\r\n",
                                                             b"+OK\r\n", b"-MISCONF no\r\n")]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            assert len(list(pool.map(run, cases))) == len(cases) > 40


def test_chunk_liars():
    """Chunks that do not end, or that make no sense."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        c.do("BF.ADD", "k", 1)
        for reply in (b"*2\r\n:1\r\n:1\r\n", b"*0\r\n", b":1\r\n", b"*2\r\n:-1\r\n$1\r\na\r\n",
                      b"*2\r\n:1\r\n$0\r\n\r\n", b"*2\r\n$1\r\n1\r\n$1\r\na\r\n"):
            with Meddler(one, lambda words: b":100000000\r\n" if words[0] == b"MEMORY" else
                         reply if words[0] == b"BF.SCANDUMP" else None) as liar:
                made, said = migrate(liar.url, url(two), status=2)
                assert "k: the reply of the source to BF.SCANDUMP is invalid" in said, said
                assert made["failed"] == 1 and d.do("DBSIZE") == 0
        # As much as a filter of 70 MB, and more; the target is not asked for its opinion.
        at_byte, big = [0], b"$16777216\r\n" + bytes(16 << 20) + b"\r\n"

        def endless(words):
            if words[0] == b"MEMORY":
                return b":70000000\r\n"
            if words[0] == b"BF.SCANDUMP":
                at_byte[0] += 1
                return b"*2\r\n:%d\r\n" % at_byte[0] + big
        with Meddler(one, endless) as liar, \
                Meddler(two, lambda words: {b"BF.LOADCHUNK": b"+OK\r\n", b"PEXPIRE": b":1\r\n"}
                        .get(words[0])) as target:
            made, said = migrate(liar.url, target.url, status=2)
            assert "k: its chunks do not end" in said and d.do("DBSIZE") == 0, said


if __name__ == "__main__":
    main([test_existing, test_wrong_servers, test_full, test_changing, test_gone, test_written_to,
          test_differs, test_older_target, test_older_layout, test_no_cells, test_pointers,
          test_interrupted, test_chunks, test_too_long, test_lost, test_liars, test_chunk_liars])
