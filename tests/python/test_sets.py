"""Filters against a model, which is a Counter of the keys that were added. A "no" is never wrong,
and every way to copy a filter keeps its bytes."""
import collections
import copy
import math
import os
import pickle
import tempfile

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import (RuleBasedStateMachine, initialize, invariant, precondition, rule)

import tamis

# Few keys, so that they often repeat, of all types. Each type has keys that are equal as bytes.
KEYS = st.one_of(st.sampled_from(["", "a", "b", "é", "12", "-3", b"a", b"", 12, -3, 2**70]),
                 st.integers(-50, 50), st.text(max_size=3), st.binary(max_size=3))
LISTS = st.lists(KEYS, max_size=12)


def as_bytes(key):
    """A key as docs/KEYS.md says."""
    if isinstance(key, int):
        return str(key).encode()
    return key.encode() if isinstance(key, str) else bytes(key)


def usable(key):
    return not isinstance(key, str) or not any("\ud800" <= c <= "\udfff" for c in key)


KEYS = KEYS.filter(usable)
LISTS = st.lists(KEYS, max_size=12)

SETS = {
    "bloom": dict(kind="bloom", items=500, fpr=0.01),
    "partitioned": dict(kind="partitioned", items=500, fpr=0.01),
    "blocked": dict(kind="blocked", items=500, fpr=0.01),
    "compact": dict(kind="blocked", items=500, fpr=0.001, compact=True),
    "transfer": dict(kind="bloom", items=500, fpr=0.01, for_transfer=True),
    "counting": dict(kind="counting", items=500, fpr=0.01, cell_bits=8),
    "counting-lined": dict(kind="counting", items=500, fpr=0.01, cell_bits=16, inner="blocked"),
    "cuckoo": dict(kind="cuckoo", items=500, fpr=0.001),
    "growing": dict(kind="growing", fpr=0.01, items=10),
    "removable": dict(kind="growing", fpr=0.01, removable=True),
    "keyed": dict(kind="blocked", items=500, fpr=0.01, key=bytes(range(16))),
    "seeded": dict(kind="bloom", items=500, fpr=0.01, seed=7),
    "shared": dict(kind="blocked", items=500, fpr=0.01, shared=True),
    "tight": dict(kind="bloom", items=5, fpr=0.4),  # nearly every bit is set
}
MERGES = {"bloom", "partitioned", "blocked", "compact", "counting", "counting-lined", "keyed",
          "seeded", "transfer", "tight", "shared"}
REMOVES = {"counting", "counting-lined", "cuckoo", "removable"}
COPIES = 3  # of one key at most, because a cuckoo filter has room for few


