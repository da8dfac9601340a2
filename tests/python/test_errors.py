"""Failures: each has its class, its base and a reason, and changes nothing."""
import errno
import gc
import os
import pickle
import signal
import stat
import struct
import subprocess
import sys
import textwrap
import warnings

import pytest

import tamis

SECRET = bytes(range(16))


def small(**plan):
    f = tamis.Filter(**{**dict(items=100, fpr=0.01), **plan})
    f.update(["a", "b"])
    return f


BASES = {
    "InvalidError": ValueError, "UnsupportedError": TypeError, "FullError": OverflowError,
    "AbsentError": KeyError, "MismatchError": ValueError, "CorruptError": ValueError,
    "VersionError": ValueError, "KeyMissingError": ValueError, "FileError": OSError,
    "SealedError": TypeError, "BusyError": OSError,
}


@pytest.mark.parametrize("name", BASES)
def test_classes(name):
    kind = getattr(tamis, name)
    assert issubclass(kind, tamis.Error) and issubclass(kind, BASES[name])
    assert issubclass(tamis.Error, Exception) and not issubclass(tamis.Error, ValueError)
    assert kind.__module__ == "tamis" and kind.__doc__
    assert issubclass(tamis.OverfullWarning, UserWarning)
    assert issubclass(tamis.BusyError, tamis.FileError)


def closed():
    f = small()
    f.close()
    return f


CASES = {
    "only a rate": (tamis.InvalidError, lambda: tamis.Filter(fpr=0.01)),
    "a rate of 2": (tamis.InvalidError, lambda: tamis.Filter(items=5, fpr=2)),
    "no plan at all": (tamis.InvalidError, lambda: tamis.Filter()),
    "an unknown kind": (tamis.InvalidError, lambda: tamis.Filter(items=5, fpr=0.1, kind="sieve")),
    "negative items": ((tamis.InvalidError, OverflowError),
                       lambda: tamis.Filter(items=-5, fpr=0.1)),
    "too many items": ((tamis.InvalidError, OverflowError),
                       lambda: tamis.Filter(items=2**70, fpr=0.1)),
    "a short key": ((tamis.InvalidError, ValueError), lambda: small(key=b"short")),
    "a key as text": (TypeError, lambda: small(key="0123456789abcdef")),
    "memory beyond the limit": (MemoryError, lambda: tamis.Filter(items=10**6, fpr=0.01,
                                                                  max_bytes=1000)),
    "removal": (tamis.UnsupportedError, lambda: small().remove("a")),
    "rotation": (tamis.UnsupportedError, lambda: small().rotate()),
    "strict and full": (tamis.FullError, lambda: small(items=2, strict=True).update(range(99))),
    "an absent key": (tamis.AbsentError, lambda: small(kind="counting").remove("never")),
    "another shape": (tamis.MismatchError, lambda: small().merge(small(items=2000))),
    "another seed": (tamis.MismatchError, lambda: small().merge(small(seed=1))),
    "another kind": (tamis.MismatchError, lambda: small().merge(small(kind="bloom"))),
    "itself": (tamis.InvalidError, lambda: (lambda f: f.merge(f))(small())),
    "not an image": (tamis.CorruptError, lambda: tamis.load(b"not an image")),
    "nothing": (tamis.CorruptError, lambda: tamis.load(b"")),
    "text": (TypeError, lambda: tamis.load("text")),
    "no key": (tamis.KeyMissingError, lambda: tamis.load(bytes(small(key=SECRET)))),
    "a wrong key": (tamis.KeyMissingError,
                    lambda: tamis.load(bytes(small(key=SECRET)), key=bytes(16))),
    "a sealed filter": (tamis.SealedError, lambda: small().seal().add("c")),
    "no file": (tamis.FileError, lambda: tamis.open("there/is/no/such/file")),
    "a NUL in the path": (ValueError, lambda: tamis.open("a\0b")),
    "a number as the path": (TypeError, lambda: tamis.open(1.5)),
    "an unknown argument": (TypeError, lambda: tamis.Filter(items=5, fpr=0.1, colour="red")),
    "a closed filter": (ValueError, lambda: closed().add("a")),
    "a merge with a set": (TypeError, lambda: small().merge({"a"})),
    "a union with a set": (TypeError, lambda: small() | {"a"}),
    "another class": ((tamis.MismatchError, TypeError),
                      lambda: small().merge(tamis.Distinct(error=0.1))),
    "the wrong class": ((tamis.MismatchError, TypeError, ValueError),
                        lambda: tamis.Distinct.from_bytes(bytes(small()))),
    "a private key object": (TypeError, lambda: tamis.Key("text")),
    "a short key object": (ValueError, lambda: tamis.Key(b"short")),
    "a count of a filter": ((tamis.UnsupportedError, AttributeError, TypeError),
                            lambda: small()["a"]),
}


