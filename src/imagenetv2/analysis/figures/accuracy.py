"""New against original accuracy, model by model, with the line through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from imagenetv2.analysis.figures.style import GRID, INK, MARKERS, MUTED, SERIES

FAMILIES = 6


def wide(accuracies: pd.DataFrame, rule: str) -> pd.DataFrame:
    """One row a model: ``x``, ``x_low``, ``x_high`` on the original and ``y``… on the set, in percent."""
    columns = ["top1", "top1_low", "top1_high"]
    by_set = {
        name: 100 * accuracies[accuracies["set"] == name].set_index("model")[columns]
        for name in ("original", rule)
    }
    old, new = by_set["original"], by_set[rule]
    old.columns, new.columns = pd.Index(["x", "x_low", "x_high"]), pd.Index(["y", "y_low", "y_high"])
    families = accuracies.groupby("model")["family"].first()
    return old.join(new).join(families).sort_index().reset_index()


def limits(accuracies: pd.DataFrame) -> tuple[float, float]:
    """Ends of both axes in percent: multiples of five around every interval."""
    low = 5 * np.floor(20 * accuracies["top1_low"].min())
    high = 5 * np.ceil(20 * accuracies["top1_high"].max())
    return max(0.0, float(low)), min(100.0, float(high))


def draw(
    ax: Axes,
    points: pd.DataFrame,
    fit: Mapping[str, Any],
    rule: str,
    label: str,
    ends: tuple[float, float],
) -> dict[str, str]:
    """Draw one rule's panel; returns what to say over each point, by its id."""
    colour = SERIES[rule]
    ax.plot(ends, ends, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    _line(ax, fit, points, colour)
    ax.errorbar(
        points["x"], points["y"],
        xerr=[points["x"] - points["x_low"], points["x_high"] - points["x"]],
        yerr=[points["y"] - points["y_low"], points["y_high"] - points["y"]],
        fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=3,
    )  # fmt: skip
    tips = _models(ax, points, rule, colour)
    ax.set(xlim=ends, ylim=ends, aspect="equal", title=label)
    ax.set_xlabel("original accuracy, %")
    ax.set_ylabel("new accuracy, %")
    ax.text(0.04, 0.965, _words(fit), transform=ax.transAxes, va="top", fontsize=8, linespacing=1.45)
    at = ends[0] + 0.03 * (ends[1] - ends[0])
    ax.text(at, at, "unchanged", color=MUTED, fontsize=7.5, ha="left", va="bottom", rotation=45,
            rotation_mode="anchor")  # fmt: skip
    return tips


def _line(ax: Axes, fit: Mapping[str, Any], points: pd.DataFrame, colour: str) -> None:
    if fit["slope"] is None:
        return
    if fit.get("band"):
        band = fit["band"]
        ax.fill_between(band["original"], band["low"], band["high"], color=colour, alpha=0.16, linewidth=0)
    ends = np.array([points["x"].min(), points["x"].max()])
    ax.plot(ends, fit["slope"] * ends + fit["offset"], color=colour, linewidth=1.6, zorder=2)


def _models(ax: Axes, points: pd.DataFrame, rule: str, colour: str) -> dict[str, str]:
    families = sorted(set(points["family"]))
    marked = markers(families)
    tips = {}
    for i, p in enumerate(points.to_dict("records")):
        gid = f"{rule}-model-{i}"
        ax.plot(p["x"], p["y"], marked[p["family"]], color=colour, markersize=6, markeredgecolor="white",
                markeredgewidth=0.6, zorder=4, gid=gid, clip_on=False)  # fmt: skip
        tips[gid] = f"{p['model']}: {p['x']:.1f} % on the original, {p['y']:.1f} % here"
    if 1 < len(families) <= FAMILIES:
        for family in families:
            ax.plot([], [], marked[family], color=INK, markersize=5, label=family)
        ax.legend(loc="lower right", handletextpad=0.1, borderaxespad=0.3, labelcolor=INK)
    ax.grid(color=GRID)
    return tips


def markers(families: Sequence[str]) -> dict[str, str]:
    """A marker for each family; one for all where there are too many to tell apart."""
    if len(families) > FAMILIES:
        return dict.fromkeys(families, "o")
    return {family: MARKERS[i] for i, family in enumerate(families)}


def _words(fit: Mapping[str, Any]) -> str:
    if fit["slope"] is None:
        return "no line: the models do not differ"
    words = f"slope {fit['slope']:.2f}"
    offset = f"offset {fit['offset'] + 0.0:+.1f} points"
    if fit.get("slope_interval"):
        low, high = fit["slope_interval"]
        words += f"  [{low:.2f}, {high:.2f}]"
        low, high = fit["offset_interval"]
        offset += f"  [{low:+.1f}, {high:+.1f}]"
    return f"{words}\n{offset}".replace("-", "−")
