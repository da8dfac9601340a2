"""INFO bf_tamis: numbers of keys and bytes equal an exact model (SCAN, TYPE and MEMORY USAGE of
every key) after whatever a server does with keys; refused loads; the survey, which finds the
biggest key, overfull filters and saturated counters."""
import os
import pathlib
import random
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, Server, main, vectors, wait_for  # noqa: E402
from redis_values import fill, synced, touch  # noqa: E402

TYPES = {"MBbloom--": "bloom", "MBbloomCF": "cuckoo", "CMSk-TYPE": "cms", "TopK-TYPE": "topk",
         "TDIS-TYPE": "tdigest", "tamis-img": "tamis"}
SCRATCH = 15  # a database for names without a value of the module


def figures(c, section="bf_tamis"):
    """The fields of the section, numbers as such, without the name of the module before them."""
    lines = c.text("INFO", section).splitlines()
    fields = dict(line.split(":", 1) for line in lines if line.startswith("bf_"))
    return {name[3:]: int(value) if value.lstrip("-").isdigit() else value
            for name, value in fields.items()}


def surveyed(c):
    """The figures of a survey that began after this call."""
    before = figures(c)["surveys"]
    found = {}

    def is_new():
        found.update(figures(c))
        return found["surveys"] >= before + 2
    wait_for(is_new, "no survey")
    return found


def model(c):
    """The numbers of keys and bytes by type, key by key. What a name takes is known from a key of
    that name with an integer, whose value takes 16 bytes."""
    found = {name: [0, 0] for name in TYPES.values()}
    biggest = 0
    for db in re.findall(r"^db(\d+):", c.text("INFO", "keyspace"), re.M):
        c.do("SELECT", db)
        cursor = None
        while cursor != b"0":
            cursor, names = c.do("SCAN", cursor or 0, "COUNT", 1000)
            for name in names:
                kind = TYPES.get(c.do("TYPE", name))
                if kind is None:
                    continue
                usage, *_, plain, _, _ = c.pipeline([
                    ("MEMORY", "USAGE", name, "SAMPLES", 0), ("SELECT", SCRATCH),
                    ("SET", name, 1), ("MEMORY", "USAGE", name), ("DEL", name), ("SELECT", db)])
                usage -= plain - 16
                found[kind][0] += 1
                found[kind][1] += usage
                biggest = max(biggest, usage)
    c.do("SELECT", 0)
    return found, biggest


def check_figures(c, what):
    time.sleep(0.01)  # longer than the keys live that are about to expire
    wait_for(lambda: b"lazyfree_pending_objects:0\r" in c.do("INFO", "memory"), "still freeing")
    wanted, _ = model(c)
    got = figures(c)
    assert {name: [got[f"keys_{name}"], got[f"bytes_{name}"]] for name in wanted} == wanted, \
        (what, got, wanted)
    assert got["keys"] == sum(keys for keys, _ in wanted.values()), what
    assert got["bytes"] == sum(size for _, size in wanted.values()), what
    return got


def test_sections():
    """Which requests of INFO include the section."""
    with Server() as server:
        c = server.client()
        for section in ("bf_tamis", "bf", "modules", "everything"):
            assert figures(c, section)["keys"] == 0, section
        for section in ("default", "all", "tamis"):
            assert "bf_keys" not in c.text("INFO", section), section
        assert c.text("INFO", "tamis") == ""
        assert c.text("INFO", "bf_tamis").startswith("# bf_tamis\r\nbf_keys:0\r\n")


def test_crash():
    """The report of a crash has the section, too."""
    with Server() as server:
        c = server.client()
        c.do("BF.ADD", "b", "a")
        c.send("DEBUG", "SEGFAULT")
        server.process.wait()
        assert "# bf_tamis\nbf_keys:1\n" in server.log().replace("\r", ""), server.log()[-3000:]


