"""Sets at redis:// addresses: every command against exact sets and counts, on a cluster of three
masters with a replica each, on a server alone; slots that move while lines are added."""
import atexit
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_liars import Between, Liar  # noqa: E402
from cluster_servers import cluster, lines, move, tamis  # noqa: E402
from redis_client import TAMIS, Server, free_port, main, wait_for  # noqa: E402

random.seed(20)
KEYS = [f"key {i} {random.random()}" for i in range(20000)]
OTHERS = [f"other {i} {random.random()}" for i in range(20000)]
ROOM = pathlib.Path(tempfile.mkdtemp(prefix="tamis-cluster-"))
atexit.register(shutil.rmtree, ROOM, ignore_errors=True)
CLUSTER = None


def file(name, items):
    path = ROOM / name
    path.write_text(lines(items))
    return path


def facts(url):
    return json.loads(tamis("info", "--json", url))


def test_check():
    url = CLUSTER.url("set")
    mixed = [x for pair in zip(KEYS, OTHERS) for x in pair]
    got = tamis("check", url, given=lines(mixed)).splitlines()
    members, printed = set(KEYS), set(got)
    assert [x for x in got if x in members] == KEYS  # all of them, in the order of the input
    wrong = [x for x in got if x not in members]
    # 2 % of 20,000; 1 % is planned, and 60 more would be four deviations
    assert 0 < len(wrong) < 400
    absent = tamis("check", "-v", url, given=lines(mixed)).splitlines()
    assert absent == [x for x in mixed if x not in printed]
    assert tamis("check", "-c", url, given=lines(mixed)) == f"{len(got)}\n"
    assert json.loads(tamis("check", "--json", url, given=lines(mixed))) == {
        "filter": url, "lines": 40000, "maybe": len(got), "absent": 40000 - len(got)}
    assert tamis("check", "-q", url, given=lines(KEYS)) == "" \
        and tamis("check", "-q", url, given="nothing of it\n", status=1) == ""
    assert tamis("check", "-z", url, given=f"{KEYS[0]}\0no such\0{KEYS[1]}") \
        == f"{KEYS[0]}\0{KEYS[1]}\0"
    assert tamis("check", "--field", 2, url, given=f"1\t{KEYS[5]}\n2\tno such\n3\t{KEYS[6]}\n") \
        == f"1\t{KEYS[5]}\n3\t{KEYS[6]}\n"
    assert tamis("check", url, given="", status=1) == ""
    # What cannot be read is an error; the others are asked, as of a file. No guess has an address.
    tamis("build", "-o", ROOM / "local.tamis", file("keys", KEYS))
    for words in (("-c",), (), ("-q",)):
        for given in ((ROOM / "none", file("one", KEYS[:9])),
                      (file("one", KEYS[:9]), ROOM / "none")):
            there, here = (subprocess.run([TAMIS, "check", *words, of, *given], capture_output=True)
                           for of in (url, ROOM / "local.tamis"))
            assert (there.returncode, there.stdout) == (here.returncode, here.stdout), \
                (words, there, here)
            assert here.returncode == (0 if words == ("-q",) else 2) and (b"\n" in here.stdout) \
                == (words != ("-q",))
            assert words == ("-q",) or there.stderr == here.stderr.split(b"\n")[0] + b"\n"
    # Four shards for each master, and every item in one of them.
    assert [len(keys) for keys in CLUSTER.shards("set").values()] == [4, 4, 4]
    said = facts(url)
    assert said["shards"] == 12 == len(said["each"]) and said["masters"] == 3 and said["kind"] \
        == "blocked"
    assert abs(said["items"] - 20000) < 200 and said["overfull"] == 0
    assert said["items"] == sum(s["items"] for s in said["each"]) and said["bytes"] \
        == sum(s["bytes"] for s in said["each"])
    assert said["fpr_worst"] == max(s["fpr_now"]
                                    for s in said["each"]) <= said["fpr_planned"] <= 0.01
    assert all(key in tamis("info", "--each", url) for key in ("set:{", "12 shards, 3 masters"))


def test_bytes():
    """Items are bytes, and of any length."""
    url = CLUSTER.url("bytes")
    items = [b"", b"\r\n$3\r\n".replace(b"\n", b"\x01"), bytes(b for b in range(256) if b != 10),
             b"x" * 3_000_000, b"\0", b"*1"]
    tamis("build", "--items", 10, "-o", url, given=b"\n".join(items))
    done = subprocess.run([TAMIS, "check", url], input=b"\n".join(items + [b"y" * 3_000_000]),
                          capture_output=True, check=True)
    assert done.stdout == b"\n".join(items) + b"\n"


def test_headroom():
    """Lines that are counted leave as much room as asked for; in equal parts, rounded up."""
    url = CLUSTER.url("roomy")
    tamis("build", "--headroom", "50%", "-o", url, file("roomy", KEYS))
    assert 30000 <= facts(url)["planned_items"] < 32000, facts(url)


