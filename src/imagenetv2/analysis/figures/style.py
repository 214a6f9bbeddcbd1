"""One look for all figures, in a page and on paper.

Colours are tokens, ``var(--name)``: a page resolves them by its own style sheet, so that charts follow its light or
dark dress and are light in print; for files they are replaced by the light values. The series are Okabe and Ito's
colours, which people with any colour vision can tell apart, some darkened for contrast; sets differ by shape too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PALETTE = {
    "paper": ("#ffffff", "#14181d"),
    "sheet": ("#f5f6f8", "#1d232a"),
    "ink": ("#1c2127", "#e8ecf0"),
    "muted": ("#5f6b77", "#9ca8b4"),
    "rule": ("#dfe3e8", "#343d47"),
    "link": ("#00588f", "#7cc0ee"),
    "original": ("#4d5560", "#b6c0ca"),
    "set-1": ("#0072b2", "#56b4e9"),
    "set-2": ("#d55e00", "#ff9a52"),
    "set-3": ("#009e73", "#35c79b"),
    "set-4": ("#b5548a", "#e69fc8"),
    "set-5": ("#96690a", "#e6b13a"),
    "set-6": ("#5b54b4", "#a9a3f0"),
    "candidates": ("#b5548a", "#e69fc8"),
    "bar": ("#6a7683", "#93a0ad"),
    "drop": ("#c9ced5", "#46515d"),
}
"""Light and dark value of each token."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FONT = "Liberation Sans"
"""Comes with the renderer, so that files do not depend on the fonts of a machine."""


def token(name: str) -> str:
    """A colour of the palette, for a chart."""
    return f"var(--{name})"


INK, MUTED, GRID, PAPER, ORIGINAL = (token(n) for n in ("ink", "muted", "rule", "paper", "original"))


@dataclass(frozen=True)
class Series:
    """How a set is shown: its name, its class in the style sheet, and the shape of its marks."""

    label: str
    css: str
    shape: str

    @property
    def colour(self) -> str:
        """Its colour, for a chart."""
        return token(self.css)


def series(labels: Mapping[str, str]) -> dict[str, Series]:
    """How each set is shown, by its place: the original is the first."""
    found = {}
    for place, (name, label) in enumerate(labels.items()):
        css = f"set-{(place - 1) % len(SHAPES) + 1}" if place else "original"
        found[name] = Series(label, css, SHAPES[(place - 1) % len(SHAPES)] if place else "circle")
    return found


def on_paper(text: str) -> str:
    """Tokens replaced by their light values."""
    for name, (light, _) in PALETTE.items():
        text = text.replace(token(name), light)
    return text


def config(font: str, background: str | None) -> dict[str, Any]:
    """Vega-Lite's configuration: quiet axes, one weight of one font.

    One weight, since the order in which the renderer writes several fonts to a PDF changes from run to run.
    """
    plain = {"labelFont": font, "titleFont": font, "labelFontWeight": 400, "titleFontWeight": 400}
    return {
        "font": font,
        "background": background,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            **plain,
            "domainColor": MUTED,
            "gridColor": GRID,
            "labelColor": MUTED,
            "labelFontSize": 11,
            "labelOverlap": "parity",
            "labelSeparation": 7,
            "tickColor": MUTED,
            "tickSize": 4,
            "titleColor": INK,
            "titleFontSize": 12,
        },
        "legend": {
            **plain,
            "labelColor": INK,
            "labelFontSize": 11,
            "symbolSize": 60,
            "title": None,
            "labelLimit": 260,
        },
        "title": {
            "anchor": "start",
            "color": INK,
            "font": font,
            "fontSize": 13.5,
            "fontWeight": 400,
            "frame": "group",
            "offset": 8,
        },
        "text": {"color": INK, "font": font, "fontSize": 11, "lineBreak": "\n"},
        "concat": {"spacing": 28},
    }
