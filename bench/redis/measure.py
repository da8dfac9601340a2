"""Measures the Redis module against plain commands of the same server.

    bench/redis/measure.py [--quick] [--docs]

Every command runs right after a GET of its own (TAMIS.MHAS also after a TAMIS.HAS), in several
rounds. The ratio is the median of the ratios of the pairs, with the quartiles beside it. The
best run of each would compare moments in which the machine was busy with moments in which it was
not: on a shared machine such ratios differed by half from run to run. The script prints a table,
writes it to docs/REDIS.md with --docs, and stores all runs in build/redis-bench.json. The
server's own share is the time between reading a command and having its reply (INFO
commandstats). The remainder is protocol, system calls and the client on the other core."""
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
from redis_client import BUILD, Server  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "REDIS.md"
QUICK = "--quick" in sys.argv
ROUNDS = 3 if QUICK else 9
REQUESTS = 60000 if QUICK else 150000
RANGE = 1000000
ITEM = "__rand_int__"
# name, command, keys in each, number of commands in a pipeline
ROWS = [("SET", ["SET", f"key:{ITEM}", "xxx"], 1, 32), ("GET", ["GET", f"key:{ITEM}"], 1, 32),
        ("SADD", ["SADD", "set", ITEM], 1, 32),
        ("SISMEMBER", ["SISMEMBER", "set", ITEM], 1, 32), ("BF.ADD", ["BF.ADD", "bf", ITEM], 1, 32),
        ("BF.EXISTS", ["BF.EXISTS", "bf", ITEM], 1, 32),
        ("BF.MADD (100)", ["BF.MADD", "bf", *[ITEM] * 100], 100, 1),
        ("CF.ADDNX", ["CF.ADDNX", "cf", ITEM], 1, 32),
        ("CF.EXISTS", ["CF.EXISTS", "cf", ITEM], 1, 32),
        ("CMS.INCRBY", ["CMS.INCRBY", "cms", ITEM, "1"], 1, 32),
        ("TOPK.ADD", ["TOPK.ADD", "topk", ITEM], 1, 32),
        ("TAMIS.ADD", ["TAMIS.ADD", "tamis", ITEM], 1, 32),
        ("TAMIS.HAS", ["TAMIS.HAS", "tamis", ITEM], 1, 32),
        ("TAMIS.MADD (1000)", ["TAMIS.MADD", "tamis", *[ITEM] * 1000], 1000, 1),
        ("TAMIS.MHAS (1000)", ["TAMIS.MHAS", "tamis", *[ITEM] * 1000], 1000, 1),
        ("SMISMEMBER (1000)", ["SMISMEMBER", "set", *[ITEM] * 1000], 1000, 1)]


def calls(client, command):
    found = re.search(rf"cmdstat_{re.escape(command.lower())}:calls=(\d+),usec=(\d+)".encode(),
                      client.do("INFO", "commandstats").lower())
    return int(found[1]), int(found[2])