class FilterModel(RuleBasedStateMachine):
    name = None  # set by each subclass

    def fresh(self):
        return tamis.Filter(**SETS[self.name])

    @initialize()
    def begin(self):
        self.filter, self.model = self.fresh(), collections.Counter()

    def takes(self, key):
        return self.name not in REMOVES or self.model[as_bytes(key)] < COPIES

    @rule(key=KEYS)
    def add(self, key):
        if self.takes(key):
            new = key not in self.filter
            assert self.filter.add(key) is new
            self.model[as_bytes(key)] += 1

    def allowed(self, keys):
        later = self.model.copy()
        out = []
        for key in keys:
            later[as_bytes(key)] += 1
            if self.name not in REMOVES or later[as_bytes(key)] <= COPIES:
                out.append(key)
        return out

    @rule(keys=LISTS, form=st.sampled_from([list, tuple, iter, set]))
    def update(self, keys, form):
        keys = self.allowed(set(keys) if form is set else keys)
        assert self.filter.update(form(keys)) is None
        self.model.update(map(as_bytes, keys))

    @rule(keys=LISTS)
    def add_all(self, keys):
        keys = self.allowed(keys)
        one_by_one = self.filter.copy()
        expected = [one_by_one.add(key) for key in keys]
        assert list(self.filter.add_all(keys)) == expected
        self.model.update(map(as_bytes, keys))

    @rule(keys=LISTS)
    def ask(self, keys):
        answers = [key in self.filter for key in keys]
        assert self.filter.contains(keys) == answers
        assert self.filter.select(keys) == [i for i, yes in enumerate(answers) if yes]
        for key, yes in zip(keys, answers):
            assert yes or not self.model[as_bytes(key)]

    @rule(key=KEYS)
    def remove(self, key):
        raw = as_bytes(key)
        if self.name not in REMOVES:
            before = bytes(self.filter)
            with pytest.raises(tamis.UnsupportedError) as caught:
                self.filter.remove(key)
            assert caught.value.better_kind in ("counting", "cuckoo", "growing")
            assert bytes(self.filter) == before
        elif self.model[raw]:
            self.filter.remove(key)
            self.model[raw] -= 1
        elif key not in self.filter:
            before = bytes(self.filter)
            with pytest.raises(KeyError) as caught:
                self.filter.remove(key)
            assert isinstance(caught.value, tamis.AbsentError)
            assert self.filter.discard(key) is False
            assert bytes(self.filter) == before

    @precondition(lambda self: self.name in REMOVES)
    @rule(data=st.data())
    def discard(self, data):
        members = sorted(key for key, n in self.model.items() if n)
        if members:
            key = data.draw(st.sampled_from(members))
            assert self.filter.discard(key) is True
            self.model[key] -= 1

    @precondition(lambda self: self.name in MERGES)
    @rule(keys=LISTS, how=st.sampled_from(["merge", "|=", "|"]))
    def merge(self, keys, how):
        other = self.fresh()
        other.update(self.allowed(keys))
        before, theirs = bytes(self.filter), bytes(other)
        if how == "merge":
            assert self.filter.merge(other) is self.filter
        elif how == "|=":
            same = self.filter
            self.filter |= other
            assert self.filter is same
        else:
            union = self.filter | other
            assert bytes(self.filter) == before
            self.filter = union
        assert bytes(other) == theirs
        self.model.update(map(as_bytes, self.allowed(keys)))

    @rule(how=st.sampled_from(["copy", "copy.copy", "deepcopy", "pickle", "bytes", "view", "save",
                               "mmap", "packed"]))
    def copies(self, how):
        before = bytes(self.filter)
        key = SETS[self.name].get("key")
        if how == "copy":
            other = self.filter.copy()
        elif how == "copy.copy":
            other = copy.copy(self.filter)
        elif how == "deepcopy":
            other = copy.deepcopy([self.filter])[0]
        elif how == "pickle":
            other = pickle.loads(pickle.dumps(self.filter))
            if key:
                other.unlock(key)
        elif how == "bytes":
            other = tamis.Filter.from_bytes(before, key=key)
        elif how == "view":
            other = tamis.view(before, key=key)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.tamis")
                self.filter.copy().save(path, packed=how == "packed")
                other = tamis.open(path, mmap=how == "mmap", key=key)
        assert type(other) is tamis.Filter
        assert bytes(other) == before
        for raw, n in self.model.items():
            assert raw in other or not n
        if how not in ("view", "mmap") and self.name != "shared":
            self.filter = other

    @rule()
    def clear(self):
        self.filter.clear()
        self.model.clear()
        assert len(self.filter) == 0

    @invariant()
    def members_are_found(self):
        members = [key for key, n in self.model.items() if n]
        assert all(key in self.filter for key in members)
        assert all(self.filter.contains(members))
        if self.name in REMOVES:
            assert len(self.filter) == sum(self.model.values())
        elif not self.filter.info.items_estimated:
            assert len(self.filter) <= len(members)


def machine(name):
    case = type(FilterModel)(f"Model_{name}", (FilterModel,), {"name": name}).TestCase
    case.__name__ = case.__qualname__ = f"Test_{name.replace('-', '_')}"
    return pytest.mark.filterwarnings("ignore::tamis.OverfullWarning")(case)


for name in SETS:
    globals()[f"Test_{name.replace('-', '_')}"] = machine(name)
del name


@hypothesis.given(added=st.sets(st.integers(0, 300), max_size=60),
                  removed=st.sets(st.integers(0, 300), max_size=60))
