"""The table of the worst of 50 sizes in docs/ACCURACY.md is what `accuracy sizes` prints today, the
measured rates are the predicted ones, and no class is bigger than it may be. Takes minutes."""
import math
import os
import pathlib
import subprocess
import sys

page = pathlib.Path(os.environ["TAMIS_SOURCE"], "docs/ACCURACY.md").read_text().splitlines()
program = pathlib.Path(os.environ["TAMIS_BUILD"], "accuracy")
ASKED = 50 * 200704  # keys that are asked in each class
# The most that a class may take, relative to its bound.
LIMITS = {
    "ribbon, 1 M keys, 2^-6": 1.0056,
    "ribbon, 1 M keys, 2^-8": 1.0045,
    "ribbon, 1 M keys, 2^-10": 1.004,
    "ribbon, 1 M keys, 2^-16": 1.004,
    "ribbon, 1 M keys, 1 %": 1.017,
    "ribbon, 1 M keys, 0.1 %": 1.0055,
    "map, 1 M keys of 8 bits, 2^-8": 1.006,
    "map, 1 M keys of 8 bits, 1 %": 1.009,
    "exact, 100,000 keys, 2 excluded for each": 1.14,
    "exact, 100,000 keys, 10 excluded for each": 1.125,
    "exact, 100,000 keys, 100 excluded for each": 1.085,
    "exact, 1 M keys, 2 excluded for each": 1.115,
}
failed = 0


def check(holds, what):
    global failed
    if not holds:
        failed += 1
        print("not true:", what)


rows = [line for line in subprocess.run([program, "sizes"], stdout=subprocess.PIPE, check=True,
                                        text=True).stdout.splitlines() if line.startswith("|")]
names = set()
for row in rows:
    check(row in page, "docs/ACCURACY.md has " + row)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    if not cells[-1].endswith("%"):
        continue
    names.add(cells[0])
    predicted, measured = (float(cell[:-1]) / 100 for cell in cells[-2:])
    # Beyond seven standard deviations once in 10^11, and the last digit of what is printed.
    most = 7 * math.sqrt(predicted / ASKED) + 2e-4 * predicted
    check(abs(predicted - measured) <= most, "the rate of " + row)
    if cells[0] in LIMITS:
        check(float(cells[4]) <= LIMITS[cells[0]], "the size of " + row)
check(set(LIMITS) <= names and len(rows) > 20, "all classes are there")
print(f"{len(rows)} rows, {failed} failed")
sys.exit(failed > 0)
