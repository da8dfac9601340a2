"""Kind distinct and TAMIS.CARD: how many distinct items, against exact sets and next to PFCOUNT."""
import math
import os
import pathlib
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, SOURCE, Server, WRONGTYPE, main, used_memory, wait_for  # noqa: E402
from redis_values import synced  # noqa: E402
from test_redis_bloom import check  # noqa: E402

PAGE = pathlib.Path(SOURCE, "docs/REDIS.md")
# A normal estimate is off by more than this many standard errors in one of 1e9 cases; the tests
# compare hundreds of estimates, and hashes are fixed.
SIGMAS = 6.5
# The relative standard errors of sketches with m registers, by the information of a register.
INFORMATION = 8.4291


def error_of(m):
    return 1 / math.sqrt(INFORMATION * m)


def registers(size):
    """The registers of an image take 4 bytes each, behind 256."""
    return 1 << int(math.log2((size - 256) / 4))


def facts(c, key):
    flat = c.text("TAMIS.INFO", key, "FULL")
    return dict(zip(flat[::2], flat[1::2]))


def madd(c, key, items):
    items = list(items)
    for i in range(0, len(items), 10000):
        c.do("TAMIS.MADD", key, *items[i:i + 10000])


def within(n, truth, m):
    return abs(n - truth) <= SIGMAS * error_of(m) * truth


def test_create():
    """By error or bytes, with the options of other kinds that apply; refusals say why."""
    with Server() as server:
        c = server.client()
        for i, (words, size) in enumerate((("ERROR 0.3", 320), ("ERROR 0.01", 8448),
                                           ("BYTES 8448", 8448), ("BYTES 8447", 4352),
                                           ("error 0.01 bytes 8500", 8448), ("M 4096", 16640),
                                           ("ERROR 0.01 SEED 7", 8448),
                                           ("ERROR 0.01 ENCODING text", 8448))):
            check(c, (f"TAMIS.CREATE k{i} distinct {words}", "OK"))
            madd(c, f"k{i}", range(5000))
            found = facts(c, f"k{i}")
            assert found["kind"] == "distinct" and found["bytes"] == size, (words, found)
            assert math.isclose(float(found["error"]), error_of(registers(size)), rel_tol=0.01)
            assert found["exact"] == 0 and within(found["items"], 5000, registers(size)), found
            low, high = float(found["items-low"]), float(found["items-high"])
            assert c.do("TAMIS.CARD", f"k{i}", "WITHINTERVAL") \
                == [round(float(found["items-estimate"])), math.floor(low), math.ceil(high)]
            assert low < 5000 < high, found
        for words in ("", "ERROR 0", "ERROR -0.1", "ERROR 0.31", "ERROR 1e-9", "ERROR nan",
                      "ERROR inf", "ERROR x", "ERROR", "BYTES 319", "BYTES 0", "BYTES -1",
                      "BYTES 9223372036854775808", "ERROR 0.01 BYTES 8447", "M 3", "M 1000",
                      "M 134217728", "ITEMS 10 ERROR 0.1", "ITEMS 10 RATE 0.1", "RATE 0.1",
                      "ERROR 0.1 K 3", "ERROR 0.1 DELTA 0.1", "ERROR 0.1 STRICT",
                      "ERROR 0.1 COMPACT", "ERROR 0.1 GENERATIONS 3", "ERROR 0.1 INNER bloom",
                      "ERROR 0.1 EXCLUDED 5", "ERROR 0.1 CELLBITS 8", "ERROR 0.1 CONSERVATIVE"):
            reply = c.call("TAMIS.CREATE", "none", "distinct", *words.split())
            assert isinstance(reply, Error) and len(reply.text) > 12, (words, reply)
        for words in ("", "ERROR 0", "BYTES 0"):
            assert c.call("TAMIS.CREATE", "none", "distinct", *words.split()).text \
                == "ERR a distinct sketch requires an error above 0 and at most 30 %, or bytes"
        assert c.do("EXISTS", "none") == 0
        check(c, ("TAMIS.CREATE n distinct ERROR 0.05 ENCODING int64le", "OK"),
              ("TAMIS.MADD n 5 -6 5", [1, 1, 0]), ("TAMIS.CARD n", 2))
        assert "decimal integer" in c.call("TAMIS.ADD", "n", "five").text
        check(c, ("TAMIS.CARD n", 2), ("CONFIG SET bf.tamis-max-bytes 100kb", "OK"))
        assert isinstance(c.call("TAMIS.CREATE", "none", "distinct", "ERROR", "0.001"), Error)


