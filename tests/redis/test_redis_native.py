"""TAMIS.*: every kind of the library behind a key, and the same bytes as the files of the tamis
command."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, SOURCE, Server, TAMIS, WRONGTYPE, main, plain  # noqa: E402
from test_redis_bloom import check  # noqa: E402

BUSY = Error("BUSYKEY Target key name already exists.")
NO_KEY = Error("ERR no such key; TAMIS.CREATE creates one")
ITEMS = [f"item-{i}" for i in range(1000)]
MEMBERSHIP = ("bloom", "partitioned", "blocked", "counting", "pair", "growing", "window", "cuckoo",
              "fuse", "ribbon")
STATIC = ("fuse", "ribbon")


def golden(name):
    return pathlib.Path(SOURCE, f"tests/golden/{name}.tamis").read_bytes()


def shell(*words, text=""):
    return subprocess.run([TAMIS, *map(str, words)], input=text, capture_output=True, text=True)


def test_kinds():
    """For each kind: what was added is there, the image is the file that the command writes of the
    same lines and opens, and a file of the command is a value here."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        lines = "".join(item + "\n" for item in ITEMS)
        for kind in MEMBERSHIP:
            generations = ["GENERATIONS", 3] if kind == "window" else []
            rate = 1 / 256 if kind == "fuse" else 0.01
            check(c, (["TAMIS.CREATE", kind, kind, "ITEMS", 1000 if kind != "window" else 3000,
                       "RATE", rate, *generations], "OK"))
            c.do("TAMIS.MADD", kind, *ITEMS[:-1])
            assert c.do("TAMIS.ADD", kind, ITEMS[-1]) in (0, 1)
            if kind in STATIC:
                check(c, ("TAMIS.SEAL " + kind, "OK"))
            assert c.do("TAMIS.MHAS", kind, *ITEMS) == [1] * 1000, kind
            others = sum(c.do("TAMIS.MHAS", kind, *[f"other-{i}" for i in range(2000)]))
            assert others < 100, (kind, others)  # 20 expected (48 of a pair): more than ten sigma
            assert c.do("TAMIS.HAS", kind, ITEMS[5]) == 1
            info = c.text("TAMIS.INFO", kind, "FULL")
            facts = dict(zip(info[::2], info[1::2]))
            image = c.do("TAMIS.DUMP", kind)
            assert facts["kind"] == kind and facts["bytes"] == len(image) and facts["sealed"] \
                == (kind in STATIC)
            path = pathlib.Path(room, kind)
            words = ["--items", 1000, "--fpr", rate, "--kind", kind,
                     *(["--generations", 3, "--overfill"] if generations else [])]
            made = shell("build", "-q", *words, "-o", path, text=lines)
            assert made.returncode == 0, made.stderr
            if kind != "window":  # whose plan the command reckons by the lines
                assert path.read_bytes() == image, kind
            pathlib.Path(room, "dump").write_bytes(image)
            said = shell("check", "-c", pathlib.Path(room, "dump"), text=lines)
            assert said.stdout == "1000\n", (kind, said)
            check(c, (["TAMIS.LOAD", kind, path.read_bytes()], BUSY),
                  (["TAMIS.LOAD", "f" + kind, path.read_bytes()], "OK"),
                  (["TAMIS.MHAS", "f" + kind, *ITEMS], [1] * 1000))
            assert c.do("TAMIS.DUMP", "f" + kind) == path.read_bytes()
            dump = c.do("DUMP", kind)
            check(c, (["RESTORE", "r" + kind, 0, dump], "OK"))
            assert c.do("TAMIS.DUMP", "r" + kind) == image


