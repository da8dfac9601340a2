"""The types of the package: mypy --strict accepts its own files and a program that uses it
(typed.py), refuses each mistake in another (mistyped.py), and the stubs describe what the module
has (stubtest)."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tamis

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(tamis.__file__).parent


def call(*words):
    """The output of a tool of mypy that looks for packages where this Python does, and whether it
    succeeds."""
    done = subprocess.run([sys.executable, "-m", *words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "MYPY_CACHE_DIR": os.getcwd() + "/cache"})
    return done.stdout, done.returncode == 0


def check_mistakes():
    """Each line of mistyped.py that ends with a comment `# error` has an error, and no other."""
    path = HERE / "mistyped.py"
    lines = path.read_text().splitlines()
    wanted = [n for n, line in enumerate(lines, 1) if line.endswith("# error")]
    text, _ = call("mypy", "--strict", str(path))
    got = sorted({int(n) for n in re.findall(r"mistyped\.py:(\d+): error", text)})
    if not wanted or got != wanted:
        return f"mistyped.py: errors in lines {got} instead of {wanted}\n{text}"
    return ""


def main():
    failures = []
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        for words in (["mypy", "--strict", "-p", "tamis"],
                      ["mypy", "--strict", str(HERE / "typed.py")],
                      ["mypy.stubtest", "tamis"]):
            text, good = call(*words)
            if not good:
                failures.append(f"{' '.join(words)}:\n{text}")
        failures.append(check_mistakes())
        os.chdir("/")
    if not (PACKAGE / "py.typed").exists():
        failures.append("py.typed is not installed")
    failures = [text for text in failures if text]
    print("\n".join(failures) or "the types hold")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
