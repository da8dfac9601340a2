"""TDIGEST.* against a real server: the objects of RedisBloom, its replies in RESP2 and RESP3, every
error text, what a question changes, and values that are saved, replicated or out of proportion."""
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import (Error, Server, WRONGTYPE, main, payload_of, same_text,  # noqa: E402
                          used_memory, vectors)
from redis_values import synced  # noqa: E402
from test_redis_hostile import fields_of, payload  # noqa: E402

GONE = Error("ERR T-Digest: key does not exist")
FACTS = ("Compression", "Capacity", "Merged nodes", "Unmerged nodes", "Merged weight",
         "Unmerged weight", "Observations", "Total compressions", "Memory usage")


def arity(name):
    return Error(f"ERR wrong number of arguments for 'tdigest.{name}' command")


def error(text):
    return Error("ERR T-Digest: " + text)


def number(x):
    """A double, which is text in RESP2; servers differ in the digits that they print."""
    try:
        return float(x)
    except (TypeError, ValueError):
        return x


def check(client, *steps):
    """Steps are (command line, reply). A float stands for a double, in RESP2 for its text."""
    for command, wanted in steps:
        got = client.text(*command.split())
        pairs = list(zip(got, wanted)) if isinstance(wanted, list) and len(got) == len(wanted) \
            else [(got, wanted)]
        for one, other in pairs:
            if isinstance(other, float):
                assert isinstance(one, (str, float)), (command, got)
                one = number(one)
            assert type(one) is type(other) and repr(one) == repr(other), \
                f"{command}: {got!r}, not {wanted!r}"


def facts(c, key):
    reply = c.text("TDIGEST.INFO", key)
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def info(*numbers):
    return [x for pair in zip(FACTS, numbers) for x in pair]


def test_vectors():
    """RedisBloom's objects are made again by its commands, restored from its dumps, and saved as
    the same bytes."""
    with Server() as server:
        c = server.client()
        for o in vectors("redisbloom_tdigest"):
            for command, reply in o.runs:
                assert c.text(*command) == reply, command[:2]
            assert payload_of(c.do("DUMP", o.name)) == payload_of(o.dump), o.name
            for key in (o.name, "copy"):
                c.do("RESTORE", "copy", 0, o.dump, "REPLACE")
                for (name, _, *words), reply in o.asks:
                    got = c.text(name, key, *words)
                    if isinstance(reply, list):
                        got, reply = map(str, map(number, got)), map(str, map(number, reply))
                    assert same_text(*((got, reply) if isinstance(got, str) else
                                       (list(got), list(reply)))), (name, key)
                assert payload_of(c.do("DUMP", key)) == payload_of(o.dump), key
        assert c.do("DEBUG", "RELOAD") == "OK"
        for o in vectors("redisbloom_tdigest"):
            assert payload_of(c.do("DUMP", o.name)) == payload_of(o.dump), o.name


