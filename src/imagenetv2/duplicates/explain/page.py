"""An explanation as a page with the pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from imagenetv2.analysis.figures.style import PALETTE
from imagenetv2.duplicates.explain import text
from imagenetv2.duplicates.explain.study import Study
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.wording import ORIGIN_NAMES, distance
from imagenetv2.review.sheets import Pictures
from imagenetv2.templates import environment


def page(study: Study, found: list[dict[str, Any]], count: int) -> str:
    """One page for all images; of each list of neighbours those below the cut-off and the first ``count``."""
    with Pictures(study.plan) as pictures:
        images = [_image(facts, count) for facts in found]
        album = {name: pictures.address(name) for name in sorted(_needed(images))}
    template = environment("imagenetv2.duplicates").get_template("explain.html.j2")
    return template.render(palette=PALETTE, images=images, album=album, missing=found[0]["missing"])


def _needed(images: Iterable[dict[str, Any]]) -> set[str]:
    shown: set[str] = set()
    for image in images:
        shown.add(image["image_id"])
        shown |= {member["image_id"] for member in image["members"]}
        for metric in image["metrics"]:
            shown |= {row["image_id"] for row in metric["rows"]}
    return shown


def _image(facts: dict[str, Any], count: int) -> dict[str, Any]:
    component = facts["component"]
    return {
        "image_id": facts["image_id"],
        "where": list(text.where_from(facts)),
        "fate": list(text.fate(facts)),
        "fates": sorted({row["fate"] for row in facts["fates"] or ()}),
        "sets": list(text.sets(facts)),
        "pairs": list(text.pairs(facts)),
        "component": component,
        "alone": list(text.component(facts)) if component is None else [],
        "members": [_member(member) for member in component["members"]] if component else [],
        "edges": component["edges"] if component else [],
        "metrics": [_metric(metric, found, count) for metric, found in facts["neighbours"].items()],
    }


def _member(member: dict[str, Any]) -> dict[str, Any]:
    original = member["origin"] != "candidates"
    votes = f"{member['selected']} of {member['shown']} workers" if member["shown"] is not None else ""
    return {
        "image_id": member["image_id"],
        "fate": f"{ORIGIN_NAMES[member['origin']]} image" if original else member["fate"],
        "state": member["fate"],
        "note": ", ".join(part for part in (member["wnid"], votes) if part),
        "reason": member["reason"],
    }


def _metric(metric: str, found: dict[str, Any], count: int) -> dict[str, Any]:
    rows = text.shown(found["list"] or [], count)
    by = text.shown(found["listed_by"], count)
    return {
        "name": METRICS[metric].name,
        "head": f"{found['distance'][0].upper()}{found['distance'][1:]}; cut-off {distance(found['cutoff'])}",
        "searched": found["list"] is not None,
        "rows": [_neighbour(row, False) for row in rows] + [_neighbour(row, True) for row in by],
    }


def _neighbour(row: dict[str, Any], listing: bool) -> dict[str, Any]:
    return {
        "image_id": row["image_id"],
        "distance": distance(row["distance"]),
        "near": row["below"],
        "place": "lists it" if listing else f"{row['rank'] + 1}",
        "note": f"{ORIGIN_NAMES[row['origin']]}, {', '.join(row['wnids'])}",
        "verdict": text.VERDICTS.get(row["verdict"], row["verdict"]),
    }
