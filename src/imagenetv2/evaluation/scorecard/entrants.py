"""The models of a scorecard, before their weights are loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from imagenetv2.errors import InputError
from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.classifier import Facts
from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.evaluation.outputs import OUTPUTS, output_columns
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.scorecard.content import content
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.evaluation.settings import Model
from imagenetv2.libraries import NUMERICAL, version_of, versions_of
from imagenetv2.testsets import timm_tables

ALGORITHM = 1
"""Counts changes of what predictions are."""
LIBRARIES = (*NUMERICAL, "onnxruntime", "numpy")


@dataclass(frozen=True)
class Entrant:
    """A model that was found, with what is known without its weights, and a digest of its own file or code."""

    model: Model
    facts: Facts
    content: str | None = None

    @property
    def name(self) -> str:
        """In tables and as a file."""
        return self.model.name

    @cached_property
    def version(self) -> str | None:
        """Of its library; None where that is no package."""
        return self.facts.get("version") or version_of(self.facts["library"])

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """Of its input."""
        return Preprocessing.from_json(self.facts["preprocessing"])

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything about the model that its predictions depend on, as JSON values."""
        return {
            "model": self.model.model_dump(mode="json", include={"kind", "architecture", "input"}),
            "facts": self.facts,
            "version": self.version,
            "content": self.content,
        }

    def columns(self, of: Opened) -> list[int]:
        """Its output of each class of a set. Raises InputError where it does not have them."""
        outputs = int(self.facts.get("outputs") or OUTPUTS)
        indices = [int(i) for i in of.set.classes]
        return output_columns(self.name, outputs, of.set.wnids, indices, timm_tables.imagenet_wnids())


def outlined(models: Sequence[Model]) -> tuple[list[Entrant], dict[str, str]]:
    """The models that were found, and why others were not, by name."""
    found, failed = [], {}
    for model in models:
        try:
            if KINDS[model.kind].trained:
                raise InputError(
                    f"models: {model.name}: kind {model.kind} is trained by the workflow on a training split; name it "
                    "in models of a configuration, and run snakemake."
                )
            facts = classifier.outline(model)
            found.append(Entrant(model, facts, content(model)))
        except InputError as error:
            failed[model.name] = str(error)
    return found, failed


def key(entrant: Entrant, of: Opened, wanted: Wanted) -> str:
    """Names the predictions of a model on a set: 16 hex digits of a SHA-256 over everything that makes them.

    Not the device: in mode reference it does not matter beyond the last digits, and what was computed on a GPU is
    to be found on a machine that has none.
    """
    made_of = {
        "algorithm": ALGORITHM,
        "identity": entrant.identity,
        "set": [of.set.digest, of.content],
        "mode": wanted.mode,
        "compile": wanted.compile,
        "libraries": versions_of(),
    }
    text = json.dumps(made_of, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
