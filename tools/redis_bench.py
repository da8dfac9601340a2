"""Measures the Redis module against plain commands of the same server: redis_bench.py [--quick]

Every command is run in turn, several times round, and the best of its runs counts, since whatever else runs on the machine only
makes it slower. Prints a table, and the same as build/redis-bench.json. The server's own share is the time between reading a
command and having its reply (INFO commandstats); what is left is protocol, system calls and the client on the other core."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from redis_client import BUILD, Server  # noqa: E402

QUICK = "--quick" in sys.argv
ROUNDS = 2 if QUICK else 5
REQUESTS = 60000 if QUICK else 400000
RANGE = 1000000
ITEM = "__rand_int__"
# name, command, keys in each, how many in a pipeline
ROWS = [("SET", ["SET", f"key:{ITEM}", "xxx"], 1, 32), ("GET", ["GET", f"key:{ITEM}"], 1, 32), ("SADD", ["SADD", "set", ITEM], 1, 32),
        ("SISMEMBER", ["SISMEMBER", "set", ITEM], 1, 32), ("BF.ADD", ["BF.ADD", "bf", ITEM], 1, 32), ("BF.EXISTS", ["BF.EXISTS", "bf", ITEM], 1, 32),
        ("BF.MADD (100)", ["BF.MADD", "bf", *[ITEM] * 100], 100, 1), ("CF.ADDNX", ["CF.ADDNX", "cf", ITEM], 1, 32),
        ("CF.EXISTS", ["CF.EXISTS", "cf", ITEM], 1, 32), ("CMS.INCRBY", ["CMS.INCRBY", "cms", ITEM, "1"], 1, 32),
        ("TOPK.ADD", ["TOPK.ADD", "topk", ITEM], 1, 32), ("TAMIS.ADD", ["TAMIS.ADD", "tamis", ITEM], 1, 32),
        ("TAMIS.HAS", ["TAMIS.HAS", "tamis", ITEM], 1, 32), ("TAMIS.MADD (1000)", ["TAMIS.MADD", "tamis", *[ITEM] * 1000], 1000, 1),
        ("TAMIS.MHAS (1000)", ["TAMIS.MHAS", "tamis", *[ITEM] * 1000], 1000, 1),
        ("SMISMEMBER (1000)", ["SMISMEMBER", "set", *[ITEM] * 1000], 1000, 1)]


def calls(client, command):
    found = re.search(rf"cmdstat_{re.escape(command.lower())}:calls=(\d+),usec=(\d+)".encode(), client.do("INFO", "commandstats").lower())
    return int(found[1]), int(found[2])


def measure(server, client, command, keys, pipeline):
    """Requests a second, and the microseconds of the server in each."""
    requests = max(REQUESTS // keys, 200) // 32 * 32
    client.do("CONFIG", "RESETSTAT")
    said = subprocess.run(["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-r", str(RANGE), "-P", str(pipeline), "-q",
                           "-c", "20", *command], capture_output=True, text=True, check=True).stdout
    rate = float(re.findall(r"([\d.]+) requests per second", said)[-1])
    count, usec = calls(client, command[0])
    return rate, usec / count


def sizes(client):
    """Bytes a key of a million, by MEMORY USAGE."""
    client.do("FLUSHALL")
    client.do("BF.RESERVE", "bf", 0.01, RANGE)
    client.do("CF.RESERVE", "cf", RANGE)
    client.do("TAMIS.CREATE", "tamis", "blocked", "ITEMS", RANGE, "RATE", 0.01)
    client.do("TAMIS.CREATE", "ribbon", "ribbon", "ITEMS", RANGE, "RATE", 0.01)
    for start in range(0, RANGE, 1000):
        items = [f"{n:012d}" for n in range(start, start + 1000)]
        client.pipeline([("SADD", "set", *items), ("BF.MADD", "bf", *items), ("CF.INSERT", "cf", "ITEMS", *items),
                         ("TAMIS.MADD", "tamis", *items), ("TAMIS.MADD", "ribbon", *items)])
    client.do("TAMIS.SEAL", "ribbon")
    return {key: client.do("MEMORY", "USAGE", key, "SAMPLES", 0) / RANGE for key in ("set", "bf", "cf", "tamis", "ribbon")}


def main():
    best = {}
    with Server() as server:
        client = server.client()
        for command in (f"BF.RESERVE bf 0.01 {RANGE}", f"CF.RESERVE cf {4 * RANGE}", "CMS.INITBYDIM cms 2000 7", "TOPK.RESERVE topk 10 1000 7 0.9",
                        f"TAMIS.CREATE tamis blocked ITEMS {RANGE} RATE 0.01"):
            client.do(*command.split())
        for start in range(0, RANGE, 1000):  # GET and SISMEMBER find what they ask for
            items = [f"{n:012d}" for n in range(start, start + 1000)]
            client.pipeline([("MSET", *[x for item in items for x in (f"key:{item}", "xxx")]), ("SADD", "set", *items)])
        for _ in range(ROUNDS):
            for name, command, keys, pipeline in ROWS:
                rate, usec = measure(server, client, command, keys, pipeline)
                old = best.get(name, (0, 1e9))
                best[name] = (max(old[0], rate), min(old[1], usec))
        per_key = sizes(client)
    get, has = best["GET"][0], best["TAMIS.HAS"][0]
    print("| command | pipeline | commands/s | keys/s | against GET | server, ns a key |")
    print("|---|---|---|---|---|---|")
    for name, _, keys, pipeline in ROWS:
        rate, usec = best[name]
        print(f"| {name} | {pipeline} | {rate:,.0f} | {rate * keys:,.0f} | {rate * keys / get:.2f} | {1000 * usec / keys:.0f} |")
    print(f"\nTAMIS.MHAS (1000): {best['TAMIS.MHAS (1000)'][0] * 1000 / has:.1f} times the keys of TAMIS.HAS at pipeline 32;"
          f" within the server {best['TAMIS.HAS'][1] * 1000 / best['TAMIS.MHAS (1000)'][1]:.1f} times")
    print("bytes a key, of a million of 12 bytes: " + ", ".join(f"{key} {size:.2f}" for key, size in per_key.items()))
    (BUILD / "redis-bench.json").write_text(json.dumps({"best": best, "bytes": per_key}, indent=1) + "\n")


if __name__ == "__main__":
    main()
