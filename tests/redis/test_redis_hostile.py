"""What has broken such modules before, and mutated payloads by the thousand: each ends in an error
or a sound value, and the server answers afterwards, also after SAVE and DEBUG RELOAD. In the
sanitizer's build every step out of bounds is a death.

TAMIS_FUZZ says how many payloads of each type; TAMIS_SEED repeats an earlier run."""
import os
import pathlib
import random
import resource
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
# noqa: E402
from redis_client import Error, Server, main, sanitizer, used_memory, vectors, wait_for

ROUNDS = int(os.environ.get("TAMIS_FUZZ", "2000"))
SEED = int(os.environ.get("TAMIS_SEED", str(random.randrange(2**32))))
LIMIT = 3 << 30

CRC = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
    CRC.append(byte)


def limited():
    """A server on a small machine; the sanitizer needs its address space, there maxmemory is all. A
    key may have a tenth of it: the server itself, when it saves a string, takes as much again to
    compress it, and dies without."""
    arguments = ("tamis-max-bytes", 300 << 20)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sanitizer():
        return Server("--maxmemory", "1gb", arguments=arguments)
    return Server(preexec=limit, arguments=arguments)


def sealed(body):
    """A payload with its version and its checksum."""
    body += b"\x0a\x00"
    crc = 0
    for byte in body:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return body + struct.pack("<Q", crc)


# --- Payloads as lists of fields
# ------------------------------------------------------------------------


def unpack(data, size):
    """LZF, as Redis shortens strings."""
    out, i = bytearray(), 0
    while i < len(data):
        n = data[i]
        i += 1
        if n < 32:
            out += data[i:i + n + 1]
            i += n + 1
            continue
        back, n = (n & 31) << 8, n >> 5
        if n == 7:
            n += data[i]
            i += 1
        back |= data[i]
        i += 1
        for _ in range(n + 2):
            out.append(out[-back - 1])
    assert len(out) == size
    return bytes(out)


def fields_of(dump):
    """(start of the payload, [(tag, value)]); tags are those of Redis: 2 number, 4 real, 5
    string."""
    at = 1

    def length():
        nonlocal at
        first = dump[at]
        at += 1
        if first >> 6 == 0:
            return first, False
        if first >> 6 == 1:
            at += 1
            return (first & 63) << 8 | dump[at - 1], False
        if first >> 6 == 3:
            return first & 63, True
        n = 8 if first == 0x81 else 4
        at += n
        return int.from_bytes(dump[at - n:at], "big"), False

    length()
    start, fields = dump[:at], []
    while True:
        tag = length()[0]
        if tag == 0:
            return start, fields
        if tag == 2:
            fields.append((2, length()[0]))
        elif tag == 4:
            fields.append((4, dump[at:at + 8]))
            at += 8
        else:
            n, coded = length()
            if coded and n == 3:
                packed, size = length()[0], length()[0]
                fields.append((5, unpack(dump[at:at + packed], size)))
                at += packed
            elif coded:
                n = 1 << n
                fields.append((5, str(int.from_bytes(dump[at:at + n], "little",
                                                     signed=True)).encode()))
                at += n
            else:
                fields.append((5, dump[at:at + n]))
                at += n


def length_bytes(n):
    return b"\x81" + struct.pack(">Q", n & (2**64 - 1))


def payload(start, fields):
    body = bytearray(start)
    for tag, value in fields:
        body.append(tag)
        if tag == 2:
            body += length_bytes(value)
        elif tag == 4:
            body += value
        else:
            body += length_bytes(len(value)) + value
    return sealed(bytes(body + b"\0"))


ODD = [0, 1, 2, 3, 7, 8, 63, 64, 255, 256, 65535, 65536, 65537, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
       2**40, 2**53, 2**59, 2**61,
       2**62, 2**63 - 1, 2**63, 2**64 - 1]
REALS = [float("nan"), float("inf"), -1.0, 0.0, -0.0, 1.0, 2.0, 1e-320, 1e308]


