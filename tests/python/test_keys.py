"""Keys: every row of docs/KEYS.md for Python, and what is refused. The command reads and writes
the same files, byte for byte."""
import decimal
import fractions
import struct
import uuid

import hypothesis
import hypothesis.strategies as st
import pytest

import tamis

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")

NO = 1e-12  # a rate at which no test sees a false positive


def fresh(**plan):
    return tamis.Filter(items=1000, fpr=NO, **plan)


@pytest.mark.parametrize("key, raw", [
    ("key", b"key"), ("", b""), ("é", b"\xc3\xa9"), ("\U0001f600", b"\xf0\x9f\x98\x80"),
    ("a\0b", b"a\0b"), ("\ud7ff", b"\xed\x9f\xbf"),
    (b"key", b"key"), (b"\xff\x00", b"\xff\x00"), (bytearray(b"key"), b"key"),
    (memoryview(b"key"), b"key"), (memoryview(b"kkeeyy")[::2], b"key"),
    (0, b"0"), (42, b"42"), (-7, b"-7"), (2**63, b"9223372036854775808"),
    (-2**63, b"-9223372036854775808"), (2**64 - 1, b"18446744073709551615"),
    (10**30, b"1" + b"0" * 30), (-10**30, b"-1" + b"0" * 30),
    (numpy.int64(42), b"42"), (numpy.int8(-7), b"-7"), (numpy.uint64(2**64 - 1), str(
        2**64 - 1).encode()), (numpy.str_("é"), "é".encode()), (numpy.bytes_(b"key"), b"key"),
])
def test_key_is_these_bytes(key, raw):
    f = fresh()
    assert f.add(key) is True
    assert raw in f and key in f and f.add(raw) is False
    assert bytes(f) == bytes(by_bytes(raw))
    bulk = fresh()
    bulk.update([key])
    assert bytes(bulk) == bytes(f)
    assert f.contains([key, b"other"]) == [True, False]
    assert f.select([b"other", key]) == [1]


def by_bytes(raw):
    f = fresh()
    f.add(raw)
    return f


def test_digits_of_the_longest_integers():
    """Python refuses to print integers of more than 4,300 digits, for safety."""
    f = fresh()
    f.add(10**4000)
    assert "1" + "0" * 4000 in f
    before = bytes(f)
    with pytest.raises(ValueError):
        f.add(10**5000)
    assert bytes(f) == before


class Subclass(str):
    """A str that prints as something else."""

    def __str__(self):
        return "other"


class Number(int):
    def __str__(self):
        return "other"

    __repr__ = __str__


def test_subclasses_are_their_values():
    f = fresh()
    f.update([Subclass("key"), Number(42)])
    f.add(Number(43))
    assert f.contains(["key", "42", "43", "other"]) == [True, True, True, False]


class Index:
    def __index__(self):
        return 42


def test_other_integers():
    """What has __index__ is an integer, as everywhere in Python."""
    f = fresh()
    f.add(Index())
    assert "42" in f and f.contains([Index()]) == [True]


NOT_KEYS = [True, False, 1.0, float("nan"), None, pandas.NA, pandas.NaT, numpy.float64(1),
            numpy.bool_(True), (), ("a",), ["a"], {"a"}, {"a": 1}, object(), 1j, Ellipsis,
            decimal.Decimal(1), fractions.Fraction(1), uuid.UUID(int=1),
            numpy.datetime64("2020-01-01"), pandas.Timestamp("2020-01-01"), type]


