"""Every command that writes, struck by every fault: each system call and each allocation fails in
turn, once and for ever, the disk is full after any number of bytes, the process is killed, and
cleaning up fails as well. Whatever happens, the file is the old or the new one, whole; exit 0 means
the new one, anything else is exit 2 with a reason; nothing is left lying around, unless removing it
failed. Commands that only read answer as ever, or exit 2. Without a fault nothing is named before
it is on the disk. The same holds on file systems without hard links; on those without locks,
commands that need one say so and change nothing, and all others work.

TAMIS_FAULTS=all strikes everywhere (tests/long/test_long_faults.py), else a sample;
TAMIS_FAULTS=kinds a sample of every kind. tests/fault/shim.c makes the faults."""
import concurrent.futures
import os
import shutil
import sys
import tempfile
import threading
import zlib

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import scenarios  # noqa: E402
import workshop  # noqa: E402

TAMIS = os.environ["TAMIS"]
ALL = os.environ.get("TAMIS_FAULTS") == "all"
KINDS = ALL or os.environ.get("TAMIS_FAULTS") == "kinds"
MOST = 200000  # calls, allocations or bytes: more than any of these commands has
EVERY_BYTE = 6000  # of files up to this size


def once(how, **more):
    return {"FAULT_HOW": how, "FAULT_ONCE": "1", **more}


# name: environment; the number of the call is added as FAULT_AT, FAULT_MEMORY or FAULT_BYTES
CALLS = {
    "EIO once": once("EIO"),
    "EIO for ever": {"FAULT_HOW": "EIO"},
    "EIO, and cleaning up fails": once("EIO", FAULT_ALSO="unlink,unlinkat,close,ftruncate64"),
    "kill": {"FAULT_HOW": "kill"},
    "EIO once, without O_TMPFILE": once("EIO", FAULT_NO_TMPFILE="1"),
    "kill after, without O_TMPFILE": {"FAULT_HOW": "kill", "FAULT_AFTER": "1",
                                      "FAULT_NO_TMPFILE": "1"},
}
MORE_CALLS = {
    "ENOSPC once": once("ENOSPC"),
    "ENOSPC for ever": {"FAULT_HOW": "ENOSPC"},
    "EINTR once": once("EINTR"),
    "EINTR for ever": {"FAULT_HOW": "EINTR"},
    "short once": once("short"),
    "short for ever": {"FAULT_HOW": "short"},
    "kill after": {"FAULT_HOW": "kill", "FAULT_AFTER": "1"},
    "kill, without O_TMPFILE": {"FAULT_HOW": "kill", "FAULT_NO_TMPFILE": "1"},
    "EIO for ever, without O_TMPFILE": {"FAULT_HOW": "EIO", "FAULT_NO_TMPFILE": "1"},
    "EIO, and no memory from then on": once("EIO", FAULT_ALSO="memory"),
    "EIO, no memory, no cleaning up": once("EIO", FAULT_ALSO="memory,unlink,unlinkat,close"),
    "ENOSPC, no cleaning up, without O_TMPFILE": once("ENOSPC", FAULT_ALSO="unlink,unlinkat",
                                                      FAULT_NO_TMPFILE="1"),
}
BYTES = {"disk full": {},
         "disk full once, without O_TMPFILE": {"FAULT_ONCE": "1", "FAULT_NO_TMPFILE": "1"}}
MORE_BYTES = {
    "disk full, and cleaning up fails": {"FAULT_ALSO": "unlink,unlinkat,close,ftruncate64"}}
# On poorer file systems, for commands that write.
NO_LINKS = {"FAULT_NO_LINKS": "EPERM"}
LAST_RESORT = {"FAULT_NO_LINKS": "EOPNOTSUPP", "FAULT_NO_RENAME2": "EINVAL"}
POOR_CALLS = {
    "EIO once, without links": once("EIO", **NO_LINKS),
    "kill after, without links and O_TMPFILE": {"FAULT_HOW": "kill", "FAULT_AFTER": "1",
                                                "FAULT_NO_TMPFILE": "1", **NO_LINKS},
    "EIO once, without links and renameat2": once("EIO", **LAST_RESORT),
    "EIO, and cleaning up fails, without links and renameat2": once(
        "EIO", FAULT_ALSO="unlink,unlinkat,close", **LAST_RESORT),
    "kill, without links, renameat2 and O_TMPFILE": {"FAULT_HOW": "kill", "FAULT_NO_TMPFILE": "1",
                                                     **LAST_RESORT},
}
POOR_BYTES = {"disk full, without links": NO_LINKS,
              "disk full once, without links and renameat2": {"FAULT_ONCE": "1", **LAST_RESORT}}