def test_small():
    """Small sets are counted exactly, up to half the registers and at most 2,048 items."""
    with Server() as server:
        c = server.client()
        for size, most in ((320, 8), (8448, 1024), (16640, 2048), (65792, 2048)):
            key = f"k{size}"
            check(c, (f"TAMIS.CREATE {key} distinct BYTES {size}", "OK"), (f"TAMIS.CARD {key}", 0),
                  (f"TAMIS.CARD {key} WITHINTERVAL", [0, 0, 0]))
            for n in range(1, most + 1):
                assert c.do("TAMIS.ADD", key, f"item {n}") == 1, (size, n)
                assert n % 97 and n < most or c.do("TAMIS.CARD", key) == n, (size, n)
            check(c, (f"TAMIS.CARD {key} WITHINTERVAL", [most] * 3),
                  (["TAMIS.ADD", key, "item 1"], 0), (f"TAMIS.CARD {key}", most))
            found = facts(c, key)
            assert found["exact"] == 1, found
            assert math.isclose(float(found["error"]), error_of(registers(size)), rel_tol=0.01)
            while facts(c, key)["exact"]:
                n += 1
                c.do("TAMIS.ADD", key, f"item {n}")
            assert n == most + 1, (size, n)
            number, low, high = c.do("TAMIS.CARD", key, "WITHINTERVAL")
            assert low <= number <= high and low < high and within(number, n, registers(size))


