"""Arrow arrays and streams by PyCapsules. Nulls are neither added nor found, everything is released
exactly once, and an invalid array is refused."""
import struct

import hypothesis
import hypothesis.strategies as st
import pytest

import tamis

import arrow_made as arrow

numpy = pytest.importorskip("numpy")

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=6).filter(
    lambda s: not any("\ud800" <= c <= "\udfff" for c in s))), max_size=40)


def fresh(**plan):
    return tamis.Filter(items=1000, fpr=0.01, **plan)


def released(*columns):
    for column in columns:
        assert column.tracker.made == column.tracker.released > 0


def same_as_rows(column, rows, **plan):
    """All calls with a column, against its rows of which None is a null."""
    real = [row for row in rows if row is not None]
    ours, listed = fresh(**plan), fresh(**plan)
    ours.update(column)
    listed.update(real)
    assert bytes(ours) == bytes(listed)
    half = fresh(**plan)
    half.update(real[::2])
    expected = [row is not None and row in half for row in rows]
    mask = half.contains(column)
    assert mask.dtype == bool and mask.tolist() == expected
    assert half.select(column).tolist() == [i for i, yes in enumerate(expected) if yes]
    again, counts = fresh(**plan), tamis.Counts(bytes="64KiB", **plan)
    listing = fresh(**plan)
    assert again.add_all(column).tolist() == [
        row is not None and listing.add(row) for row in rows]
    counts.update(column)
    assert counts.total == len(real)
    assert counts.upper(column).tolist() == [
        0 if row is None else counts.upper([row])[0] for row in rows]
    released(column)


@pytest.mark.parametrize("form", "uUzZ")
@hypothesis.given(values=TEXTS)
def test_texts(form, values):
    column = arrow.texts(values, form)
    same_as_rows(column, values)


@pytest.mark.parametrize("form", "cCsSiIlL")
@hypothesis.given(data=st.data())
def test_integers(form, data):
    bits = {"c": 8, "s": 16, "i": 32, "l": 64}[form.lower()]
    low, high = (0, 2**bits - 1) if form.isupper() else (-2**(bits - 1), 2**(bits - 1) - 1)
    values = data.draw(st.lists(st.one_of(st.none(), st.integers(low, high)), max_size=30))
    same_as_rows(arrow.integers(values, form), values)
    values = [None if v is None or v >= 2**63 else v for v in values]
    same_as_rows(arrow.integers(values, form), values, encoding="int64le")


@hypothesis.given(values=st.lists(st.one_of(st.none(), st.binary(max_size=30)), max_size=30),
                  start=st.integers(0, 5))
def test_views(values, start):
    start = min(start, len(values))
    same_as_rows(arrow.views(values, "vz"), values)
    same_as_rows(arrow.views(values, "vz", split=1).sliced(start, len(values) - start),
                 values[start:])
    texts = [None if v is None else v.hex() for v in values]
    same_as_rows(arrow.views(texts), texts)


@pytest.mark.parametrize("row", [
    struct.pack("=i12s", -1, b""), struct.pack("=i4sii", 13, b"aaaa", 1, 0),
    struct.pack("=i4sii", 13, b"aaaa", -1, 0), struct.pack("=i4sii", 13, b"aaaa", 0, 8),
    struct.pack("=i4sii", 13, b"aaaa", 0, -1), struct.pack("=i4sii", 2**31 - 1, b"aaaa", 0, 0)])
def test_wrong_views(row):
    column = arrow.Column("vu", 1, [None, row, b"a" * 20, struct.pack("=q", 20)])
    refused(column)


def test_fixed_width():
    values = [b"abcd", None, b"\0\0\0\0", b"efgh"]
    same_as_rows(arrow.fixed(values, 4), values)
    same_as_rows(arrow.fixed(values, 4), values, encoding="fixed:4")


