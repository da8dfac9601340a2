"""What test_faults_commands.py and test_long_crash.py strike: commands, the directories they run
in, and what must hold afterwards."""
import http.client
import os
import re
import select
import shutil
import signal
import subprocess
import time

HOSTS = [f"host{i}.example" for i in range(400)]
PATIENCE = 120  # seconds: only what hangs takes so long
# Commands that change a file, or a record, which another process may be changing at that moment.
LOCKING = ("add", "remove", "rotate", "compact", "uniq", "merge", "release", "guard build")


def read(path):
    """None: there is no such file."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as f:
        return f.read()


class Run:
    """One run of the command, and what it left."""

    def __init__(self, tamis, scenario, directory, trace, environment):
        self.tamis, self.directory = tamis, directory
        self.last_resort = bool(environment.get("FAULT_NO_LINKS")
                                and environment.get("FAULT_NO_RENAME2"))
        process = subprocess.Popen([tamis, *scenario.words], cwd=directory,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env={**environment, "FAULT_TRACE": trace, "LC_ALL": "C"})
        try:
            self.out, said = scenario.attend(process)
            self.code, self.said = process.returncode, said.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.code, self.out, self.said = None, b"", "does not end"
        calls = [line.split() for line in (read(trace) or b"").decode().splitlines()]
        self.hits = [(c[1], c[3]) for c in calls if c[3] != "ok"]

    @classmethod
    def killed(cls, tamis, scenario, directory, moment):
        """One that is killed after so many seconds, unless it has ended before; None: never."""
        run = cls.__new__(cls)
        run.tamis, run.directory, run.out = tamis, directory, scenario.out
        run.said, run.last_resort = "", False
        process = subprocess.Popen([tamis, *scenario.words], cwd=directory,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if moment is not None:
            time.sleep(moment)
            process.kill()
        run.code = process.wait()
        run.hits = [("kill", "kill")] if run.code == -9 else []
        return run

    def content(self, name):
        return read(os.path.join(self.directory, name))

    def may_be_empty(self):
        """Whether a new file may be empty: without hard links and renameat2 an empty one holds its
        name for a moment."""
        return self.last_resort and (self.code == -9
                                     or any(name in ("unlink", "unlinkat")
                                            for name, _ in self.hits))

    def again(self, *words):
        return subprocess.run([self.tamis, *words], cwd=self.directory, capture_output=True,
                              timeout=PATIENCE,
                              stdin=subprocess.DEVNULL)


class Scenario:
    """A command whose result is always the same bytes."""
    weight = 4  # how often test_long_crash.py kills it, beside others
    draws = False  # random numbers, without which it must fail
    is_like_others = False  # except for the kind of its filter
    codes = (0, 1)  # one of them, without a fault
    is_slow = False
    places = 3000  # of a disk that is full, where a file has too many bytes for each of them
    only = None  # the one call that is struck; else all are

    def __init__(self, tamis, template, name, words, target=None):
        self.name, self.words, self.target, self.template = name, words, target, template
        self.writes = target is not None
        self.needs_lock = self.writes and not {words[0], " ".join(words[:2])}.isdisjoint(LOCKING)
        self.inputs = {n: read(os.path.join(template, n)) for n in os.listdir(template)}
        place = template + ".after"
        shutil.copytree(template, place)
        run = Run(tamis, self, place, template + ".trace", {})
        self.code, self.out = run.code, run.out
        if run.code not in self.codes or (self.writes and run.code != 0):
            raise SystemExit(f"{name}: fails without a fault: {run.code} {run.said}")
        self.learn(place)

    def learn(self, place):
        self.old = self.inputs.get(self.target)
        self.new = read(os.path.join(place, self.target)) if self.writes else None
        if self.writes and (self.new is None or self.new == self.old):
            raise SystemExit(f"{self.name}: writes nothing new")
        self.size = len(self.new or b"")

    def attend(self, process):
        """Until it ends; what it wrote and said."""
        return process.communicate(timeout=PATIENCE)

    def is_loss(self, report):
        """Whether it matters that a power failure may do this."""
        return True

    def is_untouched(self, run):
        """Whether all is as without a fault."""
        return run.code == self.code and run.out == self.out and not list(self.wrong_target(run)) \
            and not self.left(run)

    def restore(self, directory):
        """A directory in which it ran, as it was before."""
        for name in os.listdir(directory):
            if name not in self.inputs:
                os.unlink(os.path.join(directory, name))
        for name, content in self.inputs.items():
            if read(os.path.join(directory, name)) != content:
                with open(os.path.join(directory, name), "wb") as f:
                    f.write(content)

    def is_done(self, run):
        """Whether the new file is in place."""
        return run.content(self.target) == self.new

    def left(self, run):
        return sorted(set(os.listdir(run.directory)) - set(self.inputs) - {self.target})

    def wrong_target(self, run):
        content = run.content(self.target) if self.writes else None
        held = content == b"" and self.old is None and run.may_be_empty()
        if self.writes and not held and content not in (self.old, self.new):
            yield "the file is neither the old nor the new one"
        if self.writes and run.code == 0 and content != self.new:
            yield "success, and the file is not the new one"

    def complaints(self, run, environment):
        killed = environment.get("FAULT_HOW") == "kill"
        if killed:
            if run.code != -9:
                yield "survived its death"
        elif run.code not in (self.code, 2):
            yield f"ended with {run.code}: {run.said}"
        elif run.code == 2 and not run.said and not run.out:
            yield "an error without a word"
        if run.code == self.code and run.out != self.out:
            yield "another answer than without the fault"
        drawn = any(name in ("getentropy", "getrandom") and done == "fail"
                    for name, done in run.hits)
        if self.draws and drawn and environment["FAULT_HOW"] == "EIO" and run.code != 2:
            yield "does without random numbers"
        yield from self.wrong_target(run)
        for name, content in self.inputs.items():
            if name != self.target and run.content(name) != content:
                yield f"changed {name}"
        left = self.left(run)
        could_not = any(name in ("unlink", "unlinkat") for name, _ in run.hits)
        if left and not killed and not could_not:
            yield f"left behind: {left}"
        if not all(re.fullmatch(r"\.tamis-.*\.tmp", name) for name in left):
            yield f"files of strange names: {left}"


class Threads(Scenario):
    """Long enough for threads: without them it does the same, alone."""
    only = "pthread_create"

    def __init__(self, tamis, template, name, words, target=None):
        with open(os.path.join(template, "long"), "w") as f:
            f.writelines(f"{i}\n" for i in range(200000))
        super().__init__(tamis, template, name, words, target)

    def complaints(self, run, environment):
        yield from super().complaints(run, environment)
        if run.code not in (self.code, -9):
            yield f"needs threads: {run.said}"


class Passes(Scenario):
    """More lines than fit into the memory, so that there are temporary files."""
    draws = True
    is_slow = True  # in the short run it is struck less often

    def __init__(self, tamis, template, name, words, target=None):
        for file, lines in (("more", range(2500)), ("fewer", range(2480, 2530))):
            with open(os.path.join(template, file), "w") as f:
                f.writelines(f"{i}\n" for i in lines)
        super().__init__(tamis, template, name, words, target)


class Refusal(Scenario):
    """What cannot be done cannot be done with a fault either."""
    codes = (2,)


class Release(Scenario):
    """Its noise is never the same, so not its bytes but the record counts: what is out is noted
    there."""
    draws = True
    weight = 3

    def is_done(self, run):
        return run.content(self.target) is not None

    def learn(self, place):
        self.new = None
        self.record = self.words[-1] + ".releases"
        self.size = len(read(os.path.join(place, self.record)))

    def left(self, run):
        return [name for name in super().left(run) if name != self.record]

    def is_untouched(self, run):
        return run.code == 0 and not list(self.wrong_target(run)) and not self.left(run)

    def wrong_target(self, run):
        before = self.inputs.get(self.record) or b""
        record = run.content(self.record) or b""
        if not record.startswith(before):
            yield "the record has lost a line"
        lines = record[len(before):].split(b"\n")[:-1]
        noted = any(line.endswith(b"/" + self.target.encode()) for line in lines)
        out = run.content(self.target)
        if out is not None:
            if not noted:
                yield "published and not noted"
            if not (out == b"" and run.may_be_empty()) \
                    and run.again("info", self.target).returncode != 0:
                yield "published, and damaged"
        elif run.code == 0:
            yield "success, and nothing is there"
        yield from self.wrong_next(run, noted)

    def wrong_next(self, run, noted):
        """Whatever the fault has left in the record, the next release works: what is out stays as
        it is, and other noise must be asked for only where a whole note names a release that is
        not there."""
        out = run.content(self.target) or None  # an empty file does not count
        done = run.again("release", "-qfo", self.target, *self.words[-3:])
        if out is not None and run.content(self.target) != out:
            yield "published, and then other noise without --again"
        if done.returncode == 2 and noted and out is None and b"or never written" in done.stderr:
            done = run.again("release", "--again", "-qfo", self.target, *self.words[-3:])
        if done.returncode != 0:
            yield f"and then nothing can be released any more: {done.stderr.decode().strip()}"

    def complaints(self, run, environment):
        for text in super().complaints(run, environment):
            if not text.startswith(f"changed {self.record}"):
                yield text


class Key(Scenario):
    """Never the same either: it is whole and its owner's alone, or not there, and then the next is
    made."""
    draws = True
    weight = 2

    def is_done(self, run):
        return run.content(self.target) is not None

    def learn(self, place):
        self.size = os.path.getsize(os.path.join(place, self.target))

    def wrong_target(self, run):
        key = run.content(self.target)
        if key is None:
            if run.code == 0:
                yield "success, and nothing is there"
            done = run.again(*self.words)
            if done.returncode != 0:
                yield f"and then no key can be made any more: {done.stderr.decode().strip()}"
        elif key == b"" and run.may_be_empty():
            pass
        elif not re.fullmatch(rb"[0-9a-f]{32}\n", key):
            yield f"a key of {len(key)} bytes"
        elif os.stat(os.path.join(run.directory, self.target)).st_mode & 0o777 != 0o600:
            yield "a key that others may read"
        elif run.code == 2 and not any(name in ("unlink", "unlinkat") for name, _ in run.hits):
            yield "a key is there, and it was said that none could be made"


class Pair(Key):
    """Both files of a pair of keys, or neither. A process that was killed, or could not clean up,
    may leave the public one."""

    def left(self, run):
        return [name for name in super().left(run) if name != "k.pub"]

    def wrong_target(self, run):
        secret, public = run.content("k"), run.content("k.pub")
        unlucky = run.code == -9 or any(name in ("unlink", "unlinkat") for name, _ in run.hits)
        if b"" in (secret, public) and run.may_be_empty():
            return
        if secret is None:
            if run.code == 0:
                yield "success, and nothing is there"
            if public is not None and not unlucky:
                yield "a public key without its secret one"
            if public is not None:
                os.unlink(os.path.join(run.directory, "k.pub"))
            done = run.again(*self.words)
            if done.returncode != 0:
                yield f"and then no key can be made any more: {done.stderr.decode().strip()}"
            return
        done = run.again("key", "id", "k", "k.pub")
        if done.returncode != 0 or len({line[:16] for line in done.stdout.splitlines()}) != 1:
            yield f"not a pair: {done.stderr.decode().strip()}"
        if os.stat(os.path.join(run.directory, "k")).st_mode & 0o777 != 0o600:
            yield "a key that others may read"
        if run.code == 2 and not unlucky:
            yield "a key is there, and it was said that none could be made"


class Serve(Scenario):
    """A server: it fails to begin, with a reason, or it serves what is published, and stops when
    asked."""
    out = b"nothing"
    is_slow = True  # in the short run it is struck less often

    def attend(self, process):
        ready = select.select([process.stdout, process.stderr], [], [], PATIENCE)[0]
        if process.stdout not in ready:  # something was said: that is all, or it goes on
            ready += select.select([process.stdout], [], [], 0.5)[0]
        line = process.stdout.readline().decode() if process.stdout in ready else ""
        out = self.ask(int(re.search(r":(\d+)/$", line)[1])) if line else b""
        process.send_signal(signal.SIGTERM)
        return out, process.communicate(timeout=PATIENCE)[1]

    def complaints(self, run, environment):
        # When they cannot go on, glibc's loader and libmicrohttpd end the process, and say so.
        by_others = "thread-local data: ABORT|tamis: libmicrohttpd failed"
        if run.code not in (127, -6) or not re.search(by_others, run.said):
            yield from super().complaints(run, environment)

    def ask(self, port):
        """The filter; whom the fault has struck, that client, may be told so."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/filter")
            answer = connection.getresponse()
            body = answer.read()
            return body if answer.status == 200 else self.out
        except (OSError, http.client.HTTPException):
            return self.out
        finally:
            connection.close()


