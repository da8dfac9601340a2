"""False servers for the tests of cluster/: one that gives chosen replies, and one between the
command and a real server."""
import contextlib
import socket
import threading

FACTS = b"*6\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(x), x) for x in
                              b"1 blocked 2 1 ready me".split())


class Liar(threading.Thread):
    """A false server: it answers a word with the reply that was set for it, and others with
    nothing, except that TAMIS.INFO has a kind and nothing else. The last reply of a list is
    repeated; an empty reply hangs up."""

    def __init__(self, **replies):
        super().__init__(daemon=True)
        self.replies = {"CLUSTER": b"-ERR This instance has cluster support disabled\r\n",
                        "HMGET": FACTS,
                        "TAMIS_INFO": b"*2\r\n$4\r\nkind\r\n$7\r\nblocked\r\n", **replies}
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/s"
        self.start()

    def run(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, contextlib.suppress(OSError):
            while asked := connection.recv(1 << 20):
                for word, reply in self.replies.items():
                    for _ in range(asked.count(word.replace("_", ".").encode() + b"\r\n")):
                        now = reply if isinstance(reply,
                                                  bytes) else reply.pop(0) if len(
                                                      reply) > 1 else reply[0]
                        if now == b"":
                            return
                        connection.sendall(now)


def one_shard(kind):
    return b"*6\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(x), x)
                                for x in (b"1", kind, b"1", b"1", b"ready", b"me"))


class Between(threading.Thread):
    """In front of a server; `before` sees what the command asks before the server does."""

    def __init__(self, server, before):
        super().__init__(daemon=True)
        self.server, self.before = server, before
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.socket.getsockname()[1]}/s"
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                near, far = self.socket.accept()[0], socket.create_connection(
                    ("127.0.0.1", self.server.port))
                for source, target, before in ((near, far, self.before),
                                               (far, near, lambda _: None)):
                    threading.Thread(target=self.copy, args=(source, target, before),
                                     daemon=True).start()

    def copy(self, source, target, before):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 20):
                before(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


def whole_reply(file):
    """The bytes of the next reply."""
    line = file.readline()
    if not line.endswith(b"\r\n"):
        raise OSError("the server has hung up")
    if line[:1] == b"$" and line != b"$-1\r\n":
        return line + file.read(int(line[1:]) + 2)
    if line[:1] == b"*":
        return line + b"".join(whole_reply(file) for _ in range(int(line[1:])))
    return line


class Meddler(threading.Thread):
    """In front of a server, one command at a time. `before` sees the words of a command and may
    return a reply, which the server then does not give; an empty one hangs up. `after` sees the
    words and the bytes of the server's reply, and may return others."""

    def __init__(self, server, before=lambda words: None, after=lambda words, reply: None):
        super().__init__(daemon=True)
        self.server, self.before, self.after = server, before, after
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The thread must have left accept() before the descriptor is free for another socket.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.join()
        self.socket.close()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                near = self.socket.accept()[0]
                threading.Thread(target=self.talk, args=(near,), daemon=True).start()

    def talk(self, near):
        with near, contextlib.suppress(OSError):
            far = socket.create_connection(("127.0.0.1", self.server.port))
            asked, answers = near.makefile("rb"), far.makefile("rb")
            while line := asked.readline():
                words, text = [], line
                for _ in range(int(line[1:])):
                    length = asked.readline()
                    word = asked.read(int(length[1:]) + 2)
                    words.append(word[:-2])
                    text += length + word
                reply = self.before(words)
                if reply is None:
                    far.sendall(text)
                    reply = whole_reply(answers)
                    other = self.after(words, reply)
                    reply = reply if other is None else other
                if reply == b"":
                    return
                near.sendall(reply)
