"""An add to a window that does not ask whether the key was there before costs as many instructions
with 61 generations as with 2: the older ones are not asked, nor is anything else done for each.
Counted by callgrind within tamis_add and tamis_add_many of test_seen.

TAMIS_BUILD: the directory of a build."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

PROGRAM = os.path.join(os.environ.get("TAMIS_BUILD", "build"), "tests", "test_seen")
# Nothing grows; what differs is where a block of memory begins, which memset and the like look at.
MOST = 1.02


def instructions(test):
    with tempfile.TemporaryDirectory() as room:
        run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={room}/out",
                              "--toggle-collect=tamis_add",
                              "--toggle-collect=tamis_add_many", PROGRAM, test],
                             capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or "1 passed, 0 failed" not in run.stdout or not found:
        sys.exit(f"{test}:\n{run.stdout}{run.stderr}")
    return int(found.group(1))


failures = 0
for kind in ("blocked", "bloom", "tally", "top"):
    few, many = instructions(f"cost_of_2_{kind}"), instructions(f"cost_of_61_{kind}")
    if few < 10000: # 920 adds
        sys.exit(f"{kind}: {few} instructions cannot be right")
    grown = many > MOST * few
    failures += grown
    print(f"window of {kind}: {few} instructions with 2 generations, {many} with "
          f"61{': it grows' if grown else ''}")
sys.exit(failures != 0)
