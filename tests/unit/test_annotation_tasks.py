"""Tasks, their tokens, pages and cost, and the stage that writes them."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from imagenetv2 import archive
from imagenetv2.annotation import cost, hits, keys, pages, tasks
from imagenetv2.annotation.settings import Hits
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from tests.unit import annotation_inputs as given

KEY = b"a key of this test alone"
SMALL = Hits(images_per_task=8, positive_controls=1, negative_controls=1, validation_per_class=4)


def names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{n:03d}" for n in range(count)]


def drawn(
    settings: Hits, candidates: int = 30, validation: int = 60, seed: int = 0
) -> list[list[tasks.Shown]]:
    return tasks.draw_tasks(
        "n1",
        names("c", candidates),
        names("v", validation),
        names("x", 20),
        settings,
        np.random.default_rng(seed),
    )


def test_a_full_size_class_fills_its_tasks_with_what_the_study_asks_for() -> None:
    made = drawn(Hits(), candidates=200, validation=80)
    assert [len(task) for task in made] == [48] * 6
    for task in made:
        roles = Counter(shown.role for shown in task)
        assert roles["positive"] == roles["negative"] == 3
        assert len({shown.image_id for shown in task}) == 48
    everything = Counter(s.image_id for task in made for s in task if s.role in ("candidate", "validation"))
    assert {n for n in everything if n.startswith("c")} == set(names("c", 200))
    assert set(everything.values()) == {1}
    sizes = [sum(s.role == "candidate" for s in task) for task in made]
    assert sum(sizes) == 200


def test_controls_are_balanced_and_prefer_images_that_nobody_was_shown_yet() -> None:
    made = drawn(Hits(validation_per_class=30), candidates=190, validation=46)
    times = Counter(
        s.image_id for task in made for s in task if s.origin == "reference" and s.role != "negative"
    )
    assert set(times) == set(names("v", 46)), "all validation images are used before one is used twice"
    assert max(times.values()) <= 2
    negatives = Counter(s.image_id for task in made for s in task if s.role == "negative")
    assert max(negatives.values()) - min(negatives.values()) <= 1


def test_a_class_without_further_validation_images_has_shorter_tasks_of_even_size() -> None:
    settings = Hits(images_per_task=10, positive_controls=1, negative_controls=1, validation_per_class=4)
    made = drawn(settings, candidates=13, validation=4)
    assert sorted(len(task) for task in made) == [7, 8, 8]


def test_an_image_that_is_candidate_and_validation_image_is_in_the_pool_once() -> None:
    shared = names("v", 12)
    made = tasks.draw_tasks("n1", shared, shared, names("x", 5), SMALL, np.random.default_rng(3))
    pool = Counter(s.image_id for task in made for s in task if s.role in ("candidate", "validation"))
    assert pool == Counter(shared)


def test_positions_are_not_tied_to_roles() -> None:
    first = [
        position
        for seed in range(200)
        for task in drawn(SMALL, seed=seed)
        for position, shown in enumerate(task)
        if shown.role == "negative"
    ]
    counts = np.bincount(first, minlength=8)
    assert counts.min() > 0.8 * counts.mean() and counts.max() < 1.2 * counts.mean()


@pytest.mark.parametrize(
    ("candidates", "validation", "message"),
    [(0, 20, "no candidates"), (5, 3, "hits.validation_per_class is 4"), (1, 4, "positive controls")],
)
def test_a_class_that_cannot_be_asked_about_is_named(candidates: int, validation: int, message: str) -> None:
    with pytest.raises(InputError, match=f"Class n1.*{message}"):
        drawn(SMALL, candidates, validation)


def test_negative_controls_come_from_the_nearest_class_that_has_enough_other_images() -> None:
    held = {"n1": ["a"], "n2": ["a", "b"], "n3": ["c", "d", "e"], "n4": ["f", "g"]}
    assert tasks.near_class("n1", ["n1", "n2", "n3", "n4"], held, {"a"}, 2) == ["c", "d", "e"]
    assert tasks.near_class("n1", ["n2"], held, set(), 2) == ["a", "b"]
    assert tasks.near_class("n1", [], held, set(), 0) == []
    with pytest.raises(InputError, match="negative_controls"):
        tasks.near_class("n1", ["n2", "n9"], held, {"a"}, 2)


def test_tokens_are_opaque_and_differ_in_each_task() -> None:
    made = tasks.table({"n1": [[tasks.Shown("i", "candidates", "candidate")]] * 2}, KEY)
    assert made["token"].is_unique
    assert made["token"].str.fullmatch("[0-9a-f]{32}").all()
    assert list(made["task_id"]) == ["n1-0000", "n1-0001"]
    assert tasks.token(KEY, "t", "i") != tasks.token(KEY + b"!", "t", "i")
    assert tasks.page_name(KEY, "t") != tasks.page_name(KEY, "u")


def test_the_blinding_key_comes_from_the_seed_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keys.blinding_key(Hits(), 1) != keys.blinding_key(Hits(), 2)
    outside = Hits(blinding="environment")
    monkeypatch.delenv(keys.BLINDING, raising=False)
    with pytest.raises(InputError, match=f"{keys.BLINDING} is not set"):
        keys.blinding_key(outside, 1)
    monkeypatch.setenv(keys.BLINDING, "short")
    with pytest.raises(InputError, match="at least 16 characters") as caught:
        keys.blinding_key(outside, 1)
    assert "short" not in str(caught.value)
    monkeypatch.setenv(keys.BLINDING, "a long enough secret")
    assert keys.blinding_key(outside, 1) == b"a long enough secret"


@pytest.mark.parametrize(
    ("tasks_", "workers", "reward", "total", "fees"),
    [
        (72, 10, "0.20", "201.60", "57.60"),  # 40 % from ten assignments a task
        (72, 9, "0.20", "155.52", "25.92"),  # 20 % below
        (10, 5, "0.01", "1.00", "0.50"),  # a cent at least
        (1, 1, "0.33", "0.40", "0.07"),  # rounded up
    ],
)
def test_what_tasks_cost(tasks_: int, workers: int, reward: str, total: str, fees: str) -> None:
    bill = cost.estimate(tasks_, workers, Decimal(reward))
    assert (bill["total"], bill["fees"]) == (total, fees)
    assert Decimal(str(bill["rewards"])) + Decimal(fees) == Decimal(total)
    assert all(re.fullmatch(r"\d+(\.)?\d{0,2}", str(bill[name])) for name in ("reward", "rewards", "total"))


class Elements(HTMLParser):
    """Start tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.found if t == tag and attributes.items() <= a.items()]


