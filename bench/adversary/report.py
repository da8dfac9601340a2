"""Puts the results of bench-adversary into SECURITY.md.

    bench/adversary/report.py [--docs SECURITY.md] adversary.json

Prints the table; with --docs the table replaces the one between the marks. If the column of the
secret key differs from chance by a factor of more than 1.2, the page stays as it is and the exit
status is 1."""
import json
import pathlib
import re
import sys

BEGIN, END = "<!-- adversary: written by ./run bench adversary -->", "<!-- adversary: end -->"


def share(value):
    return f"{100 * value:.2f} %" if value < 0.9995 else "100 %"


def table(m):
    def row(what, text, chance):
        return f"| {what} | {text('public')} | {text('keyed')} | {chance} |"

    rows = ["| attack | public seed (XXH3) | secret key (SipHash) | chance |", "|---|---|---|---|",
            row(f"**forgery**: {m['forge trials public']:,} keys are tried offline on the filter's "
                "bits, and those that pass are sent; "
                "share accepted",
                lambda c: f"{share(m['forge accepted ' + c])} of {m['forge found ' + c]:,}",
                share(m["forge chance keyed"])),
            row("**pollution**: each planned add is chosen to set the most bits; false-positive "
                "rate afterwards", lambda c: share(m["pollute rate " + c]),
                share(m["pollute chance keyed"])),
            row("**flooding**: keys are chosen to collide in an eighth of a cuckoo filter; "
                "accepted keys of its plan",
                lambda c: f"{m['flood accepted ' + c]:,} of {m['flood planned ' + c]:,}",
                f"{m['flood chance keyed']:,}"),
            row("**flooding** in a 1,024th of a growing filter",
                lambda c: f"{m['pile accepted ' + c]:,} of {m['pile planned ' + c]:,}",
                f"{m['pile chance keyed']:,}"),
            row("**replay**: wrong maybes found by querying, queried again",
                lambda c: f"{share(m['replay again ' + c])} of {m['replay found ' + c]:,}",
                "100 %"),
            row("**replay** after `--never` (an exact filter built with them as excluded keys)",
                lambda c: share(m["replay told " + c]), "0.00 %"),
            row("**cover**: 2^20 adds of 4 keys that share the counters of one that never "
                "occurred, count-min 4 x 2048; the count of that key",
                lambda c: f"{m['cover error ' + c]:,.0f}", f"{m['cover chance keyed']:,.0f}"),
            row("**cover** without any hash, by adding keys and querying after each; the count of "
                "that key (keys tried)",
                lambda c: f"{m['ask error ' + c]:,.0f} ({m['ask tried ' + c]:,.0f})",
                f"{m['cover chance keyed']:,.0f}")]
    return "\n".join(rows)


def wrong(m):
    """Returns the figures that differ from chance by more than they may."""
    near = {"forgery": m["forge accepted keyed"] / m["forge chance keyed"],
            "pollution": m["pollute rate keyed"] / m["pollute chance keyed"],
            "flooding": m["flood chance keyed"] / m["flood accepted keyed"],
            "flooding a growing filter": m["pile chance keyed"] / m["pile accepted keyed"],
            "cover": m["cover error keyed"] / m["cover chance keyed"]}
    found = [f"{name}: {ratio:.2f} times chance" for name, ratio in near.items() if ratio > 1.2]
    if m["replay told keyed"] > 0:
        found.append("replay: a key that was excluded gets a maybe")
    return found


def main():
    measured = json.loads(pathlib.Path(sys.argv[-1]).read_text())
    text = table(measured)
    print(text)
    for reason in (found := wrong(measured)):
        print(f"bench/adversary/report.py: with a secret key, {reason}", file=sys.stderr)
    if found:
        return 1
    if "--docs" in sys.argv:
        page = pathlib.Path(sys.argv[sys.argv.index("--docs") + 1])
        old = page.read_text()
        new, n = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}",
                         lambda _: f"{BEGIN}\n{text}\n{END}", old, flags=re.S)
        if n != 1:
            print(f"bench/adversary/report.py: {page}: the marks of the table are not there once",
                  file=sys.stderr)
            return 2
        page.write_text(new)
    return 0


sys.exit(main())