@pytest.mark.parametrize("wrong", NOT_KEYS, ids=lambda x: type(x).__name__)
def test_other_objects_are_refused(wrong):
    f = fresh(kind="counting")
    f.add("before")
    before = bytes(f)
    for call in (f.add, f.__contains__, f.remove, f.discard):
        with pytest.raises(TypeError) as caught:
            call(wrong)
        assert "str, bytes or int" in str(caught.value)
        assert type(wrong).__name__ in str(caught.value) or "dropna()" in str(caught.value)
    for call in (f.contains, f.select):
        with pytest.raises(TypeError) as caught:
            call(["a", "b", wrong])
        assert "2" in str(caught.value), "the row is named"
    with pytest.raises(TypeError):
        f.update([wrong])
    assert bytes(f) == before
    counts = tamis.Counts(bytes="16KiB")
    empty = bytes(counts)
    for call in (counts.add, counts.estimate, counts.__getitem__, lambda k: counts.update([k])):
        with pytest.raises(TypeError):
            call(wrong)
    assert bytes(counts) == empty


@pytest.mark.parametrize("wrong, advice", [(1.5, "str("), (None, ""), (True, "int(")])
def test_the_error_says_what_to_do(wrong, advice):
    with pytest.raises(TypeError) as caught:
        fresh().add(wrong)
    assert advice in str(caught.value)


def test_a_bad_key_in_the_middle_adds_the_keys_before_it_or_none():
    """A bulk call that fails has added exactly a prefix."""
    keys = [f"key {i}" for i in range(10_000)]
    f = tamis.Filter(items=20_000, fpr=NO)
    with pytest.raises(TypeError) as caught:
        f.update(keys[:7000] + [None] + keys[7000:])
    assert "7000" in str(caught.value)
    added = f.contains(keys)
    assert added == sorted(added, reverse=True) and sum(added) <= 7000
    assert len(f) == sum(added)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\udc80b" * 3])
def test_lone_surrogates(text):
    f = fresh()
    f.add("before")
    before = bytes(f)
    for call in (f.add, f.__contains__, lambda k: f.update(["ok", k][1:]),
                 lambda k: f.contains(["ok", k])):
        with pytest.raises(UnicodeEncodeError) as caught:
            call(text)
        assert isinstance(caught.value, ValueError) and "surrogate" in str(caught.value)
    assert bytes(f) == before
    for column in (numpy.array(["ok", text]), numpy.array(["ok", text], dtype=object),
                   pandas.Series(["ok", text]), pandas.Series(["ok", text], dtype="string")):
        with pytest.raises(ValueError):
            f.contains(column)


@pytest.mark.parametrize("keys", ["text", b"bytes", bytearray(b"bytes"), numpy.str_("a")])
def test_a_single_key_is_not_a_list_of_keys(keys):
    f = fresh()
    for call in (f.update, f.contains, f.select, f.add_all):
        with pytest.raises(TypeError) as caught:
            call(keys)
        assert "[key]" in str(caught.value)
    assert len(f) == 0


@pytest.mark.parametrize("keys", [5, None, 1.5, object(), True])
def test_what_is_not_iterable(keys):
    for call in (fresh().update, fresh().contains, fresh().select, tamis.Counts(bytes=9999).update):
        with pytest.raises(TypeError):
            call(keys)


def test_an_iterator_that_fails():
    def keys():
        yield "a"
        raise RuntimeError("the source broke")

    f = fresh()
    with pytest.raises(RuntimeError, match="the source broke"):
        f.update(keys())
    assert len(f) <= 1
    with pytest.raises(RuntimeError):
        f.contains(keys())


def test_a_list_that_changes_while_it_is_read():
    """Keys cannot run code here, because only str, bytes and int are keys; an iterator can."""
    keys = ["a"] * 5000

    def clearing():
        for i, key in enumerate(keys):
            if i == 4000:
                keys.clear()
            yield key

    f = fresh()
    f.update(clearing())
    assert "a" in f


def test_a_filter_that_is_changed_by_its_own_iterator():
    f = tamis.Filter(items=20_000, fpr=NO)

    def keys():
        for i in range(5000):
            f.add(-i)
            yield i

    f.update(keys())
    assert all(i in f and -i in f for i in range(1000))
    g = fresh()

    def closing():
        yield "a"
        g.close()
        yield "b"

    with pytest.raises(ValueError, match="closed"):
        g.update(closing())


# --- int64le --------------------------------------------------------------------------------------