@pytest.mark.parametrize("what", CASES)
def test_failures(what):
    kind, call = CASES[what]
    with pytest.raises(kind) as caught:
        call()
    e = caught.value
    assert str(e).strip() and "\n" not in str(e)
    if isinstance(e, tamis.Error):
        assert isinstance(e.status, int) and e.status < 0 and isinstance(e.offset, int)
        copy = pickle.loads(pickle.dumps(e))
        assert type(copy) is type(e) and str(copy) == str(e) and copy.status == e.status


def test_better_kinds():
    with pytest.raises(tamis.UnsupportedError) as caught:
        small().remove("a")
    assert caught.value.better_kind in tamis.kinds
    assert caught.value.better_kind in str(caught.value)


def test_files_name_their_path(tmp_path):
    path = tmp_path / "missing.tamis"
    with pytest.raises(FileNotFoundError) as caught:
        tamis.open(path)
    e = caught.value
    assert isinstance(e, tamis.FileError) and e.errno == errno.ENOENT
    assert os.fspath(e.filename) == os.fspath(path)
    assert "missing.tamis" in str(e)
    for form in (str(path), os.fsencode(path)):
        with pytest.raises(OSError) as caught:
            tamis.open(form)
        assert caught.value.errno == errno.ENOENT
    with pytest.raises(OSError) as caught:
        small().save(tmp_path)
    assert caught.value.errno in (errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.EINVAL)
    f = small()
    f.save(path, new=True)
    with pytest.raises(FileExistsError):
        small().save(path, new=True)
    assert tamis.open(path).contains(["a", "b"]) == [True, True]


def test_modes_and_paths(tmp_path):
    small().save(tmp_path / "a", mode=0o600)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    small().save(os.fsencode(tmp_path / "b"))
    small().save(str(tmp_path / "é"))
    assert "a" in tamis.open(os.fsencode(tmp_path / "é"))
    raw = os.fsencode(tmp_path) + b"/\xff"
    small().save(raw)
    assert "a" in tamis.open(os.fsdecode(raw))
    with pytest.raises((ValueError, tamis.Error)):
        small().save(tmp_path / "c", mode=0o7777)
    assert not (tmp_path / "c").exists()


# --- Closed, sealed, overfull ---------------------------------------------------------------------


def test_closed_objects():
    other = small()
    for f in (small(), tamis.Top(bytes="1MiB"), tamis.Distinct()):
        f.close()
        f.close()
        assert f.closed and "closed" in repr(f)
        calls = [lambda: f.add("a"), lambda: "a" in f, lambda: f.update(["a"]), lambda: len(f),
                 lambda: f.contains(["a"]), lambda: bytes(f), lambda: f.info, lambda: f.copy(),
                 lambda: f.save("never"), lambda: pickle.dumps(f), lambda: f.clear(),
                 lambda: f.merge(other), lambda: other.merge(f),
                 lambda: memoryview(f), lambda: f.seal(), lambda: f.__enter__(),
                 lambda: f.select(["a"]), lambda: f.rotate(), lambda: f.fpr, lambda: f.nbytes]
        for i, call in enumerate(calls):
            try:
                call()
            except ValueError as e:
                assert "closed" in str(e), i
            else:
                pytest.fail(f"call {i} of {type(f)} succeeds")
    assert not os.path.exists("never")


def test_sealed_objects():
    f = small().seal()
    assert f.sealed and "a" in f and f.seal() is f
    before = bytes(f)
    for call in (lambda: f.add("c"), lambda: f.update(["c"]), lambda: f.clear(),
                 lambda: f.merge(small()), lambda: f.add_all(["c"])):
        with pytest.raises(tamis.SealedError):
            call()
    assert bytes(f) == before
    view = tamis.view(bytes(small()))
    with pytest.raises(tamis.SealedError):
        view.add("c")
    copy = view.copy()
    copy.add("c")
    assert "c" in copy


