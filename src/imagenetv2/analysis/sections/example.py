"""One task as its workers saw it."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from imagenetv2 import archive
from imagenetv2.analysis.pictures import uri
from imagenetv2.artifacts import Artifact

SCRIPT = re.compile(r"<(script|noscript)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
REMOTE = re.compile(r"<link\b[^>]*>", re.IGNORECASE)


def example(hits: Artifact, names: dict[str, str]) -> dict[str, Any] | None:
    """The first task's page with its pictures inside it, and what it shows; None where there is no task.

    Scripts are left out, since nothing can be submitted from a report.
    """
    pages, tasks = hits.table("pages"), hits.table("tasks")
    if pages.empty:
        return None
    page = pages.sort_values("task_id").iloc[0]
    shown = tasks[tasks["task_id"] == page["task_id"]]
    with archive.Reader(hits.path("pages.zip")) as reader:
        html = reader.data(_entry(reader.names(), str(page["page"]))).decode("utf-8")
    with archive.Reader(hits.path("shown.zip")) as reader:
        pictures = {
            str(token): uri(reader.data(f"{image_id}.jpg"))
            for token, image_id in zip(shown["token"], shown["image_id"], strict=True)
        }
    return {
        "html": standalone(html, pictures),
        "task": page["task_id"],
        "name": names.get(page["wnid"], page["wnid"]),
        "roles": roles(shown),
    }


def standalone(html: str, pictures: dict[str, str]) -> str:
    """A page without scripts and remote sheets, its pictures replaced by data URIs by the token they carry."""
    html = REMOTE.sub("", SCRIPT.sub("", html))
    for token, data in pictures.items():
        html = re.sub(rf'(\bsrc=)"[^"]*{re.escape(token)}[^"]*"', rf'\1"{data}"', html)
    return html


def roles(shown: pd.DataFrame) -> dict[str, int]:
    """How many images of the task have each role."""
    return {str(role): int(n) for role, n in shown["role"].value_counts().sort_index().items()}


def _entry(names: list[str], page: str) -> str:
    return page if page in names else next(name for name in names if name.startswith(page))
