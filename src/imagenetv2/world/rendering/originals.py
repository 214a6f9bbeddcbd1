"""The original data set of the rendered world: what its own annotators let through."""

from __future__ import annotations

from dataclasses import dataclass

from imagenetv2.randomness import generator
from imagenetv2.world.rendering.difficulty import any_level, clarity
from imagenetv2.world.rendering.files import Picture
from imagenetv2.world.rendering.photograph import Scene
from imagenetv2.world.settings import People, Rendered
from imagenetv2.world.truth import of_population

ANNOTATORS = 10
MAJORITY = 6


@dataclass(frozen=True)
class Original:
    """One photograph of the original data set."""

    file: str
    split: str
    wnid: str
    picture: Picture


def originals(wnid: str, settings: Rendered, people: People, seed: int) -> list[Original]:
    """Train and validation photographs of a class.

    Candidates come from the same world and one after the other; each is kept where at least six of ten
    annotators, drawn from the same population as the workers, select it. So votes are noisy here too, and what
    is kept is easier than the pool.
    """
    rng = generator(seed, "world", "originals", wnid)
    wanted = {"train": settings.train_per_class, "val": settings.validation_per_class}
    kept: list[Original] = []
    number = 0
    for split, count in wanted.items():
        found = 0
        while found < count:
            number += 1
            factors = any_level(rng)
            chance = of_population(clarity(factors), people)
            votes = int((rng.random(ANNOTATORS) < chance).sum())
            if votes >= MAJORITY:
                found += 1
                scene = Scene(f"original/{wnid}/{number}", wnid, factors)
                kept.append(Original(f"{split}/{wnid}/{wnid}_{number}.jpg", split, wnid, Picture(scene)))
    return kept
