#!/usr/bin/python3
"""Turns build/frequency.json into the table of targets and, with --docs, into docs/FREQUENCY.md and
its plots.

    bench/frequency/report.py [--docs FOLDER] [--no-plots] [build/frequency.json]

Every number of the page is in the file or computed here from the file. The reasons why a target
was missed are copied from bench/frequency/NOTES.md.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "common"))
from plots import Axis, Curve, draw  # noqa: E402
from reporting import ROOT, report  # noqa: E402

KIB = 1024
MIB = 1 << 20
BUDGETS = (64 * KIB, 256 * KIB, MIB, 4 * MIB)
LAWS = ("z0.8", "z1.0", "z1.3", "url")
ORDERS = ("url", "url, grouped", "url, rising")
# The best rule that a survey of estimators found on the same bits, by stream: 64 KiB, 256 KiB, 1
# MiB, 4 MiB. It is not known for every one.
BEST_RULE = {"z0.8": (7.57, None, 2.29, 0.149), "z1.0": (8.09, 3.02, 1.19, 0.044),
             "url": (4.77, 1.63, 0.99, 0.299)}
MISSING = "Not in this run."
SORT, AWK, TOP = "sort | uniq -c | sort -rn | head", "mawk | sort -rn | head", "tamis top"


class Run:
    """The rows of one run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.context = json.load(f)
        for name in ("accuracy", "contest", "speed", "commands"):
            setattr(self, name, self.context.pop(name, []))
        # Targets apply to streams of full length.
        self.full = self.context["run"] == "full"

    def error(self, stream, size, structure):
        for r in self.accuracy:
            if (r["stream"], r["bytes"], r["structure"]) == (stream, size, structure):
                return r
        return None

    def rate(self, stream, size, structure, how="add hashes"):
        for r in self.speed:
            about = r["stream"], r["bytes"], r["structure"], r["how"]
            if about == (stream, size, structure, how):
                return r
        return None

    def command(self, name):
        for r in self.commands:
            if r["command"] == name:
                return r
        return None


# --- Targets --------------------------------------------------------------------------------------


def over(a, b):
    """A quotient; an error of 0 is better than any other."""
    return None if a is None or b is None else a / b if b else float("inf")


def one_sided(run, peer, budgets):
    """How many times the peer's mean one-sided error is tally's, at worst."""
    found = [over(run.error(s, b, peer)["upper"], run.error(s, b, "tally")["upper"])
             for s in LAWS for b in budgets if run.error(s, b, "tally")]
    return min(found, default=None)


def against_best_rule(run):
    found = [over(run.error(s, b, "tally")["mean"], rule) for s, rules in BEST_RULE.items()
             for b, rule in zip(BUDGETS, rules) if rule and run.error(s, b, "tally")]
    return max(found, default=None)


def tighter(run):
    found = [over(r["textbook"], max(r["width"], 1)) for s in LAWS for b in BUDGETS[2:]
             if (r := run.error(s, b, "tally"))]
    return min(found, default=None)


def found_in_every_order(run):
    return min((run.error(s, b, "top")["found"] for s in ORDERS for b in BUDGETS
                if run.error(s, b, "top")),
               default=None)


def mega(run, stream, size, structure):
    """Million per second: what the machine can do, the best of the runs."""
    row = run.rate(stream, size, structure)
    return 1e3 / row["min_ns"] if row else None


def with_count(run):
    """How many times the time of an add is that of an add with its count, at worst."""
    found = [over(counted["min_ns"], r["min_ns"]) for r in run.speed
             if (counted := run.rate(r["stream"], r["bytes"], r["structure"],
                                     r["how"] + ", counted"))]
    return max(found, default=None)


def faster(run, peer):
    ours, other = run.command(TOP), run.command(peer)
    return over(other["wall"], ours["wall"]) if ours and other else None


