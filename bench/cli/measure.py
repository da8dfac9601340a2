#!/usr/bin/python3
"""The command line compared with the commands it replaces: time and peak memory on the same files,
in one run.

    bench/cli/measure.py [--lines N] [--repeat N] [--folder DIR] [--docs FOLDER]
                         --tamis PATH --out build/bench-cli.json

Every command writes to a file, because grep recognizes /dev/null and would stop at the first
line. Exact results are compared with those of the other commands. Memory is the peak of the
largest process, as GNU time reports it. Commands that are not installed are left out and named."""
import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# --- Data -----------------------------------------------------------------------------------------

REPEATED = 0.5  # share of the lines that occurred before
SEED = 1


def url(i):
    """URL number i: 44 to 64 bytes with its newline; distinct for distinct i, because the factor is
    odd."""
    h = (i * 0x9E3779B97F4A7C15 + 12345) & (1 << 64) - 1
    word = b"abcdefghij"[: h >> 8 & 7]
    return b"https://www.site%d.example/%s/%016x.html\n" % (h % 9973, word, h)


def make_data(folder, n):
    """Makes `lines`, n URLs of which half are repeated, and `patterns`, a tenth as many distinct
    ones of which half are among the lines."""
    chance = random.Random(SEED)
    new, pieces = 0, []
    with open(os.path.join(folder, "lines"), "wb") as f:
        for _ in range(n):
            if new and chance.random() < REPEATED:
                pieces.append(url(int(chance.random() * new)))
            else:
                pieces.append(url(new))
                new += 1
            if len(pieces) == 100000:
                f.write(b"".join(pieces))
                pieces = []
        f.write(b"".join(pieces))
    with open(os.path.join(folder, "patterns"), "wb") as f:
        f.write(b"".join(map(url, chance.sample(range(2 * new), n // 10))))


def row(chance):
    """A row of the tables, about 75 bytes: time, user, address, page, status, bytes."""
    i = chance.getrandbits(62)
    return (f"2026-11-18T{i % 24:02}:{i % 60:02}:{i % 59:02}Z", f"user{i % 300007}",
            f"10.{i % 251}.{i % 241}.{i % 239}", f"/page/{i % 99991}/index.html", str(i % 3 + 200),
            str(i % 100003))


def make_tables(folder, n):
    """The same n rows as CSV without and with quotes, and as JSON lines."""
    names = ("time", "user", "address", "page", "status", "bytes")
    chance = random.Random(SEED)
    with open(os.path.join(folder, "table.csv"), "w", encoding="ascii") as plain, \
            open(os.path.join(folder, "quoted.csv"), "w", encoding="ascii") as quoted, \
            open(os.path.join(folder, "records.jsonl"), "w", encoding="ascii") as records:
        plain.write(",".join(names) + "\n")
        quoted.write(",".join(f'"{name}"' for name in names) + "\n")
        for _ in range(n):
            fields = row(chance)
            plain.write(",".join(fields) + "\n")
            quoted.write(",".join(f'"{field}"' for field in fields) + "\n")
            records.write('{"time":"%s","user":{"id":"%s","address":"%s"},"page":"%s","status":%s,'
                          '"bytes":%s}\n' % fields)


ENOUGH = 60  # seconds after which a command is not repeated
# Without such limits ripgrep refuses so many patterns. With them it takes 27 KB and more for each,
# so its memory is limited as well.
RG_LIMITS = "--regex-size-limit 20G --dfa-size-limit 20G"
RG_MEMORY = 8 << 20  # KiB

# --- What is run ----------------------------------------------------------------------------------

#        job, name, program, command, what must write the same ("": nothing to compare)
def commands(n):
    items, patterns = n // 2, n // 10
    return [
        ("uniq", "tamis uniq", "tamis", "tamis uniq lines", ""),
        ("uniq", "tamis uniq --items", "tamis", f"tamis uniq --items {items} lines", ""),
        ("uniq", "tamis uniq --threads 1", "tamis", "tamis uniq --threads 1 lines", ""),
        ("uniq", "mawk '!s[$0]++'", "mawk", "mawk '!s[$0]++' lines", ""),
        ("uniq", "gawk '!s[$0]++'", "gawk", "gawk '!s[$0]++' lines", ""),
        ("uniq", "sort -u", "sort", "sort -u lines", ""),
        ("check -f", "tamis check -f", "tamis", "tamis check -f patterns lines", "check"),
        ("check -f", "tamis check -f --threads 1", "tamis",
         "tamis check --threads 1 -f patterns lines", "check"),
        ("check -f", "grep -Fxf", "grep", "grep -Fxf patterns lines", "check"),
        ("check -f", "rg -Fxf", "rg",
         f"ulimit -v {RG_MEMORY}; rg --no-config {RG_LIMITS} -Fxf patterns lines", "check"),
        ("build", "tamis build", "tamis", "tamis build -f -p 1% -o set.tamis patterns", ""),
        ("build", "tamis build --threads 1", "tamis",
         "tamis build --threads 1 -f -p 1% -o set.tamis patterns", ""),
        ("build", "bloom create, insert", "bloom",
         f"bloom create -p 0.01 -n {patterns} set.bloom && bloom insert set.bloom < patterns", ""),
        ("check", "tamis check", "tamis", "tamis check set.tamis lines", ""),
        ("check", "tamis check --threads 1", "tamis", "tamis check --threads 1 set.tamis lines",
         ""),
        ("check", "tamis check --confirm", "tamis",
         "tamis check --confirm patterns set.tamis lines", "check"),
        ("check", "bloom check", "bloom", "bloom check set.bloom < lines", ""),
        ("top", "tamis top", "tamis", "tamis top -n 100 lines", ""),
        ("top", "sort | uniq -c | sort -rn | head", "sort",
         "sort lines | uniq -c | sort -rn | head -n 100", ""),
        ("top", "mawk, sort", "mawk",
         "mawk '{ c[$0]++ } END { for (k in c) print c[k], k }' lines | "
         "sort -rn | head -n 100", ""),
        ("distinct", "tamis distinct", "tamis", "tamis distinct lines", ""),
        ("distinct", "tamis distinct --threads 1", "tamis", "tamis distinct --threads 1 lines", ""),
        ("distinct", "sort -u | wc -l", "sort", "sort -u lines | wc -l", ""),
        ("distinct", "mawk, count", "mawk",
         "mawk '!s[$0]++ { n++ } END { print n + 0 }' lines", ""),
        ("distinct --by", "tamis distinct --by", "tamis", "tamis distinct --by 3 -t / lines", "by"),
        *tables(),
        ("diff", "tamis diff", "tamis", "tamis diff -c lines patterns; true", ""),
        ("diff", "sort -u, comm", "sort", "sort -u lines > a; sort -u patterns > b; comm a b | wc "
                                          "-l; rm a b", ""),
        ("distinct --by", "sort -u | cut | uniq -c | sort -rn", "sort",
         "sort -u lines | cut -d / -f 3 | uniq -c | sort -k 1,1nr -k 2 | "
         "sed 's/^ *//;s/ /\\t/'", "by"),
    ]


def tables():
    """Distinct users in tables, on one core. jq prints the users, and sort counts them."""
    out = []
    for job, file, ours, mlr in (("csv", "table.csv", "--csv --header --field user", "--icsv"),
                                 ("quoted", "quoted.csv", "--csv --header --field user", "--icsv"),
                                 ("jsonl", "records.jsonl", "--jsonl --field user.id", "--ijsonl")):
        field = "user.id" if job == "jsonl" else "user"
        flatten = "flatten then " if job == "jsonl" else ""
        out.append((job, f"tamis distinct, {file}", "tamis",
                    f"tamis distinct --threads 1 {ours} {file}", ""))
        out.append((job, f"mlr count-distinct, {file}", "mlr",
                    f"mlr {mlr} --ojson {flatten}count-distinct -n -f {field} {file}", ""))
    out.append(("jsonl", "jq | sort -u | wc -l", "jq",
                "jq -r .user.id records.jsonl | sort -u | wc -l", ""))
    return out


def measure(command, limit, folder, environment):
    """Returns the seconds, processor seconds and peak bytes of one run, or None if it failed."""
    told = os.path.join(folder, "told")
    with open(os.path.join(folder, "out"), "wb") as out:
        begin = time.perf_counter()
        done = subprocess.run(["/usr/bin/time", "-q", "-f", "%U %S %M", "-o", told, "timeout",
                               str(limit), "sh", "-c", command],
                              cwd=folder, stdout=out, env=environment, check=False)
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        return None
    with open(told, encoding="ascii") as f:
        user, system, peak = f.read().split()[-3:]
    return seconds, float(user) + float(system), int(peak) * 1024


def measure_often(command, options, folder, environment):
    """Repeats a command until a run fails or the runs have taken long."""
    runs = []
    while len(runs) < options.repeat and None not in runs and sum(r[0] for r in runs) < ENOUGH:
        runs.append(measure(command, options.limit, folder, environment))
    return runs


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def count_lines(path):
    with open(path, "rb") as f:
        return sum(piece.count(b"\n") for piece in iter(lambda: f.read(1 << 20), b""))


def run_all(options, folder, environment):
    rows, missing, failed, written = [], [], [], {}
    for job, name, program, command, same in commands(options.lines):
        known = shutil.which(program, path=environment["PATH"]) is not None
        if known and program == "tamis":
            known = subprocess.run(["tamis", "help", command.split()[1]], env=environment,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not known:
            missing.append(name)
            continue
        runs = measure_often(command, options, folder, environment)
        if None in runs and program == "tamis":
            sys.exit(f"{command}: failed")
        if None in runs:
            failed.append(name)
            continue
        if same:
            sum_now = digest(os.path.join(folder, "out"))
            if written.setdefault(same, sum_now) != sum_now:
                sys.exit(f"{name} wrote something else than the others did")
        seconds = [r[0] for r in runs]
        rows.append({"job": job, "name": name, "command": command,
                     "seconds": statistics.median(seconds),
                     "min_seconds": min(seconds),
                     "cpu_seconds": statistics.median(r[1] for r in runs),
                     "peak_bytes": max(r[2] for r in runs),
                     "lines_written": count_lines(os.path.join(folder, "out"))})
        row = rows[-1]
        print(f"{job:9} {name:33} {row['seconds']:8.2f} s ({row['min_seconds']:.2f})  "
              f"{row['cpu_seconds']:7.2f} s CPU  "
              f"{row['peak_bytes'] / 1e6:8.1f} MB", flush=True)
    return rows, missing, failed


# --- The report -----------------------------------------------------------------------------------


def cell(text):
    """A bar would end the cell of a table."""
    return text.replace("|", "\\|")


def table_sizes(context):
    """"table.csv 151 MB, ..." """
    return ", ".join(f"{name} {size / 1e6:.0f} MB"
                     for name, size in context.get("table_bytes", {}).items())


class Report:
    def __init__(self, rows, context):
        self.rows, self.context = {r["name"]: r for r in rows}, context

    def ratio(self, ours, theirs, field):
        """How many times more the others take than tamis; None if not measured, or too short to
        measure."""
        if not all(name in self.rows for name in ours + theirs):
            return None
        mine, others = (sum(self.rows[name][field] for name in names) for names in (ours, theirs))
        return others / mine if mine > 0 else None

    def targets(self):
        """(what, target, measured, the same by processor seconds); None if not measured."""
        mawk = ["mawk '!s[$0]++'"]
        out = []
        for what, target, ours, theirs, field in (
                ("uniq: times faster than mawk", 4, ["tamis uniq"], mawk, "seconds"),
                ("uniq: times less memory than mawk", 20, ["tamis uniq"], mawk, "peak_bytes"),
                ("uniq --items: times less memory than mawk", 20, ["tamis uniq --items"], mawk,
                 "peak_bytes"),
                ("check -f: times faster than grep -Fxf", 10, ["tamis check -f"], ["grep -Fxf"],
                 "seconds"),
                ("build and check: times faster than DCSO's bloom", 15,
                 ["tamis build", "tamis check"],
                 ["bloom create, insert", "bloom check"], "seconds"),
                ("distinct: times faster than sort -u | wc -l", 20, ["tamis distinct"],
                 ["sort -u | wc -l"], "seconds")):
            by_processors = self.ratio(ours, theirs, "cpu_seconds") if field == "seconds" else None
            out.append((what, target, self.ratio(ours, theirs, field), by_processors))
        one = self.rows.get("tamis check --threads 1")
        speeds = [self.context["line_bytes"] / one[f] / 1e6 if one and one[f] > 0 else None
                  for f in ("seconds", "cpu_seconds")]
        out.append(("check on one core: MB/s", 500, *speeds))
        count = self.rows.get("tamis distinct")
        for what, target, file in (("CSV without quotes", 700, "table.csv"),
                                   ("JSON lines", 300, "records.jsonl")):
            one = self.rows.get(f"tamis distinct, {file}")
            size = self.context.get("table_bytes", {}).get(file)
            out.append((f"{what} on one core: MB/s", target,
                        *(size / one[f] / 1e6 if one and size and one[f] > 0 else None
                          for f in ("seconds", "cpu_seconds"))))
        out.append(("distinct: times below 6 MB of memory", 1,
                    6e6 / count["peak_bytes"] if count else None, None))
        return out

    def page(self):
        c = self.context
        out = ["# Benchmarks of the command line", "",
               "`./run bench cli` wrote this page, with bench/cli/measure.py and 10 million lines; "
               "do not edit it.",
               "All numbers are from one run on one machine, so ratios are fair. Absolute times "
               "are those of this",
               f"machine. Times are the median of {c['repeat']} runs (fewer for commands that take "
               "a minute), with the minimum",
               "in parentheses. If the two disagree, something else was using the machine. Files "
               "are in the page",
               "cache, and every command writes to a file. Memory is the peak of the "
               "largest process.", "",
               "|  |  |", "|---|---|", f"| processor | {c['processor']} |",
               f"| cores we may use | {c['cores']} |",
               f"| system | {c['system']} |",
               f"| lines | {c['lines']:,} URLs, {c['line_bytes'] / c['lines']:.1f} bytes each, "
               "half of them repeated |",
               f"| tables | {c['lines'] // 5:,} rows of 6 columns; {table_sizes(c)} |",
               f"| patterns | {c['patterns']:,}, half of them among the lines; a tenth of the "
               "lines are found |",
               "| locale | C |",
               f"| processes that wanted a core, on average | {c['load']:.1f} before, "
               f"{c['load_after']:.1f} after |", ""]
        if max(c["load"], c["load_after"] - 1) > c["cores"] / 2:
            out += ["**The machine was busy with other work.** Elapsed seconds say little, "
                    "processor seconds say more.", ""]
        if "note" in c:  # a remark by the person who made the run
            out += [c["note"], ""]
        jobs = list(dict.fromkeys(r["job"] for r in self.rows.values()))
        titles = {"uniq": "Lines that did not occur before",
                  "check -f": "Lines that are among the patterns",
                  "build": "Building a filter from the patterns",
                  "check": "Lines that may be in the filter",
                  "top": "The most frequent lines",
                  "distinct": "The number of distinct lines",
                  "distinct --by": "The number of distinct lines of each host",
                  "csv": "Distinct users in CSV", "quoted": "The same, with quotes",
                  "jsonl": "The same, as JSON lines",
                  "diff": "How two sets of lines differ"}
        for job in jobs:
            rows = [r for r in self.rows.values() if r["job"] == job]
            best = rows[0]
            out += [f"## {titles[job]}", "",
                    "| command | seconds | processor seconds | MB | lines written | × time of "
                    f"{cell(best['name'])} | × its memory |",
                    "|---|---:|---:|---:|---:|---:|---:|"]
            for r in rows:
                out.append(f"| `{cell(r['name'])}` | {r['seconds']:.2f} ({r['min_seconds']:.2f}) | "
                           f"{r['cpu_seconds']:.2f} "
                           f"| {r['peak_bytes'] / 1e6:.1f} | {r['lines_written']:,} "
                           f"| {r['seconds'] / best['seconds']:.2f} | "
                           f"{r['peak_bytes'] / best['peak_bytes']:.2f} |")
            out.append("")
        out += ["`tamis uniq` may drop a new line wrongly, at most 1 in a million; it therefore "
                "wrote fewer lines",
                "than awk. `sort -u` is exact and sorts. `check -f` and `--confirm` are "
                "exact, like grep.",
                "`bloom` is DCSO's, at the same rate of 1 %. `tamis distinct` estimates with a "
                "standard error",
                "of 0.27 %; groups of up to 2,048 lines are counted exactly.", "", "## Targets", "",
                "| what | target | measured | | by processor seconds |", "|---|---:|---:|---|---:|"]
        for what, target, got, by_processors in self.targets():
            shown, met = "not measured", ""
            if got is not None:
                shown, met = f"{got:.1f}", "met" if got >= target else "**missed**"
            out.append(f"| {cell(what)} | {target} | {shown} | {met} | "
                       f"{'' if by_processors is None else f'{by_processors:.1f}'} |")
        if c["missing"]:
            out += ["", "Not installed: " + ", ".join(f"`{m}`" for m in c["missing"]) + "."]
        if c["failed"]:
            out += ["", f"Failed, or took more than {c['limit']} seconds (ripgrep: or "
                        f"{RG_MEMORY >> 20} GiB): " + ", ".join(f"`{m}`" for m in c["failed"])
                    + "."]
        return "\n".join(out) + "\n"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        fields = dict(line.split(":", 1) for line in f.read().split("\n\n")[0].split("\n")
                      if ":" in line)
    names = {k.strip(): v.strip() for k, v in fields.items()}
    name = names.get("model name", platform.machine())
    family = ""
    if "cpu family" in names:
        family = f", family {names['cpu family']} model {names['model']}"
    return name + family


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=180, help="seconds for one run of a command")
    parser.add_argument("--folder", help="where the data goes (default: a temporary one)")
    parser.add_argument("--docs")
    parser.add_argument("--tamis", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--report", action="store_true", help="write only the page, from --out")
    parser.add_argument("--make", metavar="FOLDER", help="only make the data there")
    options = parser.parse_args()
    if options.make:
        make_data(options.make, options.lines)
        make_tables(options.make, options.lines // 5)
        return
    if not options.report:
        run(options)
    with open(options.out, encoding="utf-8") as f:
        told = json.load(f)
    report = Report(told["rows"], told["context"])
    for what, target, got, by_processors in report.targets():
        if got is not None:
            print(f"{what}: {got:.1f} (target {target}{'' if got >= target else ', missed'})" +
                  (f"; by processor seconds {by_processors:.1f}" if by_processors is not None
                   else ""))
    if options.docs:
        with open(os.path.join(options.docs, "BENCHMARKS-CLI.md"), "w", encoding="utf-8") as f:
            f.write(report.page())


def run(options):
    """Measures everything and writes the JSON."""
    load = os.getloadavg()[0]
    environment = dict(os.environ, LC_ALL="C")
    own = os.path.dirname(os.path.abspath(options.tamis))
    environment["PATH"] = own + ":" + environment["PATH"]
    with tempfile.TemporaryDirectory(prefix="tamis-bench-cli-", dir=options.folder) as folder:
        # In another process, because GNU time should be started from a small one.
        subprocess.run([sys.executable, os.path.abspath(__file__), "--make", folder, "--lines",
                        str(options.lines),
                        "--tamis", "-", "--out", "-"], check=True)
        size = os.path.getsize(os.path.join(folder, "lines"))
        tables_of = {name: os.path.getsize(os.path.join(folder, name))
                     for name in ("table.csv", "quoted.csv", "records.jsonl")}
        rows, missing, failed = run_all(options, folder, environment)
    context = {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
               "lines": options.lines,
               "system": f"{platform.system()} {platform.release()}", "line_bytes": size,
               "table_bytes": tables_of,
               "patterns": options.lines // 10, "repeat": options.repeat, "seed": SEED,
               "limit": options.limit,
               "missing": missing, "failed": failed, "load": load, "load_after": os.getloadavg()[0]}
    with open(options.out, "w", encoding="utf-8") as f:
        json.dump({"context": context, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
