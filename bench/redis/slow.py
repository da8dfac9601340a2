"""Measures the commands of the Redis module that process a whole value, while no other client is
answered.

    bench/redis/slow.py [--quick] [--docs]

Every command runs several times on values of the same size. The table has the least of the server's
own times (INFO commandstats), because whatever else the machine does only adds to them. The script
prints the table, writes it to docs/REDIS.md with --docs, and stores all runs in
build/redis-slow.json."""
import json
import os
import pathlib
import platform
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
from redis_client import BUILD, Error, Server  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "REDIS.md"
QUICK = "--quick" in sys.argv
MB = 2 if QUICK else 32
RUNS = 2 if QUICK else 5
KEYS = 20000 if QUICK else 1000000
TOP = 1000 if QUICK else 20000
CHUNK = 1 << 20
FILTERS = ("blocked", "counting", "cuckoo")
SKETCHES = ("count-min", "tally", "top", "distinct")


class Bench:
    def __init__(self, client):
        self.client, self.rows = client, []

    def time(self, *words):
        """The server's microseconds for one command."""
        self.client.do("CONFIG", "RESETSTAT")
        reply = self.client.call(*words)
        if isinstance(reply, Error):
            return None
        found = re.search(rf"cmdstat_{re.escape(words[0].lower())}:calls=1,usec=(\d+)".encode(),
                          self.client.do("INFO", "commandstats").lower())
        return int(found[1])

    def row(self, name, what, amount, unit, *words, before=()):
        """Measures a command; `before` are commands that prepare each run."""
        runs = []
        for _ in range(RUNS):
            for command in before:
                self.client.call(*command)
            runs.append(self.time(*words))
        if None not in runs:
            self.rows.append({"name": name, "what": what, "amount": amount, "unit": unit,
                              "usec": runs})

    def fill(self, add, key, *between):
        for start in range(0, KEYS, 10000):
            self.client.do(add, key, *between, *range(start, start + 10000))


