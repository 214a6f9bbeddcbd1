"""Example images of each set, for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from imagenetv2.analysis.figures.style import FONT, PALETTE

CLASSES = 3
SIDE, GAP, LABEL, HEAD, LINE = 64, 4, 130, 30, 13
"""Pixels: a picture, the space between two, the names of sets, a class's heading, the baseline below it."""


def examples(albums: Sequence[Mapping[str, Any]]) -> str:
    """An SVG of the first classes of the albums: a heading, then a row of pictures for each set."""
    shown = albums[:CLASSES]
    columns = max([1, *(len(row["pictures"]) for album in shown for row in album["rows"])])
    width = LABEL + columns * (SIDE + GAP) + GAP
    parts, y = [], 0
    for album in shown:
        parts.append(_text(GAP, y + 20, album["name"], LINE, "ink"))
        y += HEAD
        for row in album["rows"]:
            parts.append(_text(GAP, y + SIDE / 2 + 4, row["label"], LINE - 1, row["css"]))
            parts += [
                f'<image x="{LABEL + i * (SIDE + GAP)}" y="{y}" width="{SIDE}" height="{SIDE}" '
                f'preserveAspectRatio="xMidYMid slice" href={quoteattr(picture["src"])}/>'
                for i, picture in enumerate(row["pictures"])
            ]
            y += SIDE + GAP
        y += GAP
    size = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    back = f'<rect width="{width}" height="{y}" fill="{PALETTE["paper"][0]}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{back}{"".join(parts)}</svg>'


def _text(x: float, y: float, words: str, size: int, colour: str) -> str:
    style = f'font-family="{FONT}" font-size="{size}px" fill="{PALETTE[colour][0]}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'