def test_a_page_keeps_the_protocol_and_gives_nothing_away() -> None:
    target = pages.Target(
        "n1", ("sea_cow", 'a<b>"c'), "large & slow", ("https://en.wikipedia.org/wiki/Sea_cow", "javascript:x")
    )
    tokens = [f"{n:032x}" for n in range(48)]
    html = pages.render(target, "f" * 32 + ".html", tokens)
    page = Elements(html)
    (form,) = page.all("form")
    assert form["method"] == "post" and form["data-wnid"] == "n1" and "action" not in form
    assert [box["value"] for box in page.all("input", type="checkbox", name="selected")] == tokens
    assert [image["src"] for image in page.all("img")] == [f"{token}.jpg" for token in tokens]
    assert [field["name"] for field in page.all("input", type="hidden")] == ["assignmentId", "page"]
    (button,) = page.all("button", type="submit")
    assert "disabled" in button
    assert [a["href"] for a in page.all("a")] == ["https://en.wikipedia.org/wiki/Sea_cow"]
    assert "a&lt;b&gt;&#34;c" in html and "large &amp; slow" in html and "sea cow" in html
    assert not page.all("script", src="") and "<link" not in html
    for word in ("candidate", "validation", "control", "negative", "positive", "reference"):
        assert word not in html.lower()


def test_hits_writes_tasks_pages_pictures_and_their_cost(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    job = make_job("hits", config=given.CONFIG, inputs=given.inputs(tmp_path / "in"), cores=2)
    hits.run(job)
    folder = job.out.folder
    table = pd.read_parquet(folder / "tasks.parquet")
    index = pd.read_parquet(folder / "pages.parquet")
    assert table.groupby("task_id").size().eq(8).all()
    assert set(table.loc[table["role"] == "candidate", "image_id"]) == set(given.candidates()["image_id"])
    assert table.groupby("wnid")["task_id"].nunique().tolist() == [2, 2]
    held = given.reference().set_index("image_id")
    reference = table[table["origin"] == "reference"]
    assert (held.loc[reference["image_id"], "split"] == "val").all()
    same = held.loc[reference["image_id"], "wnid"].to_numpy() == reference["wnid"].to_numpy()
    assert (same == (reference["role"] != "negative").to_numpy()).all()

    shown, documents = archive.Reader(folder / "shown.zip"), archive.Reader(folder / "pages.zip")
    assert shown.names() == sorted({f"{i}.jpg" for i in table["image_id"]})
    tables = set()
    for name in shown.names():
        with Image.open(io.BytesIO(shown.data(name))) as image:
            assert image.format == "JPEG" and max(image.size) == 64
            tables.add(str(image.quantization))  # type: ignore[attr-defined]
    assert len(tables) == 1, "original and new images come from one encoder"
    assert documents.names() == sorted(index["page"])
    for row in index.itertuples():
        text = documents.data(str(row.page)).decode()
        assert len(text.encode()) == row.bytes
        tokens = re.findall(r'value="([0-9a-f]{32})" autocomplete', text)
        assert tokens == list(table[table["task_id"] == row.task_id].sort_values("position")["token"])
        assert not any(image in text for image in table["image_id"])
    bill = json.loads((folder / "estimate.json").read_text())
    assert (bill["tasks"], bill["assignments"], bill["total"]) == (4, 12, "2.88")
    assert bill["largest_page_bytes"] == index["bytes"].max()


def test_hits_gives_the_same_bytes_with_any_number_of_cores(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    data: dict[int, dict[str, Any]] = {}
    for cores in (1, 3):
        job = make_job("hits", config=given.CONFIG, inputs=given.inputs(tmp_path / "in"), cores=cores)
        hits.run(job)
        data[cores] = {p.name: p.read_bytes() for p in sorted(job.out.folder.iterdir())}
    assert data[1] == data[3]
