"""The names that version 1 has promised are there: options of the command with their letters,
fields of its JSON with their types, commands of Redis with their arity, functions of both SQL
extensions, and what the npm package exports. tests/python/test_promises.py has the Python package,
and tests/support/promises.py explains the list.

TAMIS is the command, TAMIS_SOURCE the tree and TAMIS_BUILD a build of it."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["TAMIS_SOURCE"])
BUILD = pathlib.Path(os.environ["TAMIS_BUILD"])
TAMIS = os.environ["TAMIS"]
GOLDEN = ROOT / "tests/golden"
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from promises import keep  # noqa: E402


def run(*words, given="", good=(0, 1)):
    done = subprocess.run([TAMIS, *map(str, words)], input=given, text=True, check=False,
                          capture_output=True, env={**os.environ, "LC_ALL": "C"})
    assert done.returncode in good, f"{words}: status {done.returncode}\n{done.stderr}"
    return done.stdout


def commands():
    """The commands that `tamis help` lists before its topics."""
    found = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  +[a-z]", run("help").split("\nHelp\n")[0], re.M)
    assert len(found) > 30, found
    return found


def options():
    for command in commands():
        yield command
        for letter, name in re.findall(r"^ +(?:-(\w), )?--([a-z0-9-]+)",
                                       run(*command.split(), "--help"), re.M):
            yield f"{command} --{name}"
            if letter:
                yield f"{command} -{letter} is --{name}"


def typed(prefix, value):
    """The fields of a JSON value, with their types."""
    kind = {bool: "boolean", str: "string", int: "number", float: "number", list: "array",
            dict: "object", type(None): "null"}[type(value)]
    yield f"{prefix} {kind}"
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from typed(f"{prefix}.{name}", inside)
    for inside in value if isinstance(value, list) else ():
        yield from typed(f"{prefix}[]", inside)


def fields(room):
    """What --json prints, in the same runs each time."""
    (room / "a").write_text("".join(f"k{i}\n" for i in range(50)))
    (room / "b").write_text("".join(f"k{i}\n" for i in range(25, 90)))
    (room / "m").write_text("".join(f"k{i}\t{i}\n" for i in range(50)))
    (room / "list").write_text("bad.example\nphish.example/a\n")
    at = {name: str(room / name) for name in
          ("a", "b", "m", "list", "a.tamis", "b.tamis", "n.tamis", "d.tamis", "m.tamis", "guard")}
    run("build", "--items", "100", "-o", at["a.tamis"], at["a"])
    run("build", "--items", "100", "-o", at["b.tamis"], at["b"])
    run("build", "--kind", "map", "--value-field", "2", "-o", at["m.tamis"], at["m"])
    run("count", "-q", "-o", at["n.tamis"], at["a"])
    run("distinct", "-q", "-o", at["d.tamis"], at["a"])
    runs = [("plan", "--json", "1000", "1%"), ("check", "--json", at["a.tamis"], at["b"]),
            ("uniq", "--json", at["a"]), ("get", "--json", at["m.tamis"], "k1", "none"),
            ("freq", "--json", at["n.tamis"], "k1"), ("top", "--json", at["a"]),
            ("distinct", "--json", at["a"]), ("compare", "--json", at["a.tamis"], at["b.tamis"]),
            ("diff", "--json", at["a"], at["b"]), ("verify", "--json", at["a.tamis"]),
            ("explain", "cost", "--json", "-n", "1M", "-p", "1%")]
    guard = "guard build" in commands()
    if guard:
        runs += [("guard", "build", "--json", at["guard"], at["list"]),
                 ("guard", "check", "--json", at["guard"], "http://bad.example/"),
                 ("guard", "explain", "--json", "http://bad.example/a")]
    runs += [("info", "--json", path) for path in sorted(GOLDEN.glob("*.tamis"))
             if "keyed" not in path.name]
    for words in runs:
        verb = " ".join(words[:words.index("--json")])
        for line in run(*words).splitlines():
            yield from typed(verb, json.loads(line))


def redis():
    text = (ROOT / "redis/commands.h").read_text()
    return [f"{name} {arity}" for name, arity in
            re.findall(r'X\(\w+, "([A-Z]+\.[A-Z]+)", "[0-9.]+", (-?\d+),', text)]


def postgres():
    """Objects that statements of users can name, from the scripts of all versions."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "sql/postgres").glob("*.sql")))
    text = re.sub(r"--.*|'(?:[^']|'')*'", "", text)
    for head in re.findall(r"^CREATE ((?:FUNCTION|AGGREGATE|CAST|TYPE|DOMAIN|OPERATOR)[^;]*?\)"
                           r"(?: RETURNS [a-z0-9_\[\] ]+?)?)(?=\s*(?:AS|WITH|LANGUAGE|\(|;|$))",
                           text, re.M):
        if "internal" not in head:
            yield head


def sqlite():
    db = sqlite3.connect(":memory:")
    before = set(db.execute("SELECT name, narg FROM pragma_function_list"))
    db.enable_load_extension(True)
    db.load_extension(str(BUILD / "sql/tamis_sqlite"))
    now = set(db.execute("SELECT name, narg FROM pragma_function_list"))
    return [f"{name} {arguments}" for name, arguments in now - before]


def npm():
    about = json.loads((ROOT / "web/package.json").read_text())
    yield from (f"import {name}" for name in about["exports"])
    for module in ("tamis", "distinct"):
        text = re.sub(r"/\*.*?\*/", "", (ROOT / f"web/{module}.d.ts").read_text(), flags=re.S)
        text = re.sub(r"//.*", "", text)
        for what, name in re.findall(r"^export (?:declare )?(?:async )?(class|function|const|"
                                     r"interface|type) (\w+)", text, re.M):
            yield f"{module} {what} {name}"
        for what, name, body in re.findall(r"^export (?:declare )?(class|interface) (\w+)[^{]*\{\n"
                                           r"(.*?)^\}", text, re.M | re.S):
            members = re.findall(r"^  (?:(?:readonly|static|get) )*(\w+)[?]?[(:<]", body, re.M)
            yield from (f"{module} {what} {name}.{member}" for member in members)


def main():
    keep("option", options())
    with tempfile.TemporaryDirectory() as name:
        keep("json", fields(pathlib.Path(name)))
    keep("redis", redis())
    keep("postgres", postgres())
    if (BUILD / "sql/tamis_sqlite.so").exists():
        keep("sqlite", sqlite())
    else:
        print("built without the extension for SQLite")
    keep("npm", npm())
    print("the names of version 1 are there")


main()
