#!/usr/bin/env python3
"""Writes the figures of `bench-cuda --json` into docs/GPU.md: report.py gpu.json [docs/GPU.md]"""

import json
import pathlib
import sys

BEGIN, END = "<!-- figures -->\n", "<!-- end of the figures -->"
TITLES = {
    "limit": "Limits: random lines of 64 bytes",
    "query": "Queries of keys in the memory of the GPU",
    "add": "Adds of keys in the memory of the GPU",
    "strings": "Strings",
    "select": "Lists of the keys that may be members",
    "sealed": "Sealed filters",
    "host": "Keys in the memory of the host",
    "cpu": "The processor of the same machine",
}


def size(count):
    """A size in bytes, or nothing for rows without a table."""
    if count == 0:
        return ""
    return f"{count / 1e6:,.0f} MB" if count < 1e10 else f"{count / 1e9:,.1f} GB"


def row(figure):
    limit = figure["limit"]
    share = f"{100 * figure['per_second'] / limit:.1f} % of {limit / 1e9:.1f}" if limit else ""
    cells = [figure["name"], size(figure["table_bytes"]), f"{figure['per_second'] / 1e9:.1f}",
             share, figure["note"]]
    return "| " + " | ".join(cells) + " |"


def text(report):
    context = report["context"]
    lines = [
        f"Measured by `build/bench-cuda --json`, version {context['version']}, on one "
        f"{context['device']}",
        f"({context['multiprocessors']} multiprocessors, L2 of {context['l2_bytes'] >> 20} MiB, "
        f"CUDA {context['runtime'] // 1000}.{context['runtime'] % 1000 // 10})",
        f"beside {context['threads']} threads of an {context['processor']}.",
        "Rates are in 10^9 keys or lines per second, medians of several runs. The limit",
        "is the number of random lines that the memory delivers for the accesses that the keys",
        "need, if it does nothing else. A query also reads its keys and writes answers; its note",
        "compares it with random lines beside keys and answers.",
    ]
    for group, title in TITLES.items():
        figures = [f for f in report["rows"] if f["group"] == group]
        if not figures:
            continue
        lines += ["", f"### {title}", "", "| what | table | 10^9/s | of the limit | note |",
                  "|---|---|---|---|---|"]
        lines += [row(f) for f in figures]
    return "\n".join(lines) + "\n"


def main():
    source = pathlib.Path(__file__).resolve().parents[2]
    page = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else source / "docs" / "GPU.md")
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    old = page.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + text(report) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
