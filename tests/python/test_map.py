"""Maps: a value with each key. A member always gets its value, as in a dict, and any other key a
KeyError at the rate that was planned; whatever is not a key or a value is refused with its row."""
import array
import collections
import copy
import math
import os
import pathlib
import pickle
import shlex
import signal
import struct
import subprocess
import threading

import hypothesis
import hypothesis.strategies as st
import pytest

import tamis

import arrow_made as arrow

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build"))
SECRET = bytes(range(16))
MOST = 2**32 - 1

TEXTS = st.text(max_size=8).filter(lambda s: not any("\ud800" <= c <= "\udfff" for c in s))
KEYS = st.one_of(TEXTS, st.binary(max_size=8), st.integers(-2**70, 2**70))


def as_bytes(key):
    return key if isinstance(key, bytes) else str(key).encode()


@st.composite
def contents(draw, keys=KEYS):
    """A dict without two spellings of one key, and how many bits its values have at most."""
    bits = draw(st.integers(1, 32))
    values = st.integers(0, 2**bits - 1)
    listed = draw(st.lists(st.tuples(keys, values), max_size=60,
                           unique_by=lambda pair: as_bytes(pair[0])))
    return dict(listed), bits


def holds(m, model):
    """The map answers as the dict does, one by one and in bulk."""
    keys = list(model)
    assert len(m) == len(model) == m.info.items and m.sealed and m.kind == "map"
    assert [m[key] for key in keys] == list(model.values()) == [m.get(key, "no") for key in keys]
    assert m.lookup(keys) == (list(model.values()), [True] * len(keys))
    assert m.lookup(iter(keys)) == m.lookup(tuple(keys)) == m.lookup(keys)
    assert all(key in m for key in keys) and m.contains(keys) == [True] * len(keys)
    assert m.select(keys) == list(range(len(keys)))


def agrees(m, keys):
    """Single calls and bulk calls say the same about any keys."""
    values, found = m.lookup(keys)
    assert found == m.contains(keys) == [key in m for key in keys]
    for key, value, yes in zip(keys, values, found):
        assert m.get(key) == (value if yes else None) and m.get(key, default=-5) in (value, -5)
        if yes:
            assert m[key] == value < 2**m.value_bits
            continue
        assert value == 0 and m.get(key, "none") == "none"
        with pytest.raises(KeyError) as caught:
            m[key]
        assert isinstance(caught.value, tamis.AbsentError) and repr(key) in str(caught.value)


# --- A dict is the model --------------------------------------------------------------------------


@hypothesis.given(made=contents(), others=st.lists(KEYS, max_size=30),
                  fpr=st.sampled_from([1, 0.7, 0.5, 0.01, 1e-6, 2**-32]),
                  keyed=st.booleans(), stated=st.booleans())
def test_as_a_dict(made, others, fpr, keyed, stated):
    model, bits = made
    options = {"key": SECRET} if keyed else {}
    m = tamis.Map(model, fpr=fpr, value_bits=bits if stated else None, **options)
    needed = max([1, *(value.bit_length() for value in model.values())])
    assert m.value_bits == m.info.cell_bits == (bits if stated else needed)
    assert m.keyed == keyed and 0 <= m.fpr <= fpr * 1.05
    holds(m, model)
    agrees(m, [*others, *model])
    again = tamis.Map.from_bytes(bytes(m), **options)
    holds(again, model)
    assert bytes(again) == bytes(m) and again.lookup(others) == m.lookup(others)


@hypothesis.given(made=contents(st.integers(-2**63, 2**63 - 1)),
                  others=st.lists(st.integers(-2**63, 2**63 - 1), max_size=30))
def test_int64le(made, others):
    model, _ = made
    m = tamis.Map(model, encoding="int64le")
    holds(m, model)
    agrees(m, others)
    column = numpy.array([*model, *others], dtype="i8")
    values, found = m.lookup(column)
    assert (values.tolist(), found.tolist()) == m.lookup(column.tolist())


@hypothesis.given(made=contents(), form=st.sampled_from(
    ["dict", "pairs", "lists", "iterators", "mapping", "tuples", "twice", "threads"]))