class Guard(Scenario):
    """A directory of several files: it is one version or the other, as a whole."""
    draws = True
    places = 1000
    weight = 10

    def __init__(self, tamis, template, name, old, new, *options):
        self.before, self.after = old, new
        super().__init__(tamis, template, name,
                         ["guard", "build", "-q", "d", f"bad={new}", *options], "d")

    def learn(self, place):
        self.size = sum(os.path.getsize(os.path.join(place, "d", n))
                        for n in os.listdir(os.path.join(place, "d")))

    def is_untouched(self, run):
        return run.code == 0 and not list(self.wrong_target(run))

    def is_loss(self, report):
        # its parts count only by the manifest
        return report.startswith("manifest") or "never" in report

    def restore(self, directory):
        shutil.rmtree(directory)
        shutil.copytree(self.template, directory)

    def is_done(self, run):
        return self.version(run) == "new"

    def version(self, run):
        """Which list is published, or "damaged"; None: none is."""
        if not os.path.exists(os.path.join(run.directory, "d", "manifest")):
            return None
        done = run.again("guard", "check", "d", "old.example", "new.example", HOSTS[7])
        verdicts = [line.split()[0] for line in done.stdout.decode().splitlines()]
        return {("listed", "clean", "listed"): "old",
                ("clean", "listed", "listed"): "new"}.get(tuple(verdicts), "damaged")

    def wrong_target(self, run):
        version = self.version(run)
        if version not in (self.before, self.after):
            yield f"what is published is {version}"
        if run.code == 0 and version != self.after:
            yield f"success, and what is published is {version}"
        if run.code is not None and run.code >= 0:
            yield from self.wrong_files(run)

    def wrong_files(self, run):
        """Only files that the manifest names; the others are gone, unless that failed."""
        directory = os.path.join(run.directory, "d")
        manifest = (run.content("d/manifest") or b"").decode()
        numbers = dict(line.split(" ", 1)
                       for line in manifest.splitlines() if line[:4] in ("vers", "base"))
        allowed = {"manifest"} | {f"{v}.{part}"
                                  for v in (numbers.get("version"), numbers.get("base"))
                                  for part in ("filter", "store", "delta", "removed")}
        others = sorted(set(os.listdir(directory) if os.path.isdir(directory) else []) - allowed)
        # What cannot be listed, or read, or removed, stays until the next build.
        excused = {"unlink", "unlinkat", "opendir", "readdir64", "memory", "open64", "fstat64",
                   "read"}
        if others and not any(name in excused for name, _ in run.hits):
            yield f"left behind: {others}"
        done = run.again("guard", "build", "-q", "d", "bad=new")
        if done.returncode != 0 or self.version(run) != "new":
            yield f"and then nothing can be built any more: {done.stderr.decode().strip()}"
        elif len(os.listdir(directory)) > 6:
            yield f"never cleaned up: {sorted(os.listdir(directory))}"


