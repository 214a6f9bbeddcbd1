"""What is run: models on sets of labelled images, with what the run may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.classifier import Classifier, Compute
from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.settings import Mode
from imagenetv2.images import Pixels

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LabelledImages:
    """A set: its images in a fixed order, and the class of each.

    Attributes:
        name: for messages, bars and columns.
        ids: a name of each image, distinct.
        true: position of each image's class among ``classes``, int64, shape (images,).
        classes: class index of each class, ascending, int64, shape (classes,).
        pixels: decoded images by position, asked for from several threads; an image that cannot be decoded
            raises InputError that names its file.
    """

    name: str
    ids: Sequence[str]
    true: Integers
    classes: Integers
    pixels: Sequence[Pixels]


@dataclass(frozen=True)
class Runnable:
    """A model that has not been loaded yet, and the preprocessing that it shares with others."""

    name: str
    cut: Cut
    load: Callable[[Compute], Classifier]


@dataclass(frozen=True)
class Task:
    """One model on one set.

    Attributes:
        model: the model.
        images: the set.
        columns: the model's output of each class of the set, shape (classes,).
        outputs: how many outputs the model must have; another number fails it.
        ledger: file of finished records, see ``ledger``; its name says what made it, so that what is there is
            gone on with.
    """

    model: Runnable
    images: LabelledImages
    columns: Integers
    outputs: int
    ledger: Path


@dataclass(frozen=True)
class Resources:
    """What a run may use.

    Attributes:
        devices: devices of PyTorch's, such as ("cpu",) or ("cuda:0", "cuda:1"); each model runs on one of them.
        cores: threads that decode; on a CPU also passes at once.
        memory: bytes of prepared images that are held.
        batch: images a forward pass on a GPU; on a CPU a pass is always ``passes.CPU_PASS`` images.
        mode, compile: see ``settings.Evaluation``.
        logits: whether all outputs are kept, as float16.
    """

    devices: tuple[str, ...] = ("cpu",)
    cores: int = 1
    memory: int = 2 * 2**30
    batch: int = 128
    mode: Mode = "reference"
    compile: bool = False
    logits: bool = False