def native(b, kind):
    """The commands on one kind of the library."""
    c, size = b.client, ("BYTES", MB << 20)
    c.do("FLUSHALL")
    for key in ("t", "u"):
        c.do("TAMIS.CREATE", key, kind, *size, *(("RATE", 0.01) if kind in FILTERS else ()))
    b.fill("TAMIS.MADD", "t")
    image, dump = c.do("TAMIS.DUMP", "t"), c.do("DUMP", "t")
    mb = len(image) / 2**20
    names = [f"part{at}" for at in range(0, len(image), 16 * CHUNK)]
    for n, name in enumerate(names):
        c.do("SET", name, image[n * 16 * CHUNK:(n + 1) * 16 * CHUNK])
    gone = (("DEL", "new"),)
    b.row("`TAMIS.LOAD`", kind, mb, "MB", "TAMIS.LOAD", "new", image, before=gone)
    b.row("`TAMIS.LOADPARTS`", kind, mb, "MB", "TAMIS.LOADPARTS", "new", *names, before=gone)
    b.row("`TAMIS.DUMP`", kind, mb, "MB", "TAMIS.DUMP", "t")
    b.row("`TAMIS.DUMP` of 1 MB", kind, mb, "MB", "TAMIS.DUMP", "t", CHUNK // 2, CHUNK)
    b.row("`TAMIS.INFO key FULL`", kind, mb, "MB", "TAMIS.INFO", "t", "FULL")
    b.row("`TAMIS.CARD` of two keys", kind, mb, "MB", "TAMIS.CARD", "t", "u")
    b.row("`TAMIS.MERGE`", kind, mb, "MB", "TAMIS.MERGE", "u", "t")
    b.row("`COPY`", kind, mb, "MB", "COPY", "t", "new", before=gone)
    b.row("`DUMP`", kind, mb, "MB", "DUMP", "t")
    b.row("`RESTORE`", kind, mb, "MB", "RESTORE", "new", 0, dump, before=gone)


def sealed(b):
    c, make = b.client, ("TAMIS.CREATE", "new", "ribbon", "ITEMS", KEYS, "RATE", 0.01)
    c.do("FLUSHALL")
    adds = [("TAMIS.MADD", "new", *range(start, start + 10000)) for start in range(0, KEYS, 10000)]
    b.row("`TAMIS.SEAL`", "ribbon", KEYS / 1e6, "million items", "TAMIS.SEAL", "new",
          before=(("DEL", "new"), make, *adds))


def redisbloom(b):
    c, gone = b.client, (("DEL", "new"),)
    c.do("FLUSHALL")
    for key in ("b", "o"):
        c.do("BF.RESERVE", key, 0.01, int(MB * 2**20 * 8 / 11))
    b.fill("BF.MADD", "b")
    header, (at, chunk) = c.do("BF.SCANDUMP", "b", 0)[1], c.do("BF.SCANDUMP", "b", 1)
    part = len(chunk) / 2**20
    b.row("`BF.MERGE`", "bloom", MB, "MB", "BF.MERGE", "o", "b")
    b.row("`BF.SCANDUMP`, a chunk", "bloom", part, "MB", "BF.SCANDUMP", "b", 1)
    c.do("BF.LOADCHUNK", "l", 1, header)
    b.row("`BF.LOADCHUNK`, a chunk", "bloom", part, "MB", "BF.LOADCHUNK", "l", at, chunk)
    b.row("`RESTORE`", "bloom", MB, "MB", "RESTORE", "new", 0, c.do("DUMP", "b"), before=gone)
    c.do("FLUSHALL")
    c.do("CF.RESERVE", "c", KEYS // 8, "EXPANSION", 2)  # grows to several tables
    b.fill("CF.INSERT", "c", "ITEMS")
    for n in range(0, KEYS, 97):
        c.do("CF.DEL", "c", n)
    size = c.do("MEMORY", "USAGE", "c") / 2**20
    b.row("`CF.COMPACT`", "cuckoo", size, "MB", "CF.COMPACT", "new",
          before=(*gone, ("COPY", "c", "new")))
    for key in ("s", "o"):
        c.do("CMS.INITBYDIM", key, MB << 16, 4)
    b.row("`CMS.MERGE` of two sketches", "cms", MB, "MB", "CMS.MERGE", "s", 2, "s", "o")
    c.do("TOPK.RESERVE", "t", TOP)
    for start in range(0, TOP, 100):
        c.do("TOPK.ADD", "t", *range(start, start + 100))
    b.row("`TOPK.ADD` of one item", "topk", TOP / 1e6, "million entries", "TOPK.ADD", "t", "x")
    b.row("`TOPK.LIST`", "topk", TOP / 1e6, "million entries", "TOPK.LIST", "t")


def digits(x):
    """Two digits, or all before the point."""
    return f"{x:,.0f}" if x >= 10 else f"{x:.2g}"


def report(rows):
    """One line for each command: the slowest and the fastest type."""
    lines = ["| command | milliseconds | for each |", "|---|---|---|"]
    for name in dict.fromkeys(row["name"] for row in rows):
        times = sorted((min(row["usec"]) / 1000 / row["amount"], row["what"], row["unit"])
                       for row in rows if row["name"] == name)
        (low, fast, unit), (high, slow, _) = times[0], times[-1]
        text = f"{digits(high)} ({slow})"
        if len(times) > 1:
            text = f"{digits(low)} ({fast}) to {text}"
        lines.append(f"| {name} | {text} | {unit} |")
    worst = max(min(row["usec"]) / 1000 / row["amount"] for row in rows if row["unit"] == "MB")
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    lines += ["", f"At most {digits(worst)} ms for each MB: {digits(worst * 512 / 1000)} s for a "
                  f"value of 512 MB, and below 100 ms for values of up to "
                  f"{digits(100 / worst)} MB.",
              f"Machine: {cpu[1] if cpu else platform.machine()}, {os.cpu_count()} processors."]
    return "\n".join(lines)


def main():
    with Server() as server:
        b = Bench(server.client())
        for kind in FILTERS + SKETCHES:
            native(b, kind)
        sealed(b)
        redisbloom(b)
    text = report(b.rows)
    print(text)
    if "--docs" in sys.argv:
        before, _, after = PAGE.read_text().split("<!-- slow -->\n")
        PAGE.write_text(f"{before}<!-- slow -->\n{text}\n<!-- slow -->\n{after}")
    (BUILD / "redis-slow.json").write_text(json.dumps(b.rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
