"""EfficientNet-Lite on the photographs, by the runner; as a program, to be killed: FOLDER OF PACKS, FOLDER OF LEDGERS."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imagenetv2.benchmark.settings import Images
from imagenetv2.evaluation.classifier import Classifier, Compute, load, outline
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable, Task
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels, decode
from tests.unit.direct_torch import WNIDS, photographs

KINDS = ("lite0", "lite1", "lite2")


class Files(Sequence[Pixels]):
    """Photographs; counts what is decoded."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files, self.decoded = files, list[int]()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.decoded.append(index)
        return decode(self._files[index].read_bytes(), Images(mode="raw")).pixels


def labelled(files: Sequence[Path]) -> LabelledImages:
    true = np.array([WNIDS.index(file.name.partition("_")[0]) for file in files])
    return LabelledImages("photos", [file.name for file in files], true, np.arange(1000), Files(files))


def runnable(kind: str) -> Runnable:
    model = Model(name=kind, kind=kind)
    facts = outline(model)

    def loaded(_: Compute) -> Classifier:
        # On the CPU, whatever device is pretended.
        return load(model, facts, {}, Compute())

    return Runnable(kind, Preprocessing.from_json(facts["preprocessing"]).cut, loaded)


def tasks(folder: Path, of: LabelledImages, kinds: Sequence[str] = KINDS) -> list[Task]:
    return [Task(runnable(kind), of, np.arange(1000), 1000, folder / f"{kind}.records") for kind in kinds]


def chosen(packs: Path) -> Sequence[Path]:
    """Every fourth photograph."""
    return photographs(packs)[::4]


def main() -> None:
    of = labelled(chosen(Path(sys.argv[1])))
    run(tasks(Path(sys.argv[2]), of), Resources(), logging.getLogger())


if __name__ == "__main__":
    main()
