"""Puts the results of bench/sql/measure.py into docs/SQL.md.

    bench/sql/report.py [--docs docs] sql.json

Prints the goals; with --docs the tables replace those between the marks."""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
import reporting  # noqa: E402

TITLES = {"distinct, 4MB": "distinct values", "distinct, 256MB": "the same, `work_mem` 256 MB",
          "workers": "the same, two workers", "top, 4MB": "the 10 most frequent",
          "top, 256MB": "the same, `work_mem` 256 MB", "members, 4MB": "members of a set",
          "members, 256MB": "the same, `work_mem` 256 MB", "groups": "100,000 groups, counted"}


class Run:
    def __init__(self, path):
        told = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.context, self.rows = told["context"], told["rows"]
        self.by = {(r["group"], r["what"]): r for r in self.rows}

    def seconds(self, group, what):
        row = self.by.get((group, what))
        return row["seconds"] if row else None


def goals(run):
    """(what, goal, measured, unit, met)"""
    out = []

    def goal(what, limit, got, unit, least=False):
        out.append((what, limit, got, unit, got >= limit if least else got <= limit))

    def ratio(group, a, b):
        return run.seconds(group, a) / run.seconds(group, b)
    for memory in ("4MB", "256MB"):
        group, words = f"distinct, {memory}", f", `work_mem` {memory}"
        goal("`approx_count_distinct`, times `count(*)`" + words, 2.5,
             ratio(group, "approx_count_distinct", "plain"), "×")
        goal("`approx_count_distinct`, times faster than `count(DISTINCT)`" + words, 4,
             ratio(group, "count(DISTINCT)", "approx_count_distinct"), "×", True)
        goal("`approx_top_k`, times faster than `GROUP BY`" + words, 4,
             ratio(f"top, {memory}", "GROUP BY", "approx_top_k"), "×", True)
    more = run.seconds("members, 4MB", "f @> x") - run.seconds("members, 4MB", "plain")
    goal("`f @> x`, more than the plain scan, per row", 60, more / run.context["rows"] * 1e9, "ns")
    return out


def shown(value, unit):
    return f"{value:.2f} ×" if unit == "×" else f"{value:.0f} {unit}"


def print_goals(run):
    for what, limit, got, unit, met in goals(run):
        print(f"{what}: {shown(got, unit)} (goal {shown(limit, unit)}{'' if met else ', missed'})")
    print("\n".join(run.context["plan"]))


def goals_table(run):
    return reporting.table(("", "goal", "measured", ""), [
        (what, shown(limit, unit), shown(got, unit), "met" if met else "**missed**")
        for what, limit, got, unit, met in goals(run)])


def machine_table(run):
    c = run.context
    text = reporting.table(("", ""), [
        ("processor", c["processor"]), ("cores we may use", c["cores"]), ("system", c["system"]),
        ("PostgreSQL", f"{c['postgres']}, `work_mem` {c['work_mem']} unless stated, `jit` off"),
        ("rows", f"{c['rows']:,} of a `bigint`, {c['distinct']:,} possible values, half of the "
         "rows with frequent ones"),
        ("set", f"{c['members']:,} members; the filter has a rate of 1 %"),
        ("rounds", f"{c['rounds']}, in turn; the median counts"),
        ("processes that wanted a core, on average", f"{c['load']:.1f} before, "
         f"{c['load_after']:.1f} after")])
    if max(c["load"], c["load_after"] - 1) > c["cores"] / 2:
        text += "\n\n**The machine was busy with other work.**"
    return text


def queries_table(run):
    rows, last = [], None
    for r in run.rows:
        group, what = r["group"], r["what"]
        plain = run.seconds(group, "plain")
        exact = run.by.get((group, "count(DISTINCT)"))
        error = ""
        if exact and group != "groups" and what in ("approx_count_distinct", "hll"):
            error = f"{100 * (r['answer'] - exact['answer']) / exact['answer']:+.2f} %"
        rows.append((TITLES[group] if group != last else "", f"`{what}`",
                     f"{r['seconds']:.2f}", f"{r['seconds'] / plain:.2f}",
                     f"{r['memory_kib'] / 1024:,.1f}", error))
        last = group
    return reporting.table(("", "query", "seconds", "× plain", "MiB", "error"), rows)


def page(run):
    tables = {"machine": machine_table, "goals": goals_table, "queries": queries_table}
    return reporting.filled("SQL.md", "sql", tables, run)


if __name__ == "__main__":
    reporting.report(__doc__, "sql.json", {"SQL.md": page}, Run, print_goals,
                     lambda run, folder: None)
