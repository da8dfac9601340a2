"""Sketches against collections.Counter: counts lie between their bounds, small sketches are exact,
and the most frequent items are listed."""
import collections
import copy
import math
import pickle
import random

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tamis

from test_sets import KEYS, LISTS, as_bytes

COUNTS = {
    "tally": (tamis.Counts, dict(bytes="16KiB")),
    "count-min": (tamis.Counts, dict(error=0.001)),
    "conservative": (tamis.Counts, dict(error=0.001, conservative=True)),
    "count-sketch": (tamis.Counts, dict(kind="count-sketch", bytes="64KiB")),
    "signed-tally": (tamis.Counts, dict(kind="signed-tally", bytes="64KiB")),
    "top": (tamis.Top, dict(bytes="64KiB")),
    "keyed": (tamis.Counts, dict(bytes="16KiB", key=b"0123456789abcdef")),
}
EITHER_WAY = {"count-sketch", "signed-tally"}
SUBTRACTS = {"count-min", "count-sketch", "signed-tally"}
WEIGHTS = st.integers(0, 1000)


class CountsModel(RuleBasedStateMachine):
    name = None

    def fresh(self):
        kind, plan = COUNTS[self.name]
        return kind(**plan)

    @initialize()
    def begin(self):
        self.counts, self.model = self.fresh(), collections.Counter()

    @rule(key=KEYS, weight=WEIGHTS)
    def add(self, key, weight):
        self.model[as_bytes(key)] += weight
        after = self.counts.add(key, weight)
        assert after == self.counts.upper([key])[0]
        if self.name not in EITHER_WAY:
            assert after >= self.model[as_bytes(key)]

    @rule(key=KEYS)
    def add_one(self, key):
        self.model[as_bytes(key)] += 1
        self.counts.add(key)

    @rule(keys=LISTS, form=st.sampled_from([list, iter, tuple]))
    def update(self, keys, form):
        self.counts.update(form(keys))
        self.model.update(map(as_bytes, keys))

    @rule(pairs=st.lists(st.tuples(KEYS, WEIGHTS), max_size=8))
    def update_with_weights(self, pairs):
        self.counts.update([k for k, _ in pairs], weights=[w for _, w in pairs])
        for key, weight in pairs:
            self.model[as_bytes(key)] += weight

    @rule(mapping=st.dictionaries(st.text(max_size=2).filter(str.isascii), WEIGHTS, max_size=5))
    def update_with_a_mapping(self, mapping):
        self.counts.update(mapping)
        for key, weight in mapping.items():
            self.model[as_bytes(key)] += weight

    @rule(key=KEYS, weight=st.integers(1, 5))
    def subtract(self, key, weight):
        raw = as_bytes(key)
        if self.name not in SUBTRACTS:
            before = bytes(self.counts)
            with pytest.raises(tamis.UnsupportedError):
                self.counts.subtract(key, weight)
            with pytest.raises(tamis.UnsupportedError):
                self.counts.add(key, -weight)
            assert bytes(self.counts) == before
        elif self.model[raw] >= weight:
            self.counts.subtract(key, weight)
            self.model[raw] -= weight
        elif self.name in EITHER_WAY:
            self.counts.add(key, -weight)
            self.model[raw] -= weight

    @rule(keys=LISTS)
    def merge(self, keys):
        other = self.fresh()
        other.update(keys)
        self.counts |= other
        self.model.update(map(as_bytes, keys))

    @rule(how=st.sampled_from(["copy", "deepcopy", "pickle", "bytes"]))
    def copies(self, how):
        before = bytes(self.counts)
        key = COUNTS[self.name][1].get("key")
        if how == "copy":
            other = self.counts.copy()
        elif how == "deepcopy":
            other = copy.deepcopy(self.counts)
        elif how == "pickle":
            other = pickle.loads(pickle.dumps(self.counts))
            if key:
                other.unlock(key)
        else:
            other = tamis.load(before, key=key)
        assert type(other) is type(self.counts) and bytes(other) == before
        self.counts = other

    @rule(keys=st.lists(KEYS, min_size=1, max_size=5))
    def ask(self, keys):
        estimates = self.counts.estimates(keys)
        uppers = list(self.counts.upper(keys))
        assert len(estimates) == len(uppers) == len(keys)
        for key, e, upper in zip(keys, estimates, uppers):
            assert e == self.counts.estimate(key)
            assert e.lower <= e.count <= e.upper and e.count == self.counts[key]
            # So few keys in so many counters: no estimate is wrong. A collision of all counters
            # of two keys has a probability below 1e-9 for each pair, and the examples are fixed.
            true = self.model[as_bytes(key)]
            assert e.lower <= true <= e.upper, (key, e, true)
            if self.name not in EITHER_WAY:
                assert upper == e.upper and e.certain <= true

    @rule()
    def clear(self):
        self.counts.clear()
        self.model.clear()

    @invariant()
    def weight(self):
        assert self.counts.total == sum(self.model.values())

    @invariant()
    def membership(self):
        for key, n in self.model.items():
            assert n <= 0 or key in self.counts

    @precondition(lambda self: self.name == "top")
    @rule(n=st.integers(0, 5))
    def list(self, n):
        """With room for every item the list is that of Counter."""
        listed = self.counts.most_common()
        real = {key: n for key, n in self.model.items() if n > 0}
        assert {e.raw: e.count for e in listed if e.count > 0} == real
        assert [e.count for e in listed] == sorted((e.count for e in listed), reverse=True)
        for e in listed:
            assert e.lower <= e.count <= e.upper and e.length == len(e.raw)
            try:
                assert e.item == e.raw.decode()
            except UnicodeDecodeError:
                assert e.item == e.raw
        assert self.counts.most_common(n) == listed[:n]


