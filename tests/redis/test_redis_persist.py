"""Values outlive the server: RDB, AOF with and without preamble, replicas that agree and never
complain, failover, MIGRATE, and a cluster of three masters with replicas."""
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, Server, main, used_memory, wait_for  # noqa: E402
from redis_values import fill, state, synced, touch  # noqa: E402
from test_redis_bloom import check  # noqa: E402


def check_state(c, wanted):
    got = state(c)
    different = [key for key in got.keys() | wanted.keys() if got.get(key) != wanted.get(key)]
    assert not different, different


def test_rdb():
    with Server() as server:
        c = server.client()
        fill(c)
        before = state(c)
        assert len(before) > 17
        check(c, ("SAVE", "OK"))
        server.restart()
        c = server.client()
        check_state(c, before)
        check(c, ("DEBUG RELOAD", "OK"))
        check_state(c, before)


def aof(preamble):
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
                preamble, "--auto-aof-rewrite-percentage", "0") as server:
        c = server.client()
        fill(c)
        before = state(c)
        check(c, ("DEBUG LOADAOF", "OK"))  # the commands, as they were replicated
        check_state(c, before)
        rewritten(c)
        check(c, ("DEBUG LOADAOF", "OK"))  # the values, as they were rewritten
        check_state(c, before)
        touch(c, "")
        before = state(c)
        server.restart()
        check_state(server.client(), before)


def test_aof_with_preamble():
    aof("yes")


def test_aof_without_preamble():
    aof("no")


def rewritten(c):
    c.do("BGREWRITEAOF")
    wait_for(lambda: b"aof_rewrite_in_progress:0" in c.do("INFO", "persistence") and
             b"aof_rewrite_scheduled:0" in c.do("INFO", "persistence"), "no end of the rewrite")
    assert b"aof_last_bgrewrite_status:ok" in c.do("INFO", "persistence")


def test_full_server():
    """A server at its maxmemory saves all it has: in DUMP, in its RDB, in an append-only file
    without preamble."""
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no",
                "--auto-aof-rewrite-percentage", "0") as server:
        c = server.client()
        c.do("TOPK.RESERVE", "topk", 100000, 8, 7, 0.9)  # 2.4 MB of heap at rest
        c.do("TOPK.INCRBY", "topk", "a", 3, "b", 2)
        c.do("TAMIS.CREATE", "blocked", "blocked", "BYTES", 4 << 20, "RATE", 0.01)
        c.do("TAMIS.MADD", "blocked", "a", "b")
        before, digest = state(c), c.do("DEBUG", "DIGEST")
        c.do("CONFIG", "SET", "maxmemory", used_memory(c) + (1 << 19))
        assert isinstance(c.call("TAMIS.DUMP", "blocked"), Error)  # a command is refused
        check_state(c, before)
        assert c.do("DEBUG", "DIGEST") == digest
        check(c, ("DEBUG RELOAD", "OK"))
        check_state(c, before)
        rewritten(c)
        server.restart()
        check_state(server.client(), before)


def grow(c, tag, n):
    """How many of n items enter the two kinds that grow."""
    done = []
    for key in ("growing", "ribbon"):
        replies = [c.call("TAMIS.MADD", key, *[f"{tag}{j}" for j in range(i, i + 100)])
                   for i in range(0, n, 100)]
        done.append(sum(not isinstance(r, Error) for reply in replies for r in reply))
    return done


def test_limit_of_the_day():
    """What was accepted under a higher limit comes back under a lower one, from a preamble and the
    commands behind it as from a primary; then it grows no more."""
    options = ("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage",
               "0")
    with Server(*options, arguments=("tamis-max-bytes",
                                     "100kb")) as one, Server(
                                         arguments=("tamis-max-bytes", "100kb")) as two:
        c, replica = one.client(), two.client()
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", "1gb")
        for key in ("growing", "ribbon"):
            c.do("TAMIS.CREATE", key, key, "ITEMS", 1000, "RATE", 0.01)
        assert grow(c, "early", 1000) == [1000, 1000]
        rewritten(c)
        replica.do("REPLICAOF", "127.0.0.1", one.port)
        synced(c, replica)
        assert grow(c, "late", 100000) == [100000, 100000]
        before = state(c)
        synced(c, replica)
        check_state(replica, before)
        replica.do("REPLICAOF", "NO", "ONE")
        one.restart()
        for c in (one.client(), replica):
            check_state(c, before)
            sizes = [c.do("MEMORY", "USAGE", key) for key in ("growing", "ribbon")]
            assert min(sizes) > 120000, sizes
            assert max(grow(c, "more", 200000)) < 200000
            assert [c.do("MEMORY", "USAGE", key) for key in ("growing", "ribbon")] == sizes
            # Nor do copies.
            c.do("COPY", "growing", "copy")
            c.do("TAMIS.MERGE", "sum", "growing")
            for key in ("copy", "sum"):
                assert any(isinstance(r, Error)
                           for r in c.call("TAMIS.MADD", key,
                                           *[f"copied{i}" for i in range(200000)])), key
                assert c.do("MEMORY", "USAGE", key) < sizes[0] + 100
        c.do("CONFIG", "SET", "bf.tamis-max-bytes", "1gb")
        assert grow(c, "again", 200000) == [200000, 200000]


