"""Puts the results of bench-distinct and peers.py into docs/ACCURACY.md.

    bench/distinct/report.py [--docs FOLDER] [--no-plots] [FILE]

Prints the targets of the results in FILE (build/distinct.json). With --docs, each table of the page
replaces the one between its marks, and the plots are written beside the page."""
import json
import math
import os
import pathlib
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "common"), HERE]
from plots import Axis, Curve, draw  # noqa: E402
from reporting import ROOT, table  # noqa: E402
import theory  # noqa: E402

PRECISIONS = (8, 11, 12)
DECADES = tuple(10 ** i for i in range(3, 8))
WIDTHS = (16, 20, 24)
HEADER = (4, 8, 10, 11, 12, 14, 18)  # the columns of the table in include/tamis/distinct.h
CONFIDENCE = 0.99
TWELVE_KIB = 8 * 12 * 1024


class Run:
    """The rows of one run."""

    def __init__(self, path):
        self.context = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        for name in ("errors", "sets", "speed", "widths", "tokens", "peers"):
            setattr(self, name, self.context.pop(name, []))
        self.errors, self.every = ([r for r in self.errors if r["every"] == every]
                                   for every in (False, True))
        self.full = self.context["run"] == "full"

    def goals(self):
        """The rows that the goals are about: decades, and the limit of tokens and one more."""
        return [r for r in self.errors if r["p"] in PRECISIONS and not r["shared"]
                and (r["n"] in DECADES or abs(r["n"] - tokens(r["p"])) <= 1)]

    def time(self, p, what):
        return next(r["min_ns"] for r in self.speed if (r["p"], r["what"]) == (p, what))

    def width(self, d):
        return next(r for r in self.widths if r["d"] == d)


