"""SIGINT, SIGTERM and SIGHUP at any moment leave no partial file and no extra file, and one line
says what was kept. SIGPIPE prints nothing. While a file is being saved, the shim of tests/fault
sends the signal at every system call in turn, with O_TMPFILE and without."""
import array, fcntl, gzip, os, signal, subprocess, sys, tempfile, termios, time

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import workshop  # noqa: E402

TAMIS = os.environ["TAMIS"]
LINES = b"".join(b"%d\n" % i for i in range(3000))


def start(*arguments, **more):
    return subprocess.Popen([TAMIS, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                            **more)


def while_reading(room):
    """In the middle of build and add: the output is not there, or what it was."""
    out = os.path.join(room, "out.tamis")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for before in (None, b"1\n2\n"):
            if before:
                subprocess.run([TAMIS, "build", "-o", out], input=before, check=True)
            old = open(out, "rb").read() if before else None
            for arguments in (("build", "-fo", out), *((("add", out),) if before else ())):
                p = start(*arguments)
                p.stdin.write(LINES)
                p.stdin.flush()
                wait_until_read(p)
                p.send_signal(number)
                assert p.wait() == -number, (arguments, p.returncode)
                kept = b"is unchanged" if before else b"was not written"
                wanted = b"tamis: interrupted: %s %s\n" % (out.encode(), kept)
                assert p.stderr.read() == wanted, arguments
                p.stdin.close()
                names = [name for name in os.listdir(room) if not name.endswith(".lock")]
                assert names == (["out.tamis"] if before else []), names
                assert not before or open(out, "rb").read() == old, arguments
        os.unlink(out)


def wait_until_read(p):
    """Until the pipe is empty: the reader has taken what was written."""
    left = array.array("i", [1])
    for _ in range(3000):
        fcntl.ioctl(p.stdin, termios.FIONREAD, left)
        if left[0] == 0:
            return
        time.sleep(0.01)
    sys.exit("it does not read its input")


def an_endless_input_is_remembered(room):
    """uniq --state: what was read is printed and saved, and the process ends by the signal; half a
    line is not read. A window of time is saved with its time."""
    half = gzip.compress(LINES)
    state = os.path.join(room, "state")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for sent, wanted in ((LINES, LINES), (LINES + b"hal", LINES), (half[:-20], None)):
            for window in ((), ("--window", "1h", "--items", "9999")):
                p = start("uniq", "--state", state, *window, stdout=subprocess.PIPE)
                p.stdin.write(sent)
                p.stdin.flush()
                if wanted:
                    assert p.stdout.read(len(wanted)) == wanted
                else:
                    wait_until_read(p)
                p.send_signal(number)
                rest = p.stdout.read()
                saved = b"tamis: interrupted: %s was saved\n" % state.encode()
                assert p.wait() == -number and p.stderr.read() == saved, \
                    (number, sent[-9:], p.returncode)
                p.stdin.close()
                printed = (wanted or b"") + rest
                assert LINES.startswith(printed) and (wanted is None or not rest), \
                    (number, sent[-9:])
                left = subprocess.run([TAMIS, "uniq", "--state", state, *window],
                                      input=LINES + b"half\n",
                                      stdout=subprocess.PIPE, check=True).stdout
                assert printed + left == LINES + b"half\n", (number, sent[-9:])
                assert os.listdir(room) == ["state"], os.listdir(room)
                os.unlink(state)


def a_signal_that_is_ignored_stays_so(room):
    state = os.path.join(room, "state")
    p = start("uniq", "--state", state, stdout=subprocess.PIPE,
              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    for line in (b"a\n", b"b\n"):
        p.stdin.write(line)
        p.stdin.flush()
        assert p.stdout.readline() == line
        p.send_signal(signal.SIGINT)
    p.stdin.close()
    assert p.wait() == 0 and p.stderr.read() == b""


def with_keys_in_a_temporary_file(room):
    """--memory: the file of keys is there, without a name, and gone with the process."""
    temp = os.path.join(room, "temp")
    os.mkdir(temp)
    p = start("build", "--kind", "ribbon", "--memory", "64MiB", "--items", "9M", "--temp", temp,
              "-o",
              os.path.join(room, "out.tamis"))
    for block in range(30):
        p.stdin.write(b"".join(b"%d\n" % i for i in range(block * 100000, block * 100000 + 100000)))
    p.stdin.flush()
    wait_until_read(p)
    for _ in range(3000):
        open_files = [os.readlink(f"/proc/{p.pid}/fd/{fd}")
                      for fd in os.listdir(f"/proc/{p.pid}/fd")]
        if any(name.startswith(temp) for name in open_files):
            break
        time.sleep(0.01)
    else:
        sys.exit(f"nothing was ever spilled: {open_files}")
    assert os.listdir(temp) == [], "the temporary file has a name"
    p.send_signal(signal.SIGINT)
    assert p.wait() == -signal.SIGINT
    p.stdin.close()
    assert os.listdir(temp) == [] and os.listdir(room) == ["temp"], os.listdir(room)


def while_saving(room):
    """The signal takes effect, and finds the old state or the whole new file."""
    shim = workshop.compile_shim(os.path.join(room, "shim.so"))
    folder = os.path.join(room, "folder")
    out, lines, count = os.path.join(folder,
                                     "out"), os.path.join(room,
                                                          "lines"), os.path.join(room, "count")
    os.mkdir(folder)
    with open(lines, "wb") as f:
        f.write(LINES)
    whole, signalled = 0, 0
    plan = ["plan", "--items", "1000", "--fpr", "1%", "--svg", out, "-f"]
    pack = ["pack", "-qfo", out, os.path.join(room, "empty.tamis")]
    subprocess.run([TAMIS, "build", "--kind", "bloom", "--items", "9999", "-o", pack[-1]],
                   input=b"", check=True)
    foreign = ["build", "--to", "dcso", "--items", "3000", "-fo", out, lines]
    for arguments in (["build", "--threads", "1", "-fo", out, lines], plan, pack, foreign):
        subprocess.run([TAMIS, *arguments], check=True, stdout=subprocess.DEVNULL)
        wanted = open(out, "rb").read()
        for old in (b"old", None):
            for no_tmpfile in "01":
                env = {**os.environ, "LD_PRELOAD": shim, "FAULT_NO_TMPFILE": no_tmpfile,
                       "FAULT_COUNT": count,
                       "FAULT_HOW": "int", "FAULT_ONCE": "1"}
                at, calls, reported = 0, 1, False
                while at <= calls:  # 0: to count them
                    if os.path.exists(out):
                        os.unlink(out)
                    if old:
                        with open(out, "wb") as f:
                            f.write(old)
                    done = subprocess.run([TAMIS, *arguments], env={**env, "FAULT_AT": str(at)},
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    assert done.returncode in (0 if at == 0 else -signal.SIGINT, 0), done
                    signalled += done.returncode != 0
                    names = os.listdir(folder)
                    assert set(names) <= {"out"}, (arguments, at, names)
                    got = open(out, "rb").read() if names else None
                    assert got in (old, wanted), (arguments, at)
                    said = done.stderr.decode()
                    kept = {old: "is unchanged" if old else "was not written", wanted: "was saved"}
                    line = f"tamis: interrupted: {out} {kept[got]}\n"
                    # Before the output is known nothing can be said about it.
                    allowed = ("", line) if got == old and not reported else (line,)
                    assert said in (allowed if done.returncode else ("",)), (arguments, at, said)
                    reported = reported or said != ""
                    whole += got == wanted and done.returncode != 0
                    calls = int(open(count).read()) if at == 0 else calls
                    at += 1
                assert calls > 3, (arguments, calls)
    # The shim has a grip, and a signal during the save has waited for its end.
    assert signalled > 100 and whole > 20, (signalled, whole)


def a_reader_that_goes_away(room):
    with open(os.path.join(room, "lines"), "wb") as f:
        f.write(LINES * 100)
    subprocess.run([TAMIS, "build", "-o", "out.tamis", "lines"], cwd=room, check=True)
    p = subprocess.Popen([TAMIS, "check", "out.tamis", "lines"], cwd=room, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE,
                         restore_signals=True)
    assert p.stdout.read(2) == b"0\n"
    p.stdout.close()
    assert p.stderr.read() == b"" and p.wait() == -signal.SIGPIPE, p.returncode


tests = [while_reading, an_endless_input_is_remembered, a_signal_that_is_ignored_stays_so,
         with_keys_in_a_temporary_file, while_saving, a_reader_that_goes_away]
for test in tests:
    with tempfile.TemporaryDirectory() as directory:
        test(directory)
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
