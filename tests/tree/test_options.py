#!/usr/bin/python3
"""The tables of cli/frame (option_table.c, commands.c, own_options.c) agree with each other: every
option that a command names exists, what a command redefines is an option that it takes, and 'tamis
help kinds' lists every kind of the header. A letter has one meaning in all commands, except where a
command follows the tool that it imitates; the table of CONTRIBUTING.md lists the letters. A
spelling of an earlier version is an error that names the one to use."""
import os
import re
import subprocess

source = "".join(open(os.path.join(os.environ["TAMIS_SOURCE"], "cli/frame", name),
                      encoding="utf-8").read()
                 for name in ("option_table.c", "commands.c", "own_options.c"))
for name, words in re.findall(r'#define (\w+) ("[a-z -]+")', source):  # FORMATS, SERVERS
    source = re.sub(rf"\b{name}\b", lambda _, words=words: words, source)
source = re.sub(r'"\s*"(?=[a-z |])', "", source)  # pieces of one string
common, own = source.split("own_options[] = {")
own, _, refused = own.partition("refused_options[] = {")
own = re.sub(r"/\*.*?\*/", "", own)
options = dict((name, letter) for letter, name in
               re.findall(r"\{(0|'.'), \"([a-z0-9-]+)\",", common))
commands = [(words.replace(" |", ""), command) for words, command in
            re.findall(r'"([a-z0-9 |-]*)",\s*\d,\s*run_(\w+)\}', source)]
assert len(options) > 20 and len(commands) > 10, "the tables are written otherwise now"
COMMON = ["short-help", "help", "color"]
taken = {command: words.split() for words, command in commands}
owned = re.findall(r'\{"([a-z, ]+)",\s*\{(0|\'.\'), "([a-z0-9-]+)",', own.split("n_own_options")[0])
assert len(owned) > 15, owned
pairs = [(command, name) for names, letter, name in owned for command in names.split(",")]
assert len(pairs) == len(set(pairs)), "two texts of one option for one command"
for command, name in pairs:
    assert name in taken[command.replace(" ", "_")] + COMMON, \
        f"{command} does not take {name}"
for names, letter, name in owned:
    assert letter in ("0", options[name]), f"{names}: another letter for {name}"

# What each letter means, by command: {"n": {"plan": "items", "check": "line-number", ...}, ...}
own_letters = {(command.replace(" ", "_"), name): letter
               for names, letter, name in owned for command in names.split(",")}
named, letters = set(), {}
for words, command in commands:
    for name in words.split() + COMMON:
        assert name in options, f"{command}: no option is named {name}"
        named.add(name)
        letter = own_letters.get((command, name), options[name]).strip("'")
        if letter == "0":
            continue
        meanings = letters.setdefault(letter, {})
        assert command not in meanings, f"{command}: {name} and {meanings[command]} have one letter"
        meanings[command] = name
assert named == set(options), f"no command takes {set(options) - named}"

# A letter of the tool that a command imitates is taken with the meaning that it has there, or not
# at all. The letters are those of GNU grep 3.8 and of coreutils 9.1.
TOOLS = {"check": ("grep", "EFGPefiywxsvVmbnHhoqaIdDrRLlcTZzUABCu"), "uniq": ("uniq", "cdDfisuwz"),
         "top": ("head", "cnqvz"), "distinct": ("head", "cnqvz"), "diff": ("comm", "123z")}
AS_THERE = {"check": {"c": "count", "f": "patterns", "H": "with-filename",
                      "l": "files-with-matches",
                      "m": "max-count", "n": "line-number", "q": "quiet", "v": "invert",
                      "z": "null"},
            "uniq": {"z": "null"},
            "top": {"n": "number", "z": "null",
                    "q": "quiet"},  # head's -q leaves out the headers that it prints between files
            "distinct": {"n": "number", "z": "null", "q": "quiet"},
            "diff": {"1": "no-first", "2": "no-second", "3": "no-common", "z": "null"}}
for command, (tool, known) in TOOLS.items():
    for letter in known:
        meaning = letters.get(letter, {}).get(command)
        assert meaning == AS_THERE[command].get(letter), \
            f"{command} -{letter} is {meaning}, and not as in {tool}"
