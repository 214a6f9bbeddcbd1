"""Accuracy on the images of some classes.

A model answered among all classes that it was asked about, here as everywhere. Answers restricted to the classes of a
subset, as ImageNet-A and -R are scored, are another question: predictions hold the first five answers only, which may
all lie outside the subset, so that it takes a run over a set of just these classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from imagenetv2.errors import InputError
from imagenetv2.evaluation.metrics.accuracy import Accuracy, accuracy
from imagenetv2.evaluation.settings import SUBSETS, WNID
from imagenetv2.testsets import timm_tables


def accuracy_on_images_of(
    ranks: npt.ArrayLike, wnids: Sequence[str], subset: Iterable[str], k: int = 1, level: float = 0.95
) -> Accuracy:
    """Top-k accuracy on the images whose class is in ``subset``; answers are not restricted to it.

    Args:
        ranks: rank of the true class of each image among all classes.
        wnids: WordNet ID of the class of each image.
        subset: WordNet IDs.
        k, level: see ``accuracy.accuracy``.

    Raises:
        ValueError: no image is of these classes.
    """
    chosen = np.isin(np.asarray(wnids, np.str_), np.asarray(sorted(set(subset)), np.str_))
    return accuracy(np.asarray(ranks, np.int64)[chosen], k, level)


def named(name: str) -> tuple[str, ...]:
    """WordNet IDs of the 200 classes of ``imagenet-a`` or ``imagenet-r``, sorted. Raises KeyError for another name."""
    known = timm_tables.imagenet_wnids()
    return tuple(sorted(known[index] for index in timm_tables.subset(SUBSETS[name])))


def read(path: Path) -> tuple[str, ...]:
    """WordNet IDs of a file, one a line; what follows on a line, empty lines and lines that begin with # don't count.

    Raises InputError that names the file and line of anything else.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read ({error}); give a text file with one WordNet ID a line."
        ) from error
    found = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not WNID.fullmatch(words[0]):
            raise InputError(
                f"{path}, line {number}: {words[0]} is no WordNet ID; write one such as n01440764 a line."
            )
        found.append(words[0])
    if not found:
        raise InputError(f"{path} names no class; write one WordNet ID a line.")
    return tuple(sorted(set(found)))


def subsets(
    listed: Mapping[str, Iterable[str]], files: Mapping[str, Path], known: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """All subsets by name, sorted: of lists (WordNet IDs, or a name that ``named`` knows) and of files.

    Args:
        listed: ``metrics.subsets`` of the configuration.
        files: ``metrics.subset_files``.
        known: WordNet IDs of all classes.

    Raises:
        InputError: a class is not among the known.
    """
    found = {
        name: tuple(
            sorted({w for entry in entries for w in (named(entry) if entry in SUBSETS else (entry,))})
        )
        for name, entries in listed.items()
    }
    found |= {name: read(path) for name, path in files.items()}
    every = set(known)
    for name, wnids in found.items():
        if strangers := [w for w in wnids if w not in every]:
            where = f"metrics.{'subset_files' if name in files else 'subsets'}.{name}"
            raise InputError(
                f"{where}: {len(strangers)} of its {len(wnids)} classes are not among those of this study, such as "
                f"{strangers[0]}; take them out."
            )
    return dict(sorted(found.items()))
