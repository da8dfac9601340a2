"""open, load and view: objects from files and bytes, whatever their kind."""

from __future__ import annotations

import os
from typing import Any, Dict

from . import _tamis
from ._sketch import Path, Sketch, classes

__all__ = ["load", "open", "view"]

_PACKED = b"\x89TAMPK\r\n"


def _packed_content(path: Path) -> bytes:
    """The content of a packed file; empty if it is not one."""
    import io

    try:
        with io.open(path, "rb") as file:
            start = file.read(len(_PACKED))
            return start + file.read() if start == _PACKED else b""
    except OSError:
        return b""


def open(path: Path, *, mmap: bool = False, update: bool = False, wait: bool = True,
         key: Any = None, shared: bool = False, keyless: bool = False, threads: int = 0,
         max_bytes: int = 0) -> Sketch:
    """Opens a saved file: a Filter, Counts, Top, Distinct, Map or Window, by its kind.

    * mmap: read-only, and shares memory with other processes. The file may be replaced meanwhile.
    * update: locks the file. ``with tamis.open(path, update=True) as f:`` saves f at the end,
      unless there was an exception. If another process has the lock, it waits; with wait=False it
      raises BusyError.
    * key: the secret key. keyless: accept a file without its key, to inspect or merge it.
    * shared, threads, max_bytes: as for Filter. If strangers may have made a packed file, set
      max_bytes.

    Packed files are opened as well, but not with mmap or update.

    >>> import os, tamis, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "seen.tamis")
    >>> tamis.Filter(items=1000).save(path)
    >>> with tamis.open(path, update=True) as seen:
    ...     seen.update(["a", "b"])
    >>> "a" in tamis.open(path, mmap=True)
    True
    """
    options: Dict[str, Any] = {"key": key, "shared": shared, "keyless": keyless,
                               "threads": threads, "max_bytes": max_bytes}
    if not mmap and not update:
        packed = _packed_content(path)
        if packed:
            return load(packed, **options)
    name = os.fspath(path)
    if update:
        name = os.path.abspath(name)
    return _tamis.open(classes, name, {**options, "mmap": mmap, "update": update}, wait)


def load(image: Any, *, key: Any = None, shared: bool = False, keyless: bool = False,
         threads: int = 0, max_bytes: int = 0) -> Sketch:
    """Makes an object of the image in a buffer, which is copied, or of a packed image.

    >>> import tamis
    >>> tamis.load(bytes(tamis.Distinct()))
    <tamis.Distinct distinct: 0 keys, 264 bytes>
    """
    return _tamis.load(classes, image, {"key": key, "shared": shared, "keyless": keyless,
                                        "threads": threads, "max_bytes": max_bytes})


def view(image: Any, *, key: Any = None, keyless: bool = False) -> Sketch:
    """Makes a read-only object of the image in a buffer, which is not copied but kept alive.

    The buffer must not change meanwhile. A sketch is copied unless its image begins at a multiple
    of 64 bytes.

    >>> import tamis
    >>> seen = tamis.Filter(items=1000)
    >>> seen.add("ab")
    True
    >>> "ab" in tamis.view(bytes(seen))
    True
    """
    return _tamis.view(classes, image, {"key": key, "keyless": keyless})


open.__module__ = load.__module__ = view.__module__ = "tamis"