def test_replica():
    """Its settings are other ones, and it is smaller; all the same it becomes equal, and never
    sends an error."""
    other = ("bf-error-rate", "0.2", "bf-initial-size", "7", "cf-initial-size", "64",
             "cf-bucket-size", "4", "cf-max-expansions", "1",
             "tamis-max-bytes", "1024", "bf-expansion-factor", "3")
    with Server() as one, Server(arguments=other) as two:
        primary, replica = one.client(), two.client()
        fill(primary, "early", 20)  # comes by the full resynchronization
        replica.do("REPLICAOF", "127.0.0.1", one.port)
        synced(primary, replica)
        fill(primary, "late")
        touch(primary, "early")
        synced(primary, replica)
        check_state(replica, state(primary))
        assert primary.do("DEBUG", "DIGEST") == replica.do("DEBUG", "DIGEST")
        assert b"unexpected_error_replies:0" in replica.do("INFO", "stats")
        assert "CRITICAL" not in two.log()
        # What had no effect is not sent.
        before = primary.do("INFO", "replication")
        primary.do("BF.ADD", "madelate", "i1")
        offset = re.search(rb"master_repl_offset:(\d+)", primary.do("INFO", "replication"))[1]
        for words in (("BF.ADD", "madelate", "i1"), ("CF.DEL", "cflate", "never-there"),
                      ("CF.ADDNX", "cfmadelate", "i1"),
                      ("BF.MADD", "fixedlate", "n1", "n2"),
                      ("TAMIS.REMOVE", "countinglate", "never-there")):
            primary.call(*words)
        now = re.search(rb"master_repl_offset:(\d+)", primary.do("INFO", "replication"))[1]
        assert offset == now, (before, offset, now)
        # If a list has no room for some items, the others are kept.
        primary.do("TOPK.RESERVE", "tight", 3)
        primary.do("CONFIG", "SET", "bf.tamis-max-bytes", 4000)
        refused = Error("ERR Insufficient memory")
        check(primary, (["TOPK.ADD", "tight", "x" * 4000, "a"], [refused, None]),
              (["TOPK.INCRBY", "tight", "b", 3, "y" * 4000, 5, "c", 2], [None, refused, None]))
        synced(primary, replica)
        assert replica.do("DUMP", "tight") == primary.do("DUMP", "tight")
        assert replica.do("TOPK.COUNT", "tight", "x" * 4000, "y" * 4000, "b") == [0, 0, 3]
        offset = re.search(rb"master_repl_offset:(\d+)", primary.do("INFO", "replication"))[1]
        check(primary, (["TOPK.ADD", "tight", "x" * 4000], [refused]))
        assert offset == re.search(rb"master_repl_offset:(\d+)",
                                   primary.do("INFO", "replication"))[1]
        replica.do("REPLICAOF", "NO", "ONE")
        assert replica.do("BF.ADD", "madelate", "after") == 1


def pieces(c, family, key):
    """What SCANDUMP returns for a filter, in the order in which LOADCHUNK takes it."""
    found, iterator = [], 0
    while True:
        iterator, data = c.do(family + ".SCANDUMP", key, iterator)
        if iterator == 0:
            return found
        found.append((iterator, data))


def answers(c):
    """The members, the non-members and the facts of every filter of the test below."""
    asked = [f"{word}{i}" for word in ("in", "out") for i in range(3000)]
    return {key: (c.do(family + ".MEXISTS", key, *asked), c.do(family + ".INFO", key),
                  c.do(family + ".DEBUG", key))
            for key, family in FILTERS.items()}