def mutate(rng, start, fields):
    fields = list(fields)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(fields))
        tag, value = fields[at]
        if tag == 2:
            value = rng.choice((rng.choice(ODD), value + rng.randrange(-2, 3), value * 2,
                                value ^ 1 << rng.randrange(64)))
            fields[at] = (2, value % 2**64)
        elif tag == 4:
            fields[at] = (4, rng.choice((struct.pack("<d", rng.choice(REALS)),
                                         bytes(rng.randrange(256) for _ in range(8)))))
        else:
            what = rng.randrange(5)
            if what == 0 and value:
                changed = bytearray(value)
                changed[rng.randrange(len(changed))] = rng.randrange(256)
                value = bytes(changed)
            elif what == 1:
                value = value[:rng.randrange(len(value) + 1)]
            elif what == 2:
                value += bytes(rng.randrange(1, 64))
            elif what == 3:
                value = b""
            elif value:
                value = bytes(len(value) - 1) + b"\xff"
            fields[at] = (5, value)
    if rng.random() < 0.1:
        del fields[rng.randrange(len(fields))]
    if rng.random() < 0.1:
        fields.insert(rng.randrange(len(fields)), rng.choice(fields))
    made = payload(start, fields)
    if rng.random() < 0.1:  # and without any respect for fields
        raw = bytearray(made[:-10])
        for _ in range(rng.randrange(1, 4)):
            raw[rng.randrange(10, len(raw))] = rng.randrange(256)
        made = sealed(bytes(raw[:rng.randrange(10, len(raw))] if rng.random() < 0.3 else raw))
    return made


USES = {
    "MBbloom--": [("BF.MADD", "k", "a", "b", "c"), ("BF.INFO", "k"), ("BF.DEBUG", "k"),
                  ("BF.SCANDUMP", "k", 0), ("BF.SCANDUMP", "k", 1),
                  ("BF.MERGE", "k2", "k"), ("BF.EXISTS", "k2", "a")],
    "MBbloomCF": [("CF.INSERT", "k", "ITEMS", *"abcdefgh"), ("CF.DEL", "k", "a"), ("CF.INFO", "k"),
                  ("CF.COUNT", "k", "b"), ("CF.SCANDUMP", "k", 1),
                  ("CF.COMPACT", "k")],
    "CMSk-TYPE": [("CMS.INCRBY", "k", "a", 5), ("CMS.QUERY", "k", "a", "b"), ("CMS.INFO", "k"),
                  ("CMS.MERGE", "k", 1, "k")],
    "TopK-TYPE": [("TOPK.INCRBY", "k", "a", 50, "b", 3), ("TOPK.LIST", "k", "WITHCOUNT"),
                  ("TOPK.QUERY", "k", "a"), ("TOPK.COUNT", "k", "a")],
    "TDIS-TYPE": [("TDIGEST.ADD", "k", 1, -2, "1e308"), ("TDIGEST.QUANTILE", "k", 0, 0.3, 1),
                  ("TDIGEST.CDF", "k", "-inf", 0, 5), ("TDIGEST.RANK", "k", 0),
                  ("TDIGEST.REVRANK", "k", 0), ("TDIGEST.BYRANK", "k", 1),
                  ("TDIGEST.TRIMMED_MEAN", "k", 0.1, 0.9), ("TDIGEST.INFO", "k"),
                  ("TDIGEST.MERGE", "k2", 2, "k", "k"), ("TDIGEST.ADD", "k2", *range(200))],
    "tamis-img": [("TAMIS.MADD", "k", "a", "b"), ("TAMIS.MHAS", "k", "a", "b"), ("TAMIS.INFO", "k"),
                  ("TAMIS.DUMP", "k"),
                  ("TAMIS.REMOVE", "k", "a"), ("TAMIS.COUNT", "k", "a"), ("TAMIS.VALUE", "k", "a"),
                  ("TAMIS.CARD", "k", "WITHINTERVAL")],
}
AFTER = [("DUMP", "k"), ("COPY", "k", "k2", "REPLACE"), ("MEMORY", "USAGE", "k"),
         ("DEBUG", "DIGEST-VALUE", "k"), ("DEL", "k", "k2")]


