"""Signals while lines are sent to servers: add and remove keep a prefix of the lines and report how
many, and build keeps nothing."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_servers import lines, tamis  # noqa: E402
from redis_client import TAMIS, Server, main  # noqa: E402

PATIENCE = 60


def stopped(*words, ready, number=signal.SIGINT):
    """Runs it with 100 lines of an input that does not end, until it is ready for the signal; what
    it prints to standard error."""
    p = subprocess.Popen([TAMIS, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    p.stdin.write(lines(range(100)))
    p.stdin.flush()
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end and p.poll() is None, (words, p.poll())
        time.sleep(0.01)
    p.send_signal(number)
    assert p.wait(PATIENCE) == -number, (words, p.returncode, p.stderr.read())
    p.stdin.close()
    return p.stderr.read()


def test_stopped():
    with Server() as server:
        client = server.client()
        url = f"redis://127.0.0.1:{server.port}/s"
        tamis("build", "--kind", "cuckoo", "--items", 1000, "-o", url)

        def has(wanted):
            return lambda: subprocess.run([TAMIS, "check", "-c", url], text=True,
                                          input=lines(range(100)),
                                          stdout=subprocess.PIPE).stdout == f"{wanted}\n"
        for number in (signal.SIGINT, signal.SIGTERM):
            said = stopped("add", url, number=number, ready=has(100))
            assert said == f"tamis: interrupted: {url} has the first 100 lines now\n", said
            said = stopped("remove", url, number=number, ready=has(0))
            assert said == f"tamis: interrupted: {url} no longer has the first 100 lines\n", said
        keys = sorted(client.do("KEYS", "*"))
        for words in (("build", "--items", "1000"), ("count",), ("distinct",)):
            new = f"redis://127.0.0.1:{server.port}/new"
            said = stopped(*words, "-o", new,
                           ready=lambda: sorted(client.do("KEYS", "*")) != keys)
            assert said == f"tamis: interrupted: {new} was not written\n", (words, said)
            assert sorted(client.do("KEYS", "*")) == keys, words


if __name__ == "__main__":
    main([test_stopped])
