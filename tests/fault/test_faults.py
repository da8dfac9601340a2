"""Every system call of a save fails, in turn: once and for ever, by an error, an interruption, a
short transfer or the death of the process, with O_TMPFILE and without, and on file systems without
locks or hard links. Whatever happens, the path holds the old file or the whole new one, success
means the new one, and nothing is left lying around.

tests/fault/shim.c makes the faults, tests/fault/saver.c is the program they strike."""
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import workshop  # noqa: E402

EIO_STATUS = 10
SANITIZER = 99

#      how, environment
WAYS = [(f"{how} {'once' if once else 'for ever'}", {"FAULT_HOW": how, "FAULT_ONCE": str(once)})
        for how in ("EIO", "ENOSPC", "EINTR", "short") for once in (1, 0)]
WAYS += [("kill before", {"FAULT_HOW": "kill"}),
         ("kill after", {"FAULT_HOW": "kill", "FAULT_AFTER": "1"})]

# What a save cannot do without: if one of these is never struck, the shim has lost its grip.
ESSENTIAL = {"open64", "fstat64", "pread64", "flock", "openat64", "fchmod", "write", "fsync",
             "linkat",
             "renameat", "renameat2", "unlinkat", "close"}


def lacks():
    """File systems, by name: the environment in which the shim lacks something."""
    for no_tmpfile in ("0", "1"):
        of_it = f" and with{'out' * int(no_tmpfile)} O_TMPFILE"
        for error in ("ENOSYS", "ENOLCK", "EOPNOTSUPP"):
            yield f"no locks ({error}){of_it}", {"FAULT_NO_LOCKS": error,
                                                 "FAULT_NO_TMPFILE": no_tmpfile}
        for links in ("EPERM", "EOPNOTSUPP"):
            for rename2 in ("", "ENOSYS", "EINVAL"):
                yield f"no links ({links}), renameat2 {rename2 or 'works'}{of_it}", {
                    "FAULT_NO_LINKS": links, "FAULT_NO_RENAME2": rename2,
                    "FAULT_NO_TMPFILE": no_tmpfile}
    yield "nothing of all that", {"FAULT_NO_LOCKS": "ENOLCK", "FAULT_NO_LINKS": "EPERM",
                                  "FAULT_NO_RENAME2": "EINVAL",
                                  "FAULT_NO_TMPFILE": "1"}


LACKS = dict(lacks())
# Those that take different ways through a save; each is struck at a fifth of its calls in each of
# these ways.
STRUCK_LACKS = ("no locks (ENOSYS) and with O_TMPFILE",
                "no links (EPERM), renameat2 works and with O_TMPFILE",
                "no links (EOPNOTSUPP), renameat2 EINVAL and with O_TMPFILE",
                "no links (EPERM), renameat2 works and without O_TMPFILE", "nothing of all that")
STRUCK_WAYS = ("EIO once", "ENOSPC for ever", "EINTR once", "kill before", "kill after")


class Call:
    def __init__(self, line):
        number, self.name, self.file, self.done = line.split()
        self.number = int(number)


class Run:
    """One run of the saver, on a fresh directory."""

    def __init__(self, room, saver, mode, environment, before):
        self.directory = os.path.join(room, "run")
        self.path = os.path.join(self.directory, "set.tamis")
        trace = os.path.join(room, "trace")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        if before is not None:
            with open(self.path, "wb") as f:
                f.write(before)
        if os.path.exists(trace):
            os.unlink(trace)
        try:
            done = subprocess.run([saver, mode, self.path],
                                  env={**environment, "FAULT_TRACE": trace},
                                  stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=60)
            self.code, self.said = done.returncode, done.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            self.code, self.said = None, "does not end"
        with open(trace) as f:
            self.calls = [Call(line) for line in f]
        self.hits = [c for c in self.calls if c.done != "ok"]

    def content(self):
        if not os.path.exists(self.path):
            return None
        with open(self.path, "rb") as f:
            return f.read()

    def others(self):
        return sorted(set(os.listdir(self.directory)) - {"set.tamis"})


def held_by_empty_file(run, environment):
    """Where a free name can only be taken by an empty file at first: that stays when nobody can
    remove it."""
    last_resort = environment.get("FAULT_NO_LINKS") and environment.get("FAULT_NO_RENAME2")
    return last_resort and run.code != 0 \
        and (run.code == -9 or any(c.name == "unlinkat" for c in run.hits))


