"""A large array that is filled a row at a time, and whose finished stretches survive the process that filled them."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2 import atomically
from imagenetv2.errors import InputError

IN_MEMORY = 2**26
"""Arrays of at most so many bytes are filled in memory: they are made again in seconds."""


class Stored:
    """An array in ``folder/<name>.npy``, or in memory where it is small or ``folder`` is None.

    Rows are written with plain writes, which report a full disk, and a stretch counts once its rows are on the disk
    and a note about it is too. The folder belongs to one content: whoever changes what goes in changes the folder.
    ``fixed`` is for several processes at once: what another one wrote is only read, and InputError raised where it is
    not whole.
    """

    def __init__(
        self,
        folder: Path | None,
        name: str,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        small: int,
        *,
        fixed: bool = False,
    ) -> None:
        self._shape, self._dtype, self._fixed = shape, np.dtype(dtype), fixed
        self._row = math.prod(shape[1:]) * self._dtype.itemsize
        self._folder = None if folder is None or shape[0] * self._row <= small else folder
        self._name = name
        self._memory: npt.NDArray[Any] | None = None
        self._file = -1
        if self._folder is None:
            self._memory = np.zeros(shape, self._dtype)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name}.npy"
        if not self._fits(path):
            self._require_writable()
            self._forget()
            self._make(path)
        self._file = os.open(path, os.O_RDONLY if fixed else os.O_RDWR)
        self._offset = path.stat().st_size - shape[0] * self._row

    def note(self, stretch: slice) -> Any:
        """What was noted about a stretch when it was finished; None where it is not finished."""
        if self._folder is None:
            return None
        try:
            return json.loads(self._path(stretch).read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, row: int, values: npt.NDArray[Any]) -> None:
        """Write rows from that one on; they count with ``finish``."""
        if self._memory is not None:
            self._memory[row : row + len(values)] = values
            return
        self._require_writable()
        data = np.ascontiguousarray(values, self._dtype).reshape(-1).view(np.uint8).data
        place = self._offset + row * self._row
        while data:
            written = os.pwrite(self._file, data, place)
            data, place = data[written:], place + written

    def finish(self, stretch: slice, note: Any) -> None:
        """The rows of a stretch are all written."""
        if self._folder is None:
            return
        os.fsync(self._file)
        atomically.write_bytes(self._path(stretch), json.dumps(note).encode(), durable=True)

    def array(self) -> npt.NDArray[Any]:
        """The array, where it is large read-only and mapped to its file; nothing is written after this."""
        if self._memory is not None:
            return self._memory
        assert self._folder is not None
        os.close(self._file)
        large = self._shape[0] * self._row > IN_MEMORY
        return np.asarray(np.load(self._folder / f"{self._name}.npy", mmap_mode="r" if large else None))

    def _path(self, stretch: slice) -> Path:
        assert self._folder is not None
        return self._folder / f"{self._name}-{stretch.start}.{stretch.stop}.json"

    def _fits(self, path: Path) -> bool:
        try:
            there = np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError):
            return False
        return bool(there.shape == self._shape and there.dtype == self._dtype)

    def _make(self, path: Path) -> None:
        needed = self._shape[0] * self._row
        require_room(path.parent, needed, f"{self._name} of {self._shape[0]:,} images")
        # Never there half made: whoever finds it finds its size.
        made = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            np.lib.format.open_memmap(made, "w+", self._dtype, self._shape).flush()
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)

    def _require_writable(self) -> None:
        if self._fixed:
            raise InputError(
                f"{self._folder}: {self._name} is not whole, which part 0 of a search prepares for the others; run "
                "--part 0 again, and all parts on one kind of device."
            )

    def _forget(self) -> None:
        assert self._folder is not None
        for path in sorted(self._folder.glob(f"{self._name}-*.json")):
            path.unlink()


def require_room(folder: Path, needed: int, what: str) -> None:
    """Raise InputError where the disk of ``folder`` has not so many bytes free."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{folder}: {what} need {needed / 1e9:,.1f} GB there, and {free / 1e9:,.1f} GB are free; free some "
            "space, choose another --data folder, or make neighbours.*.side smaller."
        )
