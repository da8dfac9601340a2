"""DeviceFilter: a filter in the memory of an NVIDIA GPU, by libtamis-cuda, which is loaded when it
is first needed. Arrays are exchanged by ``__cuda_array_interface__``, so no other package is."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from types import TracebackType
from typing import Any, Dict, Optional, Tuple, Type

from . import _errors, _filter, _tamis
from ._errors import InvalidError, UnsupportedError

__all__ = ["DeviceFilter", "DeviceMask", "to_device"]

LIBRARY = f"libtamis-cuda.so.{_tamis.version.split('.')[0]}"


class _Why(ctypes.Structure):
    """tamis_error"""

    status: Any
    os: Any
    offset: Any
    better_kind: Any
    reserved_word: Any
    text: Any
    reserved: Any

    _fields_ = [("status", ctypes.c_int), ("os", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("better_kind", ctypes.c_uint32), ("reserved_word", ctypes.c_uint32),
                ("text", ctypes.c_char * 160), ("reserved", ctypes.c_uint64 * 4)]


class _Keys(ctypes.Structure):
    """tamis_cuda_keys"""

    struct_size: Any
    count: Any
    data: Any
    bytes: Any
    width: Any
    hashes: Any
    offsets32: Any
    offsets64: Any

    _fields_ = [("struct_size", ctypes.c_size_t), ("count", ctypes.c_uint64),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("width", ctypes.c_uint64),
                ("hashes", ctypes.c_void_p), ("offsets32", ctypes.c_void_p),
                ("offsets64", ctypes.c_void_p)]


_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_uint64
_OUT = ctypes.POINTER(ctypes.c_void_p)
_SINK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

#: What each function takes before the reason; all of these return a status.
_CALLS: Dict[str, Tuple[Any, ...]] = {
    "tamis_load": (ctypes.c_char_p, ctypes.c_size_t, _POINTER, _OUT),
    "tamis_write": (_POINTER, _SINK, _POINTER),
    "tamis_cuda_upload": (_POINTER, _POINTER, _OUT),
    "tamis_cuda_download": (_POINTER, _POINTER, _OUT),
    "tamis_cuda_wait": (_POINTER, _POINTER),
    "tamis_cuda_add": (_POINTER, ctypes.POINTER(_Keys), _POINTER),
    "tamis_cuda_query": (_POINTER, ctypes.POINTER(_Keys), _POINTER, _POINTER),
    "tamis_cuda_expand": (_POINTER, _POINTER, _SIZE, _POINTER, _POINTER),
    "tamis_cuda_alloc": (_SIZE, _OUT),
    "tamis_cuda_copy": (_POINTER, _POINTER, _SIZE),
}
_FREES = ("tamis_close", "tamis_cuda_close", "tamis_cuda_free")


class _Library:
    """The functions of libtamis-cuda, and of libtamis, with which it is linked."""

    def __init__(self, name: str) -> None:
        try:
            functions = ctypes.CDLL(name)
            self.calls = {call: getattr(functions, call) for call in (*_CALLS, *_FREES)}
        except (AttributeError, OSError) as error:
            raise UnsupportedError(f"filters on a GPU need {LIBRARY}, of which the file can be "
                                   f"named in TAMIS_CUDA_LIBRARY: {error}") from None
        for call, arguments in _CALLS.items():
            self.calls[call].argtypes = (*arguments, ctypes.POINTER(_Why))
        for call in _FREES:
            self.calls[call].argtypes = (_POINTER,)
            self.calls[call].restype = None

    def call(self, name: str, *arguments: Any) -> None:
        why = _Why()
        status = self.calls[name](*arguments, ctypes.byref(why))
        if status == _errors.FileError.status:  # of the GPU, and of no file
            raise _errors.Error(why.text.decode("utf-8", "replace"), status=status)
        if status != 0:
            raise _errors.make(status, why.text.decode("utf-8", "replace"), why.os, why.offset,
                               None, None)

    def made(self, name: str, *arguments: Any) -> int:
        """What the call writes to its last argument before the reason."""
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out.value or 0

    def free(self, name: str, address: int) -> None:
        self.calls[name](address)


@functools.lru_cache(maxsize=None)
def _library(name: str) -> _Library:
    return _Library(name)


def _keys(keys: Any) -> Tuple[int, int, Optional[int]]:
    """The number of keys, where they are, and the stream that makes them."""
    interface = getattr(keys, "__cuda_array_interface__", None)
    if not isinstance(interface, dict):
        raise TypeError(f"keys must be an array in the memory of a GPU (an object with "
                        f"__cuda_array_interface__), not {type(keys).__name__}")
    shape, strides = interface["shape"], interface.get("strides")
    if len(shape) != 1:
        raise InvalidError(f"keys must have one dimension, not {len(shape)}")
    if interface.get("mask") is not None:
        raise InvalidError("keys must not have a mask; leave missing values out")
    if interface["typestr"] == "<u8":
        raise TypeError("an int64le key is from -2**63 to 2**63 - 1; pass keys.view('int64') if "
                        "none is above")
    if interface["typestr"] != "<i8":
        raise TypeError(f"keys must be int64 and not {interface['typestr']!r}; convert them with "
                        f"keys.astype('int64')")
    count = int(shape[0])
    if count > 1 and strides is not None and tuple(strides) != (8,):
        raise InvalidError(f"keys must be contiguous, and have strides {tuple(strides)}; copy them")
    stream = interface.get("stream")
    if stream == 0:
        raise InvalidError("stream 0 of __cuda_array_interface__ is ambiguous; 1 is the default")
    return count, int(interface["data"][0] or 0), stream


class DeviceMask:
    """An array of bool in the memory of the GPU, one for each key. CuPy, Numba, PyTorch and others
    take it by ``__cuda_array_interface__``, without a copy."""

    __slots__ = ("_library", "_address", "_count")
    __module__ = "tamis"

    def __init__(self, library: Any, address: int, count: int) -> None:
        self._library = library
        self._address = address
        self._count = count

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": (self._count,), "typestr": "|b1", "data": (self._address, False),
                "strides": None, "stream": None, "version": 3}

    def __len__(self) -> int:
        return self._count

    def tobytes(self) -> bytes:
        """A copy in the memory of the host: a byte for each key, 0 or 1."""
        copy = ctypes.create_string_buffer(self._count)
        self._library.call("tamis_cuda_copy", copy, self._address, self._count)
        return copy.raw

    def __del__(self) -> None:
        if self._address:
            self._library.free("tamis_cuda_free", self._address)


class DeviceFilter:
    """A filter in the memory of a GPU; ``Filter.to_device()`` makes it.

    Keys are arrays of int64 in the memory of the same GPU: objects of CuPy, Numba, PyTorch and
    others with ``__cuda_array_interface__``. Calls wait until the work is done. Several threads may
    use it; a call waits until it may start.
    """

    __slots__ = ("_library", "_address", "_lock")
    __module__ = "tamis"

    def __init__(self, library: Any, address: int) -> None:
        self._library = library
        self._address = address
        self._lock = threading.Lock()

    def _open(self) -> int:
        if not self._address:
            raise ValueError("the filter was closed")
        return self._address

    def contains(self, keys: Any) -> DeviceMask:
        """Which of the keys may be members, as an array of bool in the memory of the GPU."""
        count, data, stream = _keys(keys)
        library = self._library
        with self._lock:
            own = self._open()
            mask = DeviceMask(library, library.made("tamis_cuda_alloc", count) if count else 0,
                              count)
            if not count:
                return mask
            bits = library.made("tamis_cuda_alloc", (count + 7) // 8)
            try:
                library.call("tamis_cuda_query", own, _words(count, data), bits, stream)
                library.call("tamis_cuda_expand", own, bits, count, mask._address, stream)
                library.call("tamis_cuda_wait", own, stream)
            finally:
                library.free("tamis_cuda_free", bits)
        return mask

    def update(self, keys: Any) -> None:
        """Adds the keys. A sealed filter raises SealedError."""
        count, data, stream = _keys(keys)
        with self._lock:
            self._library.call("tamis_cuda_add", self._open(), _words(count, data), stream)
            self._library.call("tamis_cuda_wait", self._open(), stream)

    def to_host(self) -> _filter.Filter:
        """A Filter with what was added. A sealed filter raises SealedError: it has not changed.

        The number of items is an estimate from the bits, because a GPU does not count them.
        """
        library, parts = self._library, []

        def put(_: Any, data: int, size: int) -> int:
            parts.append(ctypes.string_at(data, size))
            return 0

        with self._lock:
            handle = library.made("tamis_cuda_download", self._open(), None)
            try:
                library.call("tamis_write", handle, _SINK(put), None)
            finally:
                library.free("tamis_close", handle)
        return _filter.Filter.from_bytes(b"".join(parts))

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._address

    def close(self) -> None:
        """Frees the memory of the GPU. Closing twice does nothing."""
        with self._lock:
            address, self._address = self._address, 0
            if address:
                self._library.free("tamis_cuda_close", address)

    def __enter__(self) -> "DeviceFilter":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _words(count: int, data: int) -> Any:
    return ctypes.byref(_Keys(ctypes.sizeof(_Keys), count, data, 8 * count, 8, None, None, None))


def to_device(own: _filter.Filter) -> DeviceFilter:
    """What Filter.to_device() does."""
    if own.keyed:
        raise UnsupportedError("a filter with a secret key stays in the memory of the host, where "
                               "the key is")
    if own.encoding != "int64le":
        raise UnsupportedError('keys on a GPU are integers of 8 bytes, so the filter must be made '
                               'with encoding="int64le"')
    library = _library(os.environ.get("TAMIS_CUDA_LIBRARY") or LIBRARY)
    image = own.to_bytes()
    handle = library.made("tamis_load", image, len(image), None)
    try:
        return DeviceFilter(library, library.made("tamis_cuda_upload", handle, None))
    finally:
        library.free("tamis_close", handle)
