"""A pseudo-terminal for the tests: runs a command on it and returns everything that it showed."""
import fcntl, os, pty, re, select, struct, subprocess, sys, termios, threading, time

import tidy  # noqa: F401

sys.dont_write_bytecode = True  # the source tree may be read-only
PATIENCE = 120  # seconds: only what hangs takes so long
END = b"\0the end\0"


class Terminal:
    """Runs the command on a terminal of that size, which gets its output and errors unless the
    arguments for subprocess.Popen say otherwise."""

    def __init__(self, command, columns=80, rows=24, **popen):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.slave, "stderr": self.slave}
        self.process = subprocess.Popen(command, **{**streams, **popen})
        self.seen = b""

    def read(self):
        if select.select([self.master], [], [], 0.02)[0]:
            self.seen += os.read(self.master, 65536)

    def read_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.seen
            self.read()

    def until(self, pattern):
        """Waits for this to be shown."""
        self.read_until(lambda: re.search(pattern, self.seen) or self.process.poll() is not None)
        assert re.search(pattern, self.seen), (pattern, self.seen)

    def finish(self):
        """Waits for the command; its status. A terminal that everybody closed forgets what was not
        read yet, now and then: this keeps it open, and reads up to a mark of its own."""
        self.read_until(lambda: self.process.poll() is not None)
        # which waits for the reader if it is full
        marking = threading.Thread(target=os.write, args=(self.slave, END))
        marking.start()
        self.read_until(lambda: self.seen.endswith(END))
        marking.join()
        self.seen = self.seen[:-len(END)]
        os.close(self.slave)
        os.close(self.master)
        return self.process.returncode

    def text(self):
        return self.seen.decode().replace("\r\n", "\n")
