"""What a run keeps for the next one: all in one folder, which may be deleted when none is running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from imagenetv2.lock import hold


def folder(out: Path) -> Path:
    """It, beside the results."""
    return out / ".cache"


def unfinished(out: Path) -> Path:
    """Records of predictions that are not all there."""
    return folder(out) / "unfinished"


def unpacked(out: Path) -> Path:
    """Compressed archives, as tar archives."""
    return folder(out) / "unpacked"


def checked(out: Path) -> Path:
    """Notes of sets every file of which was looked at."""
    return folder(out) / "checked"


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Keep other runs out. Empty folders go afterwards; where nothing was made, so does the output's.

    Raises InputError where another run is going on.
    """
    with hold(folder(out)) as lock:
        try:
            yield
        finally:
            for path in (unfinished(out), unpacked(out), checked(out)):
                _remove_empty(path)
            if sorted(folder(out).iterdir()) == [Path(lock.name)]:
                Path(lock.name).unlink()
                _remove_empty(folder(out))
                _remove_empty(out)


def _remove_empty(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()