# Elsewhere a letter has one meaning.
EXCEPTIONS = {("check", "n"), ("check", "f"), ("top", "n"), ("distinct", "n")}
for letter, meanings in letters.items():
    usual = {name for command, name in meanings.items() if (command, letter) not in EXCEPTIONS}
    assert len(usual) <= 1, f"-{letter} has several meanings: {meanings}"
for command, letter in EXCEPTIONS:
    assert letter in AS_THERE[command] and len(set(letters[letter].values())) > 1, \
        f"{command} -{letter} is not an exception"

# The table of CONTRIBUTING.md has a row for each letter and meaning.
contributing = open(os.path.join(os.environ["TAMIS_SOURCE"], "CONTRIBUTING.md"),
                    encoding="utf-8").read()
assert "\n## Option letters\n" in contributing, "CONTRIBUTING.md: no table of option letters"
table = contributing.split("\n## Option letters\n")[1].split("\n## ")[0]
rows = re.findall(r"^\| `-(.)` \| `--([a-z-]+)`[^|]*\| ([^|]*) \| ([^|]*) \|$", table, re.M)
every = {command for words, command in commands}
listed = {}
for letter, name, takers, tool in rows:
    assert (letter, name) not in listed, f"CONTRIBUTING.md: two rows of -{letter}, --{name}"
    if takers.startswith("all except "):
        takers = every - set(takers.removeprefix("all except ").split(", "))
    else:
        takers = {taker.replace(" ", "_") for taker in takers.split(", ")}
    listed[letter, name] = takers
    for command in takers & set(TOOLS):
        if (command, letter) in EXCEPTIONS:
            assert f"`{TOOLS[command][0]}`" in tool, \
                f"CONTRIBUTING.md: -{letter} of {command} follows nothing"
wanted = {}
for letter, meanings in letters.items():
    for command, name in meanings.items():
        wanted.setdefault((letter, name), set()).add(command)
for row in sorted(set(listed) | set(wanted)):
    assert listed.get(row) == wanted.get(row), \
        f"CONTRIBUTING.md: {row}: {listed.get(row)}, and not {wanted.get(row)}"

# What replaces an old spelling is named, and exists.
REPLACED = [(command, "-d", "-t")
            for command in "build add remove compact check uniq count freq top".split()]
REPLACED += [(command, "-k", "--kind") for command in "plan build uniq count".split()]
REPLACED += [("top", "-k", "-n"), ("check", "-b", "--bytes"), ("check", "-h", "--help"),
             ("uniq", "-c", "--total"),
             ("uniq", "--count", "--total"), ("uniq", "-D", "-v"),
             ("uniq", "--repeated", "--invert")]
for command, old, new in REPLACED:
    joined = [old + "7", "-q" + old[1]] if len(old) == 2 and command != "plan" else []
    for word in [old] + joined:
        done = subprocess.run([os.environ["TAMIS"], command, word, "7"], capture_output=True,
                              text=True,
                              stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (2, ""), (command, word, done)
        assert re.fullmatch(rf"tamis: {command}: {old} .*: use {new}\b.*\n", done.stderr), \
            (command, word, done.stderr)
    offered = subprocess.run([os.environ["TAMIS"], command, "--help"], capture_output=True,
                             text=True, check=True).stdout
    assert re.search(rf"^  (?:-., |    ?){new}\b|^  {new}, ", offered, re.M), \
        (command, new, offered)
refusals = {(command, spelling)
            for names, spelling in re.findall(r'\{"([a-z,]+)", "(-[A-Za-z-]+)",', refused)
            for command in names.split(",")}
assert refusals == {(command, old) for command, old, new in REPLACED}, refusals

header = open(os.path.join(os.environ["TAMIS_SOURCE"], "include/tamis/tamis.h"),
              encoding="utf-8").read()
kinds = re.findall(r"\bTAMIS_([A-Z_]+) = \d+",
                   re.search(r"enum tamis_kind \{(.*?)\}", header, re.S)[1])
topics = open(os.path.join(os.environ["TAMIS_SOURCE"], "cli/frame/topics.c"),
              encoding="utf-8").read()
assert len(kinds) > 12, kinds
for kind in kinds:
    # TAMIS_MAP is an option of tamis_open.
    name = "map" if kind == "VALUE_MAP" else kind.lower().replace("_", "-")
    assert name == "auto" or f'"  {name} ' in topics, f"'tamis help kinds' does not mention {name}"
