"""Window: what happened lately."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ._facts import Cardinality
from ._plans import Size, plan_dict
from ._counts import Listing
from ._sketch import default_class

__all__ = ["Window"]

_SKETCHES = ("tally", "top", "count-min", "count-sketch", "signed-tally", "distinct")


@default_class("window")
class Window(Listing):
    """Generations of filters or sketches, of which the oldest is forgotten.

    "Seen in the last hour?" is a window that you rotate: with 13 generations and rotate() every
    five minutes, it covers the last 60 to 65 minutes. rotate_to() takes a number from a clock
    instead, and survives a restart. inner is the kind of the generations. A filter ("blocked",
    "bloom", "partitioned") needs items and fpr, or bytes; items are those of all generations. A
    sketch ("tally", "top", "distinct" and others) needs bytes or error. The window has the methods
    of its inner kind; others raise UnsupportedError. With auto_rotate, a window of filters rotates
    when its newest generation is full.

    >>> import tamis
    >>> lately = tamis.Window(items=1000, fpr=0.01, generations=2)
    >>> lately.add("a")
    True
    >>> lately.rotate(); "a" in lately
    True
    >>> lately.rotate(); "a" in lately
    False
    >>> hits = tamis.Window(inner="tally", bytes="256KiB")
    >>> hits.add("page"), hits.add("page")
    (1, 2)
    """

    __slots__ = ()

    def __init__(self, items: Optional[float] = None, fpr: Optional[float] = None, *,
                 generations: int = 4, inner: str = "blocked", bytes: Optional[Size] = None,
                 auto_rotate: bool = False, error: Optional[float] = None,
                 delta: Optional[float] = None, key: Any = None, seed: int = 0,
                 encoding: Optional[str] = None, shared: bool = False, threads: int = 0,
                 max_bytes: int = 0, m: int = 0, k: int = 0, cell_bits: int = 0,
                 conservative: bool = False) -> None:
        if inner in _SKETCHES:
            if bytes is None and error is None and m == 0:
                if inner == "distinct":
                    error = 0.01
                else:
                    bytes = "1MiB"
        elif fpr is None and bytes is None and m == 0 and items is not None:
            fpr = 0.01
        plan = plan_dict(kind="window", items=items, fpr=fpr, bytes=bytes, seed=seed, m=m, k=k,
                         cell_bits=cell_bits, generations=generations, inner=inner, error=error,
                         delta=delta, encoding=encoding, auto_rotate=auto_rotate,
                         conservative=conservative)
        self._create(plan, {"key": key, "shared": shared, "threads": threads,
                            "max_bytes": max_bytes})

    @property
    def count(self) -> Cardinality:
        """The number of distinct keys in a window of distinct sketches."""
        return self.distinct()

    def _contents(self, facts: Dict[str, Any]) -> str:
        generations = facts["generations"] or facts["sections"]
        text = f"{generations} generations"
        if facts["planned_items"]:
            text += f", {facts['items']:,} of {facts['planned_items']:,} items"
        elif facts["weight"]:
            text += f", total {facts['weight']:,}"
        if facts["fpr_planned"]:
            text += f", fpr {facts['fpr_planned']:.3g}"
        return text
