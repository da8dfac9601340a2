"""CMS.*, TOPK.* and what all families share with the server: keys in commands, WATCH, MULTI, Lua,
notifications, ACL, COPY, digests, memory."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, Server, WRONGTYPE, main, used_memory  # noqa: E402
from test_redis_bloom import check  # noqa: E402

INCREMENT = Error("TopK: increment must be an integer greater or equal to 0" + " " * 28
                  + "and smaller or equal to 100,000")
FILL = (("BF.MADD b x y z", [1, 1, 1]), ("CF.ADD c x", 1), ("CMS.INITBYDIM m 100 5", "OK"),
        ("CMS.INCRBY m x 3", [3]),
        ("TOPK.RESERVE t 3", "OK"), ("TOPK.ADD t x y", [None, None]),
        ("TDIGEST.CREATE g", "OK"), ("TDIGEST.ADD g 1 2 3", "OK"),
        ("TAMIS.CREATE n counting ITEMS 100 RATE 0.01", "OK"), ("TAMIS.ADD n x", 1))
KEYS = ("b", "c", "m", "t", "g", "n")


def test_cms():
    with Server() as server:
        two, three = server.client(), server.client(resp=3)
        gone = Error("CMS: key does not exist")
        check(two, ("SET s 1", "OK"), ("CMS.INITBYDIM s x x", Error("CMS: key already exists")),
              ("CMS.INITBYDIM m x 5", Error("CMS: invalid width")),
              ("CMS.INITBYDIM m 0 5", Error("CMS: invalid width")),
              ("CMS.INITBYDIM m 5 x", Error("CMS: invalid depth")),
              ("CMS.INITBYDIM m 5 -1", Error("CMS: invalid depth")),
              ("CMS.INITBYDIM m 8589934592 8589934592", Error("CMS: invalid init arguments")),
              ("CMS.INITBYDIM m 2147483648 2147483648",
               Error("CMS: Insufficient memory to create the key")),
              ("CMS.INITBYDIM m 4611686018427387904 1",
               Error("CMS: Insufficient memory to create the key")),
              ("CMS.INITBYPROB m 0 0.1", Error("CMS: invalid overestimation value")),
              ("CMS.INITBYPROB m 1 0.1", Error("CMS: invalid overestimation value")),
              ("CMS.INITBYPROB m 0.1 nan", Error("CMS: invalid prob value")),
              ("CMS.INITBYPROB m 0.1 1", Error("CMS: invalid prob value")),
              ("CMS.INITBYDIM m 5 5 CELL_SIZE",
               Error("ERR wrong number of arguments for 'cms.initbydim' command")),
              ("CMS.INITBYDIM m 5 5 CELLS 4", Error("CMS: invalid init arguments")),
              ("CMS.INITBYDIM m 5 5 CELL_SIZE 3", Error("CMS: invalid cell size")),
              ("CMS.INITBYPROB m 0.1 0.1 CELL_SIZE 8",
               Error("CMS: only cells of 4 bytes are supported")),
              ("CMS.INITBYDIM m 5 5 cell_size 4", "OK"), ("DEL m", 1),
              ("CMS.INITBYPROB m 0.001 0.01", "OK"),
              ("CMS.INFO m", ["width", 2000, "depth", 7, "count", 0]),
              ("CMS.INITBYPROB m 0.1 0.1", Error("CMS: key already exists")),
              ("CMS.INCRBY m a 5 b 2 a 1", [5, 2, 6]),
              ("CMS.QUERY m a b c", [6, 2, 0]),
              ("CMS.INCRBY m a x", Error("CMS: Cannot parse number")),
              ("CMS.INCRBY m a 1 b -1", Error("CMS: Number cannot be negative")),
              ("CMS.QUERY m a", [6]),
              ("CMS.INCRBY m a 1 b",
               Error("ERR wrong number of arguments for 'cms.incrby' command")),
              ("CMS.INCRBY none a 1", gone), ("CMS.INCRBY s a 1", Error(WRONGTYPE)),
              ("CMS.QUERY none a", gone),
              ("CMS.QUERY s a", Error(WRONGTYPE)), ("CMS.INFO none", gone),
              ("CMS.INFO s", Error(WRONGTYPE)),
              ("CMS.INCRBY m o 4294967295 q 1", [Error("CMS: INCRBY overflow"), 1]),
              ("CMS.QUERY m o", [4294967295]),
              ("CMS.INCRBY m o 1", [Error("CMS: INCRBY overflow")]), ("TYPE m", "CMSk-TYPE"))
        check(three, ("CMS.INITBYDIM w 100 5", "OK"),
              ("CMS.INFO w", {"width": 100, "depth": 5, "count": 0}))
        for name in "abd":
            two.do("CMS.INITBYDIM", name, 50, 3)
        check(two, ("CMS.INCRBY a x 2", [2]), ("CMS.INCRBY b x 3 y 1", [3, 1]),
              ("CMS.MERGE d 2 a b", "OK"), ("CMS.QUERY d x y", [5, 1]),
              ("CMS.MERGE d 2 a b WEIGHTS 10 -1", Error("CMS: MERGE overflow")),
              ("CMS.QUERY d x y", [5, 1]),
              ("CMS.MERGE d 2 a b WEIGHTS 10 1", "OK"), ("CMS.QUERY d x y", [23, 1]),
              ("CMS.MERGE d 2 d a", "OK"),
              ("CMS.QUERY d x", [25]), ("CMS.INFO d", ["width", 50, "depth", 3, "count", 26]),
              ("CMS.MERGE none 1 a", gone), ("CMS.MERGE s 1 a", Error(WRONGTYPE)),
              ("CMS.MERGE d x a", Error("CMS: invalid numkeys")),
              ("CMS.MERGE d -1 a", Error("CMS: Number of keys must be positive")),
              ("CMS.MERGE d 0 a", Error("CMS: Number of keys must be positive")),
              ("CMS.MERGE d 2 a", Error("CMS: wrong number of keys")),
              ("CMS.MERGE d 1 a b", Error("CMS: wrong number of keys")),
              ("CMS.MERGE d 2 a b WEIGHTS 1", Error("CMS: wrong number of keys/weights")),
              ("CMS.MERGE d 2 a b WEIGHTS", Error("CMS: wrong number of keys/weights")),
              ("CMS.MERGE d 2 a b WEIGHTS 1 1 1", Error("CMS: wrong number of keys/weights")),
              ("CMS.MERGE d 1 a WEIGHTS 1.5", Error("CMS: invalid weight value")),
              ("CMS.MERGE d 2 a none", gone),
              ("CMS.MERGE d 2 a s", Error(WRONGTYPE)),
              ("CMS.MERGE d 1 m", Error("CMS: width/depth is not equal")),
              ("CMS.MERGE d 1 a WEIGHTS 9223372036854775807", Error("CMS: MERGE overflow")),
              ("CMS.QUERY d x", [25]))


def test_topk():
    with Server() as server:
        two, three = server.client(), server.client(resp=3)
        gone = Error("TopK: key does not exist")
        decay = Error("TopK: invalid decay value. must be '<= 1' & '> 0'")
        check(two, ("SET s 1", "OK"), ("TOPK.RESERVE s x", Error("TopK: key already exists")),
              *[(f"TOPK.RESERVE t {k}", Error("TopK: invalid k"))
                for k in ("0", "x", "-1", "4294967296")],
              ("TOPK.RESERVE t 1 0 1 0.9", Error("TopK: invalid width")),
              ("TOPK.RESERVE t 1 1 x 0.9", Error("TopK: invalid depth")),
              *[(f"TOPK.RESERVE t 1 1 1 {d}", decay)
                for d in ("0", "-5", "nan", "inf", "1.1", "x")],
              ("TOPK.RESERVE t 1 1",
               Error("ERR wrong number of arguments for 'topk.reserve' command")),
              ("TOPK.RESERVE t 2", "OK"), ("TOPK.RESERVE t 2", Error("TopK: key already exists")),
              ("TOPK.INFO t", ["k", 2, "width", 8, "depth", 7, "decay", "0.90000000000000002"]),
              ("TOPK.ADD t a b", [None, None]), ("TOPK.INCRBY t a 10 b 5", [None, None]),
              ("TOPK.INCRBY t c 50", ["b"]),
              ("TOPK.LIST t", ["c", "a"]), ("TOPK.LIST t WITHCOUNT", ["c", 50, "a", 11]),
              ("TOPK.LIST t w", ["c", 50, "a", 11]),
              (["TOPK.LIST", "t", ""], ["c", 50, "a", 11]),
              ("TOPK.LIST t WITHCOUNTS", Error("WITHCOUNT keyword expected")),
              ("TOPK.LIST none x", Error("WITHCOUNT keyword expected")),
              ("TOPK.QUERY t a b c", [1, 0, 1]),
              ("TOPK.COUNT t a c", [11, 50]), ("TOPK.INCRBY t a -1", [INCREMENT]),
              ("TOPK.INCRBY t a 1 b 100001", [INCREMENT]),
              ("TOPK.INCRBY t a -1 b 1", [INCREMENT]), ("TOPK.INCRBY t a x", [INCREMENT]),
              ("TOPK.COUNT t a", [11]),
              ("TOPK.INCRBY t a", Error("ERR wrong number of arguments for 'topk.incrby' command")),
              *[(f"TOPK.{command}", gone)
                for command in ("ADD n a", "INCRBY n a 1", "QUERY n a", "COUNT n a", "LIST n",
                                "INFO n")],
              *[(f"TOPK.{command}", Error(WRONGTYPE))
                for command in ("ADD s a", "INCRBY s a 1", "QUERY s a", "COUNT s a", "LIST s",
                                "INFO s")],
              ("PING", "PONG"), ("TYPE t", "TopK-TYPE"))
        check(three, ("TOPK.QUERY t a b", [True, False]),
              ("TOPK.INFO t", {"k": 2, "width": 8, "depth": 7, "decay": 0.9}),
              ("TOPK.LIST t WITHCOUNT", ["c", 50, "a", 11]), ("TOPK.COUNT t a", [11]))
        # Equal counts are in the order of RedisBloom, also after a reload.
        check(two, ("TOPK.RESERVE v 2 2000 7 0.9", "OK"),
              ("TOPK.ADD v foo bar baz", [None, None, "foo"]), ("TOPK.LIST v", ["bar", "baz"]))
        two.do("DEBUG", "RELOAD")
        check(two, ("TOPK.LIST v", ["bar", "baz"]),
              ("TOPK.ADD v foo baz bar", ["bar", None, "foo"]),
              ("TOPK.LIST v WITHCOUNT", ["baz", 2, "bar", 2]))
        # Items are bytes, the empty one and NUL included, also after a reload.
        two.do("TOPK.RESERVE", "z", 3)
        two.do("TOPK.INCRBY", "z", b"a\0b", 7, b"", 5)
        for _ in range(2):
            check(two, (["TOPK.LIST", "z", "WITHCOUNT"], ["a\0b", 7, "", 5]),
                  (["TOPK.QUERY", "z", b"a\0b", "a", ""], [1, 0, 1]))
            two.do("DEBUG", "RELOAD")
        assert b"\x7f\0\0" not in two.do("DUMP", "t")  # no pointers of this process


def test_key_specs():
    with Server() as server:
        c = server.client()
        for command, keys in (("CMS.MERGE d 2 a b WEIGHTS 1 2", ["d", "a", "b"]),
                              ("TDIGEST.MERGE d 2 a b OVERRIDE", ["d", "a", "b"]),
                              ("BF.MERGE d a b", ["d", "a", "b"]),
                              ("TAMIS.MERGE d a", ["d", "a"]), ("BF.ADD k i", ["k"]),
                              ("TOPK.LIST k", ["k"]), ("TAMIS.HAS k i", ["k"])):
            check(c, ("COMMAND GETKEYS " + command, keys))
        every = [name for name in c.text("COMMAND", "LIST")
                 if name.split(".")[0] in ("bf", "cf", "cms", "topk", "tdigest", "tamis")]
        assert len(every) == 52 + 1 + 20, len(every)
        for name in every:
            fast, write = None, None
            info = c.text("COMMAND", "INFO", name)[0]
            flags = info[2]
            write, fast = "write" in flags, "fast" in flags
            assert write != ("readonly" in flags) and write == ("RW" in info[8][0][1]), info
            assert "movablekeys" in flags or name not in ("cms.merge", "tdigest.merge",
                                                          "tamis.card")
            assert info[3] == 1, info
        assert "write" in c.text("COMMAND", "INFO", "CF.COMPACT")[0][2]


def test_watch_multi_lua():
    with Server() as server:
        c, other = server.client(), server.client()
        check(c, *FILL)
        for key, change in (("b", "BF.ADD b new"), ("c", "CF.ADD c new"), ("m", "CMS.INCRBY m x 1"),
                            ("t", "TOPK.ADD t new"), ("g", "TDIGEST.ADD g 4"),
                            ("n", "TAMIS.ADD n new")):
            check(c, ("WATCH " + key, "OK"))
            other.do(*change.split())
            check(c, ("MULTI", "OK"), ("PING", "QUEUED"), ("EXEC", None))
        check(c, ("MULTI", "OK"), ("BF.ADD b m1", "QUEUED"), ("CMS.INCRBY m q 2", "QUEUED"),
              ("TAMIS.MADD n p q", "QUEUED"),
              ("EXEC", [1, [2], [1, 1]]),
              (["EVAL", "return redis.call('BF.MADD', KEYS[1], 'l1', 'l2')", 1, "b"], [1, 1]),
              (["EVAL", "return redis.call('CMS.QUERY', KEYS[1], 'q')", 1, "m"], [2]),
              (["EVAL", "redis.setresp(3); return redis.call('BF.EXISTS', KEYS[1], 'l1')", 1, "b"],
               1))


def test_notifications():
    with Server("--notify-keyspace-events", "KEA") as server:
        c, listener = server.client(), server.client()
        listener.do("PSUBSCRIBE", "__keyevent@0__:*")
        check(c, *FILL, ("CF.DEL c x", 1), ("BF.ADD b x", 0), ("TAMIS.REMOVE n x", [1]),
              ("DEL b", 1))
        wanted = ["bf.add", "cf.add", "cms.init", "cms.incrby", "topk.reserve", "topk.add",
                  "tdigest.create", "tdigest.add", "tamis.create", "tamis.add", "cf.del",
                  "tamis.remove", "del"]
        got = []
        while len(got) < len(wanted):
            event = listener.read()[2].decode().split(":")[1]
            if event != "new":
                got.append(event)
        assert got == wanted, got


def test_copy_digest_memory():
    with Server() as server:
        c = server.client()
        check(c, *FILL)
        for key in KEYS:
            check(c, (f"COPY {key} {key}2", 1))
            assert c.do("DUMP", key) == c.do("DUMP", key + "2")
            before = c.do("DEBUG", "DIGEST-VALUE", key, key + "2")
            assert before[0] == before[1], key
            assert c.do("MEMORY", "USAGE", key) > 50
        check(c, ("BF.ADD b2 other", 1), ("CF.ADD c2 other", 1), ("CMS.INCRBY m2 other 1", [1]),
              ("TOPK.ADD t2 other", [None]), ("TDIGEST.ADD g2 2", "OK"),
              ("TAMIS.ADD n2 other", 1))
        for key in KEYS:
            one, two = c.do("DEBUG", "DIGEST-VALUE", key, key + "2")
            assert one != two, key
            assert c.do("DUMP", key) != c.do("DUMP", key + "2")
        # What MEMORY USAGE says of a big one is what the server has less without it, to a few per
        # cent.
        for command in ("BF.RESERVE big 0.01 1000000", "CF.RESERVE big 4000000",
                        "CMS.INITBYDIM big 200000 5",
                        "TOPK.RESERVE big 100 100000 5 0.9", "TDIGEST.CREATE big COMPRESSION 50000",
                        "TAMIS.CREATE big blocked ITEMS 4000000 RATE 0.01"):
            before = used_memory(c)
            c.do(*command.split())
            taken, said = used_memory(c) - before, c.do("MEMORY", "USAGE", "big")
            assert abs(taken - said) < 0.02 * taken + 30000, (command, taken, said)
            c.do("UNLINK", "big")
            end = used_memory(c)
            for _ in range(1000):
                if end - before < 100000:
                    break
                end = used_memory(c)
            assert end - before < 100000, (command, before, end)


def test_acl():
    with Server() as server:
        c, user = server.client(), server.client()
        check(c, *FILL, ("ACL SETUSER u on nopass ~b ~d +bf.exists +bf.add +cms.merge", "OK"))
        assert user.call("AUTH", "u", "x") == "OK"
        check(user, ("BF.EXISTS b x", 1))
        assert user.call("BF.EXISTS", "c", "x").text.startswith("NOPERM")
        assert user.call("BF.MADD", "b", "q").text.startswith("NOPERM")
        # The sources of a merge are keys, too.
        assert user.call("CMS.MERGE", "d", 1, "m").text.startswith("NOPERM")


if __name__ == "__main__":
    main([test_cms, test_topk, test_key_specs, test_watch_multi_lua, test_notifications,
          test_copy_digest_memory, test_acl])
