"""What workers were seen to do against what they would do in the long run."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, MUTED, ORIGINAL, PAPER, Series, token
from imagenetv2.analysis.wording import share

Floats = npt.NDArray[np.float64]
SHOWN = 500
FEWEST = 5
COLOURS = {"original": ORIGINAL, "candidates": token("candidates")}
SHAPES = {"original": "circle", "candidates": "square"}


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


def truth(
    known: Mapping[str, tuple[str, Floats, Floats]],
    rules: pd.DataFrame,
    sets: dict[str, Series],
    rng: np.random.Generator,
) -> Figure:
    """Two panels: single images, and averages of each set.

    Args:
        known: label, observed and true frequency of two groups of images, ``original`` and ``candidates``.
        rules: the table of rules, with true frequencies.
        sets: how sets are shown.
        rng: scatters overlapping points.
    """
    images = "True against observed selection frequency of single images, with averages for each frequency."
    rows = "Observed and true average selection frequency of each set: " + "; ".join(
        f"{sets[str(r['set'])].label} {share(r['frequency'])} and {share(r['true_frequency'])}"
        for r in rules.to_dict("records")
    )
    return Figure(
        "truth",
        (
            Panel("truth-images", images, _images(known, rng), width=300, height=300),
            Panel("truth-sets", rows, _sets(rules, sets), width=300, height=230),
        ),
        columns=2,
    )


def _images(known: Mapping[str, tuple[str, Floats, Floats]], rng: np.random.Generator) -> alt.LayerChart:
    dots, lines = [], []
    for name, (label, observed, true) in known.items():
        some = rng.permutation(observed.size)[:SHOWN]
        jitter = rng.uniform(-0.02, 0.02, some.size)
        dots.append(
            pd.DataFrame({"label": label, "observed": (observed[some] + jitter).round(3), "true": true[some]})
        )
        line = regression(observed, true)
        low, high = line["true"] - line["half"], line["true"] + line["half"]
        said = [f"{share(t, 2)} ± {share(h, 2)}" for t, h in zip(line["true"], line["half"], strict=True)]
        lines.append(
            line.assign(
                label=label, low=low, high=high, said=said, at=[share(o, 1) for o in line["observed"]]
            )
        )
        assert name in COLOURS
    labels = [label for label, _, _ in known.values()]
    scale = alt.Scale(domain=labels, range=[COLOURS[name] for name in known])
    colour = alt.Color("label:N", scale=scale, legend=alt.Legend(orient="top-left", offset=4))
    shape = alt.Shape("label:N", scale=alt.Scale(domain=labels, range=[SHAPES[name] for name in known]))
    unit = alt.Scale(domain=[-0.03, 1.03], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    x = alt.X("observed:Q", title="observed selection frequency", scale=unit, axis=axis)
    y = alt.Y("true:Q", title="true selection frequency", scale=unit, axis=axis)
    average = alt.Chart(values(pd.concat(lines).drop(columns="half")))
    tips = tooltips({"label": "of", "at": "observed", "said": "true on average", "images": "images"})
    same = alt.Chart(alt.InlineData(values=[{"a": 0}, {"a": 1}]))
    return layered(
        same.mark_line(color=MUTED, strokeDash=[4, 3], strokeWidth=1).encode(x=alt.X("a:Q"), y=alt.Y("a:Q")),
        alt.Chart(values(pd.concat(dots)))
        .mark_circle(size=9, fillOpacity=0.3, opacity=1)
        .encode(x=x, y=y, color=colour),
        average.mark_area(fillOpacity=0.22).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high"), color=colour),
        average.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour),
        average.mark_point(filled=True, size=45, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tips
        ),
    )


def _sets(rules: pd.DataFrame, sets: dict[str, Series]) -> alt.LayerChart:
    rows = []
    for row in rules.to_dict("records"):
        one = sets[str(row["set"])]
        for kind, key in (("observed", "frequency"), ("true", "true")):
            value = row["frequency" if key == "frequency" else "true_frequency"]
            low, high = row[f"{key}_low"], row[f"{key}_high"]
            said = f"{share(value)} [{share(low)}, {share(high)}]"
            rows.append(
                {
                    "label": one.label, "kind": kind, "value": value, "low": low, "high": high, "said": said,
                    "colour": one.colour, "fill": one.colour if kind == "true" else PAPER,
                }
            )  # fmt: skip
    labels = [one.label for one in sets.values()]
    chart = alt.Chart(values(pd.DataFrame(rows)))
    y = alt.Y("label:N", scale=alt.Scale(domain=labels), title=None, axis=alt.Axis(domain=False, ticks=False, labelColor=INK,
              labelFontSize=11.5, labelLimit=200, grid=True))  # fmt: skip
    kinds = alt.YOffset("kind:N", scale=alt.Scale(paddingOuter=0.6))
    colour, stroke = alt.Color("colour:N", scale=None), alt.Stroke("colour:N", scale=None)
    fill = alt.Fill("fill:N", scale=None)
    shape = alt.Shape(
        "kind:N",
        scale=alt.Scale(domain=["observed", "true"], range=["circle", "diamond"]),
        legend=alt.Legend(orient="top", symbolFillColor=MUTED, symbolStrokeColor=MUTED, symbolStrokeWidth=1),
    )
    tips = tooltips({"label": "set", "kind": "frequency", "said": "average"})
    return layered(
        chart.mark_rule(strokeWidth=2, strokeOpacity=0.5).encode(
            x=alt.X("low:Q", title="average selection frequency", scale=alt.Scale(zero=False, padding=10)),
            x2=alt.X2("high"), y=y, yOffset=kinds, color=colour,
        ),
        chart.mark_point(size=75, strokeWidth=1.6, opacity=1).encode(
            x=alt.X("value:Q"), y=y, yOffset=kinds, stroke=stroke, fill=fill, shape=shape, tooltip=tips
        ),
    )  # fmt: skip