def tokens(p):
    return min(2 ** p // 2, 2048)


def image_bytes(p):
    """The registers, and the metadata before them (docs/FORMAT.md)."""
    length = 4 * 2 ** p
    return length + -(-(192 + 8 * -(-length // 65536)) // 64) * 64


def bits(r):
    return 32 * 2 ** r["p"]


def product(r):
    return bits(r) * r["variance"]


def inside(r):
    return 1 - r["below"] - r["above"]


def deviation(runs):
    """The standard deviation of a measured coverage."""
    return math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs)


def relative_bias(r):
    """The bias in proportion to the error that the sketch promises; 0 if the count is exact."""
    return r["bias"] / r["promised"] if r["promised"] else 0.0


# --- Targets --------------------------------------------------------------------------------------


def targets(run):
    """(what, goal, at most or at least, measured)"""
    rows = run.goals()
    worst = max(product(r) for r in rows)
    return [
        ("bits × relative variance, worst size", 3.9, "max", worst),
        ("error in 12 KiB by that product, %", 0.64, "max", 100 * math.sqrt(worst / TWELVE_KIB)),
        ("bias to error, worst size", 0.1, "max", max(abs(relative_bias(r)) for r in rows)),
        ("coverage of the 99 % interval, worst size, in binomial standard deviations from 99 %",
         -3, "min", min((inside(r) - CONFIDENCE) / deviation(r["runs"]) for r in rows)),
        ("bulk add of 8-byte keys, 1,000 keys per register, ns", 2.5, "max",
         run.time(12, "bulk add")),
        ("single add, ns", 7, "max", run.time(12, "single add")),
        ("merge of two sketches of 16 KiB, three quarters of it (12 KiB), µs", 10, "max",
         0.75e-3 * run.time(12, "merge")),
        ("estimate from 16 KiB, µs", 60, "max", 1e-3 * run.time(12, "estimate")),
    ]


def target_rows(run):
    for what, goal, side, measured in targets(run):
        sign = "≤" if side == "max" else "≥"
        met = measured <= goal if side == "max" else measured >= goal
        verdict = ("met" if met else "**missed**") if run.full else "few runs"
        yield what, f"{sign} {goal:g}", f"{measured:.3g}", verdict


# --- Tables ---------------------------------------------------------------------------------------


def percent(x, digits=3):
    return f"{100 * x:.{digits}f} %"


def count(n):
    """A number of keys as people write it."""
    digits = len(str(n)) - 1
    return f"1e{digits}" if n == 10 ** digits and digits >= 6 else f"{n:,}"


def about(run):
    c = run.context
    return textwrap.fill(
        f"The tables of this section are from one {c['run']} run of `./run bench distinct`. The "
        f"errors are the same on every machine. Speeds are those of this one: {c['processor']}, "
        f"{c['cores']} cores, {c['compiler']}.", 100)


def width_table(run):
    rows = []
    for d in WIDTHS:
        information, bias = theory.constants(d)
        product_of = theory.bits_times_variance(d)
        speed = run.width(d)
        rows.append((d, d + 8, f"{information:.4f}", f"{product_of:.3f}",
                     f"{theory.bits_times_variance(d, True):.3f}", f"{bias:.4f}",
                     " / ".join(f"{(d + 8) * 2 ** p / 8192:g} KiB: "
                                f"{percent(1 / math.sqrt(information * 2 ** p), 2)}"
                                for p in (11, 12)),
                     f"{speed['add_ns']:.2f} ns", f"{1e-3 * speed['merge_ns']:.1f} µs"))
    return table(("d", "bits", "information", "bits × variance", "geometric", "bias · m",
                  "2,048 / 4,096 registers: error", "add", "merge of 4,096"), rows)


def error_row(r):
    name = f"{r['p']}, registers only" if r["shared"] else str(r["p"])
    head = name, count(r["n"]), f"{r['runs']:,}"
    if r["exact"]:
        return *head, "exact", percent(math.sqrt(r["variance"])), "0", "0", percent(inside(r), 2)
    return (*head, percent(theory.relative_error(r["p"], r["n"])),
            percent(math.sqrt(r["variance"])), f"{product(r):.2f}", f"{relative_bias(r):+.3f}",
            percent(inside(r), 2))


def error_table(rows):
    return table(("p", "keys", "runs", "error, predicted", "measured", "bits × variance",
                  "bias / error", "interval holds"),
                 [error_row(r) for r in sorted(rows, key=lambda r: (r["p"], r["shared"], r["n"]))])


def every_table(run):
    """Sketches to which all keys were added, beside those for which some were left out."""
    rows = []
    for r in run.every:
        same = next(o for o in run.errors if (o["p"], o["n"], o["shared"])
                    == (r["p"], r["n"], False))
        for name, one in (("all", r), ("some left out", same)):
            head, *cells = error_row(one)
            rows.append((head, cells[0], name, *cells[1:]))
    return table(("p", "keys", "added", "runs", "error, predicted", "measured", "bits × variance",
                  "bias / error", "interval holds"), rows)


def header_table(run):
    rows = []
    for p in HEADER:
        r = max((r for r in run.errors if r["p"] == p and r["n"] <= 10 ** 8), key=lambda r: r["n"])
        rows.append((p, f"{image_bytes(p):,}",
                     f"{100 * math.sqrt(1 / (theory.constants(24)[0] * 2 ** p)):.3g} %",
                     f"{100 * math.sqrt(r['variance']):.3g} %", count(r["n"]), f"{r['runs']:,}",
                     percent(r["within_1"], 1), percent(r["within_2_6"], 2)))
    return table(("p", "bytes", "predicted", "measured", "keys", "runs",
                  "within one error", "within 2.6"), rows)


def token_table(run):
    (r,) = run.tokens
    equal = theory.equal_tokens()
    return table(("", "predicted", "measured"), [
        (f"two keys with the same 56 bits have the same value ({r['pairs']:,} pairs)",
         f"{theory.equal_values():.5f}", f"{r['equal'] / r['pairs']:.5f}"),
        ("two keys have the same token", f"{equal:.3g} = 2^{math.log2(equal):.2f}", ""),
        ("some two of 2,048 keys have", f"{2048 * 2047 / 2 * equal:.2g}", "")])


def set_table(run):
    rows = [(f"{r['common']:,}", f"{r['mean']:,.0f}", f"{r['error']:,.0f}", f"±{r['half']:,.0f}",
             percent(r["small"], 1), percent(r["union"], 2), percent(r["inside"], 2),
             percent(r["jaccard"], 2), percent(min(r["first"], r["second"]), 2),
             percent(r["every"], 2)) for r in run.sets]
    return table(("in common", "estimate, mean", "its error", "interval, mean", "too small",
                  "union holds", "common", "Jaccard", "differences", "all hold"), rows)


def peer_table(run):
    rows = []
    for n in sorted({r["n"] for r in run.peers}):
        for r in run.peers:
            if r["n"] == n:
                rows.append((count(n), r["peer"], f"{r['bytes']:,}", f"{r['runs']:,}",
                             percent(math.sqrt(r["variance"])), f"{r['bits'] * r['variance']:.2f}",
                             percent(r["bias"])))
        for r in run.errors:
            if (r["n"], r["shared"]) == (n, False) and r["p"] in (11, 12):
                rows.append((count(n), f"**distinct**, p = {r['p']}", f"{image_bytes(r['p']):,}",
                             f"{r['runs']:,}", percent(math.sqrt(r["variance"])),
                             f"{product(r):.2f}", percent(r["bias"])))
    return table(("keys", "", "bytes", "runs", "error", "bits × variance", "bias"), rows)


def speed_table(run):
    rows = []
    for what in ("bulk add", "single add", "merge", "estimate"):
        cells = [(lambda ns: f"{ns:.1f} ns" if ns < 1000 else f"{ns / 1000:.1f} µs")(
            run.time(p, what)) for p in (11, 12)]
        rows.append((what, *cells))
    return table(("best of the repetitions", "p = 11, 8 KiB", "p = 12, 16 KiB"), rows)


def blocks(run):
    listed = [r for r in run.errors if r["p"] in PRECISIONS]
    found = {
        "run": about(run), "widths": width_table(run),
        "errors": error_table([r for r in listed if not r["shared"]]),
        "registers": error_table([r for r in listed if r["shared"]]),
        "every": every_table(run), "header": header_table(run), "tokens": token_table(run),
        "sets": set_table(run),
        "speed": speed_table(run),
        "targets": table(("", "target", "measured", ""), target_rows(run)),
    }
    if run.peers:
        found["peers"] = peer_table(run)
    return found


def marks(name):
    return (f"<!-- distinct {name}: written by ./run bench distinct -->",
            f"<!-- distinct {name}: end -->")


def fill(page, run):
    text = page.read_text(encoding="utf-8")
    for name, block in blocks(run).items():
        begin, end = marks(name)
        text, n = re.subn(f"{re.escape(begin)}.*?{re.escape(end)}",
                          lambda _, b=block, m=(begin, end): f"{m[0]}\n{b}\n{m[1]}", text,
                          flags=re.S)
        if n != 1:
            sys.exit(f"bench/distinct/report.py: {page}: the marks of {name} are not there once")
    page.write_text(text, encoding="utf-8")


# --- Plots ----------------------------------------------------------------------------------------


def name_of(p):
    return f"{4 * 2 ** p // 1024} KiB" if p >= 8 else f"{4 * 2 ** p} bytes"


def measured(run, p):
    return sorted((r for r in run.errors if r["p"] == p and not r["shared"]
                   and tokens(p) < r["n"] <= DECADES[-1]), key=lambda r: r["n"])


KEYS = Axis("distinct keys", True, "10^{%L}")


def error_curves(run):
    """Predictions as lines, and measurements as points."""
    grid = [10 ** (i / 8) for i in range(16, 57)]
    for colour, p in enumerate(PRECISIONS):
        yield Curve(name_of(p), [(n, 100 * theory.relative_error(p, n))
                                 for n in (tokens(p) + 1, *grid) if n > tokens(p)],
                    "smooth", colour)
        yield Curve("", [(r["n"], 100 * math.sqrt(r["variance"])) for r in measured(run, p)],
                    "points", colour)


def coverage_curves(run):
    """Two limits for each precision, and then the points."""
    for colour, p in enumerate(PRECISIONS):
        rows = measured(run, p)
        for name, sign in ((name_of(p), 1), ("", -1)):
            yield Curve(name, [(r["n"], 100 * (CONFIDENCE + sign * 3 * deviation(r["runs"])))
                               for r in rows], "dashed", colour)
        yield Curve("", [(r["n"], 100 * inside(r)) for r in rows], "points", colour)


def greatest(rows):
    """The row of the most keys up to 1e8, where the error has stopped growing."""
    return max((r for r in rows if r["n"] <= 10 ** 8), key=lambda r: r["n"])


def memory_curves(run):
    """What error a sketch has in how many bytes, when it has seen very many keys."""
    sizes = range(4, 19)
    yield Curve("distinct", [(image_bytes(p), 100 / math.sqrt(theory.constants(24)[0] * 2 ** p))
                             for p in sizes], "smooth", 0)
    yield Curve("", [(image_bytes(p), 100 * math.sqrt(greatest(rows)["variance"]))
                     for p in HEADER
                     if (rows := [r for r in run.errors if r["p"] == p and not r["shared"]])],
                "points", 0)
    yield Curve("HyperLogLog", [(6 * 2 ** p / 8, 104 / math.sqrt(2 ** p)) for p in range(9, 21)],
                "dashed", 5)
    for colour, peer in enumerate(dict.fromkeys(r["peer"] for r in run.peers), 1):
        r = greatest([r for r in run.peers if r["peer"] == peer])
        yield Curve(peer, [(r["bytes"], 100 * math.sqrt(r["variance"]))], "points", colour)


def write_plots(run, folder):
    draw(os.path.join(folder, "distinct-memory.svg"),
         "How accurate is a count of distinct keys?", Axis("bytes of memory", True, "10^{%L}"),
         Axis("standard error, percent"), list(memory_curves(run)))
    draw(os.path.join(folder, "distinct-error.svg"),
         "Standard error of a count: predicted (lines) and measured (dots)", KEYS,
         Axis("percent", False, "%g", (0, 2.5)), list(error_curves(run)))
    draw(os.path.join(folder, "distinct-coverage.svg"),
         "Intervals that contain the true number: measured, and 99 % ± 3 deviations", KEYS,
         Axis("percent", False, "%g", (98.4, 100.1)), list(coverage_curves(run)))


def main():
    folder, plots, paths, words = None, True, [], sys.argv[1:]
    while words:
        word = words.pop(0)
        if word == "--docs" and words:
            folder = words.pop(0)
        elif word == "--no-plots":
            plots = False
        elif not word.startswith("-") and not paths:
            paths.append(word)
        else:
            sys.exit(__doc__)
    run = Run(paths[0] if paths else os.path.join(ROOT, "build", "distinct.json"))
    print("\ntargets\n")
    for what, goal, value, verdict in target_rows(run):
        print(f"{what:90} {goal:>8} {value:>10}  {verdict.strip('*')}")
    if folder is None:
        return
    fill(pathlib.Path(folder, "ACCURACY.md"), run)
    if plots:
        write_plots(run, folder)
    print(f"\nfilled the tables in {os.path.join(folder, 'ACCURACY.md')}")


if __name__ == "__main__":
    main()
