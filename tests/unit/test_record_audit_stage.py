"""The stage: its tables and its page."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from imagenetv2.config import Config
from imagenetv2.job import Job
from imagenetv2.record.audit.finding import KINDS
from imagenetv2.record.audit.released import Released
from imagenetv2.record.audit.stage import TOPICS, run
from imagenetv2.record.part_tables import FAULTS
from tests.unit.audit_inputs import at, changed, found, image, record, small_paper

__all__ = ["small_paper"]
pytestmark = pytest.mark.usefixtures("small_paper")
MakeJob = Callable[..., Job]


def inputs(base: Released) -> dict[str, dict[str, pd.DataFrame]]:
    """The record as artifacts."""
    names = {
        "classes": {"classes": base.classes},
        "search": {"records": base.search},
        "candidates": {"candidates": base.candidates, "blacklist": base.blacklist},
        "hits": {"tasks": base.tasks, "submissions": base.submissions},
        "duplicates": {"pairs": base.pairs, "exempted": base.exempted, "looked_at": base.looked_at},
        "reviews": {"classes": base.reviewed},
        "datasets": {"lists": base.lists, "revisions": base.revisions, "originals": base.originals},
        "predictions": {"images": base.images, "models": base.models, "earlier": base.earlier},
        "files": {"files": base.files},
    }
    return {
        f"record/{part}": {f"{name}.parquet": frame for name, frame in frames.items()}
        | ({} if part == "files" else {"faults.parquet": FAULTS.empty()})
        for part, frames in names.items()
    }


@pytest.fixture
def audited(make_job: MakeJob, tmp_path: Path) -> Path:
    """The artifact of a record with one date outside its window and one hostile reason."""
    base = record()
    base = changed(
        base,
        search=at(base.search, 3, uploaded="2015-01-01 00:00:00"),
        blacklist=pd.DataFrame({"image_id": [image(5)], "reason": ["<script>alert(1)</script>"]}),
    )
    config = Config.model_validate({"record": {"path": str(tmp_path)}})
    job = make_job("record/audit", config=config, inputs=inputs(base))
    run(job)
    return job.out.folder


def test_tables_hold_every_finding_and_its_evidence(audited: Path) -> None:
    table = pd.read_parquet(audited / "findings.parquet")
    proof = pd.read_parquet(audited / "evidence.parquet")
    assert set(table["finding"]) == set(found(record()))
    assert table["number"].tolist() == list(range(len(table)))
    numbers = proof.groupby("finding").size().reindex(table["finding"], fill_value=0)
    assert numbers.tolist() == table["evidence"].tolist()
    assert set(table["kind"]) <= set(KINDS)
    assert proof.loc[proof["finding"] == "uploads", "id"].tolist() == [image(3)]


def test_the_csv_file_of_findings_says_the_same(audited: Path) -> None:
    plain = pd.read_csv(audited / "findings.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(plain, pd.read_parquet(audited / "findings.parquet"), check_dtype=False)


class Ids(HTMLParser):
    """Ids, local links and everything fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in ("href", "src"):
                (self.links if str(value).startswith("#") else self.fetched).append(str(value))


def test_the_page_is_whole_and_needs_nothing_else(audited: Path) -> None:
    text = (audited / "audit.html").read_text("utf-8")
    page = Ids()
    page.feed(text)
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert set(found(record())) | set(TOPICS) <= set(page.ids)
    assert page.fetched == ["data:,"]
    assert "script" not in page.tags and "&lt;script&gt;" in text
    assert text.count("<svg") == 3
    assert re.search(r"prefers-color-scheme: dark", text)
    assert not re.search(r"\b(nan|NaN|None|<NA>)\b", text)


def test_the_same_record_gives_the_same_bytes(make_job: MakeJob, tmp_path: Path) -> None:
    config = Config.model_validate({"record": {"path": str(tmp_path)}})
    pages = []
    for _ in range(2):
        job = make_job("record/audit", config=config, inputs=inputs(record()))
        run(job)
        pages.append({p.name: p.read_bytes() for p in sorted(job.out.folder.iterdir())})
    assert pages[0] == pages[1]