def seeds(client):
    """Dumps of RedisBloom, and of values made here."""
    found = {name: [] for name in USES}
    for o in vectors() + vectors("redisbloom_tdigest")[::-1]:
        client.do("RESTORE", o.name, 0, o.dump)
        found[client.text("TYPE", o.name)].append(o.dump)
    for kind in ("blocked", "counting", "growing", "cuckoo", "tally", "window", "fuse",
                 "distinct"):
        client.do("TAMIS.CREATE", kind, kind,
                  *(("BYTES", 600) if kind in ("tally", "distinct")
                    else ("ITEMS", 20, "RATE", 1 / 256)))
        client.do("TAMIS.MADD", kind, *range(15))
        found["tamis-img"].append(client.do("DUMP", kind))
    for name in ("map", "map-layers", "map-rate-1"):
        image = pathlib.Path(__file__).parent.parent / f"golden/{name}.tamis"
        client.do("TAMIS.LOAD", name, image.read_bytes())
        found["tamis-img"].append(client.do("DUMP", name))
    client.do("FLUSHALL")
    return {name: [fields_of(dump) for dump in dumps] for name, dumps in found.items()}


def test_mutated_payloads():
    print("seed", SEED, flush=True)
    rng = random.Random(SEED)
    with limited() as server:
        c = server.client()
        for name, starts in seeds(c).items():
            accepted, before = 0, 0
            for i in range(0, ROUNDS, 20):
                if i == ROUNDS // 40 * 20:  # half of them: buffers have grown to what they need
                    before = used_memory(c)
                commands = []
                for _ in range(20):
                    made = mutate(rng, *rng.choice(starts))
                    commands += [("RESTORE", "k", 0, made), *USES[name], *AFTER]
                replies = c.pipeline(commands)
                accepted += sum(reply == "OK"
                                for words, reply in zip(commands, replies) if words[0] == "RESTORE")
            assert 0 < accepted < ROUNDS, (name, accepted)
            assert c.call("PING") == "PONG", name
            # Refused or deleted values leave nothing behind, except buffers of the connection.
            growth = used_memory(c) - before
            assert growth < 60000 + ROUNDS, (name, growth)
            print(f"  {name}: {ROUNDS} payloads, {accepted} accepted, {growth} bytes more in use",
                  flush=True)
        assert server.alive()


# --- By hand: every class of the past
# -----------------------------------------------------------------------


def bf_header(items=0, links=1, options=5, growth=2, nbytes=144, bits=1152, size=0, error=0.005,
              bpe=11.02, hashes=8, entries=100, n2=0):
    return struct.pack("<QIII", items, links, options,
                       growth) + struct.pack("<QQQddIQB", nbytes, bits, size, error, bpe, hashes,
                                             entries,
                                                                             n2) * min(links, 1000)


def cf_header(items=1, buckets=2, deletes=0, links=1, size=2, iterations=20, expansion=1):
    return struct.pack("<QQQQHHH", items, buckets, deletes, links, size, iterations, expansion)


