"""Threads: other threads run while a bulk call works, and threads share one object. No test
measures time: a thread that advances during a call shows that the call let it."""
import array
import sys
import threading
import time

import pytest

import tamis

numpy = pytest.importorskip("numpy")


def advances_during(call, seconds=60):
    """Whether another thread advances while `call` runs. The interval is so long that the
    interpreter never takes the GIL from a thread; the other thread gives it back after each step,
    so that it advances only if the call releases it. An attempt may lose against the scheduler of
    a busy machine, so there are more until the seconds are over."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    count, stop, started = [0], threading.Event(), threading.Event()

    def work():
        while not stop.is_set():
            count[0] += 1
            started.set()
            time.sleep(0)

    thread = threading.Thread(target=work)
    try:
        thread.start()
        started.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = count[0]
            call()
            if count[0] > before:
                return True
        return False
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


N = 300_000


def released_calls():
    values = numpy.arange(N)
    filters = {form: tamis.Filter(items=N, fpr=0.01, encoding=form) for form in (None, "int64le")}
    columns = {"i8": values, "i4": values.astype("i4"), ">i8": values.astype(">i8"),
               "strided": numpy.repeat(values, 2)[::2], "S": values.astype("S8"),
               "array": array.array("q", values.tolist())}
    for form, f in filters.items():
        for name, column in columns.items():
            if not (form and name == "S"):
                yield f"{form} {name} update", lambda f=f, c=column: f.update(c)
                yield f"{form} {name} contains", lambda f=f, c=column: f.contains(c)
    f = filters["int64le"]
    yield "select", lambda: f.select(values)
    yield "bytes", lambda: [bytes(f) for _ in range(20)]
    yield "info", lambda: [f.info for _ in range(20)]
    yield "copy", lambda: [f.copy() for _ in range(5)]
    other = f.copy()
    yield "merge", lambda: [f.merge(other) for _ in range(20)]
    yield "seal", lambda: tamis.seal(values, encoding="int64le")
    yield "map", lambda: tamis.Map(values, values, encoding="int64le")
    m = tamis.Map(values, values, encoding="int64le")
    yield "lookup", lambda: m.lookup(values)
    top = tamis.Top(bytes="1MiB", encoding="int64le")
    yield "top", lambda: top.update(values)


@pytest.mark.filterwarnings("ignore::tamis.OverfullWarning")
def test_other_threads_run_during_a_bulk_call():
    for name, call in released_calls():
        assert advances_during(call), name


def test_the_check_itself():
    """A call that holds the GIL does not let the other thread advance."""
    values = list(range(300_000))
    assert not advances_during(lambda: sum(values), seconds=0.2)


def test_two_bulk_calls_overlap():
    """A thread sees that the other is inside a bulk call when its own call ends: the calls overlap.
    The interpreter never takes the GIL from a thread here, so that without a release each thread
    would finish its call before the other begins, and one observation suffices."""
    values = numpy.arange(2_000_000)
    filters = [tamis.Filter(items=2_000_000, fpr=0.01, encoding="int64le") for _ in range(2)]
    inside, seen, together = [False, False], [False, False], threading.Barrier(2)

    def work(me):
        for _ in range(30):
            together.wait()
            inside[me] = True
            filters[me].update(values)
            seen[me] |= inside[1 - me]
            inside[me] = False
            together.wait()
            if any(seen):
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert any(seen)
    assert bytes(filters[0]) == bytes(filters[1])


@pytest.mark.parametrize("shared", [False, True])
def test_threads_on_one_object(shared):
    """Without shared=True the object orders its calls by itself; with it the library takes them at
    once. Either way no key is lost and nothing breaks."""
    f = tamis.Filter(items=200_000, fpr=0.001, encoding="int64le", shared=shared)
    failures = []

    def work(me):
        try:
            mine = numpy.arange(me * 40_000, (me + 1) * 40_000)
            for part in numpy.array_split(mine, 10):
                f.update(part)
                assert f.contains(part).all()
                f.add(int(part[0]))
                assert int(part[-1]) in f and len(f) > 0
            for _ in range(3):
                assert f.info.items > 0 and len(bytes(f)) == f.nbytes
                f.copy().close()
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert f.contains(numpy.arange(160_000)).all()
    one = tamis.Filter(items=200_000, fpr=0.001, encoding="int64le")
    one.update(numpy.arange(160_000))
    # The same keys set the same bits; only counts of new keys may differ with the order.
    assert f.info.fill == one.info.fill


@pytest.mark.parametrize("make", [lambda: tamis.Counts(bytes="256KiB"),
                                  lambda: tamis.Top(bytes="256KiB"),
                                  lambda: tamis.Distinct(error=0.01),
                                  lambda: tamis.Filter(kind="growing", fpr=0.01),
                                  lambda: tamis.Filter(kind="cuckoo", items=100_000, fpr=0.01),
                                  lambda: tamis.Window(items=100_000, fpr=0.01)])
def test_threads_on_other_kinds(make):
    it, failures = make(), []

    def work(me):
        try:
            mine = numpy.arange(me * 10_000, (me + 1) * 10_000)
            for part in numpy.array_split(mine, 5):
                it.update(part)
                assert it.contains(part).all()
                it.add(int(part[0]))
                bytes(it), repr(it), it.info
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert it.contains(numpy.arange(40_000)).all()


def test_merging_each_other():
    """a |= b and b |= a at the same time do not wait for each other for ever."""
    a, b = (tamis.Filter(items=100_000, fpr=0.01) for _ in range(2))
    a.update(range(1000))
    b.update(range(1000, 2000))

    def work(x, y):
        for _ in range(200):
            x.merge(y)

    threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert all(a.contains(list(range(2000)))) and all(b.contains(list(range(2000))))


def test_closing_while_another_thread_works():
    """A call that has begun finishes; later ones fail with a reason."""
    values = numpy.arange(1_000_000)
    for _ in range(5):
        f = tamis.Filter(items=1_000_000, fpr=0.01, encoding="int64le")
        started, outcome = threading.Event(), []

        def work():
            started.set()
            try:
                while True:
                    f.update(values)
                    time.sleep(0.001)
            except ValueError as e:
                outcome.append(str(e))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        started.wait()
        while not f.closed:
            try:
                f.close()
            except RuntimeError as e:  # the call of the other thread is not disturbed
                assert "another thread" in str(e)
        thread.join(60)
        assert not thread.is_alive() and len(outcome) == 1 and "closed" in outcome[0]
