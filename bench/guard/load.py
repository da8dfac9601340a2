"""Measures the guard's server under a fixed load of confirmations, with new versions meanwhile.

    python3 bench/guard/load.py [--rate N] [--seconds S] [--entries N] [--reload S]
                                [--connections N] [--threads N] [--server-cpus LIST]
                                [--load-cpus LIST]

Every answer is compared with that of the version that it names (bench/guard/load.c). Two versions
alternate: one lists the odd hosts of a set, the other the even ones, besides all others. Publishing
one means replacing the manifest, after which the server reads and checks the whole version anew.
Prints a table and whether the goal is met. The exit status is 1 if an answer was wrong or missing,
whatever the speed. It requires build/tamis and build/bench-guard-load."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build"))
TAMIS = os.environ.get("TAMIS", str(BUILD / "tamis"))
LOAD = BUILD / "bench-guard-load"
CHANGING = 2000  # hosts of which a version lists one half
QUESTIONS = 20000


def sha(host):
    return hashlib.sha256(f"{host}/".encode()).hexdigest()


def publish(directory, room, hosts):
    (room / "list").write_text("".join(host + "\n" for host in hosts))
    subprocess.run([TAMIS, "guard", "build", "-q", directory, f"malware={room / 'list'}"],
                   check=True)


def write_questions(path, common, odd, even):
    """A query of one prefix each: one in four is listed always, one in four in every other version,
    and the others never. Prefixes that two of the hosts share are left out."""
    listed = {}
    for kind, hosts in ("both", common), ("odd", odd), ("even", even):
        for host in hosts:
            digest = sha(host)
            listed.setdefault(digest[:8], []).append((kind, digest))
    single = {prefix: found[0] for prefix, found in listed.items() if len(found) == 1}
    always = [p for p, (kind, _) in single.items() if kind == "both"]
    changing = [p for p, (kind, _) in single.items() if kind != "both"]
    never = (p for p in (sha(f"never{i}.example")[:8] for i in range(4 * QUESTIONS))
             if p not in listed)
    stride = max(1, len(always) // QUESTIONS)

    def tail(prefix, version):
        kind, digest = single.get(prefix, ("never", ""))
        found = kind in ("both", version)
        return (f'"hashes":[{chr(34) + digest + chr(34) if found else ""}],'
                f'"labels":[{"[" + chr(34) + "malware" + chr(34) + "]" if found else ""}],'
                '"cache_seconds":300}')
    with open(path, "w") as f:
        for i in range(QUESTIONS):
            prefix = (always[i * stride % len(always)], next(never),
                      changing[i % len(changing)], next(never))[i % 4]
            f.write(f"prefix={prefix}\t{tail(prefix, 'odd')}\t{tail(prefix, 'even')}\n")


def prepare(room, entries):
    """A directory with both versions, of which the manifest decides; returns it with both
    manifests."""
    common = [f"host{i}.example" for i in range(entries)]
    sets = [f"changing{i}.example" for i in range(CHANGING)]
    odd, even = sets[::2], sets[1::2]
    d = room / "d"
    publish(d, room, common + odd)
    first = room / "first"
    shutil.copytree(d, first)
    publish(d, room, common + even)
    manifests = [(first / "manifest").read_bytes(), (d / "manifest").read_bytes()]
    for file in first.iterdir():
        if not (d / file.name).exists():
            file.rename(d / file.name)
    write_questions(room / "questions", common, odd, even)
    return d, manifests


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Publisher(threading.Thread):
    """Replaces the manifest by that of the other version, again and again."""
    def __init__(self, directory, manifests, seconds):
        super().__init__()
        self.directory, self.manifests, self.seconds = directory, manifests, seconds
        self.enough, self.published = threading.Event(), 0
        self.start()

    def run(self):
        while not self.enough.wait(self.seconds):
            fresh = self.directory / "manifest~"
            fresh.write_bytes(self.manifests[self.published % 2])
            fresh.rename(self.directory / "manifest")
            self.published += 1


def on(cpus):
    return ["taskset", "-c", cpus] if cpus else []


def measure(a, room):
    directory, manifests = prepare(room, a.entries)
    words = [*on(a.server_cpus), TAMIS, "guard", "serve", directory, "--port", "0", "--per-address",
             "1000", "--metrics-address", "127.0.0.1:0"]
    if a.threads:
        words += ["--threads", str(a.threads)]
    if a.access_log:
        words += ["--access-log", room / "log"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        port = re.search(r":(\d+)/", server.stdout.readline())[1]
        metrics = server.stdout.readline().split()[-1]
        publisher = Publisher(directory, manifests, a.reload)
        before, start = cpu_seconds(server.pid), time.monotonic()
        done = subprocess.run([*on(a.load_cpus), LOAD, "127.0.0.1", port, room / "questions",
                               str(a.seconds), str(a.rate), str(a.connections)],
                              stdout=subprocess.PIPE, text=True)
        used, elapsed = cpu_seconds(server.pid) - before, time.monotonic() - start
        publisher.enough.set()
        publisher.join()
        with urllib.request.urlopen(metrics) as answer:
            figures = answer.read().decode()
        reloads, failed = (int(re.search(rf"^tamis_guard_{name} (\d+)$", figures, re.M)[1])
                           for name in ("reloads_total", "failed_reloads_total"))
    finally:
        server.terminate()
        server.wait()
    if not done.stdout:
        sys.exit("the load generator failed")
    return dict(json.loads(done.stdout), reloads=reloads, failed_reloads=failed,
                published=publisher.published, server_cores=used / elapsed,
                load_status=done.returncode)


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores, {model[1] if model else os.uname().machine}"


def report(a, r):
    due, sent = r["from_due"], r["from_sent"]
    print(f"| {a.rate:,} confirmations a second for {a.seconds} s, {a.entries:,} entries | |\n"
          "|---|---|")
    print(f"| machine | {machine()}; load average {os.getloadavg()[0]:.1f} afterwards |")
    print(f"| processors of the server, of the load | {a.server_cpus or 'all'}, "
          f"{a.load_cpus or 'all'} |")
    print(f"| answered | {r['answered']:,} of {r['asked']:,}, {r['per_second']:,.0f} a second |")
    print(f"| wrong answers | {r['wrong']:,} |")
    print(f"| versions loaded meanwhile | {r['reloads']:,} of {r['published']:,} published; "
          f"{r['failed_reloads']} failed |")
    for name, t in ("due", due), ("sent", sent):
        print(f"| latency since it was {name}: 50 %, 99 %, 99.9 %, largest | {t['p50']:.2f}, "
              f"{t['p99']:.2f}, {t['p999']:.2f}, {t['max']:.2f} ms |")
    print(f"| within 5 ms since it was due | {100 * due['within_5ms']:.3f} % |")
    print(f"| processor time | server {r['server_cores']:.2f} cores, load generator "
          f"{r['cpu'] / r['seconds']:.2f} cores |")
    met = r["per_second"] >= 0.99 * a.rate and due["within_5ms"] >= 0.999
    print(f"\nThe goal (all answered at {a.rate:,} a second, 99.9 % within 5 ms) is "
          f"{'met' if met else 'missed'}.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=50000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--reload", type=float, default=1, help="seconds between new versions")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--server-cpus", help="processors of the server, as for taskset")
    parser.add_argument("--load-cpus", help="processors of the load generator")
    parser.add_argument("--access-log", action="store_true", help="with an access log")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tamis-load-") as place:
        r = measure(a, pathlib.Path(place))
    report(a, r)
    right = r["wrong"] == 0 and r["answered"] == r["asked"] and r["failed_reloads"] == 0
    return 0 if right and r["load_status"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
