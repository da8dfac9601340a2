"""Puts the results of bench/python/measure.py into docs/PYTHON.md.

    bench/python/report.py [--docs docs] python.json

Prints the goals; with --docs the tables replace those between the marks."""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
import reporting  # noqa: E402



class Run:
    def __init__(self, path):
        told = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.context = told["context"]
        self.ns = {(r["group"], r["what"], r["op"]): r["ns"] for r in told["rows"]}
        self.n = self.context["rows"]

    def get(self, group, what, op):
        return self.ns.get((group, what, op))


def goals(run):
    """(what, unit, goal, measured): a ratio to C or to `set`, or nanoseconds above C."""
    out = []
    for what, group, name, unit, goal in (
            ("64-bit integers, int64le", "int64le", "numpy int64", "×", 1.15),
            ("64-bit integers as decimal text", "decimal text", "numpy int64", "+ ns", 12),
            ("numpy S", "strings", "numpy S", "×", 1.25),
            ("Arrow strings", "strings", "Arrow strings", "×", 1.25),
            ("object array of str", "strings", "numpy object", "+ ns", 25)):
        for op in ("query", "add"):
            c, ours = run.get(group, "C", op), run.get(group, name, op)
            if c and ours:
                got = ours / c if unit == "×" else ours - c
                out.append((f"{what}, {op}: {'C' if unit == '+ ns' else 'times C'}", unit, goal,
                            got))
    for n in dict.fromkeys((1000, run.n)):
        for what in ("str", "new str", "bytes", "int"):
            ours, exact = (run.get(f"in, {n:,} keys", f"{kind}, {what}", "query")
                           for kind in ("Filter", "set"))
            if ours and exact:
                out.append((f"`key in filter`, {n:,} keys, {what}: times `key in set`", "×", 3,
                            ours / exact))
    return out


def shown(unit, value):
    return f"+ {value:.1f} ns" if unit == "+ ns" else f"{value:.2f} ×"


def print_goals(run):
    for what, unit, goal, got in goals(run):
        print(f"{what} {shown(unit, got)} (goal {shown(unit, goal)}"
              f"{'' if got <= goal else ', missed'})")


def goals_table(run):
    rows = [(what, shown(unit, goal), shown(unit, got), "met" if got <= goal else "**missed**")
            for what, unit, goal, got in goals(run)]
    return reporting.table(("", "goal", "measured", ""), rows)


def machine_table(run):
    c = run.context
    text = reporting.table(("", ""), [
        ("processor", c["processor"]), ("cores we may use", c["cores"]), ("system", c["system"]),
        ("Python, numpy, tamis", f"{c['python']}, {c['numpy']}, {c['tamis']}"),
        ("rows of a column", f"{c['rows']:,}"),
        ("processes that wanted a core, on average", f"{c['load']:.1f} before, "
         f"{c['load_after']:.1f} after")])
    if max(c["load"], c["load_after"] - 1) > c["cores"] / 2:
        text += ("\n\n**The machine was busy with other work.** The minimum of many rounds suffers "
                 "little from that, but\nrows that differ by a tenth may be equal.")
    return text


def columns_table(run):
    rows = []
    for group, title in (("int64le", "integers, `int64le`"), ("decimal text", "integers as text"),
                         ("strings", "URLs of 21 to 30 bytes")):
        for g, what, op in run.ns:
            if g == group and op == "query":
                query, add = run.get(g, what, "query"), run.get(g, what, "add")
                c = run.get(g, "C", "query")
                rows.append((title, "the C call" if what == "C" else what, reporting.num(query, 1),
                             f"{query / c:.2f}", reporting.num(add, 1)))
                title = ""
    return reporting.table(("keys", "container", "query, ns", "× C", "add, ns"), rows)


def singles_table(run):
    rows = []
    for n in dict.fromkeys((1000, run.n)):
        for kind in ("str", "new str", "bytes", "int"):
            ours, exact = (run.get(f"in, {n:,} keys", f"{name}, {kind}", "query")
                           for name in ("Filter", "set"))
            rows.append((f"`key in`, {n:,} {kind} keys", reporting.num(ours, 0),
                         reporting.num(exact, 0), f"{ours / exact:.2f}"))
        ours, exact = (run.get(f"add, {n:,} keys", f"{name}, str", "add")
                       for name in ("Filter", "set"))
        rows.append((f"`add`, {n:,} str keys", reporting.num(ours, 0), reporting.num(exact, 0),
                     f"{ours / exact:.2f}"))
    return reporting.table(("one call", "Filter, ns", "set, ns", "ratio"), rows)


def packages_table(run):
    names = [what for group, what, op in run.ns if group == "packages" and op == "query"]
    best = run.get("packages", "tamis, list", "query")
    rows = sorted((run.get("packages", name, "query"), name) for name in names)
    return reporting.table(("str keys at 1 %", "query, ns", "add, ns", "× `contains(list)`"), [
        (name, reporting.num(ns, 0), reporting.num(run.get("packages", name, "add"), 0),
         f"{ns / best:.1f}") for ns, name in rows])


def page(run):
    tables = {"machine": machine_table, "goals": goals_table, "columns": columns_table,
              "singles": singles_table, "packages": packages_table}
    return reporting.filled("PYTHON.md", "python", tables, run)


if __name__ == "__main__":
    reporting.report(__doc__, "python.json", {"PYTHON.md": page}, Run, print_goals,
                     lambda run, folder: None)
