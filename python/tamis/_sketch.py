"""Sketch: what all classes have. The operations on keys are those of the C half, ``_tamis``."""

from __future__ import annotations

import os
import pickle
from types import TracebackType
from typing import Any, ClassVar, Dict, Optional, Tuple, Type, TypeVar, Union

from . import _tamis
from ._errors import InvalidError, VersionError
from ._facts import Cardinality, Info, Similarity, human_bytes, human_rate, info_from

__all__ = ["Path", "Sketch", "classes", "classes_for", "default_class"]

Path = Union[str, bytes, "os.PathLike[Any]"]
S = TypeVar("S", bound="Sketch")

PICKLE_VERSION = 1

#: The class of each kind; the modules of the classes fill it.
classes: Dict[str, Type["Sketch"]] = {}


def default_class(*kinds: str) -> Any:
    """Decorates a class that stands for these kinds."""

    def decorate(cls: Type["Sketch"]) -> Type["Sketch"]:
        cls.__module__ = "tamis"
        cls._kinds = kinds
        for kind in kinds:
            classes[kind] = cls
        return cls

    return decorate


def classes_for(cls: Type["Sketch"]) -> Dict[str, Type["Sketch"]]:
    """The class of each kind, if objects of the kinds of cls are to be of cls."""
    chosen = dict(classes)
    for kind in cls._kinds:
        chosen[kind] = cls
    return chosen


def load_as(cls: Type[S], image: Any, options: Dict[str, Any]) -> S:
    """Loads an image that must be of a kind of cls."""
    made = _tamis.load(classes_for(cls), image, options)
    if isinstance(made, cls):
        return made
    name = type(made).__name__
    kind = made.kind
    made.close()
    raise InvalidError(f"the image is a {kind}, which tamis.{name} stands for, and not "
                       f"{cls.__name__}; tamis.load() takes every kind")


def _restore(cls: Type[S], version: int, image: Any, options: Dict[str, Any]) -> S:
    if version > PICKLE_VERSION:
        raise VersionError("the pickle is of a newer version of tamis")
    return load_as(cls, image, {**options, "keyless": True})


class Sketch(_tamis.Handle):
    """The base of all classes: a filter or a sketch, that is, an approximate set or count.

    Objects cannot be hashed and are compared by identity. They may be used by several threads: a
    call waits until it may start.
    """

    __slots__ = ("__weakref__",)
    __module__ = "tamis"
    _kinds: ClassVar[Tuple[str, ...]] = ()

    def __init__(self) -> None:
        raise TypeError("make a tamis.Filter, Counts, Top, Distinct, Map or Window")

    # --- Reports ----------------------------------------------------------------------------

    @property
    def info(self) -> Info:
        """All that the object reports about itself. Reads every cell."""
        return info_from(self._facts(True))

    @property
    def stat(self) -> Info:
        """What is known without reading the cells, in constant time; other fields are 0."""
        return info_from(self._facts(False))

    @property
    def fpr(self) -> float:
        """The false-positive rate now, computed from the bits. Reads every cell."""
        rate: float = self._facts(True)["fpr"]
        return rate

    @property
    def nbytes(self) -> int:
        """The size of the image in bytes."""
        size: int = self._facts(False)["bytes"]
        return size

    @property
    def keyed(self) -> bool:
        """Whether it was made with a secret key."""
        return bool(self._facts(False)["keyed"])

    @property
    def sealed(self) -> bool:
        """Whether it is read-only for ever: see seal()."""
        return bool(self._facts(False)["sealed"])

    @property
    def overfull(self) -> bool:
        """Whether it holds more items than planned."""
        return bool(self._facts(False)["overfull"])

    def compare(self, other: "Sketch") -> Similarity:
        """Estimates how many members two filters, or two distinct sketches, have in common.

        >>> import tamis
        >>> a = tamis.Filter(items=1000, fpr=0.001)
        >>> b = a.copy()
        >>> a.update(range(0, 600)); b.update(range(300, 900))
        >>> s = a.compare(b)
        >>> s.common_low <= 300 <= s.common_high
        True
        """
        return Similarity(**self._compare(other))

    def distinct(self) -> Cardinality:
        """Estimates the number of distinct keys from the cells."""
        return Cardinality(**self._distinct())

    def _contents(self, facts: Dict[str, Any]) -> str:
        """What repr() says about the contents."""
        items = f"{facts['items']:,}"
        planned = facts["planned_items"]
        if facts["sealed"] or facts["collecting"]:  # sized by the keys, not by the plan
            planned = 0
        text = f"{items} of {planned:,} items" if planned else f"{items} items"
        if facts["fpr_planned"]:
            text += f", fpr {human_rate(facts['fpr_planned'])}"
        return text

    def __repr__(self) -> str:
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        if self.closed:
            return f"<{name}: closed>"
        facts = self._facts(False)
        notes = "".join(f", {word}" for word in ("overfull", "collecting", "sealed", "keyed")
                        if facts[word])
        return (f"<{name} {self.kind}: {self._contents(facts)}, {human_bytes(facts['bytes'])}"
                f"{notes}>")

    # --- Files and bytes --------------------------------------------------------------------

    def save(self, path: Optional[Path] = None, *, new: bool = False, packed: bool = False,
             mode: Optional[int] = None) -> None:
        """Saves the image to a file, atomically and durably.

        Replaces a file, unless new=True, which raises FileExistsError. packed=True saves a smaller
        file, for the wire. mode is that of a new file. Without a path, an object that was opened
        with update=True is saved to its file.
        """
        target = path if path is not None else self._path
        if target is None:
            raise TypeError("save() needs a path, because the object was not opened for update")
        flags = (_tamis.SAVE_NEW if new else 0) | (_tamis.SAVE_PACKED if packed else 0)
        self._save(target, flags, mode or 0)

    @classmethod
    def from_bytes(cls: Type[S], image: Any, *, key: Any = None, shared: bool = False,
                   threads: int = 0, max_bytes: int = 0, keyless: bool = False) -> S:
        """Makes an object of an image, or of a packed image, in any buffer. The bytes are copied.

        Raises CorruptError if they are damaged, and KeyMissingError if they need a secret key. If
        strangers may have made packed bytes, set max_bytes.
        """
        return load_as(cls, image, {"key": key, "shared": shared, "threads": threads,
                                    "max_bytes": max_bytes, "keyless": keyless})

    def __enter__(self: S) -> S:
        if self.closed:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None and self._path is not None and not self.closed:
                self.save()
        finally:
            self.close()

    # --- Copies and pickles -----------------------------------------------------------------

    def __copy__(self: S) -> S:
        made = self.copy()
        state = getattr(self, "__dict__", None)
        if state:
            made.__dict__.update(state)
        return made

    def __deepcopy__(self: S, memo: Dict[int, Any]) -> S:
        import copy

        made = self.copy()
        memo[id(self)] = made
        state = getattr(self, "__dict__", None)
        if state:
            made.__dict__.update(copy.deepcopy(state, memo))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        image: Any = self.to_bytes()
        if protocol >= 5:
            image = pickle.PickleBuffer(image)
        state = getattr(self, "__dict__", None) or None
        return (_restore, (type(self), PICKLE_VERSION, image, self._options), state)
