"""-h, --help and 'tamis help TOPIC': lines fit, -h fits one screen, every page has examples, every
option is in a section, --help, the manual page and the completions have the same text, and no text
is about another command."""
import os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import terminal

TAMIS = os.environ["TAMIS"]
HERE = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C"}


def told(*words, **environment):
    done = subprocess.run([TAMIS, *words], capture_output=True, text=True, check=True,
                          env={**HERE, **environment})
    assert done.stderr == "", done.stderr
    return done.stdout


def on_terminal(columns, *words, **environment):
    t = terminal.Terminal([TAMIS, *words], columns, env={**HERE, **environment})
    assert t.finish() == 0
    return t.text()


def listed(heading, end):
    part = told("--help").split(heading)[1].split(end)[0]
    return re.findall(r"^  (\S+(?: \S+)?) +\S", part, re.M)


COMMANDS = [name.split() for name in listed("Usage:", "Topics:")]
TOPICS = listed("Topics:", "\nRun 'tamis")
PAGES = [["--help"]] + [[*command, "--help"]
                        for command in COMMANDS] + [["help", topic] for topic in TOPICS]
GROUPS = sorted({command[0] for command in COMMANDS if len(command) > 1} - {"explain"})
PAGES += [["help", group] for group in GROUPS]
SHORT = [[*command, "--short-help" if command == ["check"] else "-h"] for command in COMMANDS]
PAGES += [["-h"]] + SHORT
SECTIONS = ["Input", "Filter or sketch", "Lookups", "Output", "Threads and memory",
            "Details of the filter or sketch", "Filters of other programs",
            "Sets at redis:// addresses", "Keys and signatures", "Server", "Other"]
EXAMPLES = r"\nExamples:\n(?:  \S.*[:?]\n(?:    .*\n)+)+"


def lines_fit():
    assert len(COMMANDS) > 20 and len(TOPICS) > 5 and ["guard"] not in COMMANDS, (COMMANDS, TOPICS)
    for page in PAGES:
        for columns in ("200", "30"):  # which only a terminal has
            text = told(*page, COLUMNS=columns)
            for line in text.split("\n"):
                assert len(line) <= 80 and line == line.rstrip(), (page, len(line), line)
            assert text.isascii() and text.endswith("\n") and not text.endswith("\n\n"), page


def every_page_has_an_example():
    """Also a group alone, which is an error: the same text, on standard error. test_cli.py runs the
    examples."""
    for page in PAGES + [[group, "--help"] for group in GROUPS]:
        text = told(*page)
        found = re.search(EXAMPLES, text)
        assert page == ["-h"] or (found and "tamis " in found[0]), (page, text)
    for group in GROUPS:
        done = subprocess.run([TAMIS, group], capture_output=True, text=True, env=HERE)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told(group, "--help")), \
            (group, done)
        assert told("help", group) == told(group, "--help")