def test_add():
    url = CLUSTER.url("add%20it")  # a name with a blank
    tamis("build", "--items", 40000, "--fpr", "0.1%", "--shards", 5, "-o", url)
    assert facts(url)["items"] == 0 and facts(url)["shards"] == 5
    acknowledged = [int(x) for x in tamis("add", "--ack", "--wait", 1, url,
                                          given=lines(KEYS)).split()]
    assert acknowledged == sorted(acknowledged) and acknowledged[-1] == 20000
    tamis("add", url, file("others", OTHERS), "-", given="one more\n")
    assert tamis("check", "-vc", url, given=lines(KEYS + OTHERS + ["one more"]), status=1) == "0\n"
    assert CLUSTER.do("add it", "TYPE", "add it") == "hash"
    # What cannot be read is an error, and says what is in.
    said = tamis("add", url, ROOM / "none", status=2)
    assert "none: cannot read" in said and "the first 0 lines are added" in said


def test_kinds():
    """The same answers as a file of the kind gives: no member is missed; sealed ones refuse
    more."""
    keys, others, url = file("keys", KEYS[:3000]), file("others",
                                                        OTHERS[:3000]), CLUSTER.url("kind")
    for kind in ("bloom", "partitioned", "counting", "cuckoo", "pair", "growing", "window",
                 "ribbon", "fuse", "exact", "auto"):
        more = ("--never", others) if kind == "exact" else ()
        tamis("build", "-f", "--kind", kind, *more, "--shards", 3, "-o", url, keys)
        assert tamis("check", "-c", url, keys) == "3000\n", kind
        wrong = int(tamis("check", "-c", url, others, status=1 if kind == "exact" else 0))
        assert wrong == 0 if kind == "exact" else 0 < wrong < 90, (kind, wrong)
        said = facts(url)
        assert said["kind"] == (kind if kind != "auto" else said["kind"]) and said["sealed"] \
            == (kind in ("ribbon", "fuse", "exact"))
        if said["sealed"]:
            assert "kind:{" in tamis("add", url, others, status=2)
    assert tamis("build", "-f", "--kind", "exact", "--ack", "--never", others, "-o", url, keys) \
        == "3000\n"
    tamis("build", "-f", "--static", "--bytes", 10000, "-o", url, keys)
    assert facts(url)["kind"] == "ribbon" and facts(url)["bytes"] <= 10000
    assert len(CLUSTER.shards("kind")) == 3 and sum(map(len, CLUSTER.shards("kind").values())) == 12


def test_remove_and_rotate():
    url = CLUSTER.url("shrink")
    tamis("build", "--kind", "counting", "-o", url, file("keys", KEYS[:2000]))
    tamis("remove", url, given=lines(KEYS[:1000]))
    assert tamis("check", "-c", url, given=lines(KEYS[1000:2000])) == "1000\n"
    assert len(tamis("check", "-v", url, given=lines(KEYS[:1000])).split("\n")) > 940
    assert tamis("remove", url, given=lines(["never in"]), status=1) == ""
    # What cannot be is said once, in the words that are used of a file, and nothing was sent.
    for kind in ("blocked", "bloom", "growing", "window", "ribbon", "exact", "tally", "top",
                 "count-min", "signed-tally", "cuckoo", "pair"):
        sketch = kind in ("tally", "top", "count-min", "signed-tally")
        words = ["count", "--bytes", "400KB"] if sketch else ["build", "--items", 10]
        words += ["--kind", kind, *(["--conservative"] if kind == "count-min" else []),
                  *(["--never", file("n", ["x"])] if kind == "exact" else [])]
        url = CLUSTER.url(f"remove-{kind}")
        tamis(*words, "-o", url, given="a\n")
        tamis(*words, "-f", "-o", ROOM / "r.tamis", given="a\n")
        there, here = (subprocess.run([TAMIS, "remove", of], input=b"a\n", capture_output=True)
                       for of in (url, ROOM / "r.tamis"))
        can = kind in ("signed-tally", "cuckoo", "pair")
        assert there.returncode == here.returncode == (0 if can else 2), (kind, there, here)
        assert there.stderr.decode().replace(url, "") \
            == here.stderr.decode().replace(str(ROOM / "r.tamis"), ""), (kind, there, here)
        assert can or there.stderr.count(b"\n") == 1, (kind, there)
    client = CLUSTER.owner(CLUSTER.servers[0].client().do("CLUSTER", "KEYSLOT", "plain")).client()
    client.do("TAMIS.CREATE", "plain", "blocked", "ITEMS", 10, "RATE", 0.01)
    said = tamis("remove", CLUSTER.url("plain"), given="a\n", status=2)
    assert said.endswith(
        "/plain: keys cannot be removed from blocked filters; use the kind cuckoo: tamis "
        "build --kind cuckoo\n") and said.count("\n") == 1, said
    url = CLUSTER.url("window")
    tamis("build", "--kind", "window", "--generations", 3, "-o", url, file("keys", KEYS[:2000]))
    for words, found in (([], 2000), (["--to", 9], 2000), (["--to", 10], 2000),
                         (["--to", 10], 2000), (["--wait", 1], 0)):
        tamis("rotate", *words, url)
        assert tamis("check", "-c", url, given=lines(KEYS[:2000]), status=not found) == f"{found}\n"
    assert "epoch 9 is in the past" in tamis("rotate", "--to", 9, url, status=2)
    assert "use the kind window" in tamis("rotate", CLUSTER.url("set"), status=2)


