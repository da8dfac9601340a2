"""Big values of the module take memory as they fill, so that no command waits for gigabytes to
be zeroed. Every new value is empty, also where its memory was used before."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Server, main, used_memory  # noqa: E402

MIB = 1 << 20
SMALL = 64 * MIB
KINDS = ("bloom", "partitioned", "blocked", "counting", "cuckoo", "growing", "pair", "window")
SKETCHES = ("count-min", "count-sketch", "tally", "signed-tally", "top")


def resident(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return [int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS:")][0]


def header(bits, items=0, capacity=None):
    """Of BF.SCANDUMP: one link."""
    shape = (bits // 8, bits, items, 0.001, 14.377, 10, capacity or int(bits / 14.377) - 1000, 0)
    return struct.pack("<QIII", items, 1, 5, 2) + struct.pack("<QQQddIQB", *shape)


def test_untouched():
    """At least 450 MB each, of which next to nothing is in memory, before and after an add."""
    makers = [(("BF.RESERVE", "k", "0.001", 400000000), ("BF.ADD", "k", "x")),
              (("BF.LOADCHUNK", "k", 1, header(1 << 33)), ("BF.ADD", "k", "x")),
              (("CF.RESERVE", "k", 500000000), ("CF.ADD", "k", "x")),
              (("CMS.INITBYDIM", "k", 25000000, 5), ("CMS.INCRBY", "k", "x", 3)),
              (("TOPK.RESERVE", "k", 10, 9000000, 7, "0.9"), ("TOPK.ADD", "k", "x")),
              (("TDIGEST.CREATE", "k", "COMPRESSION", 5000000), ("TDIGEST.ADD", "k", 1)),
              *[(("TAMIS.CREATE", "k", kind, "BYTES", 1 << 30, "RATE", "0.001"),
                 ("TAMIS.ADD", "k", "x")) for kind in KINDS],
              *[(("TAMIS.CREATE", "k", kind, "BYTES", 1 << 29), ("TAMIS.ADD", "k", "x"))
                for kind in SKETCHES]]
    with Server() as server:
        c = server.client()
        for make, add in makers:
            used, before = used_memory(c), resident(server)
            c.do(*make)
            # of maxmemory it has taken all
            assert used_memory(c) > used + 450 * 10**6, (make, used_memory(c) - used)
            assert resident(server) < before + SMALL, (make, resident(server) - before)
            c.do(*add)
            assert resident(server) < before + SMALL, (add, resident(server) - before)
            c.do("DEL", "k")


def test_grown():
    """The add that finds a filter full and adds a link of 457 MB."""
    with Server() as server:
        c = server.client()
        c.do("BF.RESERVE", "b", "0.01", 10000, "EXPANSION", 30000)
        before, used, i = resident(server), used_memory(c), 0
        while used_memory(c) < used + 400 * MIB:
            c.do("BF.MADD", "b", *range(i, i + 1000))
            i += 1000
            assert i < 20000
        assert resident(server) < before + SMALL, resident(server) - before
        assert c.do("BF.MEXISTS", "b", *range(i)) == [1] * i
        c.do("CF.RESERVE", "c", 2048, "BUCKETSIZE", 2, "EXPANSION", 32768)
        before, used, i = resident(server), used_memory(c), 0
        while used_memory(c) < used + 60 * MIB:
            c.do("CF.INSERT", "c", "ITEMS", *range(i, i + 500))
            i += 500
            assert i < 20000
        assert resident(server) < before + 32 * MIB, resident(server) - before
        assert c.do("CF.MEXISTS", "c", *range(i)) == [1] * i


def test_used_before():
    """Memory full of ones is freed; values of about that size are made of it, and are empty. The
    server's allocator gives freed blocks of 8 MiB and more back to the system at once, so that
    these come as zeros again; it keeps smaller ones."""
    size = 3 * MIB
    makers = [(size, "BF.RESERVE", "k", "0.001", 1700000),
              (size, "BF.LOADCHUNK", "k", 1, header(8 * size)), (size, "CF.RESERVE", "k", size),
              (size, "CMS.INITBYDIM", "k", size // 4, 1),
              (size, "TOPK.RESERVE", "k", 10, size // 8, 1, "0.9"),
              *[(size, "TAMIS.CREATE", "k", kind, "BYTES", size, "RATE", "0.001")
                for kind in KINDS],
              *[(size, "TAMIS.CREATE", "k", kind, "BYTES", size) for kind in SKETCHES],
              (MIB, "CF.RESERVE", "k", MIB), (8 * MIB, "BF.RESERVE", "k", "0.001", 4600000)]
    with Server() as server:
        c = server.client()
        for size, *make in makers:
            c.do(*make)
            fresh = c.do("DUMP", "k")
            c.do("DEL", "k")
            for bytes_ in (size, size + MIB // 2, 2 * size):
                c.do("BF.LOADCHUNK", "ones", 1, header(8 * bytes_, 1))
                for at in range(0, bytes_, MIB // 2):
                    c.do("BF.LOADCHUNK", "ones", at + MIB // 2 + 1, b"\xff" * (MIB // 2))
                c.do("DEL", "ones")
                c.do(*make)
                assert c.do("DUMP", "k") == fresh, make[:4]
                c.do("DEL", "k")


if __name__ == "__main__":
    main([test_untouched, test_grown, test_used_before])