def test_one_warning_when_overfull():
    f = tamis.Filter(items=100, fpr=0.01)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f.update(range(90))
        assert not caught and not f.overfull
        f.update(range(200))
        assert len(caught) == 1 and caught[0].category is tamis.OverfullWarning
        assert caught[0].filename == __file__
        for i in range(300):
            f.add(i)
        f.update(range(400))
    assert len(caught) == 1 and f.overfull
    single = tamis.Filter(items=10, fpr=0.01)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(50):
            single.add(i)
    assert [w.category for w in caught] == [tamis.OverfullWarning]


def test_a_warning_as_an_error():
    """The keys are in then: the warning comes after the add."""
    f = tamis.Filter(items=10, fpr=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tamis.OverfullWarning):
            f.update(range(50))
        assert all(f.contains(list(range(50))))
        f.update(range(60))  # once is enough


def test_strict_filters_take_a_prefix():
    f = tamis.Filter(items=50, fpr=0.01, strict=True)
    with pytest.raises(tamis.FullError):
        f.update(list(range(1000)))
    added = f.contains(list(range(1000)))
    assert all(added[:len(f)]) and 50 <= len(f) <= f.info.planned_items
    before = bytes(f)
    with pytest.raises(OverflowError):
        f.update(range(10_000, 20_000))
    with pytest.raises(OverflowError):
        [f.add(i) for i in range(10_000, 10_100)]
    assert bytes(f) == before


# --- Damage ---------------------------------------------------------------------------------------


def images():
    f = small()
    top = tamis.Top(bytes="16KiB", items=5)
    top.update(["a", "a", "b"])
    d = tamis.Distinct(error=0.1)
    d.update(range(50))
    return [f, small(kind="counting"), top, d, tamis.seal(range(50), fpr=0.01)]


def test_truncated_images_at_every_length():
    for f in images():
        image = bytes(f)
        step = 1 if len(image) < 3000 else 97
        for n in [*range(0, len(image), step), len(image) - 1]:
            with pytest.raises(tamis.CorruptError):
                tamis.load(image[:n])
            with pytest.raises(tamis.CorruptError):
                type(f).from_bytes(image[:n])
        with pytest.raises(tamis.CorruptError):
            tamis.load(image + b"\0")


def test_every_flipped_byte():
    image = bytes(small())
    for i in range(len(image)):
        wrong = bytearray(image)
        wrong[i] ^= 1 + i % 255
        with pytest.raises(tamis.Error) as caught:
            tamis.load(wrong)
        assert isinstance(caught.value, (tamis.CorruptError, tamis.VersionError))
        with pytest.raises(tamis.Error):
            tamis.view(bytes(wrong))


def test_damaged_files(tmp_path):
    path = tmp_path / "f.tamis"
    image = bytes(small())
    for wrong in (image[:-1], image[:100], b"", image + b"x", image[:200] + b"\xff" + image[201:]):
        path.write_bytes(wrong)
        for options in ({}, {"mmap": True}, {"update": True}):
            with pytest.raises(tamis.CorruptError):
                tamis.open(path, **options)
        assert path.read_bytes() == wrong
    packed = tmp_path / "p.packed"
    small().save(packed, packed=True)
    whole = packed.read_bytes()
    for n in range(len(whole)):
        packed.write_bytes(whole[:n])
        with pytest.raises(tamis.Error):
            tamis.open(packed)
        with pytest.raises(tamis.Error):
            tamis.load(whole[:n])


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_truncated_pickles_at_every_length(protocol):
    whole = pickle.dumps(small(), protocol)
    assert "a" in pickle.loads(whole)
    for n in range(len(whole)):
        with pytest.raises(Exception) as caught:
            pickle.loads(whole[:n])
        assert isinstance(caught.value, (pickle.UnpicklingError, EOFError, ValueError, IndexError,
                                         KeyError, AttributeError, ImportError, TypeError))


