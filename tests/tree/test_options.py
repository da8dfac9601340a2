#!/usr/bin/python3
"""The tables of cli/frame/commands.c agree with each other: every option that a command names exists, no command takes two of
the same letter, and what a command has of its own is of an option that it takes; and 'tamis help kinds' tells of every
kind of the header."""
import os
import re

source = open(os.path.join(os.environ["TAMIS_SOURCE"], "cli/frame/commands.c"), encoding="utf-8").read()
source = re.sub(r'"\s*\n\s*"', "", source)  # pieces of one string
common, own = source.split("own_options[] = {")
options = dict((name, letter) for letter, name in
               re.findall(r"\{(0|'.'), \"([a-z0-9-]+)\",", common))
commands = re.findall(r'"([a-z0-9 -]*)",\s*\d,\s*run_(\w+)\}', source)
assert len(options) > 20 and len(commands) > 10, "the tables are written otherwise now"
taken = {command: words.split() for words, command in commands}
owned = re.findall(r'\{"([a-z, ]+)",\s*\{(0|\'.\'), "([a-z0-9-]+)",', own.split("n_own_options")[0])
assert len(owned) > 15, owned
pairs = [(command, name) for names, letter, name in owned for command in names.split(",")]
assert len(pairs) == len(set(pairs)), "two texts of one option for one command"
for command, name in pairs:
    assert name in taken[command.replace(" ", "_")], f"{command} does not take {name}"
for names, letter, name in owned:
    assert options[name] == letter, f"{names}: another letter for {name}"
named = set()
for words, command in commands:
    letters = {}
    for name in words.split() + ["help", "color"]:
        assert name in options, f"{command}: no option is named {name}"
        named.add(name)
        letter = options[name]
        assert letter == "0" or letter not in letters, f"{command}: {name} and {letters[letter]}"
        letters[letter] = name
assert named == set(options), f"no command takes {set(options) - named}"

header = open(os.path.join(os.environ["TAMIS_SOURCE"], "include/tamis/tamis.h"), encoding="utf-8").read()
kinds = re.findall(r"^ *TAMIS_([A-Z_]+) = \d+", re.search(r"enum tamis_kind \{(.*?)\}", header, re.S)[1], re.M)
topics = open(os.path.join(os.environ["TAMIS_SOURCE"], "cli/frame/topics.c"), encoding="utf-8").read()
assert len(kinds) > 12, kinds
for kind in kinds:
    name = kind.lower().replace("_", "-")
    assert name == "auto" or f'"  {name} ' in topics, f"'tamis help kinds' does not tell of {name}"
