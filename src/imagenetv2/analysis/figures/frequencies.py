"""Histograms of observed selection frequencies: a new set over the original."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from imagenetv2.analysis.figures.style import MUTED, SERIES

Floats = npt.NDArray[np.float64]
EDGES = np.linspace(-0.05, 1.05, 12)
"""Eleven bars, one for each share of ten votes, so that no share lies on an edge."""


def shares(frequencies: Floats) -> Floats:
    """Percent of the images in each bar: float64, shape (11,)."""
    counts, _ = np.histogram(frequencies, EDGES)
    out: Floats = 100 * counts / max(1, frequencies.size)
    return out


def top(*sets: Floats) -> float:
    """A common upper end of the axes."""
    return 1.18 * max(5.0, *(float(shares(s).max()) for s in sets))


def draw(ax: Axes, original: Floats, new: Floats, rule: str, label: str, ceiling: float) -> None:
    """Draw one rule's panel: the original in grey, the new set in its colour, averages as triangles."""
    width = 0.042
    centres = (EDGES[:-1] + EDGES[1:]) / 2
    for values, side, colour, name in (
        (original, -1, SERIES["original"], "original"),
        (new, 1, SERIES[rule], label),
    ):
        ax.bar(centres + side * width / 2, shares(values), width, color=colour, linewidth=0, label=name)
        if values.size:
            mean = float(values.mean())
            ax.plot(mean, 0.985 * ceiling, "v", color=colour, markersize=6, clip_on=False)
            ax.axvline(mean, color=colour, linewidth=1, linestyle=(0, (3, 2)), zorder=1)
    ax.set(xlim=(-0.06, 1.06), ylim=(0, ceiling), title=label)
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.set_xlabel("observed selection frequency")
    ax.set_ylabel("images, %")
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.97), handlelength=1, labelcolor=MUTED)
