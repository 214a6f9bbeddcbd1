"""From predictions to tables, and from everything to the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from imagenetv2.analysis import report_files
from imagenetv2.analysis.results import (
    BANDS,
    BINS,
    DIFFICULTY,
    FITS,
    GROUPS,
    INFLUENCE,
    LINES,
    ORDER,
    PAIRED,
    ROBUSTNESS,
    SAMPLING_ERROR,
    SIMULATION,
)  # fmt: skip
from imagenetv2.analysis.settings import Families, Sets, line_tables
from imagenetv2.duplicates.stages import enabled
from imagenetv2.evaluation.stages import SETS
from imagenetv2.record.stages import further, labels
from imagenetv2.sampling.stages import RULES
from imagenetv2.settings import Section
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

ACCURACIES = Table(
    "accuracies.parquet",
    "Accuracy of each model on each set.",
    (
        Column("model", "string", "name of the model"),
        Column("family", "string", "its group"),
        Column("set", "string", "original or a rule"),
        Column("images", "int64", "images evaluated"),
        Column("top1", "float64", "share whose true class is ranked first"),
        Column("top1_low", "float64", "lower end of the Clopper–Pearson interval"),
        Column("top1_high", "float64", "upper end of the Clopper–Pearson interval"),
        Column("top5", "float64", "share whose true class is among the first five"),
        Column("top5_low", "float64", "lower end of the Clopper–Pearson interval"),
        Column("top5_high", "float64", "upper end of the Clopper–Pearson interval"),
        Column("change", "float64", "top1 less top1 on the original", "share"),
        Column("change_top5", "float64", "top5 less top5 on the original", "share"),
        Column("rank", "int64", "place among the models by top1 on this set, 1 is best, ties by name"),
        Column("rank_change", "int64", "place on the original less place on this set: positive has climbed"),
    ),
    ("model", "set"),
)
RULE_SUMMARY = Table(
    "rules.parquet",
    "Each rule's set against the original validation images.",
    (
        Column("set", "string", "original or a rule"),
        Column("images", "int64", "images in the set"),
        Column("annotated", "int64", "those of them with enough votes to have a selection frequency"),
        Column("models", "int64", "models averaged over"),
        Column("frequency", "float64", "average observed selection frequency", nullable=True),
        Column("frequency_low", "float64", "lower end of its bootstrap interval over images", nullable=True),
        Column("frequency_high", "float64", "upper end of its bootstrap interval over images", nullable=True),
        Column("true_frequency", "float64", "average true selection frequency, where known", nullable=True),
        Column("true_low", "float64", "lower end of its bootstrap interval over images", nullable=True),
        Column("true_high", "float64", "upper end of its bootstrap interval over images", nullable=True),
        Column("observed_shift", "float64", "observed frequency less that of the original", nullable=True),
        Column("observed_shift_low", "float64", "lower end of its bootstrap interval", nullable=True),
        Column("observed_shift_high", "float64", "upper end of its bootstrap interval", nullable=True),
        Column(
            "true_shift", "float64", "true frequency less that of the original, where known", nullable=True
        ),
        Column("true_shift_low", "float64", "lower end of its bootstrap interval", nullable=True),
        Column("true_shift_high", "float64", "upper end of its bootstrap interval", nullable=True),
        Column("change_top1", "float64", "average change of top-1 accuracy over models", "share"),
        Column("change_low", "float64", "lower end of its bootstrap interval over images"),
        Column("change_high", "float64", "upper end of its bootstrap interval over images"),
        Column("change_top5", "float64", "average change of top-5 accuracy over models", "share"),
    ),
    ("set",),
)
BY_CLASS = Table(
    "by_class.parquet",
    "Averages of each class in each set.",
    (
        Column("class_index", "int64", "class index"),
        Column("wnid", "string", "WordNet ID"),
        Column("set", "string", "original or a rule"),
        Column("images", "int64", "images evaluated"),
        Column("frequency", "float64", "average observed selection frequency", nullable=True),
        Column("top1", "float64", "share of images whose class is ranked first, averaged over models"),
    ),
    ("class_index", "set"),
)
FUNNEL = Table(
    "funnel.parquet",
    "How many images each step kept and dropped, and why.",
    (
        Column("order", "int64", "place in the funnel, from 0"),
        Column("stage", "string", "the stage"),
        Column("step", "string", "what is counted, in words"),
        Column(
            "unit", "string", "what one of them is: record, photograph, image, task, answer, vote or pair"
        ),
        Column("count", "int64", "how many"),
        Column("dropped", "bool", "whether these left the pool"),
        Column("table", "string", "the table that lists them: <stage>/<file>"),
    ),
    ("order",),
)


RESULTS = (
    ACCURACIES, BY_CLASS, GROUPS, FITS, BANDS, INFLUENCE, ORDER, DIFFICULTY, SAMPLING_ERROR, PAIRED, ROBUSTNESS, LINES,
    SIMULATION,
)  # fmt: skip
"""What predictions allow."""
OF_VOTES = (RULE_SUMMARY, BINS, FUNNEL)
"""What only votes and the whole way to the sets allow."""


def stages(config: Config) -> list[Stage]:
    """``analysis`` and ``report``, of a study that is run or of one that was released."""
    return _released(config) if config.record.path is not None else _conducted(config)


def _conducted(config: Config) -> list[Stage]:
    predictions = tuple(f"predictions/{s}/{m.name}" for s in SETS for m in config.models)
    datasets = tuple(f"datasets/{rule}" for rule in RULES)
    neighbours = tuple(f"neighbours/{metric}" for metric in enabled(config))
    reviews = ("reviews/pairs", *(f"reviews/{rule}" for rule in RULES))
    truth = () if config.world.source == "real" else ("world",)
    sources = (
        "classes", "reference", "search", "candidates", "hits", "assignments", "frequencies", "duplicates",
        *truth, *datasets,
    )  # fmt: skip
    families = Families(names={m.name: m.family or m.kind for m in config.models})
    votes = {"sampling.eligibility": config.sampling.eligibility}
    bins = {"sampling.matched_frequency": config.sampling.matched_frequency}
    return [
        _analysis(
            config,
            "imagenetv2.analysis.analysis:run",
            (*RESULTS, *OF_VOTES),
            {
                "sets": Sets(names={"original": "Original", **RULES}),
                "models.families": families,
                **votes,
                **bins,
            },
            (*sources, *predictions),
        ),
        _report(
            config,
            {
                "sets": Sets(names={"original": "Original", **RULES}),
                "duplicates.cutoffs": config.duplicates.cutoffs,
                "metrics": config.metrics,
                **votes,
            },
            (
                "analysis",
                "metrics",
                *sources,
                *neighbours,
                *reviews,
                *(f"models/{m.name}" for m in config.models),
            ),
        ),
    ]


def _released(config: Config) -> list[Stage]:
    sets = {"sets": Sets(names=labels(config))}
    known = ("record/classes", "record/predictions")
    return [
        _analysis(config, "imagenetv2.analysis.analysis:run_released", RESULTS, sets, known),
        _report(config, sets, ("analysis", *known, *further(config))),
    ]


def _analysis(
    config: Config,
    run: str,
    files: tuple[Table, ...],
    settings: Mapping[str, Section],
    reads: tuple[str, ...],
) -> Stage:
    return Stage(
        "analysis",
        algorithm=2,
        run=run,
        files=files,
        settings={"analysis": config.analysis, "simulation": config.simulation, **settings},
        reads=reads,
        outside=line_tables(config.analysis),
        seed=True,
    )


def _report(config: Config, settings: Mapping[str, Section], reads: tuple[str, ...]) -> Stage:
    return Stage(
        "report",
        algorithm=4,
        run="imagenetv2.analysis.report:run",
        files=report_files.files(
            votes="frequencies" in reads, truth="world" in reads, metrics="metrics" in reads
        ),
        settings={"analysis": config.analysis, "report": config.report, **settings},
        reads=reads,
        seed=True,
    )
