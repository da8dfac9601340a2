"""Commands that promise constant time execute the same number of instructions for a small value as
for a big one. valgrind counts them in the server, so the result does not depend on how busy the
machine is."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Client, MODULE, PATIENCE, free_port, main, wait_for  # noqa: E402


class Counted:
    """A server in which valgrind counts the instructions of one function of the module."""

    def __init__(self, function):
        self.room = tempfile.TemporaryDirectory(prefix="tamis-counted-")
        self.port = free_port()
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--quiet",
             f"--callgrind-out-file={self.room.name}/out", "redis-server", "--port",
             str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.room.name,
             "--loadmodule", str(MODULE)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = None
        wait_for(self.answers, "no server")

    def answers(self):
        assert self.process.poll() is None, "the server has ended"
        try:
            self.client = Client(self.port)
            return self.client.call("PING") == "PONG"
        except OSError:
            return False

    def of(self, *words):
        """The instructions of the function in one command, the second of two equal ones."""
        self.client.do(*words)
        self.dump("zero")
        self.client.do(*words)
        return self.dump("dump")

    def dump(self, what):
        """What was counted since the last dump; --zero counts from here on."""
        for path in pathlib.Path(self.room.name).glob("out*"):
            path.unlink()
        subprocess.run(["callgrind_control", f"--{what}", str(self.process.pid)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        found = [re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.M)
                 for path in pathlib.Path(self.room.name).glob("out*")]
        return sum(int(hit[1]) for hit in found if hit is not None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.room.cleanup()


def test_tamis_info():
    """TAMIS.INFO of a structure takes as many instructions as that of one that is a thousand times
    bigger; with FULL it takes hundreds of times more."""
    with Counted("redis_tamis_info") as server:
        c = server.client
        filters = ("bloom", "partitioned", "blocked", "counting", "cuckoo", "growing", "pair",
                   "window", "ribbon", "fuse", "exact")
        sketches = ("count-min", "count-sketch", "tally", "signed-tally", "top", "distinct")
        for kind in filters + sketches:
            for name, times in (("small", 1), ("big", 1000)):
                size = ("ITEMS", 1000 * times, "RATE", 0.01) if kind in filters \
                    else ("BYTES", 20000 * times)
                c.do("TAMIS.CREATE", name, kind, *size)
                c.call("TAMIS.MADD", name, *range(1000))
            small, big = server.of("TAMIS.INFO", "small"), server.of("TAMIS.INFO", "big")
            # Numbers with more digits take longer to format, and an allocation may take longer.
            assert small > 1000 and abs(big - small) < 0.5 * small, (kind, small, big)
            if kind == "blocked":
                full = server.of("TAMIS.INFO", "big", "FULL")
                assert full > 20 * big, (full, big)
            c.do("FLUSHALL")


def test_info():
    """The section of INFO, whatever the number and the sizes of the keys. A survey runs outside of
    it."""
    with Counted("redis_info_report") as server:
        c = server.client
        for name in ("a", "b"):  # so that the fields of the survey are there
            c.do("BF.RESERVE", name, 0.01, 1000)
        few = server.of("INFO", "bf_tamis")
        for n in range(3000):
            c.do("BF.RESERVE", f"more{n}", 0.01, 1000)
        c.do("TAMIS.CREATE", "big", "blocked", "BYTES", 50000000, "RATE", 0.01)
        many = server.of("INFO", "bf_tamis")
        assert few > 1000 and abs(many - few) < 0.1 * few, (few, many)


if __name__ == "__main__":
    main([test_tamis_info, test_info])
