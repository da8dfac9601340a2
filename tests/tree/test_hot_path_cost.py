"""An add that returns the count after it takes at most 1.35 times as many instructions as the add
alone, for one key, many keys and hashes; 1.4 times for a count-sketch of 5 rows, and 3.5 times for
one of more rows. In a window it also counts in each older generation, which takes no more than one
tamis_upper. Counted by callgrind within the functions of test_hot_path.

TAMIS_BUILD: the directory of a build."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

PROGRAM = os.path.join(os.environ.get("TAMIS_BUILD", "build"), "tests", "test_hot_path")
MOST, MOST_OF_FIVE, MOST_OF_ROWS = 1.35, 1.4, 3.5
KEYS = 2048


def dump(path):
    """The function before which the file was written, and the instructions."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return (re.search(r"^desc: Trigger: --dump-before=(\w+)", text, re.M).group(1),
            int(re.search(r"^totals: (\d+)", text, re.M).group(1)))


def costs():
    """{(subject, function): instructions}. Callgrind writes a file before each call of a function
    whose name begins with cost_, with the instructions since the file before."""
    with tempfile.TemporaryDirectory() as room:
        run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={room}/out",
                              "--dump-before=cost_*", PROGRAM], capture_output=True, text=True)
        subjects = re.findall(r"^subject: (.*)", run.stdout, re.M)
        if run.returncode != 0 or "1 passed, 0 failed" not in run.stdout:
            sys.exit(f"{run.stdout}{run.stderr}")
        found = {}
        for i, subject in enumerate(subjects):
            function, _ = dump(f"{room}/out.{2 * i + 1}")
            end, found[subject, function] = dump(f"{room}/out.{2 * i + 2}")
            assert end == "cost_end", end
    return found


found = costs()
failures = 0
for subject in dict.fromkeys(s for s, _ in found):
    for form in ("one", "many", "hashes"):
        if (subject, f"cost_{form}_add") not in found:
            continue # a top takes no hashes
        add, counted = (found[subject, f"cost_{form}_{what}"] for what in ("add", "counted"))
        if add < 20 * KEYS:
            sys.exit(f"{subject}: {add} instructions cannot be right")
        older = 0
        if subject.startswith("window"):
            older = found[subject, "cost_one_upper" if form == "one" else "cost_many_upper"]
        most = MOST_OF_FIVE if subject == "count-sketch" else MOST
        if re.match(r"count-sketch of \d+ rows", subject):
            most = MOST_OF_ROWS
        wrong = counted > most * add + older
        failures += wrong
        upper = f" and {older / KEYS:.1f} for an upper" if older else ""
        print(f"{subject}, {form}: {add / KEYS:.1f} instructions{upper}, {counted / KEYS:.1f} with "
              f"the count, {counted / (add + older):.2f} times{': too many' if wrong else ''}")
if len(found) < 100:
    sys.exit(f"only {len(found)} costs")
sys.exit(failures != 0)
