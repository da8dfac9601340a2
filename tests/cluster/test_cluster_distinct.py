"""Distinct sketches over a cluster: sums over shards, unions of sets, and what they refuse; and
TAMIS.CARD in a cluster."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_liars import Liar, one_shard  # noqa: E402
from cluster_servers import cluster, lines, tamis  # noqa: E402
from redis_client import TAMIS, Server, main  # noqa: E402

CLUSTER = None
INFORMATION = 8.4291  # of a register; see docs/ACCURACY.md
SIGMAS = 6.5  # exceeded in less than 1e-9 of all cases


def json_of(*words, given=None):
    return json.loads(tamis(*words[:1], "--json", *words[1:], given=given))


def shards_of(name):
    """The images of a set, by their keys."""
    keys = [key for found in CLUSTER.shards(name).values() for key in found]
    return {key: CLUSTER.do(key, "TAMIS.DUMP", key) for key in keys}


def test_new_sets():
    """The number is the sum over the shards, with the error that was asked for the whole set."""
    url = CLUSTER.url("new")
    given = lines(range(50000))
    said = json_of("distinct", "--error", "1%", "-o", url, given=given)
    assert abs(said["distinct"] - 50000) < SIGMAS * 0.01 * 50000, said
    assert said["lower"] <= said["distinct"] <= said["upper"] and not said["exact"], said
    assert said["lines"] == 50000 and 0.001 < said["error"] <= 0.0101, said
    images = shards_of("new")
    assert len(images) == 12 and sum(map(len, images.values())) == said["bytes"] < 20000, said
    cards = [CLUSTER.do(key, "TAMIS.CARD", key, "WITHINTERVAL") for key in images]
    assert said["distinct"] == sum(card[0] for card in cards)
    # The errors of the shards partly cancel: the interval is that of the sum, not the sum of those.
    assert 2 * (said["upper"] - said["lower"]) < sum(card[2] - card[1] for card in cards), said
    assert tamis("distinct", url) == f"{said['distinct']}\n"
    assert tamis("distinct", "--interval", url) \
        == f"{said['distinct']}\t{said['lower']}..{said['upper']}\n"
    assert tamis("distinct", "-q", url) == ""
    again = json_of("distinct", url)
    assert {**again, "lines": 50000} == said
    # What was there changes nothing, in any order and number; more lines count.
    tamis("add", "--wait", 1, url, given=lines(range(49999, -1, -1)) * 2)
    assert shards_of("new") == images
    tamis("add", url, given=lines(range(50000, 60000)))
    assert abs(int(tamis("distinct", url)) - 60000) < SIGMAS * 0.01 * 60000
    info = tamis("info", "--each", url)
    assert "distinct sketch, 12 shards, 3 masters" in info and "  distinct  " in info, info
    facts = json_of("info", url)
    assert facts["kind"] == "distinct" and facts["distinct"] == int(tamis("distinct", url)) \
        == sum(shard["distinct"] for shard in facts["each"]), facts


def test_sizes():
    """By default and by bytes; small sets are exact."""
    for i, (words, most) in enumerate((((), 130000), (("--bytes", 65536), 65536),
                                       (("--error", "30%"), 5000), (("--shards", 100), 200000),
                                       (("--error", "5%", "--shards", 1), 800))):
        url = CLUSTER.url(f"size{i}")
        given = lines(f"{i} {j}" for j in range(100000))
        said = json_of("distinct", *words, "-o", url, given=given)
        assert said["bytes"] <= most and within(said, 100000), (words, said)
        small = CLUSTER.url(f"small{i}")
        said = json_of("distinct", *words, "-o", small, given=lines([1, 2, 3, 2, 1] * 10))
        assert said["distinct"] == said["lower"] == said["upper"] == 3 and said["exact"] \
            and said["error"] == 0 and said["confidence"] == 1, said
        assert tamis("distinct", small) == "3\n"
    url = CLUSTER.url("empty")
    assert tamis("distinct", "-o", url) == "0\n" and tamis("distinct", url) == "0\n"
    tamis("build", "--kind", "distinct", "--error", "2%", "-o", CLUSTER.url("built"),
          given=lines(range(30000)))
    said = json_of("distinct", CLUSTER.url("built"))
    assert within(said, 30000) and said["error"] < 0.021, said


def within(said, truth):
    return abs(said["distinct"] - truth) < SIGMAS * said["error"] * truth


def test_interval():
    """How often the interval of a set misses, and how far its number is off: of 80 sets, more than
    11 miss at 99 % in less than one of 1e9 cases. The bound of the errors is as in
    test_redis_distinct.py."""
    runs, truth, missed, squares = 80, 3000, 0, 0.0
    for run in range(runs):
        said = json_of("distinct", "-f", "--error", "5%", "--shards", 6, "-o", CLUSTER.url("runs"),
                       given=lines(f"{run}:{i}" for i in range(truth)))
        missed += not said["lower"] <= truth <= said["upper"]
        squares += (said["distinct"] / truth - 1) ** 2
    bound = (1 - 2 / (9 * runs) + 6 * math.sqrt(2 / (9 * runs))) ** 3
    print(f"  missed {missed} of {runs}, error {100 * math.sqrt(squares / runs):.2f} %", flush=True)
    assert missed <= 11 and squares / runs < 0.05 ** 2 * bound, (missed, squares)


def test_union():
    """Sets with equal numbers of shards are counted together by the servers, whatever their
    sizes, and as they are merged."""
    sets = {"a": (("--error", "1%"), range(40000)), "b": (("--error", "3%"), range(30000, 70000)),
            "c": ((), range(500))}
    for name, (words, items) in sets.items():
        tamis("distinct", "-q", *words, "-o", CLUSTER.url(name), given=lines(items))
    urls = {name: CLUSTER.url(name) for name in sets}
    before = {name: shards_of(name) for name in sets}
    said = json_of("distinct", urls["a"], urls["b"], urls["c"])
    assert within(said, 70000) and said["error"] < 0.031 and said["bytes"] is None, said
    both = tamis("distinct", "--interval", urls["c"], urls["b"], urls["a"])
    assert both == f"{said['distinct']}\t{said['lower']}..{said['upper']}\n"
    assert tamis("distinct", urls["a"], urls["a"]) == tamis("distinct", urls["a"])
    assert {name: shards_of(name) for name in sets} == before
    tamis("merge", "-o", CLUSTER.url("sum"), *urls.values())
    assert tamis("distinct", "--interval", CLUSTER.url("sum")) == both
    tamis("merge", "-f", "-o", urls["a"], *urls.values())
    tamis("merge", "-f", "-o", urls["a"], urls["b"], urls["a"])  # again, for nothing
    assert list(shards_of("a").values()) == list(shards_of("sum").values())
    # Unequal shards, seeds, kinds and servers are refused, with reasons.
    tamis("distinct", "-q", "--shards", 5, "-o", CLUSTER.url("five"), given=lines("x"))
    tamis("distinct", "-q", "--seed", 7, "-o", CLUSTER.url("seed"), given=lines("x"))
    tamis("build", "--items", 10, "-o", CLUSTER.url("blocked"), given=lines("x"))
    for other, why in (("five", "different numbers of shards"), ("seed", "seed"),
                       ("blocked", "one is distinct, the other blocked"),
                       ("none", "there is no such set")):
        said = tamis("distinct", urls["b"], CLUSTER.url(other), status=2)
        assert why in said and said.count("\n") == 1, said
    with Server() as alone:
        said = tamis("distinct", urls["b"], f"redis://127.0.0.1:{alone.port}/x", status=2)
        assert "is at another address" in said, said
    with tempfile.TemporaryDirectory() as room:
        file = pathlib.Path(room, "lines")
        file.write_text("x\n")
        for words in ((urls["b"], file), (file, urls["b"])):
            assert "cannot be combined" in tamis("distinct", *words, status=2)


def test_windows():
    url = CLUSTER.url("window")
    tamis("distinct", "-q", "--generations", 3, "--error", "1%", "-o", url,
          given=lines(range(20000)))
    tamis("rotate", "--to", 10, url)
    for epoch, truth in ((11, 20000), (12, 20000), (13, 0)):
        assert within(json_of("distinct", url), 20000), epoch
        tamis("rotate", "--to", epoch, url)
        said = json_of("distinct", url)
        assert within(said, truth) or said["distinct"] == truth == 0, (epoch, said)
    tamis("add", url, given=lines(range(5000)))
    tamis("rotate", url)
    tamis("add", url, given=lines(range(4000, 9000)))
    assert within(json_of("distinct", url), 9000)


def test_refusals():
    """Options that are not for sets, kinds that do not show the number, and lost shards."""
    url = CLUSTER.url("refused")
    tamis("distinct", "-q", "-o", url, given=lines(range(1000)))
    assert "already exists" in tamis("distinct", "-o", url, given="x\n", status=2)
    for words, why in ((("--by", 1, url), "--by"), (("--error", "1%", url), "accepts only"),
                       (("--bytes", 5000, url), "accepts only"),
                       (("--seed", 5, url), "accepts only"), (("--field", 2, url), "accepts only"),
                       (("--shards", 2, url), "accepts only"),
                       (("-o", CLUSTER.url("x"), url), "'tamis merge'"),
                       (("--error", "40%", "-o", CLUSTER.url("x")), "30 %"),
                       (("--bytes", 1000, "-o", CLUSTER.url("x")), "bytes are too few"),
                       (("--bytes", 5, "-o", CLUSTER.url("x")), "cannot be divided"),
                       (("--key-file", "k", "-o", CLUSTER.url("x")), "secret keys")):
        said = tamis("distinct", *words, given="x\n", status=2)
        assert why in said, (words, said)
    assert not any(CLUSTER.shards("x").values())
    for command in (("check",), ("freq",), ("top",), ("remove",), ("rotate",)):
        said = tamis(*command, url, given="x\n", status=2)
        assert said.count("\n") == 1 and len(said) > 40, (command, said)
    # The bits of filters show the number as well, and the cells of others do not.
    tamis("build", "-o", CLUSTER.url("filter"), given=lines(range(20000)), status=2)  # uncounted
    tamis("build", "--items", 20000, "-o", CLUSTER.url("filter"), given=lines(range(20000)))
    said = json_of("distinct", CLUSTER.url("filter"))
    assert abs(said["distinct"] - 20000) < 800 and said["lower"] < said["upper"] \
        and said["error"] is None, said
    tamis("count", "-o", CLUSTER.url("tally"), given=lines(range(100)))
    assert "use the kind distinct" in tamis("distinct", CLUSTER.url("tally"), status=2)
    # A shard that is lost would count as empty.
    key = sorted(shards_of("refused"))[0]
    assert tamis("distinct", url) == "1000\n"
    CLUSTER.do(key, "DEL", key)
    said = tamis("distinct", url, status=2)
    assert f"{key.decode()}: the shard is missing" in said, said
    tamis("distinct", "-q", "-o", CLUSTER.url("whole"), given=lines(range(1000)))
    for words in ((CLUSTER.url("whole"), url), (url, CLUSTER.url("whole"))):
        assert "is missing, or one of those" in tamis("distinct", *words, status=2)


def test_keys():
    """Keys of TAMIS.CREATE, and TAMIS.CARD itself: all keys in one slot, the option is not one."""
    slot = CLUSTER.servers[0].client().do("CLUSTER", "KEYSLOT", "{t}")
    owner = CLUSTER.owner(slot).client()
    other = next(s.client() for s in CLUSTER.masters() if s.port != CLUSTER.owner(slot).port)
    for key, items in (("a{t}", range(100)), ("b{t}", range(50, 200))):
        owner.do("TAMIS.CREATE", key, "distinct", "ERROR", "0.01")
        owner.do("TAMIS.MADD", key, *items)
    assert owner.do("TAMIS.CARD", "a{t}", "b{t}") == 200
    assert owner.do("TAMIS.CARD", "a{t}", "b{t}", "none{t}", "WITHINTERVAL") == [200] * 3
    assert owner.do("TAMIS.CARD", "a{t}", "withinterval") == [100] * 3
    assert owner.call("TAMIS.CARD", "a{t}", "b{u}").text.startswith("CROSSSLOT")
    assert owner.call("TAMIS.CARD", "a{t}", "b{t}", "b{u}", "WITHINTERVAL").text.startswith(
        "CROSSSLOT")
    assert other.call("TAMIS.CARD", "a{t}", "b{t}", "WITHINTERVAL").text.startswith(f"MOVED {slot}")
    for key in ("plain", "plainer"):  # in two slots
        CLUSTER.do(key, "TAMIS.CREATE", key, "distinct", "ERROR", "0.01")
        tamis("add", CLUSTER.url(key), given=lines(range(100)))
        assert tamis("distinct", CLUSTER.url(key)) == "100\n"
    said = tamis("distinct", CLUSTER.url("plain"), CLUSTER.url("plainer"), status=2)
    assert "CROSSSLOT" in said, said


def test_liars():
    """Replies that cannot be true are errors; a server without the command is named."""
    facts = {"HMGET": one_shard(b"distinct"), "EXISTS": b":1\r\n",
             "TAMIS_INFO": b"*2\r\n$4\r\nkind\r\n$8\r\ndistinct\r\n"}
    most = (1 << 63) - 1

    def ask(reply, status=2, **more):
        liar = Liar(**{**facts, "TAMIS_CARD": reply, **more})
        try:
            return tamis("distinct", "--interval", "--timeout", "2s", liar.url, status=status)
        finally:
            liar.socket.close()
    assert ask(b"*3\r\n:7\r\n:5\r\n:9\r\n", status=0) == "7\t5..9\n"
    assert ask(b"*4\r\n:7\r\n:5\r\n:9\r\n$1\r\nx\r\n", status=0) == "7\t5..9\n"  # of the future
    assert ask(b"*3\r\n:7\r\n:7\r\n:%d\r\n" % most, status=0).startswith("7\t7..inf")
    for reply in (b"*2\r\n:7\r\n:5\r\n", b":7\r\n", b"$1\r\n7\r\n", b"*0\r\n", b"*-1\r\n",
                  b"*3\r\n:7\r\n:8\r\n:9\r\n", b"*3\r\n:7\r\n:5\r\n:6\r\n",
                  b"*3\r\n:1\r\n:-1\r\n:2\r\n",
                  b"*3\r\n:7\r\n$1\r\n5\r\n:9\r\n", b"*3\r\n:-7\r\n:-8\r\n:-6\r\n"):
        assert "the reply is invalid" in ask(reply), reply
    assert "too full" in ask(b"*3\r\n:%d\r\n:5\r\n:%d\r\n" % (most, most))
    assert "lacks the module" in ask(b"-ERR unknown command 'TAMIS.CARD'\r\n")
    assert "missing" in ask(b"*3\r\n:0\r\n:0\r\n:0\r\n", EXISTS=b":0\r\n")
    assert "invalid" in ask(b"*3\r\n:0\r\n:0\r\n:0\r\n", EXISTS=b"$1\r\n1\r\n")
    assert "WRONGTYPE" in ask(b"-WRONGTYPE Operation against a key\r\n")
    # Lines that are sent again after a failure do not count twice: no warning.
    liar = Liar(**{**facts, "TAMIS_MADD": [b"", b"*1\r\n:1\r\n"]})
    done = subprocess.run([TAMIS, "add", liar.url], input=b"x\n", capture_output=True)
    liar.socket.close()
    assert (done.returncode, done.stderr) == (0, b""), done


def run(tests):
    global CLUSTER
    with cluster() as CLUSTER:
        try:
            main(tests)
        except SystemExit as end:  # not a failure of the servers
            return end.code
    return 1


if __name__ == "__main__":
    if not shutil.which("redis-server"):
        print("redis-server is missing")
        sys.exit(77)
    sys.exit(run([test_new_sets, test_sizes, test_interval, test_union, test_windows, test_refusals,
                  test_keys, test_liars]))
