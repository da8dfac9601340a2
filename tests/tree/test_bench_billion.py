"""The benchmark of very many keys, with a million: every kind keeps its rate, results are kept
between runs, kinds that do not fit are named, broken promises are found, and the report fills the
tables in a copy of docs/ACCURACY.md. No time is tested."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree may be read-only
SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "bench/billion"))
import measure  # noqa: E402
import report  # noqa: E402

if not (BUILD / "bench-billion").exists():
    print("skipped: built without the benchmark")
    sys.exit(77)


def run(room, *words, status=0):
    done = subprocess.run([sys.executable, "-B", SOURCE / "bench/billion/measure.py", "--items",
                           "1e6", "--temp", room, "--out", room / "billion.json", *words],
                          check=False, capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done, json.loads((room / "billion.json").read_text(encoding="utf-8"))


def test_every_kind(room):
    """All of them once, of which two are left for a second run."""
    listed = subprocess.run([BUILD / "bench-billion", "--list"], stdout=subprocess.PIPE, check=True,
                            text=True).stdout.split()
    kinds = listed + list(measure.THREADS) + list(measure.COMMANDS)
    _, first = run(room, *kinds[:-2])
    assert set(first["rows"]) == set(kinds[:-2]), first["rows"]
    done, second = run(room)
    assert set(second["rows"]) == set(kinds), second["rows"]
    assert all(second["rows"][kind] == first["rows"][kind] for kind in kinds[:-2]), "built again"
    assert f"{len(kinds)} of {len(kinds)} measured, 0 do not fit" in done.stdout, done.stdout
    for row in second["rows"].values():
        assert row["asked"] == 10**6 and row["bytes"] > 0, row
        assert row["peak"] >= row["rounds"], row
    # The filters are there in memory, and not only promised.
    for kind in "blocked", "bloom", "ribbon", "counting":
        row = second["rows"][kind]
        assert row["peak"] - row["rounds"] >= row["bytes"], row
    assert second["rows"]["ribbon"]["in_file"], second["rows"]["ribbon"]
    return second


def test_no_room(room):
    """A limit below what some kinds take; with another limit, all begins anew."""
    done, found = run(room, "--limit", "40MB", "fuse", "exact", "blocked")
    assert found["rows"] == {} or "exact" not in found["rows"], found
    plan = found["plans"]["exact"]
    # 16 bytes for each of two hashes are the least that an exact filter keeps until its seal.
    assert plan["peak"] > 4e7 and plan["bytes_per_key"] > 32, plan
    assert "exact: does not fit" in done.stderr, done.stderr
    return found


def test_wrong(rows):
    """What is not as promised is found."""
    def broken(kind, what, **changes):
        row = dict(copy.deepcopy(rows[kind]), **changes)
        found = measure.wrong(row)
        assert len(found) >= 1 and what in " ".join(found), (kind, changes, found)

    assert [problem for row in rows.values() for problem in measure.wrong(row)] == []
    for kind, row in rows.items():
        if kind != "private":
            broken(kind, "members get a wrong answer", missed=1)
    broken("private", "members are missed", missed=0)
    broken("exact", "excluded keys", excluded_wrong=1)
    broken("distinct", "the estimate is off", estimate=1.06e6)
    few = 1 + 1.01 * measure.DEVIATIONS / (0.01 * 10**6) ** 0.5  # of a million that are asked
    for kind in "blocked", "bloom", "ribbon", "window", "tamis build":
        for factor in few, 2 - few:
            broken(kind, "planned", measured=rows[kind]["planned"] * factor)
    broken("growing", "at most", measured=0.011, computed=0.011)
    many = dict(rows["blocked"], others=10**9)  # where chance explains less than 1 %
    assert measure.wrong(dict(many, measured=0.010095, computed=0.010095)) == []
    assert measure.wrong(dict(many, measured=0.010105, computed=0.010105)) != []


def test_report(room, run_of_all, run_without):
    docs = room / "docs"
    docs.mkdir()
    marks = re.compile(r"(?s)(<!-- billion \w+: written.*?-->\n).*?(<!-- billion \w+: end -->)")
    page = (SOURCE / "docs/ACCURACY.md").read_text(encoding="utf-8")
    for results, word in (run_of_all, "`blocked`"), (run_without, "more than the limit"):
        shutil.copy(SOURCE / "docs/ACCURACY.md", docs)
        (room / "some.json").write_text(json.dumps(results), encoding="utf-8")
        subprocess.run([sys.executable, "-B", SOURCE / "bench/billion/report.py", "--docs", docs,
                        room / "some.json"], check=True, stdout=subprocess.DEVNULL)
        new = (docs / "ACCURACY.md").read_text(encoding="utf-8")
        assert word in "".join(marks.findall(new)[0]) or word in new, word
        assert marks.sub(r"\1\2", new) == marks.sub(r"\1\2", page), "more than the tables differs"
        assert not re.search(r"\b(nan|inf|None)\b", new[new.index("<!-- billion run"):]), "missing"
    full = dict(run_of_all, items=report.FULL)
    assert "**missed**" in report.goal_table(dict(full, rows={"blocked": dict(
        run_of_all["rows"]["blocked"], add_seconds=6.5)})), "a missed goal is shown"


def main():
    with tempfile.TemporaryDirectory(prefix="tamis-billion-test-") as place:
        room = pathlib.Path(place)
        everything = test_every_kind(room)
        without = test_no_room(room)
        test_wrong(everything["rows"])
        test_report(room, everything, without)
        left = [path for path in room.iterdir() if path.name.startswith("tamis-billion-")]
        assert not left, left
    print("every row is there")


main()
