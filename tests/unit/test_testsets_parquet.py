"""Parquet files as the Hugging Face Hub has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imagenetv2.errors import InputError
from imagenetv2.testsets import row_groups
from imagenetv2.testsets.checking import check_files
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.writing import Picture
from tests.unit import testset_layouts as layouts
from tests.unit.testset_layouts import IMAGENET, parquet_table


@pytest.fixture(scope="module")
def images() -> list[Picture]:
    return layouts.pictures()


def write(path: Path, table: pa.Table) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=100)
    return path


def test_row_groups_are_read_when_needed_and_once_by_many_threads(
    images: list[Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = layouts.parquet(tmp_path / "set", images)
    read: list[int] = []
    original = row_groups.Rows._read
    monkeypatch.setattr(row_groups.Rows, "_read", lambda self, n: read.append(n) or original(self, n))
    found = open_testset(path)
    assert not read, "opening reads no images"
    with ThreadPoolExecutor(8) as pool:
        got = list(
            pool.map(
                lambda i: int(found.pixels[i][0, 0, 0]) * 256 + int(found.pixels[i][0, 0, 1]), range(1000)
            )
        )
    assert got == found.labels.tolist()
    assert len(read) == len(set(read)) == 6, "three files of two row groups"
    assert found.layout == "Parquet, split validation"


def test_images_without_file_names_go_by_their_rows(images: list[Picture], tmp_path: Path) -> None:
    nameless = [Picture(p.index, None, p.data) for p in images]  # type: ignore[arg-type]
    found = open_testset(write(tmp_path / "set.parquet", parquet_table(nameless)))
    assert found.ids[7] == f"{IMAGENET.wnids[7]}/00000007"
    assert (found.pixels[7] == layouts.pixels_of(7)).all()


def test_names_of_labels_that_are_wordnet_ids_tell_the_classes(images: list[Picture], tmp_path: Path) -> None:
    names = list(reversed(IMAGENET.wnids))
    labels = [999 - p.index for p in images]
    found = open_testset(write(tmp_path / "set.parquet", parquet_table(images, names, labels)))
    assert found.labels.tolist() == [p.index for p in images]
    part = [p for p in images if p.index % 5 == 0]
    names = [IMAGENET.wnids[p.index] for p in part]
    found = open_testset(
        write(tmp_path / "part.parquet", parquet_table(part, names, list(range(len(part))))), partial=True
    )
    assert found.labels.tolist() == [p.index for p in part]


def test_names_of_labels_that_are_words_must_be_those_of_the_table(
    images: list[Picture], tmp_path: Path
) -> None:
    words = list(IMAGENET.words)
    assert len(open_testset(write(tmp_path / "a.parquet", parquet_table(images, words))).ids) == 1000
    words[4], words[5] = words[5], words[4]
    with pytest.raises(
        InputError,
        match=r"label 4 is named 'electric ray.*' there, which is class 5 \(n01496331\) in ImageNet; its classes are permuted",
    ):
        open_testset(write(tmp_path / "b.parquet", parquet_table(images, words)))
    with pytest.raises(InputError, match="its labels have 999 names, not 1000"):
        open_testset(write(tmp_path / "c.parquet", parquet_table(images[:-1], IMAGENET.words[:-1])))
    strange = [*IMAGENET.wnids[:-1], "n00000001"]
    with pytest.raises(
        InputError, match="1000 WordNet IDs of which 1 are none of ImageNet's, such as n00000001"
    ):
        open_testset(write(tmp_path / "d.parquet", parquet_table(images, strange)))


def test_labels_out_of_range_are_refused(images: list[Picture], tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match="label -1 of row 0 is none of 1000 classes; the split has no labels: take the validation",
    ):
        open_testset(write(tmp_path / "test.parquet", parquet_table(images, labels=[-1] * 1000)))
    with pytest.raises(InputError, match="label 1000 of row 999 is none of 1000 classes"):
        open_testset(write(tmp_path / "one.parquet", parquet_table(images, labels=range(1, 1001))))


def test_the_validation_split_is_taken_and_must_be_whole(images: list[Picture], tmp_path: Path) -> None:
    layouts.parquet(tmp_path / "set/data", images)
    layouts.parquet(tmp_path / "set/data", images[:10], shards=2, split="train")
    assert len(open_testset(tmp_path / "set").ids) == 1000
    (tmp_path / "set/data/validation-00001-of-00003.parquet").unlink()
    with pytest.raises(InputError, match="2 of the 3 Parquet files of split validation are there; download"):
        open_testset(tmp_path / "set")
    found = open_testset(tmp_path / "set", partial=True)
    assert found.remarks[0] == "2 of the 3 Parquet files of split validation are there"
    layouts.parquet(tmp_path / "two", images[:10], split="train")
    layouts.parquet(tmp_path / "two", images[:10], split="test")
    with pytest.raises(InputError, match=r"several splits \(test, train\)"):
        open_testset(tmp_path / "two", partial=True)


def test_gates_hold_for_rows_too(images: list[Picture], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 of the 1000 classes of ImageNet are missing, the first is 999"):
        open_testset(write(tmp_path / "set.parquet", parquet_table(images[:-1])))
    empty = [*images[:-1], Picture(999, "x.jpeg", lambda: b"")]
    found = open_testset(write(tmp_path / "empty.parquet", parquet_table(empty)))
    with pytest.raises(InputError, match=r"empty.parquet, row 999: the file is empty"):
        check_files(found)
    with pytest.raises(InputError, match=r"empty.parquet, row 999: the file is empty"):
        found.pixels[999]


def test_other_tables_are_refused(images: list[Picture], tmp_path: Path) -> None:
    table = parquet_table(images)
    with pytest.raises(InputError, match=r"a.parquet has no column image.bytes, but label"):
        open_testset(write(tmp_path / "a.parquet", table.select(["label"])))
    with pytest.raises(InputError, match="label is of type double, not a class index"):
        open_testset(
            write(tmp_path / "b.parquet", table.set_column(1, "label", table["label"].cast("float64")))
        )
    with pytest.raises(InputError, match="hold no row"):
        open_testset(write(tmp_path / "c.parquet", table.slice(0, 0)))
    broken = tmp_path / "d.parquet"
    broken.write_bytes((tmp_path / "a.parquet").read_bytes()[:-50])
    with pytest.raises(InputError, match=r"d\.parquet is no whole Parquet file"):
        open_testset(broken)
    only_paths = [Picture(p.index, p.file, lambda: None) for p in images]  # type: ignore[arg-type, return-value]
    found = open_testset(write(tmp_path / "e.parquet", parquet_table(only_paths)))
    with pytest.raises(InputError, match=r"e.parquet, row 3: the image has a path but no bytes"):
        found.pixels[3]
