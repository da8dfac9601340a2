"""What the tests of the Redis module share: servers on free loopback ports in directories of their
own, a small client that speaks RESP2 and RESP3, and the objects of RedisBloom
(tests/redis/redisbloom.vectors)."""
import atexit
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree may be read-only
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()
MODULE = BUILD / "tamis-redis.so"
TAMIS = os.environ.get("TAMIS", str(BUILD / "tamis"))
PATIENCE = 120  # seconds: only what hangs takes so long, whatever the machine does meanwhile
WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


class Error(Exception):
    """An error reply; equal to its text and to another with that text."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __eq__(self, other):
        return self.text == (other.text if isinstance(other, Error) else other)

    __hash__ = None

    def __repr__(self):
        return f"Error({self.text!r})"


def encode(words):
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class Client:
    """call() returns the reply, errors included as Error; text() also decodes bytes. do() raises
    errors."""

    def __init__(self, port, resp=2):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        if resp == 3:
            self.call("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(encode(words))

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has hung up")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_" or rest == b"-1":
            return None
        if kind in (b"$", b"="):
            data = self.file.read(int(rest) + 2)
            return data[:-2]
        if kind in (b"*", b"~", b">"):
            return [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {plain(self.read()): self.read() for _ in range(int(rest))}
        raise AssertionError(f"not RESP: {line!r}")

    def call(self, *words):
        self.send(*words)
        return self.read()

    def text(self, *words):
        return plain(self.call(*words))

    def do(self, *words):
        reply = self.call(*words)
        if isinstance(reply, Error):
            raise AssertionError(f"{words!r}: {reply.text}")
        return reply

    def pipeline(self, commands):
        self.socket.sendall(b"".join(map(encode, commands)))
        return [self.read() for _ in commands]


def plain(reply):
    """Bytes as text, as far as they are."""
    if isinstance(reply, bytes):
        try:
            return reply.decode()
        except UnicodeDecodeError:
            return reply
    if isinstance(reply, list):
        return [plain(x) for x in reply]
    if isinstance(reply, dict):
        return {plain(k): plain(v) for k, v in reply.items()}
    return reply


def free_port():
    """One whose cluster bus, 10000 above, is free as well."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            try:
                if port + 10000 < 65536:
                    two.bind(("127.0.0.1", port + 10000))
                    return port
            except OSError:
                pass


def sanitizer():
    """The runtime to preload when the module was built with it."""
    if b"__asan_init" not in MODULE.read_bytes():
        return {}
    path = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True,
                          check=True).stdout
    return {"LD_PRELOAD": path.strip(),
            "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"}


class Server:
    """For a start from a configuration file, set `file` to (path,) before restart()."""

    def __init__(self, *options, module=True, arguments=(), preexec=None):
        self.options, self.module, self.arguments = options, module, arguments
        self.preexec, self.file = preexec, ()
        self.room = tempfile.mkdtemp(prefix="tamis-redis-")
        self.process = None
        atexit.register(self.close)  # also for servers that no `with` closes
        self.start()

    def start(self):
        for _ in range(5):  # another may have taken the port meanwhile
            self.port = free_port()
            words = ["redis-server", *self.file, "--port", self.port, "--bind", "127.0.0.1",
                     "--dir", self.room, "--save", "",
                     "--enable-debug-command", "yes", "--logfile", f"{self.room}/log",
                     *self.options]
            if self.module:
                words += ["--loadmodule", MODULE, *self.arguments]
            self.process = subprocess.Popen([str(word) for word in words],
                                            stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE,
                                            env=dict(os.environ, **sanitizer()),
                                            preexec_fn=self.preexec)
            if self.answers():
                return
            if "ddress already in use" not in self.log():
                break
        raise AssertionError(f"no server: {self.log()[-3000:]}{self.process.stderr.read()[-3000:]}")

    def answers(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                client = Client(self.port)
                reply = client.call("PING")
                client.close()
                if reply == "PONG":
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def alive(self):
        return self.process.poll() is None

    def client(self, resp=2):
        return Client(self.port, resp)

    def log(self):
        path = pathlib.Path(self.room, "log")
        return path.read_text(errors="replace") if path.exists() else ""

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        if not self.process.stderr.closed:  # else it was stopped before
            self.said = self.process.communicate()[1].decode(errors="replace")

    def restart(self):
        """With what is on disk."""
        self.stop()
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop()
        if kind is not None:
            print("\n".join(self.log().splitlines()[-40:])[-4000:], self.said[-4000:])
        self.close()

    def close(self):
        atexit.unregister(self.close)
        if self.process is not None:
            self.stop()
        shutil.rmtree(self.room, ignore_errors=True)


def used_memory(client):
    info = client.text("INFO", "memory")
    return int([line for line in info.splitlines()
                if line.startswith("used_memory:")][0].split(":")[1])


def wait_for(what, reason):
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, reason
        time.sleep(0.02)


class Object:
    def __init__(self, name):
        self.name, self.runs, self.asks, self.chunks, self.dump = name, [], [], [], None


def payload_of(dump):
    """What a module wrote into the reply to DUMP. The ten bytes behind it are the server's: the
    version of its format, and a sum."""
    return dump[:-10]


def same_text(one, other):
    """Whether two replies agree. Servers since Redis 7.2 write 0.9 as that, older ones as
    0.90000000000000002."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_text, one, other))
    if type(one) is str and type(other) is str and "." in one + other:
        try:
            return float(one) == float(other)
        except ValueError:
            pass
    return type(one) is type(other) and one == other


def vectors(file="redisbloom"):
    def word(text):
        return text.replace("%20", " ")

    def value(text):
        return None if text == "nil" else int(text) if text.lstrip("-").isdigit() else word(text)

    objects = []
    for line in (SOURCE / f"tests/redis/{file}.vectors").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "object":
            objects.append(Object(rest))
        elif kind in ("run", "ask"):
            command, _, reply = rest.partition(" = ")
            reply = [value(x)
                     for x in reply.split()[1:-1]] if reply.startswith("[") else value(reply)
            getattr(objects[-1], kind + "s").append(([word(x) for x in command.split()], reply))
        elif kind == "dump":
            objects[-1].dump = bytes.fromhex(rest)
        elif kind == "chunk":
            iterator, data = rest.split()
            objects[-1].chunks.append((int(iterator), bytes.fromhex(data)))
    assert len(objects) == {"redisbloom": 8, "redisbloom_tdigest": 4}[file]
    return objects


def main(tests):
    """Runs the test functions; each has what it needs made by itself."""
    if not shutil.which("redis-server"):
        print("redis-server is missing")
        sys.exit(77)
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
