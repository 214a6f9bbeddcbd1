"""The stage ``analysis``: from predictions, and votes where they are known, to tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from imagenetv2.analysis import conducted, released, sources
from imagenetv2.analysis.accuracies import ORIGINAL, accuracies, by_class
from imagenetv2.analysis.bins import bins
from imagenetv2.analysis.difficulty import difficulty
from imagenetv2.analysis.funnel import funnel
from imagenetv2.analysis.groups import groups
from imagenetv2.analysis.lines import fits, influence, order
from imagenetv2.analysis.paired import paired
from imagenetv2.analysis.published_lines import published
from imagenetv2.analysis.resamples import resamples
from imagenetv2.analysis.robustness import robustness
from imagenetv2.analysis.rules import Scores, rules
from imagenetv2.analysis.sampling_error import sampling_error
from imagenetv2.analysis.settings import Analysis
from imagenetv2.analysis.study import Study
from imagenetv2.analysis.truth import probabilities
from imagenetv2.job import Job
from imagenetv2.sampling.settings import Eligibility, MatchedFrequency
from imagenetv2.simulation import simulation
from imagenetv2.simulation.settings import Simulation


def run(job: Job) -> None:
    """Analyse a study that was run here: its predictions, votes, and the whole way to its sets."""
    settings, votes = job.settings(Analysis), job.settings(Eligibility).minimum_votes
    tables = sources.read(job)
    study = conducted.study(job, tables, votes)
    edges = job.settings(MatchedFrequency).edges
    _results(job, study)
    job.out.table("rules", rules(_scores(tables, study), settings.level, settings.bootstrap, job.seed))
    job.out.table("bins", bins(study, settings.level, settings.bootstrap, job.seed, edges))
    job.out.table("funnel", funnel(tables, votes))


def run_released(job: Job) -> None:
    """Analyse a released study: what its predictions allow."""
    _results(job, released.study(job))


def _results(job: Job, study: Study) -> None:
    tables = results(study, job.settings(Analysis), job.seed, job.cores)
    for name, table in tables.items():
        job.out.table(name, table)
    averages = tables["groups"].query("group == 'all' and set != @ORIGINAL")
    for row in averages.itertuples():
        job.log.info("%s: accuracy changes by %+.1f points", row.set, 100 * float(str(row.change)))
    job.out.table("simulation", simulation.table(job.settings(Simulation), job.seed, job.cores))


def results(study: Study, settings: Analysis, seed: int, cores: int) -> dict[str, pd.DataFrame]:
    """What predictions allow, by the names of the tables in ``stages.RESULTS``, without the simulation."""
    level, samples = settings.level, settings.bootstrap
    images = resamples(study, "images", samples, seed, cores)
    lines, bands = fits.tables(
        study, images, resamples(study, "classes", samples, seed, cores), level, seed, cores
    )
    tables = {line.name: table for line in settings.lines if (table := published(line)) is not None}
    effects, measured_from = robustness(study, images, settings.lines, tables, level, seed, cores)
    return {
        "accuracies": accuracies(study.sets, study.families, level),
        "by_class": by_class(study.sets, study.frequencies),
        "groups": groups(study, level, samples, seed),
        "fits": lines,
        "bands": bands,
        "influence": influence.table(study),
        "order": order.table(study, images, level, cores),
        "difficulty": difficulty(study, images, level),
        "sampling_error": sampling_error(study, level),
        "paired": paired(study, level),
        "robustness": effects,
        "lines": measured_from,
    }


def _scores(tables: sources.Sources, study: Study) -> Mapping[str, Scores]:
    return {
        name: Scores(
            study.sets[name],
            frame["frequency"].to_numpy(np.float64),
            probabilities(frame, "reference" if name == ORIGINAL else "candidates", tables),
        )
        for name, frame in study.frequencies.items()
    }
