"""Coverage of src/ by the C tests, from what the tests of the preset coverage have left behind: a
table of lines and branches per file, build/coverage/index.html, and an error where a promise is
broken: every branch of what reads hostile bytes and of what touches files is taken, and nine of ten
branches of the rest."""
import json
import os
import subprocess
import sys

BUILD = "build/coverage"
WHOLE = tuple(f"src/image/{name}.c" for name in ("image", "descriptor", "durable", "file"))
LEAST = 90.0  # per cent of branches


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def missing(report):
    """Where branches of WHOLE are never taken, as file:line."""
    for file in report["files"]:
        if file["file"] not in WHOLE:
            continue
        for line in file["lines"]:
            if any(b["count"] == 0 for b in line["branches"]):
                yield f"{file['file']}:{line['line_number']}"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    data, summary = os.path.join(BUILD, "coverage.json"), os.path.join(BUILD, "summary.json")
    subprocess.run(["gcovr", "-r", ".", "-f", "src/", "--json", data, "--json-summary", summary,
                    "--html-details", os.path.join(BUILD, "index.html"), BUILD], check=True)
    with open(data) as f:
        report = json.load(f)
    with open(summary) as f:
        totals = json.load(f)
    print(f"{'':40} {'lines':>8} {'branches':>9}")
    for file in totals["files"]:
        lines = percent(file["line_covered"], file["line_total"])
        branches = percent(file["branch_covered"], file["branch_total"])
        print(f"{file['filename']:40} {lines:7.1f}% {branches:8.1f}%")
    lines = percent(totals["line_covered"], totals["line_total"])
    branches = percent(totals["branch_covered"], totals["branch_total"])
    print(f"{'src':40} {lines:7.1f}% {branches:8.1f}%")
    failures = [f"{place}: a branch that no test takes" for place in missing(report)]
    seen = {file["file"] for file in report["files"]}
    failures += [f"{name} is not in the report" for name in WHOLE if name not in seen]
    if branches < LEAST:
        failures.append(f"{branches:.1f} % of the branches of src, less than {LEAST} %")
    for text in failures:
        print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
