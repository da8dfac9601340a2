"""A mirror that nobody trusts: it swaps, mixes, truncates and replays the files of signed versions,
removes signatures and signs by other keys. `tamis guard check` and `tamis guard serve` with pinned
keys refuse each attempt with its reason, give no verdict from it, and keep what they had."""
import base64
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import subprocess  # noqa: E402

import reader_signed  # noqa: E402
import serving  # noqa: E402
from serving import PATIENCE, TAMIS, Server, prefix, tamis  # noqa: E402

HOSTS = [f"host-{i}.example" for i in range(100)]
HOUR = 3600


class World:
    """Versions 1 to 4 of a list as they were published, and keys: the pinned one, the next one, and
    one of a stranger, as files and as the second reader has them."""

    def __init__(self, room):
        self.room, self.versions, self.keys = room, {}, {}
        for name in ("mine", "next", "stranger"):
            tamis("key", "new", "-q", "--sign", room / f"{name}.sec")
            self.keys[name] = reader_signed.SecretKey((room / f"{name}.sec").read_bytes())
        for version in range(1, 5):
            self.publish(version)

    def publish(self, version, *options):
        """Version N lists the first hosts and new-N.example."""
        self.room.joinpath("list.txt").write_text(
            "".join(h + "\n" for h in HOSTS + [f"new-{version}.example"]))
        tamis("guard", "build", "-q", self.room / "origin", f"bad={self.room}/list.txt", "--sign",
              self.room / "mine.sec", *options)
        self.versions[version] = shutil.copytree(self.room / "origin", self.room / f"v{version}")

    def manifest(self, version):
        return reader_signed.Manifest((self.versions[version] / "manifest").read_bytes())

    def pub(self, name):
        return self.room / f"{name}.sec.pub"


def copy(to, source, manifest=None):
    """Puts a version in the place of another, the manifest last, as a mirror should."""
    to.mkdir(exist_ok=True)
    (to / "manifest").unlink(missing_ok=True)
    for path in to.iterdir():
        path.unlink()
    for path in source.iterdir():
        if path.name != "manifest":
            shutil.copy(path, to)
    (to / "new-manifest").write_bytes(manifest or (source / "manifest").read_bytes())
    (to / "new-manifest").rename(to / "manifest")


def check(directory, world, state, *urls, keys=("mine",)):
    pinned = [word for key in keys for word in ("--pubkey", str(world.pub(key)))]
    return subprocess.run([TAMIS, "guard", "check", str(directory), *pinned, "--state", str(state),
                           *urls], capture_output=True, text=True, timeout=PATIENCE)


# --- Attacks: what the mirror does to a copy of a version, and the reason for which it is refused

DAMAGED = "damaged, or not the version that the manifest names"


def swapped(world, to):
    """The delta of one version under the name of another."""
    copy(to, world.versions[3])
    shutil.copy(world.versions[4] / "4.delta", to / "3.delta")


def mixed(world, to):
    """The store of the version before, which does not list the newest host."""
    copy(to, world.versions[4])
    shutil.copy(world.versions[3] / "3.store", to / "4.store")


def mixed_base(world, to):
    """The store of the base in the place of the store."""
    copy(to, world.versions[4])
    shutil.copy(to / "1.store", to / "4.store")


def truncated(world, to):
    copy(to, world.versions[4])
    path = to / "1.filter"
    path.write_bytes(path.read_bytes()[:-1])


def without_part(world, to):
    copy(to, world.versions[4])
    (to / "4.delta").unlink()


def truncated_manifest(world, to):
    whole = (world.versions[4] / "manifest").read_bytes()
    copy(to, world.versions[4], whole[:-100])


def replayed(world, to):
    copy(to, world.versions[2])


def replayed_as_newer(world, to):
    m = world.manifest(2).set("version", 9)
    copy(to, world.versions[2], m.bytes())
    for part in ("delta", "store"):
        (to / f"2.{part}").rename(to / f"9.{part}")


def unsigned(world, to):
    m = world.manifest(4)
    m.signatures = []
    copy(to, world.versions[4], m.bytes())


def unsigned_of_version_1(world, to):
    m = world.manifest(4)
    m.signatures, m.lines[0] = [], "tamis-guard 1\n"
    copy(to, world.versions[4], m.bytes())


def other_key(world, to):
    copy(to, world.versions[4], world.manifest(4).sign(world.keys["stranger"]).bytes())