def measure(server, client, command, keys, pipeline):
    """Returns the requests per second, and the server's microseconds for each."""
    requests = max(REQUESTS // keys, 3200) // 32 * 32
    client.do("CONFIG", "RESETSTAT")
    said = subprocess.run(["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-r",
                           str(RANGE), "-P", str(pipeline), "-q",
                           "-c", "20", *command], capture_output=True, text=True, check=True).stdout
    rate = float(re.findall(r"([\d.]+) requests per second", said)[-1])
    count, usec = calls(client, command[0])
    return rate, usec / count


def sizes(client):
    """Bytes per key with a million keys, by MEMORY USAGE."""
    client.do("FLUSHALL")
    client.do("BF.RESERVE", "bf", 0.01, RANGE)
    client.do("CF.RESERVE", "cf", RANGE)
    client.do("TAMIS.CREATE", "tamis", "blocked", "ITEMS", RANGE, "RATE", 0.01)
    client.do("TAMIS.CREATE", "ribbon", "ribbon", "ITEMS", RANGE, "RATE", 0.01)
    for start in range(0, RANGE, 1000):
        items = [f"{n:012d}" for n in range(start, start + 1000)]
        client.pipeline([("SADD", "set", *items), ("BF.MADD", "bf", *items),
                         ("CF.INSERT", "cf", "ITEMS", *items),
                         ("TAMIS.MADD", "tamis", *items), ("TAMIS.MADD", "ribbon", *items)])
    client.do("TAMIS.SEAL", "ribbon")
    return {key: client.do("MEMORY", "USAGE", key, "SAMPLES", 0) / RANGE
            for key in ("set", "bf", "cf", "tamis", "ribbon")}


def spread(values):
    """The median and the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def run(server, client):
    """The runs of each row: (commands per second, microseconds of the server, keys against GET,
    keys against TAMIS.HAS or 0)."""
    rows = {name: (command, keys, pipeline) for name, command, keys, pipeline in ROWS}
    runs = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, (command, keys, pipeline) in rows.items():
            get = measure(server, client, *rows["GET"])[0]
            has = 0
            if name == "TAMIS.MHAS (1000)":
                has = measure(server, client, *rows["TAMIS.HAS"])[0]
            rate, usec = measure(server, client, command, keys, pipeline)
            runs[name].append((rate, usec, rate * keys / get, rate * keys / has if has else 0))
    return runs


def report(runs, per_key):
    lines = ["| command | pipeline | keys/s, median | keys against GET, median (quarters) | "
             "server, ns a key |", "|---|---|---|---|---|"]
    for name, _, keys, pipeline in ROWS:
        rate, usec = (statistics.median(r[i] for r in runs[name]) for i in (0, 1))
        middle, low, high = spread([r[2] for r in runs[name]])
        lines.append(f"| {name} | {pipeline} | {rate * keys:,.0f} | {middle:.2f} ({low:.2f} to "
                     f"{high:.2f}) | {1000 * usec / keys:.0f} |")
    middle, low, high = spread([r[3] for r in runs["TAMIS.MHAS (1000)"]])
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    lines += ["", f"`TAMIS.MHAS` with 1000 items handles {middle:.1f} ({low:.1f} to {high:.1f}) "
                  "times the keys of `TAMIS.HAS` at pipeline 32.",
              "Bytes per key, for a million keys of 12 bytes: "
              + ", ".join(f"{key} {size:.2f}" for key, size in per_key.items()) + ".",
              f"Machine: {cpu[1] if cpu else platform.machine()}, {os.cpu_count()} processors."]
    return "\n".join(lines)


def main():
    with Server() as server:
        client = server.client()
        for command in (f"BF.RESERVE bf 0.01 {RANGE}", f"CF.RESERVE cf {4 * RANGE}",
                        "CMS.INITBYDIM cms 2000 7", "TOPK.RESERVE topk 10 1000 7 0.9",
                        f"TAMIS.CREATE tamis blocked ITEMS {RANGE} RATE 0.01"):
            client.do(*command.split())
        for start in range(0, RANGE, 1000):  # GET and SISMEMBER find what they ask for
            items = [f"{n:012d}" for n in range(start, start + 1000)]
            client.pipeline([("MSET", *[x for item in items for x in (f"key:{item}", "xxx")]),
                             ("SADD", "set", *items)])
        runs = run(server, client)
        per_key = sizes(client)
    text = report(runs, per_key)
    print(text)
    if "--docs" in sys.argv:
        before, _, after = PAGE.read_text().split("<!-- bench -->\n")
        PAGE.write_text(f"{before}<!-- bench -->\n{text}\n<!-- bench -->\n{after}")
    (BUILD / "redis-bench.json").write_text(json.dumps({"runs": runs, "bytes": per_key}, indent=1)
                                            + "\n")


if __name__ == "__main__":
    main()
