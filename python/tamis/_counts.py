"""Counts and Top: how often each key occurred, and the most frequent ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from . import _tamis
from ._plans import Size, plan_dict
from ._sketch import Sketch, default_class

__all__ = ["Counting", "Counts", "Entry", "Estimate", "Listing", "Top"]


@dataclass(frozen=True)
class Estimate:
    """The count of a key, with a confidence interval.

    The true count is between lower and upper with this confidence, for keys that nobody chose
    against the hash. ``certain`` is a guaranteed minimum. ``below_noise`` is True if one in a
    thousand keys that never occurred gets such a count. ``suspect`` is True if an attacker seems to
    have inflated the count, and None if that is not known.
    """

    count: int
    lower: int
    upper: int
    confidence: float
    certain: int
    below_noise: bool
    suspect: Optional[bool]

    def __int__(self) -> int:
        return self.count


@dataclass(frozen=True)
class Entry:
    """A frequent item: a str if its bytes are UTF-8, an int for int64le, and else bytes.

    If there was no room for the text of the item, ``item`` and ``raw`` have the value None. Only
    the beginning of a long item is kept: ``length`` is then more than ``len(raw)``. ``hash``
    identifies the item.
    """

    item: Union[str, int, bytes, None]
    count: int
    lower: int
    upper: int
    raw: Optional[bytes]
    length: int
    hash: int
    confidence: float
    certain: int
    below_noise: bool
    suspect: Optional[bool]


def _item(raw: Optional[bytes], encoding: Optional[str]) -> Union[str, int, bytes, None]:
    if raw is None:
        return None
    if encoding == "int64le" and len(raw) == 8:
        return int.from_bytes(raw, "little", signed=True)
    if encoding is not None and encoding != "text":
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def _entry(found: Any, encoding: Optional[str]) -> Entry:
    raw, length, hash_, (count, lower, upper, confidence, certain, below, suspect) = found
    return Entry(_item(raw, encoding), count, lower, upper, raw, length, hash_, confidence, certain,
                 below, suspect)


class Counting(Sketch, _tamis.CountsHandle):
    """What sketches that count have."""

    __slots__ = ()

    def estimate(self, key: Any) -> Estimate:
        """The count of a key with its confidence interval."""
        return Estimate(*self._estimate(key))

    def estimates(self, keys: Any) -> List[Estimate]:
        """The same for many keys."""
        return [Estimate(*one) for one in self._estimates(keys)]

    @property
    def total(self) -> int:
        """The sum of all added weights minus the subtracted ones."""
        weight: int = self._facts(False)["weight"]
        return weight

    def _contents(self, facts: Dict[str, Any]) -> str:
        return f"total {facts['weight']:,}"


class Listing(Counting):
    """What sketches that list the most frequent items have."""

    __slots__ = ()

    def most_common(self, n: Optional[int] = None) -> List[Entry]:
        """The n most frequent items, or all that are listed, the most frequent first."""
        encoding = self.encoding
        limit = 2**62 if n is None else max(n, 0)
        return [_entry(one, encoding) for one in self._top(limit)]

    def above(self, weight: int) -> List[Entry]:
        """All items whose count may be ``weight`` or more; never misses one.

        Raises InvalidError if weight is below ``info.list_floor``.
        """
        encoding = self.encoding
        return [_entry(one, encoding) for one in self._above(weight)]


@default_class("tally", "count-min", "count-sketch", "signed-tally")
class Counts(Counting):
    """How often did each key occur? In memory that does not grow.

    Keys share counters, so a count is an estimate. The kinds "tally" (the default) and "count-min"
    never return too little. "count-min" is the default if error is given: with a probability of at
    most delta, a count is too high by more than error times the total. "signed-tally" and
    "count-sketch" allow negative weights, and err either way. The size is given by bytes, error or
    m; by default it is 1 MiB. The other arguments are those of Filter.

    >>> import tamis
    >>> counts = tamis.Counts(bytes="64KiB")
    >>> counts.add("x"), counts.add("x", 4)
    (1, 5)
    >>> counts.update({"y": 2, "z": 3})
    >>> counts["x"], counts["y"], counts["never"], counts.total
    (5, 2, 0, 10)
    >>> counts.estimate("x").lower
    5
    >>> counts
    <tamis.Counts tally: total 10, 66 kB>
    """

    __slots__ = ()

    def __init__(self, bytes: Optional[Size] = None, *, error: Optional[float] = None,
                 delta: Optional[float] = None, kind: Optional[str] = None,
                 conservative: bool = False, key: Any = None, seed: int = 0,
                 encoding: Optional[str] = None, shared: bool = False, threads: int = 0,
                 max_bytes: int = 0, m: int = 0, k: int = 0, cell_bits: int = 0) -> None:
        if kind is None:
            kind = "tally" if error is None and not conservative else "count-min"
        if bytes is None and error is None and m == 0:
            bytes = "1MiB"
        plan = plan_dict(kind=kind, bytes=bytes, error=error, delta=delta, seed=seed, m=m, k=k,
                         cell_bits=cell_bits, encoding=encoding, conservative=conservative)
        if _tamis.kind_name(plan["kind"]) not in Counts._kinds:
            raise TypeError(f"Counts cannot be a {kind}; they are {', '.join(Counts._kinds)}")
        self._create(plan, {"key": key, "shared": shared, "threads": threads,
                            "max_bytes": max_bytes})


@default_class("top")
class Top(Listing):
    """The most frequent items themselves, with their counts; also counts all other keys.

    The size is bytes. items is the number of items to list; the list is often longer.

    >>> import tamis
    >>> top = tamis.Top(bytes="64KiB")
    >>> top.update("to be or not to be that is the question".split())
    >>> [(entry.item, entry.count) for entry in top.most_common(2)]
    [('be', 2), ('to', 2)]
    >>> top["or"]
    1
    """

    __slots__ = ()

    def __init__(self, bytes: Optional[Size] = "1MiB", *, items: Optional[int] = 100,
                 key: Any = None, seed: int = 0, encoding: Optional[str] = None,
                 threads: int = 0, max_bytes: int = 0, m: int = 0) -> None:
        plan = plan_dict(kind="top", bytes=bytes, items=items, seed=seed, m=m, encoding=encoding)
        self._create(plan, {"key": key, "threads": threads, "max_bytes": max_bytes})


for _class in (Estimate, Entry, Counting, Listing):
    _class.__module__ = "tamis"
