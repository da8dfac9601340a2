"""The units of guard/systemd: systemd reads them, they are as closed as they claim, their commands
work and need nothing that the units forbid; and a socket that systemd passes to the server. No
running systemd is needed."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import PATIENCE, SOURCE, TAMIS, build, main  # noqa: E402
from list_server import Lists, answer  # noqa: E402

UNITS = SOURCE / "guard" / "systemd"
SERVICES = ["tamis-guard", "tamis-guard-fetch", "tamis-guard-build"]
# What systemd-analyze calls exposure, from 0 to 100. Downloading needs the network.
MOST_EXPOSED = {"tamis-guard": 8, "tamis-guard-fetch": 16, "tamis-guard-build": 8}
HOSTS = [f"evil{i}.example" for i in range(50)]


def settings(name):
    """The lines of a unit: key to values."""
    found = {}
    for line in (UNITS / name).read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def analyze(*words):
    return subprocess.run(["systemd-analyze", "--no-pager", *map(str, words)], capture_output=True,
                          text=True, timeout=PATIENCE)


# --- The units ------------------------------------------------------------------------------------

def test_verify(room):
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("/usr/bin/tamis", TAMIS)
        (room / unit.name).write_text(text)
    done = analyze("verify", "--man=no", *sorted(room.iterdir()))
    assert done.returncode == 0 and done.stderr == "", done
    # The drop-in of docs/GUARD.md names directories that the options there need.
    manual = (SOURCE / "docs" / "GUARD.md").read_text()
    drop_in = re.search(r"```ini\n(\[Service\]\n.*?)```", manual, re.S)[1]
    places = {"LogsDirectory": "--access-log /var/log/", "StateDirectory": "--state /var/lib/"}
    for key, option in places.items():
        assert option + re.search(rf"^{key}=(.*)$", drop_in, re.M)[1] + "/" in manual, key
    extra = room / "tamis-guard.service.d" / "override.conf"
    extra.parent.mkdir()
    for text, good in (drop_in, True), (drop_in.replace("=tamis", "=/tamis"), False):
        extra.write_text(text)
        done = analyze("verify", "--man=no", room / "tamis-guard.service")
        assert (done.stderr == "") == good, (text, done)
    shutil.rmtree(extra.parent)
    socket_in = re.search(r"```ini\n(\[Socket\]\n.*?)```", manual, re.S)[1]
    extra = room / "tamis-guard.socket.d" / "override.conf"
    extra.parent.mkdir()
    for text, good in (socket_in, True), (socket_in.replace("=/run", "=run"), False):
        extra.write_text(text)
        done = analyze("verify", "--man=no", room / "tamis-guard.socket")
        assert (done.stderr == "") == good, (text, done)
    shutil.rmtree(extra.parent)
    broken = room / "tamis-guard.service"
    broken.write_text(broken.read_text().replace("ProtectHome=yes", "ProtectHome=maybe"))
    assert analyze("verify", "--man=no", broken).stderr != "", "verify finds nothing"


def test_exposure(room):
    for name in SERVICES:
        unit = UNITS / f"{name}.service"
        done = analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSED[name]}", unit)
        assert done.returncode == 0, done.stdout
        bare = room / unit.name
        bare.write_text("[Service]\nExecStart=/usr/bin/tamis\n")
        assert analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSED[name]}",
                       bare).returncode != 0, "everything is closed enough"


def test_links(_):
    """What the units say about each other."""
    fetch, server = settings("tamis-guard-fetch.service"), settings("tamis-guard.service")
    assert fetch["OnSuccess"] == fetch["OnFailure"] == ["tamis-guard-build.service"]
    assert server["Requires"] == server["Also"] == ["tamis-guard.socket"]
    # Without a version the server ends, and is started again until there is one.
    assert server["StartLimitIntervalSec"] == ["0"] and server["Restart"] == ["on-failure"]
    assert server["ReadOnlyPaths"] == ["/var/lib/private/tamis-guard"]
    assert settings("tamis-guard.socket")["ListenStream"] == ["127.0.0.1:8080"]
    for name in SERVICES:
        unit = settings(f"{name}.service")
        assert unit["StateDirectory"] == unit["User"] == ["tamis-guard"], name
        assert unit["DynamicUser"] == unit["NoNewPrivileges"] == ["yes"], name


# --- Their commands -------------------------------------------------------------------------------

def command(name, room):
    """The command of a service, with directories of the test."""
    line, = settings(f"{name}.service")["ExecStart"]
    line = re.sub(r" \$\w+", "", line).replace("/var/lib/tamis-guard", str(room / "state"))
    words = shlex.split(line.replace("%d", str(room)))
    assert words[0] == "/usr/bin/tamis", line
    return [TAMIS, *words[1:]]


def allowed_calls(unit):
    """The system calls that the filter of a unit allows, by name."""
    sets, name = {}, None
    for line in analyze("syscall-filter").stdout.splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if line.startswith("@"):
            name = line.strip()
        elif line.startswith(" ") and name and not line.strip().startswith("#"):
            sets.setdefault(name, set()).add(line.strip())

    def members(word):
        if not word.startswith("@"):
            return {word}
        return set().union(*(members(inner) for inner in sets[word]))
    first, *others = unit["SystemCallFilter"]
    calls = members(first)
    for other in others:
        words = set().union(*(members(word) for word in other.lstrip("~").split()))
        calls = calls - words if other.startswith("~") else calls | words
    return calls | members("@default")


def check_trace(path, name, room):
    """What the command asked of the system is what its unit permits."""
    unit, text = settings(f"{name}.service"), path.read_text(errors="replace")
    calls = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)[( ]", text, re.M))
    assert len(calls) > 20 and "execve" in calls, calls
    forbidden = calls - allowed_calls(unit)
    # The number of open files may stay as it is, and threads may share their processor.
    assert forbidden <= {"sched_setaffinity", "setrlimit"}, (name, forbidden)
    families = set(unit["RestrictAddressFamilies"][0].split())
    made = set(re.findall(r" socket\((AF_\w+)", text))
    assert made <= families, (name, made)
    assert "PROT_WRITE|PROT_EXEC" not in text  # MemoryDenyWriteExecute=
    assert not re.search(r" mprotect\([^)]*PROT_EXEC", text), name
    written = re.findall(r' open(?:at)?\([^"]*"([^"]*)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT)', text)
    # Relative ones are in a directory that the command has opened by its absolute path.
    places = ("/dev/", "/proc/self/") + (() if "ReadOnlyPaths" in unit else (str(room / "state"),))
    assert all(w.startswith(places) for w in written if w.startswith("/")), (name, written)
    assert "ReadOnlyPaths" not in unit or not re.search(r" (rename|unlink|mkdir)", text), name


def traced(name, room):
    return ["strace", "-f", "-qq", "-s", "500", "-o", str(room / f"{name}.trace"),
            *command(name, room)]


def test_commands(room):
    """Fetch, build and serve, as the units do it, in turn."""
    sanitized = "-fsanitize" in os.environ.get("TEST_CFLAGS", "")  # makes calls of its own
    how = command if sanitized else traced
    (room / "state").mkdir()
    with Lists() as lists:
        lists.answers["/bad"] = answer(200, "".join(h + "\n" for h in HOSTS).encode())
        (room / "sources").write_text(f"malware http://localhost:{lists.port}/bad\n")
        for name in ("tamis-guard-fetch", "tamis-guard-build"):
            done = subprocess.run(how(name, room), capture_output=True, text=True, timeout=PATIENCE,
                                  env=dict(os.environ, no_proxy="localhost"))
            assert done.returncode == 0, (name, done)
    with Passed() as passed:
        process = passed.start(how("tamis-guard", room), quiet=True)
        assert "ok" in passed.ask("/healthz")
        if sanitized:
            stop(process)
        else:  # strace waits for the server, whose number comes first
            os.kill(int((room / "tamis-guard.trace").read_text().split()[0]), signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
    if not sanitized:
        for name in SERVICES:
            check_trace(room / f"{name}.trace", name, room)


# --- The socket -----------------------------------------------------------------------------------

class Passed:
    """A listening socket that outlives the servers that it is passed to."""

    def __init__(self, family=socket.AF_INET, address="127.0.0.1", listens=True,
                 kind=socket.SOCK_STREAM):
        self.socket = socket.socket(family, kind)
        self.socket.bind((address, 0) if family != socket.AF_UNIX else address)
        if listens:
            self.socket.listen(511)
        self.address = self.socket.getsockname()[:2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def start(self, words, quiet=False, number="1", pid="$$", notify=None):
        """Starts a server; waits for its address, which it returns, unless it is quiet."""
        def place():
            os.dup2(self.socket.fileno(), 3)
            os.set_inheritable(3, True)
        environment = dict(os.environ, LISTEN_FDS=number)
        if notify:
            environment["NOTIFY_SOCKET"] = notify
        line = f'LISTEN_PID={pid} exec "$@"'
        if words[0] == "strace":  # the number of the process that it starts
            at = words.index(TAMIS)
            words = [*words[:at], "sh", "-c", line, "sh", *words[at:]]
            line = 'exec "$@"'
        process = subprocess.Popen(["sh", "-c", line, "sh", *map(str, words)], preexec_fn=place,
                                   close_fds=False, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        if not quiet:
            process.line = process.stdout.readline()
        return process

    def connect(self):
        return socket.create_connection(self.address, timeout=PATIENCE)

    def send(self, connection, path):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                           .encode())

    def receive(self, connection):
        got = b""
        while piece := connection.recv(65536):
            got += piece
        return got.decode()

    def ask(self, path):
        with self.connect() as connection:
            self.send(connection, path)
            return self.receive(connection)


def serve(directory, *options):
    return [TAMIS, "guard", "serve", str(directory), *options]


def stop(process, how=signal.SIGTERM):
    process.send_signal(how)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == (0 if how == signal.SIGTERM else -how), (process.returncode, said)
    return said


def ask_by_path(path, client):
    """Asks at a Unix socket, as the proxy of this client."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(path)
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           f"X-Forwarded-For: {client}\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_socket(room):
    build(room / "d", malware=HOSTS)
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with Passed(family, address) as passed:
            process = passed.start(serve(room / "d", "--threads", "3"))
            shown = f"[{address}]" if ":" in address else address
            assert process.line == f"listening at http://{shown}:{passed.address[1]}/\n", \
                process.line
            # No thread waits for a connection that another has taken.
            assert not os.get_blocking(passed.socket.fileno())
            for _ in range(30):
                assert passed.ask("/healthz").startswith("HTTP/1.1 200")
            assert stop(process) == ""