def test_counts():
    """Never too few, and exact sums of weights."""
    url = CLUSTER.url("counts")
    words = [f"w{int(random.paretovariate(1))}" for _ in range(30000)]
    truth = collections.Counter(words)
    tamis("count", "--bytes", "600KB", "-o", url, given=lines(words))
    asked = sorted(truth) + ["never"]
    got = [json.loads(line) for line in tamis("freq", "--json", url,
                                              given=lines(asked)).splitlines()]
    assert [x["item"] for x in got] == asked
    assert all(x["lower"] <= truth[x["item"]] <= x["upper"] for x in got)
    assert sum(x["count"] == truth[x["item"]] for x in got) > 0.9 * len(got)
    said = facts(url)
    assert said["weight"] == 30000 and said["bytes"] <= 600000 and said["shards"] == 12
    tamis("add", "--weight-field", 2, "--field", 1, url, given="w1\t1000\nnew\t50\n")
    one, new, zero = tamis("freq", url, "w1", "new", "never").splitlines()
    assert one.split()[0] == str(truth["w1"] + 1000) and new.split() == ["50", "50..50", "new"] \
        and zero.split()[0] == "0"
    assert tamis("freq", url, "never", status=1).split()[0] == "0"
    assert facts(url)["weight"] == 31050
    assert "counts:{" in tamis("add", "--weight-field", 2, "--field", 1, url, given="w1\t-5\n",
                               status=2)
    # Output that cannot be written ends it, with windows of lines under way.
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TAMIS, "freq", url, "-", "a", "b", "c"],
                              input=lines(range(200000)).encode(), stdout=full,
                              stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 \
        and b"standard output: cannot write" in done.stderr, done
    # Weights may be negative, and of shards as of the whole.
    signed = CLUSTER.url("signed")
    tamis("count", "--kind", "count-sketch", "--bytes", "60KB", "--weight-field", 2, "--field", 1,
          "--shards", 2, "-o", signed,
          given=lines(f"{i}\t-1000" for i in range(40)))
    each = tamis("info", "--each", signed)
    weights = [int(line.split()[0].replace(",", ""))
               for line in each.splitlines() if line.endswith("}")]
    assert "weight    -40,000 in all" in each and sum(weights) == -40000 and len(weights) == 2 \
        and max(weights) < 0, each
    top = CLUSTER.url("top")
    tamis("count", "--kind", "top", "--bytes", "4MB", "-o", top, given=lines(words))
    got = [line.split() for line in tamis("top", "-n", 5, top).splitlines()]
    assert [(int(count), word) for count, _, word in got] \
        == [(n, w) for w, n in sorted(truth.items(), key=lambda x: (-x[1], x[0]))[:5]]
    assert json.loads(tamis("top", "-n", 1, "--json", top))["item"] == "w1"
    assert "keeps no list" in tamis("top", url, status=2)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def test_worth_of_counts():
    """The worth of a count is reported for a set as for a file of the same image."""
    words = [f"w{int(random.paretovariate(0.5)) % 30000}" for _ in range(60000)]
    asked = lines([f"never {i}" for i in range(200)] + sorted(set(words))[:300])
    for kind in ("top", "tally", "count-sketch", "signed-tally"):
        url, file_of_it = CLUSTER.url(f"worth {kind}".replace(" ", "%20")), ROOM / "worth.tamis"
        tamis("count", "--kind", kind, "--bytes", "24KB", "--shards", 1, "-o", url,
              given=lines(words))
        shard, = (key for keys in CLUSTER.shards(f"worth {kind}").values() for key in keys)
        file_of_it.write_bytes(CLUSTER.do(shard, "TAMIS.DUMP", shard))
        there, here = (tamis("freq", "--json", of, given=asked) for of in (url, file_of_it))
        assert there == here, kind
        # 1 in 1000 is not: less than 1e-15 for 12
        assert sum(x["below_noise"] for x in objects(there)[:200]) > 188, kind
        there, here = (tamis("freq", of, given=asked) for of in (url, file_of_it))
        assert there == here and there.count("~") > 50, (kind, there[:500])
        there, here = ([tamis("top", *form, "-n", 300, of, status=0 if kind == "top" else 2)
                        for form in (("--json",), (), ("-z",))]
                       for of in (url, file_of_it))
        if kind == "top":
            assert there == here and len(objects(there[0])) > 50 \
                and all("suspect" in x and "confidence" in x for x in objects(there[0]))
        # With several shards each count is judged by its own shard.
        tamis("count", "-f", "--kind", kind, "--bytes", "96KB", "--shards", 4, "-o", url,
              given=lines(words))
        got = objects(tamis("freq", "--json", url, given=asked))
        assert sum(x["below_noise"] for x in got[:200]) > 188 \
            and all(0.9 < x["confidence"] <= 1 for x in got), kind
        assert all((x["suspect"] is None) == (kind != "top") for x in got) \
            and all(("certain" in x) == (kind in ("top", "tally")) for x in got)
    # A line of the list that is cut, as of a file.
    url = CLUSTER.url("cut")
    tamis("count", "--kind", "top", "--bytes", "24KB", "--shards", 1, "-o", url,
          given=lines(["x" * 9000] * 3 + ["b"]))
    shard, = (key for keys in CLUSTER.shards("cut").values() for key in keys)
    file_of_it.write_bytes(CLUSTER.do(shard, "TAMIS.DUMP", shard))
    assert tamis("top", url) == tamis("top", file_of_it) and "xxx..." in tamis("top", url)
    assert objects(tamis("top", "--json", url)) == objects(tamis("top", "--json", file_of_it)) \
        and objects(tamis("top", "--json", url))[0]["length"] == 9000


