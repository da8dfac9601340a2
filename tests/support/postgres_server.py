"""A PostgreSQL server of its own, with the extension, for tests and the benchmark.

    with Server() as server:
        with server.connect() as db: ...

The extension is built and installed below the build folder (make install DESTDIR=...), and the
server finds it there by Debian's setting extension_destdir. The server listens on a free port of
the loopback interface and is stopped at the end. It refuses to run as root; then it runs as the user
postgres, whom Debian's package creates. If anything is missing, the script exits with 77."""
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
    """Builds and installs the extension. Only one process does it at a time, and only once."""
    import fcntl
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with open(INSTALLED / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-s", "-C", SOURCE / "sql/postgres", "install", f"DESTDIR={INSTALLED}",
             f"PG_CONFIG={PROGRAMS / 'pg_config'}"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
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


class Server:
    """settings: lines of postgresql.conf."""

    def __init__(self, *settings, encoding="UTF8"):
        install()
        self.room = pathlib.Path(tempfile.mkdtemp(prefix="tamis-pg-"))
        self.data = self.room / "data"
        self.port = free_port()
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.room, user.pw_uid, user.pw_gid)
        try:
            self.run("initdb", "-D", self.data, "-U", "tamis", "-A", "trust", "-N", "-E", encoding,
                     "--locale=C")
            lines = ["listen_addresses = '127.0.0.1'", f"port = {self.port}",
                     f"unix_socket_directories = '{self.room}'", "fsync = off",
                     f"extension_destdir = '{INSTALLED}'", "logging_collector = off",
                     "dynamic_shared_memory_type = posix", "max_parallel_workers = 4", *settings]
            with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
                conf.write("\n".join(lines) + "\n")
            self.start()
        except BaseException:
            self.stop()
            raise

    def run(self, program, *arguments, text=None, check=True):
        """A program of PostgreSQL, as the user of the server. Returns its output."""
        done = subprocess.run(as_server(PROGRAMS / program, *arguments), text=True, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              cwd="/")
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}")
        return done.stdout

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-l", self.room / "log", "-w", "-t", "120", "start")

    def pid(self):
        return int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])

    def kill(self):
        """As a power failure would: every process is gone at once."""
        postmaster = self.pid()
        children = subprocess.run(["pgrep", "-P", str(postmaster)], text=True, check=False,
                                  stdout=subprocess.PIPE).stdout.split()
        for pid in [postmaster, *map(int, children)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for _ in range(1000):
            if not pathlib.Path(f"/proc/{postmaster}").exists():
                break
            time.sleep(0.01)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

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
        self.stop()


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