def replies(c):
    nan = math.nan
    empty = info(100, 610, 0, 0, 0, 0, 0, 0, 9768)
    check(c, ("TDIGEST.CREATE", arity("create")), ("TDIGEST.CREATE t", "OK"),
          ("TDIGEST.CREATE t", error("key already exists")),
          ("TDIGEST.CREATE t2 COMPRESSION 200", "OK"),
          ("TDIGEST.CREATE t3 COMPRESSION", arity("create")),
          *[(f"TDIGEST.CREATE t3 COMPRESSION {n}",
             error("compression parameter needs to be a positive integer")) for n in (0, -5)],
          *[(f"TDIGEST.CREATE t3 COMPRESSION {n}", error("error parsing compression parameter"))
            for n in ("abc", "1.5", 10**20)],
          ("TDIGEST.CREATE t3 FOO 100", error("wrong keyword")),
          ("TDIGEST.CREATE t3 COMPRESSION 100 x", arity("create")))
    assert facts(c, "t") == dict(zip(empty[::2], empty[1::2])) and list(facts(c, "t")) == [*FACTS]
    check(c, ("TDIGEST.INFO none", GONE), ("TDIGEST.ADD t", arity("add")),
          ("TDIGEST.ADD none 1", GONE), ("TDIGEST.ADD t 1 2 3", "OK"),
          *[(f"TDIGEST.ADD t 5 {word}", error("error parsing val parameter"))
            for word in ("abc", "nan", "1e400")],
          *[(f"TDIGEST.ADD t 5 {word}", error("val parameter needs to be a finite number"))
            for word in ("inf", "-inf")],
          ("TDIGEST.MIN t", 1.0), ("TDIGEST.MAX t", 3.0), ("TDIGEST.MIN t2", nan),
          ("TDIGEST.MAX t2", nan), ("TDIGEST.MIN none", GONE), ("TDIGEST.MIN t x", arity("min")),
          ("TDIGEST.QUANTILE t 0 0.5 1", [1.0, 2.0, 3.0]), ("TDIGEST.QUANTILE t2 0.5", [nan]),
          *[(f"TDIGEST.QUANTILE t {q}", error("quantile should be in [0,1]"))
            for q in ("1.5", "-0.1", "inf")],
          *[(f"TDIGEST.QUANTILE t 0.5 {q}", error("error parsing quantile"))
            for q in ("abc", "nan")],
          ("TDIGEST.QUANTILE t", arity("quantile")),
          ("TDIGEST.CDF t 0 1 2 3 4", [0.0, 1 / 6, 0.5, 5 / 6, 1.0]),
          ("TDIGEST.CDF t -inf inf", [0.0, 1.0]),
          ("TDIGEST.CDF t2 1", [nan]), ("TDIGEST.CDF t abc", error("error parsing cdf")),
          ("TDIGEST.RANK t 0 1 2 3 4", [-1, 0, 1, 2, 3]), ("TDIGEST.RANK t2 1", [-2]),
          ("TDIGEST.REVRANK t 0 1 2 3 4", [3, 2, 1, 0, -1]), ("TDIGEST.REVRANK t2 1", [-2]),
          ("TDIGEST.RANK t nan", error("error parsing value")),
          ("TDIGEST.REVRANK t abc", error("error parsing value")),
          ("TDIGEST.BYRANK t 0 1 2 3", [1.0, 2.0, 3.0, math.inf]),
          ("TDIGEST.BYRANK t2 0", [nan]),
          ("TDIGEST.BYRANK t -1", error("rank needs to be non negative")),
          *[(f"TDIGEST.BYRANK t {n}", error("error parsing rank")) for n in ("abc", "0.5", 2**63)],
          ("TDIGEST.BYREVRANK t 0 1 2 3", [3.0, 2.0, 1.0, -math.inf]),
          ("TDIGEST.BYREVRANK t2 0", [nan]),
          ("TDIGEST.TRIMMED_MEAN t 0 1", 2.0), ("TDIGEST.TRIMMED_MEAN t 0.1 0.9", 2.0),
          *[(f"TDIGEST.TRIMMED_MEAN t {cut} {cut[:1]}.1",
             error("low_cut_percentile should be lower than high_cut_percentile"))
            for cut in ("0.9", "0.1")],
          ("TDIGEST.TRIMMED_MEAN t -1 2",
           error("low_cut_percentile and high_cut_percentile should be in [0,1]")),
          ("TDIGEST.TRIMMED_MEAN t a 2", error("error parsing low_cut_percentile")),
          ("TDIGEST.TRIMMED_MEAN t 0 b", error("error parsing high_cut_percentile")),
          ("TDIGEST.TRIMMED_MEAN t 0", arity("trimmed_mean")),
          ("TDIGEST.TRIMMED_MEAN t2 0.1 0.9", nan),
          ("TDIGEST.MERGE m 1 t", "OK"), ("TDIGEST.MERGE m 2 t t2", "OK"),
          *[(f"TDIGEST.MERGE m {rest}", arity("merge"))
            for rest in ("2 t", "0", "1 t COMPRESSION", "1 t OVERRIDE COMPRESSION")],
          ("TDIGEST.MERGE m abc t", error("error parsing numkeys")),
          ("TDIGEST.MERGE m 0 t", error("numkeys needs to be a positive integer")),
          ("TDIGEST.MERGE m 1 none", GONE), ("TDIGEST.MERGE new 1 new", GONE),
          ("TDIGEST.MERGE m 1 t COMPRESSION 300", "OK"), ("TDIGEST.MERGE m 1 t OVERRIDE", "OK"),
          ("TDIGEST.MERGE m 1 t COMPRESSION 50 OVERRIDE", "OK"),
          ("TDIGEST.MERGE m 1 t FOO", error("wrong keyword")),
          ("TDIGEST.MERGE m 1 t COMPRESSION 0",
           error("compression parameter needs to be a positive integer")))
    assert list(facts(c, "m").values()) == [50, 310, 0, 3, 0, 3, 3, 0, 4968], facts(c, "m")
    check(c, ("TDIGEST.RESET t", "OK"), ("TDIGEST.RESET none", GONE))
    assert facts(c, "t") == dict(zip(empty[::2], empty[1::2]))
    check(c, ("TDIGEST.MIN t", nan), ("SET s x", "OK"), ("TYPE m", "TDIS-TYPE"),
          *[(f"TDIGEST.{rest}", Error(WRONGTYPE))
            for rest in ("ADD s 1", "INFO s", "CREATE s", "CREATE s FOO 1", "RESET s", "MIN s",
                         "MAX s", "QUANTILE s 5", "CDF s a", "RANK s a", "REVRANK s a",
                         "BYRANK s a", "BYREVRANK s a", "TRIMMED_MEAN s a b", "MERGE s 1 t",
                         "MERGE s abc t", "MERGE m 2 t s", "MERGE m 1 s")],
          ("EXISTS t3 new", 0))


