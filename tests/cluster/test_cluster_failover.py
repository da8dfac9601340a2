"""Masters are killed, hang, or do not come back, while `tamis add --wait 1` continues: every
acknowledged line is found afterwards."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_servers import cluster, lines, tamis  # noqa: E402
from redis_client import TAMIS, main, sanitizer, wait_for  # noqa: E402

NODE_TIMEOUT = 1000  # milliseconds until a silent master is replaced


class Adding:
    """A command that adds numbers, as fast as they are acknowledged, until it is stopped."""

    def __init__(self, url, *words):
        self.process = subprocess.Popen([TAMIS, "add", "--wait", "1", "--ack", *words, url],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.sent = self.acknowledged = 0
        self.end = False
        self.threads = [threading.Thread(target=work) for work in (self.write, self.read)]
        for thread in self.threads:
            thread.start()

    def write(self):
        try:
            while not self.end:
                self.process.stdin.write(lines(range(self.sent, self.sent + 500)).encode())
                self.process.stdin.flush()
                self.sent += 500
                time.sleep(0.002)
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def read(self):
        for line in self.process.stdout:
            self.acknowledged = int(line)

    def more(self):
        """Waits for lines that were not sent yet."""
        wanted = self.sent + 5000
        wait_for(lambda: self.acknowledged >= wanted or self.process.poll() is not None,
                 "it does not go on")
        assert self.process.poll() is None, self.process.stderr.read()

    def finish(self):
        self.end = True
        status = self.process.wait()
        for thread in self.threads:
            thread.join()
        return status, self.process.stderr.read().decode()


def check(url, n):
    """All of the first n are found."""
    assert n > 0
    assert tamis("check", "-vc", url, given=lines(range(n)), status=1) == "0\n"


def busy_master(c, name):
    """One that has shards of the set, and is not the one in the address."""
    return next(s for s in c.masters() if s is not c.servers[0]
                and s.client().do("KEYS", f"{name}:*"))


def revive(server):
    """On its port, with its place in the cluster and without its values."""
    server.process = subprocess.Popen(server.process.args, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, env=dict(os.environ, **sanitizer()))
    assert server.answers()


def replaced(c, master):
    """Waits until another has taken its place."""
    port = master.port

    def gone():
        slots = c.servers[0].client().do("CLUSTER", "SLOTS")
        return all(owner[1] != port for _, _, owner, *_ in slots)
    wait_for(gone, "no failover")


def test_killed():
    """kill -9. The next master has no replica, and nothing can be confirmed, until the old one is
    back as one."""
    with cluster(3, 1, NODE_TIMEOUT) as c:
        url = c.url("set")
        tamis("build", "--items", 1000000, "--wait", 1, "-o", url)
        adding = Adding(url)
        adding.more()
        victim = busy_master(c, "set")
        victim.process.kill()
        victim.process.wait()
        replaced(c, victim)
        revive(victim)
        adding.more()
        status, said = adding.finish()
        assert (status, said) == (0, "") and adding.acknowledged == adding.sent
        check(url, adding.sent)


def test_hung():
    """A master that stops without closing a connection; afterwards it is a replica, and knows
    nothing that the others do not."""
    with cluster(3, 1, NODE_TIMEOUT) as c:
        url = c.url("set")
        tamis("build", "--items", 1000000, "--wait", 1, "-o", url)
        adding = Adding(url)
        adding.more()
        victim = busy_master(c, "set")
        victim.process.send_signal(signal.SIGSTOP)
        try:
            replaced(c, victim)
        finally:
            victim.process.send_signal(signal.SIGCONT)
        adding.more()
        status, said = adding.finish()
        assert (status, said) == (0, "") and adding.acknowledged == adding.sent
        check(url, adding.sent)


def test_lost():
    """A master that never comes back: without a replica nothing more is confirmed, which is an
    error after a while. What was acknowledged before is there."""
    with cluster(3, 1, NODE_TIMEOUT) as c:
        url = c.url("set")
        tamis("build", "--items", 1000000, "--wait", 1, "-o", url)
        adding = Adding(url, "--timeout", "4")
        adding.more()
        victim = busy_master(c, "set")
        victim.process.kill()
        victim.process.wait()
        wait_for(lambda: adding.process.poll() is not None, "it goes on for ever")
        status, said = adding.finish()
        assert status == 2 and "gave up after" in said, said
        assert f"the first {adding.acknowledged:,} lines are added and confirmed" in said, \
            (adding.acknowledged, said)
        replaced(c, victim)
        check(url, adding.acknowledged)
        # Asking needs no replica.
        assert tamis("check", "-c", url, given=lines(range(100))) == "100\n"
        # Nor does adding, as long as nothing has to be confirmed.
        tamis("add", url, given=lines(range(100)))


if __name__ == "__main__":
    main([test_killed, test_hung, test_lost])
