"""tamis_info reads all cells of a filter. `build` and `add` call it once, for the rate of the bits,
and `check` does not call it: no command reads the cells to learn a flag. The extra cost of `info`
for a larger filter is one such scan, and the extra cost of `check` is opening the filter. The extra
costs of the other commands are compared with these. An add does not solve a plan either, so it
costs little more than `info` if the filter is small. Instructions are counted by callgrind.

TAMIS_BUILD: the directory of a build."""
import os
import re
import subprocess
import sys
import tempfile

TAMIS = os.path.abspath(os.path.join(os.environ.get("TAMIS_BUILD", "build"), "tamis"))
SMALL, LARGE = 2000000, 6000000


def instructions(room, *words):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", TAMIS,
                          *words], capture_output=True, text=True, cwd=room)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode not in (0, 1) or not found:
        sys.exit(f"tamis {' '.join(words)}: {run.returncode}\n{run.stderr}")
    return int(found.group(1))


def costs(room, *plan):
    """The instructions of build, info, check and add with a filter of that plan."""
    path = os.path.join(room, "filter.tamis")
    if os.path.exists(path):
        os.remove(path)
    one = ("--threads", "1")
    return (instructions(room, "build", *plan, *one, "--items", "1000", "-o", path, "lines"),
            instructions(room, "info", path),
            instructions(room, "check", *one, path, "few"),
            instructions(room, "add", *one, path, "few"))


failures = 0


def limit(name, cost, most):
    global failures
    wrong = cost > most
    failures += wrong
    print(f"{name}: {cost} instructions{f', more than {most:.0f}' if wrong else ''}")


with tempfile.TemporaryDirectory() as room:
    for name, n in ("lines", 1000), ("few", 10):
        with open(os.path.join(room, name), "w", encoding="utf-8") as file:
            file.writelines(f"line {i}\n" for i in range(n))
    small, large = (costs(room, "--bytes", str(size)) for size in (SMALL, LARGE))
    build, info, check, add = (b - a for a, b in zip(small, large))
    if info < LARGE - SMALL:  # fewer than one for each byte
        sys.exit(f"{info} instructions cannot be a scan")
    limit(f"check, for {LARGE - SMALL} bytes more", check, 0.3 * info)
    limit(f"build, for {LARGE - SMALL} bytes more", build, info + 0.5 * check)
    limit(f"add, for {LARGE - SMALL} bytes more", add, info + 1.5 * check)
    build, info, check, add = costs(room, "--kind", "counting")
    limit("add to a small filter, where info takes " + str(info), add, 1.5 * info)
sys.exit(failures != 0)
