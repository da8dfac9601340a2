"""The files of a guard's directory are overwritten, cut, or replaced by something that is not a
file while a server uses them. The server keeps its answers and refuses the new version. It never
takes a listed URL for a clean one, never ends and never waits for such a file.

TAMIS_FLIPS says how many bits of each file are flipped."""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import PATIENCE, TAMIS, Server, build, main, prefix, sha, tamis  # noqa: E402

HOSTS = [f"evil{i}.example" for i in range(3000)]
NEW = "new.example"
FLIPS = int(os.environ.get("TAMIS_FLIPS", "40"))
LISTED = [*HOSTS[20:], NEW]


def two_versions(directory):
    """A directory whose version 2 has every kind of file."""
    build(directory, malware=HOSTS)
    build(directory, malware=LISTED)
    names = sorted(p.name for p in directory.iterdir())
    assert names == ["1.filter", "1.store", "2.delta", "2.removed", "2.store", "manifest"], names
    return names


def check_answers(s):
    """All listed hosts are confirmed, those removed are not, and the parts are served whole."""
    connection = s.connect()
    for i in range(0, len(LISTED), 30):
        some = LISTED[i:i + 30]
        assert {sha(host) for host in some} <= set(
            s.confirm(*map(prefix, some), on=connection)["hashes"])
    assert s.confirm(*map(prefix, HOSTS[:20]), on=connection)["hashes"] == []
    update = s.ask("/v1/update", on=connection).json()
    for name in "filter", "delta", "removed":
        answer = s.ask(update[name]["url"], on=connection)
        assert answer.status == 200 and answer.fields["ETag"] == f'"{update[name]["sha256"]}"'
        assert len(answer.body) == update[name]["bytes"]
    connection.close()