def test_commands():
    with Server() as server:
        c = server.client()
        check_figures(c, "empty")
        fill(c)
        got = check_figures(c, "filled")
        assert all(got[f"keys_{name}"] > 0 for name in TYPES.values())
        touch(c, "")
        check_figures(c, "changed")
        c.do("COPY", "bf", "copy")
        c.do("BF.MADD", "copy", "p", "q")
        c.do("TAMIS.MERGE", "union", "blocked")
        c.do("TAMIS.MERGE", "union", "blocked")
        c.do("BF.MERGE", "both", "fixed")
        check_figures(c, "merged")
        image = c.do("TAMIS.DUMP", "blocked")
        for words in (("TAMIS.LOAD", "loaded", image), ("TAMIS.LOAD", "bf", image, "REPLACE"),
                      ("TAMIS.LOAD", "union", image, "REPLACE"), ("SET", "cf", "x"),
                      ("DEL", "cms"), ("UNLINK", "topk"), ("DEL", "tdigest"), ("GETDEL", "cf")):
            c.do(*words)
            check_figures(c, words[0])


def deeds(c, rng):
    """One thing that happens to keys."""
    names = [f"k{n}" for n in range(12)]
    one, two = rng.choice(names), rng.choice(names)
    items = [f"i{rng.randrange(2000)}" for _ in range(rng.randrange(1, 60))]
    dump = c.call("DUMP", one)
    other = rng.randrange(3)
    bad = bytearray(dump or b"x")
    bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
    return rng.choice([
        ("BF.INSERT", one, "CAPACITY", 10, "ITEMS", *items),
        ("CF.INSERT", one, "CAPACITY", 8, "ITEMS", *items), ("CF.DEL", one, items[0]),
        ("CF.COMPACT", one), ("CMS.INITBYDIM", one, rng.randrange(1, 500), 5),
        ("CMS.INCRBY", one, items[0], 5), ("TOPK.RESERVE", one, rng.randrange(1, 50)),
        ("TDIGEST.CREATE", one, "COMPRESSION", rng.randrange(1, 300)),
        ("TDIGEST.ADD", one, *[rng.random() for _ in items]),
        ("TDIGEST.MERGE", one, 1, two), ("TDIGEST.MERGE", one, 1, two, "OVERRIDE"),
        ("TOPK.ADD", one, *items), ("TAMIS.CREATE", one, "growing", "ITEMS", 10, "RATE", 0.01),
        ("TAMIS.CREATE", one, "top", "BYTES", 30000),
        ("TAMIS.CREATE", one, "ribbon", "ITEMS", 100, "RATE", 0.01),
        ("TAMIS.MADD", one, *items), ("TAMIS.SEAL", one), ("TAMIS.MERGE", one, two),
        ("BF.MERGE", one, two), ("RENAME", one, two), ("RENAMENX", one, two),
        ("COPY", one, two), ("COPY", one, two, "REPLACE"), ("COPY", one, two, "DB", other),
        ("MOVE", one, other), ("SWAPDB", 0, other), ("DEL", one), ("UNLINK", one),
        ("SET", one, "x"), ("PEXPIRE", one, 1), ("EXPIRE", one, -1), ("FLUSHDB", "SYNC"),
        ("FLUSHDB", "ASYNC"), ("SELECT", other), ("DEBUG", "RELOAD"),
        ("RESTORE", two, 0, dump or b""), ("RESTORE", two, 0, dump or b"", "REPLACE"),
        ("RESTORE", two, 1, dump or b"", "REPLACE"), ("RESTORE", two, 0, bytes(bad), "REPLACE"),
        ("TAMIS.LOAD", two, c.call("TAMIS.DUMP", one), "REPLACE")
        if isinstance(c.call("TAMIS.DUMP", one), bytes) else ("PING",)])


def test_random_deeds():
    """Whatever happens to keys, in any order. lazyfree-lazy-server-del frees replaced values in the
    background, too."""
    for options in ((), ("--lazyfree-lazy-server-del", "yes", "--lazyfree-lazy-expire", "yes")):
        with Server(*options) as server:
            c, rng, done = server.client(), random.Random(7), {}
            for turn in range(40):
                words = [deeds(c, rng) for _ in range(20)]
                for deed in words:
                    failed = isinstance(c.call(*deed), Error)
                    done[deed[0], failed] = done.get((deed[0], failed), 0) + 1
                check_figures(c, words)
            assert done["RESTORE", True] > 5 and done["RESTORE", False] > 5, done
            assert done["COPY", False] > 5 and done["FLUSHDB", False] > 5, done
            c.do("FLUSHALL", "ASYNC")
            assert check_figures(c, "FLUSHALL ASYNC")["bytes"] == 0


