"""Columns that are not buffers: objects of pandas, and others with ``__array__``."""

from __future__ import annotations

from typing import Any

__all__ = ["as_array"]


def as_array(keys: Any) -> Any:
    """A one-dimensional numpy array of the values; the C half calls this.

    Columns of numpy types are not copied.
    """
    if type(keys).__name__ == "DataFrame":
        raise TypeError("keys are a DataFrame; pass one column of it")
    dtype = getattr(keys, "dtype", None)
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and numpy_dtype.kind in "iu" and hasattr(keys, "isna"):
        missing = keys.isna()
        if missing.any():
            row = int(missing.argmax())
            raise TypeError(f"row {row}: the value is missing; leave missing values out with "
                            f"dropna()")
        return keys.to_numpy(dtype=numpy_dtype)
    if hasattr(keys, "to_numpy"):
        return keys.to_numpy()
    import numpy

    return numpy.asarray(keys)
