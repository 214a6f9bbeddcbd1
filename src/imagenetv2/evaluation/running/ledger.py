"""Finished records of one model on one set, in a file that only grows: a killed run goes on at the next image."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from imagenetv2.atomically import write_bytes
from imagenetv2.errors import InputError

TOP = 5
IMPOSSIBLE = 1e-9
"""The largest of any number of probabilities that people compute is larger."""
Records = npt.NDArray[np.void]


def record_type(classes: int, logits: bool) -> np.dtype[Any]:
    """One image: rank of the true class, the first five class indices (−1 where there are fewer classes),
    probabilities of the true and of the first class, and maybe all outputs.

    The probability of the first class, which is never 0, comes last: where it is written, all of a record is.
    """
    fields: list[Any] = [("rank", "<i4"), ("top5", "<i4", (TOP,)), ("probability", "<f8")]
    kept: list[Any] = [("logits", "<f2", (classes,))] if logits else []
    return np.dtype([*fields, *kept, ("top_probability", "<f8")])


class Ledger:
    """Records of a fixed length, one an image, in the order of the set.

    Args:
        path: the file; made with its folder when records are first appended.
        kind: from ``record_type``.
    """

    def __init__(self, path: Path, kind: np.dtype[Any]) -> None:
        self.path, self.kind = path, kind
        self._known: int | None = None
        self._batch: int | None = None

    @property
    def done(self) -> int:
        """How many whole records there are; a torn one at the end does not count."""
        return self.path.stat().st_size // self.kind.itemsize if self.path.exists() else 0

    @property
    def batch(self) -> int | None:
        """Images a pass that its records were made with, the fewest; None where there are none."""
        note = self._note
        return int(note.read_text()) if note.exists() else None

    def made_with(self, batch: int) -> None:
        """Note how many images a pass records are made with that come now."""
        if self._batch is None:
            self._batch = self.batch
        if self._batch is None or batch < self._batch:
            self._batch = batch
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(self._note, f"{batch}\n".encode())

    def append(self, records: Records) -> None:
        """Add records behind the whole ones, in one write.

        Raises:
            InputError: another process writes it too.
            OSError: with the file's name.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                _lock(file)
                whole = self.done
                if self._known not in (None, whole):
                    raise InputError(
                        f"{self.path} is being written by another run; wait for it or stop it, and run again."
                    )
                file.truncate(whole * self.kind.itemsize)
                file.seek(whole * self.kind.itemsize)
                file.write(np.ascontiguousarray(records, self.kind).tobytes())
                self._known = whole + len(records)
        except OSError as error:
            # A full disk is reported without it.
            error.filename = error.filename or str(self.path)
            raise

    def read(self) -> Records:
        """All whole records."""
        if not self.path.exists():
            return np.empty(0, self.kind)
        return np.fromfile(self.path, self.kind, self.done)

    def mend(self) -> Records:
        """Cut off what a power cut left unwritten, which reads as zeros; returns all whole records."""
        found = self.read()
        written = found["top_probability"] > IMPOSSIBLE
        if not written.all():
            found = found[: int(written.argmin())]
            with self.path.open("r+b") as file:
                file.truncate(found.nbytes)
        self._known = len(found)
        return found

    @property
    def _note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.batch")


def _lock(file: BinaryIO) -> None:
    """Until it is closed: no descriptor is held between writes, as there may be thousands of ledgers."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        # Some network file systems know no locks.
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
