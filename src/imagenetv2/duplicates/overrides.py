"""Images that somebody wants to be kept of their components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from imagenetv2.errors import InputError

REMEDY = "correct or remove it"


def overrides(
    wanted: Mapping[str, str], members: Iterable[list[str]], candidates: Set[str]
) -> dict[str, str]:
    """The image to be kept of each component that has one, by the component's smallest image_id.

    Args:
        wanted: ``duplicates.override``: an image of the component to the image to be kept.
        members: images of each component, ascending.
        candidates: image_ids of the pool.

    Raises:
        InputError: an image that is in no component, one to be kept that is no candidate, or two images that are not
            in one component, or two to be kept of one.
    """
    of = {image: images[0] for images in members for image in images} if wanted else {}
    found: dict[str, str] = {}
    for image, kept in wanted.items():
        field = f"duplicates.override.{image}"
        if image not in of:
            raise InputError(f"{field}: {image} is no candidate and near none; {REMEDY}.")
        if kept not in candidates:
            raise InputError(f"{field}: {kept} is no candidate, so it can't be kept; {REMEDY}.")
        if of[image] != of[kept]:
            raise InputError(
                f"{field}: {kept} is not in one component with {image}; {REMEDY}, or have the pairs between them judged "
                "near-duplicates."
            )
        if found.setdefault(of[image], kept) != kept:
            raise InputError(
                f"{field}: {kept} is to be kept and so is {found[of[image]]} of the same component; {REMEDY}."
            )
    return found