def test_every_way_to_make_one(made, form):
    """The map is the same, byte for byte, however its keys and values come."""
    model, _ = made
    pairs = list(model.items())
    m = {"dict": lambda: tamis.Map(model),
         "pairs": lambda: tamis.Map(pair for pair in pairs),
         "lists": lambda: tamis.Map(list(model), list(model.values())),
         "iterators": lambda: tamis.Map(iter(list(model)), iter(model.values())),
         "mapping": lambda: tamis.Map(collections.ChainMap(model)),
         "tuples": lambda: tamis.Map([tuple(pair) for pair in pairs], value_bits=None),
         "twice": lambda: tamis.Map(pairs + [list(pair) for pair in pairs]),
         "threads": lambda: tamis.Map(model, threads=2)}[form]()
    holds(m, model)
    if form != "twice":
        assert bytes(m) == bytes(tamis.Map(model))


@hypothesis.given(made=contents(TEXTS), how=st.sampled_from(
    ["copy", "copy.copy", "deepcopy", "pickle", "load", "view", "packed", "save", "mmap"]))
def test_copies(made, how, tmp_path_factory):
    model, _ = made
    m = tamis.Map(model, fpr=0.001)
    path = tmp_path_factory.mktemp("maps") / "a.tamis"
    if how in ("save", "mmap"):
        m.save(path)
        assert path.read_bytes() == bytes(m) == m.to_bytes() == bytes(memoryview(m))
    made = {"copy": m.copy, "copy.copy": lambda: copy.copy(m),
            "deepcopy": lambda: copy.deepcopy([m])[0],
            "pickle": lambda: pickle.loads(pickle.dumps(m)),
            "load": lambda: tamis.load(bytes(m)), "view": lambda: tamis.view(bytes(m)),
            "packed": lambda: tamis.load(m.to_packed()), "save": lambda: tamis.open(path),
            "mmap": lambda: tamis.open(path, mmap=True)}[how]()
    assert type(made) is tamis.Map
    holds(made, model)
    assert bytes(made) == bytes(m) and made.nbytes == len(bytes(m))


def test_big():
    """Columns that go through the library in pieces, and a map of several layers."""
    n = 300_001
    keys = numpy.arange(n) * 3
    groups = keys % 1000
    m = tamis.Map(keys, groups, fpr=0.01)
    assert m.value_bits == 10 and len(m) == n
    assert m.nbytes * 8 / n < (10 + math.log2(100)) * 1.02
    values, found = m.lookup(keys)
    assert found.all() and numpy.array_equal(values, groups)
    objects = keys.astype(str).astype(object)
    for column in (keys.astype("i4"), keys.astype(">i8"), numpy.repeat(keys, 2)[::2],
                   keys.astype("S"), keys.astype("U"), objects):
        values, found = m.lookup(column)
        assert found.all() and numpy.array_equal(values, groups)
    assert bytes(tamis.Map(objects.tolist(), groups.tolist())) == bytes(m)
    others = keys + 1
    values, found = m.lookup(others)
    assert numpy.array_equal(found, m.contains(others)) and not values[~found].any()


def test_rate():
    """A number of false positives that differs from its mean np by more than 6.5 sqrt(np) + 22 has
    a probability below 1e-9, by Bernstein's inequality."""
    n = 40_000
    for fpr in (0.5, 0.01, 1 / 256):
        m = tamis.Map(range(n), [i % 7 for i in range(n)], fpr=fpr)
        wrong = sum(m.lookup(range(n, 2 * n))[1])
        assert m.info.fpr <= fpr * 1.05 and m.fpr == m.info.fpr
        assert abs(wrong - n * m.fpr) <= 6.5 * math.sqrt(n * m.fpr) + 22


