"""The page of an evaluation: tables, curves, what each metric survives, and the pairs it is wrong about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from jinja2 import ChoiceLoader, PackageLoader

from imagenetv2.analysis import scripts, wording
from imagenetv2.analysis.figures.figure import Figure
from imagenetv2.analysis.figures.style import PALETTE, Series
from imagenetv2.analysis.pictures import QUALITY, uri
from imagenetv2.duplicates.labelled.cutoffs import (
    ALL,
    ANY,
    BEST,
    GIVEN,
    ORIGINALS,
    PRECISE,
    Cutoffs,
    Measured,
)
from imagenetv2.duplicates.labelled.survival import tables
from imagenetv2.duplicates.wording import distance
from imagenetv2.images import Pixels, encode_jpeg, within
from imagenetv2.templates import environment

EXAMPLES = 12
SIDE = 160
"""Longest side of a picture on the page, in pixels."""
SCOPES = {
    ORIGINALS: (
        "Pairs with an original",
        "One image of each pair is an original, as when a copy of a known image is looked for.",
    ),
    ALL: ("All pairs", "Also pairs of two copies of one original, which may be far apart."),
}


def page(
    title: str, measured: Measured, summary: pd.DataFrame, kinds: pd.DataFrame, given: Cutoffs, precision: float,
    looks: Mapping[str, Series], drawn: Figure, picture: Callable[[str], Pixels], unreadable: Mapping[str, str],
    settings: str, library: str,
) -> str:  # fmt: skip
    """The evaluation as HTML that needs nothing else; ``picture`` gives the pixels of an image by name."""
    pages = environment("imagenetv2.duplicates.labelled")
    assert pages.loader is not None
    pages.loader = ChoiceLoader([pages.loader, PackageLoader("imagenetv2.analysis")])
    pages.filters.update(wording.FILTERS)
    pages.filters["specification"] = scripts.specification
    labelled = measured.labelled
    first = next(iter(measured.pairs()))
    return pages.get_template("cutoffs.html.j2").render(
        title=title,
        lead=f"{wording.plural(len(labelled.names), 'image')}, {wording.plural(len(labelled.row), 'pair')}, "
        f"{wording.count(labelled.duplicate.sum())} of near-duplicates. A pair is found where its distance is at or "
        "below a metric's cut-off; any metric is enough to bring it before a reviewer.",
        scopes=[_scope(name, rows, looks, precision) for name, rows in summary.groupby("pairs", sort=False)],
        precision=precision,
        figure=drawn,
        curves_over=f"Over {SCOPES[first][0].lower()}.",
        survival=tables(kinds, looks),
        albums=_albums(measured, given, picture),
        unreadable=unreadable,
        settings=settings,
        palette=PALETTE,
        shown=looks,
        library=scripts.inert(library),
    )


def _scope(name: Any, rows: pd.DataFrame, looks: Mapping[str, Series], precision: float) -> dict[str, Any]:
    title, caption = SCOPES[name]
    said = {GIVEN: "given", BEST: "best F1", PRECISE: f"precision {wording.percent(precision, 0)}"}
    out: list[dict[Any, Any]] = []
    for choice, some in rows.groupby("choice", sort=False):
        for place, row in enumerate(some.to_dict("records")):
            metric, single = row["metric"], row["metric"] != ANY
            known = np.isfinite(row["recall"])
            out.append(
                row
                | {
                    "span": 0 if place else len(some),
                    "choice": said[str(choice)],
                    "css": looks[metric].css if single else "",
                    "single": single,
                    "known": known,
                    "cutoff": (distance(row["cutoff"]) if np.isfinite(row["cutoff"]) else "–")
                    if single
                    else "",
                }
            )
    first = rows.iloc[0]
    pairs, right = int(first["duplicates"] + first["different"]), int(first["duplicates"])
    counted = f"{wording.plural(pairs, 'pair')}, {wording.count(right)} of near-duplicates."
    return {"title": title, "caption": f"{caption} {counted}", "rows": out}


def _albums(measured: Measured, given: Cutoffs, picture: Callable[[str], Pixels]) -> list[dict[str, Any]]:
    """Pairs that are wrongly found and pairs that are missed, those nearest to a cut-off first."""
    known = {metric: cutoff for metric, cutoff in given.items() if np.isfinite(cutoff) and cutoff > 0}
    if not known:
        return []
    which = next(iter(measured.pairs().values()))
    ratio = np.min([measured.distances[metric] / cutoff for metric, cutoff in known.items()], axis=0)
    right, found = measured.labelled.duplicate, ratio <= 1
    wrong, missed = which & found & ~right, which & ~found & right
    albums = (
        ("wrong", "Wrongly found", wrong, "different pair", "found by some metric"),
        ("missed", "Missed", missed, "pair of near-duplicates", "found by no metric"),
    )
    return [
        {
            "name": name,
            "title": title,
            "lead": f"At the cut-offs given, {wording.plural(some.sum(), what, what.replace('pair', 'pairs', 1))} "
            f"{'is' if some.sum() == 1 else 'are'} {how}"
            + ("." if some.sum() == 1 else "; the nearest come first.")
            + (f" Here are {EXAMPLES} of them." if some.sum() > EXAMPLES else ""),
            "pairs": [_pair(measured, i, given, picture) for i in _nearest(some, ratio)],
        }
        for name, title, some, what, how in albums
        if some.any()
    ]


def _nearest(some: npt.NDArray[np.bool_], ratio: npt.NDArray[np.float64]) -> list[int]:
    index = np.flatnonzero(some)
    return [int(i) for i in index[np.argsort(ratio[index], kind="stable")][:EXAMPLES]]


def _pair(measured: Measured, i: int, given: Cutoffs, picture: Callable[[str], Pixels]) -> dict[str, Any]:
    labelled = measured.labelled
    names = [labelled.names[labelled.row[i]], labelled.names[labelled.column[i]]]
    return {
        "names": " · ".join(names),
        "pictures": [
            {"name": name, "src": uri(encode_jpeg(within(picture(name), SIDE), QUALITY))} for name in names
        ],
        "distances": [
            {"metric": metric, "value": distance(some[i]), "below": bool(some[i] <= given[metric])}
            for metric, some in measured.distances.items()
        ],
    }