COMMANDS = [
    # CVE-2024-25115: positions before, behind and across
    ("CF.RESERVE", "c", 4), *[("CF.LOADCHUNK", "c", at, data)
                              for at in (2, 3, 4, 5, 6, -1, -2**63, 2**63 - 1, 2**32, 2**31)
                              for data in
                              ("x", "x" * 5, "x" * 100)],
    # CVE-2024-25116
    ("CF.RESERVE", "C", 67108864, "BUCKETSIZE", 33554432, "MAXITERATIONS", 1337, "EXPANSION", 1337),
    # CVE-2024-55656, CVE-2024-53993
    *[("CMS.INITBYDIM", "m", *shape) for shape in ((8589934592, 8589934592), (2**31, 2**31),
                                                   (2**62, 1), (1, 2**62), (10**9, 10**9))],
    ("CMS.INCRBY", "m", "a", 1), ("CMS.INITBYPROB", "m", "1e-16", "1e-16"),
            ("CMS.INITBYPROB", "m", "1e-300", "1e-300"),
    # memory
    *[("TDIGEST.CREATE", "d", "COMPRESSION", n)
      for n in (2**31, 2**62, 357913939, 357913940, 10**18, 715827884)],
    ("TDIGEST.CREATE", "d"), ("TDIGEST.ADD", "d", "1e308", "-1e308", "1e-320"),
    ("TDIGEST.MERGE", "d", 2**62, "d"), ("TDIGEST.MERGE", "d", 1, "d", "COMPRESSION", 2**62),
    *[("TDIGEST.MERGE", "d", 1, "d")] * 60,
    ("BF.RESERVE", "b", 0.01, 10**14), ("BF.RESERVE", "b", "1e-300", 2**30),
            ("BF.INSERT", "b", "CAPACITY", 10**18, "ITEMS", "a"),
    ("BF.INSERT", "b", "CAPACITY", 2**30, "ERROR", "1e-100", "ITEMS", "a"),
            ("CF.RESERVE", "c2", 10**14), ("CF.RESERVE", "c3", 2**30, "BUCKETSIZE", 255),
    ("TOPK.RESERVE", "t", 3, 2000000000, 200000000, 1), ("TOPK.RESERVE", "t", 2**32 - 1),
            ("TOPK.RESERVE", "t", 1, 2**32 - 1, 2**32 - 1, 0.5),
    ("TAMIS.CREATE", "n", "bloom", "ITEMS", 10**15, "RATE", "1e-10"),
            ("TAMIS.CREATE", "n", "count-min", "M", 10**12, "K", 60),
    # zero sizes
    ("BF.RESERVE", "z", 0.99, 3, "NONSCALING"), ("BF.MADD", "z", *"abcdefg"),
            ("BF.RESERVE", "z1", 0.99, 1), ("BF.MADD", "z1", *"abcdefg"),
    # headers of LOADCHUNK
    *[("BF.LOADCHUNK", "h", 1, bf_header(**odd)) for odd in (
        {"bits": 2**63}, {"bits": 2**63, "nbytes": 2**60}, {"hashes": 2**31}, {"growth": 2**32 - 1},
                                                             {"entries": 0},
                                                             {"error": float("nan")},
        {"error": 0.0}, {"error": -1.0}, {"bpe": float("inf")}, {"nbytes": 0}, {"bits": 0},
                                                             {"links": 0}, {"links": 2**32 - 1},
                                                             {"n2": 200},
        {"options": 1}, {"options": 2**31}, {"links": 1000, "nbytes": 2**40, "bits": 2**43},
                                                             {"entries": 2**63},
                                                             {"size": 2**64 - 1})],
    ("BF.MADD", "h", *"abcdefg"), ("BF.INFO", "h"),
    *[("CF.LOADCHUNK", "g", 1, cf_header(**odd)) for odd in (
        {"links": 4, "expansion": 32768, "buckets": 2**20}, {"buckets": 0}, {"size": 0},
                                                             {"size": 65535}, {"links": 0},
                                                             {"links": 2**64 - 1},
        {"links": 65537}, {"buckets": 2**40}, {"buckets": 3}, {"iterations": 0},
                                                             {"links": 2, "expansion": 0},
                                                             {"expansion": 3, "links": 2},
        {"links": 65536, "buckets": 2**16, "expansion": 1, "size": 255}, {"buckets": 2**63})],
    # arguments
    *[("TOPK.RESERVE", "t", 3, 8, 7, decay)
      for decay in ("nan", "inf", "-5", "-inf", "0", "1e400")],
    ("TOPK.RESERVE", "t", 3), ("TOPK.INCRBY", "t", "a", -1, "b", 1),
            ("TOPK.INCRBY", "t", "a", 1, "b", 2**63), ("CMS.INITBYDIM", "m", 10, 3),
    ("CMS.MERGE", "m", -1, "m"), ("CMS.MERGE", "m", 2**31, "m"),
            ("CMS.MERGE", "m", 2**63 - 1, "m", "WEIGHTS", 1),
    ("CMS.MERGE", "m", 1, "m", "WEIGHTS"), ("CMS.MERGE", "m", 1, "WEIGHTS", 1),
            ("CMS.INCRBY", "m", "a", 2**63 - 1, "a", 2**63 - 1),
    ("COMMAND", "GETKEYS", "CMS.MERGE", "d", 2**40, "a"),
            ("COMMAND", "GETKEYS", "CMS.MERGE", "d", "x", "a"),
    ("BF.SCANDUMP", "z", 2**63 - 1), ("BF.SCANDUMP", "z", -2**63), ("CF.SCANDUMP", "c", 2**63 - 1),
            ("TAMIS.LOAD", "n", ""), ("TAMIS.LOAD", "n", "x" * 128),
]