def test_a_rate_of_1():
    """No fingerprints: the bits of the values, and an arbitrary value for every other key."""
    n = 20_000
    m = tamis.Map(range(n), [i % 16 for i in range(n)], fpr=1)
    assert m.fpr == 1 and m.value_bits == 4 and m.nbytes * 8 / n < 4.3
    assert m.lookup(range(n)) == ([i % 16 for i in range(n)], [True] * n)
    values, found = m.lookup(range(n, 2 * n))
    assert all(found) and set(values) == set(range(16)) and "anything" in m
    assert tamis.plan(items=n, fpr=1, kind="map", cell_bits=4).fpr == 1
    for kind in ("ribbon", "auto", "bloom"):
        with pytest.raises(tamis.InvalidError):
            tamis.plan(items=n, fpr=1, kind=kind)


def test_empty():
    for m in (tamis.Map({}), tamis.Map([]), tamis.Map([], []), tamis.Map(numpy.zeros(0, "i8"), [])):
        assert len(m) == 0 and "a" not in m and m.get("a") is None and m.value_bits == 1
        assert m.lookup(["a"]) == ([0], [False]) and m.lookup([]) == ([], [])
        values, found = m.lookup(numpy.zeros(0, "i8"))
        assert values.dtype == numpy.int64 and found.dtype == bool and len(values) == 0


def test_what_a_map_reports():
    m = tamis.Map({"ann": 3, "bob": 7}, fpr=1e-6)
    assert repr(m).startswith("<tamis.Map map: 2 items, fpr 1e-06, 3-bit values, ")
    assert repr(m).endswith(", sealed>")
    assert m.info.items == 2 and m.stat.cell_bits == 3 and m.nbytes == len(bytes(m))
    assert bool(m) and m != m.copy() and "map" in tamis.kinds
    with pytest.raises(TypeError):
        hash(m)
    m.close()
    assert repr(m) == "<tamis.Map: closed>"
    for call in (lambda: m["ann"], lambda: m.get("ann"), lambda: m.lookup(["ann"]),
                 lambda: m.value_bits):
        with pytest.raises(ValueError, match="closed"):
            call()


# --- Columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["<i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2",
                                  ">u4", "<u8", ">u8", "O"])
def test_columns_of_values(form):
    values = numpy.array([0, 1, 77, 127, 5] * 3)
    keys = numpy.arange(15)
    expected = bytes(tamis.Map(keys.tolist(), values.tolist()))
    column = values.astype(form)
    for one in (column, numpy.repeat(column, 3)[::3], column[::-1].copy()[::-1],
                array.array("i", values.tolist()), pandas.Series(column), tuple(values.tolist()),
                iter(column)):
        assert bytes(tamis.Map(keys, one)) == expected


def test_pandas():
    frame = pandas.DataFrame({"user": ["ann", "bob", "cid"], "group": [4, 0, 9]})
    m = tamis.Map(frame["user"], frame["group"], fpr=1e-9)
    values, found = m.lookup(frame["user"])
    assert isinstance(values, numpy.ndarray) and values.tolist() == [4, 0, 9] and found.all()
    assert values.dtype == numpy.int64 and found.dtype == bool
    both = pandas.Series(["zoe", "bob"])
    values, found = m.lookup(both)
    assert values.tolist() == [0, 0] and found.tolist() == [False, True]
    again = tamis.Map(frame["user"].astype("string"), frame["group"].astype("Int8"), fpr=1e-9)
    assert bytes(again) == bytes(m)


@pytest.mark.parametrize("form", "cCsSiIlL")
def test_arrow(form):
    keys = arrow.texts(["ann", None, "bob", "cid", None])
    values = arrow.integers([1, 2, 3, 4, 5], form)
    m = tamis.Map(keys, values, fpr=1e-9)
    assert [m[key] for key in ("ann", "bob", "cid")] == [1, 3, 4] and len(m) == 3
    answers, found = m.lookup(arrow.texts(["cid", None, "zoe"]))
    assert answers.tolist() == [4, 0, 0] and found.tolist() == [True, False, False]
    assert numpy.asarray(m.contains(keys)).tolist() == [True, False, True, True, False]
    for column in (keys, values):
        assert column.tracker.made == column.tracker.released > 0