def test_model():
    """Random adds, merges, copies and counts, against sets."""
    rng = random.Random(23)
    with Server() as server:
        c = server.client()
        keys = {f"k{i}": (size, set()) for i, size in enumerate((320, 4352, 4352, 16640, 16640))}
        for key, (size, _) in keys.items():
            check(c, (f"TAMIS.CREATE {key} distinct BYTES {size}", "OK"))
        compared = 0
        for _ in range(400):
            key = rng.choice(list(keys))
            size, there = keys[key]
            deed = rng.randrange(12)
            if deed < 8:
                start, n = rng.randrange(40000), rng.choice((1, 3, 50, 1000))
                items = [f"{rng.randrange(start, start + 2 * n)}" for _ in range(n)]
                seen = [not x for x in c.do("TAMIS.MADD", key, *items)]
                # "New" is never wrong. In small sets "not new" is right as well.
                for item, was in zip(items, seen):
                    assert was or item not in there, (key, item)
                    there.add(item)
            elif deed == 8:
                other = rng.choice(list(keys))
                if other != key:
                    check(c, (f"TAMIS.MERGE {key} {other}", "OK"))
                    keys[key] = (min(size, keys[other][0]), there | keys[other][1])
            elif deed == 9 and len(there) > 10000:
                check(c, (f"DEL {key}", 1), (f"TAMIS.CREATE {key} distinct BYTES {size}", "OK"))
                keys[key] = (size, set())
            else:
                chosen = rng.sample(list(keys), rng.randrange(1, 5))
                truth = len(set().union(*(keys[k][1] for k in chosen)))
                m = registers(min(keys[k][0] for k in chosen))
                number, low, high = c.do("TAMIS.CARD", *chosen, "WITHINTERVAL")
                assert number == c.do("TAMIS.CARD", *chosen)
                assert low <= number <= high and within(number, truth, m), (chosen, truth, number)
                assert truth > min(m // 2, 2048) or low == number == high == truth, \
                    (chosen, truth, low, number, high)
                compared += 1
        assert compared > 40, compared


def test_union():
    """Several keys count as one sketch of all their items, at the lowest precision; nothing has
    changed afterwards, and no memory is kept."""
    with Server() as server:
        c = server.client()
        for key, size, items in (("a", 65792, range(30000)), ("b", 4352, range(20000, 50000)),
                                 ("c", 16640, range(100)), ("all", 4352, range(50000))):
            check(c, (f"TAMIS.CREATE {key} distinct BYTES {size}", "OK"))
            madd(c, key, items)
        check(c, ("TAMIS.CREATE empty distinct ERROR 0.001", "OK"))
        whole = c.do("TAMIS.CARD", "all", "WITHINTERVAL")
        before = {key: (c.do("DUMP", key), c.do("MEMORY", "USAGE", key)) for key in ("a", "b", "c")}
        c.do("TAMIS.CARD", "a", "b", "c")
        used = used_memory(c)
        for words in ("a b c", "c b a", "b a", "a a b b a", "none a nobody b", "empty a b",
                      "a b empty"):
            assert c.do("TAMIS.CARD", *words.split(), "withInterval") == whole, words
        check(c, ("TAMIS.CARD a a", c.do("TAMIS.CARD", "a")),
              ("TAMIS.CARD empty none", 0), ("TAMIS.CARD c none empty", 100))
        for _ in range(200):
            c.do("TAMIS.CARD", "a", "b", "c")
        assert used_memory(c) < used + 30000, used_memory(c) - used
        assert before == {key: (c.do("DUMP", key), c.do("MEMORY", "USAGE", key)) for key in before}
        # MERGE stores the same.
        check(c, ("TAMIS.MERGE new a b c", "OK"), ("TAMIS.MERGE a b c", "OK"))
        assert c.do("TAMIS.DUMP", "new") == c.do("TAMIS.DUMP", "a") == c.do("TAMIS.DUMP", "all")
        assert facts(c, "a")["bytes"] == 4352
        check(c, ("TAMIS.MERGE b none",
                  Error("ERR no such key; TAMIS.CREATE creates one")),
              ("TAMIS.CARD all WITHINTERVAL", whole))


def test_memory():
    """A union takes the memory of one more sketch; if that is more than the server may take, the
    command fails, and counts of single keys do not."""
    with Server() as server:
        c = server.client()
        for key in ("a", "b", "c"):
            check(c, (f"TAMIS.CREATE {key} distinct ERROR 0.0004", "OK"))
            madd(c, key, range(5000))
            assert c.do("MEMORY", "USAGE", key) > 3 << 20
        used = used_memory(c)
        c.do("CONFIG", "SET", "maxmemory", used + (6 << 20))
        alone = c.do("TAMIS.CARD", "a")
        assert c.do("TAMIS.CARD", "a", "b", "c", "b", "c") == alone
        c.do("CONFIG", "SET", "maxmemory", used + (1 << 20))
        assert "memory" in c.call("TAMIS.CARD", "a", "b").text
        check(c, ("TAMIS.CARD a", alone), ("TAMIS.CARD c c none", alone))


def test_arguments():
    """Missing keys are empty, other types an error; only the last word is an option."""
    with Server() as server:
        c, three = server.client(), server.client(resp=3)
        check(c, ("TAMIS.CREATE k distinct ERROR 0.01", "OK"), ("TAMIS.MADD k a b a", [1, 1, 0]),
              ("SET s 1", "OK"), ("PFADD p x", 1), ("BF.ADD f x", 1),
              ("TAMIS.CREATE other distinct ERROR 0.01 SEED 9", "OK"),
              ("TAMIS.CREATE text distinct ERROR 0.01 ENCODING text", "OK"),
              ("TAMIS.CREATE number distinct ERROR 0.01 ENCODING int64le", "OK"))
        arity = Error("ERR wrong number of arguments for 'tamis.card' command")
        for client in (c, three):
            check(client, ("TAMIS.CARD", arity), ("TAMIS.CARD none", 0),
                  ("TAMIS.CARD none withinterval", [0, 0, 0]),
                  ("TAMIS.CARD k none nobody", 2), ("TAMIS.CARD k WITHINTERVAL", [2, 2, 2]),
                  ("TAMIS.CARD none k", 2), ("TAMIS.CARD k k", 2),
                  ("TAMIS.CARD s", Error(WRONGTYPE)), ("TAMIS.CARD p", Error(WRONGTYPE)),
                  ("TAMIS.CARD f", Error(WRONGTYPE)), ("TAMIS.CARD k s WITHINTERVAL",
                                                       Error(WRONGTYPE)),
                  ("TAMIS.CARD none s", Error(WRONGTYPE)), ("TAMIS.CARD k k none s",
                                                            Error(WRONGTYPE)),
                  # A word elsewhere is a key.
                  ("TAMIS.CARD WITHINTERVAL", 0), ("TAMIS.CARD WITHINTERVAL k", 2),
                  ("TAMIS.CARD WITHINTERVAL WITHINTERVAL", [0, 0, 0]))
            assert "seed" in client.call("TAMIS.CARD", "k", "other").text
            assert "seed" in client.call("TAMIS.CARD", "none", "k", "none", "other",
                                         "WITHINTERVAL").text
            assert isinstance(client.call("TAMIS.CARD", "text", "number"), Error)
        check(c, ("TAMIS.CREATE WITHINTERVAL distinct ERROR 0.1", "OK"),
              ("TAMIS.ADD WITHINTERVAL x", 1), ("TAMIS.CARD WITHINTERVAL", 1),
              (["TAMIS.CARD", b"k\0", b"\xff" * 600, b""], 0),
              (["TAMIS.CARD", *[f"none{i}" for i in range(20000)]], 0),
              (["TAMIS.CARD", *["k"] * 20000, "WITHINTERVAL"], [2, 2, 2]))
        assert c.do("DBSIZE") == 8


def test_filters():
    """One filter whose bits show it, and unions where filters merge."""
    with Server() as server:
        c = server.client()
        for kind in ("bloom", "partitioned", "blocked", "counting", "growing"):
            for key, items in ((kind, range(3000)), (kind + "2", range(2000, 4000))):
                check(c, (f"TAMIS.CREATE {key} {kind} ITEMS 4000 RATE 0.001", "OK"))
                madd(c, key, items)
            number, low, high = c.do("TAMIS.CARD", kind, "WITHINTERVAL")
            assert low <= number <= high and abs(number - 3000) < 150, (kind, number, low, high)
            image = c.do("TAMIS.DUMP", kind)
            if kind == "growing":
                assert "cannot be merged" in c.call("TAMIS.CARD", kind, kind + "2").text
            else:
                assert abs(c.do("TAMIS.CARD", kind, kind + "2") - 4000) < 200, kind
                check(c, (f"TAMIS.CREATE {kind}3 {kind} ITEMS 99 RATE 0.1", "OK"))
                assert isinstance(c.call("TAMIS.CARD", kind, kind + "3"), Error)
            assert c.do("TAMIS.DUMP", kind) == image
        for kind in ("cuckoo", "pair", "ribbon", "fuse", "window", "tally", "count-min", "top"):
            c.do("TAMIS.CREATE", kind, kind,
                 *(("BYTES", 20000) if kind in ("tally", "count-min", "top")
                   else ("ITEMS", 100, "RATE", 1 / 256)))
            for words in ([kind], [kind, "WITHINTERVAL"], [kind, "bloom"], ["none", kind, "tally"]):
                reply = c.call("TAMIS.CARD", *words)
                assert "use the kind distinct" in reply.text and kind in reply.text, (words, reply)
        check(c, ("TAMIS.CREATE d distinct ERROR 0.01", "OK"))
        for words in (("d", "bloom"), ("bloom", "d"), ("d", "tally")):
            assert isinstance(c.call("TAMIS.CARD", *words), Error), words
        # If every bit is set, there may be any number more.
        check(c, ("TAMIS.CREATE full bloom ITEMS 10 RATE 0.5", "OK"),
              ("TAMIS.CREATE free bloom ITEMS 10 RATE 0.5", "OK"))
        madd(c, "full", range(5000))
        full = Error("ERR the filter is too full to be counted")
        for words in ("full", "full WITHINTERVAL", "none full", "free full", "full free"):
            check(c, (f"TAMIS.CARD {words}", full))
        check(c, ("TAMIS.CARD free", 0))
        assert facts(c, "full")["kind"] == "bloom"


def test_other_commands():
    """Refusals of commands for other kinds call a sketch a sketch."""
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE distinct distinct ERROR 0.1", "OK"),
              ("TAMIS.CREATE window window INNER distinct ERROR 0.1 GENERATIONS 2", "OK"))
        for key in ("distinct", "window"):
            for command in ("TAMIS.COUNT", "TAMIS.ESTIMATE"):
                check(c, (f"{command} {key} a", Error(
                    "ERR distinct sketches do not count each key; use the kind tally")))
            check(c, (f"TAMIS.INCRBY {key} a 2", Error(
                f"ERR {key} sketches do not support weights; use the kind tally")),
                (f"TAMIS.REMOVE {key} a", [Error(
                    f"ERR keys cannot be removed from {key} sketches; use the kind cuckoo")]))