def complaints(run, mode, environment, before, after):
    """What this run did wrong, as texts."""
    how, once = environment["FAULT_HOW"], environment.get("FAULT_ONCE") == "1"
    hit, content, others = run.hits[0].name, run.content(), run.others()
    written = {c.file for c in run.calls if c.name == "write"}
    unsynced = {c.file: c.number for c in run.hits
                if c.name == "fsync" and c.done == "fail" and c.file in written}
    bearable = how == "short" or how == "EINTR" and all(c.name in ("pread64", "write")
                                                        for c in run.hits)

    if how == "kill":
        if run.code != -9:
            yield "survived its death"
    elif run.code not in (0, EIO_STATUS):
        yield f"ended with {run.code}: {run.said}"
    if content == b"" and before is None and held_by_empty_file(run, environment):
        return
    if content not in (before, after):
        yield "the file is neither the old nor the new one"
    if run.code == 0 and content != after:
        yield "success, and the file is not the new one"
    if bearable and run.code != 0:
        yield f"cannot bear {how} in {hit}: {run.said}"
    if mode == "again" and once and how != "kill" and run.code != 0:
        yield f"one fault, and the second try failed too: {run.said}"

    if how != "kill" and others and not any(c.name == "unlinkat" for c in run.hits):
        yield f"left behind: {others}"
    if not all(name.startswith(".tamis-") and name.endswith(".tmp") for name in others):
        yield f"files of strange names: {others}"

    for file, number in unsynced.items():
        if any(c.name == "fsync" and c.file == file and c.number > number for c in run.calls):
            yield "synced again a file whose fsync had failed"
    if unsynced and mode != "again" and (run.code == 0 or content != before):
        yield "a file whose fsync failed was put to use"


