"""Tests `./run` with tools that only record how they were called: what it installs, that it
configures the build again each time, what counts as a failed test run, and its last line. Also
tests `tools/fresh.sh` where it cannot make a bare Debian; CI shows the rest."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401
import xml.etree.ElementTree as xml

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
PASSED = '<testcase name="test_one" status="run"/>'
SKIPPED = (
    '<testcase name="test_two" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>')
MISSING = (
    '<testcase name="test_gone" status="notrun"><skipped message="Unable to find '
    'executable"/></testcase>')
FAILED = '<testcase name="test_bad" status="fail"><failure message=""/></testcase>'


class Door:
    """A copy of ./run in a folder of its own. Its tools append their words to `called`; ctest also
    writes `cases` as its results, or none when that is None. Packages in `absent` are not
    installed."""

    def __init__(self, room, debian=True):
        self.room = pathlib.Path(room)
        self.bin = self.room / "bin"
        self.bin.mkdir()
        (self.room / "tools").mkdir()
        shutil.copy(SOURCE / "run", self.room)
        for name in ("tools/test_report.py",):
            shutil.copy(SOURCE / name, self.room / name)
        for tool in ("sh", "dirname", "mkdir", "rm", "nproc", "id", "cat", "env", "cc", "ls"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.tool("npm", "")
        self.tool("ninja", "")
        self.tool("cmake", 'mkdir -p build; : >build/build.ninja')
        self.tool("ctest",
                  'while [ $# -gt 0 ]; do [ "$1" != --output-junit ] || out=$2; shift; done\n'
                           '[ ! -f cases ] || cat cases >"$out"')
        if debian:
            self.tool("apt-get", "")
            self.tool("dpkg-query", 'for word in "$@"; do package=$word; done\n'
                                    '! grep -qxF "$package" absent || exit 1; echo "install ok '
                                    'installed"')
            (self.bin / "grep").symlink_to(shutil.which("grep"))
        (self.room / "absent").write_text("")

    def tool(self, name, body):
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>called\n{body}\n')
        path.chmod(0o755)

    def run(self, *words, cases=PASSED):
        (self.room / "called").write_text("")
        (self.room / "cases").unlink(missing_ok=True)
        if cases is not None:
            (self.room / "cases").write_text(f'<testsuite name="x">{cases}</testsuite>')
        done = subprocess.run(["sh", "run", *words], cwd=self.room, env={"PATH": str(self.bin)},
                              capture_output=True, text=True, timeout=60)
        self.called = (self.room / "called").read_text().splitlines()
        self.last = done.stdout.splitlines()[-1] if done.stdout else ""
        self.text = done.stdout + done.stderr
        return done.returncode


def check_configuring(door):
    for _ in range(2):
        assert door.run("build") == 0, door.text
        assert "cmake --preset release" in door.called, \
            f"a build that is not configured again: {door.called}"


def check_packages(door):
    (door.room / "absent").write_text("file\nmusl-tools\n")
    assert door.run("test") == 0, door.text
    installs = [line for line in door.called if line.startswith("apt-get install")]
    assert len(installs) == 1 and installs[0].endswith(" file"), \
        f"wanted the package file alone: {installs}"
    assert door.run("test", "--deep") == 0, door.text
    assert any("musl-tools" in line for line in door.called), door.called
    assert door.run("test", "--long") == 1, "without clang-tidy and gcovr the last two stages fail"
    first = door.called.index(next(line for line in door.called if line.startswith("ctest")))
    assert any("musl-tools" in line for line in door.called[:first]), \
        "packages come before the tests that need them"
    assert "7 passed, 2 failed, 0 skipped" == door.last, door.text
    (door.room / "absent").write_text("")


def check_results(door, debian):
    for cases, status, last in ((PASSED, 0, "1 passed, 0 failed, 0 skipped"),
                                (PASSED + SKIPPED, int(debian), "1 passed, 0 failed, 1 skipped"),
                                (PASSED + FAILED, 1, "1 passed, 1 failed, 0 skipped"),
                                (PASSED + MISSING, 1, "1 passed, 1 failed, 0 skipped"),
                                ("", 1, "0 passed, 1 failed, 0 skipped"),
                                (None, 1, "0 passed, 1 failed, 0 skipped")):
        got = door.run("test", cases=cases)
        assert (got, door.last) == (status, last), \
            f"{cases}: wanted {status} and {last!r}: {got}\n{door.text}"
        results = xml.parse(door.room / "build/test.xml").getroot()
        assert results.tag == "testsuites" and [suite.get("name") for suite in results] \
            == ["release"]
    # Every stage of --deep runs, whatever failed before it, and all are in the sum.
    assert door.run("test", "--deep", cases=PASSED + FAILED) == 1
    assert door.last == "5 passed, 5 failed, 0 skipped", door.text
    assert len(xml.parse(door.room / "build/test.xml").getroot()) == 5


def check_usage(door):
    for words in (("test", "--depe"), ("test", "--deep", "--long"), ("build", "pyhton"),
                  ("nonsense",)):
        assert door.run(*words) == 2, door.text
        assert not door.called, "a mistyped command builds nothing"


def check_words(door):
    """A mistake is named, and the commands or the usage are shown."""
    for words, message in (
            (("nonsense",), "./run: there is no command 'nonsense'; the commands are: demo build "),
            (("--quick",), "./run: unknown option '--quick'; a command comes first: demo build "),
            (("demo", "x"), "./run: demo takes no options, but got 'x'; see ./run help"),
            (("build", "x"), "./run: build: there is no 'x' to build; usage: ./run build [python]"),
            (("test", "--depe"), "./run: test: unknown option '--depe'; usage: ./run test ["),
            (("bench", "x"), "./run: bench: there is no 'x' to measure\n"),
            (("bench", "--items", "5"), "./run: bench: --items is for 'billion'"),
            (("bench", "sql", "--before", "run"), "./run: bench: --before is for 'filters'"),
            (("bench", "--before", "x"), "./run: bench: --before: there is no file x"),
            (("page", "x"), "./run: page: unknown option 'x'; usage: ./run page [--port N]"),
            (("page", "--port", "x"), "./run: page: --port: 'x' is not a number")):
        assert door.run(*words) == 2 and door.text.startswith(message), (words, door.text)
        assert not door.called, words
    for words in (("help",), ("--help",), ("demo", "--help"), ("test", "-h"), ()):
        assert door.run(*words) == 0 and door.text.startswith("./run demo "), (words, door.text)
        for command in ("install", "uninstall", "page"):
            assert f"\n./run {command} [" in door.text, command


def check_path_line():
    """./run build ends with the line that puts the command on the PATH, which a shell can run."""
    for folder in ("plain", "with a space", "it's $HOME `x` \\ \"q\""):
        with tempfile.TemporaryDirectory() as room:
            room = pathlib.Path(room) / folder
            room.mkdir()
            door = Door(room)
            (door.bin / "sed").symlink_to(shutil.which("sed"))
            assert door.run("build") == 0, door.text
            assert door.last.startswith("  export PATH="), door.text
            done = subprocess.run(["sh", "-c", f'{door.last}\nprintf %s "$PATH"'],
                                  env={"PATH": "/old"}, executable=shutil.which("sh"),
                                  capture_output=True, text=True)
            assert done.stdout == f"{room.resolve()}/build:/old", (folder, door.last, done)


def check_elsewhere():
    """Without apt-get, what is missing and its packages are named: those of the tool that is there,
    or of all that are known."""
    with tempfile.TemporaryDirectory() as room:
        door = Door(room, debian=False)
        (door.bin / "cc").unlink()
        (door.bin / "ninja").unlink()
        installs = {"brew": "  brew install cmake ninja xxhash ",
                    "dnf": "  sudo dnf install gcc cmake ninja-build xxhash-devel ",
                    "apk": "  sudo apk add build-base cmake samurai xxhash-dev "}
        for tool in (None, *installs):
            if tool:
                door.tool(tool, "")
            for command in ("build", "demo", "test"):
                assert door.run(command) == 2, door.text
                assert door.text.startswith("./run: these are missing: cc ninja\n"), door.text
                assert "There is no apt-get here" in door.text and "The tests need" in door.text
                for name, line in installs.items():
                    assert (f"\n{line}" in door.text) == (tool in (None, name)), (tool, door.text)
                assert not door.called, "nothing is installed or built"
            if tool:
                (door.bin / tool).unlink()
        door.tool("cc", "exit 1")  # a compiler without headers
        door.tool("ninja", "")
        assert door.run("build") == 2
        assert "missing: xxhash.h zlib.h zstd.h bzlib.h lzma.h\n" in door.text, door.text


def check_fresh(room):
    """Without root, fresh.sh warns and runs the commands directly, up to the first that fails."""
    room = pathlib.Path(room)
    (room / "tools").mkdir()
    (room / "bin").mkdir()
    shutil.copy(SOURCE / "tools/fresh.sh", room / "tools")
    shutil.copy(SOURCE / "README.md", room)
    for name, body in (("run", 'echo "run $*"'), ("bin/id", "echo 1000")):
        (room / name).write_text(f"#!/bin/sh\n{body}\n")
        (room / name).chmod(0o755)
    path = f"{room / 'bin'}:{os.environ['PATH']}"

    def fresh(*commands):
        done = subprocess.run(["sh", "tools/fresh.sh", *commands], cwd=room,
                              env={**os.environ, "PATH": path}, capture_output=True, text=True,
                              timeout=60)
        assert "no bare Debian 12: it takes root" in done.stderr, done.stderr
        return done.returncode, [line for line in done.stdout.splitlines() if line
                                 and not line.startswith("$ ")]

    assert fresh() == (0, ["run demo", "run test"]), f"the README's commands: {fresh()}"
    assert fresh("echo a", "exit 3", "echo b") == (3, ["a"])


def main():
    with tempfile.TemporaryDirectory() as room:
        check_fresh(room)
    for debian in (True, False):
        with tempfile.TemporaryDirectory() as room:
            door = Door(room, debian)
            check_configuring(door)
            check_results(door, debian)
            check_usage(door)
            check_words(door)
            if debian:
                check_packages(door)
    check_path_line()
    check_elsewhere()
    print("configures, installs, counts and refuses as it should")


if __name__ == "__main__":
    sys.exit(main())