LOCKLESS_CALLS = {"EIO once, without locks": once("EIO", FAULT_NO_LOCKS="ENOSYS")}
LOCKLESS = ({"FAULT_NO_LOCKS": "ENOSYS"}, {"FAULT_NO_LOCKS": "ENOLCK", "FAULT_NO_TMPFILE": "1"},
            {"FAULT_NO_LOCKS": "EOPNOTSUPP"},
            {"FAULT_NO_LOCKS": "ENOLCK", "FAULT_NO_TMPFILE": "1", **LAST_RESORT})
LINKLESS = [{"FAULT_NO_LINKS": links, "FAULT_NO_RENAME2": rename2, "FAULT_NO_TMPFILE": no_tmpfile}
            for links in ("EPERM", "EOPNOTSUPP") for rename2 in ("", "ENOSYS", "EINVAL")
            for no_tmpfile in ("0", "1")]
RANDOM = {"no random numbers": {"FAULT_HOW": "EIO", "FAULT_CALLS": "getentropy,getrandom"}}
MEMORY = {"no memory once": {"FAULT_ONCE": "1"}, "no memory any more": {}}
MORE_MEMORY = {"no memory once, and cleaning up fails": {"FAULT_ONCE": "1",
                                                         "FAULT_ALSO": "unlink,unlinkat,close"}}


class Sweep:
    def __init__(self, room, shim):
        self.room, self.shim = room, shim
        self.lock = threading.Lock()
        self.runs, self.struck, self.complaints = 0, set(), []

    def run(self, scenario, environment):
        """In a directory of this thread; returns what came of it."""
        place = os.path.join(self.room, threading.current_thread().name)
        directory, trace = os.path.join(place, "run"), os.path.join(place, "trace")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(scenario.template, directory)
        return scenarios.Run(TAMIS, scenario, directory, trace,
                             {"LD_PRELOAD": self.shim, **environment})

    def complain(self, scenario, fault, text):
        with self.lock:
            self.complaints.append(f"{scenario.name}, {fault}: {text}")
            print(self.complaints[-1], flush=True)

    def check(self, scenario, fault, run, environment):
        with self.lock:
            self.runs += 1
            self.struck |= {name for name, _ in run.hits}
        for text in scenario.complaints(run, environment):
            self.complain(scenario, f"{fault} ({run.hits[0][0]})", text)

    def strike(self, scenario, variable, name, ways, step):
        """Every N-th of whatever the variable counts, until it is never reached; each command
        begins elsewhere."""
        at = zlib.crc32((scenario.name + name).encode()) % step + (variable != "FAULT_BYTES")
        while at < MOST:
            environment = {**ways, variable: str(at)}
            run = self.run(scenario, environment)
            if not run.hits:
                if not scenario.is_untouched(run):
                    self.complain(scenario, name, f"fails untouched: {run.code} {run.said}")
                return
            self.check(scenario, f"{name} at {at}", run, environment)
            at += step
        self.complain(scenario, name, "never ends")

    def is_safe(self, scenario):
        """Without a fault: what a power failure could undo, on any file system."""
        lockless = [] if scenario.needs_lock else LOCKLESS
        linkless = LINKLESS if ALL else [LINKLESS[i] for i in (0, 3, 7, 10)]  # each error once
        for lack in ({}, {"FAULT_NO_TMPFILE": "1"}, *lockless, *linkless):
            report = os.path.join(self.room, threading.current_thread().name + "-synced")
            run = self.run(scenario, {**lack, "FAULT_SYNC": report})
            with open(report) as f:
                for line in filter(scenario.is_loss, f):
                    self.complain(scenario, f"power failure {lack}", line.strip())
            if not scenario.is_untouched(run):
                self.complain(scenario, f"no fault {lack}", f"fails: {run.code} {run.said}")

    def is_refused(self, scenario):
        """Without locks: a reason, and nothing has changed."""
        for lack in LOCKLESS:
            run = self.run(scenario, lack)
            if run.code != 2 or "lock" not in run.said:
                self.complain(scenario, f"no fault {lack}", f"ended with {run.code}: {run.said}")
            if tree(run.directory) != tree(scenario.template):
                self.complain(scenario, f"no fault {lack}", "refused, and changed something")


