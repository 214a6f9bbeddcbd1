"""What workers were seen to do against what they would do in the long run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

from imagenetv2.analysis.figures.style import INK, MUTED, SERIES

Floats = npt.NDArray[np.float64]
SHOWN = 700
FEWEST = 5


def regression(observed: Floats, true: Floats) -> pd.DataFrame:
    """Average true frequency of the images of each observed frequency, to one decimal, with 95 % of a normal.

    Columns ``observed``, ``true``, ``half`` (half-width, 1.96 standard errors) and ``images``; bars of fewer
    than five images are left out.
    """
    frame = pd.DataFrame({"observed": np.round(observed, 1), "true": true})
    groups = frame.groupby("observed")["true"].agg(["mean", "std", "count"]).reset_index()
    groups.columns = pd.Index(["observed", "true", "half", "images"])
    groups["half"] = 1.96 * groups["half"] / np.sqrt(groups["images"])
    return groups[groups["images"] >= FEWEST].reset_index(drop=True)


def draw_images(ax: Axes, groups: Mapping[str, tuple[str, Floats, Floats]], rng: np.random.Generator) -> None:
    """Points for images, a line for their average, by group: series, then label, observed and true."""
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    for series, (label, observed, true) in groups.items():
        colour = SERIES[series]
        some = rng.permutation(observed.size)[:SHOWN]
        jitter = rng.uniform(-0.02, 0.02, some.size)
        ax.plot(observed[some] + jitter, true[some], ".", color=colour, markersize=3, alpha=0.28, zorder=2)
        line = regression(observed, true)
        ax.fill_between(
            line["observed"], line["true"] - line["half"], line["true"] + line["half"],
            color=colour, alpha=0.22, linewidth=0, zorder=3,
        )  # fmt: skip
        ax.plot(line["observed"], line["true"], "-o", color=colour, markersize=4, label=label, zorder=4)
    ax.text(0.97, 1.0, "as observed ", color=MUTED, fontsize=7.5, ha="right", va="bottom", rotation=45,
            rotation_mode="anchor")  # fmt: skip
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    ax.set_xlabel("observed selection frequency")
    ax.set_ylabel("true selection frequency")
    ax.legend(loc="upper left", labelcolor=INK)


def draw_sets(ax: Axes, rules: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """One row a set: observed average as a ring, true average as a disc, each with its interval."""
    by_set: dict[Any, dict[Any, Any]] = rules.set_index("set").to_dict("index")
    for row, (name, _) in enumerate(labels.items()):
        colour = SERIES[name]
        mine = by_set[name]
        seen, true = mine["frequency"], mine["true_frequency"]
        ax.plot([seen, true], [-row, -row], color=colour, linewidth=1.2, alpha=0.6, zorder=2)
        for kind, place in (("frequency", -row + 0.12), ("true", -row - 0.12)):
            low, high = mine[f"{kind}_low"], mine[f"{kind}_high"]
            ax.plot([low, high], [place, place], color=colour, linewidth=2, alpha=0.45)
        ax.plot(seen, -row, "o", color=colour, markersize=8, markerfacecolor="white", zorder=3)
        ax.plot(true, -row, "o", color=colour, markersize=8, zorder=3)
    ax.plot([], [], "o", color=INK, markerfacecolor="white", markersize=7, label="observed")
    ax.plot([], [], "o", color=INK, markersize=7, label="true")
    ax.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.14), handletextpad=0.1)
    ax.set_yticks([-i for i in range(len(labels))], list(labels.values()))
    ax.tick_params(axis="y", length=0, labelsize=9.5, labelcolor=INK)
    ax.set(ylim=(-len(labels) + 0.5, 0.5))
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("average selection frequency")
