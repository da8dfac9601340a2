"""Arrow arrays and streams without an Arrow library: their structs by ctypes, in PyCapsules. The
tests can thus make any array, also an invalid one, and see that each is released exactly once."""
import ctypes
import struct
from ctypes import c_char_p, c_int64, c_void_p

# The structs are those of the Arrow C data interface and C stream interface.
Release = ctypes.CFUNCTYPE(None, c_void_p)


class Schema(ctypes.Structure):
    _fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p),
                ("flags", c_int64), ("n_children", c_int64), ("children", c_void_p),
                ("dictionary", c_void_p), ("release", Release), ("private_data", c_void_p)]


class Array(ctypes.Structure):
    _fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64),
                ("n_buffers", c_int64), ("n_children", c_int64), ("buffers", c_void_p),
                ("children", c_void_p), ("dictionary", c_void_p), ("release", Release),
                ("private_data", c_void_p)]


Get = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)
LastError = ctypes.CFUNCTYPE(c_void_p, c_void_p)
REASON = ctypes.create_string_buffer(b"the stream broke")


class StreamStruct(ctypes.Structure):
    _fields_ = [("get_schema", Get), ("get_next", Get), ("get_last_error", LastError),
                ("release", Release), ("private_data", c_void_p)]


Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [c_void_p, c_char_p, Destructor]
# By address, because a destructor gets an object that has no references any more.
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer",
                                                           ctypes.pythonapi))

NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", StreamStruct: b"arrow_array_stream"}
_alive = {}  # structs by address, until they are released and their capsule is gone
_destructors = {}


class Tracker:
    """Counts what was handed out and what was released."""

    def __init__(self):
        self.made = self.released = 0


def _released(kind, tracker):
    def release(address):
        it = kind.from_address(address)
        assert it.release, "released twice"
        it.release = Release()
        tracker.released += 1
    return Release(release)


def _destroy(kind):
    if kind not in _destructors:
        def destroy(capsule):
            address = _pointer(capsule, NAMES[kind])
            it = kind.from_address(address)
            if it.release:
                it.release(address)
            # What a consumer moved away still calls the function, so it is kept.
        _destructors[kind] = Destructor(destroy)
    return _destructors[kind]


def _fill(kind, tracker, keep, **fields):
    it = kind()
    for name, value in fields.items():
        setattr(it, name, value)
    it.release = _released(kind, tracker)
    tracker.made += 1
    # Kept for the life of the process: a test makes few of them, and a consumer may move them.
    _alive[ctypes.addressof(it)] = (it, it.release, keep)
    return it


def capsule(it, name=None):
    kind = type(it)
    own = name is None
    return _new(ctypes.addressof(it), NAMES[kind] if own else name,
                _destroy(kind) if own else Destructor())


def _address(buffer):
    return None if buffer is None else ctypes.cast(buffer, c_void_p).value


class Column:
    """An array with `buffers` (bytes or None), which hands out `__arrow_c_array__`."""

    def __init__(self, form, length, buffers, *, offset=0, nulls=-1, dictionary=None):
        self.form, self.length, self.offset, self.nulls = form, length, offset, nulls
        self.buffers = [None if b is None else ctypes.create_string_buffer(bytes(b), max(len(b), 1))
                        for b in buffers]
        self.dictionary, self.tracker = dictionary, Tracker()

    def schema(self):
        inner = self.dictionary.schema() if self.dictionary else None
        return _fill(Schema, self.tracker, (self, inner), format=self.form.encode(), name=b"",
                     flags=2, dictionary=ctypes.addressof(inner) if inner else None)

    def array(self):
        table = (c_void_p * max(len(self.buffers), 1))(*map(_address, self.buffers))
        inner = self.dictionary.array() if self.dictionary else None
        return _fill(Array, self.tracker, (self, table, inner), length=self.length,
                     null_count=self.nulls, offset=self.offset, n_buffers=len(self.buffers),
                     buffers=ctypes.addressof(table),
                     dictionary=ctypes.addressof(inner) if inner else None)

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(self.schema()), capsule(self.array())

    def sliced(self, offset, length):
        """Some of the rows, with the same buffers."""
        part = Column(self.form, length, [], offset=self.offset + offset,
                      dictionary=self.dictionary)
        part.buffers = self.buffers
        return part


class Stream:
    """Columns of one type, one after the other, by `__arrow_c_stream__`. If `fails` is a number,
    get_next fails instead of returning that column."""

    def __init__(self, columns, *, form=None, fails=None, schema_fails=False):
        self.columns, self.form, self.fails = columns, form or columns[0].form, fails
        self.schema_fails, self.tracker = schema_fails, Tracker()

    def __arrow_c_stream__(self, requested_schema=None):
        at = 0

        def get_schema(_, out):
            if self.schema_fails:
                return 5
            it = Column(self.form, 0, []).schema()
            ctypes.memmove(out, ctypes.addressof(it), ctypes.sizeof(it))
            return 0

        def get_next(_, out):
            nonlocal at
            if at == self.fails:
                return 5  # EIO
            if at == len(self.columns):
                Array.from_address(out).release = Release()
                return 0
            it = self.columns[at].array()
            ctypes.memmove(out, ctypes.addressof(it), ctypes.sizeof(it))
            at += 1
            return 0

        get_schema, get_next = Get(get_schema), Get(get_next)
        last = LastError(lambda _: ctypes.addressof(REASON))
        return capsule(_fill(StreamStruct, self.tracker, (self, get_schema, get_next, last),
                             get_schema=get_schema, get_next=get_next, get_last_error=last))


def validity(values):
    """The bits of the rows that are not None, or None if all are there."""
    if None not in values:
        return None
    bits = bytearray((len(values) + 7) // 8)
    for i, value in enumerate(values):
        bits[i // 8] |= (value is not None) << i % 8
    return bytes(bits)


def texts(values, form="u"):
    """Strings (u, U) or bytes (z, Z); None is a null."""
    raw = [b"" if v is None else v.encode() if isinstance(v, str) else v for v in values]
    ends = [0]
    for value in raw:
        ends.append(ends[-1] + len(value))
    code = "q" if form in "UZ" else "i"
    return Column(form, len(values), [validity(values), struct.pack(f"={len(ends)}{code}", *ends),
                                      b"".join(raw)])


def views(values, form="vu", split=2):
    """Strings (vu) or bytes (vz) as views: a string of at most 12 bytes is in its view, and others
    are in one of `split` buffers."""
    raw = [None if v is None else v.encode() if isinstance(v, str) else v for v in values]
    data, rows = [b""] * split, []
    for i, value in enumerate(raw):
        value = value or b""
        if len(value) <= 12:
            rows.append(struct.pack("=i12s", len(value), value))
        else:
            rows.append(struct.pack("=i4sii", len(value), value[:4], i % split,
                                    len(data[i % split])))
            data[i % split] += value
    return Column(form, len(values), [validity(values), b"".join(rows), *data, struct.pack(
        f"={split}q", *map(len, data))])


def integers(values, form):
    """Integers with an Arrow format: c, C, s, S, i, I, l or L."""
    code = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}[form]
    return Column(form, len(values), [validity(values), struct.pack(
        f"={len(values)}{code}", *(v or 0 for v in values))])


def fixed(values, width):
    """Bytes of one width."""
    return Column(f"w:{width}", len(values), [validity(values), b"".join(
        bytes(width) if v is None else v for v in values)])