def test_replies():
    with Server() as server:
        two, three = server.client(), server.client(resp=3)
        replies(two)
        two.do("FLUSHALL")
        replies(three)
        assert isinstance(three.call("TDIGEST.INFO", "m"), dict)
        assert isinstance(three.call("TDIGEST.MIN", "m"), float)
        assert isinstance(two.call("TDIGEST.INFO", "m"), list)
        assert two.call("TDIGEST.MIN", "m") == b"1" and two.call("TDIGEST.MIN", "t") == b"nan"
        assert two.call("TDIGEST.BYREVRANK", "m", 7) == [b"-inf"]
        # An error changes nothing.
        before = facts(two, "m")
        for words in (("ADD", "m", 1, 2, "x"), ("ADD", "m", 1, "inf"), ("QUANTILE", "m", 0.5, 2),
                      ("MERGE", "m", 2, "m", "none"), ("MERGE", "m", 1, "m", "FOO"),
                      ("CREATE", "m")):
            assert isinstance(two.call("TDIGEST." + words[0], *words[1:]), Error), words
            assert facts(two, "m") == before, words


def test_one_observation():
    """RedisBloom before 2026 replies with NaN, and loses the observation when it is saved."""
    with Server() as server:
        c = server.client()
        check(c, ("TDIGEST.CREATE t", "OK"), ("TDIGEST.ADD t -4.5", "OK"))
        for _ in range(2):
            check(c, ("TDIGEST.QUANTILE t 0 0.5 1", [-4.5, -4.5, -4.5]),
                  ("TDIGEST.CDF t -5 -4.5 -4", [0.0, 0.5, 1.0]), ("TDIGEST.RANK t -4.5", [0]),
                  ("TDIGEST.BYRANK t 0 1", [-4.5, math.inf]),
                  ("TDIGEST.TRIMMED_MEAN t 0.2 0.4", -4.5))
            assert c.do("DEBUG", "RELOAD") == "OK"
        # What RedisBloom saves: a pending node that is not there.
        start, _ = fields_of(c.do("DUMP", "t"))
        reals = [(4, struct.pack("<d", x)) for x in (100, -4.5, -4.5, 0, 1)]
        lost = payload(start, [*reals[:3], (2, 610), (2, 0), (2, 1), (2, 0), *reals[3:]])
        c.do("RESTORE", "lost", 0, lost)
        check(c, ("TDIGEST.QUANTILE lost 0.5", [-4.5]), ("TDIGEST.ADD lost -3.5", "OK"),
              ("TDIGEST.QUANTILE lost 0 1", [-4.5, -3.5]))


