"""What the tests of the guard's server share: building a directory, starting a server on a free
port, and sending requests to it."""
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True  # the source tree may be read-only
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()
TAMIS = os.environ.get("TAMIS", str(BUILD / "tamis"))
PATIENCE = 120  # seconds: only what hangs takes so long, whatever the machine does meanwhile


def sha(host):
    """The hash under which a host is listed."""
    return hashlib.sha256(f"{host}/".encode()).hexdigest()


def prefix(host):
    return sha(host)[:8]


def tamis(*words, status=0, text=None):
    done = subprocess.run([TAMIS, *map(str, words)], input=text, capture_output=True, text=True,
                          timeout=PATIENCE)
    if status is not None and done.returncode != status:
        raise AssertionError(f"exit {done.returncode}: {words}: {done.stdout}{done.stderr}")
    return done.stdout


def build(directory, **lists):
    """Publishes lists of hosts by their labels."""
    words = []
    for label, hosts in lists.items():
        path = f"{directory}-{label}.txt"
        pathlib.Path(path).write_text("".join(host + "\n" for host in hosts))
        words.append(f"{label}={path}")
    return tamis("guard", "build", directory, *words)


class Answer:
    def __init__(self, response):
        self.status, self.fields, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, directory, *options, environment=None):
        self.process = subprocess.Popen([TAMIS, "guard", "serve", str(directory), "--port", "0",
                                         *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **(environment or {})))
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening at http://(\S+):(\d+)/\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"no server: {line}{self.process.communicate()[1]}")
        self.host, self.port = found[1].strip("[]"), int(found[2])
        self.metrics_at = (self.host, self.port)
        if "--metrics-address" in options:
            line = self.process.stdout.readline()
            found = re.fullmatch(r"metrics at http://(\S+):(\d+)/metrics\n", line)
            assert found, line
            self.metrics_at = (found[1].strip("[]"), int(found[2]))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
            said = self.process.communicate()[1]
            if kind is not None and said:
                print(said)

    def connect(self, source=None):
        """A connection, from another loopback address if there is a source."""
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE,
                                          source_address=source and (source, 0))

    def ask(self, path, method="GET", on=None, **fields):
        """One request, on a connection of its own unless there is one; _ in a field stands for
        -."""
        connection = on or self.connect()
        connection.request(method, path,
                           headers={name.replace("_", "-"): v for name, v in fields.items()})
        answer = Answer(connection.getresponse())
        if on is None:
            connection.close()
        return answer

    def confirm(self, *prefixes, on=None):
        answer = self.ask("/v1/confirm?" + "&".join("prefix=" + p for p in prefixes), on=on)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()

    def metrics(self):
        """Name (with its labels) to value."""
        connection = http.client.HTTPConnection(*self.metrics_at, timeout=PATIENCE)
        lines = self.ask("/metrics", on=connection).body.decode().split("\n")
        connection.close()
        return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines if line
                and line[0] != "#"}

    def metric(self, name):
        return self.metrics()["tamis_guard_" + name]

    def socket(self):
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def raw(self, *pieces, end=True):
        """Sends bytes as they are; returns all that comes back until the server closes, or b""
        after a reset."""
        with self.socket() as s:
            got = b""
            try:
                for piece in pieces:
                    s.sendall(piece)
                if end:
                    s.shutdown(socket.SHUT_WR)
                while piece := s.recv(65536):
                    got += piece
            except OSError as error:
                if isinstance(error, TimeoutError):
                    raise
            return got

    def hup(self):
        self.process.send_signal(signal.SIGHUP)

    def wait_for(self, true, what):
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                raise AssertionError(f"never happened: {what}")
            time.sleep(0.02)

    def stop(self):
        """As it should be; returns what it said on stderr."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=PATIENCE)[1]
        assert self.process.returncode == 0, (self.process.returncode, said)
        return said


def main(tests, room):
    """Runs the tests, each in a directory of its own; those whose name contains an argument."""
    passed = failed = 0
    for test in tests:
        if len(sys.argv) > 1 and not any(word in test.__name__ for word in sys.argv[1:]):
            continue
        place = pathlib.Path(room, test.__name__)
        place.mkdir()
        try:
            test(place)
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0
