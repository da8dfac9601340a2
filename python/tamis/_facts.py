"""What objects report, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional

from . import _tamis

__all__ = ["Cardinality", "Info", "Similarity", "info_from", "human_bytes", "human_rate"]

_HASHES = {1: "xxh3", 2: "siphash", 3: "caller"}


def human_bytes(size: int) -> str:
    """A size in bytes, for people."""
    if size < 1000:
        return f"{size} bytes"
    number = float(size)
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        number /= 1000
        if number < 999.5:
            break
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:.0f} {unit}"


def human_rate(rate: float) -> str:
    """A false-positive rate, for people."""
    return f"{rate:.3g}"


@dataclass(frozen=True)
class Cardinality:
    """A number of distinct keys, with its 99 % confidence interval.

    ``value`` is infinite if the structure is too full. ``error`` is the relative standard error of
    such a sketch, and 0 if the number is exact and for filters.
    """

    value: float
    low: float
    high: float
    exact: bool
    error: float

    def __int__(self) -> int:
        return round(self.value)

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Similarity:
    """How many items two filters have in common, estimated with 99 % confidence intervals.

    ``first_only`` are items of the first that the second lacks. If ``common_low`` is 0, the two may
    have nothing in common.
    """

    union_items: float
    union_low: float
    union_high: float
    common_items: float
    common_low: float
    common_high: float
    jaccard: float
    jaccard_low: float
    jaccard_high: float
    first_only: float
    first_only_low: float
    first_only_high: float
    second_only: float
    second_only_low: float
    second_only_high: float


@dataclass(frozen=True)
class Info:
    """What a filter or a sketch reports about itself: the fields of ``tamis_facts``.

    Fields that a kind does not have are 0. ``stat`` also leaves those 0 for which it would have to
    read all cells, such as ``fpr`` and ``fill``.
    """

    kind: str
    items: int  #: adds that changed something; for sketches, the sum of all weights
    planned_items: int
    fpr: float  #: the false-positive rate now, computed from the bits
    fpr_planned: float  #: with the planned items
    fpr_low: float
    fpr_high: float
    bytes: int  #: size of the whole image
    fill: float  #: share of bits that are set, or of cells in use
    bits_per_item: float
    bound_bits: float  #: lower bound of bits per item at this rate
    bound_ratio: float
    bound: Optional[str]  #: which one: "static", "dynamic" or "two-set"; None if there is none
    items_estimate: float  #: distinct items, estimated from the bits alone
    items_low: float
    items_high: float
    overfull: bool
    sealed: bool
    collecting: bool
    read_only: bool
    strict: bool
    auto_rotate: bool
    may_miss: bool
    miss_rate: float
    items_estimated: bool
    hash_suspect: bool
    hash: str
    seed: int
    keyed: bool
    key_id: str
    encoding: Optional[str]
    key_width: int
    m: int
    k: int
    cell_bits: int
    sections: int
    format: int
    generation: int
    excluded: int
    saturated: int
    overflow: float
    conservative: bool
    weight: int
    noise_median: int
    noise_99: int
    noise_999: int
    error: float
    entries: int
    listed: int
    list_floor: int
    epsilon: float
    inner_kind: Optional[str]
    generations: int
    epoch: int
    removable: bool  #: keys can be removed, unless read_only


for _class in (Cardinality, Info, Similarity):
    _class.__module__ = "tamis"


def info_from(facts: Dict[str, Any]) -> Info:
    """An Info of the dictionary that the C half makes."""
    facts = dict(facts)
    facts["kind"] = _tamis.kind_name(facts["kind"]) or str(facts["kind"])
    inner = facts["inner_kind"]
    facts["inner_kind"] = _tamis.kind_name(inner) if inner else None
    facts["hash"] = _HASHES.get(facts["hash"], str(facts["hash"]))
    facts["encoding"] = _tamis.encoding_name(facts["encoding"])
    facts["bound"] = _tamis.bound_name(facts["bound"])
    facts["key_id"] = facts["key_id"].hex()
    return Info(**facts)
