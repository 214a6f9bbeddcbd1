"""A figure: panels that are defined once, and shown in a page and in files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.style import MUTED, PAPER, config

PAGE_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
Spec = dict[str, Any]
CHANNELS = ("color", "fill", "shape", "stroke", "strokeDash")
DIGITS = 6
SIGNED = "(datum.value > 0 ? '+' : '') + replace(datum.label, '-', '−')"
"""Labels of an axis of differences."""


@dataclass(frozen=True)
class Panel:
    """One chart.

    Attributes:
        name: unique among all panels of a page.
        description: what it shows, in words.
        chart: without a size.
        width, height: in a file, in pixels of 1/96 inch; in a page the proportions of a chart that fills its column.
        rows: whether its height holds rows of text, so that it stays as it is in any width.
    """

    name: str
    description: str
    chart: alt.LayerChart
    width: int = 250
    height: int = 250
    rows: bool = False

    @cached_property
    def specification(self) -> Mapping[str, Any]:
        """The chart's Vega-Lite specification, each of its tables in it once."""
        spec = self.chart.to_dict(validate=False)
        del spec["config"]
        tables = spec.setdefault("datasets", {})
        for part in (spec, *spec["layer"]):
            data = part.get("data", {})
            if "format" in data:
                tables[data["name"]] = json.loads(data["values"])
                part["data"] = {"name": data["name"]}
        return spec


@dataclass(frozen=True)
class Figure:
    """Panels side by side; ``name`` is also that of its files."""

    name: str
    panels: tuple[Panel, ...]
    columns: int = 3


def for_page(panel: Panel) -> dict[str, Any]:
    """A Vega-Lite specification that fills the element it is put into."""
    size = {"width": "container", "height": "container", "autosize": {"type": "fit", "contains": "padding"}}
    # The page says in words what the chart shows, so that its marks need not be read out one by one.
    settings = {**config(PAGE_FONT, None), "aria": False}
    return {**panel.specification, **size, "config": settings}


def for_paper(figure: Figure, font: str) -> dict[str, Any]:
    """One Vega-Lite specification of all panels, of fixed size, on white."""
    specs: list[Spec] = []
    data: Spec = {}
    params: dict[str, Spec] = {}
    for panel in figure.panels:
        spec = dict(panel.specification)
        schema = spec.pop("$schema")
        data |= spec.pop("datasets", {})
        params |= {param["name"]: param for param in spec.pop("params", [])}
        specs.append({**spec, "width": panel.width, "height": panel.height})
    return {
        "$schema": schema,
        "concat": specs,
        "columns": figure.columns,
        "resolve": {"scale": dict.fromkeys(CHANNELS, "independent")},
        "datasets": data,
        "params": list(params.values()),
        "config": config(font, PAPER),
        "padding": 6,
    }


def values(frame: pd.DataFrame) -> alt.InlineData:
    """A table as data of a chart; numbers keep six significant digits, which is more than a picture shows.

    It is one string, since charts copy their data again and again.
    """
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    return alt.InlineData(values=text, name=name, format=alt.JsonDataFormat(type="json"))


def _plain(value: Any) -> Any:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value.item() if hasattr(value, "item") else value


def tooltips(names: Mapping[str, str]) -> list[alt.Tooltip]:
    """What is said over a mark: columns and their titles."""
    return [alt.Tooltip(field=field, type="nominal", title=title) for field, title in names.items()]


def layered(*layers: alt.Chart, title: str = "", params: Sequence[alt.Parameter] = ()) -> alt.LayerChart:
    """Layers over one another, the first at the bottom, made at once: each later change would copy them all."""
    chart = alt.layer(*layers, **({"title": title} if title else {}), params=[p.param for p in params])
    return cast(alt.LayerChart, chart)


def dashed(across: str, at: float = 0.0) -> alt.Chart:
    """A dashed line over the whole chart: across ``x`` or ``y`` at that place."""
    one = alt.Chart(alt.InlineData(values=[{"at": at}]))
    mark: alt.Chart = one.mark_rule(color=MUTED, strokeDash=[4, 3])
    found: alt.Chart = mark.encode(x=alt.X("at:Q")) if across == "x" else mark.encode(y=alt.Y("at:Q"))
    return found


def nothing(words: str) -> alt.LayerChart:
    """A chart that says why it is empty."""
    text = alt.Chart(alt.InlineData(values=[{"words": words}])).mark_text(color=MUTED)
    return layered(text.encode(text=alt.Text("words:N")))
