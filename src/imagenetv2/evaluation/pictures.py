"""The pixels of the images of a set, decoded when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

from imagenetv2.archive import Reader
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels

KEPT_BYTES = 256 * 2**20


class Pictures(Sequence[Pixels]):
    """Pixels by position; may be asked for from several threads.

    Args:
        archive: a ZIP of canonical images.
        files: names in it.
        remember: whether to keep what was decoded.
    """

    def __init__(self, archive: Path, files: Sequence[str], *, remember: bool = False) -> None:
        self._reader = Reader(archive)
        self._files = tuple(files)
        self._known: dict[int, Pixels] | None = {} if remember else None

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self._pixels(i) for i in range(*index.indices(len(self)))]
        return self._pixels(index)

    def __iter__(self) -> Iterator[Pixels]:
        return (self._pixels(i) for i in range(len(self)))

    def _pixels(self, index: int) -> Pixels:
        if self._known is not None and index in self._known:
            return self._known[index]
        try:
            pixels = self._reader.pixels(self._files[index])
        except KeyError as error:
            raise InputError(
                f"{self._reader.path} holds no {self._files[index]}; delete its folder and run snakemake."
            ) from error
        except (BadZipFile, SyntaxError, ValueError, OSError) as error:
            # Pillow's own have no number; those of the disk say nothing of the image.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(
                f"{self._reader.path}: {self._files[index]} is damaged ({error}); delete its folder and run snakemake."
            ) from error
        if self._known is not None:
            self._known[index] = pixels
        return pixels


# Remembered between the stages of one process: all models are trained on the same images. An archive never
# changes once it is there, since its path holds its version.
@lru_cache(maxsize=2)
def pictures(archive: Path, files: tuple[str, ...], total_bytes: int) -> Pictures:
    """The images of that archive, in that order; remembered where ``total_bytes`` is small."""
    return Pictures(archive, files, remember=total_bytes <= KEPT_BYTES)