def test_restarts():
    """From a dump file, and from append-only files of both forms."""
    for options in ((), ("--appendonly", "yes", "--appendfsync", "always"),
                    ("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
                     "no")):
        with Server(*options) as server:
            c = server.client()
            fill(c)
            before = check_figures(c, options)
            if not options:
                c.do("SAVE")
            server.restart()
            c = server.client()
            after = check_figures(c, options)
            for name in TYPES.values():
                assert after[f"keys_{name}"] == before[f"keys_{name}"], (options, name)


def test_replicas():
    """A replica counts what its primary counts, after a full synchronization of both forms, and
    what it had before does not count any longer."""
    for load in ("disabled", "swapdb"):
        with Server("--repl-diskless-sync-delay", "0") as primary, \
                Server("--repl-diskless-load", load) as replica:
            p, r = primary.client(), replica.client()
            fill(p)
            fill(r, "old")
            r.do("REPLICAOF", "127.0.0.1", primary.port)
            synced(p, r)
            touch(p, "")
            synced(p, r)
            wanted, got = check_figures(p, load), figures(r)
            wait_for(lambda: figures(r)["keys"] == wanted["keys"], "the old values are not freed")
            got = figures(r)
            for name in TYPES.values():
                assert got[f"keys_{name}"] == wanted[f"keys_{name}"], (load, name)
            r.do("REPLICAOF", "NO", "ONE")  # so that the model may write
            check_figures(r, load)