def other_key_with_our_number(world, to):
    m = world.manifest(4).sign(world.keys["stranger"])
    m.signatures = [(world.keys["mine"].number, m.signatures[0][1])]
    copy(to, world.versions[4], m.bytes())


def signature_of_another_version(world, to):
    m = world.manifest(4)
    m.signatures = world.manifest(3).signatures
    copy(to, world.versions[4], m.bytes())


def line_behind_the_signature(world, to):
    text = world.manifest(4).bytes()[:-69] + b"label unsigned\n"
    sum_line = b"sum %s\n" % reader_signed.hashlib.sha256(text).hexdigest().encode()
    copy(to, world.versions[4], text + sum_line)


def expiry_removed(world, to):
    m = world.manifest(4).set("expires", int(time.time()) + HOUR).sign(world.keys["mine"])
    m.lines.pop()
    copy(to, world.versions[4], m.bytes())


# Those of somebody who has the key, or whose clock is wrong.
def expired(world, to):
    m = world.manifest(4).set("expires", int(time.time()) - 10).sign(world.keys["mine"])
    copy(to, world.versions[4], m.bytes())


def from_the_future(world, to):
    m = world.manifest(4).set("built", int(time.time()) + 2 * HOUR).sign(world.keys["mine"])
    copy(to, world.versions[4], m.bytes())


def same_version_twice(world, to):
    m = world.manifest(3).set("id", "0" * 32).sign(world.keys["mine"])
    copy(to, world.versions[3], m.bytes())


def built_before(world, to):
    m = world.manifest(4).set("built", int(time.time()) - HOUR).sign(world.keys["mine"])
    copy(to, world.versions[4], m.bytes())


ATTACKS = [
    (swapped, DAMAGED), (mixed, DAMAGED), (mixed_base, DAMAGED), (truncated, DAMAGED),
    (without_part, "No such file"), (truncated_manifest, "damaged, or written by a newer version"),
    (replayed, "version 2 is older than version 3"),
    (replayed_as_newer, "is wrong: this is not what was signed"),
    (unsigned, "it is not signed"), (unsigned_of_version_1, "it is not signed"),
    (other_key, "which is not one of the given public keys"),
    (other_key_with_our_number, "is wrong: this is not what was signed"),
    (signature_of_another_version, "is wrong: this is not what was signed"),
    (line_behind_the_signature, "damaged, or written by a newer version"),
    (expiry_removed, "is wrong: this is not what was signed"), (expired, "the list expired at"),
    (from_the_future, "the list was built in the future"),
    (same_version_twice, "this is another version 3"),
    (built_before, "before the accepted version 3"),
]


def test_check(room):
    """No verdict from any of them, and the memory stays as it was."""
    world, mirror, state = World(room), room / "mirror", room / "state"
    copy(mirror, world.versions[3])
    done = check(mirror, world, state, "new-3.example")
    assert done.returncode == 0 and done.stdout.startswith("listed"), done
    remembered = state.read_bytes()
    for attack, reason in ATTACKS:
        attack(world, mirror)
        done = check(mirror, world, state, "new-3.example", "host-1.example")
        assert (done.returncode, done.stdout) == (2, ""), (attack.__name__, done)
        assert reason in done.stderr and done.stderr.count("\n") == 1, (attack.__name__, done)
        assert state.read_bytes() == remembered, attack.__name__
    copy(mirror, world.versions[4])  # an honest mirror is accepted, without any key of its own
    done = check(mirror, world, state, "new-4.example", "new-3.example")
    assert done.returncode == 0 and "clean       new-3.example" in done.stdout, done
    assert b"version 4\n" in state.read_bytes()
    replayed_reason = check(world.versions[3], world, state, "new-3.example").stderr
    assert "version 3 is older than version 4" in replayed_reason, replayed_reason
    state.unlink()  # on purpose
    assert check(world.versions[3], world, state, "new-3.example").returncode == 0


def test_nothing_is_required_without_keys(room):
    world = World(room)
    unsigned(world, room / "mirror")
    assert "listed" in tamis("guard", "check", room / "mirror", "new-4.example")