def test_unix_socket(room):
    """A Unix socket for a proxy on the same machine, also with the longest path. Only the proxy
    says who the client is. The socket belongs to systemd, so it stays."""
    build(room / "d", malware=HOSTS)
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for name in ("guard.sock", "x" * (107 - len(place) - 1)):
            path = f"{place}/{name}"
            with Passed(socket.AF_UNIX, path) as passed:
                for _ in range(2):
                    process = passed.start(serve(room / "d", "--trust-proxy", "unix",
                                                 "--per-address", "1", "--rate-limit", "3"))
                    assert process.line == f"listening at unix:{path}\n", process.line
                    for client in range(30):
                        said = ask_by_path(path, f"192.0.2.{client}")
                        assert said.startswith("HTTP/1.1 200"), said
                    limited = [ask_by_path(path, "198.51.100.1")[9:12] for _ in range(30)]
                    assert "429" in limited and limited[0] == "200", limited
                    assert stop(process) == ""
                    assert os.path.exists(path)


def test_no_version(room):
    """Without a version the server fails, so that systemd starts it again. A connection that it did
    not take is served as soon as there is a version."""
    with Passed() as passed, passed.connect() as waiting:
        passed.send(waiting, "/healthz")
        process = passed.start(serve(room / "d"), quiet=True)
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 2 and "no list has been published" in said, said
        build(room / "d", malware=HOSTS)
        process = passed.start(serve(room / "d"))
        assert passed.receive(waiting).startswith("HTTP/1.1 200")
        stop(process)


