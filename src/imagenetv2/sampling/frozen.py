"""The gate before evaluation: no classifier touches a set that is still under review."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError

SHOWN = 3
"""Reasons named in the error; the rest is counted."""


def digest(pairs: Iterable[tuple[str, str]]) -> str:
    """SHA-256, in hex, of a set's sorted list of ``<wnid>/<image_id>`` lines."""
    lines = sorted(f"{wnid}/{image_id}\n" for wnid, image_id in pairs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def require_frozen(artifact: Artifact) -> dict[str, Any]:
    """The content of ``freeze.json`` of a ``datasets/<rule>`` artifact whose set is frozen.

    Raises InputError where it is not frozen, naming what stands against it and what to do, and where the
    images beside it are not those that were frozen.
    """
    freeze: dict[str, Any] = artifact.json("freeze.json")
    if not freeze["frozen"]:
        blocked = [str(reason) for reason in freeze["blocked"]]
        more = f"; and {len(blocked) - SHOWN} more" if len(blocked) > SHOWN else ""
        raise InputError(
            f"{artifact.folder / 'freeze.json'}: revision {freeze['revision']} of this set is not frozen, so no "
            f"model may see it: {'; '.join(blocked[:SHOWN])}{more}; {freeze['remedy']}"
        )
    images = artifact.table("images")
    found = digest(zip(images["wnid"], images["image_id"], strict=True))
    if found != freeze["digest"]:
        raise InputError(
            f"{artifact.folder / 'images.parquet'}: its images have the digest {found[:10]}, not "
            f"{freeze['digest'][:10]} as frozen; delete the folder and run snakemake."
        )
    return freeze