def test_serve(room):
    """The server keeps its version through all of them, and then takes an honest one."""
    world, mirror, state = World(room), room / "mirror", room / "state"
    copy(mirror, world.versions[3])
    with Server(mirror, "--pubkey", str(world.pub("mine")), "--state", str(state)) as server:
        remembered = state.read_bytes()
        for attack, reason in ATTACKS:
            failed = server.metric("failed_reloads_total")
            attack(world, mirror)
            server.hup()
            server.wait_for(lambda: server.metric("failed_reloads_total") > failed,
                            attack.__name__)
            assert server.metric("version") == 3, attack.__name__
            assert server.confirm(prefix("new-3.example"))["hashes"], attack.__name__
            assert not server.confirm(prefix("new-4.example"))["hashes"], attack.__name__
            assert state.read_bytes() == remembered, attack.__name__
        copy(mirror, world.versions[4])
        server.hup()
        server.wait_for(lambda: server.metric("version") == 4, "an honest version is served")
        said = server.stop()
    for attack, reason in ATTACKS:
        assert reason in said, (attack.__name__, said)


def test_memory_of_a_server(room):
    """It needs no file for what it has served itself."""
    world, mirror = World(room), room / "mirror"
    copy(mirror, world.versions[4])
    with Server(mirror, "--pubkey", str(world.pub("mine"))) as server:
        copy(mirror, world.versions[2])
        server.hup()
        server.wait_for(lambda: server.metric("failed_reloads_total") > 0, "a replay is refused")
        assert server.metric("version") == 4
        assert "version 2 is older than version 4" in server.stop()


def test_expiry_in_use(room):
    """A version that expires while it is served stays, and a message says so."""
    world = World(room)
    for seconds in (2, 10, 60):  # a slow machine needs more until the server has opened it
        m = world.manifest(4).set("expires", int(time.time()) + seconds).sign(world.keys["mine"])
        copy(room / "mirror", world.versions[4], m.bytes())
        try:
            server = Server(room / "mirror", "--pubkey", str(world.pub("mine")))
        except AssertionError as error:
            assert "the list expired at" in str(error), error
            continue
        with server:
            assert server.metric("expires_timestamp_seconds") == int(m.field("expires"))
            server.wait_for(lambda: time.time() > int(m.field("expires")) + 2, "it expires")
            assert server.confirm(prefix("new-4.example"))["hashes"]
            said = server.stop()
        assert said.count("version 4 has expired and is still served") == 1, said
        return
    raise AssertionError("the server never opened it in time")


def test_signed_again(room):
    """The same version with a later expiry, or with another signature, is taken up."""
    world, mirror = World(room), room / "mirror"
    m = world.manifest(4).set("expires", int(time.time()) + HOUR).sign(world.keys["mine"])
    copy(mirror, world.versions[4], m.bytes())
    with Server(mirror, "--pubkey", str(world.pub("mine"))) as server:
        for keys in (("mine",), ("mine", "next")):
            m.set("expires", int(m.field("expires")) + HOUR)
            m.sign(*(world.keys[key] for key in keys))
            copy(mirror, world.versions[4], m.bytes())
            server.hup()
            server.wait_for(lambda: server.metric("expires_timestamp_seconds") ==
                            int(m.field("expires")), "the later expiry")
            assert server.ask("/v1/update").json()["manifest"].encode() == m.bytes()
        m.sign(world.keys["mine"])
        copy(mirror, world.versions[4], m.bytes())
        server.hup()
        server.wait_for(lambda: server.ask("/v1/update?from=4").json()["manifest"].encode() ==
                        m.bytes(), "the other signatures")
        assert server.metric("failed_reloads_total") == 0


def test_update(room):
    """/v1/update has the manifest byte for byte, and the second reader verifies it."""
    world = World(room)
    text = (world.versions[4] / "manifest").read_bytes()
    with Server(world.versions[4]) as server:  # a server need not check what clients check
        for ask in ("", "?from=4", "?from=1"):
            answer = server.ask("/v1/update" + ask).json()
            assert answer["manifest"].encode() == text
            m = reader_signed.Manifest(answer["manifest"].encode())
            m.verify(world.pub("mine").read_bytes())
            assert m.field("id") == answer["id"] and m.field("version") == str(answer["version"])
    unsigned(world, room / "mirror")
    with Server(room / "mirror") as server:
        for ask in ("", "?from=4"):
            assert server.ask("/v1/update" + ask).json()["manifest"] is None


