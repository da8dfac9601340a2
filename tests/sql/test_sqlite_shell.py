"""The SQLite extension in other programs than Python: the shell sqlite3, from the build folder and
as installed, and better-sqlite3 from npm.

better-sqlite3 13 requires Node 22, which Debian 12 does not have, so npm installs both
(tests/sql/npm), into the build folder."""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import (BUILD, EXTENSION, PATIENCE, SOURCE, main,  # noqa: E402
                           sanitizer, shell)

ROWS = "WITH t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 1000) "


def sqlite(*lines, env=(), status=0):
    """Runs the shell with these lines as input; returns what it prints, errors included."""
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(lines) + "\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=PATIENCE, check=False,
                          env={**os.environ, **sanitizer(), **dict(env)})
    assert (done.returncode != 0) == (status != 0), (lines, done.stdout)
    return done.stdout


def test_shell():
    load = f".load {EXTENSION}"
    assert sqlite(load, "SELECT tamis_version();") == "1.0.0\n"
    assert sqlite(f".load {str(EXTENSION)[:-3]}", "SELECT tamis_version();") == "1.0.0\n"
    # Both entry points, by name.
    for name in ("sqlite3_tamissqlite_init", "sqlite3_extension_init"):
        assert sqlite(f".load {EXTENSION} {name}", "SELECT tamis_version();") == "1.0.0\n"
    assert sqlite(f"SELECT load_extension('{EXTENSION}');", "SELECT tamis_version();") \
        == "\n1.0.0\n"
    assert sqlite(load, ROWS + "SELECT approx_count_distinct(x) FROM t;") == "1000\n"
    text = sqlite(load, "SELECT tamis_contains('a', 1);", status=1)
    assert "tamis_contains: a filter or sketch is a BLOB" in text, text
    # A filter of a table as a parameter, which is opened once for the statement.
    assert sqlite(load, "CREATE TABLE f AS " + ROWS + "SELECT tamis_filter_agg(x, 1000, 0.01) AS f"
                  " FROM t;", ".parameter init",
                  "INSERT INTO temp.sqlite_parameters SELECT ':f', f FROM f;",
                  ROWS + "SELECT sum(tamis_contains(:f, x)) FROM t;") == "1000\n"
    with tempfile.TemporaryDirectory() as room:
        path = f"{room}/f.tamis"
        sqlite(load, ROWS + f"SELECT tamis_save(tamis_filter_agg(x, 1000, 0.01), '{path}') "
                            "FROM t;")
        assert shell("check", path, text=b"77\nx7\n") == b"77\n"
        assert sqlite(load, f"SELECT tamis_contains(tamis_file('{path}'), 77);") == "1\n"


def test_warning():
    """A filter that holds more than planned, but not by far, is made with a warning in the log."""
    lines = (f".load {EXTENSION}", ".log stdout",
             ROWS + "SELECT length(tamis_filter_agg(x, 950, 0.01)) > 0 FROM t;")
    text = sqlite(*lines)
    assert "tamis_filter_agg: the filter has more items than planned" in text, text
    assert text.endswith("\n1\n"), text
    text = sqlite(*lines[:2], lines[2].replace("950", "1000"))
    assert text == "1\n", text


def test_installed():
    """`cmake --install` puts it where the dynamic linker finds it by its name, and it is
    self-contained."""
    with tempfile.TemporaryDirectory() as room:
        subprocess.run(["cmake", "--install", BUILD, "--prefix", room, "--component", "sqlite"],
                       check=True, capture_output=True, timeout=PATIENCE)
        files = [path for path in pathlib.Path(room).rglob("*") if path.is_file()]
        assert [path.name for path in files] == ["tamis_sqlite.so"], files
        env = {"LD_LIBRARY_PATH": str(files[0].parent)}
        assert sqlite(".load tamis_sqlite", "SELECT tamis_version();", env=env) == "1.0.0\n"
        needed = subprocess.run(["readelf", "-d", files[0]], check=True, capture_output=True,
                                text=True).stdout
        libraries = {line.split("[")[1].split(".so")[0] for line in needed.splitlines()
                     if "(NEEDED)" in line}
        assert libraries <= {"libc", "libm", "libpthread", "libasan", "libubsan"}, libraries
        exported = subprocess.run(["nm", "-D", "--defined-only", files[0]], check=True,
                                  capture_output=True, text=True).stdout.split("\n")[:-1]
        assert sorted(line.split()[-1] for line in exported) == \
            ["sqlite3_extension_init", "sqlite3_tamissqlite_init"], exported


def packages():
    """The folder with better-sqlite3 and Node, or None without npm. A build with sanitizers, in a
    folder of the release build, uses what is installed there."""
    if not shutil.which("npm") or not shutil.which("node"):
        return None
    wanted = (SOURCE / "tests/sql/npm/package-lock.json").read_bytes()
    for room in (BUILD.parent / "sql/npm", BUILD / "sql/npm"):
        if (room / "installed").exists() and (room / "installed").read_bytes() == wanted:
            return room
    room.mkdir(parents=True, exist_ok=True)
    with open(room / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another build may install at the same time
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / "tests/sql/npm" / name, room)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                               "--loglevel=error"], cwd=room, capture_output=True, text=True,
                              timeout=5 * PATIENCE, check=False)
        assert done.returncode == 0, f"npm cannot install: {done.stdout}{done.stderr}"
        (room / "installed").write_bytes(wanted)
    return room


def test_better_sqlite3():
    room = packages()
    if room is None:
        print("npm or node is missing")
        sys.exit(77)
    node = next(iter(room.glob("node_modules/node-linux-*/bin/node")), "node")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([node, SOURCE / "tests/sql/npm/better.mjs", EXTENSION, room, folder],
                              capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env={**os.environ, **sanitizer()})
    assert done.returncode == 0 and "all calls" in done.stdout, f"{done.stdout}{done.stderr}"
    print(done.stdout.splitlines()[0])


if __name__ == "__main__":
    main([test_shell, test_warning, test_installed, test_better_sqlite3])
