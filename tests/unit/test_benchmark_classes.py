"""Stage ``classes``: class index, WordNet IDs, filters, neighbours, and every kind of bad table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from imagenetv2.benchmark import class_sources, classes
from imagenetv2.errors import InputError
from imagenetv2.job import Job

HEAD = "class_index,wnid,lemmas,definition,hypernyms,wikipedia\n"
# Index 2 comes first, and 10 classes are few enough that string order would show.
TABLE = (
    HEAD + "2,n00000030,nan; NULL,none,n00000002; n00000001,https://a.org/1; https://a.org/2\n"
    "0,n00000020,tench; Tinca tinca; tench,a fish,n00000003; n00000001,\n"
    '1,n00000010,001,"digits, kept",n00000002; n00000001,\n'
)


def _run(make_job: Callable[..., Job], path: Path, text: str, **settings: Any) -> pd.DataFrame:
    path.write_text(text, "utf-8")
    job = make_job("classes", config={"classes": {"table": str(path), **settings}})
    classes.run(job)
    return pd.read_parquet(job.out.folder / "classes.parquet")


def test_the_table_says_the_index_and_text_stays_text(make_job: Callable[..., Job], tmp_path: Path) -> None:
    found = _run(make_job, tmp_path / "c.csv", TABLE)
    assert found["class_index"].tolist() == [0, 1, 2]
    assert found["wnid"].tolist() == ["n00000020", "n00000010", "n00000030"]
    assert [list(x) for x in found["lemmas"]] == [["tench", "Tinca tinca"], ["001"], ["nan", "NULL"]]
    assert found["definition"].tolist() == ["a fish", "digits, kept", "none"]
    assert [list(x) for x in found["wikipedia"]] == [[], [], ["https://a.org/1", "https://a.org/2"]]
    assert list(found["hypernyms"][1]) == ["n00000002", "n00000001"]


def test_neighbours_are_nearest_first_with_ties_by_index(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    found = _run(make_job, tmp_path / "c.csv", TABLE, neighbours=2)
    assert [list(x) for x in found["neighbours"]] == [
        ["n00000010", "n00000030"],
        ["n00000030", "n00000020"],
        ["n00000010", "n00000020"],
    ]


def test_only_keeps_the_order_of_the_table_and_numbers_anew(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    found = _run(make_job, tmp_path / "c.csv", TABLE, only=["n00000030", "n00000010"])
    assert found["class_index"].tolist() == [0, 1]
    assert found["wnid"].tolist() == ["n00000010", "n00000030"]
    assert [list(x) for x in found["neighbours"]] == [["n00000030"], ["n00000010"]]


def test_a_single_class_has_no_neighbours(make_job: Callable[..., Job], tmp_path: Path) -> None:
    found = _run(make_job, tmp_path / "c.csv", HEAD + "0,n00000020,tench,a fish,,\n")
    assert [list(x) for x in found["neighbours"]] == [[]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "holds no class"),
        (TABLE.replace("2,n", "3,n", 1), "class_index 2 is missing"),
        (TABLE.replace("2,n", "1,n", 1), "class_index 1 is given twice"),
        (TABLE.replace("2,n", "2.0,n", 1), "'2.0'; it must be a whole number"),
        (TABLE.replace("2,n", "-1,n", 1), "'-1'; it must be a whole number"),
        (TABLE.replace("n00000030", "n0000003"), "'n0000003' is no WordNet ID"),
        (TABLE.replace("n00000030", "n00000020"), "n00000020 occurs twice"),
        (TABLE.replace(",001,", ",;,"), "n00000010 has no lemmas"),
        (TABLE.replace("n00000003;", "entity;"), "'entity' is no WordNet ID"),
        (TABLE.replace("n00000003; n00000001", ""), "has no hypernyms"),
        (TABLE.replace("definition", "gloss", 1), "no column definition"),
        ("", "cannot be read"),
    ],
)
def test_bad_tables(make_job: Callable[..., Job], tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        _run(make_job, tmp_path / "c.csv", text)
    assert "\n" not in str(error.value)


def test_unknown_classes_in_only(make_job: Callable[..., Job], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"classes\.only: n00000099 is not in"):
        _run(make_job, tmp_path / "c.csv", TABLE, only=["n00000099"])


def test_hypernyms_from_pairs_where_the_table_has_none(make_job: Callable[..., Job], tmp_path: Path) -> None:
    pairs = tmp_path / "is_a.txt"
    # Class 20 has two parents; the way over 5 is the short one.
    pairs.write_text(
        "n00000003 n00000020\nn00000002 n00000003\nn00000005 n00000020\n\n"
        "n00000001 n00000005\nn00000001 n00000002\nn00000002 n00000010\nn00000001 n00000030\n"
    )
    text = HEAD + "0,n00000010,a,,,\n1,n00000020,b,,,\n2,n00000030,c,,,\n"
    found = _run(make_job, tmp_path / "c.csv", text, is_a=str(pairs))
    assert list(found["hypernyms"][1]) == ["n00000003", "n00000005", "n00000001", "n00000002"]
    assert [list(x) for x in found["neighbours"]] == [
        ["n00000020", "n00000030"],
        ["n00000010", "n00000030"],
        ["n00000010", "n00000020"],
    ]


def test_malformed_pairs_are_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "is_a").write_text("n00000001 n00000002\nn00000001\n")
    with pytest.raises(InputError, match="line 2"):
        class_sources.read_parents(tmp_path / "is_a")


def test_the_thousand_classes_of_imagenet() -> None:
    rows = class_sources.read("timm:imagenet-1k")
    assert [row.class_index for row in rows] == list(range(1000))
    assert (rows[0].wnid, rows[0].lemmas[:2]) == ("n01440764", ("tench", "Tinca tinca"))
    assert rows[0].definition.startswith("freshwater dace-like game fish")
    # The classes of one name: two cranes and two maillots are told apart by WordNet ID.
    assert len({row.wnid for row in rows}) == 1000
    assert {rows[134].wnid, rows[517].wnid} == {"n02012849", "n03126707"}
    with pytest.raises(InputError, match="timm:imagenet-21k is unknown"):
        class_sources.read("timm:imagenet-21k")


@pytest.mark.parametrize("name", ["rendered", "cifar10"])
def test_the_tables_that_come_with_the_project(make_job: Callable[..., Job], name: str) -> None:
    root = Path(__file__).parents[2]
    job = make_job("classes", config={"classes": {"table": str(root / f"config/classes/{name}.csv")}})
    classes.run(job)
    found = pd.read_parquet(job.out.folder / "classes.parquet")
    assert len(found) >= 10
    assert (found["neighbours"].map(len) == 5).all()
