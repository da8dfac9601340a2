"""Distinct: how many distinct keys?"""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import _tamis
from ._facts import Cardinality
from ._plans import Size, plan_dict
from ._sketch import Sketch, default_class

__all__ = ["Distinct"]


@default_class("distinct")
class Distinct(Sketch, _tamis.FilterHandle):
    """How many distinct keys? Like ``len(set(keys))``, in a few kilobytes.

    error is the relative standard error of the count, by default 0.01; or give bytes. Up to 2,048
    keys are counted exactly. ``count`` is the number with its interval; ``int()`` and ``len()``
    round it. Sketches of parts can be merged, and count a key once that several of them had.

    >>> import tamis
    >>> users = tamis.Distinct(error=0.01)
    >>> users.update(["ann", "bob", "ann"])
    >>> int(users), users.count.exact
    (2, True)
    >>> users.update(range(100_000))
    >>> users.count.low <= 100_002 <= users.count.high
    True
    """

    __slots__ = ()

    def __init__(self, error: Optional[float] = None, *, bytes: Optional[Size] = None,
                 key: Any = None, seed: int = 0, encoding: Optional[str] = None,
                 shared: bool = False, threads: int = 0, max_bytes: int = 0, m: int = 0) -> None:
        if error is None and bytes is None and m == 0:
            error = 0.01
        plan = plan_dict(kind="distinct", error=error, bytes=bytes, seed=seed, m=m,
                         encoding=encoding)
        self._create(plan, {"key": key, "shared": shared, "threads": threads,
                            "max_bytes": max_bytes})

    @property
    def count(self) -> Cardinality:
        """The number of distinct keys. Reads every register."""
        return self.distinct()

    def __int__(self) -> int:
        return round(self.distinct().value)

    def _contents(self, facts: Dict[str, Any]) -> str:
        found = self.distinct()
        about = "" if found.exact else "about "
        number = f"{found.value:,.0f}" if found.value < 1e18 else "too many"
        return f"{about}{number} keys"
