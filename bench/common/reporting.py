"""What the reports of the benchmarks share: their arguments and tables."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows])


def count(n):
    return f"{n / 1e6:g} M" if n >= 1e6 else f"{n:,}"


def num(x, digits=1):
    if x is None:
        return ""
    return f"{x:.{digits}f}" if abs(x) < 1000 else f"{x:,.0f}"


def filled(name, mark, tables, run):
    """The text of a page in docs, or in the folder of --docs, in which each table replaces what is
    between its marks. `mark` is the word after ./run bench, and tables are functions by name."""
    folder = os.path.join(ROOT, "docs")
    if "--docs" in sys.argv:  # the folder that is written to has the page to begin with
        folder = sys.argv[sys.argv.index("--docs") + 1]
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        text = f.read()
    for part, table_of in tables.items():
        begin = f"<!-- {mark} {part}: written by ./run bench {mark} -->"
        end = f"<!-- {mark} {part}: end -->"
        text, found = re.subn(f"(?s)({re.escape(begin)}\n).*?({re.escape(end)})",
                              lambda m, t=table_of: m[1] + t(run) + "\n" + m[2], text)
        if found != 1:
            sys.exit(f"docs/{name} has no place for the table '{part}'")
    return text


def report(usage, results, pages, read, print_targets, write_plots, many=False):
    """Handles [--docs FOLDER] [--no-plots] [FILE]: prints the targets of the results in FILE
    (build/RESULTS) and, with --docs, writes the pages: a function for each name, which returns the
    text, or None if the results are not for this page. If `many`, takes several FILEs and --before
    FILE, and calls read(FILES, BEFORE)."""
    folder, plots, before, paths = None, True, None, []
    words = sys.argv[1:]
    while words:
        word = words.pop(0)
        if word == "--docs" and words:
            folder = words.pop(0)
        elif word == "--no-plots":
            plots = False
        elif word == "--before" and words and many:
            before = words.pop(0)
        elif not word.startswith("-") and (many or not paths):
            paths.append(word)
        else:
            sys.exit(usage)
    paths = paths or [os.path.join(ROOT, "build", results)]
    run = read(paths, before) if many else read(paths[0])
    print_targets(run)
    if folder is None:
        return
    texts = {name: page(run) for name, page in pages.items()}
    texts = {name: text for name, text in texts.items() if text is not None}
    if not texts:
        sys.exit("no page can be written, because groups are missing in this run")
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        print(f"\nwrote {os.path.join(folder, name)}")
    if plots:
        write_plots(run, folder)