FILTERS = {"bf-links": "BF", "bf-pieces": "BF", "cf-tables": "CF", "cf-pieces": "CF"}


def test_kill_after_loadchunk():
    """A primary gets filters by LOADCHUNK and is killed once its replica has the stream. They are
    all in the replica, which is promoted, and in the primary's append-only file."""
    options = ("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")
    with Server() as made, Server(*options) as one, Server() as two:
        source, primary, replica = made.client(), one.client(), two.client()
        for command in ("BF.RESERVE bf-links 0.01 200", "BF.RESERVE bf-pieces 0.01 15000000",
                        "CF.RESERVE cf-tables 256 EXPANSION 2",
                        "CF.RESERVE cf-pieces 17000000"):
            source.do(*command.split())
        items = [f"in{i}" for i in range(3000)]
        for key, family in FILTERS.items():
            source.do(*(("BF.MADD", key) if family == "BF" else ("CF.INSERT", key, "ITEMS")),
                      *items)
        source.do("CF.DEL", "cf-tables", "in7")
        wanted = answers(source)
        replica.do("REPLICAOF", "127.0.0.1", one.port)
        synced(primary, replica)  # from here on there is only the stream
        for key, family in FILTERS.items():
            found = pieces(source, family, key)
            assert len(found) > 2, (key, len(found))
            for iterator, data in found:
                assert primary.do(family + ".LOADCHUNK", key, iterator, data) == "OK"
        synced(primary, replica)
        one.stop()  # SIGKILL
        replica.do("REPLICAOF", "NO", "ONE")
        one.start()
        for name, c in (("replica", replica), ("append-only file", one.client())):
            got = answers(c)
            assert not [key for key in FILTERS if got[key] != wanted[key]
                        or c.do("DUMP", key) != source.do("DUMP", key)], name


def test_full_synchronization():
    """The way of docs/REDIS.md: a replica that lacks something is stopped, loses its files, and is
    started again. With its files it only gets what it has missed since."""
    def resynchronized(how):
        return int(re.search(f"{how}:(\\d+)", primary.text("INFO", "stats"))[1])
    with Server("--repl-diskless-sync-delay", "0") as one:
        primary = one.client()
        with Server("--replicaof", "127.0.0.1", one.port) as two:
            fill(primary, rounds=5)
            replica = two.client()
            synced(primary, replica)
            replica.do("CONFIG", "SET", "replica-read-only", "no")
            replica.do("DEL", "cf")
            assert replica.do("EXISTS", "bf") == 1
            full, partial = resynchronized("sync_full"), resynchronized("sync_partial_ok")
            replica.send("SHUTDOWN", "SAVE")
            two.process.wait()
            two.restart()
            replica = two.client()
            synced(primary, replica)
            assert resynchronized("sync_full") == full and resynchronized("sync_partial_ok") \
                == partial + 1
            assert replica.do("EXISTS", "cf") == 0
            replica.send("SHUTDOWN", "NOSAVE")
            two.process.wait()
            pathlib.Path(two.room, "dump.rdb").unlink()
            two.restart()
            replica = two.client()
            synced(primary, replica)
            assert resynchronized("sync_full") == full + 1
            check_state(replica, state(primary))


def test_migrate():
    with Server() as one, Server() as two:
        c, other = one.client(), two.client()
        fill(c)
        before = state(c)
        for key in before:
            assert c.do("MIGRATE", "127.0.0.1", two.port, key, 0, 60000) == "OK"
        check_state(other, before)
        assert c.do("DBSIZE") == 0