def payloads_by_hand(client):
    """RESTORE payloads whose sizes do not match their buffers."""
    found = {name: starts for name, starts in seeds(client).items()}
    for name, at, value in (("MBbloom--", 8, 2**40), ("MBbloom--", 1, 2**64 - 1),
                            ("MBbloom--", 1, 0), ("MBbloom--", 8, 2**63), ("MBbloom--", 6, 2**31),
                            ("MBbloomCF", 0, 0), ("MBbloomCF", 0, 2**64 - 1),
                            ("MBbloomCF", 0, 65537), ("MBbloomCF", 1, 0), ("MBbloomCF", 4, 0),
                            ("MBbloomCF", 7, 2**40), ("MBbloomCF", 7, 0), ("CMSk-TYPE", 0, 2**62),
                            ("CMSk-TYPE", 1, 2**62), ("CMSk-TYPE", 0, 0),
                            ("CMSk-TYPE", 1, 2**32), ("TopK-TYPE", 0, 0), ("TopK-TYPE", 0, 2**32),
                            ("TopK-TYPE", 1, 2**61), ("TopK-TYPE", 2, 2**63),
                            *[("TDIS-TYPE", at, n) for at in (3, 4, 5)
                              for n in (1, 131, 2**31 - 1, 2**31, 2**32 + 130, 2**64 - 1)],
                            ("TDIS-TYPE", 6, 2**63)):
        start, fields = found[name][0]
        changed = list(fields)
        assert changed[at][0] == 2, (name, at)
        changed[at] = (2, value)
        yield payload(start, changed)
    start, fields = found["TDIS-TYPE"][0]
    for at in (0, 1, 2, 7, 8, 9, 20, len(fields) - 1):  # of which the last is a weight
        assert fields[at][0] == 4, at
        for value in ("nan", "inf", "-inf", "0.5"):
            yield payload(start, fields[:at] + [(4, struct.pack("<d", float(value)))]
                          + fields[at + 1:])
    for name, at in (("CMSk-TYPE", 3), ("TopK-TYPE", 4), ("TopK-TYPE", 5), ("TopK-TYPE", 6),
                     ("MBbloom--", 10), ("MBbloomCF", 8)):
        start, fields = found[name][0]
        assert fields[at][0] == 5, (name, at)
        for value in (b"", fields[at][1][:-1], fields[at][1] + b"x"):
            yield payload(start, fields[:at] + [(5, value)] + fields[at + 1:])
    for name in found:  # too early an end, at every field
        start, fields = found[name][0]
        for n in range(len(fields)):
            yield payload(start, fields[:n])
            # a shorter cut would read the version as its end
            yield sealed(payload(start, fields[:n + 1])[:-14])


def test_security_history():
    with limited() as server:
        c = server.client()
        for words in COMMANDS:
            c.call(*words)
            assert c.call("PING") == "PONG", words
        refused = 0
        for body in payloads_by_hand(server.client()):
            reply = c.call("RESTORE", "r", 0, body)
            assert isinstance(reply, Error), body[:60]
            refused += 1
        assert refused > 60
        for words in COMMANDS:
            c.call(*words)
        assert c.do("SAVE") == "OK" and c.do("DEBUG", "RELOAD") == "OK" and c.call("PING") == "PONG"
        assert used_memory(c) < 2 << 30


def with_number(start, fields, at, value):
    assert fields[at][0] == 2, fields[at]
    return payload(start, fields[:at] + [(2, value)] + fields[at + 1:])


