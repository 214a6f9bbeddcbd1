"""Which output of a network is which class."""

from __future__ import annotations

from collections.abc import Sequence

from imagenetv2.errors import InputError

OUTPUTS = 1000
"""Of a network pretrained on ImageNet-1k."""


def output_columns(
    model: str, outputs: int, wnids: Sequence[str], indices: Sequence[int], known: Sequence[str]
) -> list[int]:
    """The output of each class, for a network pretrained on ImageNet's 1,000 classes.

    Args:
        model: its name, for errors.
        outputs: how many outputs it has.
        wnids: WordNet IDs of the classes, in the order of their class index.
        indices: class index of each.
        known: ImageNet's WordNet IDs in the order of the network's outputs.

    Raises:
        InputError: the network has other outputs, a class is not ImageNet's, or the table is ImageNet's whole
            but in another order.
    """
    if outputs != len(known):
        raise InputError(
            f"models: {model}: it has {outputs} outputs, not ImageNet's {len(known)}; choose weights that were "
            "tuned on ImageNet-1k."
        )
    places = {wnid: place for place, wnid in enumerate(known)}
    strangers = [wnid for wnid in wnids if wnid not in places]
    if strangers:
        raise InputError(
            f"models: {model}: it was trained on ImageNet's classes, but {len(strangers)} of the {len(wnids)} "
            f"classes are not among them, such as {strangers[0]}; take the model out, or use a kind that is "
            "trained here."
        )
    columns = [places[wnid] for wnid in wnids]
    if len(columns) == len(known) and columns != list(indices):
        first = next(i for i, column in enumerate(columns) if column != indices[i])
        raise InputError(
            f"classes: {wnids[first]} has class index {indices[first]} but is output {columns[first]} of {model}; "
            "set classes.table to timm:imagenet-1k."
        )
    return columns