def test_arrow_streams():
    keys = arrow.Stream([arrow.texts(["a", "b"]), arrow.texts([]), arrow.texts(["c"])])
    values = arrow.Stream([arrow.integers([5], "C"), arrow.integers([6, 7], "C")])
    m = tamis.Map(keys, values, fpr=1e-9)
    assert [m[key] for key in "abc"] == [5, 6, 7]
    with pytest.raises(OverflowError, match="row 1:"):
        tamis.Map(["a", "b"], arrow.Stream([arrow.integers([5], "c"), arrow.integers([-1], "c")]))


@pytest.mark.parametrize("values, kind, words", [
    (arrow.integers([1, None, 3], "i"), TypeError, "row 1: the value is missing"),
    (arrow.integers([1, 2, -3], "i"), OverflowError, "row 2"),
    (arrow.integers([1, 2**63, 3], "L"), OverflowError, "row 1"),
    (arrow.texts(["1", "2", "3"]), TypeError, "integers"),
    (arrow.views(["1", "2", "3"]), TypeError, "integers"),
    (arrow.fixed([b"1234", b"2", b"3"], 4), TypeError, "integers"),
    (arrow.Column("g", 3, [None, bytes(24)]), TypeError, "values are integers"),
])
def test_arrow_values_that_are_refused(values, kind, words):
    with pytest.raises(kind, match=words):
        tamis.Map(["a", "b", "c"], values)
    assert values.tracker.made == values.tracker.released


def test_wrong_offsets_of_arrow_keys():
    m = tamis.Map({"a": 1})
    for ends in ([0, 2, 1, 3], [0, -1, 2, 3], [-1, 0, 1, 2], [3, 2, 1, 0]):
        for form, code in (("u", "i"), ("U", "q")):
            column = arrow.Column(form, 3, [None, struct.pack(f"=4{code}", *ends), bytes(3)])
            for call in (lambda: tamis.Map(column, [1, 2, 3]), lambda: m.lookup(column)):
                with pytest.raises(ValueError):
                    call()


# --- Two values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs, row", [
    ([("a", 1), ("b", 2), ("a", 2)], 2), ([("a", 1), ("a", 0)], 1),
    ([("a", 1), ("a", 1), ("b", 2), ("b", 3), ("c", 1)], 3), ([(1, 5), ("1", 6)], 1),
    ([("a", 0), (b"a", MOST)], 1)])
def test_two_values(pairs, row):
    words = f"^row {row}: .* value {pairs[row][1]},"
    with pytest.raises(tamis.InvalidError, match=words) as caught:
        tamis.Map(pairs)
    assert caught.value.offset == row and isinstance(caught.value, ValueError)
    keys, values = zip(*pairs)
    with pytest.raises(tamis.InvalidError) as caught:
        tamis.Map(keys, values)
    assert caught.value.offset == row


def test_rows_that_are_null_count():
    """The row of a key with two values, although a null is not a key."""
    n = 1000
    texts = [None if i % 3 == 0 else f"key {i}" for i in range(n)]
    texts[700] = texts[100]
    with pytest.raises(tamis.InvalidError, match="^row 700: ") as caught:
        tamis.Map(arrow.texts(texts), range(n))
    assert caught.value.offset == 700
    texts[700] = None
    m = tamis.Map(arrow.texts(texts), range(n))
    assert len(m) == sum(text is not None for text in texts)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("value, kind", [
    (-1, OverflowError), (2**32, OverflowError), (2**64, OverflowError), (-2**100, OverflowError),
    (1.0, TypeError), (float("nan"), TypeError), (True, TypeError), (numpy.bool_(1), TypeError),
    (None, TypeError), ("1", TypeError), (b"1", TypeError), (pandas.NA, TypeError),
    (numpy.float64(1), TypeError), ([1], TypeError), (numpy.array([1, 2]), TypeError)])
def test_values_that_are_refused(value, kind):
    for make in (lambda: tamis.Map({"a": 1, "b": value}),
                 lambda: tamis.Map([("a", 1), ("b", value)]),
                 lambda: tamis.Map(["a", "b"], [1, value]),
                 lambda: tamis.Map(["a", "b"], iter([1, value])),
                 lambda: tamis.Map(["a", "b"], (1, value))):
        with pytest.raises(kind, match="^row 1: "):
            make()


