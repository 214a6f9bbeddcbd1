"""Arrays from the bytes of .npy files: nothing in them is executed, and what is cut off is noticed."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]


class Unreadable(ValueError):
    """The bytes are no whole array of numbers; the message says why."""


def parse(data: bytes) -> Array:
    """The array of a .npy file of any format version; integers or floating point numbers.

    Raises Unreadable for bytes that are no such file, are cut off, or hold objects, text or records. The size that
    the header claims is compared with the bytes there are before memory is taken.
    """
    if not data:
        raise Unreadable("the file is empty")
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(stream)
    except (ValueError, EOFError, SyntaxError, tokenize.TokenError) as error:
        raise Unreadable(
            f"no header of a NumPy array ({(str(error).splitlines() or [type(error).__name__])[0]})"
        ) from error
    if dtype.hasobject:
        raise Unreadable("it holds pickled objects, which could execute code when read")
    if dtype.kind not in "iuf":
        raise Unreadable(f"it holds {dtype}, not numbers of classes")
    if any(n < 0 for n in shape):
        raise Unreadable(f"it claims the shape {shape}")
    needed, there = math.prod(shape) * dtype.itemsize, len(data) - stream.tell()
    if there < needed:
        raise Unreadable(f"it is cut off: the header claims {needed:,} bytes of values, {there:,} are there")
    values = np.frombuffer(data, dtype, math.prod(shape), stream.tell())
    return values.reshape(shape, order="F" if fortran else "C")


def members(data: bytes) -> dict[str, bytes]:
    """The bytes of every array of an .npz file by name. Raises Unreadable where it is no whole, open archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {n.removesuffix(".npy"): archive.read(n) for n in sorted(archive.namelist())}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise Unreadable(f"no whole archive of arrays ({error})") from error


def texts(data: bytes) -> list[str]:
    """The values of a .npy file that holds a list of texts. Raises Unreadable for any other."""
    try:
        values = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise Unreadable(f"no list of texts ({error})") from error
    if not isinstance(values, np.ndarray) or values.dtype.kind != "U" or values.ndim != 1:
        raise Unreadable("no list of texts")
    return [str(v) for v in values]
