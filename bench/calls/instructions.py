#!/usr/bin/python3
"""Counts the instructions of the calls that build/bench measures, with callgrind.

    bench/calls/instructions.py [--bench build/bench] [--out FILE] [--into FILE] [GROUP...]

Prints a table and, with --out, writes the rows to FILE as a JSON list. --into adds the counts to
the rows of a bench.json whose instructions the system did not count (processors that hide their
counters, as in many virtual machines). callgrind runs the AVX2 code on processors that have
AVX-512, because it does not know AVX-512. Sets have 20,000 keys: counts hardly depend on it. A
count includes the loop that makes the calls; the row "nothing" is that loop alone.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNTED = ("single", "urls", "updates", "bulk", "columns", "encodings", "windows", "plans")
NAME = ("group", "kind", "op", "mode", "key_type", "threads", "rate", "shared")


def total(path):
    with open(path, encoding="utf-8") as f:
        return int(re.search(r"^totals: (\d+)", f.read(), re.M).group(1))


def count(bench, groups):
    """The rows of these groups with their instructions. callgrind writes one file for each call of
    bench_counted, in the order of the rows."""
    with tempfile.TemporaryDirectory() as room:
        rows = os.path.join(room, "rows.json")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={room}/out",
             "--toggle-collect=bench_counted", "--dump-after=bench_counted",
             bench, "--counting", "--out", rows, *groups], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{run.stdout}{run.stderr}")
        with open(rows, encoding="utf-8") as f:
            found = [r for r in json.load(f) if r["operations"] > 0]
        for i, row in enumerate(found):
            row["instructions"] = total(f"{room}/out.{i + 1}") / row["operations"]
            row["counter"] = "callgrind"
    return found


def add(rows, path):
    """Sets the instructions that are missing in a bench.json."""
    known = {tuple(r[f] for f in NAME): r["instructions"] for r in rows}
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    for r in run:
        name = tuple(r[f] for f in NAME)
        if r["instructions"] is None and name in known:
            r["instructions"], r["counter"] = known[name], "callgrind"
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in run) + "\n]\n")
    os.replace(path + ".new", path)


def main():
    bench, out, into, groups = os.path.join(ROOT, "build", "bench"), None, None, []
    words = sys.argv[1:]
    while words:
        word = words.pop(0)
        if word in ("--bench", "--out", "--into") and words:
            value = words.pop(0)
            bench = value if word == "--bench" else bench
            out = value if word == "--out" else out
            into = value if word == "--into" else into
        elif word.startswith("-"):
            sys.exit(__doc__)
        else:
            groups.append(word)
    if not shutil.which("valgrind"):
        sys.exit("instructions.py: valgrind is not installed")
    groups = [g for g in groups if g in COUNTED] if groups else COUNTED
    rows = count(bench, groups) if groups else []
    for r in rows:
        print(f"{r['group']:10} {r['kind']:14} {r['op']:24} {r['mode']:24} {r['key_type']:7} "
              f"{r['rate'] or '':8} {r['instructions']:12.1f}")
    if out is not None:
        with open(out, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    if into is not None:
        add(rows, into)


main()