def test_redisbloom_files():
    """The command makes RedisBloom's dumps, which load here, and reads those of this server."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        lines, path = "".join(item + "\n" for item in ITEMS), pathlib.Path(room, "dump")
        made = shell("build", "-q", "--to", "redisbloom-dump", "--items", 1000, "--fpr", "1%", "-o",
                     path, text=lines)
        assert made.returncode == 0, made.stderr
        check(c, (["RESTORE", "b", 0, path.read_bytes()], "OK"),
              (["BF.MEXISTS", "b", *ITEMS], [1] * 1000), ("BF.CARD b", 1000))
        c.do("BF.MADD", "here", *ITEMS)
        path.write_bytes(c.do("DUMP", "here"))
        assert shell("check", "-c", path, text=lines + "never\nthere\n").stdout == "1000\n"


def test_exact():
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE e exact ITEMS 300 EXCLUDED 2000", "OK"))
        c.do("TAMIS.MADD", "e", *ITEMS[:300])
        check(c, (["TAMIS.EXCLUDE", "e", *[f"never-{i}" for i in range(2000)]], "OK"),
              ("TAMIS.HAS e anything", 1), ("TAMIS.SEAL e", "OK"),
              (["TAMIS.MHAS", "e", *ITEMS[:300]], [1] * 300),
              (["TAMIS.MHAS", "e", *[f"never-{i}" for i in range(2000)]], [0] * 2000))
        assert isinstance(c.call("TAMIS.ADD", "e", "late"), Error)


def test_counts():
    with Server() as server:
        c, three = server.client(), server.client(resp=3)
        for kind in ("count-min", "tally", "count-sketch"):
            check(c, (f"TAMIS.CREATE {kind} {kind} BYTES 20000", "OK"),
                  (f"TAMIS.INCRBY {kind} a 1000 b 5 a 1", "OK"))
            (guess, low, high), (none, _, _) = c.do("TAMIS.COUNT", kind, "a", "never")
            assert low <= guess <= high and low <= 1001 <= high and abs(guess - 1001) < 20 \
                and abs(none) < 20, kind
            assert c.do("TAMIS.ADD", kind, "a") in (0, 1)
            copy = c.do("TAMIS.DUMP", kind)
            check(c, (["TAMIS.LOAD", kind + "2", copy], "OK"),
                  (f"TAMIS.MERGE {kind} {kind}2", "OK"))
            assert abs(c.do("TAMIS.COUNT", kind, "a")[0][0] - 2004) < 40
        check(c, ("TAMIS.INCRBY count-min a -4", "OK"),
              ("TAMIS.INCRBY count-min a x", Error("ERR value is not an integer or out of range")),
              ("TAMIS.INCRBY count-min a",
               Error("ERR wrong number of arguments for 'tamis.incrby' command")),
              ("TAMIS.CREATE n counting ITEMS 100 RATE 0.01", "OK"),
              ("TAMIS.MADD n x x y", [1, 0, 1]), ("TAMIS.REMOVE n x z", [1, 0]))
        assert c.do("TAMIS.COUNT", "n", "x")[0][0] == 1
        assert three.do("TAMIS.REMOVE", "n", "x") == [True] \
            and three.do("TAMIS.HAS", "n", "x") is False
        assert plain(three.do("TAMIS.INFO", "n"))["kind"] == "counting" \
            and three.do("TAMIS.MHAS", "n", "y", "q") == [True, False]


def test_top():
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE t top BYTES 100000", "OK"), ("TAMIS.TOP t", []))
        for i in range(1, 60):
            c.do("TAMIS.INCRBY", "t", f"heavy-{i}", 1000 * i, b"a\0b", 5000)
        c.do("TAMIS.MADD", "t", *ITEMS)
        top = c.text("TAMIS.TOP", "t", 3)
        assert [entry[0] for entry in top] == ["a\0b", "heavy-59", "heavy-58"], top
        for (_, guess, low, high), truth in zip(top, (295000, 59000, 58000)):
            assert low <= guess <= high and low <= truth <= high and abs(guess - truth) < 100, top
        assert len(c.do("TAMIS.TOP", "t")) == 10 and c.do("TAMIS.TOP", "t", 0) == []
        before = c.do("TAMIS.TOP", "t", 30)
        check(c, ("DEBUG RELOAD", "OK"))
        assert c.do("TAMIS.TOP", "t", 30) == before
        check(c, ("TAMIS.TOP t -1", Error("ERR value is not an integer or out of range")),
              ("TAMIS.TOP none", NO_KEY),
              ("TAMIS.CREATE b blocked ITEMS 10 RATE 0.1", "OK"),
              ("TAMIS.TOP b", Error("ERR this kind keeps no list of items; top does")),
              ("TAMIS.CREATE w window INNER tally BYTES 100000", "OK"), ("TAMIS.ADD w a", 1),
              ("TAMIS.TOP w", Error("ERR this kind keeps no list of items; top does")))
        facts = c.do("TAMIS.INFO", "w", "FULL")
        facts = dict(zip(facts[::2], facts[1::2]))
        assert facts["inner-kind"] == b"tally" and facts["generations"] > 1 \
            and facts["saturated"] == 0, facts


ESTIMATE = ("estimate", "lower", "upper", "confidence", "below-noise", "certain", "suspect")


def as_json(reply):
    """An estimate of RESP3 as the command prints it, where nothing certain is said by silence."""
    said = {name.replace("-", "_").replace("estimate", "count"): plain(value)
            for name, value in reply.items()}
    said["confidence"] = float(f"{said['confidence']:.12g}")  # the digits of JSON
    if said["certain"] is None:
        del said["certain"]
    return said


def values(reply):
    """Of RESP3 what RESP2 says: the values in their order, without names."""
    return [f"{x:.17g}" if isinstance(x, float) else int(x) if isinstance(x, bool) else plain(x)
            for x in reply.values()]


def numbers(reply):
    return [f"{float(x):.17g}" if i == 3 else plain(x) for i, x in enumerate(reply)]


def test_estimates():
    """TAMIS.ESTIMATE says of every key what the library says of it in a file, in either protocol;
    so does TAMIS.TOP with FULL."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c, three, path = server.client(), server.client(resp=3), pathlib.Path(room, "image")
        asked = [f"never-{i}" for i in range(200)] + ITEMS[:50] + ["FULL", "heavy"]
        noisy = {}
        for kind in ("top", "tally", "count-min", "count-sketch", "signed-tally", "window"):
            check(c, (["TAMIS.CREATE", kind, kind, "BYTES", 20000,
                       *(["INNER", "tally"] if kind == "window" else [])], "OK"))
            c.do("TAMIS.INCRBY", kind, "heavy", 30000, "FULL", 7000)
            for i in range(20):
                c.do("TAMIS.MADD", kind, *[f"{item}.{i}" for item in ITEMS], *ITEMS[:50])
            path.write_bytes(c.do("TAMIS.DUMP", kind))
            printed = shell("freq", "--json", path, text="".join(f"{x}\n" for x in asked)).stdout
            file = [json.loads(line) for line in printed.splitlines()]
            full = three.do("TAMIS.ESTIMATE", kind, *asked)
            assert all(tuple(x) == ESTIMATE for x in full) and len(full) == len(asked)
            assert [{"item": item, **as_json(x)} for item, x in zip(asked, full)] == file, kind
            assert [values(x) for x in full] \
                == [numbers(x) for x in c.do("TAMIS.ESTIMATE", kind, *asked)], kind
            assert [list(x.values())[:3] for x in full] == c.do("TAMIS.COUNT", kind, *asked), kind
            noisy[kind] = sum(x["below-noise"] for x in full[:200])
            assert not full[-1]["below-noise"] and (full[-1]["suspect"] is None) \
                == (kind != "top"), (kind, full[-1])
            assert (full[-1]["certain"] is None) == (kind in ("count-sketch", "signed-tally")), \
                (kind, full[-1])
        # By definition 1 in 1000 of them is above the noise: 12 of 200 are by chance in less than
        # 1e-15.
        assert all(n > 188 for n in noisy.values()), noisy
        path.write_bytes(c.do("TAMIS.DUMP", "top"))
        file = [json.loads(line) for line in shell("top", "--json", "-n", 60,
                                                   path).stdout.splitlines()]
        full = three.do("TAMIS.TOP", "top", 60, "FULL")
        assert all(tuple(x) == ("item", "length", "hash", *ESTIMATE) for x in full) \
            and len(full) > 20
        assert [as_json(dict(list(x.items())[3:])) for x in full] \
            == [{k: v for k, v in x.items() if k not in ("item", "length")} for x in file]
        assert [plain(x["item"]) for x in full] == [x["item"] for x in file] \
            and all(x["length"] == len(x["item"]) for x in full if x["item"])
        assert len({x["hash"] for x in full}) == len(full) \
            and all(len(x["hash"]) == 16 and int(x["hash"], 16) for x in full)
        two = c.do("TAMIS.TOP", "top", "60", "full")
        assert [[*map(plain, x[:3]), *numbers(x[3:])] for x in two] == [values(x) for x in full]
        assert len(c.do("TAMIS.TOP", "top", "FULL")) == 10 \
            and [x[1:4] for x in c.do("TAMIS.TOP", "top", 60)] == [x[3:6] for x in two]
        # The length of an item that is cut is that of the whole item, and a poisoned count shows.
        c.do("TAMIS.INCRBY", "top", "x" * 9000, 90000)
        cut = three.do("TAMIS.TOP", "top", 1, "FULL")[0]
        assert cut["length"] == 9000 > len(cut["item"]) > 100 and cut["item"] \
            == b"x" * len(cut["item"])
        check(c, ("TAMIS.TOP top 5 ALL",
                  Error("ERR TAMIS.TOP accepts only the option FULL, after the number")),
              ("TAMIS.TOP top FULL 5",
               Error("ERR TAMIS.TOP accepts only the option FULL, after the number")),
              ("TAMIS.ESTIMATE none a", NO_KEY),
              ("TAMIS.TOP top 5 6 7",
               Error("ERR wrong number of arguments for 'tamis.top' command")),
              ("TAMIS.ESTIMATE top",
               Error("ERR wrong number of arguments for 'tamis.estimate' command")),
              ("TAMIS.CREATE b blocked ITEMS 10 RATE 0.1", "OK"))
        assert "do not count" in c.call("TAMIS.ESTIMATE", "b", "a").text