def test_restart(room):
    """Connections that come while there is no server are served by the next one."""
    build(room / "d", malware=HOSTS)
    with Passed() as passed:
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            process = passed.start(serve(room / "d"))
            assert passed.ask("/healthz").startswith("HTTP/1.1 200")
            stop(process, how)
            waiting = [passed.connect() for _ in range(20)]
            for connection in waiting[:10]:
                passed.send(connection, "/healthz")
            process = passed.start(serve(room / "d"))
            for connection in waiting[10:]:
                passed.send(connection, "/healthz")
            for connection in waiting:
                assert passed.receive(connection).startswith("HTTP/1.1 200"), how
                connection.close()
            stop(process)


def test_restart_while_asked(room):
    """A server that is stopped answers what it has accepted, and leaves the rest to the next."""
    build(room / "d", malware=HOSTS)
    with Passed() as passed:
        over, lost, answered = threading.Event(), [], [0]

        def ask():
            while not over.is_set():
                try:
                    got = passed.ask("/v1/update")
                except OSError as error:
                    got = repr(error)
                if got.startswith("HTTP/1.1 200"):
                    answered[0] += 1
                else:
                    lost.append(got)
        process = passed.start(serve(room / "d"))
        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        for _ in range(10):
            time.sleep(0.1)
            stop(process)
            process = passed.start(serve(room / "d"))
        before = answered[0]
        end = time.monotonic() + PATIENCE
        while answered[0] == before and time.monotonic() < end:
            time.sleep(0.01)
        over.set()
        for client in clients:
            client.join()
        stop(process)
        assert not lost and answered[0] > before, (len(lost), lost[:3], answered)


