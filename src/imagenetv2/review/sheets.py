"""Sheets: pages on which people judge, each one file that needs no server and no network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from imagenetv2.analysis.pictures import uri
from imagenetv2.archive import Reader
from imagenetv2.duplicates.flags import PAIR_FLAGS
from imagenetv2.duplicates.metrics import METRICS, Metric
from imagenetv2.duplicates.stages import enabled
from imagenetv2.images import encode_jpeg, within
from imagenetv2.plan import Plan as Run
from imagenetv2.progress import progress
from imagenetv2.randomness import generator
from imagenetv2.review.queue import PAIRS, artifact, classes, pairs_waiting, require_kind, require_people
from imagenetv2.sampling.stages import RULES
from imagenetv2.templates import environment

LONGEST = 320
"""Pixels of the longest side of a picture on a sheet."""
REASONS = (
    "not representative of the class",
    "cartoon, painting, drawing or rendering",
    "different in distribution from the validation images",
    "unclear, blurry, heavily occluded, edited, or the object is small",
)


def write(run: Run, kind: str, folder: Path, each: int) -> list[Path]:
    """Write what waits for a verdict, ``each`` pairs or classes a sheet. Returns the paths, none if all is done."""
    require_kind(kind)
    require_people(run)
    with Pictures(run) as pictures:
        items, facts = _pairs(run) if kind == PAIRS else _classes(run, kind)
        written = []
        pages = environment("imagenetv2.review")
        pages.filters["script"] = _script
        template = pages.get_template("pairs.html.j2" if kind == PAIRS else "classes.html.j2")
        parts = [items[start : start + each] for start in range(0, len(items), each)]
        for number, part in enumerate(progress(parts, "writing sheets"), 1):
            name = f"{kind}-revision-{facts['revision']}" if kind in RULES else kind
            path = folder / f"{name}-{number:03d}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            page = template.render(
                **facts,
                kind=kind,
                name=path.stem,
                number=number,
                sheets=len(parts),
                items=_shown(part, pictures),
            )
            path.write_text(page, "utf-8")
            written.append(path)
    return written


class Pictures:
    """Pictures of candidates and original images by image_id, as data addresses."""

    def __init__(self, run: Run) -> None:
        self._places: dict[str, tuple[Reader, str]] = {}
        self._readers = []
        for stage in ("reference", "candidates"):
            source = artifact(run, stage)
            reader = Reader(source.path("images.zip"))
            self._readers.append(reader)
            table = source.table(stage)
            for image, file in zip(table["image_id"].tolist(), table["file"].tolist(), strict=True):
                self._places[image] = (reader, file)

    def __enter__(self) -> Pictures:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self._readers:
            reader.close()

    def address(self, image: str) -> str:
        """The picture as a JPEG in a data address; all come from one encoder."""
        reader, file = self._places[image]
        return uri(encode_jpeg(within(reader.pixels(file), LONGEST)))


def _shown(items: Sequence[dict[str, Any]], pictures: Pictures) -> Iterator[dict[str, Any]]:
    for item in items:
        yield {**item, "pictures": {i: pictures.address(i) for i in item["ids"]}}


def _pairs(run: Run) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    cutoffs = run.config.duplicates.cutoffs.model_dump()
    items = []
    for row in pairs_waiting(run).to_dict("records"):
        pair = (str(row["image_id"]), str(row["neighbour_id"]))
        flags = [PAIR_FLAGS[flag] for flag in row["flags"]]
        distances = [
            _distance(METRICS[m], row[m], cutoffs[m], m in row["found_by"])
            for m in METRICS
            if m in enabled(run.config)
        ]
        items.append({"ids": pair, "origin": row["origin"], "distances": distances, "flags": flags})
    return items, {}


def _distance(metric: Metric, distance: float, cutoff: float, found: bool) -> dict[str, Any]:
    """A line of the table beside a pair; ``share`` is the distance in units of the cut-off."""
    known = not pd.isna(distance)
    return {
        "metric": metric.distance,
        "distance": _number(distance) if known else "not near",
        "cutoff": _number(cutoff),
        "share": f"{distance / cutoff:.2f}" if known and cutoff else "",
        "found": found,
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _classes(run: Run, rule: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    queue = classes(run, rule)
    table = artifact(run, "classes").table("classes")
    names = {row["wnid"]: row for row in table.to_dict("records")}
    reference = artifact(run, "reference").table("reference")
    validation = reference[reference["split"] == "val"].groupby("wnid")["image_id"].agg(sorted).to_dict()
    items = []
    for wnid in queue.waiting:
        images, among = list(queue.classes[wnid].ids), validation.get(wnid, [])
        rng = generator(run.config.seed, "beside", rule, wnid)
        count = min(run.config.review.beside, len(among))
        beside = [among[i] for i in rng.choice(len(among), size=count, replace=False)] if count else []
        items.append(
            {
                "wnid": wnid, "ids": [*images, *beside], "images": images, "beside": beside,
                "words": ", ".join(names[wnid]["lemmas"]), "definition": names[wnid]["definition"],
                "missing": queue.classes[wnid].missing,
            }
        )  # fmt: skip
    return items, {"revision": queue.revision.number, "rule": RULES[rule], "reasons": REASONS}


def _script(value: Any) -> Markup:
    """A value inside a script element: JSON in which no tag can begin."""
    return Markup(json.dumps(value).replace("<", "\\u003c"))