def test_bounds():
    """The bound, its ratio and the interval of items are those of a file with the same image for
    one shard, and are combined for several."""
    file_of_it = ROOM / "bounds.tamis"
    same = ("items", "planned_items", "items_by_bits", "items_low", "items_high", "bytes",
            "bits_per_item", "bound_bits", "bound_ratio", "bound",
            "fpr_planned", "fpr_now", "miss_rate", "fill", "m", "k", "seed", "sealed")
    for kind in ("bloom", "blocked", "counting", "cuckoo", "growing", "ribbon", "exact", "pair",
                 "window", "tally"):
        url = CLUSTER.url("bounds")
        for given in ("", lines(KEYS[:3000])) if kind not in ("ribbon",
                                                              "exact") else (lines(KEYS[:3000]),):
            words = ("count", "-f", "--bytes",
                     "20KB") if kind == "tally" else ("build", "-f", "--kind", kind, "--items",
                                                      3000)
            more = ("--never", file("never", OTHERS[:3000])) if kind == "exact" else ()
            tamis(*words, *more, "--shards", 1, "-o", url, given=given)
            shard, = (key for keys in CLUSTER.shards("bounds").values() for key in keys)
            file_of_it.write_bytes(CLUSTER.do(shard, "TAMIS.DUMP", shard))
            there, here = facts(url), facts(file_of_it)
            for name in same if kind != "tally" else ("bytes", "weight", "noise_999", "fill", "m",
                                                      "k", "seed", "sealed"):
                close = there[name] == here[name] or abs(there[name] - here[name]) < 1e-9 * abs(
                    here[name])
                assert close, (kind, name, there[name], here[name])
            texts = [[line for line in tamis("info", of).splitlines() if "99 % certainty" in line
                      or "lower bound" in line] for of in (url, file_of_it)]
            assert texts[0] == texts[1] and len(texts[0]) >= (kind not in ("growing", "tally")), \
                (kind, texts)
            assert kind != "growing" or (there["bound_bits"] is there["bound"] is None)
    said = facts(CLUSTER.url("set"))
    each = [dict(zip(*[iter(CLUSTER.do(s["key"], "TAMIS.INFO", s["key"], "FULL"))] * 2))
            for s in said["each"]]
    for name in ("items-low", "items-high"):
        assert abs(said[name.replace("-", "_")] - sum(float(x[name]) for x in each)) < 1e-3, name
    bound = sum(float(x["bound-bits"]) * x["items"] for x in each) / sum(x["items"] for x in each)
    assert abs(said["bound_bits"] - bound) < 1e-6 \
        and abs(said["bits_per_item"] - 8 * said["bytes"] / said["items"]) < 1e-6
    assert abs(said["bound_ratio"] - said["bits_per_item"] / bound) < 1e-6 \
        and 1 < said["bound_ratio"] < 2
    # The bounds of twelve intervals of 99 %, which err independently: far beyond six deviations.
    assert said["items_low"] < 20000 < said["items_high"] < 21500 and said["items_low"] > 18500
    text = tamis("info", CLUSTER.url("set"))
    times = f"{said['bound_ratio']:.2f} times the lower bound of {said['bound_bits']:.2f}"
    assert "with 99 % certainty" in text and times in text, text
    # What servers make up does no harm.
    wild = b"*%d\r\n" % 12 + b"".join(b"$%d\r\n%s\r\n" % (len(x), x) for x in
                                      b"kind blocked items-estimate 1e300 items-low -1e300 "
                                      b"items-high 1e300 bound-bits nan bound-ratio x".split())
    liar = Liar(TAMIS_INFO=wild)
    assert "with 99 % certainty 0 to 18,446,744,073,709,551,615" in tamis("info", liar.url)
    liar.socket.close()


