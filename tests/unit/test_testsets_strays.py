"""What lies where it should not: splits that are mixed, tables of others, labels that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imagenetv2.errors import InputError
from imagenetv2.testsets import gates
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.timm_tables import real_labels
from imagenetv2.testsets.writing import Layout, Picture
from tests.unit import testset_layouts as layouts
from tests.unit.testset_layouts import IMAGENET, Memory, parquet_table


def table(path: Path, images: list[Picture], labels: list[int | None] | None = None) -> Path:
    found = parquet_table(images)
    if labels is not None:
        found = found.set_column(1, "label", pa.array(labels, pa.int64()))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(found, path)
    return path


FEW = layouts.pictures(classes=range(0, 1000, 200))
OTHERS = layouts.pictures(classes=range(3, 1000, 200))


def test_the_split_of_files_that_are_only_numbered_is_that_of_their_folder(tmp_path: Path) -> None:
    for split, images in (("train", OTHERS), ("validation", FEW)):
        table(tmp_path / "set/default" / split / "0000.parquet", images)
    found = open_testset(tmp_path / "set", partial=True)
    assert sorted(found.labels) == [image.index for image in FEW]
    assert found.layout == "Parquet, split validation"
    table(tmp_path / "set/0000.parquet", OTHERS)
    with pytest.raises(InputError, match=r"several splits \(one without a name, train, validation\)"):
        open_testset(tmp_path / "set", partial=True)


def test_files_of_several_splits_without_a_validation_split_are_refused(tmp_path: Path) -> None:
    table(tmp_path / "set/partial-train/0000.parquet", FEW)
    table(tmp_path / "set/test.parquet", OTHERS)
    with pytest.raises(InputError, match=r"several splits \(train, test\)"):
        open_testset(tmp_path / "set", partial=True)


@pytest.mark.parametrize("name", ["train-00000-of-00001.parquet", "train/0000.parquet"])
def test_a_training_split_is_no_published_set(name: str, tmp_path: Path) -> None:
    table(tmp_path / "ILSVRC2012_val" / name, layouts.validation_pictures())
    found = open_testset(tmp_path / "ILSVRC2012_val", partial=True)
    assert found.known is None and found.recognised == ""
    assert found.remarks[0] == "it is the split train, whose images networks may have been trained on"


def test_training_images_are_no_validation_set() -> None:
    data = layouts.picture(0, "").data()
    store = Memory({f"{w}/{w}_{k}.JPEG": data for w in IMAGENET.wnids[:3] for k in range(4)})
    with pytest.raises(InputError, match=r"n01440764/n01440764_0\.JPEG is a training image by its name"):
        open_images(Path("ILSVRC2012_img_val"), store, None, partial=True)
    assert open_images(Path("mine"), store, None, partial=True).known is None


def test_one_of_two_files_of_a_split_is_a_remark_at_least(tmp_path: Path) -> None:
    file = table(tmp_path / "set/validation-00000-of-00002.parquet", FEW)
    for path in (tmp_path / "set", file):
        with pytest.raises(
            InputError, match="1 of the 2 Parquet files of split validation are there; download"
        ):
            open_testset(path)
        found = open_testset(path, partial=True)
        assert found.remarks[0] == "1 of the 2 Parquet files of split validation are there"
    table(tmp_path / "set/validation-00000-of-00003.parquet", OTHERS)
    with pytest.raises(InputError, match="of split validation are of several partitions"):
        open_testset(tmp_path / "set", partial=True)


def test_a_label_that_is_null_is_named(tmp_path: Path) -> None:
    table(tmp_path / "set/validation-00000-of-00002.parquet", OTHERS)
    file = table(tmp_path / "set/validation-00001-of-00002.parquet", FEW, [0, 200, None, 600, None])
    with pytest.raises(
        InputError, match=rf"{file}, row 2: label is null, .* take the 2 rows without a label out"
    ):
        open_testset(tmp_path / "set", partial=True)


@pytest.mark.parametrize("text", ["3", "null", '["stage"]', "{", '{"stage": "x"}', json.dumps({"files": []})])
def test_what_others_call_manifest_json_is_no_artifact(text: str, tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", FEW, "index")
    (path / "manifest.json").write_text(text)
    assert len(open_testset(path, partial=True).ids) == len(FEW)


def test_class_folders_win_over_a_stray_table(tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", FEW, "wnid")
    (path / "index.parquet").write_bytes(b"PAR1 and nothing else")
    found = open_testset(path, partial=True)
    assert (len(found.ids), found.layout) == (len(FEW), "class folders by WordNet ID")


@pytest.mark.parametrize("layout", ["index", "wnid"])
def test_a_file_that_a_manifest_names_is_missed(layout: Layout) -> None:
    images = [*layouts.pictures(), layouts.picture(7, "second.jpeg", 1)]
    store = layouts.memory(images, layout, tables=True)
    gone = next(name for name in store if name.endswith("second.jpeg"))
    del store[gone]
    fault = f"1 of the 1,001 files of manifest.csv are missing, the first is {gone}"
    with pytest.raises(InputError, match=f"{fault}; unpack the set again"):
        open_images(Path("x"), store, None, partial=False)
    assert open_images(Path("x"), store, None, partial=True).remarks == (fault,)


@pytest.mark.parametrize(("images", "refused"), [(5, False), (6, True), (9, True)])
def test_few_validation_images_all_of_which_are_wrong_are_noticed(images: int, refused: bool) -> None:
    labelled = [(n, labels) for n, labels in enumerate(real_labels(), start=1) if labels][:images]
    data = layouts.picture(0, "").data()

    def store(shift: int) -> Memory:
        return Memory({f"{(own[0] + shift) % 1000}/ILSVRC2012_val_{n:08d}.JPEG": data for n, own in labelled})

    assert open_images(Path("x"), store(0), None, partial=True).recognised == gates.BY_IMAGES
    if refused:
        with pytest.raises(InputError, match=f"of {images} validation images only 0 have a ReaL label"):
            open_images(Path("x"), store(500), None, partial=True)
    else:
        assert open_images(Path("x"), store(500), None, partial=True).known == "imagenet-val"