def targets(run):
    """(what, goal, at most or at least, measured)"""
    top = run.command(TOP)
    return [
        ("count-min of 64 bits: its mean one-sided error to tally's, worst stream and memory", 13,
         "min",
         one_sided(run, "count-min, 64 bits", BUDGETS)),
        ("the same at 1 MiB", 22, "min", one_sided(run, "count-min, 64 bits", BUDGETS[2:3])),
        ("count-min of 32 bits: the same", 6, "min", one_sided(run, "count-min", BUDGETS)),
        ("the same at 1 MiB", 9, "min", one_sided(run, "count-min", BUDGETS[2:3])),
        ("tally, mean error of its estimate, to the best rule known, worst", 1.15, "max",
         against_best_rule(run)),
        ("eN/w to the width of tally's intervals, 1 and 4 MiB, worst", 30, "min", tighter(run)),
        ("top, share of the true top 100 in its list, URL log in every order, from 64 KiB, worst",
         1, "min",
         found_in_every_order(run)),
        ("count-min, million updates a second, 1 MiB", 180, "min",
         mega(run, "z1.0", MIB, "count-min")),
        ("count-min, conservative", 180, "min", mega(run, "z1.0", MIB, "conservative")),
        ("tally", 60, "min", mega(run, "z1.0", MIB, "tally")),
        ("tally of 128 MiB", 36, "min", mega(run, "z0.8", 128 * MIB, "tally")),
        ("an add with its count: its time to that of the add, worst kind and memory", 1.3, "max",
         with_count(run)),
        ("sort | uniq -c | sort -rn | head: its time to that of `tamis top`", 12, "min",
         faster(run, SORT)),
        ("awk: its time to that of `tamis top`", 15, "min", faster(run, AWK)),
        ("`tamis top`, memory, MB", 6, "max", top["rss"] / 1e6 if top else None),
    ]


def target_rows(run):
    for what, goal, side, measured in targets(run):
        sign = "≤" if side == "max" else "≥"
        if measured is None or not run.full:
            yield what, f"{sign} {goal:g}", "-", "not in this run"
            continue
        met = measured <= goal if side == "max" else measured >= goal
        yield what, f"{sign} {goal:g}", f"{measured:.4g}", "met" if met else "**missed**"


def print_targets(run):
    print("\ntargets\n")
    for what, goal, measured, verdict in target_rows(run):
        print(f"{what:90} {goal:>8} {measured:>10}  {verdict.strip('*')}")


# --- The page -------------------------------------------------------------------------------------


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |"
                              for row in rows])


def num(x):
    if x is None:
        return ""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def size_text(n):
    return f"{n // MIB} MiB" if n >= MIB else f"{n // KIB} KiB"


def percent(x):
    return f"{100 * x:.2f}"


def machine(run):
    names = {"processor": "processor", "cores": "cores we may use",
             "caches": "caches (L1d, L2, L3)",
             "memory": "memory", "system": "system", "compiler": "compiler", "library": "library"}
    return table(("", ""), [(text, run.context[name]) for name, text in names.items()
                            if run.context.get(name)])


def accuracy(run, stream):
    rows = []
    for r in run.accuracy:
        if r["stream"] != stream:
            continue
        name = f"**{r['structure']}**" if r["structure"] == "tally" else r["structure"]
        rows.append((size_text(r["bytes"]), name, num(r["mean"]), num(r["upper"]), num(r["p99"]),
                     num(r["first_100"]), num(r["first_1000"]), f"{r['found']:.2f}",
                     percent(r["under"]),
                     percent(r["inside"]), num(r["width"]) if r["structure"] != "always 0" else ""))
    return table(("memory", "", "mean", "one-sided", "p99", "first 100", "first 1000",
                  "top 100 found",
                  "under %", "inside %", "width"), rows)


def accuracies(run):
    streams = dict.fromkeys(r["stream"] for r in run.accuracy)
    return "\n\n".join(f"### {s}\n\n{accuracy(run, s)}" for s in streams) or MISSING


