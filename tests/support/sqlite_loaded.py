"""What the tests of the SQLite extension share: connections that have loaded it, golden images, and
the command `tamis`.

Python itself is not instrumented. If the extension has the address sanitizer, a test starts itself
again with the sanitizer's library loaded first, and SANITIZED is true."""
import ctypes
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree may be read-only
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()
EXTENSION = BUILD / "sql/tamis_sqlite.so"
TAMIS = os.environ.get("TAMIS", str(BUILD / "tamis"))
GOLDEN = SOURCE / "tests/golden"
PATIENCE = 120  # seconds: only what hangs takes so long, whatever the machine does meanwhile
SANITIZED = b"__asan_init" in EXTENSION.read_bytes()


def sanitizer():
    """The environment in which a program can load the extension."""
    if not SANITIZED:
        return {}
    libraries = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True,
                                text=True, check=True).stdout.strip()
                 for name in ("libasan.so", "libstdc++.so.6")]
    return {"LD_PRELOAD": " ".join(libraries), "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"}


def connect(path=":memory:", **options):
    db = sqlite3.connect(path, isolation_level=None, **options)
    db.enable_load_extension(True)
    db.load_extension(str(EXTENSION))
    db.enable_load_extension(False)
    return db


def one(db, sql, *arguments):
    """The row of a query, or its value if it has one column."""
    rows = db.execute(sql, arguments).fetchall()
    assert len(rows) == 1, (sql, rows)
    return rows[0] if len(rows[0]) > 1 else rows[0][0]


def error(db, sql, *arguments):
    """The text of the error with which a statement fails."""
    try:
        rows = db.execute(sql, arguments).fetchall()
    except (sqlite3.Error, MemoryError) as failure:
        return str(failure) if isinstance(failure, sqlite3.Error) else "out of memory"
    raise AssertionError(f"{sql} did not fail: {str(rows)[:200]}")


def table(db, name, values):
    """Makes a table of one column, x, without a type."""
    db.execute(f"CREATE TABLE {name} (x)")
    db.execute("BEGIN")
    db.executemany(f"INSERT INTO {name} VALUES (?)", ((value,) for value in values))
    db.execute("COMMIT")


def shell(*words, text=b"", status=0):
    """Runs the command and returns what it prints."""
    done = subprocess.run([TAMIS, *map(str, words)], input=text, capture_output=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout


def golden_parts(name):
    """The lines of each image in a text file of tests/golden, as lists of words, with its secret
    key or None."""
    found, current = {}, None
    for line in (GOLDEN / name).read_text().splitlines():
        words = line.split(" ")
        if words[0] == "image":
            key = bytes.fromhex(words[2]) if len(words) > 2 else None
            current = found.setdefault(words[1], (key, []))[1]
        else:
            current.append(words)
    return found


class Memory:
    """What SQLite has allocated in this process, in bytes."""

    def __init__(self):
        self.library = ctypes.CDLL("libsqlite3.so.0")
        for name in ("sqlite3_memory_used", "sqlite3_memory_highwater",
                     "sqlite3_hard_heap_limit64"):
            getattr(self.library, name).restype = ctypes.c_int64
        self.library.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]

    def used(self):
        return self.library.sqlite3_memory_used()

    def peak(self, reset=False):
        return self.library.sqlite3_memory_highwater(int(reset))

    def limit(self, size):
        """0: none."""
        self.library.sqlite3_hard_heap_limit64(size)


def main(tests):
    """Runs the test functions, or those whose names contain a word of the command line."""
    if SANITIZED and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, **sanitizer()))
    failed = 0
    chosen = sys.argv[1:]
    for test in tests:
        if chosen and not any(word in test.__name__ for word in chosen):
            continue
        try:
            test()
            print(f"ok {test.__name__}", flush=True)
        except Exception:  # noqa: BLE001
            import traceback
            traceback.print_exc()
            print(f"FAILED {test.__name__}", flush=True)
            failed += 1
    sys.exit(failed != 0)
