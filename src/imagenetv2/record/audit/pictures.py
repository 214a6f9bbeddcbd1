"""Pictures of findings: small charts, as SVG in the page’s own colours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.style import FONT, INK, MUTED, config, token
from imagenetv2.analysis.wording import count
from imagenetv2.record.audit import blinding, paper
from imagenetv2.record.audit.released import LABELS, Released
from imagenetv2.record.audit.revisions import steps
from imagenetv2.record.audit.searches import AFTER, BEFORE, OPEN, WITHIN, placed

PLACES = {BEFORE: "set-2", WITHIN: "original", AFTER: "set-1", OPEN: "drop"}
REASONS = {"excluded": "Excluded by people", "near": "Near-duplicate", "other": "Neither"}
Chart = alt.Chart | alt.LayerChart | alt.VConcatChart
WIDTH = 620
FIRST, LAST = 2004, 2019
"""Years that the picture of uploads shows; Flickr began in 2004."""


@dataclass(frozen=True)
class Picture:
    """A chart for a page, and what it shows in words."""

    svg: str
    caption: str


def pictures(record: Released) -> dict[str, Picture]:
    """Pictures by slug of the finding that they belong to."""
    made: dict[str, tuple[Chart, str] | None] = {
        "uploads": _uploads(record),
        "positions": _positions(record),
        "blinding": _page(record),
        "changes": _changes(record),
    }
    return {slug: Picture(inline(m[0], slug, m[1]), m[1]) for slug, m in made.items() if m}


def inline(chart: Chart, name: str, description: str) -> str:
    """An SVG for a page: ids of its own, no fixed size, and a description."""
    import vl_convert

    spec: dict[str, Any] = json.loads(chart.to_json())
    spec["config"] = config(FONT, None) | {"aria": False}
    text: str = vl_convert.vegalite_to_svg(spec)
    text = text[text.index("<svg") :]
    # The renderer numbers its ids on from chart to chart.
    for number, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', text))):
        text = text.replace(f'id="{old}"', f'id="{name}-{number}"').replace(
            f"url(#{old})", f"url(#{name}-{number})"
        )
    width = re.search(r'<svg [^>]*?width="([0-9.]+)"', text)
    head, rest = text.split(">", 1)
    head = re.sub(r' (width|height)="[0-9.]+"', "", head)
    size = round(float(width.group(1))) if width else WIDTH
    label = description.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return f'{head} role="img" aria-label="{label}" style="max-width:{size}px">{rest}'.strip()


def _colour(field: str, order: list[str], names: list[str], **kw: Any) -> alt.Color:
    scale = alt.Scale(domain=order, range=[token(n) for n in names])
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(orient="top", **kw))


def _uploads(record: Released) -> tuple[alt.VConcatChart, str] | None:
    dated = placed(record.search.dropna(subset=["uploaded_from", "uploaded_to"]))
    if dated.empty:
        return None
    panels = [
        _quarters(group, str(low), str(high))
        for (low, high), group in list(dated.groupby(["uploaded_from", "uploaded_to"]))
    ]
    old = int((dated["uploaded_time"].dt.year < FIRST).sum())
    text = (
        "Records by quarter of upload, a panel for each claimed window of uploads, which is shaded; square-root scale. "
        f"Records without both ends of a window are not drawn, nor {count(old)} from before {FIRST}."
    )
    return alt.vconcat(*panels).resolve_scale(color="shared", y="shared"), text


def _quarters(dated: pd.DataFrame, low: str, high: str) -> alt.LayerChart:
    """Records of one claimed window by quarter of upload."""
    start = dated["uploaded_time"].dt.to_period("Q").dt.start_time.rename("quarter")
    numbers = (
        dated.groupby([start, dated["uploaded_is"].rename("place")]).size().rename("records").reset_index()
    )
    numbers = numbers.loc[numbers["quarter"].dt.year >= FIRST]
    numbers["end"] = (numbers["quarter"] + pd.DateOffset(months=3)).dt.strftime("%Y-%m-%d")
    numbers["quarter"] = numbers["quarter"].dt.strftime("%Y-%m-%d")
    band = (
        alt.Chart(pd.DataFrame([{"low": low, "high": high}]))
        .mark_rect(color=token("drop"), opacity=0.35)
        .encode(x="low:T", x2="high:T")
    )
    span = alt.Scale(domain=[f"{FIRST}-01-01", f"{LAST}-01-01"])
    bars = (
        alt.Chart(numbers)
        .mark_rect(stroke=token("paper"), strokeWidth=0.5, clip=True)
        .encode(
            x=alt.X("quarter:T", title=None, scale=span, axis=alt.Axis(grid=False, format="%Y")),
            x2="end:T",
            y=alt.Y(
                "records:Q",
                title="Records",
                scale=alt.Scale(type="sqrt"),
                axis=alt.Axis(values=[10, 100, 500, *range(1000, 100_000, 1000)]),
            ),
            y2=alt.datum(0),
            color=_colour("place", list(PLACES)[:3], list(PLACES.values())[:3]),
        )
    )
    chart: alt.LayerChart = band + bars
    return chart.properties(width=WIDTH, height=150, title=f"Window {low} to {high}")


def _positions(record: Released) -> tuple[alt.LayerChart, str] | None:
    sizes = record.tasks.groupby("task_id")["position"].transform("size")
    full = record.tasks.loc[(sizes == paper.TASK) & (record.tasks["role"] != "candidate")]
    if full.empty:
        return None
    numbers = (
        full["position"]
        .value_counts()
        .reindex(range(paper.TASK), fill_value=0)
        .rename("controls")
        .rename_axis("position")
        .reset_index()
    )
    numbers["position"] += 1
    bars = (
        alt.Chart(numbers)
        .mark_bar(color=token("bar"))
        .encode(
            x=alt.X(
                "position:O",
                title="Position on the page",
                axis=alt.Axis(values=[1, 6, 12, 18, 24, 30, 36, 42, 48], labelAngle=0),
            ),
            y=alt.Y("controls:Q", title="Controls"),
        )
    )
    mean = pd.DataFrame({"mean": [float(numbers["controls"].mean())]})
    rule = alt.Chart(mean).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="mean:Q")
    return (bars + rule).properties(
        width=WIDTH, height=150
    ), "Number of controls at each position over all tasks of 48 images; the dashed line is the mean."


def _page(record: Released) -> tuple[alt.LayerChart, str] | None:
    """The first whole task as a page: which images' addresses begin alike."""
    sizes = record.tasks.groupby("task_id").size()
    whole = sorted(sizes[sizes == paper.TASK].index)
    if not whole:
        return None
    task = record.tasks.loc[record.tasks["task_id"] == whole[0]].sort_values("position")
    cells = pd.DataFrame(
        {
            "column": task["position"] % 12,
            "row": task["position"] // 12,
            "alike": [
                "begins as another" if a else "begins as no other"
                for a in blinding.alike(task["image_id"].tolist())
            ],
            "what": task["role"].map({"candidate": "", "positive": "+", "negative": "−", "validation": "v"}),
        }
    )
    axes = {"x": alt.X("column:O", axis=None), "y": alt.Y("row:O", axis=None)}
    squares = (
        alt.Chart(cells)
        .mark_rect(stroke=token("paper"), strokeWidth=3)
        .encode(
            **axes, color=_colour("alike", ["begins as another", "begins as no other"], ["set-2", "drop"])
        )
    )
    marks = alt.Chart(cells).mark_text(color=token("paper"), fontSize=17).encode(**axes, text="what:N")
    text = f"One page of 48 images: those whose address begins as another one’s. + and − are its positive and negative controls, blank squares candidates (task {whole[0]})."
    return (squares + marks).properties(width=WIDTH, height=210), text


def _changes(record: Released) -> tuple[alt.Chart, str] | None:
    table = steps(record)
    if table.empty:
        return None
    short = [
        f"{LABELS[s]} {o.rsplit('-', 1)[-1]} → {n.rsplit('-', 1)[-1]}"
        for s, o, n in zip(table["set"], table["old"], table["new"], strict=True)
    ]
    long = table.assign(step=short).melt("step", list(REASONS), "reason", "images")
    long["reason"] = long["reason"].map(REASONS)
    long["order"] = long["reason"].map({r: k for k, r in enumerate(REASONS.values())})
    chart = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("images:Q", title="Images that left the set", axis=alt.Axis(tickCount=5)),
            y=alt.Y("step:N", title=None, sort=short, axis=alt.Axis(labelLimit=260, labelColor=MUTED)),
            color=_colour("reason", list(REASONS.values()), ["set-2", "set-1", "drop"]),
            order="order:Q",
        )
    )
    return chart.properties(
        width=460, height=26 * len(short)
    ), "Images that left a set from one revision in the record to the next, by why."