def test_merge():
    a, b, all_of = CLUSTER.url("a"), CLUSTER.url("b"), CLUSTER.url("all")
    for url, keys in ((a, KEYS[:5000]), (b, OTHERS[:5000])):
        tamis("build", "--items", 10000, "-o", url, given=lines(keys))
    tamis("merge", "-o", all_of, a, b)
    assert tamis("check", "-c", all_of, given=lines(KEYS[:5000] + OTHERS[:5000])) == "10000\n"
    assert abs(facts(all_of)["items_by_bits"] - 10000) < 300
    assert "already exists" in tamis("merge", "-o", all_of, a, b, status=2)
    tamis("merge", "-f", "-o", a, a, b, a)
    assert tamis("check", "-c", a, given=lines(OTHERS[:5000])) == "5000\n"
    tamis("build", "--items", 90000, "-o", CLUSTER.url("bigger"))
    tamis("build", "--items", 10000, "--shards", 4, "-o", CLUSTER.url("fewer"))
    tamis("build", "--kind", "ribbon", "-o", CLUSTER.url("static"), file("keys", KEYS))
    for name, why in (("bigger", "different sizes"), ("fewer", "different numbers of shards"),
                      ("static", "different kinds")):
        assert why in tamis("merge", "-o", CLUSTER.url("not"), b, CLUSTER.url(name), status=2), name
    assert "nothing was kept" in tamis("merge", "-o", CLUSTER.url("not"), CLUSTER.url("static"),
                                      CLUSTER.url("static"), status=2)
    assert "there is no such set" in tamis("info", CLUSTER.url("not"), status=2) \
        and not any(CLUSTER.shards("not").values())
    assert "is a file" in tamis("merge", "-o", all_of, b, "b.tamis", status=2)
    counts = CLUSTER.url("sum")
    for name in ("c1", "c2"):
        tamis("count", "-o", CLUSTER.url(name), given="x\nx\ny\n")
    tamis("merge", "-o", counts, CLUSTER.url("c1"), CLUSTER.url("c2"))
    assert tamis("freq", counts, "x").split()[0] == "4" and facts(counts)["weight"] == 6


def noted(*words, given):
    """What a command that does its work notes on standard error."""
    done = subprocess.run([TAMIS, *map(str, words)], input=given.encode(), capture_output=True,
                          text=False)
    assert done.returncode == 0, done
    return done.stderr.decode()


def test_overfull():
    """As of files: a warning up to twice the planned rate, an error above; new sets are not kept
    then, others have changed."""
    url, more, made = CLUSTER.url("full"), CLUSTER.url("fuller"), CLUSTER.url("made")
    for name, keys in ((url, KEYS[:1000]), (more, OTHERS[:1000])):
        assert noted("build", "--items", 1000, "--shards", 1, "-o", name, given=lines(keys)) == ""
    assert "overfull: about 1,0" in noted("add", "-q", url, given=lines(OTHERS[:80]))
    said = tamis("merge", "-q", "-o", made, url, more, status=2)
    assert "not written: it would hold about 1,9" in said and "--items" in said \
        and "--overfill" in said and "nothing was kept" in said, said
    assert "there is no such set" in tamis("info", made, status=2)
    assert "overfull: about 1,9" in noted("merge", "--overfill", "-o", made, url, more, given="")
    said = tamis("add", "-q", url, given=lines(OTHERS[:3000]), status=2)
    assert "the set was changed nevertheless: it now holds about" in said \
        and "--kind growing" in said, said
    assert tamis("check", "-c", url, given=lines(OTHERS[:3000])) == "3000\n"
    assert "overfull: about" in noted("add", "--overfill", url, given="x\n")
    assert "changed nevertheless" in tamis("merge", "-f", "-o", more, more, url, status=2)
    said = tamis("build", "-q", "--items", 100, "-o", CLUSTER.url("tight"), given=lines(KEYS),
                 status=2)
    assert "not written: it would hold" in said and "nothing was kept" in said, said
    assert not any(CLUSTER.shards("tight").values())
    assert "overfull" in noted("build", "--overfill", "--items", 100, "-o", CLUSTER.url("tight"),
                               given=lines(KEYS))
    for kind in ("growing", "ribbon"):
        assert noted("build", "--kind", kind, "--items", 100, "-f", "-o", CLUSTER.url("tight"),
                     given=lines(KEYS)) == ""
    assert noted("add", CLUSTER.url("c1"), given=lines(KEYS)) == ""  # a sketch


