"""A PostgreSQL server of its own, with the extension, for tests and the benchmark.

    with Server() as server:
        with contextlib.closing(server.connect()) as db: ...

The extension is built and installed below the build folder (make install DESTDIR=...), and the
server finds a copy of it by Debian's setting extension_destdir. The server listens on a free port
of the loopback interface and is stopped at the end; if one of its processes crashed meanwhile, that
is an error. It refuses to run as root; then it runs as the user postgres, whom Debian's package
creates. If anything is missing, the script exits with 77.

A script of tests calls main(tests). Each test gets the server and a connection to a database of its
own, which has the extension."""
import contextlib
import fcntl
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE")
                      or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD") or SOURCE / "build")
PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
INSTALLED = BUILD / "sql/postgres"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


try:
    import psycopg2
except ImportError:
    skip("python3-psycopg2 is missing")
if not (PROGRAMS / "initdb").exists():
    skip("postgresql-15 is missing")
if not (PROGRAMS / "pg_config").exists():
    skip("postgresql-server-dev-15 is missing")


def install():
    """Builds and installs the extension, if that was not done yet."""
    done = subprocess.run(["sh", SOURCE / "tools/postgres_extension.sh", INSTALLED], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"make install failed:\n{done.stdout}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def as_server(*command):
    """The command as the user who may run a server."""
    words = [str(word) for word in command]
    return ["runuser", "-u", "postgres", "--", *words] if os.getuid() == 0 else words


def status_of(pid, field):
    """A number of /proc/PID/status, for example VmRSS, which is in KiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise KeyError(field)


class Server:
    """settings: lines of postgresql.conf. most_memory: what each process may have, in bytes."""

    def __init__(self, *settings, encoding="UTF8", most_memory=None):
        install()
        self.killed = False
        self.most_memory = most_memory
        self.room = pathlib.Path(tempfile.mkdtemp(prefix="tamis-pg-"))
        self.data = self.room / "data"
        self.port = free_port()
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.room, user.pw_uid, user.pw_gid)
        # A copy, because the user of the server may not be allowed to read the build folder.
        self.extension = self.room / "extension"
        shutil.copytree(INSTALLED, self.extension)
        try:
            self.run("initdb", "-D", self.data, "-U", "tamis", "-A", "trust", "-N", "-E", encoding,
                     "--locale=C")
            lines = ["listen_addresses = '127.0.0.1'", f"port = {self.port}",
                     f"unix_socket_directories = '{self.room}'", "fsync = off",
                     f"extension_destdir = '{self.extension}'", "logging_collector = off",
                     "dynamic_shared_memory_type = posix", "max_parallel_workers = 4", *settings]
            with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
                conf.write("\n".join(lines) + "\n")
            self.start()
        except BaseException:
            self.stop()
            raise

    def run(self, program, *arguments, text=None, check=True):
        """A program of PostgreSQL, as the user of the server. Returns its output."""
        command = [PROGRAMS / program, *arguments]
        if self.most_memory is not None:
            command = ["sh", "-c", f'ulimit -v {self.most_memory // 1024} && exec "$@"', "sh",
                       *command]
        done = subprocess.run(as_server(*command), text=True, input=text, cwd="/", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}")
        return done.stdout

    def start(self):
        try:
            self.run("pg_ctl", "-D", self.data, "-l", self.room / "log", "-w", "-t", "120", "start")
        except RuntimeError as failure:
            raise RuntimeError(f"{failure}\n{self.log()[-2000:]}") from None

    def pid(self):
        return int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])

    def children(self):
        """The processes of the server."""
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parents[int(folder.name)] = status_of(folder.name, "PPid")
            except (FileNotFoundError, ProcessLookupError, KeyError):
                pass  # it has ended
        postmaster = self.pid()
        return [pid for pid, parent in parents.items() if parent == postmaster]

    def kill(self):
        """As a power failure would: every process is gone at once."""
        self.killed = True
        postmaster = self.pid()
        os.kill(postmaster, signal.SIGSTOP)  # so that it starts no other process
        every = [postmaster, *self.children()]
        for pid in every:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(is_alive(pid) for pid in every))
        # Where nobody waits for orphans, their numbers still seem to be in use.
        for path in (self.data / "postmaster.pid", *self.room.glob(".s.PGSQL.*")):
            path.unlink(missing_ok=True)

    def crashes(self):
        """The lines of the log about processes that crashed."""
        signs = ("terminated by signal", "PANIC:", "TRAP:", "server process was terminated")
        return [line for line in self.log().splitlines() if any(sign in line for sign in signs)]

    def log(self):
        return (self.room / "log").read_text(encoding="utf-8", errors="replace")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(self.room, ignore_errors=True)

    def address(self, database="postgres"):
        return f"host=127.0.0.1 port={self.port} user=tamis dbname={database}"

    def connect(self, database="postgres"):
        """A connection that commits each statement."""
        db = psycopg2.connect(self.address(database))
        db.autocommit = True
        return db

    def psql(self, script, database="postgres", *arguments):
        return self.run("psql", "-X", "-v", "ON_ERROR_STOP=1", *arguments, "-d",
                        self.address(database), text=script)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        crashes = self.crashes()
        self.stop()
        if crashes and not self.killed:
            raise AssertionError("a process of the server crashed:\n" + "\n".join(crashes))


def is_alive(pid):
    """Whether the process runs: one that has ended may still wait for its parent."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, seconds=60):
    """Waits until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{condition} did not come true in {seconds} s")
        time.sleep(0.01)


def ask(db, query, *parameters):
    """The rows of a query."""
    with db.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return cursor.fetchall() if cursor.description else []


def value(db, query, *parameters):
    """The only value of a query."""
    rows = ask(db, query, *parameters)
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return rows[0][0]


def error(db, query, *parameters):
    """The message of a query that must fail, with its SQLSTATE."""
    try:
        rows = ask(db, query, *parameters)
    except psycopg2.Error as failure:
        return f"{failure.pgcode}: {failure.diag.message_primary}"
    raise AssertionError(f"{query} did not fail, but returned {rows}")


TEMPLATE = "with_tamis"


def make_template(server):
    """A database with the extension, from which others are made."""
    with contextlib.closing(server.connect()) as db:
        ask(db, f"CREATE DATABASE {TEMPLATE}")
    with contextlib.closing(server.connect(TEMPLATE)) as db:
        ask(db, "CREATE EXTENSION tamis")


def new_database(server, name):
    """A connection to a new database that has the extension."""
    with contextlib.closing(server.connect()) as db:
        ask(db, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    return server.connect(name)


def main(tests, *settings):
    """Runs test functions, or those whose names contain a word of the command line. Each is called
    with the server and a connection to a database of its own."""
    failed = 0
    chosen = [test for test in tests
              if not sys.argv[1:] or any(word in test.__name__ for word in sys.argv[1:])]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which stops the server
    with Server("jit = off", *settings) as server:  # compiling takes longer than the queries
        make_template(server)
        for test in chosen:
            start = time.monotonic()
            try:
                with contextlib.closing(new_database(server, test.__name__)) as db:
                    test(server, db)
                assert server.killed or not server.crashes(), server.crashes()
                print(f"ok {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception:  # noqa: BLE001
                traceback.print_exc()
                print(f"FAILED {test.__name__}", flush=True)
                failed += 1
    sys.exit(failed != 0)
