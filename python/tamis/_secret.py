"""Secret keys."""

from __future__ import annotations

import os
import stat
from typing import Any, Union

from . import _tamis

__all__ = ["Key"]

_BYTES = 16


class Key(_tamis.Secret):
    """A secret key: 16 bytes that make hashes unpredictable.

    If strangers choose the keys that you add or query, they can search for keys that a filter gets
    wrong, unless it has a secret key. Files hold only an id of it. Pass it as ``key=``; any number
    of objects may share it. ``bytes(key)`` are the secret bytes. The key is never pickled.

    >>> import tamis
    >>> key = tamis.Key(bytes(range(16)))
    >>> seen = tamis.Filter(items=1000, fpr=0.01, key=key)
    >>> seen.add("a")
    True
    >>> tamis.load(seen.to_bytes(), key=bytes(range(16))).keyed
    True
    >>> tamis.load(seen.to_bytes())
    Traceback (most recent call last):
        ...
    tamis.KeyMissingError: this filter was made with a secret key, which was not given
    """

    __slots__ = ()

    @classmethod
    def generate(cls) -> "Key":
        """Makes a new key of random bytes. Save it: without it, a filter cannot answer."""
        return cls(os.urandom(_BYTES))

    @classmethod
    def from_file(cls, path: "Union[str, bytes, os.PathLike[Any]]") -> "Key":
        """Reads a key file, as ``tamis key new`` writes it: 32 hexadecimal digits, or 16 bytes.

        Raises PermissionError if others may read a file of yours.
        """
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            content = file.read(64)
        if os.name == "posix" and facts.st_uid == os.getuid() and facts.st_mode & 0o077:
            mode = stat.S_IMODE(facts.st_mode)
            raise PermissionError(f"others may read this key (mode {mode:04o}), so it may not be "
                                  f"secret any more; protect it with chmod 600, or make another")
        if len(content) != _BYTES:
            try:
                content = bytes.fromhex(content.strip().decode("ascii"))
            except ValueError:
                content = b""
        if len(content) != _BYTES:
            raise ValueError("a key file has 32 hexadecimal digits or 16 bytes")
        return cls(content)

    def save(self, path: "Union[str, bytes, os.PathLike[Any]]") -> None:
        """Writes the key to a new file that only its owner may read, for the command as well."""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(self).hex().encode() + b"\n")

    @property
    def id(self) -> str:
        """The id of the key, which files hold and which reveals nothing about it."""
        probe = _tamis.Handle()
        probe._create({"kind": _tamis.kind_number("bloom"), "items": 1, "fpr": 0.5},
                      {"key": self})
        found: bytes = probe._facts(False)["key_id"]
        probe.close()
        return found.hex()

    def __repr__(self) -> str:
        return f"<tamis.Key {self.id}>"


Key.__module__ = "tamis"
