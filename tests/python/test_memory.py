"""Memory: columns are not copied, and a million calls leak nothing. Both are measured by the
kernel's figures in a process of their own."""
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
    import array, ctypes, gc, os, sys, warnings
    import tamis
    warnings.simplefilter("ignore")
    SANITIZED = os.environ.get("TAMIS_SANITIZED") == "1"  # whose memory is not the program's

    def status(name):
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith(name)) * 1024

    def reset():
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")  # the peak begins again

    class Figures(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost")]

    try:
        figures = ctypes.CDLL(None).mallinfo2
        figures.restype = Figures
    except AttributeError:  # a libc other than glibc
        figures = Figures

    def in_use():
        gc.collect()
        now = figures()
        return sys.getallocatedblocks(), now.uordblks + now.hblkhd, status("VmRSS")

"""


def run(body):
    script = textwrap.dedent(BEGIN) + textwrap.dedent(body) + "\nprint('fine')\n"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode == 0 and done.stdout == b"fine\n", done.stderr.decode()


PEAK = """
    import numpy
    n = 1_500_000
    f, few = (tamis.Filter(items=1000, fpr=0.01, encoding={encoding!r}) for _ in range(2))
    {column}
    some = {some}
    few.update(some)
    few.contains(some), few.select(some)
    for call, answer in ((f.update, 0), (few.contains, n), (few.select, 0)):
        gc.collect()
        reset()
        before = status("VmRSS")
        call(column)
        grown = status("VmHWM") - before - answer
        # A copy of the column would take {size} MB.
        assert grown < 4 << 20 or SANITIZED, (call, grown >> 10)
"""


@pytest.mark.parametrize("encoding, column, size", [
    ("int64le", "column = numpy.arange(n)", 12),
    (None, "column = numpy.arange(n)", 12),
    ("int64le", "column = numpy.arange(2 * n)[::2]", 12),
    ("int64le", "column = numpy.arange(n)[::-1]", 12),
    ("int64le", "column = numpy.arange(n).astype('>i8')", 12),
    (None, "column = numpy.arange(n).astype('i4')", 6),
    (None, "column = numpy.full(n, b'https://example.org/')", 30),
    (None, "column = numpy.full(n, 'https://example.org/')", 120),
    (None, "column = numpy.array(['a', 'b'] * (n // 2), dtype=object)", 12),
    (None, "import pandas; column = pandas.Series(['a', 'b'] * (n // 2), dtype='string')", 12),
    (None, "column = memoryview(array.array('q', range(n)))", 12),
    (None, "column = ['a', 'b'] * (n // 2)", 12),
], ids=["int64", "digits", "strided", "negative", "big-endian", "int32", "S", "U", "object",
        "pandas", "buffer", "list"])
def test_columns_are_not_copied(encoding, column, size):
    some = "['never']" if encoding is None else "[-5]"
    body = PEAK.format(encoding=encoding, column=column, size=size, some=some)
    if column.startswith("column = ["):  # whose answers are a list, and before that bytes
        body = body.replace("(few.contains, n)", "(few.contains, 10 * n)")
    run(body)


def test_an_iterator_is_not_collected():
    run("""
        import itertools
        f = tamis.Filter(items=1000, fpr=0.5, kind="bloom")
        f.update(str(i) for i in range(1000))
        reset()
        before = status("VmRSS")
        f.update(itertools.repeat("a", 3_000_000))
        assert status("VmHWM") - before < 8 << 20
    """)


LEAK = """
    import copy, pickle
    {setup}

    def rounds(n):
        global f
        for _ in range(n):
            {call}

    rounds({n} // 10 + 10)
    # Now and then the interpreter itself allocates something for good. A leak is there each time.
    for _ in range(3):
        before = in_use()
        rounds({n})
        blocks, used, resident = (b - a for a, b in zip(before, in_use()))
        if blocks < {n} / 10 + 50:
            break
    # A leak in every tenth call would show.
    assert blocks < {n} / 10 + 50, blocks
    assert used < {n} + (256 << 10) or SANITIZED, used
    assert resident < 8 * {n} + (4 << 20) or SANITIZED, resident
"""
F = "f = tamis.Filter(items=1000, fpr=0.01, kind='counting')\n    f.update(range(100))"
CALLS = {
    "in": (F, "'key' in f", 1_000_000),
    "in int": (F, "(10**20 in f, -5 in f)", 200_000),
    "in bytes": (F, "memoryview(b'abc') in f", 1_000_000),
    "add": (F, "f.add('x'); f.remove('x')", 1_000_000),
    "absent": (F, "f.discard('never')", 1_000_000),
    "wrong": (F, """
            try: f.add(1.5)
            except TypeError: pass""", 100_000),
    "error": (F, """
            try: f.remove('never')
            except KeyError: pass""", 50_000),
    "surrogate": (F, """
            try: '\\ud800' in f
            except ValueError: pass""", 100_000),
    "bulk": (F, "f.contains(['a', 'b', 5, b'c', 10**30]); f.select(('a', 1))", 50_000),
    "bulk wrong": (F, """
            try: f.contains(['a', 'b', None])
            except TypeError: pass""", 50_000),
    "numpy": (F + "\n    import numpy; c = numpy.arange(5); t = c.astype('U'); s = c.astype('S')\n"
              "    o = t.astype(object)",
              "f.contains(c); f.select(t); f.contains(s); f.contains(o)", 20_000),
    "numpy wrong": (F + "\n    import numpy; c = numpy.arange(5.0)", """
            try: f.contains(c)
            except TypeError: pass""", 20_000),
    "update": (F, "f.clear(); f.update(iter(['a'])); f.update(['b', 5]); f.add_all(['c'])",
               30_000),
    "image": (F, "bytes(f); memoryview(f); f.to_bytes()", 5_000),
    "copies": (F, "f.copy(); pickle.loads(pickle.dumps(f)); copy.deepcopy(f)", 5_000),
    "make": ("", "tamis.Filter(items=100, fpr=0.01, encoding='int64le')", 5_000),
    "make wrong": ("", """
            try: tamis.Filter(items=100, fpr=7)
            except ValueError: pass""", 20_000),
    "keys": ("k = tamis.Key(bytes(16))",
             "tamis.Filter(items=100, fpr=0.01, key=k); tamis.Key(bytes(16))", 5_000),
    "info": (F, "f.info; repr(f); f.kind; f.fpr; f.nbytes; f.encoding; len(f)", 3_000),
    "plan": ("", "str(tamis.plan(items=1000, fpr=0.01))", 3_000),
    "load": (F + "\n    image = bytes(f)", "tamis.load(image); tamis.view(image)", 10_000),
    "load wrong": ("", """
            try: tamis.load(b'x' * 300)
            except ValueError: pass""", 20_000),
    "merge": (F + "\n    g = tamis.Filter(items=1000, fpr=0.01, kind='counting')",
              "f.merge(g); f |= g; f | g", 5_000),
    "counts": ("c = tamis.Counts(bytes='16KiB')",
               "c.add('a'); c['a']; c.upper(['a', 'b']); c.update({'a': 2})", 50_000),
    "estimates": ("c = tamis.Counts(bytes='16KiB'); c.add('a', 5)",
                  "c.estimate('a'); c.estimates(['a', 'b'])", 10_000),
    "top": ("t = tamis.Top(bytes='16KiB', items=10); t.update(range(20))",
            "t.most_common(5); t.add('a')", 3_000),
    "map": ("import numpy; c = numpy.arange(5); m = tamis.Map(c, c)",
            "m[1]; m.get(9); m.lookup(c); m.lookup([1, 9]); m.value_bits", 20_000),
    "map wrong": ("m = tamis.Map({}); x = 'xyz'", """
            try: m[x]
            except KeyError: pass""", 20_000),
    "make map": ("import numpy; c = numpy.arange(5)",
                 "tamis.Map({'a': 1}); tamis.Map(c, c); tamis.Map(iter('ab'), iter([1, 2]))",
                 3_000),
    "make map wrong": ("", """
            try: tamis.Map([('a', 1), ('b', 1), ('a', 2)])
            except ValueError: pass
            try: tamis.Map([('a', 1), ('b', -1)])
            except OverflowError: pass
            try: tamis.Map(iter('ab'), [1])
            except ValueError: pass""", 3_000),
    "distinct": ("d = tamis.Distinct(error=0.1)", "d.add('a'); int(d); d.count; len(d)", 10_000),
    "window": ("w = tamis.Window(items=100, fpr=0.01)", "w.add('a'); w.rotate(); 'a' in w",
               50_000),
}


@pytest.mark.parametrize("what", CALLS)
def test_no_leaks(what):
    """The biggest of these make a million calls."""
    setup, call, n = CALLS[what]
    run(LEAK.format(setup=setup, call=call, n=n))


def test_arrow_does_not_leak():
    run("""
        import os
        sys.path.insert(0, %r)
        import arrow_made as arrow
        f = tamis.Filter(items=1000, fpr=0.01)
        column = arrow.texts(["a", None, "c"])
        stream = arrow.Stream([column, column])
        for _ in range(500):
            f.contains(column)
            f.update(stream)
        gc.collect()
        assert column.tracker.made == column.tracker.released > 1000
        assert stream.tracker.made == stream.tracker.released == 500
    """ % __file__.rpartition("/")[0])


def test_references_are_given_back():
    run("""
        keys = [f"key {i}" for i in range(50)] + [10**30 + i for i in range(9)]
        f = tamis.Filter(items=1000, fpr=0.01)
        before = [sys.getrefcount(k) for k in keys]
        for _ in range(100):
            f.update(keys), f.contains(keys), f.select(tuple(keys)), f.add_all(keys)
            f.update(iter(keys))
            for k in keys:
                f.add(k), k in f
        del k
        assert [sys.getrefcount(k) for k in keys] == before
        assert sys.getrefcount(f) == 2
        buffer = bytes(f)
        n = sys.getrefcount(buffer)
        view = tamis.view(buffer)
        assert sys.getrefcount(buffer) > n
        del view
        gc.collect()
        assert sys.getrefcount(buffer) == n
    """)
