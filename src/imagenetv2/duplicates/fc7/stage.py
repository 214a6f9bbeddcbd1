"""The stage ``neighbours/fc7``."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from imagenetv2.duplicates import stage
from imagenetv2.duplicates.budget import GB, Needs
from imagenetv2.duplicates.fc7.features import extract
from imagenetv2.duplicates.fc7.network import BATCH, Embedding, embedding
from imagenetv2.duplicates.fc7.untrained import untrained
from imagenetv2.duplicates.recipe import Pictures, Recipe
from imagenetv2.duplicates.settings import Features
from imagenetv2.duplicates.shares import Shares
from imagenetv2.duplicates.squashed import SHARD, readable
from imagenetv2.duplicates.stored import Stored
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.job import Job
from imagenetv2.pooling import slices, threaded
from imagenetv2.progress import Bar, bar

ACTIVATIONS = 64 * 4 * 3
"""Bytes a pixel of the input while a network runs: two maps of 64 channels at full size, and some."""


class Activations(Recipe[Features]):
    """Squared distance of a network's features, against all images."""

    metric = "fc7"
    section = Features
    together = BATCH

    def __init__(self, *, trained: bool = True) -> None:
        self._trained = trained
        self._network: tuple[Features, str, Embedding, int] | None = None

    def network(self, settings: Features, device: str) -> tuple[Embedding, int]:
        """The function from pixels to features and their number; loaded once."""
        if self._network is None or self._network[:2] != (settings, device):
            network = None if self._trained else untrained(settings)
            self._network = (settings, device, *embedding(settings, device, network))
        return self._network[2:]

    def shares(self, lower: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> Shares:
        """Features of an untrained network are all alike; those of a trained one differ by far more than rounding."""
        return Shares.of(lower, estimate) if self._trained else Shares.tight(lower, estimate)

    def rehearsal(self) -> Activations:
        """With arbitrary weights, which take as long and need not be fetched."""
        return Activations(trained=False)

    def width(self, settings: Features, device: str) -> int:
        """Bytes of an image's features."""
        return 4 * self.network(settings, device)[1]

    def operations(self, settings: Features, width: int) -> float:
        """Three a feature: difference, square, sum."""
        return 3.0 * width / 4

    def usual(self, settings: Features) -> float:
        """Most of it for the network."""
        return super().usual(settings) + 3e-6 * (settings.input or settings.side) ** 2

    def needs(self, settings: Features, width: int) -> Needs:
        """Norms are kept; the features of a tile are gathered, and maybe laid out anew for the matrix product."""
        return Needs(kept=40, image=2 * width, pair=8, exact=32)

    def values(
        self, pictures: Pictures, settings: Features, device: str
    ) -> tuple[npt.NDArray[np.float32], dict[int, str]]:
        """Features: images × features. They lie in a file as soon as a shard is finished."""
        passes = self.at_once(settings, pictures)
        run, width = self.network(settings, device)
        name, shape = f"features-{device}", (pictures.count, width)  # of which no two devices make the same
        store = Stored(pictures.folder, name, shape, np.float32, 0, fixed=pictures.fixed)
        shards = list(slices(pictures.count, SHARD))
        notes = {shard.start: store.note(shard) for shard in shards}
        missing = {shard.stop: shard for shard in shards if notes[shard.start] is None}
        with bar(f"{self.metric} features", pictures.count) as shown:
            shown.update(pictures.count - sum(shard.stop - shard.start for shard in missing.values()))
            batches = _batches(pictures, settings.side, missing.values(), notes, shown)
            for place, features in extract(batches, run, passes):
                store.put(place.start, features)
                if place.stop in missing:
                    shard = missing[place.stop]
                    store.finish(shard, notes[shard.start])
        unreadable = {int(i): why for shard in shards for i, why in notes[shard.start].items()}
        return store.array(), unreadable

    def at_once(self, settings: Features, pictures: Pictures) -> int:
        """Passes through the network beside each other: as many as there are cores and memory for.

        Raises InputError where the memory is too little for one.
        """
        size = settings.input or settings.side
        one = 2 * BATCH * size**2 * ACTIVATIONS
        if pictures.memory < one:
            raise InputError(
                f"neighbours.search.memory of {pictures.memory / GB:g} GB is too little for {self.metric}: {BATCH} "
                f"images of {size} × {size} pixels go through the network at once, which needs at least "
                f"{one / GB:.2f} GB; raise it, or make neighbours.fc7.{'input' if settings.input else 'side'} smaller."
            )
        return min(pictures.cores, pictures.memory // one)

    def release(self) -> None:
        """Let go of the network."""
        self._network = None
        gc.collect()  # hooks of a network refer to it
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _batches(
    pictures: Pictures, side: int, shards: Iterable[slice], notes: dict[int, Any], shown: Bar
) -> Iterator[tuple[slice, Pixels]]:
    """Squashed pictures of some shards, BATCH or fewer at once, with their places; unreadable ones are black.

    Why they can't be read goes into ``notes``, by the start of the shard.
    """
    given = list(shards)
    indices = (index for shard in given for index in range(shard.start, shard.stop))
    found = threaded(lambda index: readable(pictures.picture, index, side), indices, pictures.cores)
    for shard in given:
        unreadable = notes[shard.start] = {}
        for start in range(shard.start, shard.stop, BATCH):
            place = slice(start, min(start + BATCH, shard.stop))
            pixels = np.zeros((place.stop - start, side, side, 3), np.uint8)
            for i in range(len(pixels)):
                picture = next(found)
                if isinstance(picture, str):
                    unreadable[str(start + i)] = picture
                else:
                    pixels[i] = picture
                shown.update()
            yield place, pixels


RECIPE = Activations()


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among originals and other candidates."""
    stage.run(job, RECIPE)
