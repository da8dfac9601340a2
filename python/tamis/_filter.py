"""Filter: approximate sets."""

from __future__ import annotations

from typing import Any, Optional

from . import _device, _tamis
from ._plans import Size, plan_dict
from ._sketch import Sketch, default_class

__all__ = ["Filter", "exact", "seal"]


@default_class("bloom", "partitioned", "blocked", "counting", "pair", "growing", "cuckoo", "fuse",
               "ribbon", "exact", "private")
class Filter(Sketch, _tamis.FilterHandle):
    """A set in a few bits per key, that answers "certainly not" or "maybe".

    A "no" is always right, except from the kinds "pair" and "private". A key that was never added
    gets a "maybe" with the false-positive rate.

    Give two of items, fpr and bytes; with items alone, fpr is 0.01. Further arguments:

    * kind: the structure; ``tamis.kinds`` lists them. "counting" and "cuckoo" can remove keys,
      "growing" takes any number of items, and "ribbon" is the smallest for sets that never change.
    * removable: keys can be removed from a "growing" filter.
    * key: a secret key (tamis.Key, or 16 bytes), if strangers choose keys.
    * encoding: states how keys become bytes. With "int64le", integers are 8 bytes and not decimal
      text, which is fastest for columns of integers.
    * strict: an add beyond the planned items raises FullError.
    * shared: several threads may add at the same time.
    * threads: for calls with many keys. max_bytes: a limit for kinds that grow.
    * m, k, cell_bits, inner, excluded, compact, for_transfer, seed: as in tamis.h, "Plans".

    >>> import tamis
    >>> seen = tamis.Filter(items=1_000_000, fpr=0.01)
    >>> seen.add("key")
    True
    >>> "key" in seen, "other" in seen
    (True, False)
    >>> seen.update(["a", b"b", 3])
    >>> seen.contains(["a", "b", "3", "z"])
    [True, True, True, False]
    >>> len(seen)
    4
    >>> seen
    <tamis.Filter blocked: 4 of 1,000,000 items, fpr 0.01, 1.3 MB>
    """

    __slots__ = ()

    def __init__(self, items: Optional[float] = None, fpr: Optional[float] = None, *,
                 bytes: Optional[Size] = None, kind: str = "auto", key: Any = None, seed: int = 0,
                 encoding: Optional[str] = None, strict: bool = False, shared: bool = False,
                 threads: int = 0, max_bytes: int = 0, m: int = 0, k: int = 0, cell_bits: int = 0,
                 inner: Optional[str] = None, excluded: int = 0, compact: bool = False,
                 for_transfer: bool = False, removable: bool = False) -> None:
        if fpr is None and bytes is None and m == 0 and (items is not None or kind == "growing"):
            if not excluded:
                fpr = 0.01
        plan = plan_dict(kind=kind, items=items, fpr=fpr, bytes=bytes, seed=seed, m=m, k=k,
                         cell_bits=cell_bits, inner=inner, excluded=excluded, encoding=encoding,
                         strict=strict, compact=compact, for_transfer=for_transfer,
                         removable=removable)
        kind_name = _tamis.kind_name(plan["kind"])
        if plan["kind"] and kind_name not in self._kinds:
            raise TypeError(f"a Filter cannot be a {kind_name}; see tamis.Counts, Top, Distinct, "
                            f"Map and Window")
        self._create(plan, {"key": key, "shared": shared, "threads": threads,
                            "max_bytes": max_bytes})

    def probability(self, key: Any, prior: float = 0.5) -> float:
        """The probability that a key is a member, from a private release and a prior."""
        return self._probability(key, prior)

    def to_device(self) -> _device.DeviceFilter:
        """A copy in the memory of an NVIDIA GPU, for arrays of keys that are there.

        The kind must be "blocked", or "fuse" or "ribbon" if it is sealed, and the encoding
        "int64le". It needs libtamis-cuda, and raises UnsupportedError with the reason if that or a
        GPU is missing. TAMIS_CUDA_LIBRARY can name the file of the library.
        """
        return _device.to_device(self)


def seal(keys: Any, fpr: float = 0.01, *, kind: str = "ribbon", key: Any = None, seed: int = 0,
         encoding: Optional[str] = None, threads: int = 0, max_bytes: int = 0,
         **shape: Any) -> Filter:
    """Makes a sealed filter of all its keys at once: the smallest, but it never changes.

    While the keys come, it takes 16 bytes for each of them. kind may be "fuse" as well.

    >>> import tamis
    >>> sealed = tamis.seal(["red", "green", "blue"], fpr=1/256)
    >>> "red" in sealed, sealed.sealed
    (True, True)
    """
    # The seal sizes the filter by the keys that were added, not by the plan.
    items = max(len(keys), 1) if hasattr(keys, "__len__") else 1
    made = Filter(items, fpr, kind=kind, key=key, seed=seed, encoding=encoding, threads=threads,
                  max_bytes=max_bytes, **shape)
    made.update(keys)
    made.seal()
    return made


def exact(members: Any, never: Any, *, fpr: Optional[float] = None, key: Any = None, seed: int = 0,
          encoding: Optional[str] = None, threads: int = 0, max_bytes: int = 0) -> Filter:
    """Makes a sealed filter that is never wrong about these keys: members, and those never in it.

    Other keys get a "maybe" with the false-positive rate fpr; by default it is the one of the
    smallest filter.

    >>> import tamis
    >>> good = tamis.exact(["ann", "bob"], never=["eve", "mallory"])
    >>> good.contains(["ann", "bob", "eve", "mallory"])
    [True, True, False, False]
    """
    if fpr is None:  # the numbers of keys determine it
        members = members if hasattr(members, "__len__") else list(members)
        never = never if hasattr(never, "__len__") else list(never)
    items, excluded = (max(len(keys), 1) if hasattr(keys, "__len__") else 1
                       for keys in (members, never))
    made = Filter(items, fpr, kind="exact", excluded=excluded, key=key, seed=seed,
                  encoding=encoding, threads=threads, max_bytes=max_bytes)
    made.update(members)
    made.exclude(never)
    made.seal()
    return made


seal.__module__ = exact.__module__ = "tamis"
