"""Pickles and copies of every class, in every protocol; other processes; pickles of the past."""
import copy
import hashlib
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import pytest

import tamis

SECRET = bytes(range(16))
DATA = pathlib.Path(__file__).parent / "data"
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def everything():
    """One object of every class and every kind, with keys 0 ... 49."""
    made = {f"filter-{kind}": tamis.Filter(items=100, fpr=0.01, kind=kind) for kind in (
        "bloom", "partitioned", "blocked", "counting", "cuckoo", "pair", "ribbon", "fuse")}
    made["filter-growing"] = tamis.Filter(kind="growing", fpr=0.01)
    made["filter-int64le"] = tamis.Filter(items=100, fpr=0.01, encoding="int64le")
    made["filter-keyed"] = tamis.Filter(items=100, fpr=0.01, key=SECRET)
    made["counts"] = tamis.Counts(bytes="2KiB")
    made["counts-count-min"] = tamis.Counts(error=0.05)
    made["counts-count-sketch"] = tamis.Counts(kind="count-sketch", bytes="2KiB")
    made["counts-signed-tally"] = tamis.Counts(kind="signed-tally", bytes="2KiB")
    made["top"] = tamis.Top(bytes="4KiB", items=10)
    made["distinct"] = tamis.Distinct(error=0.1)
    made["window"] = tamis.Window(items=100, fpr=0.01)
    made["window-distinct"] = tamis.Window(inner="distinct", error=0.1)
    made["window-tally"] = tamis.Window(inner="tally", bytes="4KiB")
    for name, it in made.items():
        it.update(range(50))
        if "ribbon" in name or "fuse" in name:
            it.seal()
    made["map"] = tamis.Map(range(50), range(50))
    made["exact"] = tamis.exact(range(50), range(50, 100))
    return made