def test_keys():
    """The server knows which words are keys: for ACL, clients and the routing of a cluster."""
    with Server() as server:
        c, other = server.client(), server.client()
        for words, keys in (("a b c WITHINTERVAL", "a b c"), ("a", "a"), ("WITHINTERVAL", ) * 2,
                            ("a withinterval b", "a withinterval b")):
            assert c.text("COMMAND", "GETKEYS", "TAMIS.CARD", *words.split()) == keys.split()
        flags = c.text("COMMAND", "GETKEYSANDFLAGS", "TAMIS.CARD", "a", "b", "WITHINTERVAL")
        assert [(key, sorted(f)) for key, f in flags] == [(key, ["RO", "access"]) for key in "ab"]
        info = c.text("COMMAND", "INFO", "tamis.card")[0]
        assert set(info[2]) >= {"readonly", "movablekeys"} and "write" not in info[2], info
        c.do("ACL", "SETUSER", "reader", "on", "nopass", "%R~a*", "+tamis.card")
        other.do("AUTH", "reader", "any")
        check(other, ("TAMIS.CARD a1 a2", 0), ("TAMIS.CARD a1 a2 WITHINTERVAL", [0, 0, 0]),
              ("TAMIS.CARD a WITHINTERVAL", [0, 0, 0]))
        for words in ("b", "a b", "b a WITHINTERVAL", "WITHINTERVAL", "a WITHINTERVAL a"):
            assert other.call("TAMIS.CARD", *words.split()).text.startswith("NOPERM"), words


