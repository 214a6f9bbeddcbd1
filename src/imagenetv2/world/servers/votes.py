"""What a worker answers about a photograph: always the same, whenever and however often they are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imagenetv2.randomness import generator, uniform
from imagenetv2.world.settings import People
from imagenetv2.world.truth import CARELESS_TICKS, careless_workers, of_careful, probability

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd


@dataclass(frozen=True)
class Pool:
    """The workers: numbers from 0, some of them careless.

    ``probability`` gives the mean over the pool for a file and wnid. ``judgements`` are recorded votes by file and
    wnid; where a world has any, every answer is one of them and a pair without was chosen by nobody.
    """

    seed: int
    people: People
    probability: Callable[[str, str], float]
    judgements: Mapping[tuple[str, str], Sequence[int]]
    careless: frozenset[int]

    def chosen(self, token: str, places: int) -> list[int]:
        """The distinct workers who take a task, in order; all of them where there are more places."""
        order = generator(self.seed, "world", "workers", token).permutation(self.people.workers)
        return [int(number) for number in order[:places]]

    def selects(self, worker: int, file: str, wnid: str) -> bool:
        """Whether the worker ticks the photograph when asked about the class.

        Recorded votes are drawn without replacement: worker ``w`` answers the w-th of them; a world has no more
        workers than votes on any photograph.
        """
        if self.judgements:
            recorded = self.judgements.get((file, wnid))
            return recorded is not None and bool(recorded[worker])
        if worker in self.careless:
            limit = CARELESS_TICKS
        else:
            limit = of_careful(self.probability(file, wnid), self.people)
        return uniform(self.seed, "vote", worker, file, wnid) < limit


def pool(seed: int, people: People, truth: pd.DataFrame) -> Pool:
    """The workers of a world, from its table of truth."""
    keys = zip(truth["file"], truth["wnid"], strict=True)
    judgements = {
        key: bytes(int(v) for v in votes)
        for key, votes in zip(keys, truth["judgements"], strict=True)
        if votes is not None and len(votes)
    }
    order = generator(seed, "world", "careless").permutation(people.workers)
    careless = frozenset(int(number) for number in order[: careless_workers(people)])
    return Pool(seed, people, probability(truth), judgements, careless)
