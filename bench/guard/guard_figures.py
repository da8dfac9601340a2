"""Measures the figures of docs/GUARD.md on this machine and prints them as Markdown.

    python3 bench/guard/guard_figures.py [--entries N] [--seconds S]

It requires build/tamis, and wrk for the requests per second."""
import argparse
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TAMIS = os.environ.get("TAMIS", str(SOURCE / "build/tamis"))
# The year of the lecture: page views, bad ones among them; seconds for the database and the filter.
VIEWS, BAD_VIEWS, DATABASE, FILTER, LECTURE = 102000, 2000, 0.5, 0.001, 1740


def url(i):
    """The i-th made-up URL: a host of three labels and two folders, so 8 expressions or a few
    more."""
    x = (i * 2654435761) % 2**32
    return f"http://www.site{x % 99991:05d}.example/{x % 9973:04d}/{x % 89:02d}/page-{i:08d}.html"


def write(path, numbers):
    with open(path, "w") as f:
        f.writelines(url(i) + "\n" for i in numbers)


def run(*words, stdin=None):
    """Returns the output, the seconds, and the peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen([TAMIS, *map(str, words)], stdin=stdin, stdout=subprocess.PIPE,
                               text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        sys.exit(f"exit {process.returncode}: {words}")
    return out, time.monotonic() - start, usage.ru_maxrss / 1024


def manifest(directory):
    lines = pathlib.Path(directory, "manifest").read_text().split("\n")
    return {line.split()[0]: line.split()[1:] for line in lines if line.strip()
            and not line.startswith("tamis-guard")}


def one_in(rate):
    return f"1 in {1 / rate:,.0f}"


def per_page(rate, expressions):
    return -math.expm1(expressions * math.log1p(-rate))


def checks(directory, room, count):
    """Seconds for a verdict on a clean URL, and to open the directory: the least of three."""
    write(room / "clean", range(50_000_000, 50_000_000 + count))
    opening = min(run("guard", "check", "-q", directory, "http://nothing.example/")[1]
                  for _ in range(3))
    whole = []
    for _ in range(3):
        with open(room / "clean") as f:
            whole.append(run("guard", "check", "-q", directory, stdin=f)[1])
    return (min(whole) - opening) / count, opening


LUA = """
math.randomseed(7)
request = function()
    local q = {}
    for i = 1, %d do q[i] = string.format("prefix=%%08x", math.random(0, 4294967295)) end
    return wrk.format("GET", "/v1/confirm?" .. table.concat(q, "&"))
end
"""


def confirms(directory, room, seconds):
    """Requests per second for 1, 3 and 30 prefixes, and the median latency."""
    process = subprocess.Popen([TAMIS, "guard", "serve", directory, "--port", "0", "--per-address",
                                "1000"],
                               stdout=subprocess.PIPE, text=True)
    base = process.stdout.readline().split()[-1]
    rows = []
    try:
        for prefixes in 1, 3, 30:
            (room / "ask.lua").write_text(LUA % prefixes)
            done = subprocess.run(["wrk", "-t1", "-c16", f"-d{seconds}s", "--latency", "-s",
                                   room / "ask.lua", base],
                                  capture_output=True, text=True, check=True)
            if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
                sys.exit(done.stdout)
            rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1])
            rows.append((prefixes, rate, re.search(r"50%\s+(\S+)", done.stdout)[1]))
    finally:
        process.terminate()
        process.wait()
    return rows


def churn(directory, room, n):
    """The bytes of an update after one in a hundred entries has changed: half of them removed, half
    new."""
    changed = n // 200
    write(room / "changed", range(changed, n + changed))
    _, seconds, memory = run("guard", "build", "-q", directory, f"malware={room / 'changed'}")
    m = manifest(directory)
    return (2 * changed, int(m["delta"][0]), int(m["removal"][0]), m["base"] != m["version"],
            seconds, memory)


def print_seconds(rate, check):
    fast = VIEWS * check + BAD_VIEWS * DATABASE + (VIEWS - BAD_VIEWS) * per_page(rate, 8) * DATABASE
    by_book = (VIEWS * FILTER + BAD_VIEWS * DATABASE
               + (VIEWS - BAD_VIEWS) * per_page(rate, 8) * DATABASE)
    print(f"The lectures' year has {VIEWS:,} page views, {BAD_VIEWS:,} of them bad, and {DATABASE} "
          "s for each query of the\n"
          "database.\n\n| | seconds |\n|---|---|")
    print(f"| without a filter | {VIEWS * DATABASE:,.0f} |\n| with the lectures' filter | about "
          f"{LECTURE:,} |")
    print(f"| with ours, at the lectures' {1000 * FILTER:.0f} ms for each query of the filter | "
          f"{by_book:,.0f} |")
    print(f"| with ours, as measured | {fast:,.0f} |\n| the part for the bad pages, which must be "
          "looked up | "
          f"{BAD_VIEWS * DATABASE:,.0f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=10)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tamis-figures-") as place:
        room = pathlib.Path(place)
        d = room / "d"
        write(room / "bad", range(a.entries))
        _, seconds, memory = run("guard", "build", "-q", d, f"malware={room / 'bad'}")
        m = manifest(d)
        size, rate = int(m["filter"][0]), float(m["rate"][0])
        check, opening = checks(d, room, 200_000)
        rows = confirms(d, room, a.seconds) if shutil.which("wrk") else []
        changes, delta, removed, kept, again, _ = churn(d, room, a.entries)
        print(f"| {a.entries:,} URLs | |\n|---|---|")
        print(f"| filter | {size:,} bytes, {8 * size / a.entries:.2f} bits each |")
        print(f"| wrong maybe for an expression | {one_in(rate)} |")
        print("| wrong maybe for a page with 8, with 30 expressions | "
              f"{one_in(per_page(rate, 8))}, {one_in(per_page(rate, 30))} |")
        print(f"| confirmations in vain in {VIEWS:,} page views of 8 expressions | "
              f"{VIEWS * per_page(rate, 8):.1f} |")
        print(f"| exact store | {int(m['store'][0]):,} bytes |")
        print(f"| building it | {seconds:.1f} s, {memory:,.0f} MB of memory |")
        print(f"| opening it, with all checksums | {1000 * opening:.0f} ms |")
        print(f"| a verdict on a clean URL | {1e6 * check:.1f} µs |")
        print(f"| update after {changes:,} changes | {delta + removed:,} bytes ({delta:,} added, "
              f"{removed:,} removed): "
              f"{100 * (delta + removed) / size:.1f} % of the "
              f"whole{'' if kept else '; a new base'}; built in {again:.1f} s |")
        for prefixes, per_second, half in rows:
            print(f"| confirmations of {prefixes} prefix{'es' if prefixes > 1 else ''} | "
                  f"{per_second:,.0f} requests a second, "
                  f"half of them within {half} (wrk, 16 connections, same machine) |")
        print()
        print_seconds(rate, check)


if __name__ == "__main__":
    main()
