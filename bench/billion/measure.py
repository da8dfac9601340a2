"""Builds every kind of filter and sketch that fits in memory with a billion keys.

    bench/billion/measure.py [--items N] [--quick] [--limit BYTES] [--fpr P] [--scratch BYTES]
                             [--temp DIR] [--out FILE] [--again] [--plan] [KIND...]

Each kind is built by build/bench-billion in a process of its own, and two of them also by `tamis
build` from the lines of `seq`. Each result is written to FILE (build/billion.json) as soon as it is
there. A later run with the same numbers and programs continues behind the results in FILE; --again
begins anew.
--plan only computes which kinds fit.

First, each kind is built with a 128th and a 64th of the keys. The peak of memory is a straight line
through these two points, because everything that a kind allocates is proportional to its keys or
constant. (A ribbon has less --scratch then, so that its hashes go to a file as well.) A kind whose
peak would exceed --limit (20 GB) is not built, and FILE has the reason.

The exit status is 1 if a rate is not the planned one, if a member gets a "no", or if a kind that
fits could not be measured because the machine lacks memory or disk at the moment."""
import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "common"))
from reporting import ROOT  # noqa: E402

BUILD = os.environ.get("TAMIS_BUILD", os.path.join(ROOT, "build"))
BENCH = os.path.join(BUILD, "bench-billion")
TAMIS = os.path.join(BUILD, "tamis")
SMALLER = (128, 64)
LEAST_SCRATCH = 64 * 2**20  # that `tamis build --memory` takes
FILE_BYTES = 34  # of the temporary file for a key (docs/GUIDE.md, "Sets that never change")
# A kind with another number of threads.
THREADS = {"blocked, one thread": ("blocked", 1)}
COMMANDS = {"tamis build": [], "tamis build --kind ribbon": ["--kind", "ribbon"]}
# A measured rate may differ from its expectation by 1 %, or by as much as happens by chance with a
# probability of 1e-9.
DEVIATIONS = 6.2


def size(text):
    """A size like 20GB or 512MiB, or a count like 1e9."""
    units = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
    number = text.rstrip("BKMGibkmg")
    unit = text[len(number):].upper()
    value = float(number) * (units[unit] if unit else 1)
    if value < 1:
        raise ValueError(text)
    return int(value)


