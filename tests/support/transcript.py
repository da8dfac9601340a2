"""Runs transcripts: shell sessions with the output they must give.

    $ tamis check -c seen.tamis other.txt
    3
    $ tamis info nothing.tamis
    tamis: nothing.tamis: cannot open: No such file or directory
    [2]

A line "$ command" is run by sh (lines "> " continue it); the lines after it are what it prints,
stderr included, and "[N]" is its exit status when that is not 0. "..." stands for any characters of
a line. In Markdown, ```console blocks are transcripts and ```c and ```cpp blocks programs that must
compile without a warning (as C11 and C++17) and exit with 0, all in the order of the page and in
one directory. A block with a name, such as ```nginx nginx.conf, is written to that file first.
--accept rewrites the files. """
import os, pathlib, re, subprocess, sys, tempfile

import tidy  # noqa: F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()


def environment():
    env = dict(os.environ, LC_ALL="C", TAMIS_SOURCE=str(SOURCE), NO_COLOR="1")
    env["PATH"] = f"{BUILD}:{env['PATH']}"
    return env


def run(command, directory):
    done = subprocess.run(["sh", "-c", command], cwd=directory, env=environment(), timeout=600,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    lines = done.stdout.decode("utf-8", "backslashreplace").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines + ([f"[{done.returncode}]"] if done.returncode else [])


def matches(expected, actual):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, actual) is not None


def session(lines, directory, where):
    """Runs a transcript; returns it as it should have been, and the number of wrong commands."""
    out, wrong, i = [], 0, 0
    while i < len(lines):
        if not lines[i].startswith("$ "):
            out.append(lines[i])
            i += 1
            continue
        at, command = i, lines[i][2:]
        out.append(lines[i])
        i += 1
        while i < len(lines) and lines[i].startswith("> "):
            command += "\n" + lines[i][2:]
            out.append(lines[i])
            i += 1
        expected = []
        while i < len(lines) and not lines[i].startswith("$ ") and not lines[i].startswith("#"):
            expected.append(lines[i])
            i += 1
        blank = []  # empty lines before a comment or the end belong to the page
        while expected and expected[-1] == "":
            blank.append(expected.pop())
        actual = run(command, directory)
        good = len(actual) == len(expected) and all(map(matches, expected, actual))
        if not good:
            wrong += 1
            print(f"{where}:{at + 1}: {command}\n  expected:")
            print("".join(f"    {line}\n" for line in expected) + "  got:")
            print("".join(f"    {line}\n" for line in actual), end="")
        out += (expected if good else actual) + blank
    return out, wrong


def program(lines, suffix, directory, where):
    source = pathlib.Path(directory, f"page.{suffix}")
    source.write_text("\n".join(lines) + "\n")
    compiler = {"c": "cc -std=c11", "cpp": "c++ -std=c++17 -Wpedantic"}[suffix]
    command = (
        f"{compiler} -Wall -Wextra -Werror -I {SOURCE}/include -I {SOURCE}/reader {source.name} "
        f"{BUILD}/libtamis.a -lm -o page $TEST_CFLAGS && ./page")
    got = run(command, directory)
    if got and re.fullmatch(r"\[\d+\]", got[-1]):
        print(f"{where}: this program fails:\n    " + "\n    ".join(got))
        return 1
    return 0


def markdown(lines, directory, where):
    out, wrong, i, count = [], 0, 0, 0
    while i < len(lines):
        fence = re.fullmatch(r"```(console|c|cpp)", lines[i])
        named = re.fullmatch(r"```[a-z]+ ([\w.-]+)", lines[i])
        if named:
            content = lines[i + 1:lines.index("```", i + 1)]
            pathlib.Path(directory, named[1]).write_text("\n".join(content) + "\n")
        out.append(lines[i])
        i += 1
        if not fence:
            continue
        end = lines.index("```", i)
        block = lines[i:end]
        if fence[1] != "console":
            wrong += program(block, fence[1], directory, f"{where}:{i}")
        else:
            block, bad = session(block, directory, where)
            wrong += bad
        out += block
        i, count = end, count + 1
    if count == 0:
        print(f"{where}: has nothing to run")
        wrong += 1
    return out, wrong


def main(arguments):
    accept = "--accept" in arguments
    files = [pathlib.Path(a) for a in arguments if a != "--accept"]
    if not files:
        files = sorted((SOURCE / "tests/cli").glob("*.t"))
        files += [SOURCE / page for page in ("README.md", "docs/GUIDE.md", "docs/FOREIGN.md",
                                             "docs/GUARD.md", "docs/KEYS.md")]
        files += [page for page in sorted((SOURCE / "docs/coming-from").glob("*.md"))
                  if re.search(r"^```(console|c|cpp)$", page.read_text(), re.M)]
        if run("tamis guard explain a.example", ".")[-1] == "[2]":  # built without it
            files = [path for path in files if path.stem.lower() not in ("guard", "sign")]
    passed = failed = 0
    for path in files:
        text = path.read_text()
        with tempfile.TemporaryDirectory() as directory:
            how = markdown if path.suffix == ".md" else session
            out, wrong = how(text.rstrip("\n").split("\n"), directory, path)
        if wrong and accept:
            path.write_text("\n".join(out) + "\n")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
