"""A test set that passed its gates: images by position, their names, and the class of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from imagenetv2.images import Pixels

Integers = npt.NDArray[np.int64]


class Files(Protocol):
    """Encoded images by position; read from several threads at once."""

    @property
    def state(self) -> str:
        """See ``TestSet``."""
        ...

    def __len__(self) -> int: ...

    def name(self, index: int) -> str:
        """The file as a person finds it: with the folder or archive that holds it."""
        ...

    def data(self, index: int) -> bytes:
        """The file's bytes. Raises InputError that names it where it cannot be read."""
        ...

    def sha256(self, index: int) -> str | None:
        """What a manifest beside the set says of it, in hex; None where there is none."""
        ...


@dataclass(frozen=True)
class TestSet:
    """A labelled test set.

    Attributes:
        name: as shown: the folder's or archive's, or the official set's.
        layout: how it was stored, in words: class folders by index, class folders by WordNet ID, flat with the
            development kit, Parquet, a frozen set of this pipeline; and in which archive.
        known: the published set that it is a copy of, such as imagenet-val, imagenetv2-matched-frequency,
            imagenetv2-threshold-0.7, imagenetv2-top-images, imagenet-a, imagenet-r; None for any other. A part of
            one keeps its name, and has remarks.
        ids: ``<WordNet ID>/<name of the file>``, distinct, whatever the layout; sorted, but for Parquet files,
            whose images are in the order of their rows, since they are read row group by row group.
        labels: class index of each image, int64, shape (images,).
        classes: class indices that the set is about, ascending, int64; 200 for ImageNet-A, and 1,000 where only a
            part of ImageNet's validation images is there.
        wnids: WordNet ID of each of ``classes``.
        digest: SHA-256, in hex, over ids, sizes and labels of the images: enough for a name, but files of other
            content with the same sizes have the same; what is in them, only ``checking.check_files`` tells.
        remarks: what a reader of the result must know, such as that only 100 of 1,000 classes are there; empty
            where everything is as published. A set with remarks is not comparable with published numbers.
        pixels: decoded images by position; an image that cannot be decoded raises InputError that names it.
        recognised: how it was told that this is the published set: by its archive's SHA-256, by the names of its
            images, or by names and counts only, in which case other images may hide behind them; empty where
            ``known`` is None.
        state: SHA-256, in hex, over sizes and times of change of the files or archives that hold the set: as long
            as it is the same, nothing was written to them.
    """

    __test__ = False  # its name is like that of a class of tests

    name: str
    layout: str
    known: str | None
    ids: tuple[str, ...]
    labels: Integers
    classes: Integers
    wnids: tuple[str, ...]
    digest: str
    remarks: tuple[str, ...]
    pixels: Sequence[Pixels]
    recognised: str = ""
    state: str = ""