def speeds(run):
    rows = []
    if not run.speed:
        return MISSING
    for r in run.speed:
        base = run.rate(r["stream"], r["bytes"], "count-min", r["how"])
        rows.append((r["stream"], size_text(r["bytes"]), r["structure"], r["how"],
                     f"{1e3 / r['ns']:.0f}",
                     f"{1e3 / r['min_ns']:.0f}",
                     f"{base['min_ns'] / r['min_ns']:.2f}" if base else ""))
    return table(("stream", "memory", "", "", "M/s", "best", "to count-min"), rows)


def commands(run):
    ours = run.command(TOP)
    if not ours:
        return MISSING
    rows = [(f"`{r['command']}`", f"{r['wall']:.2f}", f"{r['cpu']:.2f}", f"{r['rss'] / 1e6:.1f}",
             f"{r['wall'] / ours['wall']:.1f}", f"{r['rss'] / ours['rss']:.1f}",
             "" if r["command"].startswith("wc") else "yes" if r["same"] else "no")
            for r in run.commands]
    return table(("", "s", "CPU s", "MB", "time to `tamis top`", "memory", "the exact list"), rows)


def losses(run):
    """Where another structure has a smaller mean error or is faster."""
    lines = []
    for s in dict.fromkeys(r["stream"] for r in run.accuracy):
        for b in BUDGETS:
            ours = run.error(s, b, "tally")
            for r in run.accuracy:
                if ours and (r["stream"], r["bytes"]) == (s, b) and r["mean"] < ours["mean"]:
                    lines.append(f"* {s}, {size_text(b)}: {r['structure']} has a mean error of "
                                 f"{num(r['mean'])}, "
                                 f"tally of {num(ours['mean'])}")
    for r in run.speed:
        ours = run.rate(r["stream"], r["bytes"], "tally", r["how"])
        if ours and r["min_ns"] < 0.8 * ours["min_ns"] and r["bytes"] == MIB:
            lines.append(f"* {r['stream']}, {size_text(r['bytes'])}, {r['how']}: "
                         f"{r['structure']} does "
                         f"{1e3 / r['min_ns']:.0f} M/s, tally {1e3 / ours['min_ns']:.0f}")
    return "\n".join(lines) or "Nowhere in this run."


def notes():
    path = os.path.join(ROOT, "bench", "frequency", "NOTES.md")
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


PAGE = """# Sketches: errors and speed

`./run bench frequency` wrote this page{how}, from one run on this machine:

{machine}

Each stream has {n:,} draws. The rules for the streams are in `bench/frequency/streams.c`, and
`tests/long/test_long_streams.py` checks their checksums.

* **z0.8**, **z1.0** and **z1.3** draw from a million keys. Key i has a probability proportional to
  i^-0.8 (i^-1.0, i^-1.3).
* **url** resembles the log of a server: pages with a changing set of popular ones, 6 % reloads, and
  18 % searches with a long tail.
* **grouped** is the same log with all lines of a key together, and the keys in random order.
* **rising** is the same as grouped, with rare keys first.

## Targets

Speeds are the best of five rounds. Times of commands are the best of three, run in turn. Errors are
the same on every machine.

{targets}

{notes}

## Where we lose

{losses}

## Errors in the same memory

Every structure counts the stream in the given number of bytes. Then every key of the stream is
queried. The columns are:

* *mean*: the mean distance of the estimate from the true count.
* *one-sided*: the mean distance of the upper bound from the true count.
* *p99*: the distance that 99 % of the estimates do not exceed.
* *first 100*, *first 1000*: the mean distance for the 100 and the 1000 most frequent keys.
* *top 100 found*: the share of the 100 greatest estimates (for `top`, of its list) that are among
  the true top 100.
* *under*: the share of keys whose upper bound is too low.
* *inside*: the share of keys whose interval contains the true count; 99 % is asked for.
* *width*: the width of the widest interval whose lower bound is not 0. For `top` this is one of the
  last in its list, whose lower bound is the guaranteed minimum.

The row **always 0** is the result of a structure that answers 0 to everything. Most keys are rare,
so a small mean over all keys is easily achieved, and only the other columns distinguish it from
knowledge.

![Mean error against memory](frequency-error.svg)

{accuracies}

## Count-sketch or count-min

Both have 32 bits per counter, and the stream has {contest:,} draws. Below 1, count-sketch is more
accurate. The full lines compare it with the count that textbooks give for count-min, its least
counter. The dashed lines compare it with the estimate that this library makes from the same
counters, which subtracts the noise.

![Where count-sketch beats count-min](frequency-contest.svg)

## Speed

Speeds are in million keys a second. For *add hashes*, the keys were hashed beforehand; for
*add text*, the keys themselves are added. With *counted*, each add returns the count after it.
*count* returns intervals, and *upper* a number for each key (`tamis_upper_hashes`).

{speeds}

## On the command line

The commands list the 20 most frequent lines of the URL log. It has {lines:,} lines and is in the
page cache, and `LC_ALL=C` is set. Memory is that of the biggest process.

{commands}
"""


