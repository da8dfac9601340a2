"""Filter.to_device(). There is no GPU here, so a library of the same functions stands for
libtamis-cuda; bench/cuda/python_check.py tests the same on a GPU."""
import ctypes
import gc
import os
import pathlib
import subprocess

import numpy
import pytest

import tamis
from tamis import _device

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build"))


class Array:
    """An array in "memory of the GPU": numpy's, with the interface of CUDA."""

    def __init__(self, values, **changes):
        self.values = numpy.ascontiguousarray(values)
        self.interface = {"shape": self.values.shape, "typestr": self.values.dtype.str,
                          "data": (self.values.ctypes.data, False), "version": 3, **changes}

    @property
    def __cuda_array_interface__(self):
        return self.interface


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    library = tmp_path_factory.mktemp("cuda") / "libfake.so"
    source = SOURCE / "tests/python/data/fake_cuda.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source,
                    f"-I{SOURCE / 'include'}", f"-I{SOURCE / 'cuda/include'}", f"-L{BUILD}",
                    "-ltamis", f"-Wl,-rpath,{BUILD}"], check=True)
    return library


@pytest.fixture
def fake(built, monkeypatch):
    """The library; every test frees what it allocated there."""
    monkeypatch.setenv("TAMIS_CUDA_LIBRARY", str(built))
    library = ctypes.CDLL(str(built))
    blocks = ctypes.c_uint.in_dll(library, "fake_blocks")
    gc.collect()
    before = blocks.value
    yield library
    gc.collect()
    assert blocks.value == before


def numbers(n, **options):
    made = tamis.Filter(items=n, fpr=0.01, encoding="int64le", **options)
    made.update(numpy.arange(n))
    return made


def test_structs(fake):
    sizes = (ctypes.c_size_t * 2).in_dll(fake, "fake_sizes")
    assert list(sizes) == [ctypes.sizeof(_device._Why), ctypes.sizeof(_device._Keys)]


def test_answers(fake):
    own = numbers(1000)
    asked = numpy.arange(500, 2501)
    with own.to_device() as device:
        mask = device.contains(Array(asked))
        assert list(mask.tobytes()) == own.contains(asked).astype(int).tolist()
        assert len(mask) == len(asked)
        interface = mask.__cuda_array_interface__
        assert (interface["shape"], interface["typestr"]) == ((len(asked),), "|b1")
        address = ctypes.c_char * len(asked)
        assert address.from_address(interface["data"][0]).raw == mask.tobytes()
    assert device.closed
    with pytest.raises(ValueError, match="closed"):
        device.contains(Array(asked))


def test_adds_come_back(fake):
    own = numbers(2000)
    device = own.to_device()
    device.update(Array(numpy.array([-5, 10**12])))
    back = device.to_host()
    assert -5 in back and 10**12 in back and 7 in back
    assert -5 not in own
    own.update([-5, 10**12])
    assert bytes(back)[-own.nbytes // 2:] == bytes(own)[-own.nbytes // 2:]


def test_no_keys(fake):
    device = numbers(10).to_device()
    none = Array(numpy.zeros(0, "int64"), data=(0, False))
    assert device.contains(none).tobytes() == b""
    device.update(none)


def test_streams(fake):
    device = numbers(10).to_device()
    seen = ctypes.c_void_p.in_dll(fake, "fake_stream")
    for stream, passed in ((None, None), (1, 1), (2, 2), (0x7F00, 0x7F00)):
        device.contains(Array(numpy.arange(3), stream=stream))
        assert seen.value == passed
    with pytest.raises(tamis.InvalidError, match="stream 0"):
        device.contains(Array(numpy.arange(3), stream=0))


@pytest.mark.parametrize("keys, error, reason", [
    ([1, 2], TypeError, "not list"),
    (numpy.arange(3), TypeError, "memory of a GPU"),
    (Array(numpy.arange(3.0)), TypeError, "astype"),
    (Array(numpy.arange(3, dtype="int32")), TypeError, "astype"),
    (Array(numpy.arange(3, dtype=">i8")), TypeError, "int64"),
    (Array(numpy.arange(3, dtype="uint64")), TypeError, "view"),
    (Array(numpy.zeros((2, 2), "int64")), ValueError, "one dimension"),
    (Array(numpy.arange(3), strides=(16,)), ValueError, "contiguous"),
    (Array(numpy.arange(3), mask=Array(numpy.ones(3, bool))), ValueError, "mask"),
])
def test_wrong_keys(fake, keys, error, reason):
    device = numbers(10).to_device()
    for call in (device.contains, device.update):
        with pytest.raises(error, match=reason):
            call(keys)


def test_errors_of_the_library(fake):
    device = numbers(100).to_device()
    for call in (device.contains, device.update):
        with pytest.raises(tamis.Error, match="the device failed") as caught:
            call(Array(numpy.arange(13)))
        assert not isinstance(caught.value, OSError) and caught.value.status == -10
        with pytest.raises(MemoryError, match="no device memory"):
            call(Array(numpy.arange(14)))
    sealed = tamis.seal(numpy.arange(50), encoding="int64le").to_device()
    assert set(sealed.contains(Array(numpy.arange(50))).tobytes()) == {1}
    with pytest.raises(tamis.SealedError):
        sealed.update(Array(numpy.arange(3)))


def test_other_filters(fake):
    """The bytes of an integer depend on the encoding, so another one would give wrong answers."""
    with pytest.raises(tamis.UnsupportedError, match="int64le"):
        tamis.Filter(items=10).to_device()
    with pytest.raises(tamis.UnsupportedError, match="secret key"):
        tamis.Filter(items=10, encoding="int64le", key=bytes(16)).to_device()


def test_no_library(monkeypatch, tmp_path):
    own = numbers(10)
    monkeypatch.setenv("TAMIS_CUDA_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(tamis.UnsupportedError, match="TAMIS_CUDA_LIBRARY.*none.so"):
        own.to_device()
    monkeypatch.setenv("TAMIS_CUDA_LIBRARY", str(BUILD / "libtamis.so"))
    with pytest.raises(tamis.UnsupportedError, match="tamis_cuda_upload"):
        own.to_device()
