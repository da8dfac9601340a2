"""Measures the errors of HyperLogLog in Redis (PFADD, PFCOUNT) and in PostgreSQL (Debian's package
postgresql-15-hll), and adds them as the list "peers" to the results of bench-distinct.

    bench/distinct/peers.py [--quick | --check] [--into FILE]

Each server is started for this purpose, in a folder of its own, and stopped again. A server that is
not installed or does not start is named, and its rows are left out. PostgreSQL refuses to run as
root; for root, this script runs it as the user postgres."""
import glob
import json
import math
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

# (keys, runs); the error of a measured error is 1 / sqrt(2 runs) of it.
FULL = ((10_000, 1000), (100_000, 1000), (1_000_000, 100))
QUICK = ((100_000, 100),)
CHECK = ((10_000, 5),)
BATCH = 10_000  # keys of one PFADD
# PostgreSQL: name, arguments, log2m and bits of a register.
HLLS = (("hll, default", "", 11, 5), ("hll, log2m = 14", ", 14", 14, 5))
PATIENCE = 60


def row(peer, bits, size, n, estimates):
    off = [e / n - 1 for e in estimates]
    variance = sum(x * x for x in off) / len(off)
    print(f"{peer:32} n {n:<9,} runs {len(off):<5} error {100 * math.sqrt(variance):.3f} %  "
          f"bits x variance {bits * variance:.2f}", flush=True)
    return {"peer": peer, "bits": bits, "bytes": size, "n": n, "runs": len(off),
            "bias": sum(off) / len(off), "variance": variance}


def wait_for(ready, process, what):
    end = time.monotonic() + PATIENCE
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{what} does not start")
        time.sleep(0.05)


def stop(process):
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- Redis ----------------------------------------------------------------------------------------


class Redis:
    """A server on a socket in `room`."""

    def __init__(self, room):
        self.path = os.path.join(room, "redis")
        with open(os.path.join(room, "redis.log"), "wb") as log:
            self.server = subprocess.Popen(
                ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "",
                 "--appendonly", "no", "--dir", room], stdout=log, stderr=log)
        try:
            wait_for(self.connect, self.server, "redis-server")
        except BaseException:
            stop(self.server)
            raise

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(self.path)
        except OSError:
            self.socket.close()
            return False
        self.replies = self.socket.makefile("rb")
        return True

    def integer(self, request):
        self.socket.sendall(request)
        reply = self.replies.readline()
        if not reply.startswith(b":"):
            raise RuntimeError(f"Redis replies {reply!r}")
        return int(reply[1:])

    def close(self):
        self.replies.close()
        self.socket.close()
        stop(self.server)


def request(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def measure_redis(room, sizes):
    if not shutil.which("redis-server"):
        print("Redis is left out: redis-server is not installed (Debian: redis-server)")
        return
    redis = Redis(room)
    try:
        for n, runs in sizes:
            # The run and the part replace these two words, because that is fast.
            adds = request(b"PFADD", b"sketch",
                           *(b"RUNRUNRUN PARTPART %06d" % i for i in range(BATCH)))
            estimates, size = [], 0
            for run in range(runs):
                mine = adds.replace(b"RUNRUNRUN", b"%09d" % run)
                for part in range(n // BATCH):
                    redis.integer(mine.replace(b"PARTPART", b"%08d" % part))
                estimates.append(redis.integer(request(b"PFCOUNT", b"sketch")))
                size = redis.integer(request(b"STRLEN", b"sketch"))
                redis.integer(request(b"DEL", b"sketch"))
            yield row("Redis, PFCOUNT", 6 << 14, size, n, estimates)
    finally:
        redis.close()


# --- PostgreSQL -----------------------------------------------------------------------------------


class Postgres:
    """A cluster in `room`, on a socket there, owned by an ordinary user."""

    def __init__(self, room, programs):
        self.room, self.programs = os.path.join(room, "postgres"), programs
        os.mkdir(self.room)
        self.owner = {}
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            self.owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            os.chmod(room, 0o711)
            os.chown(self.room, owner.pw_uid, owner.pw_gid)
        data = os.path.join(self.room, "data")
        self.run("initdb", "-D", data, "-U", "bench", "-A", "trust", "--no-sync", "-E", "UTF8",
                 "--locale=C")
        with open(os.path.join(room, "postgres.log"), "wb") as log:
            self.server = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", self.room, "-c", "listen_addresses=",
                 "-c", "fsync=off", "-c", "jit=off", "-c", "work_mem=256MB"], **self.owner,
                cwd=self.room, stdout=log, stderr=log)
        try:
            wait_for(lambda: os.path.exists(os.path.join(self.room, ".s.PGSQL.5432"))
                     and self.answers(), self.server, "PostgreSQL")
        except BaseException:
            stop(self.server)
            raise

    def run(self, program, *words):
        return subprocess.run([self.programs / program, *words], **self.owner, cwd=self.room,
                              check=True, capture_output=True, text=True).stdout

    def answers(self):
        try:
            return self.rows("SELECT 1") == [["1"]]
        except subprocess.CalledProcessError:
            return False

    def rows(self, query):
        text = self.run("psql", "-h", self.room, "-U", "bench", "-d", "postgres", "-X", "-q", "-A",
                        "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", "-c", query)
        return [line.split(" ") for line in text.splitlines()]

    def close(self):
        stop(self.server)


def hll_programs():
    """The folder of the programs of a PostgreSQL that has hll."""
    for control in sorted(glob.glob("/usr/share/postgresql/*/extension/hll.control")):
        programs = pathlib.Path("/usr/lib/postgresql", control.split("/")[4], "bin")
        if (programs / "initdb").exists():
            return programs
    return None


def measure_postgres(room, sizes):
    programs = hll_programs()
    if programs is None:
        print("hll is left out: PostgreSQL has no such extension here (Debian: postgresql-15-hll)")
        return
    postgres = Postgres(room, programs)
    try:
        postgres.rows("CREATE EXTENSION hll")
        for name, arguments, log2m, width in HLLS:
            for n, runs in sizes:
                found = postgres.rows(
                    "SELECT hll_cardinality(h), pg_column_size(h) FROM (SELECT (SELECT hll_add_agg("
                    f"hll_hash_bigint(i){arguments}) FROM generate_series(run * {n}::bigint, "
                    f"(run + 1) * {n}::bigint - 1) AS i) AS h FROM generate_series(1, {runs}) AS "
                    "run OFFSET 0) AS every")
                yield row(name, width << log2m, int(found[-1][1]), n,
                          [float(estimate) for estimate, _ in found])
    finally:
        postgres.close()


def attempt(name, measure, room, sizes):
    """The rows of a peer, or none if it cannot be started."""
    try:
        return list(measure(room, sizes))
    except (OSError, KeyError, RuntimeError, subprocess.CalledProcessError) as reason:
        print(f"{name} is left out: {reason}")
        return []


def main():
    words, into, sizes = sys.argv[1:], None, FULL
    while words:
        word = words.pop(0)
        if word == "--quick":
            sizes = QUICK
        elif word == "--check":
            sizes = CHECK
        elif word == "--into" and words:
            into = pathlib.Path(words.pop(0))
        else:
            sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="tamis-distinct-") as room:
        rows = attempt("Redis", measure_redis, room, sizes)
        rows += attempt("hll", measure_postgres, room, sizes)
    if into:
        results = json.loads(into.read_text(encoding="utf-8"))
        results["peers"] = rows
        into.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