def test_pair_forgets_what_is_removed(added, removed):
    pair = tamis.Filter(kind="pair", items=1000, fpr=1e-6)
    pair.update(added)
    for key in sorted(added & removed):
        pair.remove(key)
    # A rate of 1e-6 could miss one of 60 keys in 16,000 runs, but the examples are fixed.
    assert all(key in pair for key in added - removed)
    assert not any(key in pair for key in added & removed)


@pytest.mark.parametrize("kind", ["ribbon", "fuse"])
@hypothesis.given(members=st.sets(st.integers(-10**6, 10**6), max_size=200))
def test_sealed_kinds(kind, members):
    sealed = tamis.seal(members, fpr=1 / 256, kind=kind)
    assert sealed.sealed and sealed.kind == kind and len(sealed) == len(members)
    assert all(sealed.contains(list(members)))
    again = tamis.load(bytes(sealed))
    assert bytes(pickle.loads(pickle.dumps(again))) == bytes(sealed)
    before = bytes(sealed)
    with pytest.raises(tamis.SealedError):
        sealed.add(1)
    assert bytes(sealed) == before


@hypothesis.given(members=st.sets(st.integers(0, 10**6), min_size=1, max_size=200),
                  never=st.sets(st.integers(0, 10**6), min_size=1, max_size=400))
def test_exact_is_exact(members, never):
    never -= members
    exact = tamis.exact(members, never)
    assert exact.sealed and exact.kind == "exact"
    assert all(exact.contains(sorted(members))) and not any(exact.contains(sorted(never)))


def test_exact_refuses_a_contradiction():
    with pytest.raises(tamis.InvalidError) as caught:
        tamis.exact(["a", "b"], ["c", "b"])
    assert caught.value.offset == 1


@pytest.mark.parametrize("kind", ["bloom", "partitioned", "blocked", "cuckoo", "counting",
                                  "growing", "ribbon", "fuse"])
def test_rate(kind):
    """The rate is the one that was planned. A number of false positives that differs from its
    mean np by more than 6.5 sqrt(np) + 22 has a probability below 1e-9, by Bernstein's
    inequality."""
    n = 40_000
    f = tamis.Filter(items=n, fpr=0.01, kind=kind)
    f.update(range(n))
    if kind in ("ribbon", "fuse"):
        f.seal()
    wrong = sum(f.contains(list(range(n, 2 * n))))
    mean = n * f.info.fpr
    assert f.info.fpr <= 0.0105
    assert abs(wrong - mean) <= 6.5 * math.sqrt(mean) + 22, (wrong, mean)


def test_the_same_keys_give_the_same_bytes():
    """One by one, in bulk, as an iterator and through a merge."""
    keys = [f"key {i}" for i in range(3000)]
    one, bulk, streamed = (tamis.Filter(items=3000, fpr=0.01) for _ in range(3))
    for key in keys:
        one.add(key)
    bulk.update(keys)
    streamed.update(iter(keys))
    assert bytes(one) == bytes(bulk) == bytes(streamed)
    halves = [tamis.Filter(items=3000, fpr=0.01) for _ in range(2)]
    halves[0].update(keys[:1500])
    halves[1].update(keys[1500:])
    union = halves[0] | halves[1]
    assert union.contains(keys) == [True] * 3000 and union.info.items_estimated


def test_merge_of_many():
    shards = [tamis.Filter(items=1000, fpr=0.01) for _ in range(5)]
    for i, shard in enumerate(shards):
        shard.add(i)
    whole = tamis.Filter(items=1000, fpr=0.01)
    assert whole.merge(*shards) is whole
    assert all(i in whole for i in range(5))
    assert whole.merge() is whole


def test_compare_and_distinct():
    a, b = tamis.Filter(items=5000, fpr=0.01), tamis.Filter(items=5000, fpr=0.01)
    a.update(range(0, 4000))
    b.update(range(2000, 5000))
    likeness = a.compare(b)
    # Each interval has a confidence of 99 %, and the keys are fixed.
    assert likeness.common_low <= 2000 <= likeness.common_high
    assert likeness.union_low <= 5000 <= likeness.union_high
    assert likeness.jaccard_low <= 0.4 <= likeness.jaccard_high
    number = a.distinct()
    assert number.low <= 4000 <= number.high and not number.exact


