"""The study's networks (Recht et al. 2019, arXiv 1902.10811), which of them are still to be had, and its numbers.

``published.csv`` has one row a model. How many images are right is counted from the released record
(modestyachts/ImageNetV2, ``data/predictions``; see ``from_record``), after the one fault in it that changes a number
is corrected. ``name`` is the record's, which the paper's tables print too. What stands beside was put together from

- the record's ``code/eval.py``: which networks came from torchvision and which from Cadene's pretrainedmodels, that
  dpn68b, dpn92 and dpn107 had the weights ``imagenet+5k``, and how images were cut: those of torchvision 256 to 224
  (inception_v3 299 to 299), the others as pretrainedmodels' ``TransformImage`` does, which brings the shorter side to
  size / 0.875, rounded down, bilinearly. Where that is not what the library does today, ``model`` has options.
- the registries of torchvision and timm, which say where weights come from; that torchvision's GoogLeNet has
  TF-Slim's weights: pytorch/vision#821 and #2634; timm's inception_v3.tf_in1k: pytorch/vision#926.

The evaluation of the models of TF-Slim was not released. Its own evaluation cuts the middle 87.5 % of height and width
and squashes that to a square, which the libraries do not do: their numbers are near, and not the same.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from imagenetv2.errors import InputError
from imagenetv2.evaluation.names.spec import parse
from imagenetv2.evaluation.settings import Input, Model

if TYPE_CHECKING:
    import pandas as pd

    from imagenetv2.analysis.sampled_lines import Sampled

Floats = npt.NDArray[np.float64]
IMAGES = {"original": 50_000, "matched_frequency": 10_000, "threshold": 10_000, "top_images": 10_000}
"""The sets and how many images each has."""
SAME, OTHER_INPUT, ANEW = "same weights", "same weights, other input", "same architecture, trained anew"
"""What ``relation`` says of the study's network and ``model``; empty where nobody carries even the architecture."""
FISHER = "Fisher vectors"
"""The family that is no network; lines are fitted on the others."""
FACTS = ("name", "family", "source", "model", "relation", "remark")
COUNTS = tuple(f"{name}_top{k}" for name in IMAGES for k in (1, 5))
COLUMNS = (*FACTS, *COUNTS)


@dataclass(frozen=True)
class Row:
    """One model of the study.

    Attributes:
        name: the record's and the paper's.
        family: of architectures; Fisher vectors are no networks.
        source: torchvision, pretrainedmodels, TF-Slim or baseline.
        model: what to write to evaluate it, or what is nearest to it; empty where nothing is.
        relation: of ``model`` to the study's, one of the constants of this module.
        remark: what else is to know.
        right: images whose class is among the first k, by set and k (1 or 5).
    """

    name: str
    family: str
    source: str
    model: str
    relation: str
    remark: str
    right: Mapping[tuple[str, int], int]

    def accuracy(self, name: str, k: int = 1) -> float:
        """Percent."""
        return 100 * self.right[name, k] / IMAGES[name]

    @property
    def network(self) -> str:
        """``model`` without options."""
        return self.model.partition("?")[0]


@dataclass(frozen=True)
class Known:
    """A model that the study evaluated, with its numbers there.

    Attributes:
        row: the study's.
        same_input: whether it sees what the study's saw, so that its numbers should be the same up to rounding errors
            of arithmetic (a few images in 50,000), and not only near.
    """

    row: Row
    same_input: bool


@cache
def rows() -> tuple[Row, ...]:
    """All 67 models, sorted by name."""
    text = files(__package__).joinpath("published.csv").read_text("utf-8")
    return tuple(_row(entry) for entry in csv.DictReader(text.splitlines()))


def _row(entry: Mapping[str, str]) -> Row:
    right = {(name, k): int(entry[f"{name}_top{k}"]) for name in IMAGES for k in (1, 5)}
    return Row(**{key: entry[key] for key in FACTS}, right=right)


def models() -> pd.DataFrame:
    """All 67 models as a table with the columns of ``published.csv``; counts are int64."""
    import pandas as pd

    table = [
        [getattr(r, f) for f in FACTS] + [r.right[name, k] for name in IMAGES for k in (1, 5)] for r in rows()
    ]
    return pd.DataFrame(table, columns=list(COLUMNS)).astype(dict.fromkeys(COUNTS, "int64"))


def networks() -> tuple[Row, ...]:
    """The 64 networks, without the Fisher vectors."""
    return tuple(r for r in rows() if r.family != FISHER)


def preset() -> Iterator[Model]:
    """Networks whose weights torchvision or timm carries, under the study's names and with its input where it is known.

    Weights that the study has twice, once as TF-Slim's and once converted for PyTorch, come once.
    """
    own = {r.network for r in rows() if r.relation == SAME}
    for row in rows():
        if row.relation == SAME or (row.relation == OTHER_INPUT and row.network not in own):
            yield _model(row)


def known(model: Model) -> Known | None:
    """What the study found of a model's weights; None for one that it did not have.

    A file of weights may hold any, and an input that was asked for may be any, so the first is never known, and the
    second only where it is the study's. Of several rows with the same weights that of the same input counts, then that
    of the released evaluation. The library may be imported, to see what its own input is.
    """
    if model.weights is not None:
        return None
    network = f"{model.kind}:{model.architecture}"
    found = [r for r in rows() if r.relation in (SAME, OTHER_INPUT) and r.network == network]
    if not found:
        return None
    same = [r for r in found if r.relation == SAME]
    exact = [r for r in same if _same_input(_model(r), model)]
    if exact:
        return Known(exact[0], True)
    return Known((same or found)[0], False) if model.input == Input() else None


def _same_input(study: Model, model: Model) -> bool:
    if study.input == model.input:
        return True
    from imagenetv2.evaluation.classifier import outline

    try:
        return bool(outline(study)["preprocessing"] == outline(model)["preprocessing"])
    except InputError:  # another release of the library, without the network
        return False


def points(name: str, k: int = 1) -> tuple[Floats, Floats]:
    """Accuracies of the 64 networks on the original and on a new set, percent, float64, shape (64,) each."""
    pairs = [(r.accuracy("original", k), r.accuracy(name, k)) for r in networks()]
    x, y = np.array(pairs).T
    return x, y


def line(name: str, samples: int = 20_000, k: int = 1) -> Sampled:
    """The least squares line of a new set's accuracy on the original, in percent, through the 64 networks.

    The paper prints it for MatchedFrequency as 1.11 · x − 20.2, with an interval of the slope over models of
    [1.07, 1.19]; see ``analysis.sampled_lines.paper``. The numbers here are not rounded.

    Args:
        name: of a new set.
        samples: lines through resamples of the networks, from the same random numbers every time.
        k: accuracy among the first 1 or 5.
    """
    from imagenetv2.analysis.sampled_lines import of_points
    from imagenetv2.randomness import generator

    return of_points(*points(name, k), samples, generator(0, "published", "line", name, k))


def _model(row: Row) -> Model:
    spec = parse(row.model)
    return Model(
        name=row.name, kind=spec.kind, architecture=spec.target, input=spec.input, family=row.family.lower()
    )