@hypothesis.given(values=TEXTS, start=st.integers(0, 40), length=st.integers(0, 40))
def test_slices(values, start, length):
    start = min(start, len(values))
    length = min(length, len(values) - start)
    rows = values[start:start + length]
    same_as_rows(arrow.texts(values).sliced(start, length), rows)
    numbers = [None if v is None else len(v) for v in values]
    column = arrow.integers(numbers, "i").sliced(start, length)
    same_as_rows(column, numbers[start:start + length])
    wide = arrow.integers(numbers, "l").sliced(start, length)
    same_as_rows(wide, numbers[start:start + length], encoding="int64le")


@hypothesis.given(parts=st.lists(TEXTS, min_size=1, max_size=5))
def test_streams(parts):
    columns = [arrow.texts(part, "U") for part in parts]
    stream = arrow.Stream(columns)
    same_as_rows(stream, [row for part in parts for row in part])
    released(*columns)


def test_streams_of_integers_and_slices():
    first = arrow.integers([1, None, 3, 4, 5], "l")
    columns = [first.sliced(1, 3), arrow.integers([], "l"), arrow.integers([7], "l")]
    same_as_rows(arrow.Stream(columns), [None, 3, 4, 7], encoding="int64le")
    same_as_rows(arrow.Stream(columns), [None, 3, 4, 7])
    empty = arrow.Stream([], form="u")
    f = fresh()
    f.update(empty)
    assert len(f) == 0 and f.contains(empty).shape == (0,)
    released(empty)


def test_big_columns():
    n = 200_000
    values = [f"row {i}" if i % 7 else None for i in range(n)]
    column = arrow.texts(values)
    f = tamis.Filter(items=n, fpr=0.01)
    f.update(column)
    mask = f.contains(column)
    assert mask.tolist() == [v is not None for v in values]
    listed = tamis.Filter(items=n, fpr=0.01)
    listed.update([v for v in values if v is not None])
    assert bytes(f) == bytes(listed)
    released(column)


# --- What is refused ------------------------------------------------------------------------------


def refused(column, kind=(TypeError, ValueError), **plan):
    f = fresh(**plan)
    before = bytes(f)
    messages = []
    for call in (f.update, f.contains, f.select, f.add_all):
        with pytest.raises(kind) as caught:
            call(column)
        messages.append(str(caught.value))
    assert bytes(f) == before
    if hasattr(column, "tracker"):
        assert column.tracker.made == column.tracker.released
    return messages[0]


def test_dictionaries_are_refused():
    column = arrow.integers([0, 1], "i")
    column.dictionary = arrow.texts(["a", "b"])
    f = fresh()
    with pytest.raises(TypeError, match="decode"):
        f.update(column)
    assert len(f) == 0


@pytest.mark.parametrize("form", ["g", "f", "b", "n", "tdD", "tsu:UTC", "d:10,2", "+l", "+s", "vu",
                                  "", "w:", "w:x", "w:-4", "w:99999999999999999999", "w:4x", "i8",
                                  "uu"])
def test_other_formats_are_refused(form):
    values = arrow.integers([1, 2], "l")
    values.form = form
    refused(values)


@pytest.mark.parametrize("ends, size", [
    ([0, 2, 1, 3], 3), ([0, -1, 2, 3], 3), ([-1, 0, 1, 2], 3), ([3, 2, 1, 0], 3),
    ([0, 2**31 - 1, 0, 0], 3)])
def test_wrong_offsets(ends, size):
    """The interface does not carry the size of the text, so only the order can be checked."""
    column = arrow.Column("u", 3, [None, struct.pack("=4i", *ends), bytes(size)])
    refused(column)
    large = arrow.Column("U", 3, [None, struct.pack("=4q", *ends), bytes(size)])
    refused(large)
    for one in (column, large):
        with pytest.raises(ValueError):
            tamis.Filter(items=10, fpr=0.01, kind="cuckoo").remove_all(one)
        with pytest.raises(ValueError):
            tamis.Filter(items=10, kind="exact", excluded=10, fpr=0.01).exclude(one)


@pytest.mark.parametrize("changes", [dict(length=-1), dict(offset=-1), dict(length=2**62),
                                     dict(offset=2**63 - 1), dict(length=2**63 - 1, offset=5)])