def machine(name):
    case = type(CountsModel)(f"Model_{name}", (CountsModel,), {"name": name}).TestCase
    case.__name__ = case.__qualname__ = f"Test_{name.replace('-', '_')}"
    return case


for name in COUNTS:
    globals()[f"Test_{name.replace('-', '_')}"] = machine(name)
del name


def zipf(n, seed=1):
    rng = random.Random(seed)
    return [f"item-{int(rng.paretovariate(1.1))}" for _ in range(n)]


def test_top_of_a_skewed_stream():
    stream = zipf(50_000)
    true = collections.Counter(stream)
    top = tamis.Top(bytes="256KiB", items=50)
    top.update(stream)
    assert top.total == len(stream)
    listed = top.most_common(20)
    assert [e.item for e in listed] == [item for item, _ in true.most_common(20)]
    for e in top.most_common():
        assert e.lower <= true[e.item] <= e.upper  # certain, not statistical
    floor = top.info.list_floor
    heavy = {e.item for e in top.above(floor)}
    assert {item for item, n in true.items() if n >= floor} <= heavy
    with pytest.raises(tamis.InvalidError):
        top.above(floor - 1)
    assert len(top.most_common(3)) == 3 and top.most_common(0) == []
    assert len(top.most_common(10**6)) == len(top.most_common())
    assert top.most_common(-1) == []  # as in Counter


@pytest.mark.parametrize("name", ["tally", "count-min", "conservative", "count-sketch"])
def test_bounds_of_a_skewed_stream(name):
    """Upper bounds always hold. Lower bounds hold with a confidence of 99 %: among 1,000 keys more
    than 80 misses would have a probability below 1e-9 if misses were independent, by Bernstein's
    inequality; the stream is fixed."""
    kind, plan = COUNTS[name]
    counts, stream = kind(**plan), zipf(30_000, seed=2)
    counts.update(stream)
    true = collections.Counter(stream)
    keys = list(true)[:1000]
    missed = 0
    for key, e in zip(keys, counts.estimates(keys)):
        assert name in EITHER_WAY or true[key] <= e.upper
        missed += not e.lower <= true[key] <= e.upper
        assert e.confidence in (0.99, 1)
    assert missed <= 80


def test_items_of_a_top():
    top = tamis.Top(bytes="1MiB")
    top.update([b"\xff\xfe"] * 3 + ["é"] * 2 + [7])
    assert [e.item for e in top.most_common()] == [b"\xff\xfe", "é", "7"]
    assert [e.raw for e in top.most_common()] == [b"\xff\xfe", "é".encode(), b"7"]
    numbers = tamis.Top(bytes="1MiB", encoding="int64le")
    numbers.update([5, 5, -1])
    assert [(e.item, e.count) for e in numbers.most_common()] == [(5, 2), (-1, 1)]
    assert numbers.most_common(1)[0].raw == (5).to_bytes(8, "little")


