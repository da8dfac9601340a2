"""Columns: numpy, pandas and buffers answer as their rows do one by one, whatever their layout."""
import array
import collections

import hypothesis
import hypothesis.strategies as st
import pytest

import tamis

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FORMS = [order + name for name in INTS for order in "<>"]


def makers():
    return [lambda: tamis.Filter(items=2000, fpr=0.01),
            lambda: tamis.Filter(items=2000, fpr=0.01, encoding="int64le"),
            lambda: tamis.Counts(bytes="64KiB"),
            lambda: tamis.Top(bytes="64KiB", encoding="int64le"),
            lambda: tamis.Distinct(error=0.01)]


def same_as_one_by_one(column, rows, make=None):
    """update, add_all, contains and select of a column, against the same with a list of keys."""
    for make in [make] if make else makers():
        ours, listed = make(), make()
        try:
            listed.update(rows)
        except (TypeError, OverflowError) as e:  # a key that this encoding excludes
            with pytest.raises(type(e)):
                ours.update(column)
            assert bytes(ours) == bytes(listed), "both have the same prefix"
            continue
        assert ours.update(column) is None
        assert bytes(ours) == bytes(listed)
        one = make()
        for row in rows:
            one.add(row)
        assert bytes(one) == bytes(listed)
        half = make()
        half.update(rows[::2])
        mask = half.contains(column)
        assert isinstance(mask, numpy.ndarray) and mask.dtype == bool and mask.shape == (len(rows),)
        assert mask.tolist() == [row in half for row in rows] == half.contains(rows)
        chosen = half.select(column)
        assert isinstance(chosen, numpy.ndarray) and chosen.dtype.kind in "iu"
        assert chosen.tolist() == numpy.flatnonzero(mask).tolist()
        counting = isinstance(ours, (tamis.Counts, tamis.Top))
        fresh, listing = make(), make()
        answers = fresh.add_all(column)  # of sketches that count, the count after each add
        assert isinstance(answers, numpy.ndarray)
        assert answers.dtype == (numpy.int64 if counting else bool)
        assert answers.tolist() == listing.add_all(rows)
        assert bytes(fresh) == bytes(listed)
        if counting:
            assert ours.upper(column).tolist() == ours.upper(rows) == [
                ours.upper([row])[0] for row in rows]
            assert ours.estimates(column) == [ours.estimate(row) for row in rows]


@pytest.mark.parametrize("form", FORMS)
def test_every_integer_type(form):
    dtype = numpy.dtype(form)
    limits = numpy.iinfo(dtype)
    rng = numpy.random.default_rng(1)
    values = rng.integers(limits.min, limits.max, 40, dtype=dtype.newbyteorder("="), endpoint=True)
    values[:4] = [limits.min, limits.max, 0, 1]
    column = values.astype(form)
    assert column.dtype == dtype
    same_as_one_by_one(column, [int(v) for v in column])


def layouts(values):
    """The same rows in other places."""
    wide = numpy.zeros(3 * len(values) + 2, values.dtype)
    wide[1:1 + 3 * len(values):3] = values
    grid = numpy.zeros((len(values), 5), values.dtype)
    grid[:, 2] = values
    record = numpy.zeros(len(values), [("a", "i1"), ("b", values.dtype), ("c", "S3")])
    record["b"] = values
    fixed = values.copy()
    fixed.flags.writeable = False
    unaligned = values if values.dtype == object else numpy.frombuffer(
        b"x" + values.tobytes(), values.dtype, offset=1)  # numpy makes no such array of objects
    return {"strided": wide[1:1 + 3 * len(values):3], "reversed": values[::-1].copy()[::-1],
            "column": grid[:, 2], "backward": wide[1:1 + 3 * len(values):3][::-1].copy()[::-1],
            "negative": numpy.ascontiguousarray(wide[::-1])[::-1][1:1 + 3 * len(values):3],
            "field": record["b"], "read-only": fixed, "unaligned": unaligned,
            "repeated": values}


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "<u4", "<i2", "u1", "S5", "U5", ">U5", "O"])
@pytest.mark.parametrize("layout", ["strided", "reversed", "column", "backward", "negative",
                                    "field", "read-only", "unaligned", "repeated"])
