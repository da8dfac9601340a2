"""Long work on a terminal: the line of progress appears and is erased, it never mixes with other
output, and Ctrl-C leaves no file half done and reports what was kept. Input comes through pipes
that the test controls, so that work takes as long as the test wants; no time is asserted."""
import fcntl, os, pty, re, shutil, signal, subprocess, sys, tempfile, termios, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import terminal

TAMIS = os.environ["TAMIS"]
BASE = {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C"}
TIME = r"(\d+ s|\d+:\d\d(:\d\d)?)"
UNKNOWN = r"[\d,]+ lines, [\d.]+( k| M)?/s, " + TIME + " elapsed"
KNOWN = r"\[#*\.*\] +\d+ % [\d,]+ lines, [\d.]+( k| M)?/s, " + TIME + " left"
LONGER = 0.8  # seconds, in which a line would have appeared


def screen(shown):
    """The lines on the terminal after all of that was shown."""
    lines, at = [""], 0
    for part in re.findall(r"\033\[K|\r|\n|[^\033\r\n]+", shown):
        if part == "\033[K":
            lines[-1] = lines[-1][:at]
        elif part == "\r":
            at = 0
        elif part == "\n":
            lines.append("")
            at = 0
        else:
            lines[-1] = lines[-1][:at] + part + lines[-1][at + len(part):]
            at += len(part)
    return lines if lines[-1] else lines[:-1]


class Session(terminal.Terminal):
    """tamis with a pipe as standard input, which gets what `feed` writes."""

    def __init__(self, *arguments, columns=80, environment={}, below=(), **popen):
        read, self.write = os.pipe()
        super().__init__([*below, TAMIS, *arguments], columns,
                         env={**BASE, **environment}, **{"stdin": read, **popen})
        os.close(read)

    def feed(self, data):
        os.write(self.write, data)

    def end(self):
        """Ends the input and waits; the lines on the screen and the status."""
        os.close(self.write)
        status = self.finish()
        return screen(self.text()), status


class Controlled(Session):
    """The same, with a terminal whose keys send signals to it."""

    def __init__(self, *arguments, **popen):
        super().__init__(*arguments, preexec_fn=take_terminal, **popen)

    def press(self, key):
        os.write(self.master, key)


def take_terminal():
    os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


def build(name, data=b"a\nb\n", kind=("build",)):
    subprocess.run([TAMIS, *kind, "-fo", name, "-"], input=data, check=True,
                   stdout=subprocess.DEVNULL)


def files():
    with open("many", "w") as f:
        f.write("\n".join(map(str, range(4000000))) + "\n")
    build("a.tamis")
    build("c.tamis", kind=("count",))


def an_unknown_total():
    """How much was done, the rate and the elapsed time; all of it is erased in the end."""
    counted = "         1  1..1              "
    room = ["tamis: out.tamis: has room for the 2 lines that were counted; 'tamis add' will raise "
            "its false-positive rate, and refuses above twice the planned one (--headroom 50% "
            "leaves room)"]
    for arguments, verb, wanted in (
            (["build", "-fo", "out.tamis"], "reading", room),
            (["build", "--headroom", "1", "-fo", "out.tamis"], "reading", []),
            (["build", "--items", "9", "-fo", "out.tamis"], "building", []),
            (["build", "--kind", "ribbon", "--items", "9", "-fo", "out.tamis"], "building", []),
            (["build", "--to", "dcso", "--items", "9", "-fo", "out.tamis"], "building", []),
            (["add", "a.tamis"], "adding", []),
            (["count", "-fo", "out.tamis"], "counting", []),
            (["distinct"], "counting", ["2"]),
            (["distinct", "-fo", "out.tamis"], "counting", ["2"]),
            (["top", "--json", "-n", "1"], "counting", None),
            (["check", "-c", "a.tamis"], "checking", ["2"]),
            (["check", "a.tamis"], "checking", ["a", "b"]),
            (["check", "-n", "a.tamis"], "checking", ["1:a", "2:b"]),
            (["check", "-f", "/dev/stdin", "many"], "reading the patterns", []),
            (["freq", "c.tamis"], "reading", [counted + "a", counted + "b"]),
            (["uniq", "--total"], "reading", None),
            (["uniq"], "reading", None)):
        s = Session(*arguments)
        s.feed(b"a\nb\n")
        s.until(rb"\r" + (verb + ": " + UNKNOWN).encode() + rb"\x1b\[K")
        lines, status = s.end()
        assert status in (0, 1), (arguments, status, s.seen)
        assert wanted is None or lines == wanted, (arguments, lines)
        assert not any("elapsed" in line for line in lines), (arguments, lines)


def lines_between():
    """Output and messages on the same terminal have lines of their own."""
    s = Session("uniq", "-", "missing")
    for line in (b"a\n", b"b\n", b"c\n"):
        s.feed(line)
        s.until(rb"\r\x1b\[K" + line[:1] + b"\r\n|" + line[:1] + rb"\r\n")
        shown = len(s.seen)
        s.read_until(lambda: b"elapsed" in s.seen[shown:])
    lines, status = s.end()
    assert status == 2 and lines == [
        "a", "b", "c", "tamis: missing: cannot read: No such file or directory"], lines
    os.mkfifo("list")
    s = Session("check", "--confirm", "list", "a.tamis")  # one line of progress inside another
    s.feed(b"a\nx\nb\n")
    s.until(rb"\rchecking: " + UNKNOWN.encode())
    os.close(s.write)
    with open("list", "wb", buffering=0) as f:
        f.write(b"a\nb\n")
        s.until(rb"\rreading the list: " + UNKNOWN.encode())
    assert s.finish() == 0 and screen(s.text()) == ["a", "b"], s.seen


def until_shown(arguments, wanted, **more):
    """Presses Ctrl-C as soon as this was shown; everything that was shown."""
    s = Controlled(*arguments, **more)
    s.until(wanted)
    s.press(b"\x03")
    s.read_until(lambda: s.process.poll() is not None)
    lines, status = s.end()
    assert status == -signal.SIGINT and not any("left" in line for line in lines), (lines, status)
    return s.text()


def a_known_total():
    """A bar, the rate and the time that is left, for many gigabytes of input."""
    long = ["many"] * 300
    for arguments, verb in ((["build", "-fo", "out.tamis", *long], "counting the lines"),
                            (["build", "--items", "9", "-fo", "out.tamis", *long], "building"),
                            (["count", "-fo", "out.tamis", *long], "counting"),
                            (["check", "-c", "-v", "a.tamis", *long], "checking"),
                            (["check", "a.tamis", *long], "checking"),
                            (["uniq", "--total", *long], "reading"),
                            (["distinct", *long], "counting")):
        until_shown(arguments, f"\r{verb}: {KNOWN}\x1b\\[K".encode())
    command = ["distinct", *long]
    shown = until_shown(command, rb"\rcounting: \d+ %, [\d: s]+ left", columns=40)
    parts = [part.replace("\033[K", "") for part in shown.split("\r")]
    assert max(map(len, parts)) < 40, parts
    bar = "\\[(?:█)*(?:▏|▎|▍|▌|▋|▊|▉)? *\\]".encode()
    until_shown(command, bar, environment={"LC_ALL": "C.UTF-8"})
    until_shown(["verify", "--keys", "1000000000000", "a.tamis"],
                rb"\rverifying: .*% [\d,]+ keys, [\d.]+( k| M)?/s, [\d:]+ left")


def diff_in_parts():
    """A pipe is copied first. Many short passes are long work, also if their lines are printed."""
    s = Session("diff", "-c", "-", "many")
    s.feed(b"1\nb\n")
    s.until(rb"\rcopying: 4 bytes, \d+/s, " + TIME.encode() + rb" elapsed\x1b\[K")
    lines, status = s.end()
    assert status == 1 and lines == ["1\t3999999\t1"], (lines, status)
    passes = ["diff", "--memory", "64KiB", "many", "many"]
    until_shown(passes + ["-c"], f"(?s)({KNOWN}.*){{9}}".encode())
    with open("common", "wb") as out:
        until_shown(passes, rb"\rreading: ", stdout=out)


def no_progress_elsewhere():
    """With -q, without a terminal, before the next program of a pipeline, and while one types."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        for arguments, streams in ((["build", "-qfo", "out.tamis"], {}),
                                   (["check", "-q", "c.tamis"], {}),
                                   (["build", "-fo", "out.tamis"], {"stderr": errors}),
                                   (["check", "a.tamis"], {"stdout": subprocess.PIPE}),
                                   (["check", "-z", "a.tamis"], {})):
            s = Session(*arguments, **streams)
            s.feed(b"x\n")
            time.sleep(LONGER)
            s.end()
            assert b"elapsed" not in s.seen, (arguments, s.seen)
        errors.seek(0)
        assert errors.read() == b""
        s = Session("check", "a.tamis", stdout=output)  # nobody else prints here
        s.feed(b"a\nx\n")
        s.until(rb"\rchecking: " + UNKNOWN.encode())
        assert s.end() == ([], 0)
        output.seek(0)
        assert output.read() == b"a\n"
    master, slave = pty.openpty()
    s = Session("distinct", stdin=slave)
    os.write(master, b"a\n")
    time.sleep(LONGER)
    os.write(master, b"\x04")
    assert s.end() == (["1"], 0) and b"elapsed" not in s.seen, s.seen


def interrupted(arguments, wanted, number=signal.SIGINT, feed=b"1\n2\n", held=None):
    """Runs it until it shows progress; then the key Ctrl-C or the signal ends it. No file appears
    or goes; returns the names of those that changed. `held` is a pipe that gets nothing."""
    if held:
        os.mkfifo(held)
    before = {name: open(name, "rb").read() for name in os.listdir(".") if name != held}
    s = Controlled(*arguments)
    writer = os.open(held, os.O_WRONLY) if held else None
    if feed:
        s.feed(feed)
    s.until(rb"elapsed")
    if number == signal.SIGINT:
        s.press(b"\x03")
    else:
        s.process.send_signal(number)
    s.read_until(lambda: s.process.poll() is not None)
    if writer is not None:
        os.close(writer)
        os.unlink(held)
    lines, status = s.end()
    assert status == -number, (arguments, status, s.seen)
    said = f"tamis: interrupted: {wanted}"
    assert lines[-1:] == [said], (arguments, lines)
    assert "elapsed" not in "".join(lines), (arguments, lines)
    after = {name: open(name, "rb").read() for name in os.listdir(".")}
    assert sorted(after) == sorted(before), (arguments, sorted(after))
    return [name for name in before if before[name] != after[name]]


def ctrl_c_keeps_everything():
    os.mkdir("folder")
    for name in ("a.tamis", "c.tamis"):
        shutil.copy(name, "folder")
    os.chdir("folder")
    unchanged = [(["build", "-fo", "a.tamis"], "a.tamis is unchanged", {}),
                 (["build", "-o", "new.tamis"], "new.tamis was not written", {}),
                 (["build", "--kind", "ribbon", "--items", "9M", "--memory", "64MiB", "--temp", ".",
                   "-o", "new.tamis"], "new.tamis was not written", {}),
                 (["add", "a.tamis"], "a.tamis is unchanged", {}),
                 (["remove", "a.tamis"], "a.tamis is unchanged", {}),
                 (["compact", "a.tamis"], "a.tamis is unchanged", {}),
                 (["count", "-fo", "c.tamis"], "c.tamis is unchanged", {}),
                 (["top", "-o", "new.tamis"], "new.tamis was not written", {}),
                 (["distinct", "-o", "new.tamis"], "new.tamis was not written", {}),
                 (["merge", "-o", "new.tamis", "a.tamis", "held"], "new.tamis was not written",
                  {"held": "held", "feed": None}),
                 (["merge", "-fo", "a.tamis", "a.tamis", "held"], "a.tamis is unchanged",
                  {"held": "held", "feed": None}),
                 (["pack", "-fo", "a.tamis", "held"], "a.tamis is unchanged",
                  {"held": "held", "feed": None}),
                 (["unpack", "-o", "new.tamis", "held"], "new.tamis was not written",
                  {"held": "held", "feed": None}),
                 (["convert", "--to", "bloom", "-o", "new.tamis", "held"],
                  "new.tamis was not written", {"held": "held", "feed": None})]
    for arguments, wanted, more in unchanged:
        if arguments[0] == "remove":
            build("a.tamis", kind=("build", "--kind", "cuckoo"))
        if arguments[0] == "compact":
            build("a.tamis", kind=("build", "--kind", "pair"))
        for number in (signal.SIGINT, signal.SIGTERM):
            changed = interrupted(arguments, wanted, number, **more)
            assert changed == [], (arguments, changed)
    build("state", kind=("build", "--items", "9"))
    assert interrupted(["uniq", "--state", "state"], "state was saved") == ["state"]
    subprocess.run([TAMIS, "check", "-q", "state"], input=b"1\n", check=True)
    os.chdir("..")


def ctrl_c_while_the_line_is_erased():
    """strace delays each call that writes. A line that is being erased to make room for output is
    erased by the handler of the signal, too."""
    s = Controlled("check", "a.tamis", below=(
        "strace", "-f", "-qq", "-o", "trace", "-e", "trace=write", "-e",
        "inject=write:delay_enter=1000000"))
    s.feed(b"a\n")
    s.until(rb"elapsed\x1b\[K")
    s.feed(b"b\n")
    s.read_until(lambda: rb'"\r\33[K"' in open("trace", "rb").read())
    s.press(b"\x03")
    s.read_until(lambda: s.process.poll() is not None)
    lines, status = s.end()
    assert status == -signal.SIGINT, (status, s.seen)
    assert "elapsed" not in "".join(lines), lines
    os.unlink("trace")


def no_version_of_the_guard():
    if subprocess.run([TAMIS, "guard", "--help"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return
    for existing in (False, True):
        if existing:
            subprocess.run([TAMIS, "guard", "build", "-q", "guard", "-"],
                           input=b"bad.example\n", check=True)
        before = sorted(os.listdir("guard")) if existing else None
        s = Controlled("guard", "build", "guard", "-")
        s.feed(b"evil.example\n")
        s.until(rb"reading the lists: [\d,]+ bytes, [\d.]+/s, \d+ s elapsed")
        s.press(b"\x03")
        s.read_until(lambda: s.process.poll() is not None)
        lines, status = s.end()
        assert status == -signal.SIGINT, s.seen
        assert lines[-1] == "tamis: interrupted: guard is unchanged", lines
        assert (sorted(os.listdir("guard")) if os.path.exists("guard") else None) == before


def run_all(*tests):
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        for test in tests:
            test()
        os.chdir("/")
    print(f"{len(tests) - 1} passed, 0 failed")


run_all(files, an_unknown_total, lines_between, a_known_total, diff_in_parts,
        no_progress_elsewhere, ctrl_c_while_the_line_is_erased, ctrl_c_keeps_everything,
        no_version_of_the_guard)
sys.exit(0)
