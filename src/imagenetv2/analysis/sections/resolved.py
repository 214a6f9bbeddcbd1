"""What became of the components of near-duplicates, in images."""

from __future__ import annotations

import pandas as pd

FATES = ("free", "kept", "dropped", "unreviewed")


def resolved(fates: pd.DataFrame) -> dict[str, int]:
    """Counts of images of the pool, each once however many classes it was found for.

    ``kept`` were chosen of a component of two images or more, ``one_class`` are alone in theirs and were kept for one of
    the classes that they were found for. ``dropped`` are kept for no class, ``unreviewed`` wait for a verdict.
    """
    images = fates.groupby("component")["image_id"].nunique()
    several = fates["component"].map(images).where(fates["component"] != "", 1) > 1
    of_fate = {fate: set(fates.loc[fates["fate"] == fate, "image_id"]) for fate in FATES}
    kept = fates["fate"] == "kept"
    left = of_fate["free"] | of_fate["kept"] | of_fate["unreviewed"]
    return {
        "kept": fates.loc[kept & several, "image_id"].nunique(),
        "one_class": fates.loc[kept & ~several, "image_id"].nunique(),
        "dropped": len(of_fate["dropped"] - left),
        "unreviewed": len(of_fate["unreviewed"]),
    }
