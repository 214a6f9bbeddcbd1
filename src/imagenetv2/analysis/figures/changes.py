"""Change of accuracy on each set: every model, their average and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from imagenetv2.analysis.figures.style import INK, MUTED, SERIES


def draw(
    ax: Axes, accuracies: pd.DataFrame, rules: pd.DataFrame, labels: Mapping[str, str]
) -> dict[str, str]:
    """Draw one row a rule; returns what to say over each point, by its id."""
    tips = {}
    by_set: dict[Any, dict[Any, float]] = rules.set_index("set").to_dict("index")
    for row, (rule, _) in enumerate(labels.items()):
        colour, place = SERIES[rule], -row
        models = accuracies[accuracies["set"] == rule].sort_values("model")
        for i, (model, change) in enumerate(zip(models["model"], models["change"], strict=True)):
            gid = f"change-{rule}-{i}"
            ax.plot(100 * change, place, "|", color=colour, markersize=9, alpha=0.75, gid=gid)
            tips[gid] = f"{model}: {100 * change:+.1f} points".replace("-", "−")
        mean, low, high = (100 * by_set[rule][f"change_{k}"] for k in ("top1", "low", "high"))
        ax.plot([low, high], [place, place], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        ax.plot(mean, place, "o", color=colour, markersize=8, markeredgecolor="white")
        words = f"{mean:+.1f}  [{low:+.1f}, {high:+.1f}]".replace("-", "−")
        ax.text(mean, place + 0.24, words, ha="center", va="bottom", fontsize=8.5, color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    ax.axvline(0, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_yticks([-i for i in range(len(labels))], list(labels.values()))
    ax.tick_params(axis="y", length=0, labelsize=9.5, labelcolor=INK)
    ax.set(ylim=(-len(labels) + 0.55, 0.7))
    ax.margins(x=0.08)
    ax.locator_params(axis="x", nbins=6)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("change of top-1 accuracy, percentage points")
    return tips
