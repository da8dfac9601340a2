"""Exceptions. Each one has the library's reason, and derives from the built-in class that fits."""

from __future__ import annotations

import errno
import os
from typing import Any, Dict, Optional, Type

__all__ = [
    "AbsentError", "BusyError", "CorruptError", "Error", "FileError", "FullError", "InvalidError",
    "KeyMissingError", "MismatchError", "OverfullWarning", "SealedError", "UnsupportedError",
    "VersionError",
]


class Error(Exception):
    """The base of all errors of tamis; ``str()`` of it is the reason.

    ``status`` is the number of the library's status (``tamis_status`` in tamis.h). ``offset`` is
    the place of the fault in a damaged image, or 0 if it is not known.

    >>> import tamis
    >>> try:
    ...     tamis.Filter.from_bytes(b"no image")
    ... except tamis.Error as error:
    ...     print(type(error).__name__, error.status)
    CorruptError -7
    """

    status: int = 0
    offset: int = 0

    def __init__(self, reason: str = "", *, status: Optional[int] = None, offset: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        if status is not None:
            self.status = status
        self.offset = offset

    def __str__(self) -> str:
        return self.reason

    def __reduce__(self) -> Any:
        return (_restore, (type(self), self.__dict__))


class InvalidError(Error, ValueError):
    """A plan or an argument is invalid."""

    status = -2


class UnsupportedError(Error, TypeError):
    """The kind lacks the operation; ``better_kind`` is the name of one that has it, or None."""

    status = -3
    better_kind: Optional[str] = None


class FullError(Error, OverflowError):
    """A strict filter holds all its planned items, or there is no room."""

    status = -4


class AbsentError(Error, KeyError):
    """The key is certainly not a member."""

    status = -5


class MismatchError(Error, ValueError):
    """Two objects differ in kind, shape, hash, seed, secret key or encoding."""

    status = -6


class CorruptError(Error, ValueError):
    """The bytes are not a complete, undamaged image."""

    status = -7


class VersionError(Error, ValueError):
    """The format is newer than this version of tamis."""

    status = -8


class KeyMissingError(Error, ValueError):
    """The image was made with a secret key, which is missing or wrong."""

    status = -9


class SealedError(Error, TypeError):
    """The object is read-only: sealed, mapped, a view, or of a newer format."""

    status = -11


class FileError(Error, OSError):
    """A file could not be read or written: ``errno`` and ``filename`` are those of OSError.

    It is also a FileNotFoundError, FileExistsError, PermissionError and so on, as it fits.
    """

    status = -10

    def __init__(self, reason: str = "", *, status: Optional[int] = None, offset: int = 0,
                 os_error: int = 0, filename: Any = None) -> None:
        text = reason if filename is None else f"{os.fsdecode(filename)}: {reason}"
        Error.__init__(self, text, status=status, offset=offset)
        self.errno = os_error
        self.strerror = reason
        self.filename = filename

    def __reduce__(self) -> Any:
        return (make, (self.status, self.strerror, self.errno, self.offset, None, self.filename))


class BusyError(FileError, BlockingIOError):
    """Another process has locked or changed the file."""

    status = -13


class _NotFoundFileError(FileError, FileNotFoundError):
    pass


class _ExistsFileError(FileError, FileExistsError):
    pass


class _NotPermittedFileError(FileError, PermissionError):
    pass


class _DirectoryFileError(FileError, IsADirectoryError):
    pass


class _NotADirectoryFileError(FileError, NotADirectoryError):
    pass


class OverfullWarning(UserWarning):
    """A filter holds more items than planned, so its false-positive rate is higher than planned.

    It is raised once for each object, by the first add that finds it so.
    """


_CLASSES: Dict[int, Type[Error]] = {
    c.status: c
    for c in (InvalidError, UnsupportedError, FullError, AbsentError, MismatchError, CorruptError,
              VersionError, KeyMissingError, SealedError)
}

_FILE_CLASSES: Dict[int, Type[FileError]] = {
    errno.ENOENT: _NotFoundFileError,
    errno.EEXIST: _ExistsFileError,
    errno.EACCES: _NotPermittedFileError,
    errno.EPERM: _NotPermittedFileError,
    errno.EISDIR: _DirectoryFileError,
    errno.ENOTDIR: _NotADirectoryFileError,
}

for _file_class in _FILE_CLASSES.values():
    _file_class.__doc__ = FileError.__doc__
    _file_class.__name__ = _file_class.__qualname__ = "FileError"
    _file_class.__module__ = "tamis"
for _class in (*_CLASSES.values(), Error, FileError, BusyError):
    _class.__module__ = "tamis"
OverfullWarning.__module__ = "tamis"


def _restore(cls: Type[Error], state: Dict[str, Any]) -> Error:
    error = cls(state["reason"])
    error.__dict__.update(state)
    return error


def make(status: int, reason: str, os_error: int, offset: int, better: Optional[str],
         path: Any) -> BaseException:
    """The exception for a status; the C half calls this."""
    if status == -1:
        return MemoryError(reason)
    if status in (FileError.status, BusyError.status):
        file_class: Type[FileError] = BusyError
        if status == FileError.status:
            file_class = _FILE_CLASSES.get(os_error, FileError)
        return file_class(reason, status=status, offset=offset, os_error=os_error, filename=path)
    if path is not None:
        reason = f"{os.fsdecode(path)}: {reason}"
    error = _CLASSES.get(status, Error)(reason, status=status, offset=offset)
    if isinstance(error, UnsupportedError):
        error.better_kind = better
    return error


def overfull_text(kind: str, items: int, planned: int) -> str:
    """The text of an OverfullWarning; the C half calls this."""
    return (f"this {kind} filter holds {items:,} items, but {planned:,} were planned, so its "
            f"false-positive rate is higher than planned")