def lists(place):
    texts = {
        "a": [f"line {i}" for i in range(60)],
        "b": [f"other {i}" for i in range(40)],
        "some": [f"line {i}" for i in range(20)],
        "old": [*HOSTS, "old.example"],
        "new": [*HOSTS, "new.example"],
        "far": ["old.example", *HOSTS[:20]],
        "pairs": [f"key {i}\t{i}" for i in range(60)],
    }
    for name, lines in texts.items():
        with open(os.path.join(place, name), "w") as f:
            f.write("".join(line + "\n" for line in lines))


ITEMS = "ITEMS"  # filters are planned for as many as the test likes
BUILD = ["build", "-q", "--items", ITEMS, "--fpr", "5%"]
ONE = ["build", "-q", "--kind", "bloom", "--k", "1", "--items", ITEMS, "--fpr", "20%", "-o", "f",
       "a"]
PRIVATE = ["release", "-qo", "r", "--epsilon", "1", "f"]
KEY = ["key", "new", "-q", "k"]
SUM = ["count", "-q", "--bytes", "1000"]
MAP = ["build", "-q", "--kind", "map", "--value-field", "2"]
# name: what makes the directory, the command, its target
PLAIN = {
    "build": ([], [*BUILD, "-o", "f", "a"], "f"),
    "build -f": ([[*BUILD, "-o", "f", "b"]], [*BUILD, "-fo", "f", "a"], "f"),
    "build a ribbon": ([], ["build", "-qo", "f", "--kind", "ribbon", "--threads", "1", "a"], "f"),
    "build --never": ([], ["build", "-qo", "f", "--never", "b", "a"], "f"),
    "build --to dcso": ([[*BUILD, "-o", "f", "b"]],
                        ["build", "-qfo", "f", "--to", "dcso", "--items", ITEMS, "a"], "f"),
    "add": ([[*BUILD, "-o", "f", "a"]], ["add", "-q", "f", "b"], "f"),
    "add --grow": ([["build", "--items", "20", "--overfill", "-qo", "f", "a"]],
                   ["add", "-q", "--grow", "--from", "a", "f", "b"], "f"),
    "remove": ([[*BUILD, "--kind", "cuckoo", "-o", "f", "a"]], ["remove", "-q", "f", "some"], "f"),
    "rotate": ([[*BUILD, "--kind", "window", "-o", "f", "a"]], ["rotate", "f"], "f"),
    "rotate --to": ([[*BUILD, "--kind", "window", "-o", "f", "a"], ["rotate", "--to", "3", "f"]],
                    ["rotate", "--to", "5", "f"], "f"),
    "compact": ([[*BUILD, "--kind", "pair", "-o", "f", "a"]], ["compact", "-q", "f", "some"], "f"),
    "uniq --state": ([["uniq", "-q", "--state", "f", "a"]], ["uniq", "-q", "--state", "f", "b"],
                     "f"),
    "build --key-file": ([KEY], [*BUILD, "--key-file", "k", "-o", "f", "a"], "f"),
    "add --key-file": ([KEY, [*BUILD, "--key-file", "k", "-o", "f", "a"]],
                       ["add", "-q", "--key-file", "k", "f", "b"], "f"),
    "check --key-file": ([KEY, [*BUILD, "--key-file", "k", "-o", "f", "a"]],
                         ["check", "--key-file", "k", "f", "some"], None),
    "key id": ([KEY], ["key", "id", "k"], None),
    "count": ([], ["count", "-qo", "f", "--bytes", "1000", "a"], "f"),
    "top -o": ([], ["top", "-qo", "f", "--bytes", "20000", "a"], "f"),
    "distinct -o": ([], ["distinct", "-qo", "f", "--bytes", "600", "a"], "f"),
    "merge sketches": ([[*SUM, "-o", "f", "a"], [*SUM, "-o", "g", "b"]],
                       ["merge", "-qfo", "f", "f", "g"], "f"),
    "merge": ([[*BUILD, "-o", "f", "a"], [*BUILD, "-o", "g", "b"]],
              ["merge", "-qfo", "f", "f", "g"], "f"),
    "convert": ([[*BUILD, "--kind", "counting", "-o", "c", "a"]],
                ["convert", "--to", "bloom", "-o", "f", "c"], "f"),
    "convert a foreign one": ([["build", "-qo", "c", "--to", "redisbloom", "--items", ITEMS, "a"]],
                              ["convert", "--to", "redisbloom-dump", "-o", "f", "c"], "f"),
    "pack": ([[*BUILD, "-o", "c", "some"]], ["pack", "-qo", "f", "c"], "f"),
    "unpack": ([[*BUILD, "-o", "c", "a"], ["pack", "-qo", "p", "c"]], ["unpack", "-o", "f", "p"],
               "f"),
    "plan --svg": ([["plan", "--items", "99", "--fpr", "1%", "--svg", "f"]],
                   ["plan", "--items", "100", "--fpr", "1%", "--svg", "f", "-f"], "f"),
    "build a map": ([], [*MAP, "-o", "f", "pairs"], "f"),
    "get": ([[*MAP, "-o", "f", "pairs"]], ["get", "f", "key 7", "key 77", "key 59"], None),
    "check": ([[*BUILD, "-o", "f", "a"]], ["check", "f", "some", "b"], None),
    "check -f": ([], ["check", "-f", "some", "a"], None),
    "check --confirm": ([[*BUILD, "-o", "f", "a"]], ["check", "f", "--confirm", "a", "some", "b"],
                        None),
    "uniq": ([], ["uniq", "-q", "a", "some", "b"], None),
    "freq": ([["count", "-qo", "f", "--bytes", "1000", "a"]], ["freq", "f", "line 1", "line 2"],
             None),
    "top": ([], ["top", "-n", "5", "a"], None),
    "distinct": ([], ["distinct", "--json", "a", "some"], None),
    "distinct --by": ([], ["distinct", "--by", "1", "-t", " ", "--field", "2", "a", "b"], None),
    "distinct of sketches": ([["distinct", "-qo", "f", "--bytes", "600", "a"],
                              ["distinct", "-qo", "g", "b"]], ["distinct", "f", "g"], None),
    "check a private one": ([ONE, PRIVATE], ["check", "r", "--prior", "0.5", "some"], None),
    "info of a private one": ([ONE, PRIVATE], ["info", "r"], None),
    "compare": ([[*BUILD, "-o", "f", "a"], [*BUILD, "-o", "g", "some"]], ["compare", "f", "g"],
                None),
    "diff": ([], ["diff", "some", "b"], None),
    "diff of filters": ([[*BUILD, "-o", "f", "a"], [*BUILD, "-o", "g", "some"]],
                        ["diff", "f", "g"], None),
    "explain": ([], ["explain", "apple", "pear", "--ask", "plum"], None),
    "explain cost": ([[*BUILD, "-o", "f", "a"]], ["explain", "cost", "f"], None),
    "help": ([], ["help", "keys"], None),
    "plan": ([], ["plan", "--items", "100", "--fpr", "1%"], None),
    "info": ([[*BUILD, "-o", "f", "a"]], ["info", "f"], None),
    "verify": ([[*BUILD, "-o", "f", "a"]], ["verify", "--keys", "1000", "f"], None),
}
STATIC = {"fuse": [], "ribbon": [], "exact": ["--never", "b"]}
# so that each generation has room for all lines
MORE = {"window": ["--generations", "2", "--items", "200"]}
KINDS = ["bloom", "partitioned", "blocked", "counting", "pair", "growing", "window", "cuckoo",
         *STATIC]