def arguments():
    parser = argparse.ArgumentParser(description="Builds every kind with a billion keys.")
    parser.add_argument("--items", type=size, default=10**9)
    parser.add_argument("--quick", action="store_true", help="ten million keys")
    parser.add_argument("--limit", type=size, default=size("20GB"), help="of the peak of memory")
    parser.add_argument("--fpr", type=float, default=0.01)
    parser.add_argument("--scratch", type=size, default=2**30, help="of a ribbon and its command")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--temp", default=os.environ.get("TMPDIR", "/tmp"))
    parser.add_argument("--out", default=os.path.join(BUILD, "billion.json"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--plan", action="store_true", help="only compute which kinds fit")
    parser.add_argument("kinds", nargs="*")
    args = parser.parse_args()
    if args.quick:
        args.items = 10**7
    if args.scratch < LEAST_SCRATCH:
        parser.error("--scratch must be at least 64MiB")
    return args


# --- One process ----------------------------------------------------------------------------------


def scratch_of(args, items):
    return args.scratch if items == args.items else LEAST_SCRATCH


def in_process(args, kind, items, asks):
    """The JSON object of build/bench-billion."""
    of, threads = THREADS.get(kind, (kind, args.threads))
    words = [BENCH, of, "--items", str(items), "--asks", str(asks), "--fpr", str(args.fpr),
             "--threads", str(threads)]
    if kind == "ribbon":
        words += ["--scratch", str(scratch_of(args, items)), "--temp", args.temp]
    quiet = subprocess.DEVNULL if items != args.items or not sys.stderr.isatty() else None
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=quiet, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{kind}: bench-billion fails with status {done.returncode}")
    return dict(json.loads(done.stdout), kind=kind)


def piped(lines, words):
    """Runs a command whose input is `seq FIRST LAST`. Returns its output, its peak of memory and
    the seconds that it took."""
    start = time.monotonic()
    with subprocess.Popen(["seq", *map(str, lines)], stdout=subprocess.PIPE) as seq, \
            subprocess.Popen(words, stdin=seq.stdout, stdout=subprocess.PIPE, text=True) as command:
        seq.stdout.close()
        output = command.stdout.read()
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode not in (0, 1):  # 1: `check` selected no line
        raise RuntimeError(f"{' '.join(words)}: exit status {command.returncode}")
    return output, usage.ru_maxrss * 1024, time.monotonic() - start


def by_command(args, name, items, asks):
    """The same row for `seq | tamis build` and `seq | tamis check`."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tamis-billion-", dir=args.temp) as room:
        path = os.path.join(room, "f.tamis")
        words = [TAMIS, "build", "-q", "--items", str(items), "--fpr", str(args.fpr), "-o", path]
        if "ribbon" in name:
            words += ["--memory", f"{scratch_of(args, items) // 2**20}MiB", "--temp", room]
        _, peak, build = piped((1, items), words + COMMANDS[name])
        facts = json.loads(subprocess.run([TAMIS, "info", "--json", path], check=True, text=True,
                                          stdout=subprocess.PIPE).stdout)
        members, _, seconds = piped((1, items), [TAMIS, "check", "-c", path])
        found, _, others = piped((items + 1, items + asks), [TAMIS, "check", "-c", path])
    return {"kind": name, "items": items, "fpr": args.fpr, "threads": 1, "in_file": False,
            "bytes": facts["bytes"], "peak": peak, "rounds": 0, "create_seconds": 0,
            "add_seconds": build, "seal_seconds": 0, "asked": items,
            "missed": items - int(members), "others": asks, "false": int(found),
            "excluded_wrong": 0, "planned": facts["fpr_planned"], "computed": facts["fpr_now"],
            "measured": int(found) / asks, "miss_rate": 0, "members_seconds": seconds,
            "others_seconds": others, "estimate": None, "error": None,
            "wall_seconds": time.monotonic() - begin}


def measured(args, kind, items, asks):
    return (by_command if kind in COMMANDS else in_process)(args, kind, items, asks)


# --- What is wrong --------------------------------------------------------------------------------


def differs(row, expected):
    """Whether the measured rate is not this one."""
    chance = DEVIATIONS * math.sqrt(expected * (1 - expected) / row["others"])
    return abs(row["measured"] - expected) > max(0.01 * expected, chance)


def wrong(row):
    """The promises that a row breaks, as sentences."""
    found = []
    if row["kind"] == "private":  # its "no" may be wrong, at a rate that it states
        rate, n = row["miss_rate"], row["asked"]
        if abs(row["missed"] - rate * n) > DEVIATIONS * math.sqrt(rate * (1 - rate) * n):
            found.append(f"{row['missed']:,} of {n:,} members are missed, not {rate:.4g}")
    elif row["missed"] != 0:
        found.append(f"{row['missed']:,} of {row['asked']:,} members get a wrong answer")
    if row["excluded_wrong"] != 0:
        found.append(f"{row['excluded_wrong']:,} excluded keys get a maybe")
    if row["measured"] is not None:
        if differs(row, row["computed"]):
            found.append(f"the rate is {row['measured']:.4g}, computed {row['computed']:.4g}")
        if row["kind"] == "growing":  # whose plan is a limit for any number of items
            if row["measured"] > row["planned"]:
                found.append(f"the rate is {row['measured']:.4g}, at most {row['planned']:.4g}")
        elif differs(row, row["planned"]):
            found.append(f"the rate is {row['measured']:.4g}, planned {row['planned']:.4g}")
    if row["estimate"] is not None:
        off = abs(row["estimate"] / row["items"] - 1)
        if off > DEVIATIONS * row["error"]:
            found.append(f"the estimate is off by {off:.2%}, its error is {row['error']:.2%}")
    return [f"{row['kind']}: {what}" for what in found]


# --- Which fit ------------------------------------------------------------------------------------


def available():
    with open("/proc/meminfo", encoding="utf-8") as f:
        fields = dict(line.split(":") for line in f)
    return int(fields["MemAvailable"].split()[0]) * 1024


def pilot(args, kind):
    """What the kind takes with all keys, by what it takes with a 128th and a 64th of them."""
    few, more = (max(args.items // part, 1000) for part in SMALLER)
    rows = [measured(args, kind, n, max(n // 4, 1)) for n in (few, more)]
    own = [row["peak"] - row["rounds"] for row in rows]
    slope = max((own[1] - own[0]) / max(more - few, 1), 0)
    # The buffers of rounds are at most 600 MB, of which the larger of the two has its share.
    rounds = min(rows[1]["rounds"] / more * args.items, 6e8)
    scratch = args.scratch - LEAST_SCRATCH if "ribbon" in kind else 0
    return {"kind": kind, "bytes_per_key": round(slope, 3),
            "peak": int(own[1] + slope * (args.items - more) + rounds + scratch),
            "seconds": rows[1]["wall_seconds"] * args.items / more}


def lacks(args, plan):
    """Why a kind that fits cannot be measured now, or None."""
    if plan["peak"] > available():
        return (f"{plan['kind']}: needs {plan['peak'] / 1e9:.1f} GB of memory, and "
                f"{available() / 1e9:.1f} GB are available now")
    disk = shutil.disk_usage(args.temp).free
    if "ribbon" in plan["kind"] and FILE_BYTES * args.items > disk:
        return (f"{plan['kind']}: needs {FILE_BYTES * args.items / 1e9:.1f} GB in {args.temp}, "
                f"and {disk / 1e9:.1f} GB are free")
    return None


# --- The file of results --------------------------------------------------------------------------


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = [line.split(":")[1].strip() for line in f if line.startswith("model name")]
    with open("/proc/meminfo", encoding="utf-8") as f:
        memory = int(f.readline().split()[1]) * 1024
    return {"processor": names[0] if names else os.uname().machine,
            "cores": len(os.sched_getaffinity(0)), "memory": memory}


def digest(path):
    """Figures of different programs must not stand in one table."""
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Results:
    """FILE, which is written anew after each result."""

    def __init__(self, args):
        self.path = args.out
        self.run = {"items": args.items, "fpr": args.fpr, "limit": args.limit,
                    "scratch": args.scratch, "threads": args.threads, "machine": machine(),
                    "programs": [digest(BENCH), digest(TAMIS)],
                    "version": subprocess.run([TAMIS, "--version"], text=True, check=True,
                                              stdout=subprocess.PIPE).stdout.split("\n")[0],
                    "plans": {}, "rows": {}, "load": 0}
        if os.path.exists(self.path) and not args.again:
            with open(self.path, encoding="utf-8") as f:
                old = json.load(f)
            results = ("plans", "rows", "load")
            if all(old.get(k) == v for k, v in self.run.items() if k not in results):
                self.run = old

    def keep(self, part, kind, what):
        self.run[part][kind] = what
        self.run["load"] = max(self.run["load"], os.getloadavg()[1])
        with open(self.path + ".new", "w", encoding="utf-8") as f:
            json.dump(self.run, f, indent=1)
        os.replace(self.path + ".new", self.path)


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    args = arguments()
    listed = subprocess.run([BENCH, "--list"], stdout=subprocess.PIPE, text=True, check=True)
    kinds = listed.stdout.split() + list(THREADS) + list(COMMANDS)
    unknown = set(args.kinds) - set(kinds)
    if unknown:
        sys.exit(f"there is no '{unknown.pop()}'; the kinds are: {', '.join(kinds)}")
    kinds = [kind for kind in kinds if not args.kinds or kind in args.kinds]
    results = Results(args)
    rows, plans = results.run["rows"], results.run["plans"]
    for kind in kinds:
        if kind not in plans:
            say(f"{kind}: with fewer keys")
            results.keep("plans", kind, pilot(args, kind))
    fit = [kind for kind in kinds if plans[kind]["peak"] <= args.limit]
    for kind in kinds:
        if kind not in fit:
            say(f"{kind}: does not fit: it would take {plans[kind]['peak'] / 1e9:.1f} GB, "
                f"{plans[kind]['bytes_per_key']:.1f} bytes for each key")
    if args.plan:
        for kind in fit:
            say(f"{kind}: {plans[kind]['peak'] / 1e9:.1f} GB, "
                f"{plans[kind]['seconds'] / 60:.1f} minutes")
        return
    problems, left = [], [kind for kind in fit if kind not in rows]
    for i, kind in enumerate(left):
        problem = lacks(args, plans[kind])
        if problem:
            problems.append(problem)
            continue
        rest = sum(plans[k]["seconds"] for k in left[i:])
        say(f"{kind}: {i + 1} of {len(left)}; about {rest / 60:.1f} minutes for the rest")
        results.keep("rows", kind, measured(args, kind, args.items, args.items))
    problems += [problem for kind in fit if kind in rows for problem in wrong(rows[kind])]
    for problem in problems:
        say(problem)
    print(f"{len([kind for kind in fit if kind in rows])} of {len(kinds)} measured, "
          f"{len(kinds) - len(fit)} do not fit, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
