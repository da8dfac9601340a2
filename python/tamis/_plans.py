"""Plans: the shape of a filter or sketch, computed from what you know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple, Union

from . import _tamis
from ._errors import InvalidError
from ._facts import human_bytes, human_rate

__all__ = ["Plan", "Size", "kinds", "plan", "plan_dict", "size_in_bytes"]

Size = Union[int, str]

kinds: Tuple[str, ...] = tuple(
    name for name in (_tamis.kind_name(i) for i in range(1, 256)) if name is not None)

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4,
          "ki": 1024, "mi": 1024**2, "gi": 1024**3, "ti": 1024**4}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
_ENCODINGS = {"text": 1, "int64le": 2, "fixed": 3, "sha256": 4, "caller": 5}


def size_in_bytes(size: Optional[Size]) -> int:
    """A number of bytes, from an int or from a text such as "2MB", "1MiB" or "64k".

    As in the International System, k is 1000 and Ki is 1024. None is 0.

    >>> from tamis._plans import size_in_bytes
    >>> [size_in_bytes(s) for s in (4096, "64k", "1MiB", "2.5 MB")]
    [4096, 64000, 1048576, 2500000]
    """
    if size is None:
        return 0
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        if match is None or match[2].lower() not in _UNITS:
            raise InvalidError(f"{size!r} is not a size; write it like 64k, 2MB or 1MiB")
        return round(float(match[1]) * _UNITS[match[2].lower()])
    return _whole("bytes", size)


def _whole(name: str, number: Any) -> int:
    if isinstance(number, float):
        if not number.is_integer():
            raise InvalidError(f"{name} is a whole number, not {number}")
        number = int(number)
    if isinstance(number, bool):
        raise TypeError(f"{name} is an int, not bool")
    try:
        value = int(number.__index__())
    except AttributeError:
        raise TypeError(f"{name} is an int, not {type(number).__name__}") from None
    if value < 0:
        raise InvalidError(f"{name} is {value}, but cannot be negative")
    if value >= 2**64:
        raise InvalidError(f"{name} is too big")
    return value


def _rate(name: str, number: Any) -> float:
    if number is None:
        return 0.0
    if isinstance(number, (bool, str)):
        raise TypeError(f"{name} is a number, not {type(number).__name__}")
    value = float(number)
    if not 0 < value < 1:
        raise InvalidError(f"{name} is {value:g}, but must be above 0 and below 1")
    return value


def _kind_number(name: Optional[str]) -> int:
    if name is None or name == "auto":
        return 0
    if not isinstance(name, str):
        raise TypeError(f"a kind is a str, not {type(name).__name__}")
    number = _tamis.kind_number(name.replace("_", "-"))
    if number == 0:
        raise InvalidError(f"there is no kind {name!r}; the kinds are {', '.join(kinds)}")
    return number


def _encoding(name: Optional[str]) -> Tuple[int, int]:
    if name is None:
        return 0, 0
    if not isinstance(name, str):
        raise TypeError(f"an encoding is a str, not {type(name).__name__}")
    first, _, width = name.partition(":")
    number = _ENCODINGS.get(first)
    if number is None or (first == "fixed") != width.isdecimal():
        raise InvalidError(f"there is no encoding {name!r}; the encodings are text, int64le, "
                           f"fixed:N, sha256 and caller")
    return number, int(width) if width else 0


def plan_dict(*, kind: Optional[str] = "auto", items: Optional[float] = None,
              fpr: Optional[float] = None, bytes: Optional[Size] = None, seed: int = 0,
              m: int = 0, k: int = 0, cell_bits: int = 0, generations: int = 0,
              inner: Optional[str] = None, excluded: int = 0, error: Optional[float] = None,
              delta: Optional[float] = None, encoding: Optional[str] = None,
              strict: bool = False, compact: bool = False, auto_rotate: bool = False,
              for_transfer: bool = False, conservative: bool = False,
              removable: bool = False) -> Dict[str, Any]:
    """The plan as the C half takes it."""
    flags = ((_tamis.STRICT if strict else 0) | (_tamis.COMPACT if compact else 0)
             | (_tamis.AUTO_ROTATE if auto_rotate else 0)
             | (_tamis.TRANSFER if for_transfer else 0)
             | (_tamis.CONSERVATIVE if conservative else 0)
             | (_tamis.REMOVABLE if removable else 0))
    number, width = _encoding(encoding)
    always = fpr == 1 and kind == "map" and fpr is not True  # a map without fingerprints
    return {
        "kind": _kind_number(kind), "flags": flags,
        "items": 0 if items is None else _whole("items", items),
        "fpr": 1.0 if always else _rate("fpr", fpr),
        "bytes": size_in_bytes(bytes), "seed": _whole("seed", seed), "m": _whole("m", m),
        "k": _whole("k", k), "cell_bits": _whole("cell_bits", cell_bits),
        "generations": _whole("generations", generations), "inner_kind": _kind_number(inner),
        "excluded": _whole("excluded", excluded), "error": _rate("error", error),
        "delta": _rate("delta", delta), "encoding": number, "key_width": width,
    }


@dataclass(frozen=True)
class Plan:
    """The shape of a filter or sketch, with what it promises. ``str()`` of it is a table."""

    kind: str
    items: int
    fpr: float  #: false-positive rate with these items
    bytes: int  #: size of the whole image
    bits_per_item: float
    bound_bits: float  #: lower bound of bits per item at this rate, for kinds like this one
    bound_ratio: float  #: bits_per_item / bound_bits; both are 0 if there is no bound
    bound: Optional[str]  #: which one: "static", "dynamic" or "two-set"; None if there is none
    m: int
    k: int
    cell_bits: int
    generations: int
    inner_kind: Optional[str]
    excluded: int
    seed: int
    error: float
    delta: float
    encoding: Optional[str]
    key_width: int
    fpr_asymptotic: float
    overflow: float
    packed_bytes: int

    def __str__(self) -> str:
        rows = [("kind", self.kind)]
        if self.inner_kind:
            rows.append(("inner kind", self.inner_kind))
        if self.generations:
            rows.append(("generations", f"{self.generations:,}"))
        if self.items:
            rows.append(("items", f"{self.items:,}"))
        if self.fpr:
            rows.append(("wrong", f"{human_rate(self.fpr)} (1 in {round(1 / self.fpr):,})"))
        if self.error:
            rows.append(("error", f"{self.error:.3g}"))
        rows.append(("size", f"{human_bytes(self.bytes)} ({self.bytes:,} bytes)"))
        if self.packed_bytes:
            rows.append(("packed", f"{human_bytes(self.packed_bytes)}"))
        if self.bits_per_item:
            bound = (f"; {self.bound_ratio:.2f} times the lower bound of {self.bound_bits:.2f}"
                     if self.bound else "")
            rows.append(("per item", f"{self.bits_per_item:.2f} bits{bound}"))
        if self.m:
            rows.append(("cells", f"m = {self.m:,}, k = {self.k}"))
        return "\n".join(f"{name:<12}{value}" for name, value in rows)


Plan.__module__ = "tamis"


def plan(items: Optional[float] = None, fpr: Optional[float] = None, *,
         bytes: Optional[Size] = None, kind: Optional[str] = "auto", **shape: Any) -> Plan:
    """Computes what a filter or sketch takes, without making it.

    Give two of items, fpr and bytes. The other arguments are those of the classes.

    >>> import tamis
    >>> print(tamis.plan(items=5_000_000, fpr=0.01))
    kind        blocked
    items       5,000,000
    wrong       0.01 (1 in 100)
    size        6.3 MB (6,313,152 bytes)
    per item    10.10 bits; 1.25 times the lower bound of 8.09
    cells       m = 50,497,024, k = 8
    >>> tamis.plan(items=1000, bytes="2kB").fpr < 0.01
    True
    """
    solved, promise = _tamis.solve(plan_dict(kind=kind, items=items, fpr=fpr, bytes=bytes, **shape))
    inner = solved["inner_kind"]
    return Plan(
        kind=_tamis.kind_name(solved["kind"]) or "", items=solved["items"], fpr=promise["fpr"],
        bytes=promise["bytes"], bits_per_item=promise["bits_per_item"],
        bound_bits=promise["bound_bits"], bound_ratio=promise["bound_ratio"],
        bound=_tamis.bound_name(promise["bound"]), m=solved["m"], k=solved["k"],
        cell_bits=solved["cell_bits"], generations=solved["generations"],
        inner_kind=_tamis.kind_name(inner) if inner else None, excluded=solved["excluded"],
        seed=solved["seed"], error=solved["error"], delta=solved["delta"],
        encoding=_tamis.encoding_name(solved["encoding"]), key_width=solved["key_width"],
        fpr_asymptotic=promise["fpr_asymptotic"], overflow=promise["overflow"],
        packed_bytes=promise["packed_bytes"])


plan.__module__ = "tamis"
