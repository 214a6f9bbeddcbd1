"""The report: one page that needs nothing else and is the same each time."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest

from imagenetv2.analysis import wording
from imagenetv2.analysis.sections.albums import some_classes, some_images
from imagenetv2.analysis.sections.example import standalone
from imagenetv2.analysis.sections.provenance import differing
from tests.unit.analysis_inputs import perform

VOID = {"meta", "link", "img", "br", "hr", "input", "path", "use"}


class Page(HTMLParser):
    """Tags, addresses and ids of a page; ``open`` is empty at the end where every tag was closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.frames: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        elif tag in ("img", "link", "script", "iframe", "source"):
            self.loads += [str(found[k]) for k in ("src", "href") if found.get(k)]
        if tag == "iframe":
            self.frames.append(str(found["srcdoc"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real world, two models, more classes than are shown, one metric."""
    folder = tmp_path_factory.mktemp("other")
    return perform(
        folder, classes=14, validation=20, candidates=20, taken=4, models=2, metrics=("l2",), world=False
    )


def page(data: Path) -> Page:
    return Page((data / "report/0123456789/report.html").read_text("utf-8"))


def test_it_needs_nothing_else(data: Path) -> None:
    text = (data / "report/0123456789/report.html").read_text("utf-8")
    found = Page(text)
    assert found.open == []
    assert all(address.startswith("data:") for address in found.loads)
    assert "url(http" not in text and "@import" not in text and "script" not in found.tags
    assert len(text.encode()) < 10e6
    assert len(found.ids) == len(set(found.ids))
    for reference in re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', text):
        assert reference in found.ids


def test_links_lead_to_files_from_both_places(data: Path) -> None:
    found = page(data)
    assert {a[1:] for a in found.links if a.startswith("#")} <= set(found.ids)
    tables = [a for a in found.links if not a.startswith("#")]
    assert any("rules.csv" in a for a in tables) and any(a.endswith("photos.parquet") for a in tables)
    for place in ("report/0123456789/report.html", "latest/report/report.html"):
        for address in tables:
            if address.startswith("../../"):
                target = urljoin(f"file:///data/{place}", address).removeprefix("file:///data/")
                assert (data / target).is_file(), address


def test_its_numbers_are_those_of_the_tables(data: Path) -> None:
    words = " ".join(" ".join(page(data).text).split())
    rules = json.loads((data / "analysis/0123456789/fits.json").read_text())
    assert len(rules["fits"]) >= 6
    assert "300 records for 4 classes" in words
    assert "240 became candidates" in words
    assert "What was observed, and what is true" in words
    assert "8 pairs were below a cut-off" in words


def test_the_example_task_shows_its_pictures_and_runs_nothing(data: Path) -> None:
    (frame,) = page(data).frames
    inner = Page(frame)
    assert len(inner.loads) == 8 and all(a.startswith("data:image/jpeg") for a in inner.loads)
    assert "script" not in inner.tags and "JS!" not in frame


def test_the_same_inputs_give_the_same_bytes(data: Path, tmp_path: Path) -> None:
    again = perform(tmp_path)
    for stage in ("analysis", "report"):
        one, two = (json.loads((d / stage / "0123456789/manifest.json").read_text()) for d in (data, again))
        assert one["files"] == two["files"]
        assert len(one["files"]) >= 5


def test_figures_carry_no_date_and_no_software(data: Path) -> None:
    folder = data / "report/0123456789"
    assert "date" not in (folder / "accuracy.svg").read_text("utf-8").lower()
    assert b"Software" not in (folder / "accuracy.png").read_bytes()


def test_another_run_fits_too(other: Path) -> None:
    found = page(other)
    words = " ".join(" ".join(found.text).split())
    assert found.open == []
    assert "What was observed, and what is true" not in words
    assert "Random images of a random sample of the classes" in words
    assert "features" not in " ".join(words.split("Near-duplicates")[-1].split("The sets as")[:1])
    settings = words.split("Settings that differ")[1].split("Versions")[0]
    assert "neighbours.fc7.enabled" not in settings  # That metric has no artifact to read it from.
    assert "world.source" not in words


def test_settings_that_differ() -> None:
    manifests = {
        "datasets/threshold": {
            "settings": {"sampling.threshold": {"frequency": 0.8, "by_class": {}}}, "seed": 1,
        },
        "models/mine": {"settings": {"models.mine": {"epochs": 3}}, "seed": 1},
    }  # fmt: skip
    found = {row["key"]: (row["value"], row["default"]) for row in differing(manifests)}
    assert found == {
        "sampling.threshold.frequency": ("0.8", "0.7"),
        "models.mine.epochs": ("3", ""),
        "seed": ("1", "2019"),
    }


def test_standalone_pages_keep_everything_but_scripts() -> None:
    html = '<p>x</p><img src="http://h/abc.jpg?x"><script src="s.js"></script><link href="http://h/s.css">'
    assert standalone(html, {"abc": "data:1"}) == '<p>x</p><img src="data:1">'


def test_samples_are_seeded(data: Path) -> None:
    import pandas as pd

    classes = pd.DataFrame({"class_index": range(30), "wnid": [f"n{i}" for i in range(30)]})
    some = some_classes(classes.sample(frac=1, random_state=1), 7, 5)
    assert some["wnid"].tolist() == some_classes(classes, 7, 5)["wnid"].tolist()
    assert some["class_index"].is_monotonic_increasing and len(some) == 7
    images = pd.DataFrame({"image_id": list("abcdef"), "frequency": [0.1, 0.9, 0.5, 0.5, 0.2, 1.0]})
    shown = some_images(images, 4, 5, "original", "n1")
    assert shown["frequency"].is_monotonic_decreasing and len(shown) == 4


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (wording.points(-0.0341), "−3.4"),
        (wording.points(0.02), "+2.0"),
        (wording.points(-0.0001), "0.0"),
        (wording.percent(0.8321), "83.2\u00a0%"),
        (wording.percent(None), "–"),
        (wording.share(float("nan")), "–"),
        (wording.shift(-0.03), "−0.030"),
        (wording.plural(1, "class", "classes"), "1 class"),
        (wording.plural(12345, "vote"), "12,345 votes"),
    ],
)
def test_numbers_as_words(made: str, wanted: str) -> None:
    assert made == wanted
