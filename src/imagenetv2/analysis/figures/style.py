"""One look for all figures, and how a figure becomes bytes that are the same each time.

Colours are Okabe and Ito's, which people with any colour vision can tell apart.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, MUTED, GRID = "#1c2127", "#5f6b77", "#dfe3e8"
SERIES = {
    "original": "#4d5560",
    "matched_frequency": "#0072b2",
    "threshold": "#d55e00",
    "top_images": "#009e73",
    "candidates": "#cc79a7",
}
VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--rule)",
    "#ffffff": "var(--paper)",
    **{colour: f"var(--{name.replace('_', '-')})" for name, colour in SERIES.items()},
}
"""In a page the colours are the page's own, so that figures follow its light or dark dress."""

MARKERS = "osD^vPX*<>"
MARGINS = (0.6, 0.12, 0.5, 0.32)
"""Left, right, bottom and top of a panel, in inches."""
SETTINGS: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "svg.hashsalt": "imagenetv2",
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's own defaults with ours over them, whatever the user's configuration says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        yield


def figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of so many inches whose margins fit its labels."""
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.add_subplot()


def panels(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of so many inches with panels side by side.

    Margins are fixed: fitting them to labels would take most of the time of drawing.
    """
    made = Figure(figsize=(width, height))
    left, right, bottom, top = MARGINS
    across = width / columns
    size = ((across - left - right) / width, (height - bottom - top) / height)
    corners = [((i * across + left) / width, bottom / height) for i in range(columns)]
    return made, [made.add_axes((*corner, *size)) for corner in corners]


def png(made: Figure) -> bytes:
    """PNG at 200 dots an inch, on white, without metadata."""
    buffer = io.BytesIO()
    made.savefig(buffer, format="png", metadata={"Software": None}, facecolor="white")
    return buffer.getvalue()


def svg(made: Figure) -> str:
    """SVG for a paper: text as outlines, no date."""
    return _svg(made, "path")


def inline(made: Figure, name: str, alt: str, tips: Mapping[str, str] | None = None) -> str:
    """SVG for a page: text as text, the page's colours, ids of its own, and a description.

    Args:
        made: the figure.
        name: unique on the page; put before every id.
        alt: what the figure shows, in words.
        tips: text shown over a group, by the group's id (``Artist.set_gid``).
    """
    text = _svg(made, "none")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    for gid, tip in (tips or {}).items():
        text = text.replace(f'<g id="{gid}">', f'<g id="{gid}"><title>{_escape(tip)}</title>')
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = text.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'xlink:href="#{name}-')
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    size = re.search(r'<svg [^>]*?width="([0-9.]+)pt"', text)
    text = re.sub(r'(<svg [^>]*?) ?height="[0-9.]+pt"', r"\1", text, count=1)
    text = re.sub(r'(<svg [^>]*?) ?width="[0-9.]+pt"', r"\1", text, count=1)
    width = round(float(size[1]) * 4 / 3) if size else 480
    head = f'<svg role="img" aria-label="{_escape(alt)}" style="max-width:{width}px" '
    return text.replace("<svg ", head, 1).strip()


def _svg(made: Figure, fonttype: str) -> str:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": fonttype}):
        made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