def overwrite(path, damage):
    """In place, so that who has the file open sees it."""
    size = path.stat().st_size
    with open(path, "r+b") as f:
        if damage == "zeros":
            f.write(bytes(size))
        elif damage == "ones":
            f.write(b"\xff" * size)
        elif damage == "longer":
            f.seek(size)
            f.write(b"x" * 5000)
        elif damage == "half":
            f.truncate(size // 2)
        elif damage == "empty":
            f.truncate(0)
        os.fsync(f.fileno())


def test_overwritten_in_place(room):
    names = two_versions(room / "whole")
    for damage in "zeros", "ones", "longer", "half", "empty":
        shutil.rmtree(room / "d", ignore_errors=True)
        shutil.copytree(room / "whole", room / "d")
        with Server(room / "d") as s:
            check_answers(s)
            for name in names:
                overwrite(room / "d" / name, damage)
            check_answers(s)
            failed = s.metric("failed_reloads_total")
            s.hup()
            s.wait_for(lambda: s.metric("failed_reloads_total") > failed, "a failed reload")
            check_answers(s)
            lines = s.stop().strip().split("\n")
            assert all("still serving version 2" in line for line in lines), lines


def test_another_store_in_place(room):
    """A whole store, but not this version's."""
    two_versions(room / "d")
    build(room / "other", malware=["other.example"])
    with Server(room / "d") as s:
        for part in "store", "filter":
            target = room / "d" / ("2.store" if part == "store" else "1.filter")
            with open(target, "r+b") as f:
                f.write((room / "other" / f"1.{part}").read_bytes())
            check_answers(s)
            assert s.confirm(prefix("other.example"))["hashes"] == []
        s.stop()


def refused(directory, url, reason):
    """Every program that opens the directory says what is wrong with it."""
    for words in [("check", directory, url), ("explain", url, directory),
                  ("serve", directory, "--port", "0")]:
        done = subprocess.run([TAMIS, "guard", *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE)
        assert done.returncode == 2 and reason in done.stderr and done.stdout == "", \
            (words, done.returncode, done.stdout, done.stderr)


def test_damage_at_rest(room):
    """One bit anywhere in any file is an error with a reason."""
    names = two_versions(room / "d")
    for name in names:
        path = room / "d" / name
        good = path.read_bytes()
        step = max(1, len(good) // FLIPS)
        # The store of the base serves the builder alone.
        if name == "1.store":
            continue
        for at in [*range(0, len(good), step), len(good) - 1]:
            bad = bytearray(good)
            bad[at] ^= 1 << at % 8
            path.write_bytes(bad)
            done = subprocess.run([TAMIS, "guard", "check", room / "d", LISTED[0]],
                                  capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == 2 and "damaged" in done.stderr and done.stdout == "", \
                (name, at, done.returncode, done.stdout, done.stderr)
        for bad in good[:-1], good + b"\n", b"":
            path.write_bytes(bad)
            refused(room / "d", LISTED[0], "damaged")
        path.write_bytes(good)
    assert tamis("guard", "check", room / "d", LISTED[0]).startswith("listed")


def test_damaged_base(room):
    """A builder does not build on a base that has changed: it makes a new one."""
    for name in "1.store", "1.filter":
        directory = room / name
        two_versions(directory)
        overwrite(directory / name, "ones")
        build(directory, malware=[*LISTED, "third.example"])
        base = [line for line in (directory / "manifest").read_text().split("\n")
                if line.startswith("base ")]
        assert base == ["base 3"], base
        for host in [LISTED[0], NEW, "third.example"]:
            assert tamis("guard", "check", directory, host).startswith("listed")


def sign(directory, **changes):
    """Changes lines of the manifest and makes its checksum right again."""
    path = directory / "manifest"
    lines = path.read_text().split("\n")[:-2]
    for name, value in changes.items():
        at = [line.split(" ")[0] for line in lines].index(name.replace("_", "-"))
        lines[at] = f"{name.replace('_', '-')} {value}"
    text = "".join(line + "\n" for line in lines)
    path.write_text(f"{text}sum {hashlib.sha256(text.encode()).hexdigest()}\n")


def test_store_disagrees(room):
    """A store whose sum is right, but which is not what the manifest describes."""
    two_versions(room / "whole")
    build(room / "other", malware=HOSTS[:5])

    def part(contents):
        return f"{len(contents)} {hashlib.sha256(contents).hexdigest()}"
    store = (room / "whole/2.store").read_bytes()
    for i, (contents, changes, reason) in enumerate([
            (store, {}, None),
            (store, {"entries": len(LISTED) - 1}, "entries"),
            (store, {"entries": 2**64 - 1}, "entries"),
            ((room / "other/1.store").read_bytes(), {}, "entries"),
            (store[:len(store) // 8192 * 4096], {}, "entries"),
            (store[:8192], {}, "entries"),
            (store[:100], {}, "2.store"),
            (b"\0" * 8192, {}, "2.store"),
            (b"x" * 20000, {}, "2.store"),
            (store, {"store": f"{2**63} {'0' * 64}"}, "damaged"),
            (store, {"filter": f"{2**64 - 1} {'0' * 64}"}, "damaged"),
            (store, {"store": "0 -"}, "damaged")]):
        directory = room / str(i)
        shutil.copytree(room / "whole", directory)
        (directory / "2.store").write_bytes(contents)
        sign(directory, **{"store": part(contents), **changes})
        if reason is None:
            assert tamis("guard", "check", directory, LISTED[0]).startswith("listed")
        else:
            refused(directory, LISTED[0], reason)
    # A builder does not believe in a base of another size either.
    for entries in 1, 2**64 - 1, 2**60:
        directory = room / f"base-{entries}"
        shutil.copytree(room / "whole", directory)
        sign(directory, base_entries=entries)
        build(directory, malware=[*LISTED, "third.example"])
        assert "\nbase 3\n" in (directory / "manifest").read_text()


def put_instead(path, what):
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "socket":
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path.name)
        os.chdir(here)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "loop":
        path.symlink_to(path.name)


def test_not_a_file(room):
    names = two_versions(room / "whole")
    for what in "pipe", "directory", "socket", "device", "loop":
        for name in names:
            directory = room / f"{what}-{name}"
            shutil.copytree(room / "whole", directory)
            with Server(directory) as s:
                put_instead(directory / name, what)
                if name == "1.store":  # the builder alone reads it, and makes a new base
                    if what == "directory":
                        continue  # which a builder does not remove
                    build(directory, malware=[*LISTED, "third.example"])
                    s.wait_for(lambda: s.metric("version") == 3, "version 3")
                    assert s.ask("/v1/update").json()["base"] == 3
                    continue
                s.hup()
                s.wait_for(lambda: s.metric("failed_reloads_total") > 0, (what, name))
                check_answers(s)
                assert "still serving version 2" in s.stop(), (what, name)
            reason = {"pipe": "not a regular file", "directory": "not a regular file",
                      "socket": "", "device": "not a regular file", "loop": ""}[what]
            refused(directory, LISTED[0], reason)
            if name == "manifest":
                done = subprocess.run([TAMIS, "guard", "build", directory,
                                       f"malware={room / 'whole-malware.txt'}"],
                                      capture_output=True, text=True, timeout=PATIENCE)
                assert done.returncode == 2 and reason in done.stderr, (what, done.stderr)


def test_no_proc(room):
    """The copy in memory is opened through /proc. Where that is missing, the reason says so."""
    if "sanitize" in os.environ.get("TEST_CFLAGS", ""):
        print("not tested without /proc: sanitizers require it")
        return
    build(room / "d", malware=HOSTS)
    hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
              'mount -t tmpfs none /proc && exec "$@"', "sh"]
    try:
        subprocess.run([*hidden, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("not tested without /proc: there is no unshare, or it is not allowed")
        return
    run = subprocess.run([*hidden, TAMIS, "guard", "check", str(room / "d"),
                          f"http://{HOSTS[0]}/"], capture_output=True, text=True)
    assert run.returncode == 2 and run.stdout == ""
    assert "the copy in memory (/proc/self/fd/" in run.stderr, run.stderr


def test_list_from_a_pipe(room):
    """A list, unlike the directory's files, may be a pipe."""
    os.mkfifo(room / "list")
    writer = threading.Thread(target=lambda: (room / "list").write_text("piped.example\n"))
    writer.start()
    tamis("guard", "build", room / "d", f"malware={room / 'list'}")
    writer.join()
    assert tamis("guard", "check", room / "d", "piped.example").startswith("listed")
    (room / "folder").mkdir()
    tamis("guard", "build", room / "d", f"malware={room / 'folder'}", status=2)
    assert tamis("guard", "check", room / "d", "piped.example").startswith("listed")


def test_old_versions_go(room):
    """A version that nobody uses any more takes no memory and no descriptor."""
    two_versions(room / "d")

    def held(s):
        maps = open(f"/proc/{s.process.pid}/maps").read()
        return maps.count("memfd:tamis-guard-store"), len(os.listdir(f"/proc/{s.process.pid}/fd"))
    with Server(room / "d") as s:
        s.confirm(prefix(NEW))
        stores, descriptors = held(s)
        assert stores == 1
        for version in range(3, 9):
            build(room / "d", malware=[*LISTED, f"version{version}.example"])
            s.hup()
            s.wait_for(lambda: s.metric("version") == version, version)
            overwrite(room / "d" / f"{version}.store", "half")  # a reload that fails, as well
            failed = s.metric("failed_reloads_total")
            s.hup()
            s.wait_for(lambda: s.metric("failed_reloads_total") > failed, "a failed reload")

        def is_alone():
            now = held(s)
            return now[0] == 1 and now[1] <= descriptors
        s.wait_for(is_alone, "only the present version")
        s.stop()


class Flood(threading.Thread):
    """Signals without a pause until the process is gone."""
    def __init__(self, process, number):
        super().__init__()
        self.process, self.number, self.sent = process, number, 0
        self.enough = threading.Event()
        self.start()

    def run(self):
        # As a zombie, which it stays until this program asks for its status, it takes signals too.
        while not self.enough.is_set():
            os.kill(self.process.pid, self.number)
            self.sent += 1


def test_signals(room):
    """SIGTERM ends a server however many SIGHUPs arrive, and the exit status stays 0."""
    build(room / "d", malware=[f"host{i}.example" for i in range(100000)])
    for ending in signal.SIGTERM, signal.SIGINT:
        with Server(room / "d") as s:
            flood = Flood(s.process, signal.SIGHUP)
            try:
                s.wait_for(lambda: flood.sent > 1000, "a flood")
                assert s.confirm(prefix("host7.example"))["hashes"] == [sha("host7.example")]
                reloads = s.metric("reloads_total")
                s.process.send_signal(ending)
                # Its output ends with it. Its status is asked for only after the flood, because
                # the number of the process could be another's by then.
                assert s.process.stdout.read() == "" and s.process.stderr.read() == ""
            finally:
                flood.enough.set()
                flood.join()
            assert s.process.wait(PATIENCE) == 0 and reloads == 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-files-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