def test_counts():
    """A header or a payload that claims more items than there can be is refused, so that no reply
    is nonsense."""
    many = 2**64 - 1
    with limited() as server:
        c = server.client()
        found = {name: starts[0] for name, starts in seeds(c).items()}
        c.do("RESTORE", "sound", 0, payload(*found["MBbloom--"]))
        header = bytearray(c.do("BF.SCANDUMP", "sound", 0)[1])
        header[:8] = b"\xff" * 8
        # the sum is right, and beyond the range of a reply
        two = bf_header(items=2**63 + 60, links=2, size=2**62 + 30, entries=2**62 + 30)
        for data in (header, bf_header(items=1), bf_header(size=1),
                     bf_header(items=many, size=many), bf_header(items=2**62, size=2**62), two,
                     bf_header(entries=2**63), bf_header(entries=2**62, links=2),
                     bf_header(entries=2**62 + 1)):
            assert c.call("BF.LOADCHUNK", "b", 1, bytes(data)) == Error("ERR received bad data"), \
                data
        assert c.do("BF.LOADCHUNK", "b", 1, bf_header(items=100, size=100)) == "OK"
        for data in (cf_header(items=many), cf_header(items=5), cf_header(deletes=many),
                     cf_header(deletes=2**63)):
            assert c.call("CF.LOADCHUNK", "c", 1, data) == Error("Couldn't create filter!"), data
        assert c.do("CF.LOADCHUNK", "c", 1, cf_header(items=4, deletes=2**63 - 1)) == "OK"
        refused = Error("ERR Bad data format")
        for name, at, value in (("MBbloom--", 0, many), ("MBbloom--", 0, 2), ("MBbloom--", 4, many),
                                ("MBbloom--", 4, 2**63), ("MBbloom--", 11, many),
                                ("MBbloomCF", 3, many), ("MBbloomCF", 3, 2**63)):
            assert c.call("RESTORE", "k", 0, with_number(*found[name], at, value)) == refused, \
                (name, at, value)


def info(c, family, key):
    return dict(zip(*[iter(c.text(family + ".INFO", key))] * 2))


def links_header(*links):
    """A header of BF.SCANDUMP with links of 64 bits, given as (items, capacity)."""
    head = struct.pack("<QIII", sum(items for items, _ in links), len(links), 5, 2)
    return head + b"".join(struct.pack("<QQQddIQB", 8, 64, items, 0.5, 1.44, 1, capacity, 0)
                           for items, capacity in links)


def test_counts_at_their_limit():
    """Commands after a header with the greatest counts lead to no value that the server cannot load
    again, from a payload, a dump file or an append-only file."""
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
                "no") as server:
        c = server.client()
        most = 2**63 - 1
        assert isinstance(c.call("BF.LOADCHUNK", "refused", 1,
                                 links_header((most - 10, most - 10), (5, 5))), Error)
        c.do("CF.LOADCHUNK", "c", 1, cf_header(items=0, buckets=8, deletes=most))
        for i in range(3):
            assert c.do("CF.ADD", "c", i) == 1 and c.do("CF.DEL", "c", i) == 1
        c.do("CF.ADD", "c", "x")
        assert info(c, "CF", "c")["Number of items deleted"] == most
        for key, links in (("grown", ((2**62 - 40, 2**62 - 40), (5, 5))),
                           ("full", ((2**62 - 5, 2**62 - 5), (5, 5))),
                           ("beyond", ((64, 1), (2**62 - 3, 2**62 - 1))),
                           ("filled", ((2**62 - 21, 2**62 - 20), (20, 20)))):
            c.do("BF.LOADCHUNK", key, 1, links_header(*links))
            replies = c.call("BF.MADD", key, *range(40))
            assert c.do("BF.CARD", key) == sum(n for n, _ in links) + replies.count(1), key
            assert sum(n for _, n in links) <= info(c, "BF", key)["Capacity"] <= 2**62, key
        assert any(isinstance(r, Error) for r in c.call("BF.MADD", "full", *range(40, 100)))
        assert info(c, "BF", "grown")["Number of filters"] > 2
        dumps = {key: c.do("DUMP", key) for key in ("c", "grown", "full", "beyond", "filled")}
        for key, dump in dumps.items():
            assert c.call("RESTORE", key + "-again", 0, dump) == "OK", key
        assert c.do("DEBUG", "RELOAD") == "OK"
        c.do("BGREWRITEAOF")
        wait_for(lambda: "aof_rewrite_in_progress:0" in c.text("INFO", "persistence") and
                 "aof_rewrite_scheduled:0" in c.text("INFO", "persistence"),
                 "no end of the rewrite")
        server.restart()
        c = server.client()
        for key, dump in dumps.items():
            assert c.do("DUMP", key) == c.do("DUMP", key + "-again") == dump, key


