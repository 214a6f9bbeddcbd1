"""The audit as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import ChoiceLoader, PackageLoader
from markupsafe import Markup

from imagenetv2.analysis import wording
from imagenetv2.analysis.figures.style import PALETTE, series
from imagenetv2.record.audit.finding import KINDS, SOUND, Finding
from imagenetv2.record.audit.pictures import Picture
from imagenetv2.record.audit.released import LABELS, Released
from imagenetv2.templates import environment

SHOWN = 8
"""Rows of evidence on the page; all are in evidence.parquet."""


def render(
    found: Mapping[str, list[Finding]],
    titles: Mapping[str, str],
    pictures: Mapping[str, Picture],
    record: Released,
    version: str,
) -> str:
    """The page’s HTML."""
    pages = environment("imagenetv2.record.audit")
    assert pages.loader is not None
    # The style sheet is the report's.
    pages.loader = ChoiceLoader([pages.loader, PackageLoader("imagenetv2.analysis")])
    pages.filters.update(wording.FILTERS)
    everything = [f for topic in found.values() for f in topic]
    return pages.get_template("audit.html.j2").render(
        topics=[(slug, titles[slug], findings) for slug, findings in found.items() if findings],
        kinds=[
            (kind, mark(kind), text, sum(f.kind == kind for f in everything)) for kind, text in KINDS.items()
        ],
        mark=mark,
        pictures={slug: (Markup(p.svg), p.caption) for slug, p in pictures.items()},
        most=SHOWN,
        shown=series(LABELS),
        sound=SOUND,
        facts=_facts(record, everything),
        palette=PALETTE,
        version=version,
    )


def mark(kind: str) -> str:
    """The class of a kind in the style sheet."""
    return f"kind-{list(KINDS).index(kind)}"


def _facts(record: Released, everything: list[Finding]) -> dict[str, Any]:
    return {
        "findings": len(everything),
        "sound": sum(f.kind == SOUND for f in everything),
        "files": len(record.files),
        "records": len(record.search),
        "tasks": len(record.submissions),
        "lists": len(record.lists),
        "models": record.models["model"].nunique(),
        "evidence": sum(len(f.evidence) for f in everything),
    }