@pytest.mark.parametrize("bits", [1, 2, 8, 31, 32])
def test_value_bits(bits):
    most = 2**bits - 1
    assert tamis.Map({"a": most, "b": 0}, value_bits=bits)["a"] == most
    assert tamis.Map({"a": most}).value_bits == bits
    for wrong in (most + 1, -1):
        for values in ([0, wrong], numpy.array([0, wrong])):
            with pytest.raises(OverflowError, match=f"^row 1: a value is from 0 to {most}$"):
                tamis.Map(["a", "b"], values, value_bits=bits)


@pytest.mark.parametrize("bits, kind", [(0, ValueError), (33, ValueError), (-1, ValueError),
                                        (2**70, ValueError), (True, TypeError), (8.0, TypeError),
                                        ("8", TypeError)])
def test_wrong_value_bits(bits, kind):
    with pytest.raises(kind, match="bits"):
        tamis.Map({"a": 1}, value_bits=bits)


@pytest.mark.parametrize("values, words", [
    (numpy.array([1.0, 2.0]), "values are integers, not an array of float64"),
    (numpy.array([True, False]), "bool"), (numpy.array(["1", "2"]), "integers"),
    (numpy.array([b"1", b"2"]), "integers"), (numpy.array([[1, 2]]), "dimensions"),
    (numpy.array([1, 2], "M8[D]"), "datetime"), (numpy.ma.array([1, 2], mask=[0, 1]), "masked"),
    (pandas.Series([1, None]), "float"), (pandas.Series([1, None], dtype="Int8"), "row 1"),
    (pandas.DataFrame({"a": [1, 2]}), "DataFrame"), ("12", "str"), (b"12", "bytes"),
    (bytearray(b"12"), "bytearray"), (memoryview(b"12"), "memoryview"), (5, "not int"),
    ({1, 2}, "order"), ({1: 1, 2: 2}, "order"), (tamis.Distinct(), "Distinct")])
def test_columns_that_are_no_values(values, words):
    with pytest.raises(TypeError, match=words) as caught:
        tamis.Map(["a", "b"], values)
    assert "key" not in str(caught.value).replace("keys and values", "")


@pytest.mark.parametrize("keys", ["ab", b"ab", 5, None, 1.5, ["a"], [("a", 1, 2)], [1, 2], [()],
                                  numpy.array([1, 2]), numpy.array([[1, 2]]), tamis.Distinct(),
                                  pandas.Series([1, 2]), pandas.DataFrame({"ab": [1]}),
                                  arrow.integers([1], "i"), memoryview(b"ab")])
def test_what_is_no_mapping(keys):
    with pytest.raises(TypeError, match="Map is made of a mapping|row 0: a pair"):
        tamis.Map(keys)


@pytest.mark.parametrize("keys, kind", [
    ([("a", 1), (1.5, 2)], TypeError), ({"a": 1, None: 2}, TypeError),
    ({"a": 1, True: 2}, TypeError), ({"a": 1, "\ud800": 2}, UnicodeEncodeError)])
def test_keys_that_are_refused(keys, kind):
    with pytest.raises(kind, match="row 1"):
        tamis.Map(keys)


@pytest.mark.parametrize("keys, values", [
    (["a", "b"], [1]), (["a"], [1, 2]), ([], [1]), (["a"], []), (iter("ab"), [1]),
    (iter("a"), [1, 2]), (numpy.arange(300), range(299)), (iter(range(300)), range(299)),
    (arrow.texts(["a", None]), [1]), (arrow.Stream([arrow.texts(["a"])] * 2), [1])])
def test_lengths_that_differ(keys, values):
    with pytest.raises(ValueError, match="keys"):
        tamis.Map(keys, values)