class Sweep:
    def __init__(self, room, saver, shim):
        self.room, self.saver, self.shim = room, saver, shim
        self.runs = self.failures = 0
        self.struck = set()
        first = os.path.join(room, "first.tamis")
        second = os.path.join(room, "second.tamis")
        subprocess.run([saver, "make", first], check=True)
        shutil.copy(first, second)
        subprocess.run([saver, "update", second], check=True)
        if [workshop.generation(saver, p) for p in (first, second)] != [1, 2]:
            sys.exit("the saver does not even work without faults")
        packed = os.path.join(room, "packed")
        subprocess.run([saver, "pack", packed], check=True)
        with open(first, "rb") as f, open(second, "rb") as s, open(packed, "rb") as p:
            self.old, self.new, self.packed = f.read(), s.read(), p.read()

    def before_and_after(self, mode):
        before = None if mode in ("new", "make") else self.old
        return before, {"new": self.old, "make": self.old, "pack": self.packed}.get(mode, self.new)

    def complain(self, text):
        self.failures += 1
        print(text)

    def strike(self, saver, mode, name, environment, step=1):
        """The N-th call is struck, for every N there is, or for every step-th of them."""
        before, after = self.before_and_after(mode)
        for n in range(1 + zlib.crc32((mode + name).encode()) % step, 1000, step):
            run = Run(self.room, saver, mode, {**environment, "FAULT_AT": str(n)}, before)
            if not run.hits:
                if run.code != 0 or run.content() != after or run.others():
                    sys.exit(f"{mode}, {name}: fails untouched: {run.said}")
                return
            self.runs += 1
            self.struck |= {c.name for c in run.hits}
            for text in complaints(run, mode, environment, before, after):
                self.complain(f"{mode}, {name} from call {n} ({run.hits[0].name}) on: {text}")
        sys.exit(f"{mode}, {name}: more calls than there can be")

    def shim_works(self):
        """The counting that the rest relies on."""
        path, count = os.path.join(self.room, "second.tamis"), os.path.join(self.room, "count")
        for calls, mark, wanted in (("fsync,renameat", "second", "3"), ("fsync", "second", "2"),
                                    ("sync", "second", "0"), ("fsync", "elsewhere", "0")):
            subprocess.run([self.saver, "update", path], check=True, env={
                "LD_PRELOAD": self.shim, "FAULT_CALLS": calls, "FAULT_MARK": mark,
                "FAULT_COUNT": count})
            with open(count) as f:
                got = f.read().strip()
            if got != wanted:
                sys.exit(f"the shim counts {got} of {calls} from {mark} on, and there are {wanted}")

    def lost_file(self):
        """By a relative path, since only the absolute one is the same with the file and without."""
        shutil.copy(os.path.join(self.room, "first.tamis"), os.path.join(self.room, "lost.tamis"))
        done = subprocess.run([self.saver, "lost", "lost.tamis"], cwd=self.room)
        if done.returncode != 0 or workshop.generation(self.saver, self.room + "/lost.tamis") != 3:
            self.complain(f"a file removed under its writer: ended with {done.returncode}")

    def one_sort(self):
        """One call never works again, all others do: what is tried again and again must end."""
        for call in sorted(self.struck):
            for mode in ("update", "again", "new"):
                self.strike(self.saver, mode, f"EIO for ever in {call} only", {
                    "LD_PRELOAD": self.shim, "FAULT_CALLS": call, "FAULT_HOW": "EIO"})

    def plain(self):
        for no_tmpfile in ("0", "1"):
            for mode in ("update", "again", "new", "pack"):
                for name, how in WAYS:
                    environment = {"LD_PRELOAD": self.shim, "FAULT_NO_TMPFILE": no_tmpfile, **how}
                    self.strike(self.saver, mode, name + " without O_TMPFILE" * int(no_tmpfile),
                                environment)

    def lacking(self):
        """Without a fault every save works, but an update needs a lock; then some faults."""
        for name, lack in LACKS.items():
            for mode in ("update", "replace", "make", "new", "pack"):
                before, after = self.before_and_after(mode)
                run = Run(self.room, self.saver, mode, {"LD_PRELOAD": self.shim, **lack}, before)
                refused = mode == "update" and "FAULT_NO_LOCKS" in lack
                if refused and (run.code != EIO_STATUS or "lock" not in run.said
                                or run.content() != before):
                    self.complain(f"{mode}, {name}: {run.code} {run.said}")
                elif not refused and (run.code != 0 or run.content() != after):
                    self.complain(f"{mode}, {name}: {run.code} {run.said}")
                if run.others():
                    self.complain(f"{mode}, {name}: left behind: {run.others()}")
        for name in STRUCK_LACKS:
            for mode in ("replace", "new", "pack"):
                for way in STRUCK_WAYS:
                    self.strike(self.saver, mode, f"{way}, {name}",
                                {"LD_PRELOAD": self.shim, **LACKS[name],
                                                                   **dict(WAYS)[way]}, step=5)

    def sanitized(self, saver):
        """The same program with the shim built in, under the address and leak sanitizers."""
        options = f"exitcode={SANITIZER}:detect_leaks=1"
        trial = subprocess.run([saver, "check", os.path.join(self.room, "first.tamis")],
                               env={"ASAN_OPTIONS": options}, capture_output=True, text=True)
        if "LeakSanitizer has encountered a fatal error" in trial.stderr:
            print("leaks cannot be looked for here (ptrace is not allowed)")
            options = f"exitcode={SANITIZER}:detect_leaks=0"
        for mode in ("update", "again", "new"):
            for once in ("1", "0"):
                self.strike(saver, mode, "EIO, sanitized", {
                    "ASAN_OPTIONS": options, "FAULT_HOW": "EIO", "FAULT_ONCE": once})


def main():
    with tempfile.TemporaryDirectory(prefix="tamis-faults-") as room:
        saver = workshop.compile_saver(os.path.join(room, "saver"))
        shim = workshop.compile_shim(os.path.join(room, "shim.so"))
        watched = workshop.compile_saver(os.path.join(room, "watched"), workshop.SHIM,
                                         "-fsanitize=address,undefined",
                                         "-fno-sanitize-recover=all")
        sweep = Sweep(room, saver, shim)
        sweep.shim_works()
        sweep.lost_file()
        sweep.lacking()
        sweep.plain()
        sweep.one_sort()
        sweep.sanitized(watched)
        if not ESSENTIAL <= sweep.struck:
            sys.exit(f"never struck: {sorted(ESSENTIAL - sweep.struck)}")
        print(f"{sweep.runs} faults, {sweep.failures} complaints")
        return 1 if sweep.failures or not sweep.runs else 0


if __name__ == "__main__":
    sys.exit(main())