def test_layouts(dtype, layout):
    values = numpy.array([3, 1, 41, 59, 26, 53, 58, 97, 93, 23] * 3)
    if dtype == "O":
        values = numpy.array([str(v) if v % 2 else int(v) for v in values], dtype=object)
    else:
        values = values.astype(dtype)
    column = layouts(values)[layout]
    assert (column == values).all()
    same_as_one_by_one(column, values.tolist(), makers()[0])
    if values.dtype.kind in "iu":
        same_as_one_by_one(column, values.tolist(), makers()[1])


def test_a_stride_of_zero():
    column = numpy.broadcast_to(numpy.int64(7), (100,))
    assert column.strides == (0,)
    same_as_one_by_one(column, [7] * 100, makers()[0])
    same_as_one_by_one(column, [7] * 100, makers()[1])
    texts = numpy.broadcast_to(numpy.array("abc"), (10,))
    same_as_one_by_one(texts, ["abc"] * 10, makers()[0])


@hypothesis.given(values=st.lists(st.integers(-2**63, 2**63 - 1), max_size=60),
                  step=st.sampled_from([1, 2, 3, -1, -2]), start=st.integers(0, 5),
                  text=st.booleans())
def test_any_slice(values, step, start, text):
    column = numpy.array(values, dtype=numpy.int64)[start::step]
    make = makers()[0 if text else 1]
    same_as_one_by_one(column, column.tolist(), make)


@hypothesis.given(st.lists(st.text(max_size=8).filter(
    lambda s: not any("\ud800" <= c <= "\udfff" for c in s)), max_size=30))
def test_text_arrays(values):
    """numpy drops NULs at the end of a U or S element, and so do keys."""
    column = numpy.array(values, dtype="U10")
    same_as_one_by_one(column, column.tolist(), makers()[0])
    encoded = [v.encode() for v in values]
    raw = numpy.array(encoded, dtype="S40")
    same_as_one_by_one(raw, raw.tolist(), makers()[0])
    objects = numpy.array(values, dtype=object)
    same_as_one_by_one(objects, values, makers()[0])
    mixed = numpy.array([v if i % 2 else v.encode() for i, v in enumerate(values)], dtype=object)
    same_as_one_by_one(mixed, list(mixed), makers()[0])


def test_inner_nuls_of_text_arrays():
    column = numpy.array(["a\0b", "a", "\0"], dtype="U4")
    same_as_one_by_one(column, ["a\0b", "a", ""], makers()[0])
    raw = numpy.array([b"a\0b\0", b"a", b"\0"], dtype="S4")
    same_as_one_by_one(raw, [b"a\0b", b"a", b""], makers()[0])


@pytest.mark.parametrize("dtype", ["i8", "U3", "S3", "O", "u1"])
def test_empty_columns(dtype):
    f = tamis.Filter(items=10, fpr=0.01)
    before = bytes(f)
    column = numpy.zeros(0, dtype)
    f.update(column)
    assert bytes(f) == before
    assert f.contains(column).shape == (0,) and f.contains(column).dtype == bool
    assert f.select(column).shape == (0,) and f.add_all(column).shape == (0,)
    assert f.contains([]) == [] and f.select([]) == []