def test_persist():
    """Sparse and dense values survive as the same bytes: RDB, AOF before and after a rewrite, DUMP,
    COPY and TAMIS.LOAD."""
    with Server("--appendonly", "yes", "--appendfsync", "always",
                "--auto-aof-rewrite-percentage", "0", "--aof-use-rdb-preamble", "no") as server:
        c = server.client()
        sizes = (("sparse", 100), ("edge", 2048), ("over", 2049), ("dense", 20000), ("empty", 0))
        for key, n in sizes:
            check(c, (f"TAMIS.CREATE {key} distinct BYTES 16640", "OK"))
            for i in range(0, n, 1000):
                c.do("TAMIS.MADD", key, *range(i, min(i + 1000, n)))

        def values(c):
            return {key: (c.do("DUMP", key), c.do("TAMIS.DUMP", key),
                          c.do("TAMIS.CARD", key, "WITHINTERVAL")) for key, _ in sizes}
        before = values(c)
        assert before["edge"][2] == [2048] * 3 and before["over"][2][1] < before["over"][2][2]
        server.restart()
        c = server.client()
        assert values(c) == before
        check(c, ("DEBUG RELOAD", "OK"))
        assert values(c) == before
        c.do("BGREWRITEAOF")
        wait_for(lambda: "aof_rewrite_in_progress:0" in c.text("INFO", "persistence")
                 and "aof_rewrite_scheduled:0" in c.text("INFO", "persistence"), "a rewrite hangs")
        for key, _ in sizes:
            c.do("TAMIS.MADD", key, "more", "and more")
        before = values(c)
        server.restart()
        c = server.client()
        assert values(c) == before
        for key, _ in sizes:
            dump, image, card = before[key]
            check(c, (f"COPY {key} copy REPLACE", 1),
                  (["RESTORE", "back", 0, dump, "REPLACE"], "OK"),
                  (["TAMIS.LOAD", "loaded", image, "REPLACE"], "OK"))
            for other in ("copy", "back", "loaded"):
                assert c.do("TAMIS.DUMP", other) == image
                assert c.do("TAMIS.CARD", other, key, "WITHINTERVAL") == card