REMOVING = ["counting", "pair", "cuckoo"]
# Sketches as small as they can be: a disk is full at every byte of them.
SKETCHES = {kind: ["--kind", kind, "--bytes", size] for kind, size in {
    "tally": "1000", "signed-tally": "1000", "count-min": "600", "count-sketch": "600",
    "top": "18688"}.items()}
WINDOWS = {f"a window of {kind}": ["--kind", "window", "--inner", kind, "--bytes", size]
           for kind, size in {
    "tally": "2000", "signed-tally": "2000", "count-min": "2000", "count-sketch": "2000",
                              "top": "80000"}.items()}


def of_filters():
    """As PLAIN, for every kind of filter."""
    for kind in KINDS:
        build = [*BUILD, "--kind", kind, *STATIC.get(kind, []), *MORE.get(kind, [])]
        yield f"build {kind}", ([], [*build, "-o", "f", "a"], "f")
        yield f"check {kind}", ([[*build, "-o", "f", "a"]], ["check", "f", "some"], None)
        yield f"pack {kind}", ([[*build, "-o", "c", "a"]], ["pack", "-qo", "f", "c"], "f")
        if kind not in STATIC:
            yield f"add to {kind}", ([[*build, "-o", "f", "a"]], ["add", "-q", "f", "b"], "f")
        if kind in REMOVING:
            yield f"remove from {kind}", ([[*build, "-o", "f", "a"]], ["remove", "-q", "f", "some"],
                                          "f")
        if kind not in (*STATIC, "growing", "cuckoo", "pair"):
            yield f"merge {kind}", ([[*build, "-o", "f", "a"], [*build, "-o", "g", "b"]],
                                    ["merge", "-qfo", "f", "f", "g"], "f")
    for form in ("parquet", "redisbloom", "guava"):
        of = ["--type", "string"] if form != "redisbloom" else []
        yield f"build --to {form}", ([],
                                     ["build", "-qo", "f", "--to", form, *of, "--items", ITEMS,
                                      "a"], "f")


