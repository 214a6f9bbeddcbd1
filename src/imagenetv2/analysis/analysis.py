"""The stage ``analysis``: from predictions, votes and sets to tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.analysis import fits, sources
from imagenetv2.analysis.accuracies import ORIGINAL, Predictions, accuracies, by_class, stack
from imagenetv2.analysis.funnel import funnel
from imagenetv2.analysis.ranks import agreement
from imagenetv2.analysis.rules import Scores, rules
from imagenetv2.analysis.settings import Analysis, Families
from imagenetv2.analysis.truth import probabilities
from imagenetv2.errors import InputError
from imagenetv2.evaluation.stages import SETS
from imagenetv2.job import Job
from imagenetv2.randomness import generator
from imagenetv2.sampling.settings import Eligibility
from imagenetv2.sampling.stages import RULES

SMALLEST_GROUP = 3


def run(job: Job) -> None:
    """Write accuracies, rules, funnel and fits."""
    settings, votes = job.settings(Analysis), job.settings(Eligibility).minimum_votes
    tables = sources.read(job)
    sets = {name: _predictions(job, name) for name in SETS}
    families = job.settings(Families).names
    accuracy = accuracies(sets, families, settings.level)
    images = _images(tables, votes)
    summary = rules(_scores(tables, sets, images), settings.level, settings.bootstrap, job.seed)
    job.out.table("accuracies", accuracy)
    job.out.table("rules", summary)
    job.out.table("by_class", by_class(sets, images))
    job.out.table("funnel", funnel(tables, votes))
    job.out.text("accuracies.csv", _csv(accuracy))
    job.out.text("rules.csv", _csv(summary))
    job.out.json("fits.json", all_fits(accuracy, settings, job.seed))
    for row in summary.itertuples():
        if row.set != ORIGINAL:
            job.log.info("%s: accuracy changes by %+.1f points", row.set, 100 * float(str(row.change_top1)))


def _predictions(job: Job, name: str) -> Predictions:
    found = job.reads(f"predictions/{name}")
    try:
        return stack({model: artifact.table("predictions") for model, artifact in found.items()})
    except ValueError as error:
        raise InputError(
            f"{job.data / 'predictions' / name}: {error}; delete that folder and run snakemake."
        ) from error


def _images(tables: sources.Sources, votes: int) -> dict[str, pd.DataFrame]:
    return {ORIGINAL: sources.annotated(tables.frequencies, votes), **tables.images}


def _scores(
    tables: sources.Sources, sets: Mapping[str, Predictions], images: Mapping[str, pd.DataFrame]
) -> dict[str, Scores]:
    return {
        name: Scores(
            sets[name],
            frame["frequency"].to_numpy(np.float64),
            probabilities(frame, "reference" if name == ORIGINAL else "candidates", tables),
        )
        for name, frame in images.items()
    }


def all_fits(accuracy: pd.DataFrame, settings: Analysis, seed: int) -> dict[str, Any]:
    """Fits of every rule, scale and group of models, and how much the models' order changes.

    Groups are all models, and each family of at least three.
    """
    wide = accuracy.pivot(index="model", columns="set", values="top1").sort_index()
    images = accuracy.groupby("set")["images"].first()
    family = accuracy.groupby("model")["family"].first().reindex(wide.index)
    groups = {"all": np.ones(len(wide), bool)}
    for name in sorted(set(family)):
        if (family == name).sum() >= SMALLEST_GROUP and family.nunique() > 1:
            groups[name] = (family == name).to_numpy()
    found, orders = [], {}
    for rule in RULES:
        old, new = wide[ORIGINAL].to_numpy(), wide[rule].to_numpy()
        scales = {
            "linear": (100 * old, 100 * new),
            "probit": (fits.probit(old, images[ORIGINAL]), fits.probit(new, images[rule])),
        }
        for scale, (x, y) in scales.items():
            for group, members in groups.items():
                rng = generator(seed, "analysis", "fits", rule, scale, group)
                fit = fits.summary(x[members], y[members], settings.level, settings.bootstrap, rng)
                found.append({"set": rule, "scale": scale, "group": group, **fit})
        orders[rule] = vars(agreement(old, new, list(wide.index)))
    return {"level": settings.level, "bootstrap": settings.bootstrap, "fits": found, "order": orders}


def _csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.6f")
