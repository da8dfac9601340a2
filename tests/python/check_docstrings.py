"""Everything public of the package has a docstring, in C and in Python, and every example in a
docstring yields what it shows. Each example runs in an empty folder."""
import doctest
import inspect
import os
import sys
import tempfile
import types

import tamis

PLAIN = (int, float, str, bytes, tuple, list, dict, bool, type(None))


def ours(thing):
    return (thing.__module__ or "").split(".")[0] == "tamis"


def public(owner):
    """The public names of a module or class, with their values, also those that a class has from a
    private one; special methods only if they have an example of their own."""
    found = {}
    for part in reversed([c for c in owner.__mro__ if ours(c)]) if inspect.isclass(owner) \
            else [owner]:
        found.update(vars(part))
    for name, value in sorted(found.items()):
        special = name.startswith("__") and ">>>" in (getattr(value, "__doc__", None) or "")
        if not name.startswith("_") or special:
            yield name, value


def things(owner, path, seen):
    """All public classes, functions, methods and properties below a module, by name."""
    for name, value in public(owner):
        inner = inspect.isclass(value) and ours(value)
        if isinstance(value, (types.ModuleType, *PLAIN)) or id(value) in seen:
            continue
        if inspect.isclass(value) and not inner or getattr(value, "__module__", "") == "typing":
            continue
        seen.add(id(value))
        yield f"{path}.{name}", value
        if inner:
            yield from things(value, f"{path}.{name}", seen)


def main():
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    found = [("tamis", tamis), *things(tamis, "tamis", set())]
    missing = []
    for name, thing in found:
        text = inspect.getdoc(thing)
        if not text or (inspect.isclass(thing) and not thing.__doc__):
            missing.append(name)
            continue
        with tempfile.TemporaryDirectory() as room:
            os.chdir(room)
            example = parser.get_doctest(text, {"tamis": tamis}, name, None, None)
            runner.run(example)
            os.chdir("/")
    failed, tried = runner.summarize(verbose=False)
    for name in missing:
        print(f"{name} has no docstring")
    print(f"{len(found)} docstrings, {tried} examples, {failed} failed")
    return bool(failed or missing or not tried)


if __name__ == "__main__":
    sys.exit(main())