def of_sketches():
    """As PLAIN, for every kind of sketch, and windows of them."""
    for kind, options in {**SKETCHES, **WINDOWS}.items():
        first, second = (["count", "-qo", name, *options, of]
                         for name, of in (("f", "a"), ("g", "b")))
        yield f"count {kind}", ([], first, "f")
        yield f"freq of {kind}", ([first], ["freq", "f", "line 1"], None)
        yield f"add to {kind}", ([first], ["add", "-q", "f", "b"], "f")
        yield f"pack {kind}", ([first], ["pack", "-qo", "p", "f"], "p")
        yield f"merge {kind}", ([first, second], ["merge", "-qfo", "f", "f", "g"], "f")
        if kind in ("signed-tally", "count-min", "count-sketch"):
            yield f"remove from {kind}", ([first], ["remove", "-q", "f", "some"], "f")
        if kind in WINDOWS:
            yield f"rotate {kind}", ([first], ["rotate", "f"], "f")


# What cannot be done, as PLAIN.
REFUSED = {
    "merge exact": ([["build", "-qo", "f", "--never", "b", "a"]], ["merge", "-qo", "m", "f", "f"]),
    "merge private": ([ONE, PRIVATE], ["merge", "-qo", "m", "r", "r"]),
    "check without the key": ([["key", "new", "-q", "k"],
                               [*BUILD, "--key-file", "k", "-o", "f", "a"]],
                              ["check", "f", "some"]),
}


