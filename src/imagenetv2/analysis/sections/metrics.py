"""Beyond top-1: calibration, whether confidence sorts right from wrong, other labels, and single classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.analysis.findings import Findings
from imagenetv2.analysis.sections.provenance import link
from imagenetv2.evaluation.settings import Metrics
from imagenetv2.job import Job

SHOWN = {"top1": "top-1", "top5": "top-5", "rms_calibration_error": "RMS", "aurra": "AURRA"}
AVERAGED = (*SHOWN, "rms_calibration_error_by_chance", "mean_probability")
OTHER = {"real_top1": "ReaL top-1", "real_top5": "ReaL top-5"}


def metrics(job: Job, found: Findings) -> dict[str, Any]:
    """Values for the template, of a run whose metrics are known."""
    assert found.metrics is not None and found.class_changes is not None
    version = job.read("metrics").version
    changed = classes(found, found.class_changes)
    others = OTHER | _of_subsets(found.metrics)
    return {
        "sets": averages(found, found.metrics),
        "by_set": by_set(found, found.metrics),
        "others": by_metric(found, found.metrics, others),
        "models": models(found),
        "classes": changed,
        "moved": any(row["lose"] or row["gain"] for row in changed),
        "bin_images": job.settings(Metrics).bin_images,
        "links": {name: link("metrics", version, f"{name}.parquet") for name in ("metrics", "per_class")},
    }


def averages(found: Findings, table: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry a set: each metric averaged over models."""
    mean = table.groupby(["set", "metric"])["value"].mean()
    return [
        {"label": label, "css": found.sets[name].css, **{m: float(mean[(name, m)]) for m in AVERAGED}}
        for name, label in found.labels.items()
    ]


def by_set(found: Findings, table: pd.DataFrame) -> list[dict[str, Any]]:
    """One group of columns a set: each metric of ``SHOWN``, with its values by model."""
    return [
        {
            "title": label,
            "css": found.sets[name].css,
            "columns": [{"title": t, "css": "", "values": _values(table, name, m)} for m, t in SHOWN.items()],
        }
        for name, label in found.labels.items()
    ]


def by_metric(found: Findings, table: pd.DataFrame, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """One group of columns a metric that is there: each set that has it, with its values by model."""
    groups = []
    for metric, title in titles.items():
        there = set(table.loc[table["metric"] == metric, "set"])
        columns = [
            {"title": label, "css": found.sets[name].css, "values": _values(table, name, metric)}
            for name, label in found.labels.items()
            if name in there
        ]
        if columns:
            groups.append({"title": title, "css": "", "columns": columns})
    return groups


def _values(table: pd.DataFrame, name: str, metric: str) -> dict[str, float]:
    mine = table[(table["set"] == name) & (table["metric"] == metric)]
    return dict(zip(mine["model"], mine["value"], strict=True))


def models(found: Findings) -> list[str]:
    """Best on the original first."""
    accuracies = found.accuracies
    best: list[str] = accuracies[accuracies["set"] == "original"].sort_values("rank")["model"].tolist()
    return best


def classes(found: Findings, changes: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry a new set: how many classes there are, and how many lose and gain with their whole interval."""
    rows = []
    for name, label in found.new.items():
        mine = changes[changes["set"] == name]
        rows.append(
            {
                "label": label,
                "classes": len(mine),
                "lose": int((mine["high"] < 0).sum()),
                "gain": int((mine["low"] > 0).sum()),
            }
        )
    return rows


def _of_subsets(table: pd.DataFrame) -> dict[str, str]:
    there = sorted(metric for metric in table["metric"].unique() if metric.startswith("top1["))
    return {metric: f"Top-1 on {metric.removeprefix('top1[').removesuffix(']')}" for metric in there}
