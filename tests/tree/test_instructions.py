"""The instructions of calls with one key, and of plans for a million keys, counted by callgrind,
stay below the limits of the table. Callgrind has no AVX-512, and so executes the functions for
AVX2.

The loops of tests/support/single_calls.c run twice, with few and with many calls. The difference is
that of the calls alone. The same difference of a loop that calls an empty function is taken away,
except for the instructions of that function. Half of the keys of a filter are members. A fill adds
all keys of a plan, of 20,000 and 40,000, one by one or a hundred per call. The sketches have 1 MiB,
and a stream in which some keys are frequent.

This test runs only in optimized builds by gcc without a sanitizer: the limits are those of that
code. TAMIS_BUILD: the directory of a build."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

PROGRAM = os.path.join(os.environ.get("TAMIS_BUILD", "build"), "tests", "single_calls")
EMPTY = 3 # endbr64, xor, ret
# The most instructions of a call. Keys have 8 bytes unless it says that they are URLs, of 54 bytes.
LIMITS = {
    "blocked query": 60,
    "blocked add": 80,
    "blocked query of a URL": 175,
    "blocked add of a URL": 195,
    "bloom query": 120,
    "bloom add": 220,
    "partitioned query": 130,
    "partitioned add": 230,
    "cuckoo query": 120,
    "cuckoo fill": 435,
    "cuckoo bulk fill": 470,
    "fuse query": 90,
    "fuse-of-bytes query": 90,
    "ribbon query": 320,
    "count-min update": 133,
    "count-min counted update": 159,
    "count-min upper": 91,
    "conservative update": 145,
    "conservative counted update": 165,
    "conservative upper": 91,
    "tally update": 202,
    "tally counted update": 220,
    "tally upper": 174,
    "top update": 233,
    "top counted update": 254,
    "top upper": 162,
    "auto plan": 60000,
    "bloom plan": 13000,
    "blocked plan": 48000,
    "compact plan": 300000,
}


def totals():
    """{subject: {calls: instructions}}. Callgrind writes a file before each call of a function
    whose name begins with cost_, with the instructions since the file before."""
    with tempfile.TemporaryDirectory() as room:
        run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={room}/out",
                              "--dump-before=cost_*", PROGRAM], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{run.stdout}{run.stderr}")
        found = {}
        for i, line in enumerate(run.stdout.splitlines()):
            subject, calls = line.rsplit(" ", 1)
            with open(f"{room}/out.{2 * i + 2}", encoding="utf-8") as file:
                text = file.read()
            assert "Trigger: --dump-before=cost_end" in text, line
            found.setdefault(subject, {})[int(calls)] = int(
                re.search(r"^totals: (\d+)", text, re.M).group(1))
    return found


def per_call(of):
    few, many = sorted(of)
    return (of[many] - of[few]) / (many - few)


found = totals()
failures = 0
print(f"{'instructions of one call':28}{'mean':>8}{'limit':>8}")
for subject, of in found.items():
    if subject.startswith("empty "):
        continue
    mean = per_call(of) - per_call(found["empty " + subject.split(" ", 1)[1]]) + EMPTY
    limit = LIMITS.get(subject)
    wrong = limit is not None and mean > limit
    failures += wrong
    if mean < 20:
        sys.exit(f"{subject}: {mean} instructions cannot be right")
    print(f"{subject:28}{mean:8.1f}{limit if limit else '-':>8}{'  too many' if wrong else ''}")
missing = LIMITS.keys() - found.keys()
if missing:
    sys.exit(f"not measured: {', '.join(sorted(missing))}")
sys.exit(failures != 0)
