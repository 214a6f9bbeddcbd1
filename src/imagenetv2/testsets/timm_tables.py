"""Tables about ImageNet that timm carries, read without importing timm, which would import PyTorch."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from imagenetv2.errors import InputError


def text(name: str) -> str:
    """The text of ``timm/data/_info/<name>``. Raises InputError where this timm has no such file."""
    spec = find_spec("timm")
    for place in (spec.submodule_search_locations if spec else None) or ():
        path = Path(place) / "data/_info" / name
        if path.is_file():
            return path.read_text("utf-8")
    raise InputError(f"timm: the installed package has no data/_info/{name}; install timm 1.0.9 or later.")


@lru_cache(maxsize=1)
def imagenet_wnids() -> tuple[str, ...]:
    """ImageNet's 1,000 WordNet IDs in the order of the usual class index."""
    return tuple(text("imagenet_synsets.txt").split())


@lru_cache(maxsize=1)
def imagenet_words() -> tuple[str, ...]:
    """The synonyms of each class, separated by commas, in the order of the class index."""
    lines = (line.split("\t", 1) for line in text("imagenet_synset_to_lemma.txt").splitlines())
    words = {wnid: said.strip() for wnid, said in lines}
    return tuple(words[wnid] for wnid in imagenet_wnids())


@lru_cache(maxsize=2)
def subset(name: str) -> tuple[int, ...]:
    """Class indices of ImageNet-A (``imagenet_a``) or ImageNet-R (``imagenet_r``), ascending."""
    return tuple(sorted(int(line) for line in text(f"{name}_indices.txt").split()))


@lru_cache(maxsize=1)
def real_labels() -> tuple[tuple[int, ...], ...]:
    """ReaL labels (Beyer et al., 2020): the class indices that fit validation image n, at n − 1; maybe none."""
    return tuple(tuple(labels) for labels in json.loads(text("imagenet_real_labels.json")))
