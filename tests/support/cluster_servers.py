"""Clusters of real servers for the tests of cluster/: on free loopback ports, and stopped whatever
happens."""
import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from redis_client import PATIENCE, TAMIS, Error, Server, wait_for  # noqa: E402

OPTIONS = ("--cluster-enabled", "yes", "--appendonly", "no", "--repl-diskless-sync-delay", "0",
           "--cluster-replica-validity-factor", "0",
           "--cluster-migration-barrier", "10")


class Cluster:
    def __init__(self, servers):
        self.servers = servers

    def url(self, name=""):
        return f"redis://127.0.0.1:{self.servers[0].port}/{name}"

    def masters(self):
        return [s for s in self.servers if s.alive()
                and b"role:master" in s.client().do("INFO", "replication")]

    def replica_of(self, master):
        return next(s for s in self.servers if s.alive()
                    and f"master_port:{master.port}\r".encode() in s.client().do(
                        "INFO", "replication"))

    def owner(self, slot):
        """The server of a slot, as the first one knows it."""
        for first, last, master, *_ in self.servers[0].client().do("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(s for s in self.servers if s.port == master[1])
        raise AssertionError(f"nobody serves {slot}")

    def do(self, key, *words):
        """A command at the owner of its key."""
        return self.owner(self.servers[0].client().do("CLUSTER", "KEYSLOT",
                                                      key)).client().do(*words)

    def shards(self, name):
        """The keys of a set, by master."""
        return {s.port: sorted(s.client().do("KEYS", f"{name}:*")) for s in self.masters()}

    def errors(self, word):
        """How many replies of that sort all servers have sent."""
        count = 0
        for server in self.servers:
            for line in server.client().do("INFO", "errorstats").decode().splitlines():
                if line.startswith(f"errorstat_{word}:"):
                    count += int(line.partition("count=")[2])
        return count


@contextlib.contextmanager
def cluster(masters=3, replicas=1, node_timeout=15000, options=()):
    servers = []
    try:
        for _ in range(masters * (1 + replicas)):
            servers.append(Server(*OPTIONS, "--cluster-node-timeout", node_timeout, *options))
        addresses = [f"127.0.0.1:{s.port}" for s in servers]
        done = subprocess.run(["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas",
                               str(replicas), "--cluster-yes"],
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        clients = [s.client() for s in servers]
        wait_for(lambda: all(b"cluster_state:ok" in c.do("CLUSTER", "INFO") for c in clients),
                 "no cluster")
        wait_for(lambda: all(b"master_link_status:down" not in c.do("INFO", "replication")
                             for c in clients), "replicas are down")
        yield Cluster(servers)
    finally:
        for server in servers:
            server.__exit__(*sys.exc_info())


def move(slot, source, target, port=None):
    """Moves a slot with its keys from one master to another, at this port. It yields when the keys
    have moved and the servers do not yet know the new owner."""
    ids = [s.client().do("CLUSTER", "MYID") for s in (source, target)]
    target.client().do("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
    source.client().do("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
    for key in source.client().do("CLUSTER", "GETKEYSINSLOT", slot, 1000):
        source.client().do("MIGRATE", "127.0.0.1", port or target.port, key, 0, 60000)
    yield
    for server in (target, source):
        server.client().do("CLUSTER", "SETSLOT", slot, "NODE", ids[1])


def tamis(*words, given=None, status=0, env=()):
    """What the command prints; its status must be this one. If it fails, what it prints to
    standard error."""
    if isinstance(given, str):
        given = given.encode()
    done = subprocess.run([TAMIS, *map(str, words)], input=given if given is not None else b"",
                          capture_output=True, timeout=PATIENCE,
                          env=dict(os.environ, **dict(env)))
    assert done.returncode == status, (words, done.returncode, done.stdout[-500:],
                                       done.stderr[-1000:])
    return (done.stderr if status == 2 else done.stdout).decode(errors="replace")


def lines(items):
    return "".join(f"{item}\n" for item in items)


__all__ = ["Cluster", "Error", "cluster", "lines", "move", "tamis"]
