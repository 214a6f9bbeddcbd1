"""The stage ``neighbours/l2``."""

from __future__ import annotations

from imagenetv2.duplicates import stage
from imagenetv2.duplicates.budget import Needs
from imagenetv2.duplicates.l2.dense import BLOCK
from imagenetv2.duplicates.recipe import Recipe
from imagenetv2.duplicates.settings import Pixels
from imagenetv2.job import Job


class Squared(Recipe[Pixels]):
    """Squared distance of pixels, against all images."""

    metric = "l2"
    section = Pixels

    def needs(self, settings: Pixels, width: int) -> Needs:
        """Thumbnails are kept; those of a tile, and strips of images that are compared densely, are widened."""
        return Needs(kept=1300, image=4000, exact=80, distinct=6 * BLOCK)


RECIPE = Squared()


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among originals and other candidates."""
    stage.run(job, RECIPE)
