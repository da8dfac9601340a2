"""What `tamis uniq` says about lines wrongly dropped is what happens, and exactly nothing else goes wrong."""
import json, os, subprocess, sys, tempfile

TAMIS = os.environ["TAMIS"]


def run(lines, *options):
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run([TAMIS, "uniq", *options], input=text, stdout=subprocess.PIPE, check=True, text=True).stdout


def dropped_as_expected():
    """60 seeds; 6.2 deviations are 1e-9. The sum on the way is of straight lines between points of a curve."""
    expected = dropped = 0
    lines = range(20000)
    for seed in range(60):
        told = json.loads(run(lines, "--bytes", "40kB", "--items", "20000", "--seed", str(seed), "--json"))
        expected += told["wrongly_dropped"]
        dropped += 20000 - told["different"]
    assert expected > 150, expected
    assert abs(dropped - expected) < 0.05 * expected + 6.2 * expected**0.5, (expected, dropped)


def order_and_bytes_are_kept():
    """Against an exact set, where a drop is out of the question (1e-12 a line), with and without budgets and threads."""
    lines = [str(i * i % 7919 * (i % 3)) for i in range(30000)]
    wanted = "".join(f"{line}\n" for line in dict.fromkeys(lines))
    for options in (("--fpr", "1e-12"), ("--exact-until", "10MB"), ("--exact-until", "40kB", "--fpr", "1e-12", "-q"),
                    ("--fpr", "1e-12", "--threads", "1"), ("--kind", "bloom", "--items", "9000", "--fpr", "1e-12")):
        got = run(lines, *options)
        assert got == wanted if "-q" not in options else got == "", options


def a_killed_run_keeps_the_state():
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        run(range(1000), "--state", state)
        before = open(state, "rb").read()
        p = subprocess.Popen([TAMIS, "uniq", "--state", state], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdin.write(b"new\n")
        p.stdin.flush()
        assert p.stdout.readline() == b"new\n"
        p.kill()
        p.wait()
        assert open(state, "rb").read() == before
        assert run(["1", "new"], "--state", state) == "new\n"


tests = [dropped_as_expected, order_and_bytes_are_kept, a_killed_run_keeps_the_state]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