def test_int64le():
    f = fresh(encoding="int64le")
    assert f.encoding == "int64le" and fresh().encoding is None
    f.update([0, 42, -7, 2**63 - 1, -2**63])
    for key in (0, 42, -7, 2**63 - 1, -2**63):
        assert key in f and struct.pack("<q", key) in f
    assert 43 not in f
    assert numpy.int64(42) in f and numpy.uint8(42) in f
    before = bytes(f)
    for key in (2**63, -2**63 - 1, 10**30, numpy.uint64(2**63)):
        for call in (f.add, f.__contains__, lambda k: f.update([k]), lambda k: f.contains([k])):
            with pytest.raises(OverflowError):
                call(key)
    for key in ("42", "", b"42", b"123456789", 42.0, True, None):
        for call in (f.add, f.__contains__, lambda k: f.update([k]), lambda k: f.contains([k])):
            with pytest.raises((TypeError, ValueError)):
                call(key)
    with pytest.raises(OverflowError):
        f.contains(numpy.array([1, 2**63], dtype=numpy.uint64))
    assert bytes(f) == before


@hypothesis.given(st.lists(st.integers(-2**63, 2**63 - 1), max_size=30))
def test_int64le_is_eight_bytes(keys):
    ours, raw = fresh(encoding="int64le"), fresh(encoding="int64le")
    ours.update(keys)
    for key in keys:
        raw.add(struct.pack("<q", key))
    column = fresh(encoding="int64le")
    column.update(numpy.array(keys, dtype=numpy.int64))
    assert bytes(ours) == bytes(raw) == bytes(column)


def test_other_encodings():
    fixed = fresh(encoding="fixed:4")
    fixed.update(["abcd", b"efgh"])
    before = bytes(fixed)
    for wrong in ("abc", b"abcde", 42):
        for call in (fixed.add, fixed.__contains__, lambda k: fixed.contains([k])):
            with pytest.raises((ValueError, TypeError)):
                call(wrong)
    assert "abcd" in fixed and bytes(fixed) == before
    text = fresh(encoding="text")
    text.update(["a", 5])
    assert text.contains(["a", "5"]) == [True, True] and text.encoding == "text"
    digest = fresh(encoding="sha256")
    digest.add(bytes(32))
    for wrong in ("abc", b"abc"):
        with pytest.raises((TypeError, ValueError)):
            digest.add(wrong)
    with pytest.raises((tamis.Error, ValueError)):
        fresh(encoding="utf-9")
    with pytest.raises(tamis.MismatchError):
        fresh(encoding="int64le").merge(text)


# --- Files and the command ------------------------------------------------------------------------


def test_a_filter_of_the_command(command, tmp_path):
    command("build", "-o", "seen.tamis", stdin=b"".join(b"%d\n" % i for i in range(1, 1001)))
    seen = tamis.open(tmp_path / "seen.tamis")
    assert all(i in seen for i in range(1, 1001)) and "1000" in seen
    assert all(seen.contains(numpy.arange(1, 1001)))
    assert all(seen.contains(range(1, 1001)))
    # 1 % of 2,000 are 20; more than 100 have a probability below 1e-9.
    assert sum(seen.contains(range(-2000, 0))) < 100


def test_the_command_reads_our_files(command, tmp_path):
    f = tamis.Filter(items=1000, fpr=NO)
    f.update(["é", 42, b"raw", "line"])
    f.save(tmp_path / "f.tamis")
    lines = "é\n42\nraw\nline\nother\n".encode()
    assert command("check", "f.tamis", stdin=lines) == lines[:-6]
    counts = tamis.Top(bytes="1MiB")
    counts.update(["a", "b", "a"])
    counts.save(tmp_path / "c.tamis")
    assert command("freq", "c.tamis", stdin=b"a\n").split()[0] == b"2"
    distinct = tamis.Distinct(error=0.01)
    distinct.update(range(100))
    distinct.save(tmp_path / "d.tamis")
    assert b"100" in command("info", "d.tamis")
    sealed = tamis.seal(["a", "b"], fpr=2**-30)
    sealed.save(tmp_path / "s.tamis")
    assert command("check", "s.tamis", stdin=b"a\nb\nc\n") == b"a\nb\n"


