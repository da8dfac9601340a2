"""Values of every type of the Redis module, and whether a replica has the same ones."""
import random
import re

from redis_client import vectors, wait_for

KINDS = ("blocked", "counting", "growing", "cuckoo", "tally", "top", "ribbon", "window",
         "distinct")


def fill(c, tag="", rounds=60):
    """All families, with growth, removals, expelled items, full filters, saturated counters and
    refused commands."""
    random.seed(4)
    t = tag
    for command in (f"BF.RESERVE bf{t} 0.02 20", f"BF.RESERVE fixed{t} 0.01 50 NONSCALING",
                    f"CF.RESERVE cf{t} 16 EXPANSION 2",
                    f"CF.RESERVE cf0{t} 16 EXPANSION 0 MAXITERATIONS 5",
                    f"CMS.INITBYDIM cms{t} 50 4", f"TOPK.RESERVE topk{t} 5 20 4 0.9",
                    f"TDIGEST.CREATE td{t} COMPRESSION 20",
                    *[f"TAMIS.CREATE {kind}{t} {kind} "
                      + ("BYTES 20000" if kind in ("tally", "top", "distinct")
                         else "ITEMS 500 RATE 0.01")
                      for kind in KINDS]):
        c.do(*command.split())
    for i in range(rounds):
        items = [f"i{random.randrange(400)}" for _ in range(10)]
        weights = [x for item in items for x in (item, random.randrange(50))]
        c.call("BF.MADD", f"bf{t}", *items)
        c.call("BF.ADD", f"made{t}", items[0])
        c.call("BF.INSERT", f"inserted{t}", "CAPACITY", 5, "ERROR", 0.1, "EXPANSION", 3, "ITEMS",
               *items)
        c.call("BF.MADD", f"fixed{t}", *items)
        c.call("CF.ADD", f"cf{t}", items[0])
        c.call("CF.ADDNX", f"cf{t}", items[1])
        c.call("CF.DEL", f"cf{t}", items[2])
        c.call("CF.INSERT", f"cf0{t}", "ITEMS", *items)
        c.call("CF.INSERTNX", f"cfmade{t}", "CAPACITY", 200, "ITEMS", *items)
        c.call("CMS.INCRBY", f"cms{t}", *weights)
        c.call("CMS.INCRBY", f"cms{t}", "much", 4294967295)
        c.call("TOPK.ADD", f"topk{t}", *items)
        c.call("TOPK.INCRBY", f"topk{t}", *weights)
        c.call("TOPK.INCRBY", f"topk{t}", items[0], -1)
        c.call("TDIGEST.ADD", f"td{t}", *[random.gauss(0, 1) for _ in range(20)])
        c.call("TDIGEST.ADD", f"td{t}", 1, "inf")
        for kind in KINDS:
            c.call("TAMIS.MADD", kind + t, *items)
        c.call("TAMIS.REMOVE", f"counting{t}", *items[:3], "never")
        c.call("TAMIS.INCRBY", f"tally{t}", *weights)
        c.call("TAMIS.ROTATE", f"window{t}", "TO", 100 + 2 * i // rounds)
        if i == rounds // 2:
            c.do("TAMIS.ROTATE", f"window{t}")
            c.do("TAMIS.SEAL", f"ribbon{t}")
            c.do("CF.COMPACT", f"cf{t}")
    for iterator, data in vectors()[0].chunks:
        c.do("BF.LOADCHUNK", f"chunk{t}", iterator, data)
    c.do("CMS.INITBYDIM", f"sum{t}", 50, 4)
    c.do("CMS.MERGE", f"sum{t}", 1, f"cms{t}")
    c.do("TDIGEST.CREATE", f"tdone{t}")
    c.do("TDIGEST.ADD", f"tdone{t}", 42)
    c.do("TDIGEST.MERGE", f"tdsum{t}", 2, f"td{t}", f"tdone{t}")
    # A value at rest has no pending observations. If the value in memory had some, adds that follow
    # would be merged in another order here than in a server that has loaded it.
    for key in ("td", "tdsum"):
        c.do("TDIGEST.QUANTILE", key + t, 0.5)


def touch(c, tag):
    """Changes what fill() made."""
    for kind in KINDS:
        c.call("TAMIS.MADD", kind + tag, "more", "and", "more")
    c.do("BF.MADD", f"bf{tag}", "more", "and", "more")
    c.do("CF.ADD", f"cf{tag}", "more")
    c.do("CMS.INCRBY", f"cms{tag}", "more", 3)
    c.do("TOPK.INCRBY", f"topk{tag}", "more", 100, "and", 30)
    c.do("TDIGEST.ADD", f"td{tag}", *range(60))
    c.do("TDIGEST.MERGE", f"tdsum{tag}", 1, f"td{tag}")


def state(c):
    """Every value as the bytes of its DUMP."""
    return {key: c.do("DUMP", key) for key in sorted(c.do("KEYS", "*"))}


def synced(primary, replica):
    def offset(c, field):
        return re.search(field + rb":(\d+)", c.do("INFO", "replication"))

    def same():
        done = offset(replica, b"slave_repl_offset")
        return (b"master_link_status:up" in replica.do("INFO", "replication") and done is not None
                and
                done[1] == offset(primary, b"master_repl_offset")[1])
    wait_for(same, "the replica lags behind")
