"""The tables of a plan that an explanation is made from; those that are not made yet are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from imagenetv2.artifacts import Artifact, is_complete
from imagenetv2.duplicates.explain.lookup import Known
from imagenetv2.duplicates.stages import enabled
from imagenetv2.errors import InputError
from imagenetv2.plan import Plan
from imagenetv2.sampling.plan import TABLES, plan_from
from imagenetv2.sampling.plan import Plan as Sampling
from imagenetv2.sampling.stages import RULES


@dataclass(frozen=True)
class Study:
    """A plan whose artifacts are read as they are asked for, each once."""

    plan: Plan
    _read: dict[tuple[str, str], pd.DataFrame | None] = field(default_factory=dict)
    _sampling: dict[str, Sampling | None] = field(default_factory=dict)

    def table(self, stage: str, name: str) -> pd.DataFrame | None:
        """A table of an artifact; None where it is not made yet."""
        if (stage, name) not in self._read:
            self._read[stage, name] = (
                Artifact(self.plan.folder(stage)).table(name) if self.made(stage) else None
            )
        return self._read[stage, name]

    def made(self, stage: str) -> bool:
        """Whether a stage's artifact is there."""
        return is_complete(self.plan.folder(stage), self.plan.versions[stage])

    def sampling(self, rule: str) -> Sampling | None:
        """What a rule samples from; None where that is not made yet."""
        if rule not in self._sampling:
            tables = {stage: self.table(stage, name) for stage, name in TABLES.items()}
            there = {stage: table for stage, table in tables.items() if table is not None}
            config = self.plan.config
            given = (config.sampling.eligibility, getattr(config.sampling, rule), config.seed)
            self._sampling[rule] = plan_from(rule, there, *given) if len(there) == len(tables) else None
        return self._sampling[rule]

    def needed(self, stage: str, name: str) -> pd.DataFrame:
        """A table without which there is nothing to explain. Raises InputError saying how to make it."""
        if stage not in self.plan.stages:
            raise InputError(
                f"this configuration has no stage {stage}: it reads a released study; choose another."
            )
        found = self.table(stage, name)
        if found is None:
            raise InputError(f"{stage} is not made yet under this configuration; {remedy(stage)}.")
        return found

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """The pool."""
        return self.needed("candidates", "candidates")

    @cached_property
    def copies(self) -> pd.DataFrame:
        """Photographs of each image of the pool."""
        return self.needed("candidates", "copies")

    @cached_property
    def reference(self) -> pd.DataFrame:
        """The original images."""
        return self.needed("reference", "reference")

    @cached_property
    def known(self) -> Known:
        """Names of all images."""
        return Known(
            frozenset(self.candidates["image_id"]) | frozenset(self.reference["image_id"]),
            self.copies,
            self.needed("candidates", "rejected"),
            self.plan.config.images,
        )

    @cached_property
    def words(self) -> dict[str, str]:
        """Synonyms of each class, by WordNet ID."""
        table = self.table("classes", "classes")
        if table is None:
            return {}
        return {w: ", ".join(lemmas) for w, lemmas in zip(table["wnid"], table["lemmas"], strict=True)}

    @cached_property
    def frequencies(self) -> pd.DataFrame | None:
        """Votes."""
        return self.table("frequencies", "frequencies")

    @cached_property
    def neighbours(self) -> Mapping[str, pd.DataFrame | None]:
        """Neighbours under each metric in use."""
        return {m: self.table(f"neighbours/{m}", "neighbours") for m in enabled(self.plan.config)}

    @cached_property
    def pairs(self) -> pd.DataFrame | None:
        """Pairs at or below a cut-off."""
        return self.table("duplicates", "pairs")

    @cached_property
    def fates(self) -> pd.DataFrame | None:
        """What became of each candidate."""
        return self.table("duplicates", "fates")

    def classes_of(self, images: Iterable[str]) -> dict[tuple[bool, str], list[str]]:
        """Classes of images, by whether as a candidate and image_id; each image is in both, maybe with none."""
        wanted = set(images)
        found: dict[tuple[bool, str], set[str]] = {(c, i): set() for i in wanted for c in (False, True)}
        for is_candidate, table in ((True, self.candidates), (False, self.reference)):
            rows = table[table["image_id"].isin(wanted)]
            for image, wnid in zip(rows["image_id"].tolist(), rows["wnid"].tolist(), strict=True):
                found[is_candidate, image].add(wnid)
        return {key: sorted(wnids) for key, wnids in found.items()}

    def verdicts_of(self, image: str) -> dict[str, str]:
        """Verdicts on the pairs of an image, by the other image."""
        if self.pairs is None:
            return {}
        rows = self.pairs[(self.pairs["image_id"] == image) | (self.pairs["neighbour_id"] == image)]
        ends = zip(rows["image_id"].tolist(), rows["neighbour_id"].tolist(), strict=True)
        others = [b if a == image else a for a, b in ends]
        return dict(zip(others, rows["verdict"].tolist(), strict=True))

    @cached_property
    def missing(self) -> list[str]:
        """A sentence for each stage that is not made yet."""
        stages = [
            "frequencies",
            *(f"neighbours/{m}" for m in enabled(self.plan.config)),
            "reviews/pairs",
            "duplicates",
            *(f"datasets/{rule}" for rule in RULES),
        ]
        return [f"{stage} is not made yet; {remedy(stage)}" for stage in stages if not self.made(stage)]


def remedy(stage: str) -> str:
    """Which command makes a stage."""
    return f"run snakemake, or imagenetv2 {stage.replace('/', ' ')}"
