"""'guard fetch' while calls and allocations fail in turn, its own and those of libcurl, or while it
is killed at each of them. The list is always the old or the new one, success means the new one, and
the next run has the new one and leaves nothing else behind."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree may be read-only
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "support")]
import workshop  # noqa: E402
from list_server import Lists, versioned  # noqa: E402

TAMIS = os.environ["TAMIS"]
PATIENCE = 120
OLD = "".join(f"old{i}.example\n" for i in range(100)).encode()
NEW = "".join(f"new{i}.example\n" for i in range(120)).encode()
# Every so many allocations one is struck: libcurl and its libraries make thousands.
ALLOCATIONS = range(1, 4000, 67)


class Fetches:
    def __init__(self, room, url, shim):
        self.lists, self.url, self.shim = room / "lists", url, shim
        self.trace = room / "trace"
        self.struck, self.wrong = 0, []

    def run(self, **faults):
        environment = dict(os.environ, no_proxy="127.0.0.1", LD_PRELOAD=str(self.shim),
                           FAULT_TRACE=str(self.trace), **faults)
        self.trace.unlink(missing_ok=True)
        return subprocess.run([TAMIS, "guard", "fetch", self.lists, f"bad={self.url}"],
                              capture_output=True, text=True, env=environment, timeout=PATIENCE)

    def prepare(self):
        self.lists.mkdir(exist_ok=True)
        for path in self.lists.iterdir():
            path.unlink()
        (self.lists / "bad.txt").write_bytes(OLD)

    def strike(self, **faults):
        """One fault; whether it struck."""
        self.prepare()
        done = self.run(**faults)
        trace = self.trace.read_text() if self.trace.exists() else ""
        hits = [words[1] for words in map(str.split, trace.splitlines()) if words[3] != "ok"]
        self.struck += bool(hits) or "FAULT_MEMORY" in faults
        content = (self.lists / "bad.txt").read_bytes()
        if content not in (OLD, NEW):
            self.wrong.append(f"{faults}: the list is damaged")
        if done.returncode not in ((-9,) if faults.get("FAULT_HOW") == "kill" else ()) + (0, 2):
            self.wrong.append(f"{faults}: exit {done.returncode}: {done.stderr}")
        if done.returncode == 0 and content != NEW:
            self.wrong.append(f"{faults}: success, and the list is the old one")
        if done.returncode == 2 and done.stderr == "":
            self.wrong.append(f"{faults}: no reason")
        again = self.run()
        left = sorted(os.listdir(self.lists))
        if again.returncode != 0 or (self.lists / "bad.txt").read_bytes() != NEW:
            self.wrong.append(f"{faults}: and then: {again.stderr}")
        excused = faults.get("FAULT_HOW") == "kill" or any("unlink" in name for name in hits)
        if not excused and left != ["bad.state", "bad.txt"]:
            self.wrong.append(f"{faults}: left behind: {left}")
        return bool(hits)


def main():
    if "-fsanitize" in os.environ.get("TEST_CFLAGS", ""):
        print("a sanitizer and the shim do not go together")
        return 77
    with tempfile.TemporaryDirectory() as scratch, Lists() as server:
        room = pathlib.Path(scratch)
        server.answers["/list"] = versioned(NEW, ETag='"new"')
        fetches = Fetches(room, server.url("/list"), workshop.compile_shim(room / "shim.so"))
        for faults in ({"FAULT_HOW": "EIO"}, {"FAULT_HOW": "EIO", "FAULT_ONCE": "1"},
                       {"FAULT_HOW": "kill"}, {"FAULT_HOW": "kill", "FAULT_AFTER": "1"}):
            number, missed = 1, 0
            while missed < 5:  # the number of calls of libcurl varies with the network
                missed = 0 if fetches.strike(FAULT_AT=str(number), **faults) else missed + 1
                number += 1
            if number < 30:
                fetches.wrong.append(f"{faults}: only {number} calls were counted")
        for number in ALLOCATIONS:
            fetches.strike(FAULT_MEMORY=str(number), FAULT_ONCE="1")
        for text in fetches.wrong[:20]:
            print(text)
        print(f"{fetches.struck} faults, {len(fetches.wrong)} wrong")
        return 1 if fetches.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