@pytest.mark.parametrize("form", "ul")
def test_wrong_numbers(form, changes):
    column = arrow.texts(["a"]) if form == "u" else arrow.integers([1], "l")
    for name, value in changes.items():
        setattr(column, name, value)
    refused(column, (TypeError, ValueError, MemoryError, OverflowError))


@pytest.mark.parametrize("form, buffers", [
    ("u", []), ("u", [None]), ("u", [None, None]), ("u", [None, None, b"abc"]), ("l", []),
    ("l", [None]), ("l", [None, None]), ("w:4", [None, None]), ("l", [None] * 5)])
def test_missing_buffers(form, buffers):
    refused(arrow.Column(form, 3, buffers))


def test_no_bytes_need_no_buffer():
    column = arrow.Column("u", 2, [None, struct.pack("=3i", 0, 0, 0), None])
    same_as_rows(column, ["", ""])
    same_as_rows(arrow.Column("u", 0, [None, None, None]), [])


class Hostile:
    def __init__(self, answer):
        self.answer = answer

    def __arrow_c_array__(self, requested_schema=None):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [None, (), (1, 2), (1, 2, 3), "ab", [None, None]])
def test_what_is_not_a_pair_of_capsules(answer):
    refused(Hostile(answer))


def test_capsules_with_other_names():
    column = arrow.texts(["a"])
    refused(Hostile((arrow.capsule(column.schema(), b"other"), arrow.capsule(column.array()))))
    refused(Hostile((arrow.capsule(column.schema()), arrow.capsule(column.array(), b"other"))))
    schema, array = column.__arrow_c_array__()
    refused(Hostile((array, schema)))


def test_capsules_that_were_used():
    column = arrow.texts(["a"])
    schema, array = column.__arrow_c_array__()
    f = fresh()
    f.update(Hostile((schema, array)))
    assert "a" in f
    try:
        f.update(Hostile((schema, array)))  # released: an error, or still held by the capsule
    except (TypeError, ValueError):
        pass
    del schema, array
    released(column)


def test_what_was_released_is_refused():
    """A consumer that took an array away leaves a struct without a release function."""
    for which in range(3):
        column = arrow.texts(["a"])
        schema, array = column.schema(), column.array()
        if which == 0:
            schema.release(arrow.ctypes.addressof(schema))
        elif which == 1:
            array.release(arrow.ctypes.addressof(array))
        f, made = fresh(), Hostile((arrow.capsule(schema), arrow.capsule(array)))
        if which == 2:
            f.update(made)
            assert "a" in f
        else:
            with pytest.raises((TypeError, ValueError)):
                f.update(made)
            assert len(f) == 0
        del made
        released(column)


def test_errors_of_the_producer():
    with pytest.raises(ZeroDivisionError):
        fresh().update(Hostile(ZeroDivisionError()))
    with pytest.raises(KeyboardInterrupt):
        fresh().update(Hostile(KeyboardInterrupt()))


def test_streams_that_break():
    good = arrow.texts(["a", "b"])
    f = fresh()
    broken = arrow.Stream([good, good], fails=1)
    with pytest.raises((ValueError, OSError, RuntimeError), match="the stream broke"):
        f.update(broken)
    assert f.contains(["a", "b"]) in ([True, True], [False, False]), "whole columns or nothing"
    released(broken, good)
    with pytest.raises((ValueError, OSError, RuntimeError)):
        fresh().contains(arrow.Stream([good], schema_fails=True))
    with pytest.raises((ValueError, OSError, RuntimeError)):
        fresh().contains(arrow.Stream([good], fails=0))


def test_keys_that_the_encoding_excludes():
    refused(arrow.texts(["abc"]), (TypeError, ValueError), encoding="int64le")
    refused(arrow.fixed([b"abc"], 3), (TypeError, ValueError), encoding="fixed:4")
    refused(arrow.integers([2**63], "L"), (OverflowError,), encoding="int64le")
