"""Finished pieces of a long search, so that a killed one goes on where it was."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2 import atomically

Arrays = Mapping[str, npt.NDArray[Any]]


class Work:
    """Pieces by name in a folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, prefix: str = "") -> None:
        self._folder, self._prefix = folder, prefix

    def within(self, name: str) -> Work:
        """The same folder, for pieces whose names begin with that one."""
        return Work(self._folder, f"{self._prefix}{name}-")

    def turn(self, part: tuple[int, int]) -> int:
        """With which of the pieces here the i-th of n workers begins, so that all have about as much to do."""
        return (part[0] + zlib.crc32(self._prefix.encode())) % part[1]

    def piece(self, name: str) -> dict[str, npt.NDArray[Any]] | None:
        """The arrays of a finished piece, None where there is none that can be read."""
        path = self._path(name)
        if path is None or not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def keep(self, name: str, arrays: Arrays) -> None:
        """Keep a finished piece, whole or not at all."""
        path = self._path(name)
        if path is None:
            return
        buffer = io.BytesIO()
        np.savez(buffer, **dict(arrays))  # type: ignore[arg-type]  # no array is called allow_pickle
        path.parent.mkdir(parents=True, exist_ok=True)
        atomically.write_bytes(path, buffer.getvalue())

    def _path(self, name: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{self._prefix}{name}.npz"
