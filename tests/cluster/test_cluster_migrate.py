"""tamis migrate between real servers and clusters: every value arrives with its bytes, its answers
and its time to live; the source stays as it was; a second run finds everything equal."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_liars import Meddler  # noqa: E402
from cluster_servers import cluster, tamis  # noqa: E402
from redis_client import (MODULE, PATIENCE, SOURCE, TAMIS, Error, Server, main, plain,  # noqa: E402
                          same_text, vectors)
from redis_values import KINDS, fill, state, synced  # noqa: E402
from secure_servers import Certificates, SecureServer  # noqa: E402
from terminal import Terminal  # noqa: E402

BINARY = b"x:\x00\xff\n\\ \xc3\xa4{}"
OTHERS = {"string": 2, "hash": 1, "stream": 1}


def url(server):
    return f"redis://127.0.0.1:{server.port}"


def migrate(source, target, *words, status=0):
    """The summary as an object, and what went to standard error."""
    done = subprocess.run([TAMIS, "migrate", "--json", "--timeout", "20", *map(str, words), source,
                           target], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout), done.stderr


def restore_vectors(do):
    """The objects of RedisBloom, as it dumps them."""
    for made in vectors():
        do(made.name, "RESTORE", made.name, 0, made.dump)


def check_vectors(do):
    """They answer what RedisBloom answered."""
    for made in vectors():
        for words, reply in made.asks:
            assert same_text(plain(do(made.name, *words)), reply), words


def at(client):
    return lambda key, *words: client.do(*words)


def values(client):
    """The fields of every value: without the version and the checksum, which belong to the server,
    and not compressed, because that depends on what was compressed before."""
    _, before = client.do("CONFIG", "GET", "rdbcompression")
    client.do("CONFIG", "SET", "rdbcompression", "no")
    dumps = {key: dump[:-10] for key, dump in state(client).items()}
    client.do("CONFIG", "SET", "rdbcompression", before)
    return dumps


def prepared(client):
    """Values of all types, with and without a time to live."""
    restore_vectors(at(client))
    fill(client, ":f")
    client.do("BF.ADD", BINARY, "member")
    client.do("BF.RESERVE", "empty", 0.01, 1000)
    client.do("CF.RESERVE", "cfempty", 1000)
    client.do("CMS.INITBYDIM", "cmsempty", 20, 3)
    client.do("TOPK.RESERVE", "topempty", 3)
    client.do("TAMIS.CREATE", "tamisempty", "bloom", "ITEMS", 100, "RATE", 0.01)
    client.do("BF.ADD", "", "the empty name")
    for key in ("bf:f", BINARY, "tally:f", "cf_default"):
        client.do("PEXPIREAT", key, 4102444800123)


def expiries(client):
    return {key: client.do("PEXPIRETIME", key) for key in client.do("KEYS", "*")}


def test_single():
    """One to one, whatever both sides compress."""
    with Server("--rdbcompression", "no") as one, Server() as two:
        c, d = one.client(), two.client()
        prepared(c)
        c.do("SET", "s1", 1), c.do("SET", "s2", 2), c.do("HSET", "h", 1, 2)
        c.do("XADD", "log", "*", 1, 2)
        before, writes = state(c), c.do("INFO", "commandstats")
        n = len(before) - sum(OTHERS.values())
        made, said = migrate(url(one), url(two))
        assert said == "" and made["complete"] and made["copied"] == made["keys"] == n, made
        assert made["equal"] == made["failed"] == made["existing"] == made["gone"] == 0, made
        assert {x["type"]: x["keys"] for x in made["skipped_types"]} == OTHERS, made
        assert made["skipped"] == sum(OTHERS.values())
        assert {x["type"] for x in made["types"]} \
            == {"MBbloom--", "MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE", "tamis-img"}
        assert state(c) == before, "the source has changed"
        for word in (b"cmdstat_del", b"cmdstat_unlink", b"cmdstat_restore"):
            assert c.do("INFO", "commandstats").count(word) == writes.count(word)
        got = values(d)
        assert got == {key: dump[:-10] for key, dump in before.items() if key in got}
        assert len(got) == n and d.do("BF.EXISTS", BINARY, "member") == 1
        assert expiries(d) == {k: t for k, t in expiries(c).items() if k in got}
        check_vectors(at(d))
        again, said = migrate(url(one), url(two))
        assert said == "" and again["equal"] == n and again["copied"] == 0, again
        # One key differs now; everything else is skipped.
        c.do("BF.ADD", "empty", "something")
        again, said = migrate(url(one), url(two), "--replace")
        assert (again["equal"], again["copied"], again["replaced"]) == (n - 1, 1, 1), again
        assert d.do("BF.EXISTS", "empty", "something") == 1
        assert tamis("migrate", "-q", url(one), url(two)) == ""


def test_words():
    """The summary for people; --match; --dry-run, which writes nothing."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        for key in ("x:1", "x:2", "y:1"):
            c.do("BF.ADD", key, "a")
        c.do("CF.ADD", "x:3", "a"), c.do("SET", "x:s", 1)
        d.do("BF.ADD", "x:1", "other")
        bytes_of = {k: c.do("MEMORY", "USAGE", k) for k in ("x:1", "x:2", "x:3")}
        said = tamis("migrate", "--dry-run", "--match", "x:*", url(one), url(two))
        rows = [line.split() for line in said.splitlines()]
        bloom = bytes_of["x:1"] + bytes_of["x:2"]
        assert rows[:3] == [["keys", "bytes", "at", "target", "type"],
                            ["2", f"{bloom:,}", "1", "MBbloom--"],
                            ["1", f"{bytes_of['x:3']:,}", "0", "MBbloomCF"]], said
        assert said.splitlines()[3:] == [
            "skipped, of other types: 1 string",
            f"3 keys, {sum(bytes_of.values()):,} bytes; nothing was copied"], said
        dry, _ = migrate(url(one), url(two), "--dry-run", "--match", "x:*")
        assert dry["types"][0] == {"type": "MBbloom--", "keys": 2, "bytes": bloom, "existing": 1}
        assert "copied" not in dry and dry["dry_run"]
        assert d.do("KEYS", "*") == [b"x:1"] and d.do("BF.EXISTS", "x:1", "a") == 0
        assert tamis("migrate", "--match", "none*", url(one), url(two)) \
            == "no key to copy: none matches\n"
        tamis("migrate", "--match", "y*", url(one), url(two))
        assert sorted(d.do("KEYS", "*")) == [b"x:1", b"y:1"]
        done = subprocess.run([TAMIS, "migrate", "--match", "x:*", url(one), url(two)],
                              capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr == (
            f"tamis: {url(one)}: x:1: the target has this key with another value; --replace "
            "replaces it\n"), done
        size = len(c.do("DUMP", "x:2")) + len(c.do("DUMP", "x:3"))
        assert done.stdout == (
            "skipped, of other types: 1 string\n"
            f"2 keys copied and verified ({size} bytes), 1 different at the target and left "
            "alone\n"), done.stdout
        assert d.do("BF.EXISTS", "x:1", "a") == 0 and d.do("BF.EXISTS", "x:1", "other") == 1


def test_clusters():
    """One server to a cluster, a cluster to another, and back to one server."""
    with Server() as one, cluster(3, 0) as a, cluster(3, 0) as b, Server() as last:
        c = one.client()
        restore_vectors(at(c))
        keys = [f"key{i}" for i in range(300)] + [f"tag{{{i % 7}}}{i}" for i in range(50)]
        c.pipeline([("BF.ADD", key, key) for key in keys])
        c.do("PEXPIREAT", "key1", 4102444800123)
        n = c.do("DBSIZE")
        for source, target in ((url(one), a.url()[:-1]), (a.url(), b.url()[:-1]),
                               (b.url()[:-1], url(last))):
            made, said = migrate(source, target)
            assert said == "" and made["copied"] == n, (made, said)
            assert migrate(source, target)[0]["equal"] == n
        assert all(s.client().do("DBSIZE") > 0 for s in a.servers + b.servers)
        for cl in (a, b):
            check_vectors(lambda key, *words, cl=cl: cl.do(key, *words))
            owners = {key: cl.do(key, "BF.EXISTS", key, key) for key in keys[::10]}
            assert set(owners.values()) == {1}
            assert cl.do("key1", "PEXPIRETIME", "key1") == 4102444800123
        check_vectors(at(last.client()))
        assert values(last.client()) == values(c) and expiries(last.client()) == expiries(c)


def test_moving_slots():
    """A scan while slots move could miss keys: that is refused, before and afterwards."""
    with cluster(3, 0) as a, Server() as two:
        a.do("k", "BF.ADD", "k", 1)
        first, second, _ = a.servers
        slot = next(s for s in range(16384) if a.owner(s) is first)
        second.client().do("CLUSTER", "SETSLOT", slot, "IMPORTING",
                           first.client().do("CLUSTER", "MYID"))
        made, said = migrate(a.url(), url(two), status=2)
        assert "slots are moving" in said and made["copied"] == 0, said
        second.client().do("CLUSTER", "SETSLOT", slot, "STABLE")
        assert migrate(a.url(), url(two))[0]["copied"] == 1
    # A table that differs at the end: two doors to one server.
    with Server() as one, Server() as two, Meddler(one) as door, Meddler(one) as other:
        one.client().do("BF.ADD", "k", 1)
        scans = []

        def before(words):
            if words[0] == b"SCAN":
                scans.append(1)
            if words[:2] != [b"CLUSTER", b"SLOTS"]:
                return None
            owners = [(0, 16382, door.port), (16383, 16383, (other if scans else door).port)]
            return b"*2\r\n" + b"".join(b"*3\r\n:%d\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n" % x
                                        for x in owners)
        door.before = other.before = before
        _, said = migrate(door.url, url(two), status=2)
        assert "slots have moved to other servers meanwhile" in said, said


def test_many():
    """Memory does not grow with the number of keys; the scan needs many pages."""
    def peak(n, prefix):
        c.do("FLUSHALL"), d.do("FLUSHALL")
        for i in range(0, n, 1000):
            c.pipeline([("CMS.INITBYDIM", f"{prefix}{j}", 4, 1) for j in range(i, i + 1000)])
        process = subprocess.Popen([TAMIS, "migrate", "--json", url(one), url(two)],
                                   stdout=subprocess.PIPE)
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0 and json.loads(said)["copied"] == n == d.do("DBSIZE"), said
        return usage.ru_maxrss
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        few, many = peak(2000, "a"), peak(30000, "b")
        if b"__asan_init" not in MODULE.read_bytes():
            assert many < few + 1500, (few, many)  # KiB: the names alone would take as much


def test_progress():
    """On a terminal, a line shows how far it is."""
    with Server() as one, Server() as two:
        c = one.client()
        c.pipeline([("BF.ADD", f"k{i}", 1) for i in range(1000)])
        shown = threading.Event()

        def wait(words):
            if words[0] == b"RESTORE" and words[1].endswith(b"99"):
                shown.wait(PATIENCE)
        with Meddler(two, wait) as slow:
            t = Terminal([TAMIS, "migrate", url(one), slow.url])
            t.until(rb"copying: .*keys, .*/s")
            shown.set()
            t.until(rb"1,000 keys copied and verified")
            assert t.finish() == 0


def test_examples():
    """Those of the help."""
    with Server() as one, Server() as two:
        for key in ("x:1", "y:1"):
            one.client().do("BF.ADD", key, "a")
        lines = [line.strip() for line in tamis("migrate", "-h").splitlines()]
        examples = [line for line in lines if line.startswith("tamis migrate -")]
        assert len(examples) == 2 and all("redis://old:6379 redis://new:6379" in x
                                          for x in examples)
        page = (SOURCE / "docs/REDIS.md").read_text()
        assert all(example in page for example in examples)
        for example in examples:
            command = example.replace("redis://old:6379", url(one)).replace(
                "redis://new:6379", url(two)).replace("tamis ", TAMIS + " ", 1)
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
            assert done.returncode == 0 and done.stderr == "", done
        assert two.client().do("KEYS", "*") == [b"x:1"]


def test_permissions():
    """Users that may only do what docs/REDIS.md lists; with and without the optional commands."""
    page = (SOURCE / "docs/REDIS.md").read_text().replace("\n", " ")
    at_source = page.split("The user at the source needs the permission for ")[1]
    at_source = at_source.split(". At the")[0]
    at_target = page.split("At the target, the commands are ")[1].split(". Without the")[0]
    info = [f"{family}.INFO" for family in ("BF", "CF", "CMS", "TOPK", "TAMIS")]

    def rules(text, without=()):
        named = [x for x in re.findall(r"`([A-Z. ]+)`", text) if x not in without] + info
        return ["+" + x.lower().replace(" ", "|") for x in named if x != "INFO"] \
            + ["+info" for x in named if x == "INFO"]
    for without in ((), ("MEMORY USAGE", "INFO", "CONFIG GET")):
        with Server() as one, Server("--proto-max-bulk-len", "40mb") as two:
            c, d = one.client(), two.client()
            restore_vectors(at(c))
            c.do("PEXPIRE", "cms", 10000000)
            if not without:
                c.do("BF.RESERVE", "big", 0.01, 25000000)
            for client, text in ((c, at_source), (d, at_target)):
                client.do("ACL", "SETUSER", "mover", "on", ">hunter2", "~*", "resetchannels",
                          "-@all", *rules(text, without))
            ends = [url(s).replace("://", "://mover:hunter2@") for s in (one, two)]
            made, said = migrate(*ends)
            assert made["complete"] and made["in_chunks"] == (not without), (made, said)
            assert said == "" and migrate(*ends)[0]["equal"] == made["copied"]
            # Other databases.
            ends = [end + "?db=3" for end in ends]
            assert "database 3: " in tamis("migrate", *ends, status=2)
            assert "With a database other than 0, both users also need `SELECT`" in page
            c.do("ACL", "SETUSER", "mover", "+select"), d.do("ACL", "SETUSER", "mover", "+select")
            assert migrate(*ends)[0]["complete"]


def test_wait():
    """--wait: a key counts as copied when replicas have it."""
    with Server() as one, Server() as two, Server() as replica:
        one.client().pipeline([("BF.ADD", f"k{i}", i) for i in range(100)])
        done = subprocess.run([TAMIS, "migrate", "--wait", "1", "--timeout", "1", url(one),
                               url(two)], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 2, done
        assert "only 0 of 1 replicas have confirmed" in done.stderr, done.stderr
        two.client().do("FLUSHALL")
        replica.client().do("REPLICAOF", "127.0.0.1", two.port)
        synced(two.client(), replica.client())
        assert migrate(url(one), url(two), "--wait", 1)[0]["copied"] == 100
        assert replica.client().do("DBSIZE") == 100


def in_database(server, db):
    client = server.client()
    client.do("SELECT", db)
    return client


def test_databases():
    """?db=N at both sides, by redis://, rediss:// and unix://; two databases of one server."""
    room = tempfile.mkdtemp(prefix="tamis-migrate-")
    try:
        files = Certificates(room)
        with Server("--unixsocket", room + "/r.sock") as one, \
                SecureServer(*files.at_server()) as two:
            in_database(one, 2).do("BF.ADD", "k", "two")
            one.client().do("BF.ADD", "k", "zero")
            secure = two.url().rstrip("/") + f"?cacert={files / 'ca.crt'}"
            socket = f"unix://{room}/r.sock"
            target = secure + "&db=5"
            made, said = migrate(socket + "?db=2", target)
            assert made["copied"] == 1 and said == "" and made["source"] == socket + "?db=2", made
            assert two.client().do("DBSIZE") == 0
            assert in_database(two, 5).do("BF.EXISTS", "k", "two") == 1
            assert migrate(target, socket + "?db=7")[0]["copied"] == 1
            assert values(in_database(one, 7)) == values(in_database(one, 2))
            made, said = migrate(url(one), url(one) + "?db=8")
            assert made["copied"] == 1 and said == "", made
            assert in_database(one, 8).do("BF.EXISTS", "k", "zero") == 1
            done = subprocess.run([TAMIS, "migrate", url(one), socket], capture_output=True,
                                  text=True)
            assert done.returncode == 2 and done.stdout == "", done
            assert done.stderr.startswith(f"tamis: {socket}: {room}/r.sock has the same data"), done
    finally:
        shutil.rmtree(room)


def test_kinds():
    """Answers of sets of the command, before and after."""
    with Server() as one, Server() as two:
        c, d = one.client(), two.client()
        fill(c)
        migrate(url(one), url(two))
        for kind in KINDS:
            for i in range(0, 400, 7):
                for verb in ("TAMIS.HAS", "TAMIS.COUNT"):
                    mine, theirs = c.call(verb, kind, f"i{i}"), d.call(verb, kind, f"i{i}")
                    assert type(mine) is type(theirs) and (isinstance(mine, Error)
                                                           or mine == theirs), kind
        assert c.do("TOPK.LIST", "topk", "WITHCOUNT") == d.do("TOPK.LIST", "topk", "WITHCOUNT")
        items = [f"i{i}" for i in range(400)]
        for verb, key in (("CMS.QUERY", "cms"), ("BF.MEXISTS", "bf"), ("CF.MEXISTS", "cf"),
                          ("TOPK.COUNT", "topk")):
            assert c.do(verb, key, *items) == d.do(verb, key, *items), key
        # Both go on alike.
        for x in (c, d):
            x.do("TOPK.INCRBY", "topk", *[w for i in items for w in (i, 3)])
        assert c.do("TOPK.LIST", "topk", "WITHCOUNT") == d.do("TOPK.LIST", "topk", "WITHCOUNT")


if __name__ == "__main__":
    main([test_single, test_words, test_clusters, test_moving_slots, test_many, test_progress,
          test_examples, test_permissions, test_wait, test_databases, test_kinds])