def test_what_a_filter_reports():
    f = tamis.Filter(items=1_000_000, fpr=0.01)
    assert repr(f) == "<tamis.Filter blocked: 0 of 1,000,000 items, fpr 0.01, 1.3 MB>"
    f.update(["a", "b", "a"])
    assert len(f) == 2 and "2 of 1,000,000" in repr(f)
    assert f.kind == "blocked" and not f.keyed and not f.overfull and not f.closed
    assert f.nbytes == len(bytes(f)) == f.info.bytes
    assert f.__sizeof__() >= f.nbytes
    assert f.info.planned_items >= 1_000_000 and 0 < f.info.fpr_planned <= 0.01
    assert 0 <= f.fpr < 1e-6
    with pytest.raises(AttributeError):
        f.info.items = 3
    with pytest.raises(TypeError):
        hash(f)
    assert f == f and f != f.copy()
    assert bool(f)  # a filter is true, whatever it holds
    assert "blocked" in tamis.kinds and "distinct" in tamis.kinds


def test_plan():
    plan = tamis.plan(items=5_000_000, fpr=0.01)
    assert plan.kind == "blocked" and plan.items >= 5_000_000 and plan.fpr <= 0.01
    assert plan.bytes * 8 / 5_000_000 == pytest.approx(plan.bits_per_item, rel=0.01)
    # keys one by one: log2(e) more than a sealed kind; of unknown number: no bound
    assert plan.bound == "dynamic"
    assert plan.bound_bits == pytest.approx(math.log2(1 / plan.fpr) + math.log2(math.e), rel=1e-6)
    assert "1.25 times the lower bound of 8.09" in str(plan)
    sealed = tamis.plan(items=5_000_000, fpr=0.01, kind="ribbon")
    assert sealed.bound == "static"
    assert sealed.bound_bits == pytest.approx(math.log2(1 / sealed.fpr), rel=1e-6)
    growing = tamis.plan(items=5_000_000, fpr=0.01, kind="growing")
    assert growing.bound is None and growing.bound_bits == growing.bound_ratio == 0
    assert "bound" not in str(growing)
    assert tamis.Filter(items=100, fpr=0.01).info.bound == "dynamic"
    assert "blocked" in str(plan) and "5,000,000" in str(plan)
    assert tamis.plan(bytes="1MiB", fpr=0.01).bytes <= 1 << 20
    assert tamis.plan(bytes=1 << 20, fpr=0.01).items > 800_000
    with pytest.raises(tamis.InvalidError):
        tamis.plan(items=5)
    with pytest.raises(ValueError):
        tamis.plan(items=5, fpr=2)


@pytest.mark.parametrize("text, number", [("2MB", 2_000_000), ("1MiB", 1 << 20), ("64k", 64_000),
                                          ("64KiB", 1 << 16), ("4096", 4096), (4096, 4096)])
def test_sizes(text, number):
    f = tamis.Filter(bytes=text, fpr=0.01)
    assert number * 0.9 < f.nbytes <= number
    assert tamis.plan(bytes=text, fpr=0.01).bytes == f.nbytes


@pytest.mark.parametrize("wrong", ["", "MB", "-1", "1.5.2MB", "1 parsec", -5, 1.5, b"2MB"])
def test_wrong_sizes(wrong):
    with pytest.raises((ValueError, TypeError)):
        tamis.Filter(bytes=wrong, fpr=0.01)


def test_a_merge_of_several_stops_at_the_first_that_does_not_fit():
    first, second = (tamis.Filter(items=100, fpr=0.01) for _ in range(2))
    other = tamis.Filter(items=100_000, fpr=0.01)
    for key, f in zip("abc", (first, second, other)):
        f.add(key)
    into = tamis.Filter(items=100, fpr=0.01)
    with pytest.raises(tamis.MismatchError):
        into.merge(first, other, second)
    assert "a" in into and "b" not in into and "c" not in into
