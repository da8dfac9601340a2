"""Measures the first recipe of docs/RECIPES.md: SHA-1 hashes of passwords in a ribbon filter.

    bench/recipes/passwords.py [ITEMS]

Makes a list of so many hashes (10 million) as the service "Have I Been Pwned" publishes it, builds
the filter from it within 256 MiB and from memory, asks it about a million passwords that are not on
the list, and prints the table of the recipe."""
import concurrent.futures
import hashlib
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAMIS = os.path.join(os.environ.get("TAMIS_BUILD", os.path.join(ROOT, "build")), "tamis")
OTHERS = 10**6
ONE_IN = 10000
SHARE = 10**6


def hashes(first):
    return "".join(hashlib.sha1(b"password-%d" % i).hexdigest().upper() + f":{i % 9 + 1}\n"
                   for i in range(first, first + SHARE))


def write_list(path, first, items):
    with open(path, "w", encoding="ascii") as f, concurrent.futures.ProcessPoolExecutor() as pool:
        for text in pool.map(hashes, range(first, first + items, SHARE)):
            f.write(text)


def measured(*words):
    """The output of a command, its seconds and the peak of its memory."""
    start = time.monotonic()
    with subprocess.Popen([TAMIS, *words], stdout=subprocess.PIPE, text=True) as command:
        output = command.stdout.read()
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}: exit status {command.returncode}")
    return output, time.monotonic() - start, usage.ru_maxrss * 1024


def main():
    items = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    if items % SHARE != 0:
        sys.exit(f"the number must be a multiple of {SHARE:,}")
    with tempfile.TemporaryDirectory(prefix="tamis-passwords-") as room:
        listed, others, path = (os.path.join(room, name)
                                for name in ("pwned.txt", "others.txt", "breached.tamis"))
        write_list(listed, 0, items)
        write_list(others, 10**12, OTHERS)
        build = ["build", "-q", "-f", "--kind", "ribbon", "--fpr", f"1/{ONE_IN}", "--field", "1",
                 "-t", ":", "-o", path, listed]
        field = ["--field", "1", "-t", ":"]
        rows = [("list", f"{os.path.getsize(listed) / 1e6:,.0f} MB")]
        for name, more in ("within `--memory 256MiB`", ["--memory", "256MiB", "--temp", room]), \
                ("in memory", []):
            _, seconds, peak = measured(*build, *more)
            rows.append((f"building it {name}", f"{seconds:.1f} s, {peak / 1e6:,.0f} MB of memory"))
        rows.insert(1, ("filter", f"{os.path.getsize(path) / 1e6:.1f} MB, "
                                  f"{8 * os.path.getsize(path) / items:.2f} bits per hash"))
        members, seconds, _ = measured("check", "-c", *field, path, listed)
        if int(members) != items:
            sys.exit(f"only {members} of {items} are found")
        rows.append(("asking about all of them", f"{seconds:.1f} s, all found"))
        wrong, _, _ = measured("check", "-c", *field, path, others)
        rows.append((f"wrong among {OTHERS:,} others", f"{int(wrong)}, of which "
                                                       f"{OTHERS // ONE_IN} are expected"))
    print(f"| {items:,} hashes | |\n|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
