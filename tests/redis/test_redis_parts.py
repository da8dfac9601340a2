"""Big images in small commands: TAMIS.DUMP with an offset reads them in ranges, and TAMIS.LOADPARTS
loads them from plain strings, which SET or APPEND have written in chunks."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import SOURCE, Error, Server, WRONGTYPE, main, used_memory  # noqa: E402
from redis_values import KINDS, fill, synced  # noqa: E402
from test_redis_stats import check_figures, figures  # noqa: E402

NUMBER = "ERR value is not an integer or out of range"


def ranges(c, key, count):
    """The image, read in ranges until one is empty."""
    pieces = []
    while True:
        piece = c.do("TAMIS.DUMP", key, sum(map(len, pieces)), count)
        assert len(piece) <= count
        if not piece:
            return pieces
        pieces.append(piece)


def test_ranges():
    with Server() as server:
        c = server.client()
        fill(c)
        for kind in KINDS:
            image = c.do("TAMIS.DUMP", kind)
            for count in (len(image) // 9 + 1, len(image) - 1, len(image), 1 << 40):
                pieces = ranges(c, kind, count)
                assert b"".join(pieces) == image, (kind, count)
                assert all(len(piece) == count for piece in pieces[:-1]), (kind, count)
            assert c.do("TAMIS.DUMP", kind, 5, 0) == b""
            assert c.do("TAMIS.DUMP", kind, (1 << 63) - 1, (1 << 63) - 1) == b""
            assert c.do("TAMIS.DUMP", kind, 3, (1 << 63) - 1) == image[3:]
        for words in ((-1, 5), (0, -1), ("x", 1), (0, 1 << 63)):
            assert c.call("TAMIS.DUMP", "blocked", *words) == NUMBER, words
        for words in ((0,), (0, 1, 2)):
            assert "wrong number of arguments" in c.call("TAMIS.DUMP", "blocked", *words).text


def upload(c, image, count, name="part"):
    """Writes an image to strings of that size; returns their names."""
    names = []
    for start in range(0, len(image), count):
        names.append(f"{name}:{len(names)}")
        c.do("SET", names[-1], image[start:start + count])
    return names


def test_parts():
    with Server() as server:
        c = server.client()
        fill(c)
        for kind in KINDS:
            image = c.do("TAMIS.DUMP", kind)
            for count in (1000, len(image) - 1, len(image)):
                assert c.do("TAMIS.LOADPARTS", "copy", *upload(c, image, count)) == "OK"
                assert c.do("TAMIS.DUMP", "copy") == image, (kind, count)
        # A string that grows is one part; an empty string adds nothing.
        c.do("DEL", "grown")
        for start in range(0, len(image), 777):
            c.do("APPEND", "grown", image[start:start + 777])
        c.do("SET", "empty", "")
        assert c.do("TAMIS.LOADPARTS", "other", "empty", "grown", "empty") == "OK"
        assert c.do("TAMIS.DUMP", "other") == image
        # The destination may have been anything, even a part. Its time to live goes, too.
        for before in (("SET", "to", "x"), ("RPUSH", "to", "x"), ("BF.ADD", "to", "x"),
                       ("SET", "to", image)):
            c.do("DEL", "to")
            c.do(*before)
            c.do("EXPIRE", "to", 1000)
            source = "to" if before[-1] is image else "grown"
            assert c.do("TAMIS.LOADPARTS", "to", source) == "OK", before
            assert c.do("TAMIS.DUMP", "to") == image and c.do("TTL", "to") == -1
        check_figures(c, "parts")


def test_refusals():
    """Nothing has changed after an error."""
    with Server() as server:
        c = server.client()
        c.do("TAMIS.CREATE", "t", "blocked", "BYTES", 100000, "RATE", 0.01)
        c.do("TAMIS.MADD", "t", *range(100))
        image = c.do("TAMIS.DUMP", "t")
        names = upload(c, image, 30000)
        c.do("TAMIS.LOADPARTS", "to", *names)
        c.do("SET", "number", 12)
        c.do("RPUSH", "list", "x")

        def refused(text, *parts, counts=0):
            before = figures(c)["refused_loads_load"]
            reply = c.call("TAMIS.LOADPARTS", "to", *parts)
            assert isinstance(reply, Error) and text in reply.text, (parts, reply)
            assert figures(c)["refused_loads_load"] == before + counts, parts
            assert c.do("TAMIS.DUMP", "to") == image

        refused("a part of the image does not exist", names[0], "none")
        refused(WRONGTYPE, names[0], "list")
        refused(WRONGTYPE, "t")
        refused("ERR", *names[:-1], counts=1)
        refused("ERR", *reversed(names), counts=1)
        refused("ERR", *names, names[0], counts=1)
        refused("ERR not a Tamis file", "number", counts=1)
        # A structure that changes between two ranges: the sums of the image do not match.
        first = c.do("TAMIS.DUMP", "t", 0, 60000)
        c.do("TAMIS.MADD", "t", *range(1000, 5000))
        c.do("SET", "torn", first + c.do("TAMIS.DUMP", "t", 60000, 1 << 40))
        refused("ERR", "torn", counts=1)
        assert figures(c)["refused_last_reason"].startswith("TAMIS.LOADPARTS: ")
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", 50000)
        refused("the image is bigger than tamis-max-bytes", *names, counts=1)
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", "1gb")
        c.do("TAMIS.CREATE", "big", "blocked", "BYTES", 4 << 20, "RATE", 0.01)
        names = upload(c, c.do("TAMIS.DUMP", "big"), 1 << 20, "big")
        c.do("CONFIG", "SET", "maxmemory", used_memory(c) + (2 << 20))
        refused("no memory for the image", *names, counts=1)


def test_copies():
    """Replicas and append-only files receive the parts and the short command."""
    with Server("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay",
                "0") as server, Server() as replica:
        c, r = server.client(), replica.client()
        r.do("REPLICAOF", "127.0.0.1", server.port)
        synced(c, r)
        c.do("TAMIS.CREATE", "t", "blocked", "BYTES", 100000, "RATE", 0.01)
        c.do("TAMIS.MADD", "t", *range(100))
        names = upload(c, c.do("TAMIS.DUMP", "t"), 30000)
        c.do("TAMIS.LOADPARTS", "to", *names)
        c.do("DEL", *names)
        synced(c, r)
        assert r.do("TAMIS.DUMP", "to") == c.do("TAMIS.DUMP", "to")
        digest = c.do("DEBUG", "DIGEST-VALUE", "to")
        server.restart()
        c = server.client()
        assert c.do("DEBUG", "DIGEST-VALUE", "to") == digest


def test_recipe():
    """The commands of docs/REDIS.md for the shell, with a file of several parts."""
    text = (SOURCE / "docs/REDIS.md").read_text()
    recipe = text[text.index("split -b 16m"):].split("```")[0].replace("16m", "16k")
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        c.do("TAMIS.CREATE", "t", "blocked", "BYTES", 100000, "RATE", 0.01)
        c.do("TAMIS.MADD", "t", *range(1000))
        image = c.do("TAMIS.DUMP", "t")
        pathlib.Path(room, "set.tamis").write_bytes(image)
        tool = pathlib.Path(room, "redis-cli")
        tool.write_text(f'#!/bin/sh\nexec {shutil.which("redis-cli")} -p {server.port} "$@"\n')
        tool.chmod(0o755)
        done = subprocess.run(["sh", "-e", "-c", recipe], cwd=room, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{room}:{os.environ['PATH']}"})
        assert done.returncode == 0, done
        assert c.do("TAMIS.DUMP", "{set}") == image, done
        assert c.do("DBSIZE") == 2 and len(list(pathlib.Path(room).glob("part.*"))) == 7


if __name__ == "__main__":
    main([test_ranges, test_parts, test_refusals, test_copies, test_recipe])
