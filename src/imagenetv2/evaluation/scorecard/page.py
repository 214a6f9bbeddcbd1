"""``index.html``: plot and tables in one file that loads nothing, in light or dark dress."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from imagenetv2.analysis.figures.figure import PAGE_FONT, Figure, Panel
from imagenetv2.analysis.figures.style import PALETTE, config
from imagenetv2.analysis.wording import plural
from imagenetv2.evaluation.scorecard import study
from imagenetv2.evaluation.scorecard.columns import COLUMNS
from imagenetv2.evaluation.scorecard.rows import Row
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.terminal import (
    best_first,
    cells_of,
    fast,
    heading,
    remarks,
    shown,
    words,
)
from imagenetv2.templates import environment

MODEL = (
    "library", "library_version", "architecture", "tag", "weights_digest", "input_size", "resize", "crop",
    "interpolation", "mean", "std", "mode", "device", "batch",
)  # fmt: skip
"""Columns that are the same on all sets of a model, but for where it ran."""


FEW = 9
"""So many sentences stand at the top; more stand below the tables."""
ROOM = {"left": 4, "top": 4, "right": 40, "bottom": 4}
"""Around a panel, since a browser's letters may be wider than the renderer's."""


def page(
    rows: Sequence[Row],
    sets: Sequence[Opened],
    figure: Figure | None,
    failed: Mapping[str, str],
) -> str:
    """The page.

    Args:
        rows: all results.
        sets: the sets in their order.
        figure: the plot.
        failed: why models have no results, by name.
    """
    template = environment("imagenetv2.evaluation").get_template("scorecard.html.j2")
    models = list({row["model"]: row for row in rows}.values())
    return template.render(
        palette=PALETTE,
        title=_title(rows, sets),
        scatter=_scatter(sets),
        panels=[_drawn(panel) for panel in figure.panels] if figure else [],
        sentences=[*(line for line in words(rows, sets) if line), *fast(rows)],
        few=FEW,
        tables=[_table(rows, of) for of in sets],
        failed=sorted(failed.items()),
        models=[{"name": row["model"], "values": [_text(row[c]) for c in MODEL]} for row in models],
        columns=[{"name": c.replace("_", " "), "meaning": COLUMNS[c]} for c in MODEL],
    )


def _title(rows: Sequence[Row], sets: Sequence[Opened]) -> str:
    models = plural(len({row["model"] for row in rows}), "model")
    titles = [of.title for of in sets]
    joined = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return f"{models} on {joined}"


def _scatter(sets: Sequence[Opened]) -> str:
    """How far the study's networks are from the lines that are shown, in words."""
    lines = {of.title: line for of in sets if of.part == "v2" and (line := study.line(of.set.known))}
    return ", ".join(f"{line.scatter:.1f} on {title}" for title, line in lines.items())


def _table(rows: Sequence[Row], of: Opened) -> dict[str, Any]:
    mine = best_first(rows, of)
    columns = shown(mine, cells_of(of)) if mine else {}
    return {
        "title": heading(of),
        "head": list(columns),
        "rows": list(zip(*columns.values(), strict=True)),
        "notes": remarks(mine),
    }


def _drawn(panel: Panel) -> dict[str, str]:
    """A panel as SVG whose colours are the page's."""
    import vl_convert

    settings = {**config(PAGE_FONT, None), "padding": ROOM}
    spec = {**panel.specification, "width": panel.width, "height": panel.height, "config": settings}
    svg: str = vl_convert.vegalite_to_svg(json.dumps(spec), allowed_base_urls=[])
    # Names of clip paths count from one in each drawing, and a page has several.
    svg = re.sub(r'(id="|url\(#)(clip\d+)', rf"\1{panel.name}-\2", svg)
    return {"svg": svg, "description": panel.description}


def _text(value: Any) -> str:
    return "–" if value is None else str(value)
