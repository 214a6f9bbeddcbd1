"""Places of the models on each set, joined by lines."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from imagenetv2.analysis.figures.style import GRID, INK, MUTED


def height(models: int) -> float:
    """Inches that so many names need one below the other."""
    return 0.9 + 0.24 * models


def draw(ax: Axes, accuracies: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """One column a set, one line a model; models that keep their place everywhere are drawn quietly."""
    first, last = next(iter(labels)), list(labels)[-1]
    places = accuracies.pivot(index="model", columns="set", values="rank")[list(labels)]
    columns = range(len(labels))
    for model, row in places.sort_values(first).iterrows():
        moved = row.nunique() > 1
        line, width = (INK, 1.8) if moved else (MUTED, 0.9)
        ax.plot(columns, row.to_numpy(), "-o", color=line, linewidth=width, markersize=4.5)
        for at, place, side in ((0, row[first], "right"), (len(labels) - 1, row[last], "left")):
            gap = -0.08 if side == "right" else 0.08
            ax.text(at + gap, place, str(model), ha=side, va="center", fontsize=8, color=INK)
    ax.set(ylim=(len(places) + 0.6, 0.4), xlim=(-0.95, len(labels) - 0.05))
    ax.set_xticks(list(columns), list(labels.values()))
    ax.tick_params(length=0, labelcolor=INK, labelsize=9)
    ax.xaxis.tick_top()
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.grid(axis="x", color=GRID)
