"""What people see on a terminal, tested on a pseudo-terminal: colour, width, characters. None of it
is shown where there is no terminal. Progress is in test_progress.py."""
import os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import terminal

TAMIS = os.environ["TAMIS"]
BASE = {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C"}


def on_terminal(arguments, stdout=True, stderr=True, columns=80, **environment):
    """Runs tamis with these streams on a terminal; what it shows there, what it writes elsewhere,
    its status."""
    with tempfile.TemporaryFile() as elsewhere:
        streams = {name: elsewhere for name, on in (("stdout", stdout), ("stderr", stderr))
                   if not on}
        t = terminal.Terminal([TAMIS, *arguments], columns, env={**BASE, **environment}, **streams)
        status = t.finish()
        elsewhere.seek(0)
        return t.text(), elsewhere.read().decode(), status


def some_files():
    with open("many", "w") as f:
        f.write("1\n2\n3\n")
    for name in ("a.tamis", "b.tamis"):
        subprocess.run([TAMIS, "build", "-o", name, "-"], input=b"a\nb\n", check=True)


def colour_only_where_it_is_wanted():
    bold = "\033[1mUsage:\033[0m"
    shown, _, _ = on_terminal(["--help"])
    assert bold in shown
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        shown, _, _ = on_terminal(["--help"], **environment)
        assert "Usage:" in shown and "\033" not in shown, environment
    assert bold in on_terminal(["--help"], NO_COLOR="")[0]  # empty is not set (no-color.org)
    _, written, _ = on_terminal(["help", "kinds"], stdout=False)
    assert "kinds" in written and "\033" not in written
    _, written, _ = on_terminal(["help", "kinds", "--color=always"], stdout=False, NO_COLOR="1")
    assert "\033[1mkinds\033[0m" in written
    shown, _, _ = on_terminal(["info", "--help", "--color", "never"])
    assert "Usage:" in shown and "\033" not in shown
    shown, _, status = on_terminal(["info", "--color", "sometimes", "a.tamis"])
    assert status == 2 and shown == "tamis: --color: 'sometimes' is not auto, always or never\n"


def an_overfull_filter_is_red():
    subprocess.run([TAMIS, "build", "-q", "--overfill", "--items", "10", "-o", "full.tamis", "-"],
                   input="".join(f"{i}\n" for i in range(100)).encode(), check=True)
    shown, _, _ = on_terminal(["info", "full.tamis"])
    assert "\033[31m: overfull\033[0m" in shown, shown
    shown, _, _ = on_terminal(["info", "a.tamis"])
    assert "\033" not in shown, shown


def pictures_are_as_wide_as_the_terminal():
    plan = ["plan", "--items", "1M", "--fpr", "1%", "--plot", "--color=never"]
    for columns, environment in ((60, {}), (132, {}), (60, {"COLUMNS": "100"})):
        shown, _, status = on_terminal(plan, columns=columns, **environment)
        wanted = int(environment.get("COLUMNS", columns))
        bars = [len(line) for line in shown.split("\n") if re.search("(###|---)", line)]
        assert status == 0 and len(bars) >= 10 and wanted - 8 < max(bars) <= wanted, (wanted, bars)
    shown, _, _ = on_terminal(["info", "--plot", "--color=never", "full.tamis"], columns=60)
    table = next(line for line in shown.split("\n") if line.startswith("  table  "))
    assert re.fullmatch(r"  table +[0-9]{37}", table), table
    _, written, _ = on_terminal(plan, stdout=False, stderr=False)  # nobody knows: 80
    assert 72 < max(len(line) for line in written.split("\n") if "###" in line) <= 80


def unicode_where_the_locale_has_it():
    plan = ["plan", "--items", "1M", "--fpr", "1%", "--plot"]
    for environment, fine in (({"LC_ALL": "C"}, False), ({"LC_ALL": "C.UTF-8"}, True),
                              ({"LC_ALL": "de_DE.utf8"}, True),
                              ({"LC_ALL": "C", "LANG": "C.UTF-8"}, False),
                              ({"LC_ALL": "", "LANG": "C.UTF-8"}, True),
                              ({"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, True),
                              ({"LC_ALL": ""}, False)):
        shown, _, _ = on_terminal(plan, **environment)
        assert ("█" in shown, "###" in shown) == (fine, not fine), environment


def filters_are_not_for_terminals():
    shown, _, status = on_terminal(["build", "-o", "-", "many"])
    refused = "tamis: a filter cannot be written to a terminal; use -o FILE\n"
    assert status == 2 and shown == refused, shown


def run_all(*tests):
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        for test in tests:
            test()
        os.chdir("/")
    print(f"{len(tests) - 1} passed, 0 failed")


run_all(some_files, colour_only_where_it_is_wanted,
        an_overfull_filter_is_red, pictures_are_as_wide_as_the_terminal,
        unicode_where_the_locale_has_it,
        filters_are_not_for_terminals)
sys.exit(0)
