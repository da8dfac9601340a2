"""Builders and servers of a guard's directory are killed, many times, at random moments. After each
death the directory is one of the two versions, whole, and a server that lives serves one of them.

TAMIS_KILLS says how many times; TAMIS_SEED repeats the moments of an earlier run."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import Server, TAMIS, main, prefix, sha, tamis  # noqa: E402

KILLS = int(os.environ.get("TAMIS_KILLS", "30"))
SEED = int(os.environ.get("TAMIS_SEED", str(random.randrange(2**32))))
COMMON = [f"common{i}.example" for i in range(20000)]
# The next version is near the one before, or far from it: a delta, or a new base.
LISTS = {"a": COMMON, "b": COMMON + [f"b{i}.example" for i in range(50)], "c": COMMON[:5000]}


def marker(name):
    return f"marker-{name}.example"


def write_lists(room):
    for name, hosts in LISTS.items():
        pathlib.Path(room, name).write_text("".join(h + "\n" for h in [*hosts, marker(name)]))


def builder(room, name):
    return subprocess.Popen([TAMIS, "guard", "build", "-q", room / "d", f"malware={room / name}"])


def published(room):
    """Which list the directory is of: exactly one, and all of it."""
    urls = [marker(name) for name in LISTS] + [COMMON[17], "good.example"]
    lines = tamis("guard", "check", room / "d", *urls).strip().split("\n")
    verdicts = [line.split()[0] for line in lines]
    assert sorted(verdicts[:3]) == ["clean", "clean", "listed"] and verdicts[3:] \
        == ["listed", "clean"], lines
    return list(LISTS)[verdicts.index("listed")]


def kill_one(room, name, moment):
    """Returns whether the builder was killed before it ended."""
    process = builder(room, name)
    time.sleep(moment)
    process.kill()
    return process.wait() == -9


def test_kill(room):
    chance = random.Random(SEED)
    write_lists(room)
    times = []
    for name in "acab":
        start = time.monotonic()
        assert builder(room, name).wait() == 0
        times.append(time.monotonic() - start)
    longest = 1.3 * sorted(times)[2]
    now, killed, moved, server = "b", 0, 0, Server(room / "d")
    print(f"seed {SEED}, {KILLS} kills within {1000 * longest:.0f} ms")
    for i in range(KILLS):
        name = chance.choice([other for other in LISTS if other != now])
        killed += kill_one(room, name, chance.uniform(0, longest))
        after = published(room)
        assert after in (now, name), (SEED, i, now, name, after)
        moved += after != now
        now = after
        if i % 3 == 0:  # the server dies as well, in the middle of its work
            busy = server.socket()
            busy.sendall(b"GET /filter HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            server.process.kill()
            server.process.communicate()
            busy.close()
            assert published(room) == now
            server = Server(room / "d")
        server.hup()
        def serves():
            return server.confirm(*map(prefix, map(marker, LISTS)))["hashes"] == [sha(marker(now))]
        server.wait_for(serves, f"kill {i}, seed {SEED}: {now} is served")
    assert server.stop() == ""
    print(f"{killed} builders were killed; {moved} versions were published")
    assert killed > KILLS / 10, "hardly one was killed: nothing was tested"
    for name in "abc":  # and it can go on
        assert builder(room, name).wait() == 0 and published(room) == name
    left = sorted(p.name for p in (room / "d").iterdir())
    assert len(left) <= 6, left  # nothing of the dead is left


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-kill-") as place:
        sys.exit(main([test_kill], place))
