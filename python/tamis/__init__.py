"""Have I seen this? How often? How many distinct? About data that is too big to keep.

* Filter: an approximate set, in a few bits per key
* Counts: how often each key occurred; Top: and which occurred most often
* Distinct: how many distinct keys there were
* Map: a value for each key of a set that never changes
* Window: the same for the last hour, for example
* seal, exact: sets that never change
* open, load, view: from files and bytes; plan: how big it will be

A key is a str (its UTF-8), bytes, or an int (its decimal text). The files are those of the command
``tamis`` and of the C library.
"""

from . import _tamis
from ._counts import Counts, Entry, Estimate, Top
from ._distinct import Distinct
from ._device import DeviceFilter, DeviceMask
from ._errors import (AbsentError, BusyError, CorruptError, Error, FileError, FullError,
                      InvalidError, KeyMissingError, MismatchError, OverfullWarning, SealedError,
                      UnsupportedError, VersionError)
from ._facts import Cardinality, Info, Similarity
from ._files import load, open, view
from ._filter import Filter, exact, seal
from ._map import Map
from ._plans import Plan, kinds, plan
from ._secret import Key
from ._sketch import Sketch
from ._window import Window

__version__: str = _tamis.version

__all__ = [
    "AbsentError", "BusyError", "Cardinality", "CorruptError", "Counts", "DeviceFilter",
    "DeviceMask", "Distinct", "Entry", "Error", "Estimate", "FileError", "Filter", "FullError",
    "Info", "InvalidError", "Key", "KeyMissingError", "Map", "MismatchError", "OverfullWarning",
    "Plan", "SealedError", "Similarity", "Sketch", "Top", "UnsupportedError", "VersionError",
    "Window", "exact", "kinds", "load", "open", "plan", "seal", "view",
]
