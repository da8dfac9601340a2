"""A short load of confirmations while new versions are published: no answer is wrong, and none is
missing. The same program with other numbers is the benchmark; no time is judged here."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import BUILD, SOURCE, Server, build, main, prefix, sha  # noqa: E402


def test_no_wrong_answer(room):
    done = subprocess.run([sys.executable, SOURCE / "bench/guard/load.py", "--rate", "2000",
                           "--seconds", "4", "--entries", "3000", "--reload", "0.3",
                           "--access-log"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\| answered \| 8,000 of 8,000,", done.stdout), done.stdout
    assert "| wrong answers | 0 |" in done.stdout
    loaded = re.search(r"\| versions loaded meanwhile \| (\d+) of", done.stdout)
    assert int(loaded[1]) >= 2, done.stdout
    page = (SOURCE / "docs/GUARD.md").read_text()  # it has the same rows, of another run
    rows = [line.split(" | ")[0] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 10 and all(row in page for row in rows[1:]), rows


def test_wrong_answers_are_noticed(room):
    """The load generator itself: what it must not accept."""
    build(room / "d", malware=["evil.example"])
    p, digest = prefix("evil.example"), sha("evil.example")
    right = f'"hashes":["{digest}"],"labels":[["malware"]],"cache_seconds":300}}'
    with Server(room / "d") as s:
        def load(odd, even=right, query=f"prefix={p}"):
            (room / "questions").write_text(f"{query}\t{odd}\t{even}\n")
            done = subprocess.run([BUILD / "bench-guard-load", "127.0.0.1", str(s.port),
                                   room / "questions", "0.1", "100", "4"], capture_output=True)
            return done.returncode
        assert load(right) == 0
        assert load(right, even="x") == 0  # version 1 is odd
        assert load(right.replace("300", "301")) == 1
        assert load('"hashes":[],"labels":[],"cache_seconds":300}') == 1
        assert load(right[:-1]) == 1 and load(right + "}") == 1
        assert load(right, query="prefix=00000000") == 1
        assert load(right, query="prefix=x") == 1  # status 400
        assert s.stop() == ""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-load-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