def length(rows, name):
    return rows[0][name] if rows else 0


def page(run):
    how = "" if run.full else f" in a {run.context['run']} run"
    if "only" in run.context:
        how += f" (only {run.context['only']} this time)"
    return PAGE.format(
        how=how, machine=machine(run), n=length(run.accuracy, "n"), notes=notes(),
        targets=table(("", "target", "measured", ""), target_rows(run)), losses=losses(run),
        accuracies=accuracies(run), contest=length(run.contest, "n"), speeds=speeds(run),
        commands=commands(run),
        lines=length(run.commands, "lines"))


# --- Plots ----------------------------------------------------------------------------------------


DRAWN = ("count-sketch", "count-min", "conservative", "tally", "top")


def error_curves(run):
    for structure in (*DRAWN, "always 0"):
        yield Curve(structure, [(b / KIB, r["mean"]) for b in BUDGETS
                                if (r := run.error("url", b, structure)) and r["mean"] > 0],
                    "dashed" if structure == "always 0" else "line",
                    5 if structure == "always 0" else DRAWN.index(structure))


def contest_curves(run, value):
    """One curve for each memory size: the ratio of count-sketch's mean error to count-min's, by the
    exponent."""
    found = {(r["stream"], r["bytes"], r["structure"]): r for r in run.contest}
    streams = list(dict.fromkeys(r["stream"] for r in run.contest))
    for colour, b in enumerate(BUDGETS):
        points = [(float(s[1:]),
                   found[s, b, "count-sketch"]["mean"] / found[s, b, "count-min"][value])
                  for s in streams if found[s, b, "count-min"][value] > 0
                  and found[s, b, "count-sketch"]["mean"] > 0]
        if value == "upper":
            yield Curve(size_text(b), points, "line", colour)
        else:
            yield Curve("", points, "dashed", colour)


def write_plots(run, folder):
    draw(os.path.join(folder, "frequency-error.svg"),
         "How far is an estimate from the true count? (URL log, mean over all keys)",
         Axis("KiB of memory", numbers=[b // KIB for b in BUDGETS]), Axis("mean distance"),
         list(error_curves(run)))
    curves = [*contest_curves(run, "upper"), *contest_curves(run, "mean")]
    spread = [x for c in curves for x, _ in c.points]
    if spread:
        curves.append(Curve("equal", [(min(spread), 1), (max(spread), 1)], "smooth", 5))
    draw(os.path.join(folder, "frequency-contest.svg"),
         "Count-sketch or count-min? Below 1, count-sketch is more accurate",
         Axis("exponent of the stream: how unequal its keys are", False),
         Axis("its mean error ÷ that of count-min"), curves)


if __name__ == "__main__":
    report(__doc__, "frequency.json", {"FREQUENCY.md": page}, Run, print_targets, write_plots)
