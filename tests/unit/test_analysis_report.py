"""The report: one page that needs nothing else and is the same each time, with its figures and tables."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pandas as pd
import pytest

from imagenetv2.analysis import report_files, wording
from imagenetv2.analysis.report import SECTIONS
from imagenetv2.analysis.sections.albums import some_classes, some_images
from imagenetv2.analysis.sections.example import standalone
from imagenetv2.analysis.sections.provenance import differing
from tests.conftest import FAKE_VERSION
from tests.unit import report_inputs

VOID = {"meta", "link", "img", "br", "hr", "input", "path", "use"}
OF_STUDIES = {"metrics", "frequencies", "truth", "funnel", "task", "pairs", "albums"}


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
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_inputs.conducted(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real world, two models, more classes than are shown, one metric."""
    return report_inputs.conducted(
        tmp_path_factory.mktemp("other"),
        classes=14, validation=20, candidates=20, taken=4, models=2, metrics=("l2",), world=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_inputs.released(tmp_path_factory.mktemp("record"))


@pytest.fixture(scope="module")
def cifar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other sets than the three rules, ten classes, one model only: no line, no pair."""
    return report_inputs.released(tmp_path_factory.mktemp("cifar"), "cifar10.1", models=1, classes=10)


def page(data: Path) -> Page:
    return Page(report_inputs.page(data).read_text("utf-8"))


def written(data: Path, name: str) -> bytes:
    return (report_inputs.page(data).parent / name).read_bytes()


@pytest.mark.parametrize("which", ["data", "other", "record", "cifar"])
def test_it_needs_nothing_else(which: str, request: pytest.FixtureRequest) -> None:
    text = report_inputs.page(request.getfixturevalue(which)).read_text("utf-8")
    found = Page(text)
    assert found.open == []
    assert all(address.startswith("data:") for address in found.loads)
    assert "default-src 'none'" in text
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style and "@import" not in style
    assert len(text.encode()) < 3e6
    assert len(found.ids) == len(set(found.ids))


@pytest.mark.parametrize("which", ["data", "record"])
def test_links_lead_to_files_from_both_places(which: str, request: pytest.FixtureRequest) -> None:
    data: Path = request.getfixturevalue(which)
    found = page(data)
    assert {a[1:] for a in found.links if a.startswith("#")} <= set(found.ids)
    files = [a for a in found.links if not a.startswith("#")]
    assert {"accuracy.svg", "accuracy.pdf", "fits.tex", "accuracies.csv"} <= set(files)
    for place in ("report/0123456789/report.html", "latest/report/report.html"):
        for address in files:
            target = urljoin(f"file:///data/{place}", address).removeprefix("file:///data/")
            assert (data / target.replace("latest/report", "report/0123456789")).is_file(), address


def test_a_study_that_was_run_shows_all_sections(data: Path) -> None:
    found = page(data)
    assert set(SECTIONS) - set(found.ids) == {"record", "published"}
    assert "300 records for 4 classes" in found.words
    assert "240 became candidates" in found.words
    assert "From these votes 3 test sets were drawn" in found.words
    assert "8 pairs were at or below a cut-off" in found.words
    rules = pd.read_csv(io.BytesIO(written(data, "rules.csv"))).set_index("set")
    change = wording.points(rules.loc["matched_frequency", "change_top1"])
    assert f"{change} points on MatchedFrequency" in found.words


def test_metrics_are_shown_of_every_model_and_set(data: Path) -> None:
    words = page(data).words.split("Beyond top-1")[1].split("What may lie behind")[0]
    metrics = pd.read_parquet(data / "metrics" / FAKE_VERSION / "metrics.parquet")
    mean = metrics.groupby(["set", "metric"])["value"].mean()
    for name in ("rms_calibration_error", "aurra", "top5", "mean_probability"):
        assert wording.percent(mean["threshold", name]).replace("\u00a0", " ") in words
    chance = wording.percent(mean["threshold", "rms_calibration_error_by_chance"]).replace("\u00a0", " ")
    assert f"by chance {chance}" in words
    cells = metrics.pivot(index="model", columns=["set", "metric"], values="value")
    shown = [
        wording.percent(cells.loc["model_3", (s, m)]).removesuffix("\u00a0%")
        for s in ("original", "matched_frequency", "threshold", "top_images")
        for m in ("top1", "top5", "rms_calibration_error", "aurra")
    ]
    assert f"model_3 {' '.join(shown)} model" in words
    assert "Top-1 on images of first" in words and "ReaL top-1" not in words
    assert words.count("with its whole interval") == 1
    assert "On no set does a class lose or gain with its whole interval." in words
    assert "is no evidence against the model" in words


def test_a_released_study_shows_what_a_record_allows(record: Path) -> None:
    found = page(record)
    assert not OF_STUDIES & set(found.ids)
    assert "A released study, read from its record" in found.words
    assert "Checks found 3 faults" in found.words and "3 corrected" in found.words
    assert "1 differ, and 1 cannot be derived" in found.words and "0.1 beyond rounding" in found.words
    assert "1 model of 13 could not be used on every set and is left out" in found.words
    assert "sorted by class it agrees on 82.3 %" in found.words
    assert "its predictions fit no order of the images" in found.words
    assert re.search(r"thing \d+ n000000", found.words) and "all 80 are in by_class.parquet" in found.words
    assert found.text.count("Threshold0.7") > 5


def test_a_record_may_lack_a_set(tmp_path: Path) -> None:
    words = page(report_inputs.released(tmp_path, absent="threshold", classes=6)).words
    assert "Threshold0.7" not in words and "TopImages" in words


def test_other_sets_than_the_three_rules(cifar: Path) -> None:
    words = page(cifar).words
    assert "CIFAR-10.1 v4" in words and "CIFAR-10 test" in words
    assert "Matched" not in words.split("What may lie behind it")[0]
    assert b"no two models" in written(cifar, "paired.svg")


@pytest.mark.parametrize(
    ("which", "votes", "truth"),
    [("data", True, True), ("other", True, False), ("record", False, False), ("cifar", False, False)],
)
def test_each_figure_comes_in_three_forms(
    which: str, votes: bool, truth: bool, request: pytest.FixtureRequest
) -> None:
    folder = report_inputs.page(request.getfixturevalue(which)).parent
    wanted = {file.name for file in report_files.files(votes=votes, truth=truth, metrics=votes)}
    assert {p.name for p in folder.iterdir()} == wanted | {"manifest.json", "run.json"}
    for figure in (n for n in wanted if n.endswith(".svg")):
        svg = (folder / figure).read_text("utf-8")
        assert svg.startswith("<svg") and "var(--" not in svg
        assert not re.search(r'(href|src)="(?!data:|#)', svg)
        png = (folder / figure).with_suffix(".png").read_bytes()
        assert png.startswith(b"\x89PNG") and b"Software" not in png
        pdf = (folder / figure).with_suffix(".pdf").read_bytes()
        assert pdf.startswith(b"%PDF") and b"CreationDate" not in pdf
        # Several fonts would be written in an order that changes from run to run.
        assert set(re.findall(rb"/BaseFont /[A-Z]{6}\+([A-Za-z-]+)", pdf)) == {b"LiberationSans"}


def test_the_example_task_shows_its_pictures_and_runs_nothing(data: Path) -> None:
    (frame,) = page(data).frames
    inner = Page(frame)
    assert len(inner.loads) == 8 and all(a.startswith("data:image/jpeg") for a in inner.loads)
    assert "script" not in inner.tags and "JS!" not in frame


def test_the_same_inputs_give_the_same_bytes_on_any_number_of_cores(data: Path, tmp_path: Path) -> None:
    again = report_inputs.conducted(tmp_path, cores=2)
    one, two = (json.loads((d / "report/0123456789/manifest.json").read_text()) for d in (data, again))
    assert one["files"] == two["files"]
    assert len(one["files"]) == 1 + 14 * 3 + 4 * 3


def test_another_run_fits_too(other: Path) -> None:
    found = page(other)
    words = found.words
    assert "truth" not in found.ids
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


def test_settings_of_a_released_study_differ_from_those_of_its_own_default() -> None:
    manifests = {
        "record/classes": {"settings": {"record": {"kind": "cifar10.1"}}},
        "analysis": {"settings": {"analysis": {"level": 0.9}, "sets": {"names": {"v4": "CIFAR-10.1 v4"}}}},
    }
    found = {row["key"]: (row["value"], row["default"]) for row in differing(manifests)}
    assert found == {"record.kind": ("cifar10.1", "imagenetv2"), "analysis.level": ("0.9", "0.95")}


def test_standalone_pages_keep_everything_but_scripts() -> None:
    html = '<p>x</p><img src="http://h/abc.jpg?x"><script src="s.js"></script><link href="http://h/s.css">'
    assert standalone(html, {"abc": "data:1"}) == '<p>x</p><img src="data:1">'


def test_samples_are_seeded() -> None:
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
        (wording.number(1.1134), "1.11"),
        (wording.number(-0.03419), "−0.0342"),
        (wording.number(123.4), "123"),
        (wording.signed(2.04), "+2.0"),
        (wording.chance(0.0342), "0.034"),
        (wording.chance(1e-9), "< 0.001"),
        (wording.chance(float("nan")), "–"),
        (wording.plural(1, "class", "classes"), "1 class"),
        (wording.plural(12345, "vote"), "12,345 votes"),
    ],
)
def test_numbers_as_words(made: str, wanted: str) -> None:
    assert made == wanted
