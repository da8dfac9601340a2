"""Measures the Python package next to the C library, to `set` and to other filters.

    bench/python/measure.py --library build/libtamis.so --out build/python.json [--quick]

The interpreter has the package installed (bench/python/bench.sh sees to it). All rows of a group
take turns, round after round, so that a disturbance meets all of them; a time is the minimum of its
rounds, in nanoseconds per key. Ratios are therefore fair, and times are those of this machine."""
import argparse
import importlib.util
import json
import os
import pathlib
import platform
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "python")]

import numpy  # noqa: E402
import arrow_made  # noqa: E402
import c_calls  # noqa: E402
import plain  # noqa: E402
import tamis  # noqa: E402

FPR = 0.01


def processor():
    """The name of the processor, as the other benchmarks print it."""
    spec = importlib.util.spec_from_file_location("bench_cli", HERE.parent / "cli" / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.processor()


def race(contestants, n, rounds):
    """The least nanoseconds per key of each contestant: {name: function}. A pair of functions is
    a preparation, which is not measured, and a function of its result."""
    best = {}
    for _ in range(rounds):
        for name, call in contestants.items():
            if isinstance(call, tuple):
                prepared, function = call[0](), call[1]
                call = lambda: function(prepared)  # noqa: E731
            begin = time.perf_counter()
            call()
            took = (time.perf_counter() - begin) / n * 1e9
            best[name] = min(took, best.get(name, took))
    return best


class Bench:
    def __init__(self, options):
        self.n, self.rounds = (100_000, 5) if options.quick else (1_000_000, 30)
        if options.rows:
            self.n, self.rounds = options.rows, 2
        self.c = c_calls.Library(os.path.abspath(options.library))
        self.rows = []

    def row(self, group, what, op, ns, n=None):
        self.rows.append({"group": group, "what": what, "op": op, "ns": ns, "n": n or self.n})
        print(f"{group:18} {what:34} {op:6} {ns:10.2f} ns", flush=True)

    def columns(self, group, c_add, c_ask, subjects, encoding=None):
        """The C call, and the same keys in several containers: {name: container}."""
        code = c_calls.INT64 if encoding else 0
        ours = {name: tamis.Filter(items=self.n, fpr=FPR, encoding=encoding) for name in subjects}
        theirs = self.c.make(self.n, FPR, code)
        adds = {"C": lambda: c_add(theirs)}
        asks = {"C": lambda: c_ask(theirs)}
        for name, column in subjects.items():
            adds[name] = lambda f=ours[name], c=column: f.update(c)
            asks[name] = lambda f=ours[name], c=column: f.contains(c)
        for op, calls in (("add", adds), ("query", asks)):
            for name, ns in race(calls, self.n, self.rounds).items():
                self.row(group, name, op, ns)
        images = {bytes(f) for f in ours.values()}
        assert len(images) == 1, f"{group}: the containers give different filters"
        self.c.close(theirs)

    def bits(self):
        return numpy.zeros(self.n // 8 + 1, numpy.uint8).ctypes.data_as(c_calls.c_void_p)

    def integers(self):
        values = (numpy.arange(self.n) * 7919) % 2**31
        bits, column = self.bits(), c_calls.integers(values)
        self.columns("int64le", lambda t: self.c.add_column(t, column),
                     lambda t: self.c.contains_column(t, column, bits),
                     {"numpy int64": values, "numpy int64, strided": numpy.repeat(values, 2)[::2],
                      "numpy int32": values.astype("i4"), "list of int": values.tolist()},
                     encoding="int64le")
        self.texts("decimal text", [str(v) for v in values.tolist()],
                   {"numpy int64": values, "list of int": values.tolist()})

    def texts(self, group, keys, subjects):
        raw = [key.encode() for key in keys]
        data = numpy.frombuffer(b"".join(raw), numpy.uint8)
        offsets = numpy.zeros(len(raw) + 1, numpy.int32)
        numpy.cumsum([len(key) for key in raw], out=offsets[1:])
        bits, column = self.bits(), c_calls.texts(data, offsets)
        self.columns(group, lambda t: self.c.add_column(t, column),
                     lambda t: self.c.contains_column(t, column, bits), subjects)

    def strings(self):
        keys = [f"https://example.org/{i * 7919 % 2**31}" for i in range(self.n)]
        subjects = {"numpy S": numpy.array([key.encode() for key in keys]),
                    "Arrow strings": arrow_made.texts(keys), "numpy U": numpy.array(keys),
                    "numpy object": numpy.array(keys, dtype=object), "list of str": keys}
        if importlib.util.find_spec("pandas"):
            import pandas
            subjects["pandas string"] = pandas.Series(keys, dtype="string")
        self.texts("strings", keys, subjects)

    def singles(self, n):
        """One key in each call, in a loop whose own time is subtracted."""
        keys = [f"https://example.org/{i * 7919 % 2**31}" for i in range(n)]
        raw, numbers = [key.encode() for key in keys], [i * 7919 % 2**31 for i in range(n)]
        repeat = max(1, min(self.n, 200_000) // n)
        calls = {"loop": lambda: [key for _ in range(repeat) for key in keys]}
        for name, column in (("str", keys), ("bytes", raw), ("int", numbers)):
            exact, f = set(column), tamis.Filter(items=n, fpr=FPR)
            f.update(column)
            calls[f"set, {name}"] = lambda s=exact, c=column: [
                key in s for _ in range(repeat) for key in c]
            calls[f"Filter, {name}"] = lambda f=f, c=column: [
                key in f for _ in range(repeat) for key in c]
            if name == "str":
                # As they come from a file: equal to the keys, but other objects.
                def anew():
                    return [(key + "x")[:-1] for _ in range(repeat) for key in keys]

                calls["set, new str"] = anew, lambda fresh, s=exact: [key in s for key in fresh]
                calls["Filter, new str"] = anew, lambda fresh, f=f: [key in f for key in fresh]
        times = race(calls, n * repeat, self.rounds)
        loop = times.pop("loop")
        for name, ns in times.items():
            self.row(f"in, {n:,} keys", name, "query", ns - loop, n)
        calls = {"loop": lambda: [key for _ in range(repeat) for key in keys]}
        adding, exact = tamis.Filter(items=n, fpr=FPR).add, set().add
        calls["set, str"] = lambda: [exact(key) for _ in range(repeat) for key in keys]
        calls["Filter, str"] = lambda: [adding(key) for _ in range(repeat) for key in keys]
        times = race(calls, n * repeat, self.rounds)
        loop = times.pop("loop")
        for name, ns in times.items():
            self.row(f"add, {n:,} keys", name, "add", ns - loop, n)

    def peers(self):
        """Filters of other packages, which are so slow that fewer keys suffice."""
        n = self.n // 50
        keys = [f"https://example.org/{i * 7919 % 2**31}" for i in range(n)]
        raw = [key.encode() for key in keys]
        found = {"in Python alone": (plain.PlainFilter(n, FPR), keys),
                 "tamis, key by key": (tamis.Filter(items=n, fpr=FPR), keys)}
        if importlib.util.find_spec("flor"):
            import flor
            found["python3-flor"] = (flor.BloomFilter(n=2 * n, p=FPR), raw)
        adds = {name: lambda f=f, k=k: [f.add(key) for key in k] for name, (f, k) in found.items()}
        asks = {name: lambda f=f, k=k: [key in f for key in k] for name, (f, k) in found.items()}
        bulk = tamis.Filter(items=n, fpr=FPR)
        adds["tamis, list"] = lambda: bulk.update(keys)
        asks["tamis, list"] = lambda: bulk.contains(keys)
        exact = set()
        adds["set"] = lambda: exact.update(keys)
        asks["set"] = lambda: [key in exact for key in keys]
        for op, calls in (("add", adds), ("query", asks)):
            for name, ns in race(calls, n, min(self.rounds, 5)).items():
                self.row("packages", name, op, ns, n)

    def context(self):
        return {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
                "system": f"{platform.system()} {platform.release()}",
                "python": platform.python_version(), "numpy": numpy.__version__,
                "tamis": tamis.__version__, "rows": self.n, "rounds": self.rounds,
                "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True, help="libtamis.so of the same version")
    parser.add_argument("--out", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, help="of each column, for tests")
    options = parser.parse_args()
    bench = Bench(options)
    context = bench.context()
    bench.integers()
    bench.strings()
    for n in (1000, bench.n):
        bench.singles(n)
    bench.peers()
    context["load_after"] = os.getloadavg()[0]
    with open(options.out, "w", encoding="utf-8") as f:
        json.dump({"context": context, "rows": bench.rows}, f, indent=1)


if __name__ == "__main__":
    main()