def test_columns_longer_than_a_chunk():
    """Big columns go through the library in pieces."""
    n = 300_001
    values = numpy.arange(n) * 3
    for make in (lambda: tamis.Filter(items=n, fpr=0.01),
                 lambda: tamis.Filter(items=n, fpr=0.01, encoding="int64le")):
        text = make().encoding is None
        forms = {"i8": values, "i4": values.astype("i4"), ">i8": values.astype(">i8"),
                 "strided": numpy.repeat(values, 2)[::2], "negative": values[::-1].copy()[::-1]}
        if text:
            forms.update(S=values.astype("S"), U=values.astype("U"),
                         O=values.astype("U").astype(object), list=values.tolist())
        images, odd = set(), values[1::2]
        for column in forms.values():
            f = make()
            f.update(column)
            images.add(bytes(f))
            half = make()
            half.update(odd)
            mask = numpy.asarray(half.contains(column))
            assert mask[1::2].all() and mask.sum() < n // 2 + n // 50
            assert numpy.array_equal(half.select(column), numpy.flatnonzero(mask))
        assert len(images) == 1


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("column, words", [
    (numpy.array([1.5, 2]), ["float"]), (numpy.array([1.0], "f4"), ["float"]),
    (numpy.array([True, False]), ["bool"]),
    (numpy.array(["2020-01-01"], dtype="M8[D]"), ["datetime"]),
    (numpy.array([5], dtype="m8[s]"), ["timedelta"]),
    (numpy.array([1j]), ["complex"]),
    (numpy.zeros((3, 2), "i8"), ["2 dimensions"]), (numpy.zeros((3, 2), "U3"), []),
    (numpy.array(5), []), (numpy.zeros(3, [("a", "i8")]), []),
    (numpy.zeros((2, 2), object), []),
])
def test_columns_that_are_refused(column, words):
    f = tamis.Filter(items=10, fpr=0.01)
    before = bytes(f)
    for call in (f.update, f.contains, f.select, f.add_all):
        with pytest.raises(TypeError) as caught:
            call(column)
        for word in words:
            assert word in str(caught.value)
    assert bytes(f) == before


@pytest.mark.parametrize("wrong", [None, 1.5, True, float("nan"), pandas.NA])
def test_wrong_objects_in_columns(wrong):
    column = numpy.array(["a", 5, wrong, b"c"], dtype=object)
    f = tamis.Filter(items=10, fpr=0.01)
    for call in (f.contains, f.select, f.update, f.add_all):
        with pytest.raises(TypeError) as caught:
            call(column)
        assert "row 2" in str(caught.value)
    assert len(f) <= 2


# --- pandas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("series", [
    pandas.Series(["a", "b", "é", "a"]), pandas.Series(["a", "b", "é", "a"], dtype="string"),
    pandas.Series([1, 2, 3, 2]), pandas.Series([1, 2, 3, 2], dtype="Int64"),
    pandas.Series([1, 2, 250], dtype="UInt8"), pandas.Series([1, "2", b"3"]),
    pandas.Series([1, 2, 3, 4], index=[5, 4, 3, 2])[::2], pandas.Index(["a", "b"]),
    pandas.Index([3, 1, 2]), pandas.RangeIndex(5), pandas.Series([], dtype="string"),
    pandas.Series(["x", "y"]).array, pandas.array(["x", "y"], dtype="string"),
    pandas.array([1, 2], dtype="Int32"), pandas.DataFrame({"a": [1, 2], "b": [3, 4]})["b"],
    pandas.DataFrame(numpy.arange(12).reshape(4, 3))[1],
])
def test_pandas(series):
    same_as_one_by_one(series, list(series), makers()[0])


@pytest.mark.parametrize("series, row", [
    (pandas.Series(["a", None, "b"]), 1), (pandas.Series(["a", "b", None], dtype="string"), 2),
    (pandas.Series([1, None, 3], dtype="Int64"), 1), (pandas.Series(["a", float("nan")]), 1),
    (pandas.array([None, "x"], dtype="string"), 0),
])
def test_missing_values(series, row):
    f = tamis.Filter(items=10, fpr=0.01)
    for call in (f.contains, f.select):
        with pytest.raises(TypeError) as caught:
            call(series)
        assert f"row {row}" in str(caught.value) and "dropna" in str(caught.value)
    with pytest.raises(TypeError):
        f.update(series)
    assert len(f) <= row
    if isinstance(series, pandas.Series):
        f.update(series.dropna())
        assert all(f.contains(series.dropna()))