def test_a_long_item_is_cut():
    top = tamis.Top(bytes="1MiB")
    top.add("x" * 100_000)
    entry, = top.most_common()
    assert entry.length == 100_000 and entry.raw == b"x" * len(entry.raw)
    assert len(entry.raw) < 100_000


@pytest.mark.parametrize("weights", [[1], [1, 2, 3, 4], [1, 2, "a"], [1, 2, 1.5], [1, 2, None],
                                     [1, 2, 2**63], 5])
def test_wrong_weights(weights):
    counts = tamis.Counts(bytes="16KiB")
    counts.add("before")
    before = bytes(counts)
    with pytest.raises((ValueError, TypeError, OverflowError)):
        counts.update(["a", "b", "c"], weights=weights)
    assert bytes(counts) == before


def test_negative_weights():
    counts = tamis.Counts(bytes="16KiB")
    counts.add("a", 5)
    before = bytes(counts)
    with pytest.raises(tamis.UnsupportedError) as caught:
        counts.update(["b"], weights=[-1])
    assert caught.value.better_kind == "signed-tally"
    assert bytes(counts) == before
    signed = tamis.Counts(kind="signed-tally", bytes="16KiB")
    signed.update(["b", "c"], weights=[-4, 3])
    assert signed["b"] == -4 and signed["c"] == 3
    plain = tamis.Counts(error=0.001)
    plain.add("a", 2)
    before = bytes(plain)
    with pytest.raises(tamis.AbsentError):
        plain.subtract("a", 3)
    assert bytes(plain) == before
    plain.subtract("a", 2)
    assert plain["a"] == 0


def test_numpy_weights():
    numpy = pytest.importorskip("numpy")
    counts = tamis.Counts(bytes="16KiB", encoding="int64le")
    keys = numpy.arange(10)
    for dtype in (numpy.int64, numpy.int32, numpy.uint8):
        counts.update(keys, weights=numpy.arange(10, dtype=dtype))
    assert list(counts.upper(keys)) == [3 * i for i in range(10)]
    assert counts.upper(keys).dtype == numpy.int64
    with pytest.raises(TypeError):
        counts.update(keys, weights=numpy.ones(10))


def test_counts_of_counting_and_cuckoo():
    """Filters that count: c.estimate exists on them through Counts or Filter."""
    f = tamis.Filter(kind="counting", items=100, fpr=0.01, cell_bits=8)
    f.update(["a", "a", "b"])
    assert len(f) == 3
    f.remove_all(["a", "b"])
    assert len(f) == 1 and "a" in f and "b" not in f


# --- Distinct -------------------------------------------------------------------------------------


@hypothesis.given(keys=st.lists(KEYS, max_size=200), split=st.integers(0, 200))
def test_small_sets_are_counted_exactly(keys, split):
    whole, left, right = (tamis.Distinct(error=0.01) for _ in range(3))
    whole.update(keys)
    left.update(keys[:split])
    right.update(keys[split:])
    number = len(set(map(as_bytes, keys)))
    assert int(whole) == len(whole) == number
    assert whole.count.exact and whole.count.low == whole.count.high == number
    union = left | right
    assert bytes(union) == bytes(whole), "the order changes nothing"
    for key in keys:
        assert key in whole and whole.add(key) is False