def calls(c, command):
    found = re.search(rf"cmdstat_{command}:calls=(\d+)", c.text("INFO", "commandstats"))
    return int(found[1]) if found else 0


def test_replication():
    """A replica has the same bytes, and hears only of adds that changed something."""
    with Server() as one, Server() as two:
        c, replica = one.client(), two.client()
        replica.do("REPLICAOF", "127.0.0.1", one.port)
        wait_for(lambda: "master_link_status:up" in replica.text("INFO", "replication"), "no link")
        check(c, ("TAMIS.CREATE d distinct ERROR 0.02", "OK"),
              ("TAMIS.CREATE e distinct ERROR 0.1", "OK"))
        for i in range(0, 5000, 100):
            c.do("TAMIS.MADD", "d", *range(i, i + 100))
            c.do("TAMIS.ADD", "e", i)
        synced(c, replica)
        image, heard = c.do("TAMIS.DUMP", "d"), calls(replica, "tamis.madd")
        assert heard == 50 and replica.do("TAMIS.DUMP", "d") == image
        for i in range(0, 5000, 100):
            assert c.do("TAMIS.MADD", "d", *range(i, i + 100)) == [0] * 100
            assert c.do("TAMIS.ADD", "e", i) == 0
        assert c.do("TAMIS.DUMP", "d") == image
        c.do("TAMIS.MERGE", "d", "e")
        fresh = next(i for i in range(10000, 20000) if c.do("TAMIS.ADD", "d", i))
        assert c.do("TAMIS.MADD", "d", 0, fresh, 1) == [0, 0, 0]
        fresh = next(i for i in range(20000, 30000) if not c.do("TAMIS.HAS", "d", i))
        assert c.do("TAMIS.MADD", "d", 0, fresh, 1) == [0, 1, 0]
        synced(c, replica)
        assert calls(replica, "tamis.madd") == heard + 1
        for key in "de":
            assert replica.do("DUMP", key) == c.do("DUMP", key)
            assert replica.do("TAMIS.CARD", key, "WITHINTERVAL") \
                == c.do("TAMIS.CARD", key, "WITHINTERVAL")
        assert replica.do("TAMIS.CARD", "d", "e") == c.do("TAMIS.CARD", "d", "e")
        assert replica.call("TAMIS.ADD", "d", "x").text.startswith("READONLY")


def test_windows():
    """Distinct in the last generations, whatever was also seen before them."""
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE w window INNER distinct BYTES 100000 GENERATIONS 3", "OK"),
              ("TAMIS.CARD w", 0))
        found = facts(c, "w")
        assert found["kind"] == "window" and found["inner-kind"] == "distinct" \
            and found["bytes"] <= 100000, found
        madd(c, "w", range(3000))
        error = float(facts(c, "w")["error"])

        def near(key, truth):
            number, low, high = c.do("TAMIS.CARD", key, "WITHINTERVAL")
            assert low <= number <= high and abs(number - truth) <= SIGMAS * error * truth, \
                (number, truth)
        assert 0 < error < 0.02
        near("w", 3000)
        check(c, ("TAMIS.ROTATE w", "OK"))
        madd(c, "w", range(2000, 6000))
        near("w", 6000)
        check(c, ("COPY w w2", 1), ("TAMIS.ROTATE w TO 10", "OK"), ("TAMIS.ROTATE w TO 11", "OK"))
        near("w", 6000)
        check(c, ("TAMIS.ROTATE w TO 12", "OK"))
        near("w", 4000)
        image = c.do("TAMIS.DUMP", "w")
        check(c, ("DEBUG RELOAD", "OK"))
        assert c.do("TAMIS.DUMP", "w") == image
        near("w", 4000)
        check(c, ("TAMIS.ROTATE w TO 14", "OK"), ("TAMIS.CARD w WITHINTERVAL", [0, 0, 0]))
        near("w2", 6000)
        assert isinstance(c.call("TAMIS.CREATE", "v", "window", "INNER", "distinct", "BYTES", 300),
                          Error)


# --- Next to PFCOUNT ----------------------------------------------------------------------------