def tree(directory):
    """All files, and folders, with their content."""
    return {os.path.relpath(os.path.join(place, name),
                            directory): scenarios.read(os.path.join(place, name))
            for place, folders, files in os.walk(directory) for name in (*folders, *files)}


def of_bytes(s):
    """How the disk is filled: at every byte, but of what is too big for that at so many places."""
    some = max(1, s.size // (40 if ALL else 4))
    if not ALL:
        return [("FAULT_BYTES", BYTES, some)]
    step = 1 if s.size <= EVERY_BYTE else s.size // s.places
    # All kinds are written by the same few lines, so one of them is enough for the other ways.
    first, second = ({name: BYTES[name]} for name in BYTES)
    return [("FAULT_BYTES", first, step),
            ("FAULT_BYTES", second, some if s.is_like_others else step),
            *([] if s.is_like_others else [("FAULT_BYTES", MORE_BYTES, some)])]


def plans_for(s):
    """What is counted, in which ways it fails, and how often it is struck."""
    if s.only is not None:
        return [("FAULT_AT", {name: {**CALLS[name], "FAULT_CALLS": s.only}
                              for name in ("EIO once", "EIO for ever")}, 1)]
    plans = [("FAULT_AT", CALLS, 1 if ALL else 6),
             ("FAULT_MEMORY", MEMORY, 1 if ALL else 100 if s.is_slow else 10)]
    plans += [("FAULT_AT", RANDOM, 1)] if s.draws else []
    plans += of_bytes(s) if s.writes else []
    if s.writes and not s.is_like_others:
        poor = {**POOR_CALLS, **({} if s.needs_lock else LOCKLESS_CALLS)}
        plans += [("FAULT_AT", poor, 1 if ALL else 25),
                  ("FAULT_BYTES", POOR_BYTES, max(1, s.size // (40 if ALL else 1)))]
    if ALL and not s.is_like_others:
        plans += [("FAULT_AT", MORE_CALLS, 1), ("FAULT_MEMORY", MORE_MEMORY, 1)]
    return plans


def tasks(sweep, all_scenarios):
    for s in all_scenarios:
        if s.writes:
            yield sweep.is_safe, s
        if s.needs_lock:
            yield sweep.is_refused, s
        for variable, ways, step in plans_for(s):
            for name, environment in ways.items():
                yield sweep.strike, s, variable, name, environment, step


# What writers cannot do without: if one of these is never struck, the shim has lost its grip.
ESSENTIAL = {"open64", "openat64", "fstat64", "pread64", "write", "fsync", "linkat", "renameat",
             "unlinkat", "close",
             "pwrite", "fdatasync", "mmap", "read", "flock", "memory", "getrandom",
             "mkdir", "opendir", "getentropy",
             "realpath", "fcntl64", "renameat2", "pthread_create", "mlock", "madvise",
             "fclose", "fflush", "fwrite"}


# guard fetch needs a server of lists: test_faults_fetch.py. migrate has no files; servers that fail
# are in tests/cluster/test_cluster_migrate_trouble.py.
ELSEWHERE = {"guard fetch", "migrate"}


def forgotten(found):
    """Commands that nothing strikes."""
    names = scenarios.commands(TAMIS)
    return sorted(set(names) - {scenarios.command_of(s, names) for s in found} - ELSEWHERE)


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would only be slower
    with tempfile.TemporaryDirectory(prefix="tamis-faults-", dir=memory) as room:
        sweep = Sweep(room, workshop.compile_shim(os.path.join(room, "shim.so")))
        found = scenarios.make(TAMIS, os.path.join(room, "templates"), KINDS)
        wanted = os.environ.get("TEST_ONLY")
        found = [s for s in found if not wanted or s.name in wanted.split(";")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            waiting = [(task[1].name, pool.submit(*task)) for task in tasks(sweep, found)]
            for i, (name, done) in enumerate(waiting):
                done.result()
                if i + 1 == len(waiting) or waiting[i + 1][0] != name:
                    print(f"{name}: done, {sweep.runs} faults so far", flush=True)
        if not wanted and forgotten(found):
            sweep.complaints.append("forgotten")
            print(f"commands without a scenario in tests/fault/scenarios.py: {forgotten(found)}")
        if not wanted and not ESSENTIAL <= sweep.struck:
            sweep.complaints.append("never struck")
            print(f"never struck: {sorted(ESSENTIAL - sweep.struck)}")
        print(f"{len(found)} commands, {sweep.runs} faults, {len(sweep.complaints)} complaints")
        return 1 if sweep.complaints or not sweep.runs else 0


if __name__ == "__main__":
    sys.exit(main())