def commands(tamis):
    """All that the help names."""
    text = subprocess.run([tamis, "--help"], capture_output=True, text=True, check=True).stdout
    lines = text.split("Usage:")[1].split("Topics:")[0].splitlines()
    names = [line[2:16].strip() for line in lines if re.match("  [a-z]", line)]
    for name in names:
        # it is one
        subprocess.run([tamis, *name.split(), "--help"], stdout=subprocess.DEVNULL, check=True)
    return names


def command_of(scenario, names):
    """The longest of the names with which its words begin."""
    return max((name for name in names if scenario.words[:len(name.split())] == name.split()),
               key=len)


def prepare(tamis, place, commands):
    os.makedirs(place)
    lists(place)
    for words in commands:
        done = subprocess.run([tamis, *words], cwd=place, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{words}: {done.stderr.decode()}")
    return place


def make(tamis, room, everything, items="100"):
    """All scenarios, each with its directory in the room."""
    plain = {**PLAIN, **(dict([*of_filters(), *of_sketches()]) if everything else {})}
    found, n = [], 0

    def place(commands):
        nonlocal n
        n += 1
        return prepare(tamis, os.path.join(room, str(n)), map(sized, commands))

    def sized(words):
        return [items if word == ITEMS else word for word in words]

    for name, (before, words, target) in plain.items():
        found.append(Scenario(tamis, place(before), name, sized(words), target))
        found[-1].is_like_others = name not in PLAIN
        if name == "plan --svg":
            # a tenth of a second for a picture, which is written by one call
            found[-1].places = 200
    for name, (before, words) in REFUSED.items():
        found.append(Refusal(tamis, place(before), name, words))
    words = ["build", "-qo", "f", "--kind", "ribbon", "--threads", "3", "long"]
    found.append(Threads(tamis, place([]), "build in threads", words, "f"))
    words = ["diff", "-1", "--memory", "64KiB", "--temp", ".", "--threads", "1", "more", "fewer"]
    found.append(Passes(tamis, place([]), "diff in passes", words))
    words = ["diff", "--temp", ".", "-", "some"]
    found.append(Passes(tamis, place([]), "diff of a stream", words))
    words = ["release", "-qo", "r", "--epsilon", "1", "f"]
    found.append(Release(tamis, place([ONE]), "release", words, "r"))
    found.append(Release(tamis, place([ONE, ["release", "-qo", "first", "--epsilon", "1", "f"]]),
                         "release --again",
                         ["release", "--again", *words[1:]], "r"))
    found.append(Key(tamis, place([]), "key new", ["key", "new", "-q", "k"], "k"))
    if subprocess.run([tamis, "guard", "build", "--help"], capture_output=True).returncode == 0:
        one = [["guard", "build", "-q", "d", "bad=old"]]
        found.append(Scenario(tamis, place(one), "guard check",
                              ["guard", "check", "d", "old.example", "clean.example"]))
        found.append(Scenario(tamis, place(one), "guard explain",
                              ["guard", "explain", "old.example", "d"]))
        found.append(Serve(tamis, place(one), "guard serve",
                           ["guard", "serve", "d", "--port", "0", "--threads", "1"]))
        found[-1].is_like_others = True  # it writes nothing
        pair = ["key", "new", "-q", "--sign", "k"]
        found.append(Pair(tamis, place([]), "key new --sign", pair, "k"))
        found.append(Scenario(tamis, place([pair]), "sign", ["sign", "--seckey", "k", "a"],
                              "a.sig"))
        signed = [pair, [*BUILD, "-o", "f", "a"], ["sign", "--seckey", "k", "f"]]
        found.append(Scenario(tamis, place(signed), "verify --pubkey",
                              ["verify", "--keys", "1000", "--pubkey", "k.pub", "f"]))
        signed = [pair, ["guard", "build", "-q", "d", "bad=old", "--sign", "k"]]
        check = ["guard", "check", "d", "--pubkey", "k.pub", "--state", "s", "old.example",
                 "new.example"]
        found.append(Scenario(tamis, place(signed), "guard check --state, the first", check, "s"))
        later = [*signed, check, ["guard", "build", "-q", "d", "bad=new", "--sign", "k"]]
        found.append(Scenario(tamis, place(later), "guard check --state", check, "s"))
        found.append(Guard(tamis, place([]), "guard build", None, "new"))
        found.append(Guard(tamis, place(one), "guard build, a delta", "old", "new"))
        found.append(Guard(tamis, place([[*one[0], "--labels-in-filter"]]),
                           "guard build, a delta with labels", "old", "new", "--labels-in-filter"))
        found.append(Guard(tamis, place([["guard", "build", "-q", "d", "bad=far"]]),
                           "guard build, a new base", "old", "new"))
    return found