@pytest.mark.parametrize("n", [3_000, 30_000, 300_000])
def test_distinct_of_big_sets(n):
    """An estimate is 7 standard errors off with a probability below 1e-9."""
    d = tamis.Distinct(error=0.01)
    d.update(range(n))
    d.update(range(n // 2))
    assert abs(int(d) - n) <= 7 * 0.01 * n
    c = d.count
    assert c.low <= c.value <= c.high and not c.exact and 0 < c.error <= 0.01
    assert repr(d).startswith("<tamis.Distinct")


def test_distinct_error_and_bytes():
    assert tamis.Distinct().count.exact
    fine, coarse = tamis.Distinct(error=0.001), tamis.Distinct(error=0.1)
    for it in (fine, coarse):
        it.update(range(5000))
    assert fine.nbytes > coarse.nbytes and fine.count.error <= 0.001 < coarse.count.error <= 0.1
    assert tamis.Distinct(bytes="16KiB").nbytes <= 1 << 14
    with pytest.raises(tamis.InvalidError):
        tamis.Distinct(error=0.9)


# --- Windows --------------------------------------------------------------------------------------


class WindowModel(RuleBasedStateMachine):
    """A window forgets what is older than its generations, and nothing else."""

    @initialize(generations=st.integers(2, 5), inner=st.sampled_from(
        ["blocked", "bloom", "partitioned", "tally", "top", "distinct"]))
    def begin(self, generations, inner):
        plan = dict(generations=generations, inner=inner)
        if inner in ("tally", "top"):
            plan["bytes"] = "64KiB" if inner == "tally" else "256KiB"
        elif inner == "distinct":
            plan["error"] = 0.05
        else:
            plan.update(items=1000, fpr=0.001)
        self.inner = inner
        self.window = tamis.Window(**plan)
        self.model = collections.deque([collections.Counter()], maxlen=generations)

    @rule(keys=LISTS)
    def update(self, keys):
        self.window.update(keys)
        self.model[-1].update(map(as_bytes, keys))

    @rule()
    def rotate(self):
        self.window.rotate()
        self.model.append(collections.Counter())

    @rule()
    def pickled(self):
        before = bytes(self.window)
        self.window = pickle.loads(pickle.dumps(self.window))
        assert type(self.window) is tamis.Window and bytes(self.window) == before

    @rule()
    def copied(self):
        self.window = self.window.copy()

    @invariant()
    def kept(self):
        recent = sum(self.model, collections.Counter())
        keys = list(recent)
        assert all(self.window.contains(keys))
        if self.inner in ("tally", "top"):
            for key, e in zip(keys, self.window.estimates(keys)):
                assert e.lower <= recent[key] <= e.upper and self.window[key] == e.count
        if self.inner == "top":
            assert {e.raw: e.count for e in self.window.most_common()} == recent
        if self.inner == "distinct":
            number = self.window.count
            assert number.low <= len(keys) <= number.high


TestWindow = WindowModel.TestCase


def test_a_window_of_filters_forgets():
    window = tamis.Window(items=1000, fpr=1e-9, generations=3)
    window.add("old")
    for _ in range(2):
        window.rotate()
        assert "old" in window
    window.rotate()
    assert "old" not in window  # wrong with a probability of 1e-9


def test_epochs():
    window = tamis.Window(items=1000, fpr=1e-9, generations=3)
    window.rotate_to(100)
    window.add("a")
    window.rotate_to(102)
    assert "a" in window and window.info.epoch == 102
    before = bytes(window)
    with pytest.raises(tamis.InvalidError):
        window.rotate_to(50)
    with pytest.raises((tamis.InvalidError, OverflowError)):
        window.rotate_to(-1)
    assert bytes(window) == before
    window.rotate_to(200)
    assert "a" not in window
    with pytest.raises(tamis.UnsupportedError):
        tamis.Filter(items=10, fpr=0.1).rotate()


def test_a_window_rotates_by_itself():
    window = tamis.Window(items=400, fpr=0.001, generations=4, auto_rotate=True)
    window.update(range(10_000))
    assert all(i in window for i in range(9_950, 10_000))
    # All of these are forgotten. 9 false positives are expected, and more than 60 have a
    # probability below 1e-9.
    assert sum(window.contains(list(range(9_000)))) <= 60


def test_methods_that_the_inner_kind_lacks():
    window = tamis.Window(items=100, fpr=0.01)
    with pytest.raises(tamis.UnsupportedError):
        window.most_common(3)
    with pytest.raises(tamis.UnsupportedError):
        window.estimate("a")
    counted = tamis.Window(inner="tally", bytes="64KiB")
    assert counted.add("a", 3) == 3 and counted["a"] == 3 and counted.total == 3
    assert math.isfinite(counted.info.error)
