"""A report made from made-up tables of the analysis: of a study that was run, and of one that was released."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from imagenetv2.config import Config
from imagenetv2.evaluation.metrics.by_class import by_class
from imagenetv2.evaluation.metrics.summary import summary
from imagenetv2.graph import stages
from imagenetv2.job import run
from tests.conftest import FAKE_VERSION, write_artifact
from tests.unit.analysis_inputs import simulate
from tests.unit.analysis_results import results

LABELS = {
    "original": "Original",
    "matched_frequency": "MatchedFrequency",
    "threshold": "Threshold",
    "top_images": "TopImages",
}


def conducted(
    data: Path, *, models: int = 6, classes: int = 4, world: bool = True, cores: int = 1, **simulated: Any
) -> Path:
    """Write the inputs of a small study and the tables of its analysis below ``data``, and make its report."""
    config, inputs = simulate(models=models, classes=classes, world=world, **simulated)
    tables: dict[str, Any] = dict(results(LABELS, models, classes=classes, truth=world))
    tables["funnel.parquet"] = _funnel()
    return _make(data, config, {**inputs, "analysis": tables, "metrics": _metrics(inputs)}, cores)


def released(
    data: Path, kind: str = "imagenetv2", *, models: int = 12, classes: int = 80, absent: str = ""
) -> Path:
    """Write the tables of a released study below ``data``, without the ``absent`` set, and make its report."""
    config = {"record": {"path": ".", "kind": kind}}
    labels = {name: label for name, label in _labels(config).items() if name != absent}
    faults = pd.DataFrame(
        [
            {
                "number": i, "file": f"data/predictions/x/model_{i}.npy", "subject": f"model_{i}",
                "fault": "another order of images", "detail": "agrees with the others on 0.1 % of the images",
                "action": "corrected", "evidence": "sorted by class it agrees on 82.3 %",
            }
            for i in range(3)
        ]
    )  # fmt: skip
    wnids = [f"n{c + 1:08d}" for c in range(classes)]
    inputs = {
        "analysis": dict(results(labels, models, classes=classes, votes=False)),
        "record/classes": {
            "classes.parquet": pd.DataFrame(
                {
                    "class_index": range(classes), "wnid": wnids,
                    "lemmas": [[f"thing_{c}"] for c in range(classes)], "definition": "something",
                    "wikipedia": [[] for _ in wnids], "neighbours": [[] for _ in wnids],
                }
            ),
            "faults.parquet": faults.head(0),
        },
        "record/predictions": {"faults.parquet": faults, "models.parquet": _models(list(labels), models)},
        "record/claims": {"claims.parquet": _claims(), "published.md": "# Numbers"},
        "record/audit": {"audit.html": "<!doctype html><title>Audit</title>"},
    }  # fmt: skip
    return _make(data, config, inputs)


def page(data: Path) -> Path:
    """Where the report lies."""
    return data / "report" / FAKE_VERSION / "report.html"


def _labels(config: Mapping[str, Any]) -> dict[str, str]:
    from imagenetv2.record.stages import labels

    return labels(Config.model_validate(config))


def _make(
    data: Path, config: Mapping[str, Any], inputs: Mapping[str, Mapping[str, Any]], cores: int = 1
) -> Path:
    known = stages(Config.model_validate(config))
    for name, files in inputs.items():
        if name in known["report"].reads:
            write_artifact(data, known[name], files)
    run(known["report"], dict.fromkeys(known, FAKE_VERSION), data, 2019, cores=cores)
    return data


def _metrics(inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, pd.DataFrame]:
    """As the stage ``metrics`` makes them of the predictions."""
    whole, single = [], []
    for name, files in inputs.items():
        kind, _, rest = name.partition("/")
        if kind == "predictions":
            table, place = (
                files["predictions.parquet"],
                dict(zip(("set", "model"), rest.split("/"), strict=True)),
            )
            whole.append(summary(table, subsets={"first": ["n00000001"]}).assign(**place))
            single.append(by_class(table).assign(**place))
    return {"metrics.parquet": pd.concat(whole), "per_class.parquet": pd.concat(single)}


def _funnel() -> pd.DataFrame:
    rows = [
        ("search", "records returned by Flickr", "record", 300, False, "search/queries.parquet"),
        ("search", "outside the window", "record", 16, True, "search/queries.parquet"),
        ("candidates", "candidates: an image and a class", "image", 240, False, "candidates/candidates.parquet"),
    ]  # fmt: skip
    columns = ["stage", "step", "unit", "count", "dropped", "table"]
    return pd.DataFrame(rows, columns=columns).assign(order=range(len(rows)))


def _claims() -> pd.DataFrame:
    rows = [
        ("models", "Models evaluated", "67", "67", 67.0, 67.0, "same", ""),
        ("slope", "Slope of the line", "1.11", "1.212", 1.212, 1.11, "differs", "0.1 beyond rounding"),
        ("loss", "Largest loss", "11.0", "11.00", 11.0, 11.0, "same after correction", "As released 25.9"),
        ("votes", "Average selection frequency", "0.73", "", None, 0.73, "not derivable", "no votes"),
    ]
    columns = ["id", "claim", "printed", "computed", "value", "printed_value", "verdict", "note"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(number=range(len(rows)), section="Table 1", tolerance=0.05)


def _models(sets: list[str], models: int) -> pd.DataFrame:
    names = [f"model_{i}" for i in range(models)]
    rows = [
        {
            "set": s, "model": m, "family": "networks", "source_file": "x.npy", "usable": True, "row": i, "action": "",
        }
        for s in sets
        for i, m in enumerate(names)
    ]  # fmt: skip
    lost = {"set": sets[1], "model": "lost", "family": "networks", "source_file": "", "usable": False,
            "row": None, "action": "its predictions fit no order of the images"}  # fmt: skip
    return pd.DataFrame([*rows, lost])
