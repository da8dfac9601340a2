"""Files: updates that are saved or discarded, two writers, mapped files, views of buffers."""
import gc
import mmap
import os
import subprocess
import sys
import textwrap
import threading

import pytest

import tamis


@pytest.fixture
def path(tmp_path):
    f = tamis.Filter(items=1000, fpr=1e-9)
    f.update(["a", "b"])
    f.save(tmp_path / "f.tamis")
    return tmp_path / "f.tamis"


def test_a_clean_exit_saves(path):
    with tamis.open(path, update=True) as f:
        f.add("c")
        assert not f.closed
    assert f.closed
    assert tamis.open(path).contains(["a", "b", "c"]) == [True] * 3
    assert tamis.open(path).info.generation == 2


def test_an_exception_discards(path):
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        with tamis.open(path, update=True) as f:
            f.add("c")
            1 / 0
    assert f.closed and path.read_bytes() == before
    with tamis.open(path, update=True, wait=False) as f:  # the lock is free again
        f.add("d")
    assert "d" in tamis.open(path)


def test_no_change_no_write(path):
    before, changed = path.read_bytes(), path.stat().st_mtime_ns
    with tamis.open(path, update=True):
        pass
    assert path.read_bytes() == before and path.stat().st_mtime_ns >= changed


def test_only_updates_are_saved(path):
    before = path.read_bytes()
    with tamis.open(path) as f:
        f.add("c")
    assert f.closed and path.read_bytes() == before
    with tamis.Filter(items=10, fpr=0.01) as f:
        f.add("a")
    assert f.closed
    for f in (tamis.open(path, update=True), tamis.open(path)):
        f.add("c")
        f.close()
    assert path.read_bytes() == before, "close() without `with` does not save"


def test_closing_inside(path):
    before = path.read_bytes()
    with tamis.open(path, update=True) as f:
        f.add("c")
        f.close()
    assert path.read_bytes() == before


def test_two_writers(path):
    with tamis.open(path, update=True) as f:
        f.add("first")
        with pytest.raises(tamis.BusyError) as caught:
            tamis.open(path, update=True, wait=False)
        assert isinstance(caught.value, OSError)
        assert "a" in tamis.open(path) and "first" not in tamis.open(path)  # readers go on
    with tamis.open(path, update=True, wait=False) as f:
        assert "first" in f


def test_a_writer_waits(path):
    """The second writer gets the lock when the first is done, and sees its keys. Other threads run
    while it waits."""
    first = tamis.open(path, update=True)
    waiting, seen = threading.Event(), []

    def second():
        waiting.set()
        with tamis.open(path, update=True) as f:
            seen.append("first" in f)
            f.add("second")

    thread = threading.Thread(target=second)
    thread.start()
    waiting.wait()
    with first as f:
        f.add("first")
    thread.join(60)
    assert seen == [True]
    assert tamis.open(path).contains(["first", "second"]) == [True, True]


WRITER = """
    import sys, tamis
    for i in range(20):
        with tamis.open(sys.argv[1], update=True) as f:
            f.add(f"{sys.argv[2]} {i}")
"""


def test_writers_in_other_processes_lose_nothing(path):
    writers = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), str(path), name])
               for name in "xy"]
    assert [w.wait(120) for w in writers] == [0, 0]
    f = tamis.open(path)
    assert all(f.contains([f"{name} {i}" for name in "xy" for i in range(20)]))


def test_a_file_that_changed_meanwhile(path):
    f, g = tamis.open(path), tamis.open(path)
    f.add("f")
    f.save(path)
    g.add("g")
    with pytest.raises(tamis.BusyError):
        g.save(path)
    assert "f" in tamis.open(path) and "g" not in tamis.open(path)


def test_mapped(path):
    f = tamis.open(path, mmap=True)
    assert f.contains(["a", "b", "c"]) == [True, True, False]
    with pytest.raises(tamis.SealedError):
        f.add("c")
    tamis.Filter(items=10, fpr=0.01).save(path)  # replaced, not truncated
    assert "a" in f
    copy = f.copy()
    f.close()
    copy.add("c")
    assert "c" in copy


def test_options_that_exclude_each_other(path):
    before = path.read_bytes()
    with pytest.raises((ValueError, tamis.Error)):
        tamis.open(path, mmap=True, update=True)
    assert path.read_bytes() == before


# --- Views and buffers ----------------------------------------------------------------------------


def test_views_keep_their_buffer():
    f = tamis.Filter(items=1000, fpr=1e-9)
    f.update(range(100))
    image = bytearray(bytes(f))
    view = tamis.view(image)
    with pytest.raises(BufferError):
        image.append(1)
    del f
    gc.collect()
    assert all(view.contains(list(range(100))))
    view.close()
    image.append(1)  # free again
    view = tamis.view(bytes(image[:-1]))
    gc.collect()
    assert all(view.contains(list(range(100))))


@pytest.mark.parametrize("offset", range(0, 65, 7))
def test_views_at_any_alignment(offset):
    f = tamis.Filter(items=100, fpr=0.01)
    f.add("a")
    image = bytes(f)
    view = tamis.view(memoryview(b"x" * offset + image)[offset:])
    assert "a" in view and bytes(view) == image
    assert "a" in tamis.Filter.from_bytes(memoryview(b"x" * offset + image)[offset:])


def test_a_view_of_a_mapped_file(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        view = tamis.view(pages)
        assert "a" in view
        with pytest.raises(BufferError):
            pages.close()
        view.close()


def test_memoryviews_are_snapshots():
    f = tamis.Filter(items=1000, fpr=1e-9)
    f.add("a")
    with memoryview(f) as snapshot:
        assert snapshot.readonly and snapshot.nbytes == f.nbytes and snapshot.format == "B"
        before = bytes(snapshot)
        f.add("b")
        assert bytes(snapshot) == before
        with pytest.raises(TypeError):
            snapshot[0] = 0
    kept = memoryview(f)
    f.close()
    del f
    gc.collect()
    assert tamis.load(kept).contains(["a", "b"]) == [True, True]


def test_bad_buffers():
    image = bytes(tamis.Filter(items=10, fpr=0.01))
    for wrong in ("text", None, 5, [1, 2], memoryview(image)[::2]):
        for call in (tamis.load, tamis.view, tamis.Filter.from_bytes):
            with pytest.raises((TypeError, ValueError, BufferError)):
                call(wrong)


# --- Leaks of descriptors -------------------------------------------------------------------------


def test_descriptors_are_closed(path):
    def number():
        return len(os.listdir("/proc/self/fd"))

    tamis.open(path)
    before = number()
    for _ in range(50):
        tamis.open(path)
        tamis.open(path, mmap=True)
        with tamis.open(path, update=True) as f:
            f.add("x")
        with pytest.raises(tamis.Error):
            tamis.load(b"x")
        with pytest.raises(OSError):
            tamis.open(path / "none")
    gc.collect()
    assert number() == before
