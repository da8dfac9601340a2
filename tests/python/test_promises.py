"""The names of the package that version 1 has promised, and the parameters of its functions
(tests/support/promises.py)."""
import dataclasses
import inspect
import os
import sys

import tamis

sys.path.insert(0, os.path.join(os.environ["TAMIS_SOURCE"], "tests/support"))
from promises import keep  # noqa: E402


def parameters(name, thing):
    yield name
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return
    for place, one in enumerate(found):
        if one.name in ("self", "cls"):
            continue
        # A parameter that can be passed by its place keeps the place.
        at = f" at {place}" if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) else ""
        yield f"{name} takes {one.name}{at}"


def names():
    for name in tamis.__all__:
        thing = getattr(tamis, name)
        if not inspect.isclass(thing) or issubclass(thing, tamis.Sketch) or thing is tamis.Key:
            yield from parameters(name, thing)
        else:  # the library makes these
            yield name
            if dataclasses.is_dataclass(thing):
                yield from (f"{name}.{field.name}" for field in dataclasses.fields(thing))
        for member in dir(thing) if inspect.isclass(thing) else ():
            if not member.startswith("_") and not hasattr(OSError, member):
                yield from parameters(f"{name}.{member}", inspect.getattr_static(thing, member))


def test_names():
    keep("python", names())
