#!/usr/bin/env python3
"""Checks Filter.to_device() on a GPU with CuPy: python_check.py, with the package tamis, and
TAMIS_CUDA_LIBRARY unless libtamis-cuda is installed. Prints what it checked; exits with 1 if an
answer differs from the processor's, and with 3 if CuPy or a GPU is missing."""

import sys
import time

try:
    import cupy
    import numpy

    import tamis
    cupy.zeros(1)
except Exception as error:  # whatever CuPy raises where there is no device
    print(f"python_check.py: {error}")
    sys.exit(3)

COUNT = 10_000_000


def same(what, wanted, got):
    if not (numpy.asarray(wanted) == cupy.asnumpy(got)).all():
        sys.exit(f"python_check.py: {what}: the answers differ")
    print(f"{what}: the same answers for {len(wanted):,} keys")


def refused(what, error, call):
    try:
        call()
    except error as reason:
        print(f"{what}: {reason}")
        return
    sys.exit(f"python_check.py: {what} is not refused")


def main():
    keys = cupy.arange(COUNT, dtype="int64") * 3
    own = tamis.Filter(items=COUNT, fpr=0.01, encoding="int64le")
    device = own.to_device()
    device.update(keys)
    own.update(cupy.asnumpy(keys))
    asked = cupy.arange(COUNT, dtype="int64")
    wanted = own.contains(cupy.asnumpy(asked))
    same("blocked", wanted, cupy.asarray(device.contains(asked)))
    same("to_host", wanted, cupy.asarray(device.to_host().contains(cupy.asnumpy(asked))))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        later = cupy.arange(COUNT, dtype="int64")
        same("on a stream", wanted, cupy.asarray(device.contains(later)))
    chosen = asked[cupy.asarray(device.contains(asked))]
    if len(chosen) != int(numpy.count_nonzero(wanted)):
        sys.exit("python_check.py: a mask chooses other keys")
    for kind in ("fuse", "ribbon"):
        sealed = tamis.seal(cupy.asnumpy(keys), kind=kind, encoding="int64le").to_device()
        answers = cupy.asarray(sealed.contains(keys))
        if not bool(answers.all()):
            sys.exit(f"python_check.py: {kind}: a member is missed")
        print(f"{kind}: all members are found")
    refused("float keys", TypeError, lambda: device.contains(keys.astype("float64")))
    refused("strided keys", ValueError, lambda: device.contains(keys[::2]))
    refused("an array of the host", TypeError, lambda: device.contains(numpy.arange(3)))
    begin = time.perf_counter()
    for _ in range(20):
        device.contains(asked)
    took = (time.perf_counter() - begin) / 20
    print(f"contains: {COUNT / took / 1e9:.2f} G keys/s, in calls of {COUNT:,} keys")


if __name__ == "__main__":
    main()