@pytest.mark.parametrize("series", [
    pandas.Series([1.5, 2.0]), pandas.Series([1, None]), pandas.Series([True, False]),
    pandas.Series(pandas.to_datetime(["2020-01-01"])), pandas.Series([True], dtype="boolean"),
    pandas.DataFrame({"a": [1]}),
])
def test_pandas_that_is_refused(series):
    f = tamis.Filter(items=10, fpr=0.01)
    before = bytes(f)
    for call in (f.contains, f.select, f.update, f.add_all):
        with pytest.raises(TypeError):
            call(series)
    assert bytes(f) == before


def test_categories():
    """A categorical column is decoded, or refused with advice; it is never added by its codes."""
    series = pandas.Series(["b", "a", "b"], dtype="category")
    f = tamis.Filter(items=10, fpr=1e-12)
    try:
        f.update(series)
    except TypeError as e:
        assert "astype" in str(e)
    else:
        assert f.contains(["a", "b", "0", "1"]) == [True, True, False, False]


def test_deduplicating_a_frame():
    frame = pandas.DataFrame({"user": ["ann", "bob", "ann", "cid", "bob"], "n": range(5)})
    f = tamis.Filter(items=100, fpr=1e-9)
    assert frame[f.add_all(frame["user"])]["n"].tolist() == [0, 1, 3]
    assert frame.iloc[f.select(frame["user"])]["n"].tolist() == [0, 1, 2, 3, 4]


# --- Buffers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_array_array(code):
    values = array.array(code, [1, 2, 100, 2])
    same_as_one_by_one(values, list(values), makers()[0])
    if code in "bB":  # a memoryview of bytes is a key
        with pytest.raises(TypeError, match="pass \\[key\\]"):
            makers()[0]().update(memoryview(values))
        return
    same_as_one_by_one(memoryview(values), list(values), makers()[1])
    same_as_one_by_one(memoryview(values)[::2], list(values)[::2], makers()[0])
    same_as_one_by_one(memoryview(values)[::-1], list(values)[::-1], makers()[1])


def test_arrays_of_characters_and_of_raw_bytes():
    same_as_one_by_one(array.array("u", "aéa"), ["a", "é", "a"], makers()[0])
    raw = numpy.array([b"a\0\0\0", b"abcd"], dtype="V4")  # which keeps its NULs
    same_as_one_by_one(raw, [b"a\0\0\0", b"abcd"], makers()[0])


@pytest.mark.parametrize("code", "fd")
def test_other_arrays(code):
    values = array.array(code, [1, 2])
    f = tamis.Filter(items=10, fpr=0.01)
    with pytest.raises(TypeError):
        f.update(values)
    with pytest.raises(TypeError):
        f.contains(memoryview(bytes(6)).cast("B", (2, 3)))
    assert len(f) == 0


def test_other_iterables():
    f = tamis.Filter(items=100, fpr=1e-9)
    f.update({"a": 1, "b": 2})
    f.update({"c", "d"})
    f.update(collections.deque(["e"]))
    f.update(range(5))
    f.update(str(i) for i in range(10, 12))
    f.update(map(bytes, [b"f"]))
    keys = ["a", "b", "c", "d", "e", 0, 4, 10, 11, "f"]
    assert f.contains(keys) == [True] * 10
    assert f.contains(key for key in keys) == [True] * 10
    assert f.select(iter(["x", "a"])) == [1]
    assert f.contains(range(3)) == [True] * 3 or list(f.contains(range(3))) == [True] * 3


def test_a_buffer_that_is_resized_meanwhile():
    """The buffer is held during the call, and released after it."""
    values = array.array("q", range(1000))
    f = tamis.Filter(items=1000, fpr=0.01, encoding="int64le")
    f.update(values)
    values.append(5)  # BufferError if it were still held
    with pytest.raises(TypeError):
        f.update(array.array("d", [1.0]))
    f.contains(values)
    values.append(6)
