"""What the line owes to single models and to families."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel
from imagenetv2.analysis.figures.intervals import height, rows
from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.wording import number

MODELS = 10


def influence(table: pd.DataFrame, fits: pd.DataFrame, sets: dict[str, Series]) -> Figure | None:
    """One panel a new set: the slope without each family, and without the ten models that change it most.

    Args:
        table: the table of influence.
        fits: the fit of each set on linear axes, over all models.
        sets: how sets are shown.

    Returns None where no set has a line to change.
    """
    panels = []
    for name, one in sets.items():
        slope = fits.loc[(fits["set"] == name) & (fits["scale"] == "linear"), "slope"]
        mine = table[(table["set"] == name) & (table["scale"] == "linear")]
        if slope.empty or mine["slope"].notna().sum() == 0:
            continue
        full = float(slope.iloc[0])
        frame = strongest(mine, full)
        said = f"Slope on {one.label} without a model or family; with all it is {number(full)}. " + "; ".join(
            f"{n}: {s}" for n, s in zip(frame["name"].head(3), frame["said"].head(3), strict=True)
        )
        tips = {"said": "slope", "leverage": "leverage", "cook": "Cook's distance"}
        drawn = rows(frame, one, "slope of the line", full, tips, signed=False)
        panels.append(
            Panel(f"influence-{name}", said, drawn, width=190, height=height(len(frame)), rows=True)
        )
    return Figure("influence", tuple(panels)) if panels else None


def strongest(table: pd.DataFrame, full: float) -> pd.DataFrame:
    """Families first, then the ten models that move the slope most, each by how far it moves it."""
    frame = table[table["slope"].notna()].copy()
    frame["far"] = (frame["slope"] - full).abs()
    frame["kind"] = np.where(frame["without"] == "family", 0, 1)
    frame = frame.sort_values(["kind", "far", "left_out"], ascending=[True, False, True])
    frame = pd.concat([frame[frame["kind"] == 0], frame[frame["kind"] == 1].head(MODELS)])
    names = [f"all {n}" if k == 0 else n for n, k in zip(frame["left_out"], frame["kind"], strict=True)]
    return pd.DataFrame(
        {
            "name": names,
            "value": frame["slope"].to_numpy(),
            "low": np.nan,
            "high": np.nan,
            "said": [number(v) for v in frame["slope"]],
            "leverage": [number(v) for v in frame["leverage"]],
            "cook": [number(v) for v in frame["cook"]],
        }
    )
