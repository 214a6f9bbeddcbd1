"""What the near-duplicate stage marked for a second look, as pictures."""

from __future__ import annotations

from typing import Any

import pandas as pd

from imagenetv2.analysis.pictures import Album

SIDE = 72
COMPONENTS = 4
"""Components shown; the largest."""
PICTURES = 12
"""Pictures shown of each, and of the flat images."""


def flagged(fates: pd.DataFrame, pairs: pd.DataFrame, album: Album) -> dict[str, Any]:
    """Large components and flat images with some of their pictures, and how many lists and pairs are marked."""
    flags = fates.assign(one=fates["flags"]).explode("one")
    large = fates[fates["image_id"].isin(flags.loc[flags["one"] == "large_component", "image_id"])]
    images = (
        large[large["component"] != ""].groupby("component")["image_id"].agg(lambda ids: sorted(set(ids)))
    )
    ordered = sorted(images.items(), key=lambda item: (-len(item[1]), str(item[0])))
    flat = sorted(set(flags.loc[flags["one"] == "flat", "image_id"]))
    kept = set(fates.loc[fates["fate"] == "kept", "image_id"])
    return {
        "components": [
            {
                "name": name,
                "images": len(members),
                "kept": next((image for image in members if image in kept), None),
                "pictures": _pictures(members, album),
            }
            for name, members in ordered[:COMPONENTS]
        ],
        "large": len(ordered),
        "flat": {"images": len(flat), "pictures": _pictures(flat, album)},
        "truncated": flags.loc[flags["one"] == "truncated", "image_id"].nunique(),
        "disagree": sum("disagree" in marks for marks in pairs["flags"]),
    }


def _pictures(images: list[str], album: Album) -> list[dict[str, str]]:
    return [{"id": image, "src": album.picture("candidates", image, SIDE)} for image in images[:PICTURES]]