def test_no_room_to_grow():
    """Where maxmemory does not let a filter grow, every item of a command gets its reply: those
    that are in, and those that find a place."""
    def left(c, n):
        c.do("CONFIG", "SET", "maxmemory", used_memory(c) + n)
    with Server() as server:
        c = server.client()
        c.do("BF.RESERVE", "b", 0.01, 100, "EXPANSION", 32768)
        before = [f"in{i}" for i in range(100)]
        c.do("BF.MADD", "b", *before)
        left(c, 2 << 20)
        replies = c.call("BF.MADD", "b", *[x for i in range(100) for x in (f"new{i}", before[i])])
        assert replies[1::2] == [0] * 100
        refused = replies[::2].count(Error("ERR problem inserting into filter"))
        assert refused > 90 and refused + replies[::2].count(0) == 100, replies
        assert c.do("BF.CARD", "b") <= 100
        c.do("CONFIG", "SET", "maxmemory", 0)
        c.do("CF.RESERVE", "c", 1024, "EXPANSION", 32768, "MAXITERATIONS", 1)
        left(c, 2 << 20)
        replies = c.call("CF.INSERT", "c", "ITEMS", *range(3000))
        first = replies.index(-1)
        assert 1 in replies[first:], "an item behind the first refused one has found a place"
        assert info(c, "CF", "c")["Number of items inserted"] == replies.count(1)
        assert c.do("CF.MEXISTS", "c", *[i for i, r in enumerate(replies) if r == 1]) \
            == [1] * replies.count(1)
        # Memory that there is later is taken.
        c.do("CONFIG", "SET", "maxmemory", 0)
        assert 1 in c.do("BF.MADD", "b", "new0", "new1", "new2") \
            and c.do("CF.INSERT", "c", "ITEMS", *range(3000)) == [1] * 3000


def test_counts_of_lost_pieces():
    """Where the pieces of a cuckoo filter were lost, as on replicas of RedisBloom, its number of
    items is too great from the beginning. It stays within the slots, so that what is saved can be
    loaded."""
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
                "no") as server:
        c = server.client()
        c.do("CF.LOADCHUNK", "c", 1, cf_header(items=16, buckets=8))
        for i in range(8):
            assert c.do("CF.ADD", "c", i) == 1
        facts = info(c, "CF", "c")
        slots = facts["Size"] - 40 - 16 * facts["Number of filters"]
        assert slots == 16 and facts["Number of items inserted"] == 16, facts
        dump = c.do("DUMP", "c")
        c.do("BGREWRITEAOF")
        wait_for(lambda: "aof_rewrite_in_progress:0" in c.text("INFO", "persistence") and
                 "aof_rewrite_scheduled:0" in c.text("INFO", "persistence"),
                 "no end of the rewrite")
        server.restart()
        c = server.client()
        assert c.do("DUMP", "c") == dump
        # RedisBloom saves more, or a number that has wrapped below zero: then the slots are
        # counted.
        start, fields = fields_of(dump)
        for n in (10**6, 2**63 - 1, 2**63, 2**64 - 1):
            c.do("RESTORE", "r", 0, with_number(start, fields, 2, n), "REPLACE")
            assert info(c, "CF", "r")["Number of items inserted"] == 8, n


def test_counts_of_sketches():
    """The total of a sketch stops where a reply ends; RedisBloom's wraps, and what it has saved so
    is loaded as that end."""
    with Server() as server:
        c = server.client()
        c.do("CMS.INITBYDIM", "m", 10, 3)
        for _ in range(3):
            c.do("CMS.INCRBY", "m", "a", 2**62)
        assert c.text("CMS.INFO", "m") == ["width", 10, "depth", 3, "count", 2**63 - 1]
        start, fields = fields_of(c.do("DUMP", "m"))
        c.do("RESTORE", "k", 0, with_number(start, fields, 2, 2**64 - 1))
        assert c.text("CMS.INFO", "k") == ["width", 10, "depth", 3, "count", 2**63 - 1]
        # A merge does not stop there, as in RedisBloom: its total has to be true.
        for key, n in (("one", 1), ("d", 0)):
            c.do("CMS.INITBYDIM", key, 10, 3)
            c.do("CMS.INCRBY", key, "a", n)
        assert c.call("CMS.MERGE", "d", 2, "k", "one", "WEIGHTS", 1, 1) \
            == Error("CMS: MERGE overflow")
        assert c.do("CMS.MERGE", "d", 1, "k") == "OK"