def cluster_of(servers):
    """Three masters with a replica each."""
    addresses = [f"127.0.0.1:{s.port}" for s in servers]
    done = subprocess.run(["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas",
                           "1", "--cluster-yes"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    clients = [s.client() for s in servers]
    wait_for(lambda: all(b"cluster_state:ok" in c.do("CLUSTER", "INFO") for c in clients),
             "no cluster")
    wait_for(lambda: all(b"master_link_status:down" not in c.do("INFO", "replication")
                         for c in clients), "replicas are down")
    return clients


class Cluster:
    """Goes where it is sent."""

    def __init__(self, servers):
        self.clients = {s.port: s.client() for s in servers}

    def call(self, *words):
        client = next(iter(self.clients.values()))
        for _ in range(400):
            reply = client.call(*words)
            moved = re.match(r"(MOVED|ASK) \d+ \S+:(\d+)",
                             reply.text) if isinstance(reply, Error) else None
            if moved:
                client = self.clients[int(moved[2])]
                if moved[1] == "ASK":
                    client.do("ASKING")
            elif isinstance(reply, Error) and re.match("CLUSTERDOWN|TRYAGAIN|LOADING", reply.text):
                time.sleep(0.05)
            else:
                return reply
        raise AssertionError(f"{words[0]} goes round in circles")

    def do(self, *words):
        reply = self.call(*words)
        assert not isinstance(reply, Error), (words, reply)
        return reply


def test_cluster():
    options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "15000", "--appendonly", "no",
               "--repl-diskless-sync-delay", "0")
    servers = []
    try:
        for _ in range(6):
            servers.append(Server(*options))
        clients = cluster_of(servers)
        cluster = Cluster(servers)
        fill(cluster, "{one}", 10)
        for i in range(30):
            fill_small(cluster, i)
        for words in (("CMS.MERGE", "a", 1, "b"), ("TDIGEST.MERGE", "a", 1, "b"),
                      ("BF.MERGE", "a", "b"), ("TAMIS.MERGE", "a", "b")):
            reply = cluster.call(*words)
            assert reply.text.startswith("CROSSSLOT"), (words, reply)
        before = {f"bf{i}": cluster.do("DUMP", f"bf{i}") for i in range(30)}
        reshard(servers, clients, cluster)
        assert {key: cluster.do("DUMP", key) for key in before} == before
        # A replica takes over by an orderly failover, and its master's values are all there.
        replica = next(c for c in clients if b"role:slave" in c.do("INFO", "replication"))
        fail_over(replica)
        assert {key: cluster.do("DUMP", key) for key in before} == before
        for i in range(30):
            assert cluster.do("TAMIS.HAS", f"n{i}", "x") == 1 \
                and cluster.do("BF.ADD", f"bf{i}", "later") in (0, 1)
    finally:
        for server in servers:
            server.__exit__(*sys.exc_info())


def fail_over(replica):
    """Asks again when the server has given up, which it does after five seconds."""
    asked = -10

    def master():
        nonlocal asked
        if b"role:master" in replica.do("INFO", "replication"):
            return True
        if time.monotonic() - asked > 6:
            replica.call("CLUSTER", "FAILOVER")
            asked = time.monotonic()
        return False
    wait_for(master, "no failover")


def fill_small(c, i):
    c.do("BF.MADD", f"bf{i}", "x", "y", i)
    c.do("CF.ADD", f"cf{i}", "x")
    c.do("CMS.INITBYDIM", f"cms{i}", 20, 3)
    c.do("CMS.INCRBY", f"cms{i}", "x", i + 1)
    c.do("TOPK.RESERVE", f"topk{i}", 3)
    c.do("TOPK.ADD", f"topk{i}", "x")
    c.do("TAMIS.CREATE", f"n{i}", "blocked", "ITEMS", 50, "RATE", 0.01)
    c.do("TAMIS.ADD", f"n{i}", "x")


def reshard(servers, clients, cluster):
    """Slots move to another master while they are used."""
    masters = [(s, c) for s, c in zip(servers, clients)
               if b"role:master" in c.do("INFO", "replication")]
    source, target = (c.do("CLUSTER", "MYID").decode() for _, c in masters[:2])
    move = subprocess.Popen(["redis-cli", "--cluster", "reshard", f"127.0.0.1:{servers[0].port}",
                             "--cluster-from", source,
                             "--cluster-to", target, "--cluster-slots", "1500", "--cluster-yes"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    while move.poll() is None:
        for i in range(30):
            assert cluster.do("TAMIS.HAS", f"n{i}", "x") == 1 \
                and cluster.do("CMS.QUERY", f"cms{i}", "x") == [i + 1]
    assert move.returncode == 0
    owners = masters[1][1].do("CLUSTER", "INFO")
    assert b"cluster_state:ok" in owners


if __name__ == "__main__":
    main([test_rdb, test_aof_with_preamble, test_aof_without_preamble, test_full_server,
          test_limit_of_the_day, test_replica,
          test_kill_after_loadchunk, test_full_synchronization, test_migrate, test_cluster])