def test_change_of_keys(room):
    """Two keys sign while clients move from the one to the other."""
    world, state = World(room), room / "state"
    both = room / "origin"
    tamis("guard", "build", "-q", both, f"bad={room}/list.txt", "--sign", room / "mine.sec",
          "--sign", room / "next.sec")
    for keys in (("mine",), ("next",), ("mine", "next"), ("stranger", "next")):
        assert check(both, world, state, "new-4.example", keys=keys).returncode == 0, keys
    done = check(both, world, state, "new-4.example", keys=("stranger",))
    assert done.returncode == 2 and "which is not one of" in done.stderr, done
    tamis("guard", "build", "-q", both, f"bad={room}/list.txt", "--sign", room / "next.sec")
    assert check(both, world, state, "new-4.example", keys=("next",)).returncode == 0
    assert check(both, world, state, "new-4.example", keys=("mine",)).returncode == 2


def test_clock_set_back(room):
    """A build that clients would refuse is not published."""
    world = World(room)
    m = world.manifest(4).set("built", int(time.time()) + HOUR).sign(world.keys["mine"])
    copy(room / "origin", world.versions[4], m.bytes())
    done = subprocess.run([TAMIS, "guard", "build", room / "origin", f"bad={room}/list.txt",
                           "--sign", room / "mine.sec"], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.endswith(
        "set the clock, wait, or use a new directory\n"), done
    assert (room / "origin" / "manifest").read_bytes() == m.bytes()


def test_shared_memory(room):
    """Programs that use one memory at the same time never move it back."""
    world, state = World(room), room / "state"
    running = [subprocess.Popen([TAMIS, "guard", "check", str(world.versions[1 + i % 4]),
                                 "--pubkey", str(world.pub("mine")), "--state", str(state),
                                 "host-1.example"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
               for i in (3, 0, 1, 2, 0, 3, 2, 1, 0, 3, 1, 2) * 3]
    results = [(p.communicate(timeout=PATIENCE), p.returncode) for p in running]
    assert b"version 4\n" in state.read_bytes()
    for (out, err), status in results:
        assert status == 0 or (status == 2 and "is older than version" in err), (out, err)


# Another program creates the memory with version 1 just after this one found none, and replaces it
# by version 4 just before this one does, unless the lock prevents that.
CREATED_MEANWHILE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int stage;
static int ends(const char *path)
{
    const size_t n = strlen(path);
    return n > 6 && strcmp(path + n - 6, "/state") == 0;
}
static void replace(const char *path, const char *by)
{
    char from[4096];
    snprintf(from, sizeof from, "%s.%s", path, by);
    rename(from, path);
    stage++;
}
static int opened(const char *name, const char *path, int flags, int mode)
{
    int (*next)(const char *, int, ...);
    *(void **)&next = dlsym(RTLD_NEXT, name);
    const int fd = next(path, flags, mode), os = errno;
    if (fd < 0 && stage == 0 && ends(path) && (flags & O_ACCMODE) == O_RDWR) replace(path, "1");
    errno = os;
    return fd;
}
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = va_arg(args, int);
    va_end(args);
    return opened("open", path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = va_arg(args, int);
    va_end(args);
    return opened("open64", path, flags, mode);
}
static void before_writing(const char *path)
{
    if (stage != 1 || !ends(path)) return;
    int (*next)(const char *, int, ...);
    *(void **)&next = dlsym(RTLD_NEXT, "open");
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = next(path, O_RDWR);
    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0) replace(path, "4");
    if (fd >= 0) close(fd);
}
char *realpath(const char *path, char *out)
{
    char *(*next)(const char *, char *);
    *(void **)&next = dlsym(RTLD_NEXT, "realpath");
    before_writing(path);
    return next(path, out);
}
char *__realpath_chk(const char *path, char *out, size_t room)
{
    (void)room;
    return realpath(path, out);
}
"""


def test_memory_created_meanwhile(room):
    """What was locked is what is replaced, also if there was nothing to lock at first."""
    if "-fsanitize" in os.environ.get("TEST_CFLAGS", ""):
        return  # whose library must be loaded first
    world, state, shim = World(room), room / "state", room / "shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", shim, "-ldl"],
                   input=CREATED_MEANWHILE, text=True, check=True)
    for version in (1, 4):
        check(world.versions[version], world, room / f"state.{version}", "host-1.example")
    done = subprocess.run([TAMIS, "guard", "check", world.versions[3], "--pubkey",
                           world.pub("mine"), "--state", state, "host-1.example"],
                          capture_output=True, text=True, timeout=PATIENCE,
                          env=dict(os.environ, LD_PRELOAD=str(shim)))
    assert not (room / "state.1").exists(), "the other program did something"
    # This program had the lock, and the other one must wait; or it sees what the other one did.
    replaced = not (room / "state.4").exists()
    assert (b"version 4\n" if replaced else b"version 3\n") in state.read_bytes(), done
    assert done.returncode == (2 if replaced else 0), done


def test_reasons_are_whole(room):
    """Long names do not cut them, and a memory that cannot be is reported as what it is."""
    world, mirror, state = World(room), room / ("x" * 200), room / "state"
    expired(world, mirror)
    done = check(mirror, world, state, "host-1.example")
    assert done.returncode == 2 and done.stderr.endswith(", and may be wrong\n"), done
    state.symlink_to(room / "nowhere")
    done = check(world.versions[4], world, state, "host-1.example")
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "a symbolic link to a file that does not exist" in done.stderr, done
    assert not (room / "nowhere").exists()
    check(world.versions[3], world, room / "nowhere", "host-1.example")
    assert check(world.versions[4], world, state, "host-1.example").returncode == 0  # as before
    assert state.is_symlink() and b"version 4\n" in (room / "nowhere").read_bytes()


def test_second_reader(room):
    """What the command writes, the second reader verifies; base64 is that of Python."""
    path, key = room / "file", room / "k.sec"
    tamis("key", "new", "-q", "--sign", key)
    secret = reader_signed.SecretKey(key.read_bytes())
    public = (room / "k.sec.pub").read_bytes()
    assert secret.number == reader_signed.PublicKey(public).number
    for n in (0, 1, 63, 64, 65, 100_000):
        path.write_bytes(bytes(i % 251 for i in range(n)))
        tamis("sign", "-f", "--seckey", key, path)
        text = (room / "file.sig").read_bytes()
        reader_signed.verify_file(public, path.read_bytes(), text)
        assert base64.b64encode(b"Ed" + secret.number + secret.sign(path.read_bytes())) in text
        try:
            reader_signed.verify_file(public, path.read_bytes() + b"x", text)
            raise AssertionError("the second reader accepts everything")
        except reader_signed.Wrong:
            pass


NO_HOGWEED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name != NULL && strstr(name, "hogweed") != NULL ? "libnowhere.so" : name, flags);
}
"""


def test_without_libhogweed(room):
    """It is loaded at run time. Without it nothing is signed or accepted, and a message says so."""
    if "-fsanitize" in os.environ.get("TEST_CFLAGS", ""):
        return  # whose library must be loaded first
    world = World(room)
    shim = room / "shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", shim, "-ldl"],
                   input=NO_HOGWEED, text=True, check=True)
    (room / "file").write_text("text")
    tamis("build", "-q", "-o", room / "f.tamis", room / "list.txt")
    tamis("sign", "--seckey", room / "mine.sec", room / "f.tamis")
    for words in (["key", "new", "--sign", room / "new.sec"],
                  ["sign", "--seckey", room / "mine.sec", room / "file"],
                  ["verify", "--pubkey", world.pub("mine"), room / "f.tamis"],
                  ["guard", "build", room / "new", room / "list.txt", "--sign", room / "mine.sec"],
                  ["guard", "check", world.versions[4], "--pubkey", world.pub("mine"),
                   "new-4.example"]):
        done = subprocess.run([TAMIS, *words], capture_output=True, text=True, timeout=PATIENCE,
                              env=dict(os.environ, LD_PRELOAD=str(shim)))
        assert (done.returncode, done.stdout) == (2, ""), (words, done)
        assert "libhogweed cannot be loaded: libnowhere.so" in done.stderr, (words, done)
    for name in ("new.sec", "new.sec.pub", "file.sig", "new"):
        assert not (room / name).exists(), name


with tempfile.TemporaryDirectory() as place:
    sys.exit(serving.main([test_check, test_nothing_is_required_without_keys, test_serve,
                           test_memory_of_a_server, test_expiry_in_use, test_signed_again,
                           test_update, test_change_of_keys, test_clock_set_back,
                           test_shared_memory, test_memory_created_meanwhile,
                           test_reasons_are_whole, test_second_reader,
                           test_without_libhogweed], place))