def test_info():
    """TAMIS.INFO FULL has the bound and the interval that the command reports for the image."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        three, path = server.client(resp=3), pathlib.Path(room, "image")
        for kind in ("bloom", "blocked", "counting", "cuckoo", "growing", "tally"):
            three.do("TAMIS.CREATE", kind, kind,
                     *(["BYTES", 9000] if kind == "tally" else ["ITEMS", 1000, "RATE", 0.01]))
            for items in ([], ITEMS):
                if items:
                    three.do("TAMIS.MADD", kind, *items)
                facts = plain(three.do("TAMIS.INFO", kind, "FULL"))
                path.write_bytes(three.do("TAMIS.DUMP", kind))
                file = json.loads(shell("info", "--json", path).stdout)
                sizes = ("items-low", "items-high", "bits-per-item", "bound-bits", "bound-ratio")
                if kind != "tally":
                    assert facts["bound"] == (file["bound"] or "none"), (kind, facts, file)
                    assert (facts["bound"] == "none") == (kind == "growing")
                for name in sizes if kind != "tally" else ("weight", "fill"):
                    said, want = facts[name], file[name.replace("-", "_")]
                    if facts["bound"] == "none" and name.startswith("bound-"):
                        assert said == 0 and want is None
                        continue
                    assert math.isclose(said, want,
                                        rel_tol=1e-11) if want is not None else not math.isfinite(
                                            said), (kind, name, said, want)
                assert facts["items-low"] <= facts["items-estimate"] <= facts["items-high"] \
                    and facts["conservative"] is False
                assert facts["hash-suspect"] is False
            assert kind in ("cuckoo", "growing", "tally") \
                or facts["items-low"] < facts["items-high"] < 1100
        three.do("TAMIS.CREATE", "c", "count-min", "BYTES", 9000, "CONSERVATIVE")
        assert three.do("TAMIS.INFO", "c")["conservative"] is True


def test_windows():
    """A window forgets: by itself when it turns, or on demand."""
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE w window ITEMS 300 RATE 0.001 GENERATIONS 3", "OK"),
              ("TAMIS.ADD w old", 1), ("TAMIS.ROTATE w", "OK"),
              ("TAMIS.HAS w old", 1), ("TAMIS.ROTATE w", "OK"), ("TAMIS.ROTATE w", "OK"),
              ("TAMIS.HAS w old", 0),
              ("TAMIS.CREATE t window ITEMS 300 RATE 0.001 GENERATIONS 3 TURNING", "OK"),
              ("TAMIS.ADD t old", 1))
        c.do("TAMIS.MADD", "t", *ITEMS)
        check(c, ("TAMIS.HAS t old", 0), ("TAMIS.HAS t item-999", 1))
        assert isinstance(c.call("TAMIS.ROTATE", "none"), Error)


def test_removals_from_growing():
    """REMOVABLE makes a growing filter from which keys can be removed."""
    with Server() as server:
        c = server.client()
        check(c, ("TAMIS.CREATE g growing RATE 0.001 REMOVABLE", "OK"))
        c.do("TAMIS.MADD", "g", *ITEMS)
        check(c, ("TAMIS.REMOVE g item-1 none", [1, 0]),
              ("TAMIS.HAS g item-1", 0), ("TAMIS.HAS g item-2", 1))
        assert c.do("TAMIS.INFO", "g")["removable"] is True
        check(c, ("TAMIS.CREATE h growing RATE 0.001", "OK"), ("TAMIS.ADD h x", 1))
        refused = c.call("TAMIS.REMOVE", "h", "x")
        assert isinstance(refused, Error) and "TAMIS_REMOVABLE" in str(refused)
        assert c.do("TAMIS.INFO", "h")["removable"] is False
        check(c, ("TAMIS.HAS h x", 1))


def test_epochs():
    """A window rotates as often as is due, and keeps its epoch in dumps, replicas and restarts."""
    with Server("--appendonly", "yes") as server:
        c = server.client()
        past = Error("ERR epoch 99 is in the past: the window is at epoch 100")
        invalid = Error("ERR invalid epoch; it is an integer from 1 to 2^63 - 1")
        check(c, ("TAMIS.CREATE w window ITEMS 300 RATE 0.001 GENERATIONS 3", "OK"),
              ("TAMIS.ADD w old", 1), ("TAMIS.ROTATE w TO 100", "OK"),
              ("TAMIS.ROTATE w to 100", "OK"), ("TAMIS.ROTATE w TO 99", past),
              ("TAMIS.ROTATE w TO 0", invalid), ("TAMIS.ROTATE w TO -1", invalid),
              ("TAMIS.ROTATE w TO x", invalid), ("TAMIS.ROTATE w TO 9223372036854775808", invalid),
              ("TAMIS.ROTATE w BY 5", Error("ERR expected TAMIS.ROTATE key TO epoch")),
              ("TAMIS.HAS w old", 1), ("TAMIS.ROTATE w TO 102", "OK"), ("TAMIS.HAS w old", 1))
        assert isinstance(c.call("TAMIS.ROTATE", "w", "TO"), Error)
        assert isinstance(c.call("TAMIS.ROTATE", "w", "TO", 5, 6), Error)
        check(c, ("TAMIS.CREATE b blocked ITEMS 300 RATE 0.001", "OK"))
        assert "cannot rotate" in c.call("TAMIS.ROTATE", "b", "TO", 5).text
        image = c.do("TAMIS.DUMP", "w")
        check(c, ("DEBUG RELOAD", "OK"))
        assert c.do("TAMIS.DUMP", "w") == image
        check(c, ("DEBUG LOADAOF", "OK"))
        assert c.do("TAMIS.DUMP", "w") == image
        c.do("TAMIS.LOAD", "copy", image)
        assert c.do("TAMIS.DUMP", "copy") == image
        # The same epoch changes nothing, so it is not propagated either.
        offset = c.do("INFO", "persistence")
        size = [line for line in offset.split(b"\r\n") if line.startswith(b"aof_current_size")]
        check(c, ("TAMIS.ROTATE w TO 102", "OK"))
        assert size[0] in c.do("INFO", "persistence")
        check(c, ("TAMIS.ROTATE w TO 103", "OK"), ("TAMIS.HAS w old", 0))
        facts = c.do("TAMIS.INFO", "w", "FULL")
        assert facts[facts.index("epoch") + 1] == 103, facts
        assert size[0] not in c.do("INFO", "persistence")


def test_merge():
    with Server() as server:
        c = server.client()
        for name, low, high in (("x", 0, 300), ("y", 300, 600), ("z", 600, 900)):
            check(c, (f"TAMIS.CREATE {name} blocked ITEMS 1000 RATE 0.01", "OK"))
            c.do("TAMIS.MADD", name, *ITEMS[low:high])
        check(c, ("EXPIRE x 1000", 1), ("TAMIS.MERGE x y z", "OK"),
              (["TAMIS.MHAS", "x", *ITEMS[:900]], [1] * 900), ("TTL x", 1000),
              ("TAMIS.MERGE new y z", "OK"), (["TAMIS.MHAS", "new", *ITEMS[300:900]], [1] * 600))
        before = c.do("TAMIS.DUMP", "y")
        check(c, ("TAMIS.CREATE o blocked ITEMS 2000 RATE 0.01", "OK"), ("SET s 1", "OK"))
        for words in ("y z o", "y none", "y s", "y y", "s y"):
            assert isinstance(c.call("TAMIS.MERGE", *words.split()), Error), words
        check(c, ("TAMIS.MERGE y y", Error("ERR a structure cannot be merged into itself")),
              ("TAMIS.MERGE y s", Error(WRONGTYPE)))
        assert c.do("TAMIS.DUMP", "y") == before


def NO_KIND(word):
    return Error(
        f"ERR unknown kind '{word}'; the kinds are auto, bloom, partitioned, blocked, counting, "
        f"pair, growing, window, cuckoo, fuse, "
                 "ribbon, exact, count-min, count-sketch, tally, top, signed-tally, distinct")


def test_maps():
    """A map of the command is a value here. It answers as a filter, and TAMIS.VALUE returns its
    values, as 'tamis get' prints them."""
    with Server() as server, tempfile.TemporaryDirectory() as room:
        c = server.client()
        path = pathlib.Path(room, "map")
        made = shell("build", "--kind", "map", "--value-field", 2, "-o", path,
                     text="".join(f"{item}\t{i}\n" for i, item in enumerate(ITEMS)))
        assert made.returncode == 0, made.stderr
        check(c, (["TAMIS.LOAD", "m", path.read_bytes()], "OK"))
        assert c.do("TAMIS.MHAS", "m", *ITEMS) == [1] * 1000
        assert sum(c.do("TAMIS.MHAS", "m", *[f"other-{i}" for i in range(2000)])) < 100
        assert c.do("TAMIS.DUMP", "m") == path.read_bytes()
        asked = ITEMS + [f"other-{i}" for i in range(2000)]
        got = c.do("TAMIS.VALUE", "m", *asked)
        assert got[:1000] == list(range(1000))
        assert [n is not None for n in got] == [yes == 1 for yes in c.do("TAMIS.MHAS", "m", *asked)]
        printed = shell("get", path, text="".join(item + "\n" for item in asked)).stdout
        assert printed == "".join(f"{item}\t{n}\n" for item, n in zip(asked, got)
                                  if n is not None)
        three = server.client(resp=3)
        assert three.do("TAMIS.VALUE", "m", "item-7", *asked[1000:1500]) == [7, *got[1000:1500]]
        copy = c.do("DUMP", "m")
        c.do("DEL", "m")
        c.do("RESTORE", "m", 0, copy)
        check(c, ("TAMIS.VALUE m item-999", [999]), ("TAMIS.VALUE none a", NO_KEY))
        # Every other kind has none, and says so.
        for kind, more in (("ribbon", ["ITEMS", 9, "RATE", 0.1]), ("tally", ["BYTES", 4096])):
            c.do("TAMIS.CREATE", kind, kind, *more)
            assert c.call("TAMIS.VALUE", kind, "a").text.endswith(
                "have no values; use the kind map"), kind
        # All values of 32 bits; with rate 1, strangers get values as well.
        for rate, strangers in ((0.01, None), (1, 0)):
            text = "".join(f"{item}\t{2**32 - 1}\n" for item in ITEMS)
            shell("build", "-f", "--kind", "map", "--value-field", 2, "--fpr", rate, "-o", path,
                  text=text)
            check(c, (["TAMIS.LOAD", "m", path.read_bytes(), "REPLACE"], "OK"),
                  (["TAMIS.VALUE", "m", *ITEMS], [2**32 - 1] * 1000))
            assert (None in c.do("TAMIS.VALUE", "m", *asked)) == (strangers is None)
        # Keys that the map states to be of another form, and one that is not sealed.
        words = ("build", "-f", "--kind", "map", "--value-field", 2, "--encoding", "int64le")
        assert shell(*words, "-o", path, text="7\t70\n-8\t80\n").returncode == 0
        check(c, (["TAMIS.LOAD", "m", path.read_bytes(), "REPLACE"], "OK"),
              ("TAMIS.VALUE m 7 -8", [70, 80]))
        assert "integer" in c.call("TAMIS.VALUE", "m", "7", "x").text
        check(c, (["TAMIS.LOAD", "m", golden("map-collecting"), "REPLACE"], "OK"),
              ("TAMIS.VALUE m a", Error("ERR a map has no values before it is sealed")))
        assert isinstance(c.call("TAMIS.ADD", "m", "x"), Error)


def test_errors():
    with Server() as server:
        c = server.client()
        check(c, ("SET s 1", "OK"), ("TAMIS.CREATE k none", NO_KIND("none")),
              ("TAMIS.CREATE k KIND blocked", NO_KIND("KIND")),
              ("TAMIS.CREATE k map ITEMS 9", Error("ERR a map cannot be made here: load one that "
                                                   "'tamis build --kind map' made")),
              (["TAMIS.CREATE", "k", b"a\r\n\xff" + 24 * b"x"], NO_KIND("a???" + 20 * "x" + "...")),
              (["TAMIS.CREATE", "k", b""], NO_KIND("")),
              ("TAMIS.CREATE k blocked ITEMS", Error("ERR ITEMS requires a value")),
              ("TAMIS.CREATE k blocked ITEMS x", Error("ERR invalid value for ITEMS")),
              ("TAMIS.CREATE k blocked ITEMS -1", Error("ERR invalid value for ITEMS")),
              ("TAMIS.CREATE k window INNER none", Error("ERR invalid value for INNER")),
              ("TAMIS.CREATE k blocked FOO 1", Error("ERR unknown option 'FOO' of TAMIS.CREATE")),
              ("TAMIS.CREATE s blocked ITEMS 10 RATE 0.1", BUSY), ("TAMIS.ADD none a", NO_KEY),
              ("TAMIS.HAS none a", NO_KEY),
              ("TAMIS.MADD none a", NO_KEY), ("TAMIS.MHAS none a", NO_KEY),
              ("TAMIS.INFO none", NO_KEY), ("TAMIS.DUMP none", NO_KEY),
              ("TAMIS.ADD s a", Error(WRONGTYPE)), ("TAMIS.HAS s a", Error(WRONGTYPE)),
              ("TAMIS.COUNT s a", Error(WRONGTYPE)),
              ("TAMIS.CREATE b blocked ITEMS 100 RATE 0.01", "OK"),
              ("TAMIS.CREATE b blocked ITEMS 100 RATE 0.01", BUSY))
        for words in ("TAMIS.CREATE k blocked", "TAMIS.CREATE k blocked ITEMS 10 RATE 2",
                      "TAMIS.CREATE k blocked ITEMS 10 RATE 0.01 BYTES 1",
                      "TAMIS.REMOVE b a", "TAMIS.SEAL s", "TAMIS.ROTATE b", "TAMIS.EXCLUDE b a",
                      "TAMIS.COUNT b a",
                      "TAMIS.CREATE k blocked ITEMS 1000000000000000 RATE 0.01",
                      "TAMIS.LOAD k junk", "TAMIS.LOAD k junk FOO"):
            reply = c.call(*words.split())
            if isinstance(reply, list):
                reply = reply[0]
            assert isinstance(reply, Error) and len(reply.text) > 10, (words, reply)
        # A strict one is full: what was before that is in, and told so.
        check(c, ("TAMIS.CREATE f bloom ITEMS 3 RATE 0.0001 STRICT", "OK"))
        replies = c.call("TAMIS.MADD", "f", "a", "b", "c", "d", "e")
        assert replies[:3] == [1, 1, 1] and isinstance(replies[3], Error) and len(replies) == 4, \
            replies
        image = c.do("TAMIS.DUMP", "b")
        for i in range(0, len(image), 7):
            damaged = bytearray(image)
            damaged[i] ^= 0x10
            assert isinstance(c.call("TAMIS.LOAD", "damaged", bytes(damaged)), Error), i
        check(c, (["TAMIS.LOAD", "s", image], BUSY), (["TAMIS.LOAD", "s", image, "REPLACE"], "OK"),
              ("TAMIS.HAS s a", 0),
              ("RPUSH l x y", 2), ("TAMIS.LOAD l junk REPLACE", Error("ERR not a Tamis file")),
              ("LLEN l", 2),
              (["TAMIS.LOAD", "l", image, "REPLACE"], "OK"), ("TYPE l", "tamis-img"), ("DBSIZE", 4),
              ("CONFIG SET bf.tamis-max-bytes 100kb", "OK"),
              ("TAMIS.CREATE g growing ITEMS 100 RATE 0.01", "OK"))
        assert isinstance(c.call("TAMIS.CREATE", "k", "blocked", "BYTES", 200000, "RATE", 0.01),
                          Error)
        replies = c.call("TAMIS.MADD", "g", *[f"g{i}" for i in range(200000)])
        assert isinstance(replies[-1], Error) and c.do("MEMORY", "USAGE", "g") < 250000 \
            and c.do("TAMIS.HAS", "g", "g0") == 1
        # The limit is the one of the day, for what is there as well.
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", "1gb")
        assert not any(isinstance(r, Error)
                       for r in c.call("TAMIS.MADD", "g", *[f"g{i}" for i in range(200000)]))


if __name__ == "__main__":
    main([test_kinds, test_redisbloom_files, test_exact, test_counts, test_top, test_estimates,
          test_info, test_windows, test_epochs, test_merge, test_maps, test_errors])
