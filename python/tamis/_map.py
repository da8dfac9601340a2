"""Map: a value for each key."""

from __future__ import annotations

import collections.abc
import re
from typing import Any, Dict, Optional, Tuple

from . import _tamis
from ._errors import InvalidError
from ._plans import plan_dict
from ._sketch import Sketch, default_class

__all__ = ["Map"]

MOST_BITS = 32
_UNORDERED: Tuple[Any, ...] = (collections.abc.Mapping, set, frozenset)


def _pairs(pairs: Any) -> Tuple[Any, Any]:
    """The keys and the values of an iterable of pairs."""
    keys, values = [], []
    for row, pair in enumerate(pairs):
        try:
            key, value = pair
        except (TypeError, ValueError):
            raise TypeError(f"row {row}: a pair of a key and its value is needed, not "
                            f"{type(pair).__name__}") from None
        keys.append(key)
        values.append(value)
    return keys, values


def _keys_and_values(keys: Any, values: Any) -> Tuple[Any, Any]:
    if values is not None:
        if isinstance(keys, _UNORDERED) or isinstance(values, _UNORDERED):
            raise TypeError("keys and values are two columns of the same order; a mapping is "
                            "passed alone")
        return keys, values
    if isinstance(keys, collections.abc.Mapping):
        return _pairs(keys.items())
    is_column = any(hasattr(keys, name) for name in ("dtype", "__array__", "__arrow_c_array__",
                                                     "__arrow_c_stream__"))
    if is_column or isinstance(keys, (str, bytes, bytearray, memoryview, Sketch)) or \
            not hasattr(keys, "__iter__"):
        raise TypeError(f"a Map is made of a mapping, of pairs, or of two columns as in "
                        f"Map(keys, values), not of one {type(keys).__name__}")
    return _pairs(keys)


def _pack(values: Any, bits: int) -> Tuple[bytes, int]:
    """The values as the C half takes them, and how many bits they need."""
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError(f"values are integers, not {type(values).__name__}")
    try:
        return _tamis.pack_values(values, bits)
    except TypeError as error:
        # The C half reads values as it reads keys, and has the reasons of keys.
        if str(error).startswith(("many keys", "a filter")):
            raise TypeError(f"values are a list, an array or a column of integers, not "
                            f"{type(values).__name__}") from None
        reason = re.sub(r"keys are str, bytes or int, (not [^;]*).*", r"values are integers, \1",
                        str(error))
        raise TypeError(re.sub(r"\bkey(s?)\b", r"value\1", reason)) from None


def _bits(value_bits: Any) -> int:
    if isinstance(value_bits, bool) or not hasattr(value_bits, "__index__"):
        raise TypeError(f"value_bits is an int, not {type(value_bits).__name__}")
    bits = int(value_bits.__index__())
    if not 1 <= bits <= MOST_BITS:
        raise InvalidError(f"a value has 1 to {MOST_BITS} bits, not {bits}")
    return bits


@default_class("map")
class Map(Sketch, _tamis.MapHandle):
    """A value of 1 to 32 bits for each key, in little more than the bits of the values.

    A member always gets its value. Any other key gets a KeyError, except with the false-positive
    rate fpr: then it gets an arbitrary value, as if it were a member. A map never changes after it
    was made, and does not know its keys, so they cannot be listed.

    It is made of a mapping, of pairs, or of a column of keys and one of values. A value is an int
    from 0 to 2**32 - 1. A key may occur again only with the same value. Further arguments:

    * fpr: with fpr=1, the map takes only the bits of its values, about value_bits for each key. It
      does not know its members then, and every other key gets an arbitrary value.
    * value_bits: by default as many as the greatest value needs.
    * key, encoding, seed, threads, max_bytes: as for Filter.

    While it is made, it takes 16 bytes for each key, and 4 for each value.

    >>> import tamis
    >>> group = tamis.Map({"ann": 3, "bob": 7}, fpr=1e-6)
    >>> group["ann"], group.get("cid"), "bob" in group
    (3, None, True)
    >>> group["cid"]
    Traceback (most recent call last):
        ...
    tamis.AbsentError: the key 'cid' is certainly not a member
    >>> group.lookup(["bob", "cid"])
    ([7, 0], [True, False])
    >>> squares = tamis.Map(range(100), [n * n for n in range(100)])
    >>> squares[9], squares.value_bits, len(squares)
    (81, 14, 100)
    """

    __slots__ = ()

    def __init__(self, keys: Any, values: Any = None, fpr: float = 0.01, *,
                 value_bits: Optional[int] = None, key: Any = None, seed: int = 0,
                 encoding: Optional[str] = None, threads: int = 0, max_bytes: int = 0) -> None:
        bits = 0 if value_bits is None else _bits(value_bits)
        keys, values = _keys_and_values(keys, values)
        packed, needed = _pack(values, bits or MOST_BITS)
        # The seal sizes the map by the keys that were added, not by the plan.
        plan = plan_dict(kind="map", items=max(len(packed) // 4, 1), fpr=fpr,
                         cell_bits=bits or max(needed, 1), seed=seed, encoding=encoding)
        self._create(plan, {"key": key, "threads": threads, "max_bytes": max_bytes})
        try:
            self._fill(keys, packed)
        except BaseException:
            self.close()
            raise

    @property
    def value_bits(self) -> int:
        """How many bits a value has."""
        bits: int = self._facts(False)["cell_bits"]
        return bits

    def _contents(self, facts: Dict[str, Any]) -> str:
        return f"{super()._contents(facts)}, {facts['cell_bits']}-bit values"
