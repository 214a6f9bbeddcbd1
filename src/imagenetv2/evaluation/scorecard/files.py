"""What is written: CSV and JSON of all rows, the plot, and the page."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from imagenetv2.analysis.figures import renderer
from imagenetv2.analysis.figures.figure import Figure, for_paper
from imagenetv2.analysis.figures.style import FONT, on_paper
from imagenetv2.atomically import write_bytes
from imagenetv2.evaluation.scorecard import study
from imagenetv2.evaluation.scorecard.card import Card
from imagenetv2.evaluation.scorecard.columns import COLUMNS
from imagenetv2.evaluation.scorecard.entrants import LIBRARIES
from imagenetv2.evaluation.scorecard.page import page
from imagenetv2.evaluation.scorecard.plot import plot
from imagenetv2.evaluation.scorecard.rows import Row
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.libraries import versions_of

DIGITS = 4


def write(wanted: Wanted, card: Card) -> list[str]:
    """Write everything; returns the names of the files."""
    figure = plot(card.rows, card.sets)
    made = {
        "results.csv": table(card.rows).encode(),
        "results.json": f"{json.dumps(document(wanted, card), indent=1, ensure_ascii=False)}\n".encode(),
        **({} if figure is None else drawn(figure)),
        "index.html": page(card.rows, card.sets, figure, card.failed).encode(),
    }
    for name, data in made.items():
        write_bytes(wanted.out / name, data)
    return list(made)


def table(rows: Sequence[Row]) -> str:
    """CSV with the columns of ``columns.COLUMNS``, in the order of models and sets; empty where nothing is known."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _rounded(row[name]) for name in COLUMNS} for row in rows)
    return text.getvalue()


def document(wanted: Wanted, card: Card) -> dict[str, Any]:
    """The same nested, with what was asked for, versions of libraries, lines, and what the columns mean."""
    return {
        "settings": {k: _plain(v) for k, v in asdict(wanted).items()},
        "libraries": versions_of(LIBRARIES),
        "sets": {of.name: _set(of) for of in card.sets},
        "models": {
            entrant.name: {
                "kind": entrant.model.kind,
                "facts": _plain(entrant.facts),
                "results": {
                    row["set"]: {
                        k: _rounded(v) for k, v in row.items() if k not in ("model", "set") and v is not None
                    }
                    for row in card.rows
                    if row["model"] == entrant.name
                },
            }
            for entrant in card.entrants
        },
        "failed": dict(sorted(card.failed.items())),
        "lines": {
            known: _line(known)
            for known in sorted({of.set.known or "" for of in card.sets})
            if study.line(known)
        },
        "columns": COLUMNS,
    }


def _set(of: Opened) -> dict[str, Any]:
    return {
        "option": f"--{of.part}",
        "title": of.title,
        "known": of.set.known,
        "recognised": of.set.recognised,
        "layout": of.set.layout,
        "images": len(of.set.ids),
        "classes": int(of.set.classes.size),
        "digest": of.set.digest,
        "content": of.content,
        "remarks": list(of.set.remarks),
    }


def _line(known: str) -> dict[str, Any]:
    found = study.line(known)
    return (
        {}
        if found is None
        else {
            "slope": found.sampled.slope,
            "offset": found.sampled.offset,
            "source": found.source,
            "from": found.low,
            "to": found.high,
            "scatter": found.scatter,
        }
    )


def drawn(figure: Figure) -> dict[str, bytes]:
    """``plot.svg`` and ``plot.png``."""
    made = renderer.chart(figure.name, on_paper(json.dumps(for_paper(figure, FONT))))
    return {name: data for name, data in made.items() if not name.endswith(".pdf")}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS) if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.as_posix() if isinstance(value, Path) else value
