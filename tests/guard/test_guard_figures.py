"""What the guard promises for a million URLs: a filter below 2,000,000 bytes, wrong about at
most 1 in 40,000 expressions, so that 102,000 page views of 8 expressions send at most 30
needless queries. bench/guard/guard_figures.py prints its table. No time is judged."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from serving import SOURCE, TAMIS, main, tamis  # noqa: E402

sys.path.insert(0, str(SOURCE / "bench/guard"))
import guard_figures  # noqa: E402

URLS = 1_000_000
# Ten times the 102,000 page views. Every build draws a seed of its own, so each run is another one.
# At 1 in 40,000, the worst that is promised, the vain ones are 204 in the mean, and more than 300
# with a chance of 1.4e-10 (Poisson). At the 1 in 58,950 that is built they are 138; at 1 in 20,000
# the test fails always.
VIEWS = 1_020_000
MOST_VAIN = 300


def clean_pages(path):
    """Pages that share no expression, of exactly 8 each: two hosts with four paths."""
    with open(path, "w") as f:
        f.writelines(f"http://www.n{i}.example/a{i}/b/page.html\n" for i in range(VIEWS))


def test_a_million_urls(room):
    guard_figures.write(room / "bad", range(URLS))
    tamis("guard", "build", "-q", room / "d", f"malware={room / 'bad'}")
    m = guard_figures.manifest(room / "d")
    size, rate = int(m["filter"][0]), float(m["rate"][0])
    assert int(m["entries"][0]) == URLS
    assert size == (room / "d/1.filter").stat().st_size < 2_000_000, size
    assert 0 < rate <= 1 / 40_000, rate

    first = "http://www.n0.example/a0/b/page.html"
    assert '"expressions": 8,' in tamis("guard", "check", "--json", room / "d", first, status=None)
    clean_pages(room / "clean")
    with open(room / "clean") as pages, open(room / "verdicts", "w") as out:
        done = subprocess.run([TAMIS, "guard", "check", room / "d"], stdin=pages, stdout=out)
    assert done.returncode == 1, "all are clean"
    views = vain = 0
    with open(room / "verdicts") as verdicts:
        for line in verdicts:
            views += 1
            vain += "(the filter answered no)" not in line
    assert views == VIEWS
    print(f"{size:,} bytes, 1 in {1 / rate:,.0f}, {vain} vain questions in {VIEWS:,} page views")
    assert vain <= MOST_VAIN, vain
    # Nor are they fewer than the manifest says, which would betray a test that does not look: 1e-10
    # again.
    expected = VIEWS * guard_figures.per_page(rate, 8)
    assert vain >= expected - 6.5 * expected**0.5, (vain, expected)

    listed = tamis("guard", "check", room / "d",
                   text="".join(guard_figures.url(i) + "\n" for i in range(0, URLS, 997)))
    assert all(line.startswith("listed ") for line in listed.splitlines()) and listed.count("\n") \
        == 1004


def test_the_figures(room):
    done = subprocess.run([sys.executable, SOURCE / "bench/guard/guard_figures.py", "--entries",
                           "5000", "--seconds", "1"],
                          env=dict(os.environ, TAMIS=TAMIS, TMPDIR=str(room)), capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (SOURCE / "docs/GUARD.md").read_text()
    rows = [line.split(" | ")[0] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) >= 14, done.stdout
    # the page has the same rows; the first one, the number of URLs, is of this run
    for row in rows:
        assert row in page or re.fullmatch(r"\| [\d,]+ URLs|\| update after 50 changes", row), row


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-figures-") as place:
        sys.exit(main([test_a_million_urls, test_the_figures], place))