def short_help_fits_one_screen():
    """A screen of 24 lines has room for the prompt as well; lines_fit checks the columns. What it
    shows is a part of --help."""
    for page in SHORT:
        text = told(*page)
        assert text.count("\n") <= 23, (page, text)
        whole = told(*page[:-1], "--help")
        assert text.startswith(whole.split("\n")[0] + "\n"), page
        assert whole.split("\n")[2] == text.split("\n")[1], page
        assert re.search(EXAMPLES, text)[0].rstrip() in whole, page
        named = re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)", text, re.M)
        assert len(named) == len(set(named)), (page, named)
        assert set(named) <= set(re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)", whole, re.M)), page
        assert text.endswith("explains more.\n") or text.endswith(", with all options.\n"), page
        assert ("with all options" in text) == (
            len(named) < len(set(re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)", whole, re.M))) - 3), \
            page


def first_steps_are_few():
    """'tamis' alone, which is an error, prints what 'tamis -h' prints."""
    done = subprocess.run([TAMIS], capture_output=True, text=True, env=HERE)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told("-h")), done
    assert done.stderr.count("\n") <= 20, done.stderr
    steps = re.findall(r"^  tamis ([a-z]+)", done.stderr, re.M)
    assert steps == ["build", "check", "uniq", "top", "distinct"], steps
    overview = told("help")
    assert overview == told("--help")
    for heading in re.findall(r"^[A-Z].*\?$", done.stderr, re.M):
        assert f"\n{heading}\n" in overview, heading
    assert overview.count("\n") <= 90, overview.count("\n")


def without_arguments():
    """A command that needs arguments and has none prints its short help, as an error."""
    printed = 0
    for page in SHORT:
        if re.match(r"Usage: tamis [a-z ]+ \[OPTION\.\.\.\](?: \[[A-Z].*| -o OUT \[.*)?\n",
                    told(*page)):
            continue
        command = page[:-1]
        done = subprocess.run([TAMIS, *command], capture_output=True, text=True, env=HERE,
                              stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (2, ""), (command, done)
        assert done.stderr in (told(*page), told(*command, "--help")), (command, done.stderr)
        printed += 1
    assert printed > 10, printed


def every_option_is_in_a_section():
    """The sections are in one order, which the manual page has as well."""
    manual = re.sub(r"\\(.)", r"\1", told("help", "--man"))
    for command in COMMANDS:
        text = told(*command, "--help")
        headings = re.findall(r"^([A-Z][a-z:/ ]+):$", text, re.M)
        assert headings[0] == "Examples", (command, headings)
        at = [SECTIONS.index(heading) for heading in headings[1:]]
        assert at == sorted(set(at)), (command, headings)
        options = re.findall(r"^  (?:-.,|   ) --[a-z0-9-]+", text, re.M)
        rest = text.split(f"\n{headings[1]}:\n")
        assert len(rest) == 2, command
        assert len(re.findall(r"^  (?:-.,|   ) --[a-z0-9-]+", rest[1], re.M)) == len(options), \
            command
        section = manual.split(f"\n.SS {' '.join(command)}\n")[1].split("\n.S")[0]
        in_manual = re.findall(r"^fI([A-Z][a-z:/ ]+)fR$", section, re.M)
        assert in_manual == [heading for heading in headings[1:] if heading != "Other"], \
            (command, in_manual, headings)
        # Every paragraph of options has a heading.
        assert not re.search(r"\n\n  (?:-.,|   ) --", text), command


def blanks_removed(text):
    return " ".join(text.split())


def terminals_have_their_width():
    for page in PAGES:
        plain = blanks_removed(told(*page))
        for columns, environment, most in ((70, {}, 70), (80, {}, 80), (90, {}, 90), (200, {}, 100),
                                           (200, {"COLUMNS": "75"}, 75)):
            shown = on_terminal(columns, *page, **environment)
            assert blanks_removed(shown) == plain, (page, columns, shown, plain)
            # Usage, examples and tables are as they are.
            flowing = re.sub(EXAMPLES, "\n", shown) if page[0] != "help" else ""
            assert all(len(line) <= most for line in flowing.split("\n")), (page, columns)
    widest = max(len(line) for line in on_terminal(200, "build", "--help").split("\n"))
    assert 90 < widest <= 100, widest
    narrow = on_terminal(40, "build", "--help").split("Filter or sketch:")[1]
    assert max(map(len, narrow.split("\n"))) <= 40 and "\n      expected number of" in narrow, \
        narrow


def option_text(command, name):
    """The option of --help: the name of its value, its text."""
    text = told(*command, "--help")
    found = re.search(rf"^  (?:-.,|   ) --{name}(?: ([A-Z]+))?\s+(\S.*(?:\n {{25}}.*)*)", text,
                      re.M)
    assert found, (command, name)
    return found[1], blanks_removed(found[2])


# For a command and an option: the value, a text that its description has, and one that it lacks
# because that belongs to another command.
OWN = [("add timeout", "TIME", "redis://", "client"),
       ("guard serve timeout", "TIME", "client may be silent", "redis"),
       ("explain cost confirm", "TIME", "500ms", "maybe"),
       ("check confirm", "FILE", "maybe", "500ms"),
       ("guard build never", "FILE", "URLs", "exact"), ("build never", "FILE", "exact", "URLs"),
       ("rotate wait", "N", "replicas", "added"), ("add wait", "N", "added", "done"),
       ("build kind", "KIND", "ribbon", "tally"), ("plan kind", "KIND", "default: all", "tally"),
       ("uniq kind", "KIND", "default: growing", "ribbon"),
       ("count kind", "KIND", "default: tally", "blocked"),
       ("build memory", "SIZE", "temporary file", "--confirm"),
       ("check memory", "SIZE", "--confirm", "ribbon"),
       ("distinct memory", "SIZE", "groups", "ribbon"),
       ("diff memory", "SIZE", "hashes of lines", "ribbon"),
       ("distinct field", "N", "distinct values", "as the key"),
       ("distinct number", "N", "groups", "--min"),
       ("distinct error", "E", "standard error", "count-min"),
       ("count error", "E", "count-min", "standard error"),
       ("build to", "FORMAT", "parquet", "convert"),
       ("convert to", "KIND", "bloom", "nothing of this")]


def texts_are_of_the_command():
    manual = re.sub(r"\\(.)", r"\1", told("help", "--man").replace("\\fI", "").replace("\\fR", ""))
    fish, zsh = told("help", "--completions", "fish"), told("help", "--completions", "zsh")
    for words, value, has, has_not in OWN:
        *command, name = words.split()
        if command not in COMMANDS:  # built without the guard
            continue
        got, text = option_text(command, name)
        assert got == value and has in text and has_not not in text, (words, got, text)
        section = blanks_removed(manual.split(f"\n.SS {' '.join(command)}\n")[1].split("\n.S")[0])
        assert f"--{name} {value} {text}" in section, (words, section)
        first = re.match(r"(?:\([^)]*\)|\.(?! )|[^.;(])*", text)[0]
        part = zsh.split(f"    '{' '.join(command)}')\n")[1].split(";;")[0].replace(
            "\\", "").replace("’", "'")
        assert f"--{name}=[{first}]:{value}:" in part \
            or f"--{name}=}}'[{first}]:{value}:" in part, (words, part)
        assert re.search(f"is {' '.join(command)}' -l {name}.* -d '" + re.escape(first),
                         fish.replace("’", "'").replace("\\", "")), words


def values_are_offered():
    bash = told("help", "--completions", "bash")
    for command, wanted, unwanted in (("uniq", "growing", "ribbon"), ("count", "tally", "blocked"),
                                      ("plan", "ribbon", "tally"), ("build", "distinct", "tally"),
                                      ("count", "top", "distinct")):
        part = bash.split(f"    '{command}')\n")[1].split("        ;;\n")[0]
        line = re.search(r"--kind\) options='' words='([^']*)'", part)[1].split()
        assert wanted in line and unwanted not in line, (command, line)


def kinds_are_those_that_the_command_takes():
    """Every word of the text of --kind that is a kind is taken, every other one is refused, with
    its reason."""
    all_kinds = set(re.findall(r"^  ([a-z-]+)  ", told("help", "kinds"), re.M))
    assert len(all_kinds) > 15, all_kinds
    sized = {"plan": ["--error", "1%"], "build": ["-o", "-", "/dev/null"]}  # without a rate
    for command, more in (("plan", ["--items", "1000", "--fpr", "1%"]),
                          ("build", ["--fpr", "1%", "-o", "-", "/dev/null"]),
                          ("uniq", ["--items", "1000", "/dev/null"]),
                          ("count", ["-o", "-", "/dev/null"])):
        text = option_text([command], "kind")[1]
        for kind in all_kinds - {"private"}:
            named = re.search(rf"(?<![a-z-]){kind}(?![a-z-])", text) is not None
            extra = {("plan", "exact"): ["--never-items", "100"],
                     ("build", "map"): ["--value-field", "2"]}.get((command, kind), [])
            rest = sized[command] if kind == "distinct" and command in sized else more
            done = subprocess.run([TAMIS, command, "--kind", kind, *extra, *rest],
                                  capture_output=True, env=HERE)
            assert (done.returncode != 2) == named, (command, kind, text, done.stderr)
            assert named or kind.encode() in done.stderr, (command, kind, done.stderr)


tests = [lines_fit, every_page_has_an_example, short_help_fits_one_screen, first_steps_are_few,
         without_arguments, every_option_is_in_a_section, terminals_have_their_width,
         texts_are_of_the_command, values_are_offered,
         kinds_are_those_that_the_command_takes]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
