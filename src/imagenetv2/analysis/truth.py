"""The true selection frequency of images, where an embedded world knows it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.sources import Sources, World
from imagenetv2.world.truth import DEFAULT

Floats = npt.NDArray[np.float64]


def files(reference: pd.DataFrame, candidates: pd.DataFrame, photos: pd.DataFrame) -> pd.DataFrame:
    """The world's file of every image: ``origin`` (reference, candidates), ``image_id``, ``wnid``, ``file``.

    A candidate's file is that of the photograph that stands for its pixels; a reference image's is the file
    that it was read from.
    """
    old = reference[["image_id", "wnid", "source_file"]].rename(columns={"source_file": "file"})
    new = candidates[["image_id", "wnid", "photo_id"]].merge(
        photos[["photo_id", "file"]], on="photo_id", how="left", validate="many_to_one"
    )
    return pd.concat(
        [
            old.drop_duplicates(["image_id", "wnid"]).assign(origin="reference"),
            new[["image_id", "wnid", "file"]].assign(origin="candidates"),
        ],
        ignore_index=True,
    )


def probabilities(images: pd.DataFrame, origin: str, sources: Sources) -> Floats | None:
    """True selection frequency of ``images`` (``image_id``, ``wnid``) for their class, in their order.

    A pair of photograph and class that the world does not list is one that nobody would select: it has the
    world's default. Returns None where no world knows the truth.
    """
    if sources.world is None:
        return None
    known = files(sources.reference, sources.candidates, sources.world.photos)
    return lookup(images, known[known["origin"] == origin], sources.world)


def lookup(images: pd.DataFrame, known: pd.DataFrame, world: World) -> Floats:
    """Join images to their files and these to the truth: float64, shape (images,)."""
    table = world.truth[["file", "wnid", "probability"]]
    found = (
        images[["image_id", "wnid"]]
        .merge(known[["image_id", "wnid", "file"]], on=["image_id", "wnid"], how="left")
        .merge(table, on=["file", "wnid"], how="left", validate="many_to_one")
    )
    out: Floats = found["probability"].fillna(DEFAULT).to_numpy(np.float64)
    return out