def same(a, b):
    assert type(a) is type(b) and bytes(a) == bytes(b)
    if b.keyed:
        with pytest.raises(tamis.KeyMissingError):
            b.contains([1])
        b.unlock(SECRET)
    assert a.contains(list(range(60))) == b.contains(list(range(60)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_class(protocol):
    for it in everything().values():
        same(it, pickle.loads(pickle.dumps(it, protocol)))
        before = bytes(it)
        for made in (copy.copy(it), copy.deepcopy({"a": [it]})["a"][0], it.copy()):
            assert type(made) is type(it) and bytes(made) == before
            assert made.contains(list(range(60))) == it.contains(list(range(60)))
            made.close()
        assert bytes(it) == before


def test_copies_are_independent():
    for name, it in everything().items():
        if it.sealed:
            continue
        made, before = it.copy(), bytes(it)
        made.add(12345)
        assert bytes(it) == before, name
        it.add(54321)
        if made.kind == "blocked":
            assert 54321 not in made or 12345 in it


def test_buffers_out_of_band():
    """Protocol 5 may pass the image without a copy; it is then still an image of its own."""
    f = tamis.Filter(items=1000, fpr=0.01)
    f.update(range(1000))
    buffers = []
    body = pickle.dumps(f, 5, buffer_callback=buffers.append)
    made = pickle.loads(body, buffers=buffers)
    assert bytes(made) == bytes(f)
    made.add("new")
    assert bytes(made) != bytes(f)


def test_a_pickle_has_no_secret():
    f = tamis.Filter(items=100, fpr=0.01, key=SECRET)
    f.add("a")
    for protocol in PROTOCOLS:
        assert SECRET not in pickle.dumps(f, protocol)
    made = pickle.loads(pickle.dumps(f))
    with pytest.raises(tamis.KeyMissingError):
        made.add("b")
    with pytest.raises(tamis.KeyMissingError):
        made.unlock(bytes(16))
    made.unlock(tamis.Key(SECRET))
    assert made.add("b") and "a" in made
    with pytest.raises(TypeError):
        pickle.dumps(tamis.Key(SECRET))


def test_keys_do_not_show():
    key = tamis.Key(SECRET)
    assert SECRET.hex() not in repr(key) and str(SECRET) not in repr(key)
    made = tamis.Key.generate()
    f = tamis.Filter(items=100, fpr=0.01, key=made)
    f.add("a")
    g = tamis.Filter(items=100, fpr=0.01, key=made)
    g.add("a")
    assert bytes(f) == bytes(g)
    other = tamis.Filter(items=100, fpr=0.01, key=tamis.Key.generate())
    with pytest.raises(tamis.MismatchError):
        f.merge(other)


class Sub(tamis.Filter):
    """A subclass, as programs make them."""


def test_subclasses():
    f = Sub(items=100, fpr=0.01)
    f.note = "mine"
    f.add("a")
    for made in (pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f), f.copy()):
        assert type(made) is Sub and "a" in made
    assert pickle.loads(pickle.dumps(f)).note == "mine"
    assert type(Sub.from_bytes(bytes(f))) is Sub


# --- Pickles of the past --------------------------------------------------------------------------


def digest(it):
    return hashlib.sha256(bytes(it)).hexdigest()


@pytest.mark.parametrize("path", sorted(DATA.glob("*.pickle")), ids=lambda path: path.stem)
def test_old_pickles(path):
    """The files of data/ were made by older versions and must open for ever. They are added, never
    changed: `python3 test_pickles.py VERSION` writes those of this version. The text file has the
    sum of each image."""
    sums = dict(line.split() for line in path.with_suffix(".txt").read_text().splitlines())
    found = pickle.loads(path.read_bytes())
    assert set(found) == set(sums) and len(sums) > 20
    for name, it in found.items():
        assert digest(it) == sums[name], name
        if it.keyed:
            it.unlock(SECRET)
        assert all(it.contains(list(range(50)))), name
        it.copy().close()


def test_there_are_old_pickles():
    """One for each protocol at least."""
    assert {path.stem.rpartition("-")[2] for path in DATA.glob("*.pickle")} == {
        str(protocol) for protocol in PROTOCOLS}


def write_pickles(version):
    for protocol in PROTOCOLS:
        path = DATA / f"tamis-{version}-{protocol}.pickle"
        if not path.exists():
            made = everything()
            path.write_bytes(pickle.dumps(made, protocol))
            path.with_suffix(".txt").write_text(
                "".join(f"{name} {digest(it)}\n" for name, it in made.items()))


# --- Other processes ------------------------------------------------------------------------------


def shard(numbers):
    f, d, c = tamis.Filter(items=3000, fpr=0.01), tamis.Distinct(error=0.01), tamis.Counts(
        error=0.01)
    for it in (f, d, c):
        it.update(numbers)
    return f, d, c


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_multiprocessing(how):
    context = multiprocessing.get_context(how)
    parts = [list(range(i, 3000, 2)) for i in range(2)]
    with context.Pool(2) as pool:
        shards = pool.map(shard, parts)
    whole = shard([n for part in parts for n in part])
    merged = shards[0]
    for ours, theirs in zip(merged, shards[1]):
        ours |= theirs
    everyone = list(range(3500))
    assert all(merged[0].contains(everyone[:3000]))
    # The same bits. The images differ in their generation: loaded, changed.
    assert merged[0].contains(everyone) == whole[0].contains(everyone)
    assert merged[1].count == whole[1].count
    assert merged[2].upper(everyone) == whole[2].upper(everyone)


def test_fork():
    """A child has its own copy, and its end leaves the parent's alone."""
    f = tamis.Filter(items=1000, fpr=1e-9)
    f.add("parent")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        good = "parent" in f and f.add("child") and "child" in f
        os.write(write, b"good" if good else b"bad")
        f.close()
        os._exit(0)
    os.close(write)
    assert os.read(read, 10) == b"good"
    os.close(read)
    assert os.waitpid(child, 0)[1] == 0
    assert "child" not in f and "parent" in f


DASK = """
    import tamis

    def shard(numbers):
        import tamis
        f = tamis.Filter(items=4000, fpr=0.01, encoding="int64le")
        d = tamis.Distinct(error=0.01)
        f.update(numbers)
        d.update(numbers)
        return f, d

    def union(shards):
        first, *others = shards
        for f, d in others:
            first[0].merge(f)
            first[1].merge(d)
        return first

    if __name__ == "__main__":
        import os
        import distributed
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                      dashboard_address=None, host="127.0.0.1") as cluster:
            with distributed.Client(cluster) as client:
                shards = client.map(shard, [list(range(i, 4000, 4)) for i in range(4)])
                f, d = client.submit(union, shards).result(timeout=60)
                # The union goes back to the workers, which query it.
                far = client.scatter(f)
                found = client.submit(lambda f: sum(f.contains(list(range(4000)))), far).result()
                pids = set(client.run(os.getpid).values())
        assert os.getpid() not in pids and len(pids) == 2
        assert all(f.contains(list(range(4000)))) and found == 4000
        whole = tamis.Distinct(error=0.01)
        whole.update(range(4000))
        assert d.count == whole.count
        print("merged")
"""


def test_dask(tmp_path):
    """A real cluster of two worker processes on this machine."""
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(textwrap.dedent(DASK))
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.endswith(b"merged\n")


if __name__ == "__main__":
    write_pickles(sys.argv[1])