def test_keys_of_an_encoding():
    m = tamis.Map([5, -3, (7).to_bytes(8, "little")], [1, 2, 3], encoding="int64le")
    assert m[5] == 1 and m[-3] == 2 and m[7] == 3 and m.encoding == "int64le"
    for call in (lambda: m["5"], lambda: m.get("5"), lambda: m.lookup(["5"])):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: m[b"1"], lambda: m.get(b"1"), lambda: m.lookup([b"1"]),
                 lambda: m.lookup(numpy.array([b"1"]))):
        with pytest.raises(tamis.InvalidError, match="8 bytes"):
            call()
    with pytest.raises(OverflowError):
        m[2**63]


@pytest.mark.parametrize("fpr, kind", [(0, ValueError), (1.1, ValueError), (-1, ValueError),
                                       (1e-12, ValueError), (float("nan"), ValueError),
                                       (True, TypeError), ("0.1", TypeError)])
def test_wrong_rates(fpr, kind):
    with pytest.raises(kind):
        tamis.Map({"a": 1}, fpr=fpr)


def test_arguments_of_get():
    m = tamis.Map({"a": 1}, fpr=1e-9)
    assert m.get("b", default=None) is None
    for call in (lambda: m.get(), lambda: m.get("a", 1, 2), lambda: m.get("a", other=1),
                 lambda: m.get(key="a"), lambda: m.get("a", 1, default=2)):
        with pytest.raises(TypeError, match=r"get\(\)"):
            call()


def test_a_map_never_changes():
    m = tamis.Map({"a": 1, "b": 2})
    before = bytes(m)
    for call in (lambda: m.clear(), lambda: m.merge(m.copy()), lambda: m.remove("a"),
                 lambda: m.discard("a"), lambda: m | m, lambda: m.rotate(),
                 lambda: m.exclude(["c"]), lambda: m.remove_all(["a"]), lambda: m.upper(["a"]),
                 lambda: m._fill(["c"], bytes(4)),
                 lambda: m.__setitem__("a", 2), lambda: m.add("c"), lambda: list(m)):
        with pytest.raises((TypeError, AttributeError)):
            call()
    with pytest.raises(RuntimeError):
        m.__init__({"a": 5})
    assert m.closed or bytes(m) == before


def test_classes():
    image = bytes(tamis.Map({"a": 1}))
    assert type(tamis.Map.from_bytes(image)) is tamis.Map
    with pytest.raises(tamis.InvalidError, match="tamis.Map"):
        tamis.Filter.from_bytes(image)
    with pytest.raises(tamis.InvalidError, match="tamis.Filter"):
        tamis.Map.from_bytes(bytes(tamis.Filter(items=10)))
    with pytest.raises(TypeError, match="Map"):
        tamis.Filter(items=10, kind="map")

    class Own(tamis.Map):
        pass

    assert type(Own.from_bytes(image)) is Own and Own.from_bytes(image)["a"] == 1
    made = tamis.Map.__new__(tamis.Map)
    with pytest.raises(ValueError):
        made["a"]


def test_secret_keys():
    m = tamis.Map({"a": 5}, key=SECRET)
    made = pickle.loads(pickle.dumps(m))
    for call in (lambda: made["a"], lambda: made.get("a"), lambda: made.lookup(["a"]),
                 lambda: "a" in made):
        with pytest.raises(tamis.KeyMissingError):
            call()
    made.unlock(SECRET)
    assert made["a"] == 5 and m.keyed and bytes(made) == bytes(m)


@pytest.mark.parametrize("at", range(0, 320, 7))
def test_damaged_images(at):
    image = bytearray(bytes(tamis.Map({"a": 5, "b": 6})))
    image[at % len(image)] ^= 0x11
    with pytest.raises((tamis.CorruptError, tamis.VersionError)):
        tamis.load(image)


class Hostile:
    """A value whose conversion runs code."""

    def __init__(self, act):
        self.act = act

    def __index__(self):
        return self.act()


