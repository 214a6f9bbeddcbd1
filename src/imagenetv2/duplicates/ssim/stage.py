"""The stage ``neighbours/ssim``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates import budget, stage
from imagenetv2.duplicates.budget import Needs
from imagenetv2.duplicates.collection import Collection
from imagenetv2.duplicates.engine import Engine
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.duplicates.recipe import Compared, Counts, Recipe, Searches
from imagenetv2.duplicates.search import Plan, Skipped
from imagenetv2.duplicates.settings import Structure
from imagenetv2.duplicates.ssim.groups import SHARED, Groups, groups, near, search_groups
from imagenetv2.duplicates.work import Work
from imagenetv2.errors import InputError
from imagenetv2.job import Job


class Structural(Recipe[Structure]):
    """Structural dissimilarity, within a class and its WordNet-nearest ones."""

    metric = "ssim"
    section = Structure

    def check(self, settings: Structure) -> None:
        """The window has to fit the image."""
        if settings.window > settings.side:
            raise InputError(
                f"neighbours.ssim.window of {settings.window} does not fit images of neighbours.ssim.side "
                f"{settings.side}; make the window smaller or the side larger."
            )

    def supposed(self, settings: Structure, counts: Counts) -> list[Searches]:
        """Were classes of one size."""
        train = (counts.references - counts.held_out) / counts.classes
        others = train * min(1 + settings.classes, counts.classes)
        if not settings.everything:
            others += counts.candidates / counts.classes
        own = Searches(round(counts.candidates * others), counts.classes)
        shared = Searches(counts.candidates * (counts.candidates + counts.held_out))
        return [shared, own] if settings.everything else [own]

    def operations(self, settings: Structure, width: int) -> float:
        """With running sums: five a pixel for the products, twelve a place of the window."""
        return 3.0 * (5 * settings.side**2 + 12 * (settings.side - settings.window + 1) ** 2)

    def engine(
        self,
        values: npt.NDArray[np.uint8],
        settings: Structure,
        device: str,
        room: int = budget.MOST_ROOM,
    ) -> Engine:
        """With the window."""
        options = {"memory": room} if device == "cpu" else {}
        return self.made(device, values, settings.window, **options)

    def needs(self, settings: Structure, width: int) -> Needs:
        """The rest is what the engine is told that it may keep."""
        return Needs(exact=160, lists=2 if settings.everything else 1)

    def groups(self, job: Job, settings: Structure, images: Collection) -> Groups:
        """Candidates of a class, and whom they are compared with."""
        return groups(
            images,
            job.read("reference").table("reference"),
            job.read("candidates").table("candidates"),
            near(job.read("classes").table("classes"), settings.classes),
            everything=settings.everything,
        )

    def searches(self, groups: Groups, images: Collection) -> list[Searches]:
        """What all candidates share, and what is compared class by class."""
        pairs = [(group.name == SHARED, len(group.rows) * len(group.references)) for group in groups]
        kinds = ([size for shared, size in pairs if shared is kind] for kind in (True, False))
        return [Searches(sum(sizes), len(sizes)) for sizes in kinds if sizes]

    def search(
        self, engine: Engine, compared: Compared, groups: Groups, plan: Plan, work: Work
    ) -> tuple[Pairs, Skipped]:
        """What all candidates share, then class by class, among the images that could be read."""
        left_out = np.ones(len(compared.images.ids), dtype=bool)
        left_out[compared.columns] = False
        return search_groups(engine, groups.without(left_out), compared.excluded, plan, work)


RECIPE = Structural()


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among its own references."""
    stage.run(job, RECIPE)