def test_pickles_with_flipped_bytes():
    """A pickle is a program, so only the image inside is under test: it is checked."""
    image, whole = bytes(small()), pickle.dumps(small())
    at = whole.index(image)
    for i in range(at, at + len(image), 7):
        wrong = bytearray(whole)
        wrong[i] ^= 0x10
        with pytest.raises((tamis.CorruptError, tamis.VersionError)):
            pickle.loads(bytes(wrong))


def test_hostile_state():
    """The functions that a pickle calls refuse what is not an image."""
    function, arguments = small().__reduce_ex__(2)[:2]
    state = small().__reduce_ex__(2)[2:]
    for wrong in (b"", b"x" * 200, "text", None, 5):
        with pytest.raises((TypeError, ValueError)):
            made = function(*(wrong if isinstance(a, bytes) else a for a in arguments))
            if state and state[0] is not None:
                made.__setstate__(wrong)


def restated(image, read, write):
    """The image of one section and one chunk with other versions and the right root
    (docs/FORMAT.md, "Header")."""
    xxhash = pytest.importorskip("xxhash")
    data = bytearray(image)
    data[8:12] = struct.pack("<HH", read, write)
    data[120:128] = bytes(8)
    data[120:128] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[:200])))
    return bytes(data)


def test_a_newer_format():
    image = bytes(small())
    assert restated(image, 1, 1) == image
    with pytest.raises(tamis.VersionError):
        tamis.load(restated(image, 2, 2))
    readable = tamis.load(restated(image, 1, 2))  # may be read, but not changed
    assert "a" in readable
    with pytest.raises((tamis.SealedError, tamis.VersionError)):
        readable.add("c")


def test_failed_constructors_leave_no_half_object():
    for kind in (tamis.Filter, tamis.Counts, tamis.Top, tamis.Distinct, tamis.Window):
        it = kind.__new__(kind)
        for call in (lambda: it.add("a"), lambda: "a" in it, lambda: len(it), lambda: bytes(it)):
            with pytest.raises((ValueError, TypeError, tamis.Error)):
                call()
        assert repr(it)
        it.close()
        del it
    gc.collect()


def test_init_twice_keeps_one_filter():
    f = small()
    try:
        f.__init__(items=100, fpr=0.01)
    except (TypeError, ValueError, RuntimeError):
        assert "a" in f
    else:
        f.add("c")
        assert "c" in f
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        f.__init__(items=-1, fpr=5)
    f.close()


# --- Signals --------------------------------------------------------------------------------------


INTERRUPTED = """
    import itertools, os, signal, threading, time
    import numpy, tamis
    counts = tamis.Counts(bytes="64KiB", encoding={encoding!r})
    keys = {keys}

    def interrupt():
        while counts.total == 0:  # until the call has begun
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        counts.update(keys)  # which never ends by itself, or not soon
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit("the call was not interrupted")
    # A prefix was added.
    assert 0 < counts.total < {rows}
    assert counts.upper([0])[0] == counts.total
    counts.add(-7)
    again = tamis.load(bytes(counts))
    assert again[-7] == 1 and again.total == counts.total
    print("usable")
"""


@pytest.mark.parametrize("encoding, keys, rows", [
    (None, "itertools.repeat(0)", 10**12),
    (None, "numpy.broadcast_to(numpy.int64(0), (10**12,))", 10**12),
    ("int64le", "numpy.broadcast_to(numpy.int64(0), (10**12,))", 10**12),
    (None, "numpy.broadcast_to(numpy.array('0'), (10**12,))", 10**12),
    (None, "numpy.broadcast_to(numpy.array('0', dtype=object), (10**12,))", 10**12),
    ("int64le", "numpy.zeros(200_000_000, 'i8')", 200_000_000),  # pages that are never written
], ids=["iterator", "text", "converted", "U", "object", "in place"])
def test_ctrl_c(encoding, keys, rows):
    """A real SIGINT during one long update raises KeyboardInterrupt, and the prefix that was added
    is usable."""
    script = textwrap.dedent(INTERRUPTED.format(encoding=encoding, keys=keys, rows=rows))
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b"usable\n"


def test_a_signal_handler_that_returns():
    """A signal whose handler returns does not end an update."""
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        f = tamis.Filter(items=1000, fpr=0.01)

        def keys():
            for i in range(2000):
                if i == 1000:
                    os.kill(os.getpid(), signal.SIGUSR1)
                yield i % 500

        f.update(keys())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen and all(f.contains(range(500)))
