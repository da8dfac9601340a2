"""Puts the results of measure.py into docs/ACCURACY.md.

    bench/billion/report.py [--docs FOLDER] [FILE]

Prints the goals of the results in FILE (build/billion.json). With --docs, the tables of the page
replace those between their marks."""
import json
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "common"), HERE]
from measure import wrong  # noqa: E402
from reporting import filled, report, table  # noqa: E402

FULL = 10**9
GIGA = 1e9


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def build_seconds(row):
    return row["create_seconds"] + row["add_seconds"] + row["seal_seconds"]


def beyond(row):
    """The peak beyond the result, without the hashes that the benchmark itself holds."""
    return max(row["peak"] - row["rounds"] - row["bytes"], 0)


# --- Goals ----------------------------------------------------------------------------------------


def goals(run):
    """(what, goal, measured or None), for a billion keys."""
    rows = run["rows"]
    blocked, ribbon = rows.get("blocked"), rows.get("ribbon")
    off = [abs(r["measured"] / r["planned"] - 1) for r in rows.values()
           if r["measured"] is not None and r["kind"] != "growing"]
    return [
        ("`blocked` from hashes, two threads: seconds", 6, blocked and build_seconds(blocked)),
        ("`ribbon`: seconds", 120, ribbon and build_seconds(ribbon)),
        ("`ribbon`: GB of memory beyond the result", 4, ribbon and beyond(ribbon) / GIGA),
        ("largest difference of a rate from its plan, %", 1, 100 * max(off) if off else None),
    ]


def goal_table(run):
    full = run["items"] == FULL
    rows = []
    for what, goal, measured in goals(run):
        verdict = "" if measured is None or not full else \
            "met" if measured <= goal else "**missed**"
        rows.append((what, f"≤ {goal}", "" if measured is None else f"{measured:.3g}", verdict))
    return table(("with a billion keys", "goal", "measured" if full else "measured, fewer keys",
                  ""), rows)


# --- Tables ---------------------------------------------------------------------------------------


def about(run):
    m = run["machine"]
    return textwrap.fill(
        f"These figures are from a run of `bench/billion/measure.py --items {run['items']} --limit "
        f"{run['limit'] / GIGA:g}GB`, with a rate of {100 * run['fpr']:g} % and "
        f"{run['threads']} threads, on {m['cores']} cores of {m['processor']} with "
        f"{m['memory'] / GIGA:.0f} GB of memory. The load average was at most {run['load']:.1f}; a "
        f"run alone on its machine has about {run['threads']}.", 100)


def rate(x):
    return "" if x is None else f"{100 * x:.4g} %"


def nanoseconds(seconds, n):
    return "" if seconds is None or not n else f"{1e9 * seconds / n:.1f}"


def result_row(row):
    name = f"`{row['kind']}`"
    if row["estimate"] is not None:
        found = f"estimate off by {100 * abs(row['estimate'] / row['items'] - 1):.2f} %"
        planned = f"error {100 * row['error']:.2f} %"
    elif row["measured"] is None:
        planned, found = "", "no count too low" if row["missed"] == 0 else "**counts too low**"
    else:
        planned, found = rate(row["planned"]), rate(row["measured"])
    return (name, f"{row['bytes'] / GIGA:.3g}", f"{8 * row['bytes'] / row['items']:.2f}",
            f"{build_seconds(row):.1f}", f"{beyond(row) / GIGA:.2f}", planned, found,
            f"{row['missed']:,}", nanoseconds(row["members_seconds"], row["asked"]),
            nanoseconds(row["others_seconds"], row["others"]))


def results(run):
    return table(("", "result, GB", "bits per key", "build, s", "memory beyond it, GB",
                  "rate, planned", "measured", "members missed", "ns per member", "ns per other"),
                 [result_row(run["rows"][kind]) for kind in run["plans"] if kind in run["rows"]])


def others(run):
    """The kinds that do not fit, with the reason, and those that were not measured yet."""
    lines = []
    for kind, plan in run["plans"].items():
        if plan["peak"] > run["limit"]:
            lines.append((f"`{kind}`", f"{plan['bytes_per_key']:.1f}",
                          f"{plan['peak'] / GIGA:.1f}", "more than the limit"))
        elif kind not in run["rows"]:
            lines.append((f"`{kind}`", f"{plan['bytes_per_key']:.1f}",
                          f"{plan['peak'] / GIGA:.1f}", "not in this run"))
    head = ("not measured", "memory per key, bytes", "peak, GB", "reason")
    return table(head, lines) if lines else "Every kind was measured."


TABLES = {"run": about, "results": results, "others": others, "goals": goal_table}


def print_goals(run):
    for what, goal, measured in goals(run):
        if measured is not None:
            print(f"{what:50} <= {goal:<5} {measured:.3g}")
    for row in run["rows"].values():
        for problem in wrong(row):
            print(problem)


if __name__ == "__main__":
    report(__doc__, "billion.json",
           {"ACCURACY.md": lambda run: filled("ACCURACY.md", "billion", TABLES, run)}, read,
           print_goals, lambda run, folder: None)
