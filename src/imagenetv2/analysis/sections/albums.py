"""The sets as pictures, class by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.pictures import Album
from imagenetv2.randomness import generator

SIDE = 96


def some_classes(classes: pd.DataFrame, wanted: int, seed: int) -> pd.DataFrame:
    """All classes, or a seeded sample of so many, in the order of the class index."""
    ordered = classes.sort_values("class_index", ignore_index=True)
    if len(ordered) <= wanted:
        return ordered
    picked = generator(seed, "report", "classes").permutation(len(ordered))[:wanted]
    return ordered.iloc[sorted(picked)].reset_index(drop=True)


def some_images(images: pd.DataFrame, wanted: int, seed: int, *names: str) -> pd.DataFrame:
    """A seeded sample of a class's images, those with the highest frequency first."""
    ordered = images.sort_values("image_id", ignore_index=True)
    picked = generator(seed, "report", "images", *names).permutation(len(ordered))[:wanted]
    return ordered.iloc[picked].sort_values(
        ["frequency", "image_id"], ascending=[False, True], ignore_index=True
    )


def albums(
    classes: pd.DataFrame,
    sets: Mapping[str, pd.DataFrame],
    names: Mapping[str, str],
    shown: Mapping[str, Series],
    examples: int,
    album: Album,
    seed: int,
) -> list[dict[str, Any]]:
    """One entry a class with a row of pictures a set; ``sets`` have image_id, wnid and frequency.

    ``shown`` says how sets are shown.
    """
    found = []
    for c in classes.to_dict("records"):
        rows = []
        for name, one in shown.items():
            mine = sets[name][sets[name]["wnid"] == c["wnid"]]
            origin = "reference" if name == "original" else "candidates"
            some = some_images(mine, examples, seed, name, c["wnid"])
            pictures = [
                {
                    "src": album.picture(origin, image_id, SIDE),
                    "frequency": float(frequency),
                    "votes": f"{selected} of {votes}",
                }
                for image_id, frequency, selected, votes in zip(
                    some["image_id"], some["frequency"], some["selected"], some["shown"], strict=True
                )
            ]
            rows.append({"css": one.css, "label": one.label, "images": len(mine), "pictures": pictures})
        found.append(
            {
                "name": names[c["wnid"]], "wnid": c["wnid"], "definition": c["definition"], "rows": rows,
            }
        )  # fmt: skip
    return found
