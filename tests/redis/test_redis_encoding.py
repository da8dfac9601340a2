"""Images that state how their keys are encoded: items become keys as the image says, and what
cannot be a key is an error that changes nothing (docs/KEYS.md)."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import xxhash

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, Server, TAMIS, main  # noqa: E402
from test_redis_bloom import check  # noqa: E402

GOLDEN = pathlib.Path(os.environ.get("TAMIS_SOURCE", "."), "tests", "golden")
NOT_INTEGER = Error("ERR an item must be a decimal integer of 64 bits, because the keys of this "
                    "structure are int64le")
STRANGE = (b"x", b"", b"01", b"+1", b"-0", b" 1", b"1.0", b"9223372036854775808",
           b"-9223372036854775809", b"12345678\0")
ENDS = (2**63 - 1, -2**63)


def built(room, lines, *options):
    path = pathlib.Path(room, "f.tamis")
    subprocess.run([TAMIS, "build", "-q", "-f", "-o", path, *options], check=True, text=True,
                   input="".join(f"{line}\n" for line in lines))
    return path.read_bytes()


def stating(image, encoding):
    """The same image with this encoding, and with the right root."""
    data = bytearray(image)
    data[25] = encoding
    (sections,) = struct.unpack_from("<I", data, 104)
    lengths = [struct.unpack_from("<Q", data, 128 + 64 * i + 56)[0] for i in range(sections)]
    end = 128 + 64 * sections + sum(8 * -(-n // 65536) for n in lengths)
    data[120:128] = bytes(8)
    data[120:128] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[:end])))
    return bytes(data)


def facts(c, key):
    info = c.text("TAMIS.INFO", key)
    return dict(zip(info[::2], info[1::2]))


def test_integers():
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        image = built(room, range(-5, 300), "--kind", "counting", "--encoding", "int64le")
        check(c, (["TAMIS.LOAD", "k", image], "OK"), ("TAMIS.HAS k -5", 1), ("TAMIS.HAS k 299", 1),
              ("TAMIS.HAS k 1000000", 0), ("TAMIS.ADD k 1000000", 1), ("TAMIS.HAS k 1000000", 1),
              (["TAMIS.MADD", "k", *ENDS], [1, 1]), (["TAMIS.MHAS", "k", *ENDS, 77777], [1, 1, 0]),
              ("TAMIS.REMOVE k 1000000 12345678", [1, 0]), ("TAMIS.HAS k 1000000", 0),
              ("TAMIS.COUNT k 7", [[1, 0, 1]]))
        assert facts(c, "k")["encoding"] == "int64le" and facts(c, "k")["key-width"] == 8
        before = c.do("TAMIS.DUMP", "k")
        for item in STRANGE:
            for words in (["TAMIS.ADD", "k", item], ["TAMIS.HAS", "k", item],
                          ["TAMIS.MADD", "k", "11", item, "12"], ["TAMIS.MHAS", "k", "1", item],
                          ["TAMIS.REMOVE", "k", "1", item], ["TAMIS.COUNT", "k", "1", item],
                          ["TAMIS.ESTIMATE", "k", item]):
                assert c.call(*words) == NOT_INTEGER, words
        assert c.do("TAMIS.DUMP", "k") == before
        # The file that the command makes of the same integers: they are the same keys.
        pathlib.Path(room, "dump").write_bytes(before)
        said = subprocess.run([TAMIS, "check", "-c", pathlib.Path(room, "dump")], text=True,
                              input="\n".join(map(str, [*range(-5, 300), *ENDS])),
                              capture_output=True)
        assert said.stdout == "307\n", said


def test_sketches():
    with Server() as server:
        c = server.client()
        tally = GOLDEN.joinpath("tally-int64-merged.tamis").read_bytes()
        check(c, (["TAMIS.LOAD", "t", tally], "OK"), ("TAMIS.INCRBY t 5 700 -6 3", "OK"),
              ("TAMIS.INCRBY t 5 1 six 1", NOT_INTEGER))
        assert c.do("TAMIS.COUNT", "t", "5")[0][2] >= 700
        assert c.call("TAMIS.COUNT", "t", "five") == NOT_INTEGER
        # A top lists integers as it was given them.
        check(c, ("TAMIS.CREATE raw top BYTES 65536", "OK"))
        for value in (5, -7, ENDS[0]):
            c.do("TAMIS.INCRBY", "raw", struct.pack("<q", value), 10)
        check(c, (["TAMIS.LOAD", "top", stating(c.do("TAMIS.DUMP", "raw"), 2)], "OK"),
              ("TAMIS.INCRBY top -7 5", "OK"), ("TAMIS.ADD top 5", 0))
        assert [row[0] for row in c.do("TAMIS.TOP", "top", 3)] == [b"-7", b"5", b"%d" % ENDS[0]]
        assert c.do("TAMIS.TOP", "top", 1, "FULL")[0][0] == b"-7"


def test_other_encodings():
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        fixed = built(room, ["abcd", "efgh"], "--encoding", "fixed:4")
        wrong = Error("ERR an item must have 4 bytes, because the keys of this structure are "
                      "encoded as fixed")
        check(c, (["TAMIS.LOAD", "f", fixed], "OK"), ("TAMIS.MHAS f abcd hgfe", [1, 0]),
              ("TAMIS.HAS f abc", wrong), ("TAMIS.ADD f abcde", wrong),
              ("TAMIS.MADD f ijkl abc", wrong), ("TAMIS.HAS f ijkl", 0))
        text = built(room, [1, 2], "--encoding", "text")
        plain = built(room, [1, 2])
        check(c, (["TAMIS.LOAD", "t", text], "OK"), ("TAMIS.MHAS t 1 01 x", [1, 0, 0]),
              (["TAMIS.LOAD", "p", plain], "OK"), ("TAMIS.MHAS p 1 01 x", [1, 0, 0]))
        assert facts(c, "t")["encoding"] == "text" and "encoding" not in facts(c, "p")
        sha = stating(plain, 4)
        check(c, (["TAMIS.LOAD", "s", sha], "OK"), (["TAMIS.HAS", "s", 32 * b"x"], 0))
        assert isinstance(c.call("TAMIS.HAS", "s", "example.org"), Error)
        check(c, (["TAMIS.LOAD", "u", stating(plain, 200)], "OK"), ("TAMIS.HAS u 1", 1))
        assert facts(c, "u")["encoding"] == "unknown"
        # Exclusions, and two that do not go together.
        integers = built(room, [1, 2], "--encoding", "int64le")
        check(c, (["TAMIS.LOAD", "i", integers], "OK"))
        merged = c.call("TAMIS.MERGE", "i", "t")
        assert isinstance(merged, Error) and "encoded as" in merged.text, merged


def test_create():
    """TAMIS.CREATE with ENCODING makes what the command makes of the same keys."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        for words, option, lines, wrong in (
                ("INT64LE", "int64le", range(-5, 300), b"x"),
                ("fixed 4", "fixed:4", ["abcd", "efgh"], b"abc"),
                ("Text", "text", ["abcd", ""], None)):
            key = words.split()[0].lower()
            image = built(room, lines, "--kind", "bloom", "--items", "300", "--encoding", option)
            check(c, (f"TAMIS.CREATE {key} bloom ITEMS 300 RATE 0.01 ENCODING {words} SEED 0",
                      "OK"))
            c.do("TAMIS.MADD", key, *lines)
            assert c.do("TAMIS.DUMP", key) == image, words
            assert facts(c, key)["encoding"] == key
            if wrong is not None:
                assert isinstance(c.call("TAMIS.ADD", key, wrong), Error), words
        for encoding in ("sha256", "caller"):
            check(c, (f"TAMIS.CREATE {encoding} tally BYTES 65536 ENCODING {encoding}", "OK"))
            assert facts(c, encoding)["encoding"] == encoding
        assert isinstance(c.call("TAMIS.ADD", "sha256", "x"), Error)
        check(c, ("TAMIS.ADD caller x", 1))
        for words, error in (
                ("ENCODING", "ENCODING requires a value"),
                ("ENCODING utf8", "invalid value for ENCODING"),
                ("ENCODING unknown", "invalid value for ENCODING"),
                ("ENCODING " + 40 * "x", "invalid value for ENCODING"),
                ("ENCODING fixed", "ENCODING fixed requires a value"),
                ("ENCODING fixed x", "invalid value for ENCODING fixed"),
                ("ENCODING fixed -1", "invalid value for ENCODING fixed"),
                ("ENCODING fixed 0", "keys of fixed width need a width from 1 to 65535 bytes"),
                ("ENCODING fixed 65536", "keys of fixed width need a width from 1 to 65535 bytes"),
                ("ENCODING fixed 4 ENCODING text", "a key width is only for keys of fixed width"),
                ("ENCODING int64le 8", "unknown option '8' of TAMIS.CREATE")):
            check(c, (f"TAMIS.CREATE k bloom ITEMS 300 RATE 0.01 {words}", Error(f"ERR {error}")))
        check(c, ("EXISTS k", 0))


if __name__ == "__main__":
    main([test_integers, test_sketches, test_other_encodings, test_create])