def begin_build(name, keys, *words):
    """One that has added these, and waits for more."""
    build = subprocess.Popen([TAMIS, "build", "--items", "50000", "--ack", *words, "-o",
                              CLUSTER.url(name)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    build.stdin.write(lines(keys).encode())
    build.stdin.flush()
    while int(build.stdout.readline()) < len(keys):
        pass
    return build


def test_races():
    """Another build takes the key at the very moment when a first one would write to it: the first
    one is too late, and harms nothing."""
    for kind, word, asked in (("blocked", b"ready", 1), ("blocked", b"building", 0),
                              ("ribbon", b"ready", 1), ("tally", b"ready", 1)):
        with Server() as server:
            client = server.client()

            def push(data, word=word, client=client):
                if b"\r\n" + word + b"\r\n" in data \
                        and client.do("HGET", "s", "builder") != b"another":
                    client.do("HSET", "s", "builder", "another")
            between = Between(server, push)
            words = ("count",) if kind == "tally" else ("build", "--items", 10, "--kind", kind)
            said = tamis(*words, "-o", between.url, given="a\nb\n", status=2)
            between.socket.close()
            assert ("another build has replaced it" if asked else "is not finished") in said, \
                (kind, word, said)
            assert client.do("HMGET", "s", "builder", "state") \
                == [b"another", b"building" if asked else None], (kind, word)
            # The other's shards, which have the same keys, stay.
            assert client.do("EXISTS", "s:{0}") == asked, (kind, word)
    # So with -f: what was seen to be there is taken away, not what came since.
    with Server() as server:
        client, url = server.client(), f"redis://127.0.0.1:{server.port}/s"
        tamis("build", "--items", 10, "-o", url, given="a\n")
        between = Between(server, lambda data: b"ARGV[2] then return 0" in data
                          and client.do("HSET", "s", "builder", "another"))
        said = tamis("build", "-f", "--items", 10, "-o", between.url, given="b\n", status=2)
        between.socket.close()
        assert "another build has replaced it" in said and client.do("HGET", "s", "state") \
            == b"ready", said
        assert tamis("check", url, given="a\nb\n") == "a\n"
        # If two builds saw the same builder, one takes its place. The script of the other comes too
        # late, and its shards stay.
        seen = client.do("HGET", "s", "builder")

        def ahead(data):
            if b"ARGV[2] then return 0" in data and client.do("HGET", "s", "builder") == seen:
                tamis("build", "-f", "--items", 10, "-o", url, given="quick\n")
        between = Between(server, ahead)
        said = tamis("build", "-f", "--items", 10, "-o", between.url, given="slow\n", status=2)
        between.socket.close()
        assert "another build has replaced it" in said, said
        assert tamis("check", url, given="quick\nslow\n") == "quick\n"
        tamis("build", "-f", "--items", 10, "-o", url, given="a\n")
        # A user who may not run scripts gets an error, and leaves nothing.
        client.do("ACL", "SETUSER", "weak", "on", ">word", "~*", "+@all", "-eval")
        weak = url.replace("//", "//weak:word@").replace("/s", "/new")
        said = tamis("build", "--items", 10, "-o", weak, given="b\n", status=2)
        assert "new: NOPERM" in said and "'eval'" in said \
            and client.do("EXISTS", "new", "new:{0}") == 0, said
        assert "NOPERM" in tamis("build", "-f", "--items", 10, "-o",
                                 url.replace("//", "//weak:word@"), given="b\n", status=2)
        assert tamis("check", url.replace("//", "//weak:word@"), given="a\nb\n") == "a\n"
        # Who may not ask for the facts of a new set gets a note, and the set.
        for name in ("first", "second"):
            tamis("build", "--items", 10, "-o", url.replace("/s", "/" + name), given=name + "\n")
            tamis("count", "-o", url.replace("/s", "/n" + name), given=name + "\n")
        client.do("ACL", "SETUSER", "blind", "on", ">word", "~*", "+@all", "-tamis.info",
                  "(+tamis.info ~*first* ~*second*)")
        blind = url.replace("//", "//blind:word@").replace("/s", "/")
        for words, given in ((("build", "--items", 10), lines(range(100))),
                             (("merge", blind + "first", blind + "second"), ""),
                             (("merge", "--overfill", blind + "first", blind + "second"), "")):
            assert "cannot determine whether it is overfull: " in noted(
                words[0], "-f", "-o", blind + "new", *words[1:], given=given), words
            assert client.do("HGET", "new", "state") == b"ready", words
        assert noted("merge", "-o", blind + "counts", blind + "nfirst", blind + "nsecond",
                     given="") == "", "a sketch is never overfull"


def test_whole_or_nothing():
    """An unfinished set does not exist for readers. What a build left behind is removed, by
    itself or by the next one with -f."""
    url = CLUSTER.url("half")
    build = begin_build("half", KEYS)
    for words in (("check", url), ("add", url), ("info", url)):
        assert "is not finished" in tamis(*words, status=2)
    assert "is not finished" in tamis("build", "--items", 10, "-o", url, status=2)
    build.kill()
    build.communicate()
    assert "is not finished" in tamis("build", "--items", 10, "-o", url, status=2)
    tamis("build", "-f", "--items", 10, "--shards", 2, "-o", url, given="a\n")
    assert tamis("check", url, given=f"a\n{KEYS[0]}\n") == "a\n" \
        and sum(map(len, CLUSTER.shards("half").values())) == 2
    assert "already exists" in tamis("build", "--items", 10, "-o", url, status=2)
    # One that another has pushed aside harms it no more, whatever the other is.
    build = begin_build("by hand", KEYS[:9])
    CLUSTER.do("by hand", "HSET", "by hand", "builder", "somebody else")
    said = build.communicate()[1]
    assert build.returncode == 2 and b"another build has replaced it" in said \
        and b"nothing was kept" in said, said
    assert CLUSTER.do("by hand", "HMGET", "by hand", "builder", "state") \
        == [b"somebody else", b"building"]
    assert sum(map(len, CLUSTER.shards("by hand").values())) == 12
    build = begin_build("pushed", KEYS)
    tamis("build", "-f", "--items", 10, "-o", CLUSTER.url("pushed"), given="a\nb\n")
    said = build.communicate()[1]
    assert build.returncode == 2 and b"another build has replaced it" in said, said
    assert tamis("check", "-c", CLUSTER.url("pushed"), given="a\nb\n") == "2\n"
    # Nor does it seal what the other still adds to; and what it writes to the facts is put right in
    # the end.
    first, second = (begin_build("sealed", KEYS[:9], "-f", "--kind", "ribbon") for _ in range(2))
    said = first.communicate()[1]
    assert first.returncode == 2 and b"another build has replaced it" in said \
        and b"lines are added" not in said, said
    CLUSTER.do("sealed", "HSET", "sealed", "shards", 3, "route", 5, "kind", "bloom")
    said = second.communicate(lines(OTHERS[:9]).encode())[1]
    assert (second.returncode, said) == (0, b""), said
    assert tamis("check", "-c", CLUSTER.url("sealed"), given=lines(KEYS[:9] + OTHERS[:9])) == "18\n"
    assert CLUSTER.do("sealed", "HMGET", "sealed", "shards", "kind") == [b"12", b"ribbon"]
    # A strict one that gets too many keeps nothing.
    url = CLUSTER.url("strict")
    said = tamis("build", "--strict", "--items", 100, "-o", url, given=lines(KEYS), status=2)
    assert "strict:{" in said and "nothing was kept" in said and "lines are added" not in said
    assert not any(CLUSTER.shards("strict").values()) \
        and CLUSTER.do("strict", "EXISTS", "strict") == 0
    # Keys of somebody else are not taken.
    tag = sorted(key for keys in CLUSTER.shards("set").values()
                 for key in keys)[0].decode().partition("{")[2]
    CLUSTER.do("mine:{" + tag, "SET", "mine:{" + tag, "precious")
    assert "does not belong to a set" in tamis("build", "--items", 10, "-o", CLUSTER.url("mine"),
                                               status=2)
    assert CLUSTER.do("mine:{" + tag, "GET", "mine:{" + tag) == b"precious" \
        and CLUSTER.do("mine", "EXISTS", "mine") == 0


def test_wrong():
    url = CLUSTER.url("set")
    CLUSTER.do("text", "SET", "text", "x")
    CLUSTER.do("hash", "HSET", "hash", "a", "b")
    CLUSTER.do("newer", "HSET", "newer", "tamis", 2, "builder", "x", "state", "ready")
    for words, why in (
            (("check", CLUSTER.url("nothing")), "there is no such set"),
            (("check", CLUSTER.url("text")), "not a set of Tamis"),
            (("add", CLUSTER.url("hash")), "not a set of Tamis"),
            (("info", CLUSTER.url("newer")), "a newer version"),
            (("build", "--items", 1, "-o", CLUSTER.url("text")), "not a set of Tamis"),
            (("build", "-f", "--items", 1, "-o", CLUSTER.url("hash")), "not a set of Tamis"),
            (("check", CLUSTER.url()), "lacks the name of a set"),
            (("check", CLUSTER.url("a{b}")), "not contain braces"),
            (("check", CLUSTER.url("a%2")), "not an escape"),
            (("check", "redis://127.0.0.1:99999/a"), "port"),
            (("check", "redis:///a"), "no host"),
            (("check", f"redis://127.0.0.1:{free_port()}/a"), "Connection refused"),
            (("check", f"rediss://127.0.0.1:{free_port()}/a"), "Connection refused"),
            (("build", "-o", CLUSTER.url("x")), "give --items"),
            (("build", "--items", 5, "--m", 512, "-o", CLUSTER.url("x")), "--m"),
            (("build", "--items", 5, "--shards", 16385, "-o", CLUSTER.url("x")), "at most 16384"),
            (("build", "--items", 5, "--bytes", 5, "--shards", 6, "-o", CLUSTER.url("x")),
             "cannot be divided among 6 shards"),
            (("count", "--bytes", 5, "--shards", 6, "-o", CLUSTER.url("x")),
             "cannot be divided among 6 shards"),
            (("check", "redis://:hid/den@h/name"),
             "tamis: redis://h/name: write a / or ? in a user or a password as %2F"),
            (("check", "redis://user:123/den@h/name"),
             "tamis: redis://h/name: write a / or ? in a user or a password as %2F"),
            (("build", "--items", 5, "--fpr", 1e-17, "--kind", "ribbon", "-o", CLUSTER.url("x")),
             "at most 32 columns"),
            (("check", "--confirm", "list", url), "--confirm"),
            (("check", "--fpr", 0.1, url), "--fpr"),
            (("freq", url, "a"), "do not count"),
            (("verify", url), "works on files"), (("compact", url), "works on files"),
                       (("pack", "-o", "x", url), "works on files"),
            (("convert", "--to", "bloom", "-o", "x", url), "works on files"),
                       (("uniq", "--state", url), "works on files"),
            (("top", "-o", CLUSTER.url("x"), "/dev/null"), "only -n and --json"),
            (("top", "-n", 1000001, url), "at most 1000000"),
            (("build", "--shards", 3, "-o", ROOM / "x.tamis"),
             "--shards requires a set at a redis://"),
            (("add", "--wait", 1, ROOM / "x.tamis"), "--wait requires a set at a redis://"),
            (("add", "--ack", ROOM / "x.tamis"), "--ack requires"),
            (("check", "--timeout", 5, ROOM / "x.tamis"), "--timeout requires")):
        said = tamis(*words, given="", status=2)
        assert why in said and said.count("\n") <= 2, (words, said)
    # Waiting for replicas that are not there ends, and the command says how many lines were added.
    said = tamis("add", "--wait", 2, "--timeout", 1, url, given="a\n", status=2)
    assert "only 1 of 2 replicas" in said and "the first 0 lines are added" in said


def test_example():
    """That of 'tamis help redis'."""
    example = tamis("help", "redis").splitlines()[-1].split()
    assert example[0] == "tamis" and "redis://localhost:7001/bad" in example, example
    at = [word.replace("localhost:7001", f"localhost:{CLUSTER.servers[0].port}")
          for word in example[1:]]
    tamis(*[str(file("bad-urls.txt", KEYS)) if word == "bad-urls.txt" else word for word in at])
    assert tamis("check", "-c", CLUSTER.url("bad"), given=lines(KEYS)) == "20000\n"


def test_alone():
    """A server without a cluster, with a password; a key of TAMIS.CREATE is a set as well."""
    with Server() as server:
        server.client().do("CONFIG", "SET", "requirepass", "se@cret")
        url = f"redis://127.0.0.1:{server.port}/s"
        for words, env in ((url, ()), (url.replace("//", "//:wrong@"), ()),
                           (url, {"REDISCLI_AUTH": "wrong"})):
            said = tamis("build", "--items", 10, "-o", words, status=2, env=env)
            assert ("NOAUTH" in said or "WRONGPASS" in said) and "wrong" not in said, said
        tamis("build", "--items", 20000, "-o", url.replace("//", "//default:se%40cret@"),
              given=lines(KEYS))
        secret = {"REDISCLI_AUTH": "se@cret"}
        assert tamis("check", "-c", url, given=lines(KEYS), env=secret) == "20000\n"
        said = tamis("info", url.replace("//", "//:se@cret@"))  # the last @ counts
        assert "1 shard, 1 master" in said and "cret" not in said
        client = server.client()
        client.do("AUTH", "se@cret")
        assert client.do("KEYS", "*") and {client.do("TYPE", k) for k in client.do("KEYS", "*")} \
            == {"hash", "tamis-img"}
        client.do("TAMIS.CREATE", "plain", "blocked", "ITEMS", 1000, "RATE", 0.01)
        plain = url[:-1] + "plain"
        tamis("add", plain, given="a\nb\n", env=secret)
        assert tamis("check", plain, given="a\nc\nb\n", env=secret) == "a\nb\n" \
            and client.do("TAMIS.HAS", "plain", "b") == 1


def test_idle():
    """A connection that a server closes while it is not used is opened again, before anything is in
    doubt."""
    with Server() as server:
        url = f"redis://127.0.0.1:{server.port}/s"
        tamis("build", "--kind", "counting", "--items", 10, "-o", url, given="a\nb\n")
        remove = subprocess.Popen([TAMIS, "remove", url], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        client = server.client()
        for last, item in ((b"cmd=hmget ", b"a\n"), (b"cmd=tamis.remove ", b"b\n")):
            wait_for(lambda done=last: done in client.do("CLIENT", "LIST").lower(),
                     "it does not wait")
            client.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            remove.stdin.write(item)
            remove.stdin.flush()
        said = remove.communicate()[1]
        assert (remove.returncode, said) == (0, b""), said


def test_without_module():
    with Server(module=False) as server:
        said = tamis("build", "--items", 10, "-o", f"redis://127.0.0.1:{server.port}/s",
                     given="a\n", status=2)
        assert "lacks the module" in said and server.client().do("KEYS", "*") == []


def test_moving_slots():
    """Shards move while lines are added and asked: the commands are sent after them."""
    url = CLUSTER.url("moving")
    tamis("build", "--items", 40000, "--shards", 3, "-o", url)
    moved, asked = CLUSTER.errors("MOVED"), CLUSTER.errors("ASK")
    add = subprocess.Popen([TAMIS, "add", "--ack", url], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    done = 0

    def some(n):
        nonlocal done
        add.stdin.write(lines(KEYS[done:done + n]).encode())
        add.stdin.flush()
        done += n
        while int(add.stdout.readline()) < done:
            pass
    some(2000)
    for keys in CLUSTER.shards("moving").values():
        for key in keys:
            slot = CLUSTER.servers[0].client().do("CLUSTER", "KEYSLOT", key)
            source = CLUSTER.owner(slot)
            target = next(s for s in CLUSTER.masters() if s is not source)
            for _ in move(slot, source, target):
                some(1000)  # by ASK
            wait_for(lambda s=slot, t=target: CLUSTER.owner(s) is t, "the slot does not arrive")
            some(1000)  # by MOVED
    add.stdin.close()
    assert add.wait() == 0 and done == 8000
    assert CLUSTER.errors("ASK") > asked and CLUSTER.errors("MOVED") > moved
    assert tamis("check", "-c", url, given=lines(KEYS[:done])) == f"{done}\n"
    assert facts(url)["items"] <= done


def run(tests):
    global CLUSTER
    with cluster() as CLUSTER:
        try:
            tamis("build", "-o", CLUSTER.url("set"), file("keys", KEYS))
            main(tests)
        except SystemExit as end:  # not a failure of the servers
            return end.code
    return 1


if __name__ == "__main__":
    if not shutil.which("redis-server"):
        print("redis-server is missing")
        sys.exit(77)
    sys.exit(run([test_check, test_bytes, test_add, test_kinds, test_remove_and_rotate, test_counts,
                  test_worth_of_counts, test_bounds, test_merge, test_overfull,
                  test_whole_or_nothing, test_races, test_wrong, test_example, test_idle,
                  test_alone, test_without_module, test_moving_slots]))