RUNS, ITEMS = 200, 100000
SKETCHES = (4352, 8448, 16640)
STATED = {"PFCOUNT": 0.0081, **{size: error_of(registers(size)) for size in SKETCHES}}


def body(start, n):
    """The items of a command as bytes of the protocol."""
    return (b"$9\r\n%09d\r\n" * n) % tuple(range(start, start + n))


def send_to_all(c, start, n):
    """Without replies, which would take longer to read here than the server takes for the rest."""
    items = body(start, n)
    for command, key in [("PFADD", "p"), *(("TAMIS.MADD", f"d{size}") for size in SKETCHES)]:
        c.send("CLIENT", "REPLY", "SKIP")
        c.socket.sendall(b"*%d\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (
            n + 2, len(command), command.encode(), len(key), key.encode()) + items)


def create_all(c):
    c.do("FLUSHALL")
    for size in SKETCHES:
        c.do("TAMIS.CREATE", f"d{size}", "distinct", "BYTES", size)


def measure(c):
    """Returns the root mean square of the relative errors of each, over sets of distinct items."""
    sums = dict.fromkeys(STATED, 0.0)
    for run in range(RUNS):
        create_all(c)
        for start in range(0, ITEMS, 20000):
            send_to_all(c, run * ITEMS + start, 20000)
        counts = {"PFCOUNT": c.do("PFCOUNT", "p"),
                  **{size: c.do("TAMIS.CARD", f"d{size}") for size in SKETCHES}}
        for name, n in counts.items():
            sums[name] += (n / ITEMS - 1) ** 2
    return {name: math.sqrt(x / RUNS) for name, x in sums.items()}


def small_rows(c):
    for n in (100, 1000):
        create_all(c)
        send_to_all(c, 0, n)
        size = SKETCHES[1]
        image, strlen = c.do("TAMIS.DUMP", f"d{size}"), c.do("STRLEN", "p")
        assert c.do("TAMIS.CARD", f"d{size}") == n
        yield f"| {n:,} items | {strlen:,} bytes, counts {c.do('PFCOUNT', 'p'):,} " \
              f"| {len(image):,} bytes, counts {n:,} |"


def measured_tables(c):
    """The tables of docs/REDIS.md, and the errors measured."""
    found = measure(c)
    rows = ["| key | bytes | standard error | measured |", "|---|---|---|---|",
            f"| `PFADD` | {c.do('STRLEN', 'p'):,} | 0.81 % | {100 * found['PFCOUNT']:.2f} % |"]
    for size in SKETCHES:
        assert facts(c, f"d{size}")["bytes"] == size
        rows.append(f"| `TAMIS.CREATE key distinct BYTES {size}` | {size:,} "
                    f"| {100 * STATED[size]:.2f} % | {100 * found[size]:.2f} % |")
    rows += ["", f"| set | `PFADD` | `distinct BYTES {SKETCHES[1]}` |", "|---|---|---|",
             *small_rows(c)]
    return "\n".join(rows), found


def with_tables(text, tables):
    mark = "<!-- pfcount -->"
    before, _, after = text.split(mark)
    return f"{before}{mark}\n{tables}\n{mark}{after}"


def test_pfcount():
    """Both count the same items. The hashes are fixed, so the figures of the manual are exactly
    these. The sum of n squared normal errors exceeds this bound in one of 1e9 cases
    (Wilson and Hilferty)."""
    bound = math.sqrt((1 - 2 / (9 * RUNS) + 6 * math.sqrt(2 / (9 * RUNS))) ** 3)
    with Server() as server:
        tables, found = measured_tables(server.client())
        print(tables, flush=True)
        for name, stated in STATED.items():
            assert found[name] < stated * bound, (name, found[name], stated)
        text = PAGE.read_text()
        assert with_tables(text, tables) == text, "the tables are not those measured: --accept"


if __name__ == "__main__":
    if sys.argv[1:] == ["--accept"]:
        with Server() as accepting:
            PAGE.write_text(with_tables(PAGE.read_text(),
                                        measured_tables(accepting.client())[0]))
        sys.exit()
    main([test_create, test_small, test_model, test_union, test_memory, test_arguments,
          test_filters, test_other_commands, test_keys, test_persist, test_replication,
          test_windows, test_pfcount])