def test_questions_merge():
    """As in RedisBloom, all questions except MIN, MAX and INFO merge what is pending, and so do
    DUMP and MERGE, in its sources as well."""
    with Server() as server:
        c = server.client()
        for words in (("QUANTILE", 0.5), ("CDF", 3), ("RANK", 3), ("REVRANK", 3), ("BYRANK", 3),
                      ("BYREVRANK", 3), ("TRIMMED_MEAN", 0.1, 0.9), ("DUMP",), ("MERGE",)):
            check(c, ("TDIGEST.CREATE t", "OK"), ("TDIGEST.ADD t 1 2 3 4 5", "OK"),
                  ("TDIGEST.MIN t", 1.0), ("TDIGEST.MAX t", 5.0))
            assert list(facts(c, "t").values()) == [100, 610, 0, 5, 0, 5, 5, 0, 9768]
            if words[0] == "DUMP":
                c.do("DUMP", "t")
            elif words[0] == "MERGE":
                c.do("TDIGEST.MERGE", "m", 1, "t")
                assert list(facts(c, "m").values()) == [100, 610, 0, 5, 0, 5, 5, 0, 9768]
            else:
                c.do("TDIGEST." + words[0], "t", *words[1:])
            assert list(facts(c, "t").values()) == [100, 610, 5, 0, 5, 0, 5, 1, 9768], words
            c.do("DEL", "t")
        # They are merged as well when the nodes are full: at the 610th observation.
        c.do("TDIGEST.CREATE", "t")
        c.do("TDIGEST.ADD", "t", *range(609))
        assert facts(c, "t")["Unmerged nodes"] == 609
        c.do("TDIGEST.ADD", "t", 609)
        assert facts(c, "t")["Unmerged nodes"] == 1 and facts(c, "t")["Total compressions"] == 1


def compression_of(c, *words):
    c.do("TDIGEST.MERGE", *words)
    return facts(c, words[0])["Compression"]


def test_merge():
    with Server() as server:
        c = server.client()
        for compression in (50, 200, 300):
            c.do("TDIGEST.CREATE", f"c{compression}", "COMPRESSION", compression)
            c.do("TDIGEST.ADD", f"c{compression}", *range(compression))
        # A new destination gets the greatest compression, an old one keeps its own.
        assert compression_of(c, "new", 2, "c50", "c200") == 200
        assert compression_of(c, "new", 1, "c300") == 200
        assert compression_of(c, "new", 2, "c50", "c300", "OVERRIDE") == 300
        assert facts(c, "new")["Observations"] == 350
        assert compression_of(c, "new", 1, "c50", "compression", 70) == 70
        assert facts(c, "new")["Observations"] == 400
        assert compression_of(c, "new", 1, "c50", "OVERRIDE", "COMPRESSION", 60) == 60
        assert facts(c, "new")["Observations"] == 50
        # A destination that is also a source counts twice, except with OVERRIDE.
        c.do("TDIGEST.MERGE", "new", 1, "new")
        assert facts(c, "new")["Observations"] == 100
        c.do("TDIGEST.MERGE", "new", 2, "new", "new", "OVERRIDE")
        assert facts(c, "new")["Observations"] == 200
        assert c.text("TDIGEST.QUANTILE", "new", 0, 1) == ["0", "49"]
        # Doubling ends at 2^53 observations.
        for _ in range(60):
            reply = c.call("TDIGEST.MERGE", "new", 1, "new")
            if reply != "OK":
                break
        assert reply == error("overflow detected")
        before = facts(c, "new")
        assert before["Observations"] == 200 << 45 and 200 << 46 > 2**53
        assert c.call("TDIGEST.MERGE", "new", 1, "new") == reply and facts(c, "new") == before
        c.do("TDIGEST.CREATE", "one")
        c.do("TDIGEST.ADD", "one", 1)
        for _ in range(53):
            c.do("TDIGEST.MERGE", "one", 1, "one")
        assert c.call("TDIGEST.ADD", "one", 2) == error("overflow detected")
        assert c.do("DEBUG", "RELOAD") == "OK" and facts(c, "one")["Observations"] == 2**53


