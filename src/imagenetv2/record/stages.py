"""A released record as artifacts: one stage a part, and two that read the whole of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from imagenetv2.annotation.stages import TASKS
from imagenetv2.benchmark.stages import CLASSES
from imagenetv2.record.part_tables import (
    BLACKLIST,
    CANDIDATES,
    EARLIER,
    EXEMPTED,
    FAULTS,
    FILES,
    IMAGES,
    LISTS,
    LOOKED_AT,
    MODELS,
    ORIGINALS,
    PAIRS,
    RECORDS,
    REVIEWED,
    REVISIONS,
    SUBMISSIONS,
)
from imagenetv2.record.result_tables import CLAIMS, EVIDENCE, FINDINGS
from imagenetv2.record.settings import Record
from imagenetv2.stages import Stage
from imagenetv2.tables import File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

SETS = {
    "imagenetv2": {
        "original": "ImageNet validation",
        "matched_frequency": "MatchedFrequency",
        "threshold": "Threshold0.7",
        "top_images": "TopImages",
    },
    "cifar10.1": {"original": "CIFAR-10 test", "v4": "CIFAR-10.1 v4", "v6": "CIFAR-10.1 v6"},
}
"""Sets of each kind of record and how they are displayed; the original is the first."""

READS = {
    "predictions": ("classes",),
    "search": ("classes",),
    "datasets": ("classes", "search"),
    "hits": ("classes", "search", "datasets"),
    "candidates": ("classes", "search", "datasets", "hits"),
    "duplicates": ("classes", "candidates"),
    "reviews": ("classes", "datasets"),
}
"""Parts whose tables a part is checked against."""


def labels(config: Config) -> dict[str, str]:
    """Displayed name of each set of the record; the original first."""
    return SETS[config.record.kind]


def stages(config: Config) -> list[Stage]:
    """``record/<part>``: one stage a part of the record."""
    arrays = tuple(
        File(
            f"{name}.npy",
            "Class indices, int16, models × images × 5, best first; -1 where no class is known.",
        )
        for name in labels(config)
    )
    parts: dict[str, tuple[Table | File, ...]] = {
        "classes": (CLASSES.without("hypernyms"), FAULTS),
        "predictions": (IMAGES, MODELS, EARLIER, FAULTS, *arrays),
    }
    if config.record.kind == "imagenetv2":
        parts |= {
            "files": (FILES,),
            "search": (RECORDS, FAULTS),
            "candidates": (CANDIDATES, BLACKLIST, FAULTS),
            "hits": (TASKS.without("token"), SUBMISSIONS, FAULTS),
            "duplicates": (PAIRS, EXEMPTED, LOOKED_AT, FAULTS),
            "reviews": (REVIEWED, FAULTS),
            "datasets": (LISTS, REVISIONS, ORIGINALS, FAULTS),
        }
    assert config.record.path is not None
    return [
        Stage(
            f"record/{part}",
            algorithm=1,
            run=f"imagenetv2.record.{part}:run",
            files=files,
            settings={"record": config.record if part == "predictions" else _without_families(config)},
            reads=tuple(f"record/{other}" for other in READS.get(part, ())),
            outside={"record.path": config.record.path},
        )
        for part, files in parts.items()
    ] + [declared(config, [f"record/{part}" for part in parts]) for declared in _further(config).values()]


def _without_families(config: Config) -> Record:
    """What matters where no models are: another family of a model must not read all the record again."""
    return config.record.model_copy(update={"families": {}})


def further(config: Config) -> tuple[str, ...]:
    """Names of the stages that read the whole record."""
    return tuple(f"record/{name}" for name in _further(config))


def _further(config: Config) -> dict[str, Callable[[Config, list[str]], Stage]]:
    if config.record.kind == "imagenetv2":
        return {"claims": _claims, "audit": _audit}
    return {"claims": _claims}


def _claims(config: Config, parts: list[str]) -> Stage:
    """``record/claims`` reads the whole record, and once more the files whose faults were corrected."""
    assert config.record.path is not None
    return Stage(
        "record/claims",
        algorithm=1,
        run="imagenetv2.record.claims.stage:run",
        files=(
            CLAIMS,
            File("claims.csv", "The same table."),
            File("published.md", "The same as a page, section by section, with notes."),
        ),
        settings={"record": config.record},
        reads=(*parts, "analysis"),
        outside={"record.path": config.record.path},
    )


def _audit(config: Config, parts: list[str]) -> Stage:
    """``record/audit`` holds the parts of a record against each other."""
    return Stage(
        "record/audit",
        algorithm=1,
        run="imagenetv2.record.audit.stage:run",
        files=(
            FINDINGS,
            EVIDENCE,
            File("findings.csv", "The findings for a spreadsheet."),
            File("audit.html", "The audit on one page, readable offline."),
        ),
        reads=tuple(parts),
    )
