"""BF.* and CF.* against a real server: the objects of RedisBloom, every reply in RESP2 and RESP3,
every error text."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import (Error, Server, WRONGTYPE, main, payload_of, same_text,  # noqa: E402
                          vectors)


def check(client, *steps):
    """Steps are (command line or list of words, reply); a reply of an Error stands for its text."""
    for command, wanted in steps:
        words = command.split() if isinstance(command, str) else command
        got = client.text(*words)
        assert same_text(got, wanted), f"{command}: {got!r}, not {wanted!r}"


def test_vectors():
    """RedisBloom's objects are made again by its commands, restored from its dumps and loaded from
    its pieces."""
    with Server() as server:
        c = server.client()
        for o in vectors():
            for command, reply in o.runs + o.asks:
                assert same_text(c.text(*command), reply), command[:2]
            dump = c.do("DUMP", o.name)
            # RedisBloom's own heap pointers are in its dumps of TopK.
            assert (payload_of(dump) == payload_of(o.dump)) == (o.name != "topk"), o.name
            for source in (o.dump, dump):
                c.do("RESTORE", "copy", 0, source, "REPLACE")
                for command, reply in o.asks:
                    assert same_text(c.text(command[0], "copy", *command[2:]), reply), command[:2]
                if o.name != "topk":
                    assert payload_of(c.do("DUMP", "copy")) == payload_of(o.dump), o.name
            if o.chunks:
                family = o.name[:2].upper()
                iterator, pieces = 0, []
                while True:
                    iterator, data = c.do(family + ".SCANDUMP", o.name, iterator)
                    if iterator == 0:
                        break
                    pieces.append((iterator, data))
                assert pieces == o.chunks and data == (b"" if family == "BF" else None)
                for iterator, data in o.chunks:
                    assert c.do(family + ".LOADCHUNK", "loaded", iterator, data) == "OK"
                assert payload_of(c.do("DUMP", "loaded")) == payload_of(o.dump)
                c.do("DEL", "loaded")


def test_bf_replies():
    info = {"Capacity": 100, "Size": 240, "Number of filters": 1, "Number of items inserted": 1,
            "Expansion rate": 2}
    flat = [x for pair in info.items() for x in pair]
    with Server() as server:
        two, three = server.client(), server.client(resp=3)
        check(two, ("BF.ADD b a", 1), ("BF.ADD b a", 0), ("BF.EXISTS b a", 1), ("BF.EXISTS b x", 0),
              ("BF.INFO b", flat),
              ("BF.INFO b capacity", [100]), ("BF.INFO b SIZE", [240]), ("BF.INFO b FILTERS", [1]),
              ("BF.INFO b ITEMS", [1]),
              ("BF.INFO b EXPANSION", [2]), ("BF.CARD b", 1), ("BF.CARD none", 0),
              ("BF.MADD b a c", [0, 1]),
              ("BF.MEXISTS b a c d", [1, 1, 0]), ("BF.MEXISTS none a", [0]),
              ("BF.EXISTS none a", 0),
              ("BF.INSERT i CAPACITY 7 ERROR 0.1 EXPANSION 3 ITEMS x y", [1, 1]),
              ("BF.INFO i CAPACITY", [7]),
              ("BF.INFO i EXPANSION", [3]), ("BF.INSERT i i z", [1]),
              ("BF.INSERT i cap 9 nocr it z", [0]),
              ("BF.INSERT n NONSCALING ITEMS x", [1]), ("BF.INFO n EXPANSION", [None]),
              ("BF.INSERT n0 EXPANSION 0 ITEMS x", [1]), ("BF.INFO n0 EXPANSION", [None]),
              ("BF.INSERT n1 NONSCALING EXPANSION 4 ITEMS x", [1]),
              ("BF.INFO n1 EXPANSION", [None]),
              ("BF.RESERVE r 0.01 100 FOO BAR BAZ", "OK"), ("BF.RESERVE r4 0.9 100", "OK"),
              ("BF.DEBUG r",
               ["size:0",
                "bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:0 ratio:0.005"]),
              ("BF.DEBUG r4", ["size:0",
                               "bytes:56 bits:448 hashes:4 hashwidth:64 capacity:100 size:0 "
                               "ratio:0.125"]),
              ("BF.SCANDUMP b 145", [0, ""]), ("BF.SCANDUMP b -3", [0, ""]),
              ("BF.SCANDUMP b 9999999", [0, ""]),
              ("TYPE b", "MBbloom--"), ("OBJECT ENCODING b", "raw"))
        check(three, ("BF.ADD t a", True), ("BF.ADD t a", False), ("BF.EXISTS t a", True),
              ("BF.EXISTS none a", False),
              ("BF.INFO t", info), ("BF.INFO t ITEMS", {"Number of items inserted": 1}),
              ("BF.MADD t a b", [False, True]),
              ("BF.INSERT t ITEMS a c", [False, True]), ("BF.MEXISTS t a x", [True, False]),
              ("BF.CARD t", 3),
              ("BF.INFO n EXPANSION", {"Expansion rate": None}),
              ("BF.INFO none", Error("ERR not found")))


def test_bf_errors():
    arity = Error("ERR wrong number of arguments for 'bf.reserve' command")
    with Server() as server:
        c = server.client()
        check(c, ("SET s 1", "OK"), ("BF.RESERVE b 0.01", arity),
              ("BF.RESERVE b 0.01 1 EXPANSION 1 NONSCALING x", arity),
              ("BF.RESERVE b x 1", Error("ERR bad error rate")),
              ("BF.RESERVE b nan 1", Error("ERR bad error rate")),
              *[(f"BF.RESERVE b {x} 1",
                 Error("ERR error rate must be in the range (0.000000, 1.000000)"))
                for x in ("0", "1", "-1", "inf", "2")],
              ("BF.RESERVE b 0.1 x", Error("ERR bad capacity")),
              ("BF.RESERVE b 0.1 1.5", Error("ERR bad capacity")),
              *[(f"BF.RESERVE b 0.1 {x}",
                 Error("ERR capacity must be in the range [1, 1073741824]"))
                for x in (0, -1, 1073741825, 100000000000000)],
              ("BF.RESERVE b 0.1 1 EXPANSION", Error("ERR no expansion")),
              ("BF.RESERVE b 0.1 1 EXPANSION x", Error("ERR bad expansion")),
              *[(f"BF.RESERVE b 0.1 1 EXPANSION {x}",
                 Error("ERR expansion must be in the range [0, 32768]"))
                for x in (-1, 32769)],
              ("BF.RESERVE b 0.1 1 NONSCALING EXPANSION 2",
               Error("Nonscaling filters cannot expand")),
              ("BF.RESERVE b 0.1 1 NONSCALING EXPANSION 0", "OK"),
              ("BF.RESERVE b 0.1 1", Error("ERR item exists")),
              ("BF.RESERVE s 0.1 1", Error(WRONGTYPE)),
              ("BF.RESERVE s 0.1 x", Error("ERR bad capacity")),
              ("BF.ADD s a", Error(WRONGTYPE)), ("BF.MADD s a", Error(WRONGTYPE)),
              ("BF.CARD s", Error(WRONGTYPE)),
              ("BF.INFO s", Error(WRONGTYPE)), ("BF.DEBUG s", Error(WRONGTYPE)),
              ("BF.DEBUG none", Error("ERR not found")),
              ("BF.EXISTS s a", 0), ("BF.MEXISTS s a b", [0, 0]),
              ("BF.INFO b foo", Error("Invalid information value")),
              ("BF.INSERT b2 CAPACITY x ITEMS a", Error("Bad capacity")),
              ("BF.INSERT b2 CAPACITY 0 ITEMS a", Error("Bad capacity")),
              ("BF.INSERT b2 ERROR x ITEMS a", Error("Bad error rate")),
              ("BF.INSERT b2 ERROR 1 ITEMS a", Error("Bad error rate")),
              ("BF.INSERT b2 EXPANSION x ITEMS a", Error("Bad expansion")),
              ("BF.INSERT b2 EXPANSION 40000 ITEMS a", Error("Bad expansion")),
              ("BF.INSERT b2 FOO ITEMS a", Error("Unknown argument received")),
              ("BF.INSERT b2 CAPACITY 3 ITEMS",
               Error("ERR wrong number of arguments for 'bf.insert' command")),
              ("BF.INSERT b2 NOCREATE CAPACITY",
               Error("ERR wrong number of arguments for 'bf.insert' command")),
              ("BF.INSERT b2 NOCREATE ITEMS a", Error("ERR not found")), ("EXISTS b2", 0),
              ("BF.RESERVE full 0.01 2 NONSCALING", "OK"),
              ("BF.MADD full a b c d", [1, 1, Error("ERR non scaling filter is full")]),
              ("BF.MADD full a b", [0, 0]),
              ("BF.ADD full e", Error("ERR non scaling filter is full")), ("BF.CARD full", 2),
              ("BF.SCANDUMP none 0", Error("ERR not found")), ("BF.SCANDUMP s x", Error(WRONGTYPE)),
              ("BF.SCANDUMP b x", Error("Second argument must be numeric")),
              ("BF.LOADCHUNK l x d", Error("ERR Second argument must be numeric")),
              ("BF.LOADCHUNK l 1 d", Error("ERR received bad data")),
              ("BF.LOADCHUNK l 2 d", Error("ERR not found")),
              ("BF.LOADCHUNK s 1 d", Error(WRONGTYPE)),
              ("BF.LOADCHUNK b 99999 d", Error("ERR invalid offset - no link found")),
              ("BF.LOADCHUNK b 1 d", Error("ERR invalid offset - no link found")),
              *[(["BF.LOADCHUNK", "b", at, data], Error("ERR received bad data"))
                for at, data in ((0, "x"), (-1, "x"), (0, ""), (-1, ""), (-2**63, "x"), (1, "xy"),
                                 (1, "x" * 73))],
              (["BF.LOADCHUNK", "b", 9, ""], Error("ERR invalid offset - no link found")),
              (["BF.LOADCHUNK", "b", 25, "x" * 24],
               Error("ERR invalid chunk - Too big for current filter")),
              (["BF.LOADCHUNK", "b", 7, ""], "OK"))


def test_bf_merge():
    shapes = (
        "ERR the filters have different shapes: capacity, error rate, expansion and number of "
        "filters must be equal")
    with Server() as server:
        c = server.client()
        check(c, ("BF.RESERVE x 0.01 100", "OK"), ("BF.RESERVE y 0.01 100", "OK"),
              ("BF.MADD x a b", [1, 1]),
              ("BF.MADD y b c", [1, 1]), ("BF.MERGE z x y", "OK"),
              ("BF.MEXISTS z a b c d", [1, 1, 1, 0]), ("BF.CARD z", 3),
              ("BF.MERGE x y", "OK"), ("BF.MEXISTS x a b c", [1, 1, 1]),
              ("BF.RESERVE o 0.01 200", "OK"),
              ("BF.MERGE x y o", Error(shapes)), ("BF.MERGE new none", Error("ERR not found")),
              ("EXISTS new", 0),
              ("SET s 1", "OK"), ("BF.MERGE s x", Error(WRONGTYPE)),
              ("BF.MERGE x s", Error(WRONGTYPE)))


def test_cf_replies():
    info = {"Size": 1080, "Number of buckets": 512, "Number of filters": 1,
            "Number of items inserted": 3,
            "Number of items deleted": 1, "Bucket size": 2, "Expansion rate": 1,
            "Max iterations": 20}
    flat = [x for pair in info.items() for x in pair]
    with Server() as server:
        two, three = server.client(), server.client(resp=3)
        check(two, ("CF.ADD c a", 1), ("CF.ADD c a", 1), ("CF.ADDNX c a", 0), ("CF.ADDNX c b", 1),
              ("CF.COUNT c a", 2),
              ("CF.ADD c z", 1), ("CF.DEL c z", 1), ("CF.DEL c z", 0), ("CF.INFO c", flat),
              ("CF.DEBUG c",
               "bktsize:2 buckets:512 items:3 deletes:1 filters:1 max_iterations:20 expansion:1"),
              ("CF.EXISTS c a", 1), ("CF.EXISTS none a", 0), ("CF.COUNT none a", 0),
              ("CF.MEXISTS c a q", [1, 0]),
              ("CF.MEXISTS none a", [0]), ("CF.INSERT i CAPACITY 64 ITEMS x x y", [1, 1, 1]),
              ("CF.COUNT i x", 2),
              ("CF.INSERTNX i i x z", [0, 1]),
              ("CF.RESERVE r 100 BUCKETSIZE 4 MAXITERATIONS 9 EXPANSION 3", "OK"),
              ("CF.INFO r", ["Size", 184, "Number of buckets", 32, "Number of filters", 1,
                             "Number of items inserted", 0,
                             "Number of items deleted", 0, "Bucket size", 4, "Expansion rate", 4,
                             "Max iterations", 9]),
              ("CF.SCANDUMP r 0", [0, None]), ("CF.COMPACT c", "OK"), ("TYPE c", "MBbloomCF"),
              ("CF.RESERVE tiny 4 EXPANSION 0", "OK"))
        replies = two.text("CF.INSERT", "tiny", "ITEMS", *["same"] * 6)
        # its two buckets may be one
        assert replies in ([1, 1, 1, 1, -1, -1], [1, 1, -1, -1, -1, -1]), replies
        check(two, ("CF.ADD tiny same", Error("Filter is full")),
              ("CF.INSERTNX tiny ITEMS same", [0]))
        check(three, ("CF.ADD t a", True), ("CF.ADDNX t a", False), ("CF.EXISTS t a", True),
              ("CF.MEXISTS t a x", [True, False]),
              ("CF.COUNT t a", 1), ("CF.INSERT t ITEMS b", [True]),
              ("CF.INSERT tiny ITEMS same", [False]),
              ("CF.INSERTNX t ITEMS b q", [0, 1]), ("CF.DEL t a", True), ("CF.DEL t a", False),
              ("CF.INFO c", {**info, "Number of items deleted": 0}),
              ("CF.SCANDUMP r 0", [0, None]))


def test_cf_errors():
    def at_least(word, low, high):
        return Error(f"{word}: value must be in the range [{low}, {high}]")

    capacity = Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
    insert = Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
    with Server() as server:
        c = server.client()
        check(c, ("SET s 1", "OK"),
              ("CF.RESERVE c 100 BUCKETSIZE",
               Error("ERR wrong number of arguments for 'cf.reserve' command")),
              ("CF.RESERVE c x", Error("Bad capacity")),
              ("CF.RESERVE c x BUCKETSIZE 0", Error("Bad capacity")),
              ("CF.RESERVE c 100 BUCKETSIZE x MAXITERATIONS y",
               Error("Couldn't parse MAXITERATIONS")),
              ("CF.RESERVE c 100 BUCKETSIZE x", Error("Couldn't parse BUCKETSIZE")),
              ("CF.RESERVE c 100 EXPANSION x", Error("Couldn't parse EXPANSION")),
              *[(f"CF.RESERVE c 100 BUCKETSIZE {x}", at_least("BUCKETSIZE", 1, 255))
                for x in (0, 256, 33554432)],
              *[(f"CF.RESERVE c 100 MAXITERATIONS {x}", at_least("MAXITERATIONS", 1, 65535))
                for x in (0, 65536)],
              *[(f"CF.RESERVE c 100 EXPANSION {x}", at_least("EXPANSION", 0, 32768))
                for x in (-1, 32769)],
              *[(f"CF.RESERVE c {x}", capacity) for x in (3, 0, -5, 1073741825)],
              ("CF.RESERVE c 7 BUCKETSIZE 4", capacity),
              ("CF.RESERVE c 8 BUCKETSIZE 4", "OK"), ("CF.RESERVE c 8", Error("ERR item exists")),
              ("CF.RESERVE s 8", Error(WRONGTYPE)), ("CF.ADD s a", Error(WRONGTYPE)),
              ("CF.INFO s", Error(WRONGTYPE)),
              ("CF.INFO none", Error("ERR not found")), ("CF.DEBUG none", Error("ERR not found")),
              ("CF.EXISTS s a", 0),
              ("CF.COUNT s a", 0), ("CF.MEXISTS s a", [0]), ("CF.DEL s a", Error("Not found")),
              ("CF.DEL none a", Error("Not found")),
              ("CF.COMPACT none", Error("Cuckoo filter was not found")),
              ("CF.INSERT n CAPACITY x ITEMS a", Error("Bad capacity")),
              ("CF.INSERT c CAPACITY 1 ITEMS a", insert),
              ("CF.INSERT n FOO ITEMS a", Error("Unknown argument received")),
              ("CF.INSERT n NOCREATE ITEMS a", Error("ERR not found")),
              ("CF.INSERT n NOCREATE ITEMS",
               Error("ERR wrong number of arguments for 'cf.insert' command")), ("EXISTS n", 0),
              ("CF.SCANDUMP none x", Error("Invalid position")),
              ("CF.SCANDUMP none -1", Error("Invalid position")),
              ("CF.SCANDUMP none 0", Error("ERR not found")), ("CF.SCANDUMP s 0", Error(WRONGTYPE)),
              ("CF.LOADCHUNK n 0 d", Error("Invalid position")),
              ("CF.LOADCHUNK n x d", Error("Invalid position")),
              ("CF.LOADCHUNK c 1 d", Error("ERR item exists")),
              ("CF.LOADCHUNK n 1 d", Error("Invalid header")),
              (["CF.LOADCHUNK", "n", 1, b"\0" * 38], Error("Couldn't create filter!")),
              ("CF.LOADCHUNK n 9 d", Error("ERR not found")),
              ("CF.LOADCHUNK s 1 d", Error(WRONGTYPE)),
              ("CF.LOADCHUNK c 9999 d", Error("Couldn't load chunk!")),
              ("CF.LOADCHUNK c -9999 d", Error("Couldn't load chunk!")),
              (["CF.LOADCHUNK", "c", 10, "x" * 9], Error("Couldn't load chunk!")),
              (["CF.LOADCHUNK", "c", 2, ""], Error("Couldn't load chunk!")),
              (["CF.LOADCHUNK", "c", 1, ""], Error("ERR item exists")),
              ("CONFIG SET bf.cf-max-expansions 2", "OK"), ("CF.RESERVE m 4 MAXITERATIONS 1", "OK"),
              (["CF.INSERT", "m", "ITEMS", *["a"] * 5], [1, 1, 1, -1, -1]),
              ("CF.ADD m a", Error("Maximum expansions reached")),
              ("CF.INSERT m ITEMS a", Error("Maximum expansions reached")))


def test_strict_and_settings():
    with Server(arguments=("ERROR_RATE", "0.05", "initial_size", "50", "CF_MAX_EXPANSIONS", "3",
                           "bf-expansion-factor", "4")) as server:
        c = server.client()
        check(c, ("SET s 1", "OK"), ("BF.EXISTS s a", 0), ("CONFIG SET bf.tamis-strict yes", "OK"),
              ("BF.EXISTS s a", Error(WRONGTYPE)),
              ("BF.MEXISTS s a", Error(WRONGTYPE)), ("CF.EXISTS s a", Error(WRONGTYPE)),
              ("CF.MEXISTS s a", Error(WRONGTYPE)),
              ("CF.COUNT s a", Error(WRONGTYPE)), ("CF.DEL s a", Error(WRONGTYPE)),
              ("CF.COMPACT s", Error(WRONGTYPE)),
              ("BF.EXISTS none a", 0), ("BF.ADD b a", 1), ("BF.INFO b CAPACITY", [50]),
              ("BF.INFO b EXPANSION", [4]),
              ("CONFIG GET bf.bf-error-rate", ["bf.bf-error-rate", "0.05"]),
              ("CONFIG GET bf.cf-max-expansions", ["bf.cf-max-expansions", "3"]),
              ("CONFIG SET bf.bf-error-rate 0.5", "OK"),
              ("CONFIG GET bf.bf-error-rate", ["bf.bf-error-rate", "0.25"]),
              ("CONFIG SET bf.bf-expansion-factor 0", "OK"),
              ("BF.ADD n a", 1), ("BF.INFO n EXPANSION", [None]),
              ("CONFIG SET bf.tamis-max-bytes 4kb", "OK"))
        for name, value in (("bf-error-rate", "0"), ("bf-error-rate", "1"), ("bf-error-rate", "x"),
                            ("bf-initial-size", "0"),
                            ("bf-expansion-factor", "32769"), ("cf-bucket-size", "256"),
                            ("cf-bucket-size", "600"),
                            ("cf-initial-size", "1"), ("cf-max-iterations", "0"),
                            ("cf-max-expansions", "65537")):
            assert isinstance(c.call("CONFIG", "SET", "bf." + name, value), Error), (name, value)
        check(c, ("BF.RESERVE big 0.01 100000", Error("ERR Insufficient memory to create filter")),
              ("BF.INSERT big CAPACITY 100000 ITEMS a",
               Error("ERR Insufficient memory to create filter")),
              ("CF.RESERVE big 100000", Error("ERR Insufficient memory to create filter")),
              ("CMS.INITBYDIM big 1000 7", Error("CMS: Insufficient memory to create the key")),
              ("TOPK.RESERVE big 5 1000 7 0.9",
               Error("ERR Insufficient memory to create topk data structure")), ("EXISTS big", 0))
        check(c, ("TOPK.RESERVE t 3 8 7 0.9", "OK"),
              (["TOPK.ADD", "t", "x" * 100000], [Error("ERR Insufficient memory")]),
              ("TOPK.LIST t", []))
        # Short items count as well.
        check(c, (["TOPK.ADD", "t", "a" * 1000], [None]),
              (["TOPK.ADD", "t", "b" * 1000, "c"], [Error("ERR Insufficient memory"), None]),
              (["TOPK.QUERY", "t", "a" * 1000, "b" * 1000, "c"], [1, 0, 1]))
        # What grows stops at the limit and stays.
        check(c, ("BF.RESERVE g 0.01 100 EXPANSION 2", "OK"))
        replies = c.text("BF.MADD", "g", *[f"i{n}" for n in range(5000)])
        refused = [r for r in replies if r not in (0, 1)]
        assert len(replies) == 5000 and 0 < len(refused) < 4900 \
            and all(r == Error("ERR problem inserting into filter") for r in refused)
        assert replies.count(1) == c.call("BF.CARD", "g") and c.call("BF.EXISTS", "g", "i0") == 1
        # Unlike one that may not grow, it answers about every item: some seem to be in already.
        assert replies[replies.index(refused[0]):].count(0) > 0 \
            and c.text("BF.MADD", "g", "i0", "new", "i1") == [0, refused[0], 0]
    # Every setting is an argument, in any order, written as CONFIG takes it.
    given = {"bf-error-rate": "0.125", "bf-initial-size": "7", "bf-expansion-factor": "3",
             "cf-initial-size": "2", "cf-bucket-size": "1",
             "cf-max-iterations": "9", "cf-expansion-factor": "4", "cf-max-expansions": "5",
             "tamis-max-bytes": "4GB", "tamis-strict": "yes"}
    with Server(arguments=[word for pair in given.items() for word in pair]) as server:
        c = server.client()
        wanted = dict(given, **{"tamis-max-bytes": str(4 << 30)})
        words = c.text("CONFIG", "GET", "bf.*")
        assert dict(zip(words[::2], words[1::2])) \
            == {"bf." + name: value for name, value in wanted.items()}, words
        check(c, ("SET s 1", "OK"), ("BF.EXISTS s a", Error(WRONGTYPE)))
    bytes_reason = f"Value for `tamis-max-bytes` must be in the range [1024, {1 << 48}]"
    for arguments, reason in ((("ERROR_RATE", "0"), "ERROR_RATE must be > 0"),
                              (("ERROR_RATE",), "Invalid number of arguments"),
                              (("FOO", "1"), "Unrecognized option"),
                              (("INITIAL_SIZE", "0"), "INITIAL_SIZE must be > 0"),
                              (("CF_MAX_EXPANSIONS", "0"), "CF_MAX_EXPANSIONS must be"),
                              (("cf-bucket-size", "0"), "in the range [1, 255]"),
                              (("cf-initial-size", "300", "cf-bucket-size", "200"),
                               "cf-initial-size must be at least twice cf-bucket-size"),
                              (("tamis-strict", "maybe"), "must be yes or no"),
                              (("tamis-max-bytes", "1kbb"), bytes_reason),
                              (("tamis-max-bytes", "-1gb"), bytes_reason),
                              (("tamis-max-bytes", "1k"), bytes_reason),
                              (("tamis-max-bytes", "99999999999gb"), bytes_reason),
                              (("tamis-max-bytes", "gb"), bytes_reason)):
        try:
            with Server(arguments=arguments):
                raise RuntimeError(f"loaded with {arguments}")
        except AssertionError as refused:
            assert "Can't load module" in str(refused) and reason in str(refused), \
                (arguments, str(refused))


if __name__ == "__main__":
    main([test_vectors, test_bf_replies, test_bf_errors, test_bf_merge, test_cf_replies,
          test_cf_errors,
          test_strict_and_settings])