def test_sizes():
    """A digest beyond bf.tamis-max-bytes or maxmemory is refused. One from RESTORE takes memory in
    proportion to its payload, until somebody adds to it."""
    failed = error("allocation failed")
    with Server(arguments=("tamis-max-bytes", "100kb")) as server:
        c = server.client()
        for n in (1065, 10**6, 357913939, 357913940, 10**17, 2**63 - 1):
            assert c.call("TDIGEST.CREATE", "t", "COMPRESSION", n) == failed, n
        check(c, ("TDIGEST.CREATE t COMPRESSION 1064", "OK"), ("TDIGEST.ADD t 1 2 3", "OK"))
        assert c.call("TDIGEST.MERGE", "t", 1, "t", "COMPRESSION", 1065) \
            == error("allocation of destination digest failed")
        start, fields = fields_of(c.do("DUMP", "t"))
        big = [(4, struct.pack("<d", 357913939)), *fields[1:3], (2, 6 * 357913939 + 10),
               *fields[4:]]
        before = used_memory(c)
        c.do("RESTORE", "big", 0, payload(start, big))
        assert c.do("MEMORY", "USAGE", "big") < 70000 and used_memory(c) < before + 200000
        check(c, ("TDIGEST.QUANTILE big 0.5", [2.0]))
        assert c.call("TDIGEST.ADD", "big", 4) == failed
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", "100gb")
        c.do("CONFIG", "SET", "maxmemory", "100mb")
        assert c.call("TDIGEST.ADD", "big", 4) == failed
        assert c.call("TDIGEST.CREATE", "n", "COMPRESSION", 10**7) == failed
        assert facts(c, "big")["Observations"] == 3
        assert c.do("DEBUG", "RELOAD") == "OK" and facts(c, "big")["Observations"] == 3


def test_replica():
    """A replica whose primary is asked between adds has the same observations, ends and means. Its
    nodes may differ, as may those of a value that was loaded meanwhile."""
    rng = random.Random(3)
    with Server("--repl-diskless-sync-delay", "0") as one, \
            Server(arguments=("tamis-max-bytes", "1024")) as two:
        primary, replica = one.client(), two.client()
        primary.do("TDIGEST.CREATE", "t", "COMPRESSION", 100)
        primary.do("TDIGEST.CREATE", "quiet", "COMPRESSION", 100)
        values = [rng.gauss(0, 1) for _ in range(20000)]
        for i in range(0, len(values), 40):
            if i == 10000:
                replica.do("REPLICAOF", "127.0.0.1", one.port)
                synced(primary, replica)
                primary.do("TDIGEST.RESET", "quiet")
            primary.do("TDIGEST.ADD", "t", *values[i:i + 40])
            primary.do("TDIGEST.ADD", "quiet", *values[i:i + 40])
            primary.do("TDIGEST.QUANTILE", "t", 0.5)
        synced(primary, replica)
        values.sort()
        for c in (primary, replica):
            assert facts(c, "t")["Observations"] == len(values)
            assert [float(c.do("TDIGEST." + end, "t")) for end in ("MIN", "MAX")] \
                == [values[0], values[-1]]
            mean = float(c.do("TDIGEST.TRIMMED_MEAN", "t", 0, 1))
            assert abs(mean - sum(values) / len(values)) < 1e-9
            for q in (0.001, 0.1, 0.5, 0.9, 0.999):
                # half a node, as in test_redis_quantiles.c
                off = 2 + len(values) * q * (1 - q) * math.pi * math.log(len(values)) / 100
                x = float(c.do("TDIGEST.QUANTILE", "t", q)[0])
                assert abs(sum(v < x for v in values) - q * len(values)) <= off, (q, x)
        # Nobody has asked this one.
        assert primary.do("DUMP", "quiet") == replica.do("DUMP", "quiet")
        assert b"unexpected_error_replies:0" in replica.do("INFO", "stats")


if __name__ == "__main__":
    main([test_vectors, test_replies, test_one_observation, test_questions_merge, test_merge,
          test_sizes, test_replica])