def test_private():
    """A no of a private filter is a guess: it is refused in whatever form it comes, and nothing
    changes."""
    golden = pathlib.Path(__file__).parent.parent / "golden"
    image, keyed = [(golden / name).read_bytes()
                    for name in ("private.tamis", "private-keyed.tamis")]
    with limited() as server:
        c = server.client()
        start, fields = seeds(c)["tamis-img"][0]
        assert b"".join(value for _, value in fields)[1:6] == b"TAMIS" and fields[-1] == (5, b"")
        c.do("TAMIS.CREATE", "k", "bloom", "ITEMS", 100, "RATE", 0.01)
        before = c.do("TAMIS.DUMP", "k")
        # the payload is a good one
        assert c.call("RESTORE", "r", 0, payload(start, [(5, before), (5, b"")])) == "OK"
        for words in (("p", image), ("k", image, "REPLACE")):
            reply = c.call("TAMIS.LOAD", *words)
            assert isinstance(reply, Error) and "private filter" in reply.text \
                and "tamis check" in reply.text, reply
        reply = c.call("TAMIS.LOAD", "p", keyed)
        assert isinstance(reply, Error) and "key" in reply.text, reply
        for pieces in ([image], [image[:200], image[200:]], [keyed]):
            reply = c.call("RESTORE", "p", 0,
                           payload(start, [(5, piece) for piece in [*pieces, b""]]))
            assert isinstance(reply, Error), reply
        assert "a value is refused: a private filter" in server.log()
        assert c.do("EXISTS", "p") == 0 and c.do("TAMIS.DUMP", "k") == before


def test_newer_sketches():
    """RedisBloom 8.12 says the size of a cell in its encoding; 4 is what there was before."""
    with limited() as server:
        c = server.client()
        start, fields = seeds(c)["CMSk-TYPE"][0]
        identity = bytearray(start)

        def restore(key, version, *cell):
            identity[-1] = start[-1] & 0xfc | version  # the last ten bits of the type
            return c.call("RESTORE", key, 0,
                          payload(identity, fields[:3] + [(2, n) for n in cell] + fields[3:]))
        assert start[-1] & 3 == 0 and restore("old", 0) == "OK" and restore("new", 1, 4) == "OK"
        assert c.do("DUMP", "old") == c.do("DUMP", "new")
        for version, cell in ((1, ()), (1, (8,)), (1, (1,)), (1, (0,)), (1, (4, 4)), (2, (4,)),
                              (0, (4,))):
            assert isinstance(restore("bad", version, *cell), Error), (version, cell)


def test_maxmemory():
    """Memory that the server may not have is refused, by a command that would take it all at once
    as by many that take a little."""
    with Server("--maxmemory", "60mb") as server:
        c = server.client()
        for words in (("BF.RESERVE", "b", 0.001, 100000000), ("CF.RESERVE", "c", 100000000),
                      ("CMS.INITBYDIM", "m", 10000000, 5),
                      ("TOPK.RESERVE", "t", 3, 10000000, 5, 0.9),
                      ("TAMIS.CREATE", "n", "blocked", "BYTES", 100000000, "RATE", 0.01)):
            reply = c.call(*words)
            assert isinstance(reply, Error) and "emory" in reply.text, (words, reply)
        assert c.do("BF.RESERVE", "b", 0.001, 1000000) == "OK"
        for i in range(100000):
            reply = c.call("BF.RESERVE", f"b{i}", 0.001, 500000)
            if isinstance(reply, Error):
                break
        assert reply.text.startswith("OOM") or "emory" in reply.text, reply
        assert c.call("PING") == "PONG" and server.alive()


if __name__ == "__main__":
    main([test_security_history, test_counts, test_counts_at_their_limit, test_no_room_to_grow,
          test_counts_of_lost_pieces, test_counts_of_sketches, test_private, test_newer_sketches,
          test_maxmemory, test_mutated_payloads])
