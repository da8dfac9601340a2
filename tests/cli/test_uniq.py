"""What `tamis uniq` reports about wrongly dropped lines is what happens, and nothing else goes
wrong."""
import json, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]


def run(lines, *options, status=0):
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run([TAMIS, "uniq", *options], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    assert done.returncode == status, (options, done.returncode)
    return done.stdout


def dropped_as_expected():
    """60 seeds; 6.2 deviations are 1e-9. The sum on the way is of straight lines between points of
    a curve. All lines come twice, because it never reports more than were dropped."""
    expected = dropped = 0
    lines = [*range(20000), *range(20000)]
    for seed in range(60):
        told = json.loads(run(lines, "--bytes", "40kB", "--items", "20000", "--seed", str(seed),
                              "--json"))
        expected += told["wrongly_dropped"]
        dropped += 20000 - told["different"]
    assert expected > 150, expected
    assert abs(dropped - expected) < 0.05 * expected + 6.2 * expected**0.5, (expected, dropped)


def dropped_as_expected_when_overfull():
    """The same beyond the plan, where the rate rises to a fifth, and every line occurs again:
    the reported number is at most 5 % too high. If more than half of the new lines are dropped,
    no number is reported, because any would be wrong."""
    for kind in ("bloom", "blocked", "partitioned"):
        expected = dropped = 0
        for seed in range(20):
            options = ("--kind", kind, "--bytes", "20kB", "--items", "10000", "--seed", str(seed),
                       "--json")
            told = json.loads(run([*range(30000), *range(30000)], *options, status=2))
            assert 0.1 < told["fpr_now"] < 0.5 and 2 * told["fpr_asked"] < told["fpr_now"], told
            expected += told["wrongly_dropped"]
            dropped += 30000 - told["different"]
        # each is dropped with its own chance, of at most one half
        noise = 6.2 * (2 * expected)**0.5
        assert -noise < expected - dropped < 0.05 * dropped + noise, (kind, expected, dropped)
        for lines in (60000, 400000):
            told = json.loads(run(range(lines), *options, status=2))
            assert told["fpr_now"] > 0.5 and told["wrongly_dropped"] is None, told


def order_and_bytes_are_kept():
    """Against an exact set, where a drop is out of the question (1e-12 a line), with and without
    budgets and threads."""
    lines = [str(i * i % 7919 * (i % 3)) for i in range(30000)]
    wanted = "".join(f"{line}\n" for line in dict.fromkeys(lines))
    for options in (("--fpr", "1e-12"), ("--exact-until", "10MB"),
                    ("--exact-until", "40kB", "--fpr", "1e-12", "-q"),
                    ("--fpr", "1e-12", "--threads", "1"),
                    ("--kind", "bloom", "--items", "9000", "--fpr", "1e-12")):
        got = run(lines, *options)
        assert got == wanted if "-q" not in options else got == "", options


def a_killed_run_keeps_the_state():
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        run(range(1000), "--state", state)
        before = open(state, "rb").read()
        p = subprocess.Popen([TAMIS, "uniq", "--state", state], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        p.stdin.write(b"new\n")
        p.stdin.flush()
        assert p.stdout.readline() == b"new\n"
        p.kill()
        p.wait()
        assert open(state, "rb").read() == before
        assert run(["1", "new"], "--state", state) == "new\n"


tests = [dropped_as_expected, dropped_as_expected_when_overfull, order_and_bytes_are_kept,
         a_killed_run_keeps_the_state]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
