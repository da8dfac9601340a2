"""The bulk calls of the C library, by ctypes: what the package is compared with. The structs are
those of include/tamis/tamis.h and columns.h."""
import ctypes
from ctypes import (Structure, byref, c_char_p, c_double, c_size_t, c_uint32, c_uint64,
                    c_void_p)


class Plan(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_uint32), ("flags", c_uint32),
                ("items", c_uint64), ("fpr", c_double), ("bytes", c_uint64), ("seed", c_uint64),
                ("m", c_uint64), ("k", c_uint32), ("cell_bits", c_uint32),
                ("generations", c_uint32), ("inner_kind", c_uint32), ("excluded", c_uint64),
                ("error", c_double), ("delta", c_double), ("encoding", c_uint32),
                ("key_width", c_uint32)]


class Bytes(Structure):
    _fields_ = [("p", c_char_p), ("len", c_size_t)]


class Column(Structure):
    _fields_ = [("struct_size", c_size_t), ("rows", c_size_t), ("first", c_size_t),
                ("data", c_void_p), ("bytes", c_size_t), ("width", c_size_t),
                ("stride", c_size_t), ("offsets32", c_void_p), ("offsets64", c_void_p),
                ("validity", c_void_p)]


INT64 = 2  # TAMIS_KEYS_INT64


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tamis_may_contain_many.restype = c_size_t
        self.c.tamis_close.argtypes = [c_void_p]

    def make(self, items, fpr, encoding=0):
        plan, out = Plan(struct_size=ctypes.sizeof(Plan), items=items, fpr=fpr,
                         encoding=encoding), c_void_p()
        status = self.c.tamis_create(byref(plan), None, byref(out), None)
        assert status == 0, status
        return out

    def close(self, t):
        self.c.tamis_close(t)

    def add_column(self, t, column):
        assert self.c.tamis_add_column(t, byref(column), None, None, None) == 0

    def contains_column(self, t, column, bits):
        assert self.c.tamis_may_contain_column(t, byref(column), bits, None, None) == 0

    def add_many(self, t, keys):
        assert self.c.tamis_add_many(t, keys, c_size_t(len(keys)), None, None) == 0

    def contains_many(self, t, keys, bits):
        return self.c.tamis_may_contain_many(t, keys, c_size_t(len(keys)), bits)


def integers(values):
    """A numpy array of int64."""
    return Column(struct_size=ctypes.sizeof(Column), rows=len(values),
                  data=values.ctypes.data, bytes=values.nbytes, width=8)


def texts(data, offsets):
    """Bytes with offsets of 32 bits, both numpy arrays."""
    return Column(struct_size=ctypes.sizeof(Column), rows=len(offsets) - 1,
                  data=data.ctypes.data, bytes=data.nbytes, offsets32=offsets.ctypes.data)


def many(keys):
    """An array of tamis_bytes; the list of bytes objects must stay alive."""
    return (Bytes * len(keys))(*((key, len(key)) for key in keys))