class Primary:
    """Says what a primary says, and hangs up in the middle of its dump file."""

    def __init__(self, dump):
        self.dump = dump
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                self.answer(self.socket.accept()[0])
            except OSError:
                if self.socket.fileno() < 0:
                    return

    def answer(self, peer):
        with peer, peer.makefile("rb") as lines:
            for line in lines:
                if line.upper().startswith(b"PING"):
                    peer.sendall(b"+PONG\r\n")
                elif line.upper().startswith(b"REPLCONF"):
                    peer.sendall(b"+OK\r\n")
                elif line.upper().startswith(b"PSYNC"):
                    peer.sendall(b"+FULLRESYNC %s 0\r\n$%d\r\n%s"
                                 % (b"a" * 40, len(self.dump), self.dump[:len(self.dump) // 2]))
                    peer.shutdown(socket.SHUT_WR)


def test_lost_primary():
    """A primary that is lost within a value: the replica counts the refused one, and forgets those
    that it had received before."""
    with Server("--rdbcompression", "no", "--rdbchecksum", "no") as server:
        c = server.client()
        for n in range(20):
            c.do("TAMIS.CREATE", f"t{n}", "blocked", "BYTES", 20000, "RATE", 0.01)
        c.do("SAVE")
        dump = pathlib.Path(server.room, "dump.rdb").read_bytes()
    with Server("--repl-diskless-load", "on-empty-db") as replica:
        c = replica.client()
        primary = Primary(dump)
        c.do("REPLICAOF", "127.0.0.1", primary.port)
        wait_for(lambda: figures(c)["refused_loads_loading"] > 0, "nothing was refused")
        primary.socket.close()
        c.do("REPLICAOF", "NO", "ONE")
        got = check_figures(c, "after the loss")
        assert (got["keys"], got["bytes"]) == (0, 0), got
        assert got["refused_last_reason"] == \
            "tamis-img: it ends too early, or there is no memory", got


def damaged(dump):
    """The same value with an impossible field and a right checksum. The server checks the sum
    itself before it asks the module."""
    body = bytearray(dump[:-8])
    body[11] ^= 0xff
    return bytes(body) + crc64(bytes(body)).to_bytes(8, "little")


def crc64(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return crc


def test_refused():
    """Refused loads count by their source, change nothing else, and the last reason contains
    nothing that a user sent."""
    with Server() as server:
        c = server.client()
        secret = "secret-name"
        c.do("BF.RESERVE", secret, 0.01, 100)
        c.do("TAMIS.CREATE", "t", "blocked", "ITEMS", 100, "RATE", 0.01)
        before = figures(c)
        assert before["refused_loads"] == 0 and "refused_last_reason" not in before
        wanted = {"load": 0, "restore": 0, "loadchunk": 0, "loading": 0}

        def refused(source, reason, *words):
            assert isinstance(c.call(*words), Error), words
            wanted[source] += 1
            got = figures(c)
            assert {name: got[f"refused_loads_{name}"] for name in wanted} == wanted, (words, got)
            assert got["refused_loads"] == sum(wanted.values())
            assert got["refused_last_reason"] == reason, (words, got)
            assert 0 <= got["refused_last_age_seconds"] < 60
            assert secret not in got["refused_last_reason"]
            assert {k: v for k, v in got.items() if k.startswith(("keys", "bytes"))} == \
                {k: v for k, v in before.items() if k.startswith(("keys", "bytes"))}, words

        image = bytearray(c.do("TAMIS.DUMP", "t"))
        refused("load", "TAMIS.LOAD: not a Tamis file", "TAMIS.LOAD", "x", secret)
        image[-1] ^= 1
        reason = c.call("TAMIS.LOAD", "x", bytes(image)).text.replace("ERR", "TAMIS.LOAD:")
        wanted["load"] += 1
        refused("load", reason, "TAMIS.LOAD", "x", bytes(image))
        refused("restore", "MBbloom--: the value is damaged, or of an unknown version", "RESTORE",
                "x", 0, damaged(c.do("DUMP", secret)))
        refused("loadchunk", "BF.LOADCHUNK: ERR received bad data", "BF.LOADCHUNK", "x", 1, secret)
        refused("loadchunk", "BF.LOADCHUNK: ERR invalid offset - no link found", "BF.LOADCHUNK",
                secret, 100000, secret)
        refused("loadchunk", "CF.LOADCHUNK: Invalid header", "CF.LOADCHUNK", "x", 1, secret)
        # Errors that say nothing about the payload do not count.
        for words in (("BF.LOADCHUNK", "x", 7, "a"), ("TAMIS.LOAD", "t", "bad"),
                      ("CF.LOADCHUNK", secret, 1, "a"), ("RESTORE", "x", 0, b"bad")):
            assert isinstance(c.call(*words), Error), words
        assert figures(c)["refused_loads"] == sum(wanted.values())


def test_survey():
    """The biggest key by MEMORY USAGE, wherever it is; overfull filters; saturated counters."""
    with Server() as server:
        c = server.client()
        got = surveyed(c)
        assert (got["biggest_key_bytes"], got["overfull_filters"], got["saturated_counters"]) == \
            (0, 0, 0) and "biggest_key" not in got
        c.pipeline([("SET", f"plain{n}", n) for n in range(5000)])
        fill(c)
        got = surveyed(c)
        assert got["biggest_key_bytes"] == model(c)[1]
        assert got["saturated_counters"] == 4 + 4, got  # cms and sum, 4 rows each
        c.do("SELECT", 3)
        c.do("BF.RESERVE", "big\r\nbf_keys:99\"\\\xe9", 0.01, 1000000)
        got = surveyed(c)
        assert got["biggest_key_bytes"] == model(c)[1]
        assert got["biggest_key"] == r"big\x0d\x0abf_keys:99\x22\x5c\xc3\xa9", got
        assert (got["biggest_key_db"], got["biggest_key_type"]) == (3, "bloom")
        c.do("SELECT", 3)
        c.do("RENAME", "big\r\nbf_keys:99\"\\\xe9", "n" * 500)
        got = surveyed(c)
        assert got["biggest_key"].strip("n") == "..." and 100 < len(got["biggest_key"]) < 200
        c.do("MOVE", "n" * 500, 7)
        assert surveyed(c)["biggest_key_db"] == 7
        c.do("FLUSHALL")
        assert surveyed(c)["biggest_key_bytes"] == 0


def test_overfull():
    with Server() as server:
        c = server.client()
        for name in ("bf", "more"):  # two full filters of different items
            c.do("BF.RESERVE", name, 0.01, 100, "NONSCALING")
            c.call("BF.MADD", name, *[f"{name}{n}" for n in range(150)])
        c.do("TAMIS.CREATE", "blocked", "blocked", "ITEMS", 100, "RATE", 0.01)
        c.do("TAMIS.MADD", "blocked", *range(90))
        assert surveyed(c)["overfull_filters"] == 0
        c.do("BF.MERGE", "bf", "more")
        assert surveyed(c)["overfull_filters"] == 1
        c.do("TAMIS.MADD", "blocked", *range(90, 200))
        assert surveyed(c)["overfull_filters"] == 2
        c.do("COPY", "bf", "again")
        assert surveyed(c)["overfull_filters"] == 3
        c.do("DEBUG", "RELOAD")
        assert surveyed(c)["overfull_filters"] == 3
        c.do("DEL", "bf", "blocked")
        assert surveyed(c)["overfull_filters"] == 1


def test_saturated():
    """Counters of every type that has some, also after a copy, a merge and a reload. A survey reads
    a structure of TAMIS.* of up to 64 KiB; for others it knows what TAMIS.INFO FULL found."""
    with Server() as server:
        c = server.client()
        c.do("CMS.INITBYDIM", "cms", 50, 3)
        c.do("CMS.INCRBY", "cms", "a", 1 << 40)
        assert surveyed(c)["saturated_counters"] == 3
        c.do("CMS.INCRBY", "cms", "a", 1 << 40)
        assert surveyed(c)["saturated_counters"] == 3
        c.do("COPY", "cms", "copy")
        c.do("DEBUG", "RELOAD")
        assert surveyed(c)["saturated_counters"] == 6
        c.do("CMS.INITBYDIM", "empty", 50, 3)
        c.do("CMS.MERGE", "copy", 1, "empty")
        assert surveyed(c)["saturated_counters"] == 3
        c.do("DEL", "cms")
        assert surveyed(c)["saturated_counters"] == 0
        # 4294967295 is 42949 times 100000 and 67295. The cells of another item decay to below.
        c.do("TOPK.RESERVE", "topk", 1, 1, 2, 1)
        c.pipeline([("TOPK.INCRBY", "topk", *["a", 100000] * 1000)] * 43)
        assert surveyed(c)["saturated_counters"] == 2
        c.do("DEBUG", "RELOAD")
        assert surveyed(c)["saturated_counters"] == 2
        c.do("TOPK.ADD", "topk", "b")
        assert surveyed(c)["saturated_counters"] == 0
        for name, size in (("small", 10000), ("big", 1000000)):
            c.do("TAMIS.CREATE", name, "counting", "BYTES", size, "RATE", 0.01)
            for _ in range(20):
                c.do("TAMIS.ADD", name, "a")
        small = dict(zip(*[iter(c.text("TAMIS.INFO", "small", "FULL"))] * 2))["saturated"]
        assert small > 0
        got = surveyed(c)
        assert (got["saturated_counters"], got["unread_keys"]) == (small, 1), got
        big = dict(zip(*[iter(c.text("TAMIS.INFO", "big", "FULL"))] * 2))["saturated"]
        got = surveyed(c)
        assert (got["saturated_counters"], got["unread_keys"]) == (small + big, 0), got
        # A rotation drops saturated counters, so nobody knows how many there are.
        c.do("DEL", "small", "big")
        c.do("TAMIS.CREATE", "w", "window", "INNER", "count-min", "BYTES", 100000, "GENERATIONS", 2)
        c.do("TAMIS.INCRBY", "w", "x", 1 << 40)
        c.do("TAMIS.INFO", "w", "FULL")
        assert surveyed(c)["saturated_counters"] > 0
        for _ in range(3):
            c.do("TAMIS.ROTATE", "w")
        got = surveyed(c)
        assert (got["saturated_counters"], got["unread_keys"]) == (0, 1), got
        c.do("TAMIS.INFO", "w", "FULL")
        got = surveyed(c)
        assert (got["saturated_counters"], got["unread_keys"]) == (0, 0), got


def test_chunks():
    """A filter that arrives in chunks takes its memory with the header."""
    with Server() as server:
        c = server.client()
        for iterator, data in vectors()[0].chunks:
            c.do("BF.LOADCHUNK", "chunk", iterator, data)
            assert check_figures(c, iterator)["keys_bloom"] == 1


if __name__ == "__main__":
    main([test_sections, test_crash, test_commands, test_random_deeds, test_restarts, test_replicas,
          test_lost_primary, test_refused, test_survey, test_overfull, test_saturated, test_chunks])