def test_wrong_sockets(room):
    build(room / "d", malware=HOSTS)
    not_one = "the socket that was passed is not a listening stream socket with an IP address or a"
    for how, options, number, reason in (
            ({"listens": False}, [], "1", not_one),
            ({"kind": socket.SOCK_DGRAM, "listens": False}, [], "1", not_one),
            ({"family": socket.AF_UNIX, "address": str(room / "unix"), "listens": False}, [], "1",
             not_one),
            ({"family": socket.AF_UNIX, "address": f"\0tamis-test-{os.getpid()}"}, [], "1",
             not_one),
            ({}, [], "2", "'2' sockets were passed, but the server has one"),
            ({}, [], "0", "'0' sockets were passed"), ({}, [], "x", "'x' sockets were passed"),
            ({}, ["--port", "8080"], "1", "not --address and --port"),
            ({}, ["--address", "127.0.0.1"], "1", "not --address and --port")):
        with Passed(**how) as passed:
            process = passed.start(serve(room / "d", *options), quiet=True, number=number)
            said = process.communicate(timeout=PATIENCE)[1]
            assert process.returncode == 2 and reason in said, (how, options, number, said)
    with Passed() as passed:  # it is meant for another process
        process = passed.start(serve(room / "d", "--port", "0"), pid="1")
        assert str(passed.address[1]) not in process.line and "listening" in process.line
        stop(process)


def test_notify(room):
    """systemd learns when the server is ready, and not before."""
    build(room / "d", malware=HOSTS)
    for path in (str(room / "notify"), f"@tamis-test-{os.getpid()}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told, Passed() as passed:
            told.bind(path.replace("@", "\0"))
            told.settimeout(PATIENCE)
            process = passed.start(serve(room / "d"), notify=path)
            assert told.recv(100) == b"READY=1", path
            stop(process)
            process = passed.start(serve(room / "nothing"), quiet=True, notify=path)
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 2
            told.settimeout(0.01)
            try:
                raise AssertionError(told.recv(100))
            except TimeoutError:
                pass
    for path in ("/nowhere/at-all", "x" * 200, ""):  # nobody listens there
        with Passed() as passed:
            process = passed.start(serve(room / "d"), notify=path)
            assert passed.ask("/healthz").startswith("HTTP/1.1 200")
            stop(process)


for tool in ("systemd-analyze", "strace"):
    if not shutil.which(tool):
        print(f"{tool} is not installed")
        sys.exit(77)
TESTS = [value for name, value in list(globals().items()) if name.startswith("test_")]
with tempfile.TemporaryDirectory() as scratch:
    status = main(TESTS, pathlib.Path(scratch).resolve())
sys.exit(status)