@pytest.mark.parametrize("words, make", [
    (["build", "--items", "5000", "--fpr", "0.01"], lambda: tamis.Filter(items=5000, fpr=0.01)),
    (["build", "--items", "5000", "--fpr", "0.001", "--kind", "bloom"],
     lambda: tamis.Filter(items=5000, fpr=0.001, kind="bloom")),
    (["build", "--items", "5000", "--fpr", "0.01", "--kind", "partitioned", "--seed", "5"],
     lambda: tamis.Filter(items=5000, fpr=0.01, kind="partitioned", seed=5)),
    (["build", "--items", "5000", "--fpr", "0.01", "--encoding", "int64le"],
     lambda: tamis.Filter(items=5000, fpr=0.01, encoding="int64le")),
    (["count", "--bytes", "64KiB"], lambda: tamis.Counts(bytes="64KiB")),
    (["distinct", "--error", "1%"], lambda: tamis.Distinct(error=0.01)),
])
def test_the_same_bytes_as_the_command(command, tmp_path, words, make):
    """The command gives each line to the library in order, and so does Python."""
    lines = b"".join(b"%d\n" % (i * 7919) for i in range(3000))
    command(*words, "-o", "theirs.tamis", stdin=lines)
    ours = make()
    ours.update(range(0, 3000 * 7919, 7919))
    ours.save(tmp_path / "ours.tamis")
    theirs = (tmp_path / "theirs.tamis").read_bytes()
    assert (tmp_path / "ours.tamis").read_bytes() == theirs
    column = make()
    column.update(numpy.arange(3000) * 7919)
    assert bytes(column) == theirs
    # And back: each one continues what the other began.
    with tamis.open(tmp_path / "theirs.tamis", update=True) as opened:
        opened.add(-5)
    if words[0] == "build":
        assert command("check", "theirs.tamis", stdin=b"-5\n") == b"-5\n"
        command("add", "ours.tamis", stdin=b"-5\n")
        assert (tmp_path / "ours.tamis").read_bytes() == (tmp_path / "theirs.tamis").read_bytes()


def test_packed_files(command, tmp_path):
    f = tamis.Filter(items=10_000, fpr=0.01, for_transfer=True)
    f.update(range(10_000))
    f.save(tmp_path / "p.packed", packed=True)
    f.save(tmp_path / "p.tamis")
    assert (tmp_path / "p.packed").stat().st_size < (tmp_path / "p.tamis").stat().st_size / 4
    command("unpack", "p.packed", "-o", "q.tamis")
    assert (tmp_path / "q.tamis").read_bytes() == (tmp_path / "p.tamis").read_bytes()
    assert bytes(tamis.open(tmp_path / "p.packed")) == bytes(f)
    assert bytes(tamis.load((tmp_path / "p.packed").read_bytes())) == bytes(f)
    command("pack", "p.tamis", "-o", "r.packed")
    assert (tmp_path / "r.packed").read_bytes() == (tmp_path / "p.packed").read_bytes()


def test_keys_of_the_command(command, tmp_path):
    """A key file of the command is 16 bytes in hexadecimal; it locks and opens the same filters."""
    command("key", "new", "k.key")
    text = (tmp_path / "k.key").read_text().split()
    secret = next(bytes.fromhex(word) for word in text if len(word) == 32)
    command("build", "--items", "100", "--fpr", "0.001", "--key-file", "k.key", "-o", "k.tamis",
            stdin=b"a\nb\n")
    f = tamis.open(tmp_path / "k.tamis", key=secret)
    assert f.keyed and "a" in f and "b" in f and "c" not in f
    ours = tamis.Filter(items=100, fpr=0.001, key=tamis.Key(secret))
    ours.update(["a", "b"])
    assert bytes(ours) == (tmp_path / "k.tamis").read_bytes()