def test_code_that_runs_meanwhile():
    values = [1, 2, 3, 4]
    values[1] = Hostile(lambda: values.clear() or 2)
    with pytest.raises(ValueError, match="4 keys, but 2 values"):
        tamis.Map(list("abcd"), values)
    values = [1, 2]
    values[0] = Hostile(lambda: values.extend([5] * 1000) or 1)
    assert tamis.Map(["a", "b"], values).lookup(["a", "b"])[0] == [1, 2]
    with pytest.raises(ZeroDivisionError):
        tamis.Map(["a"], [Hostile(lambda: 1 // 0)])
    with pytest.raises(ZeroDivisionError):
        tamis.Map((1 // 0, 1) for _ in range(3))
    keys = ["a", "b"]
    with pytest.raises(ValueError):
        tamis.Map(keys, (keys.append("c") or i for i in range(2)))


def test_interrupts():
    """Ctrl-C ends the making of a map, and nothing of it is left."""
    def keys():
        yield "a"
        os.kill(os.getpid(), signal.SIGINT)
        yield from map(str, range(10**9))

    with pytest.raises(KeyboardInterrupt):
        tamis.Map(keys(), numpy.arange(50_000))
    with pytest.raises(KeyboardInterrupt):
        tamis.Map(["a"], (os.kill(os.getpid(), signal.SIGINT) or i for i in range(10**9)))


def test_threads():
    """Threads share a map, and look up at the same time."""
    keys = numpy.arange(200_000)
    m = tamis.Map(keys, keys % 251, fpr=0.01)
    failures = []

    def work(me):
        try:
            for part in numpy.array_split(keys, 8)[me::4]:
                values, found = m.lookup(part)
                assert found.all() and numpy.array_equal(values, part % 251)
                assert m[int(part[0])] == part[0] % 251 and len(bytes(m)) == m.nbytes
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- The C library --------------------------------------------------------------------------------

MAKER = r"""
#include <stdio.h>
#include <tamis/map.h>

int main(int argc, char **argv)
{
    tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_VALUE_MAP, .items = 5000,
                       .fpr = 0.01, .cell_bits = 9, .seed = 7};
    tamis *t = NULL;
    if (argc != 3 || tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) return 1;
    for (unsigned i = 0; i < 5000; i++) {
        char key[20];
        const int len = snprintf(key, sizeof key, "key %u", i);
        if (tamis_add_value(t, key, (size_t)len, i % 500, NULL) != TAMIS_OK) return 2;
    }
    if (tamis_seal(t, NULL) != TAMIS_OK || tamis_save(t, argv[1], 0, NULL) != TAMIS_OK) return 3;
    tamis_close(t);
    if (tamis_open(argv[2], NULL, &t, NULL) != TAMIS_OK) return 4;
    for (unsigned i = 0; i < 6000; i++) {
        char key[20];
        uint32_t value;
        const int len = snprintf(key, sizeof key, "key %u", i);
        const tamis_status s = tamis_value(t, key, (size_t)len, &value);
        printf("%d %lu\n", s == TAMIS_OK, (unsigned long)value);
    }
    tamis_close(t);
    return 0;
}
"""


def test_the_same_as_in_c(tmp_path):
    """A program in C makes the same image, byte for byte, and each reads that of the other."""
    library = BUILD / "libtamis.a"
    if not library.exists():
        pytest.fail("the library is not built; TAMIS_BUILD names the build folder")
    (tmp_path / "maker.c").write_text(MAKER)
    flags = shlex.split(os.environ.get("TEST_CFLAGS", ""))
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run(["cc", "-std=c11", *flags, "-I", SOURCE / "include", "maker.c", "-o", "maker",
                    library, "-lm", "-lpthread"], cwd=tmp_path, check=True, env=environment)
    keys = [f"key {i}" for i in range(6000)]
    ours = tamis.Map(keys[:5000], [i % 500 for i in range(5000)], seed=7, value_bits=9)
    ours.save(tmp_path / "ours.tamis")
    done = subprocess.run(["./maker", "theirs.tamis", "ours.tamis"], cwd=tmp_path, check=True,
                          env=environment, stdout=subprocess.PIPE, text=True)
    assert (tmp_path / "theirs.tamis").read_bytes() == bytes(ours)
    answers = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    values, found = ours.lookup(keys)
    assert answers == [(yes, value) for yes, value in zip(found, values)]
    theirs = tamis.open(tmp_path / "theirs.tamis")
    assert theirs.lookup(keys) == (values, found)
