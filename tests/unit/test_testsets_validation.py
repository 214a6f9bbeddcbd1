"""ImageNet's validation images: classes by the development kit, and ReaL labels as a second witness."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.errors import InputError
from imagenetv2.testsets import devkit, timm_tables, validation
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.writing import Picture
from tests.unit import testset_layouts as layouts
from tests.unit.testset_layouts import IMAGENET, Memory


@pytest.fixture(scope="module")
def images() -> list[Picture]:
    return layouts.validation_pictures()


def by_class(count: int) -> dict[int, list[int]]:
    """Numbers of up to so many validation images of each class, by their ReaL labels."""
    found: dict[int, list[int]] = {index: [] for index in range(1000)}
    for number, labels in enumerate(timm_tables.real_labels(), start=1):
        if len(labels) == 1 and len(found[labels[0]]) < count:
            found[labels[0]].append(number)
    return found


def folders(numbers: dict[str, list[int]]) -> Memory:
    data = layouts.picture(0, "").data()
    return Memory({f"{c}/ILSVRC2012_val_{n:08d}.JPEG": data for c, own in numbers.items() for n in own})


def test_a_flat_folder_says_that_it_needs_the_development_kit(images: list[Picture], tmp_path: Path) -> None:
    path = layouts.flat(tmp_path / "val", images)
    with pytest.raises(
        InputError, match=r"143 validation images without class folders, .*--devkit ILSVRC2012_devkit_t12"
    ):
        open_testset(path, partial=True)


@pytest.mark.parametrize("place", ["beside", "inside", "unpacked inside", "beside an archive"])
def test_the_development_kit_is_found_beside_and_inside(
    place: str, images: list[Picture], tmp_path: Path
) -> None:
    path = (
        layouts.flat_tar(tmp_path / "v.tar", images)
        if "archive" in place
        else layouts.flat(tmp_path / "v", images)
    )
    folder = path if "inside" in place else tmp_path
    if place == "unpacked inside":
        layouts.devkit(folder / devkit.FOLDER, images)
    else:
        layouts.packed_devkit(folder / f"{devkit.FOLDER}.tar.gz", images)
    found = open_testset(path, partial=True)
    assert dict(zip(found.ids, found.labels.tolist(), strict=True)) == {
        f"{IMAGENET.wnids[i.index]}/{i.file}": i.index for i in images
    }
    assert found.layout.startswith("flat with the development kit")


def test_ids_of_the_development_kit_are_no_class_indices(images: list[Picture], tmp_path: Path) -> None:
    """Any order of ILSVRC2012_IDs gives the same class indices."""
    found = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(1000)
        ids = {index: int(order[index]) + 1 for index in range(1000)}
        kit = devkit.read(layouts.devkit(tmp_path / f"kit{seed}", images, ids=ids))
        truth = kit.class_indices(IMAGENET)
        assert all(truth[int(i.file[15:23]) - 1] == i.index for i in images)
        found.append(kit.ilsvrc2012_ids)
    assert len(set(found)) == 2


def test_the_development_kit_is_checked(images: list[Picture], tmp_path: Path) -> None:
    def refused(sentence: str, path: Path) -> None:
        with pytest.raises(InputError, match=sentence):
            devkit.read(path).class_indices(IMAGENET)

    refused(
        r"short: ILSVRC2012_validation_ground_truth.txt has 49,999 lines, not 50,000",
        layouts.devkit(tmp_path / "short", images[:1], lines=49_999),
    )
    odd = layouts.devkit(tmp_path / "odd", images)
    truth = odd / "data" / devkit.TRUTH
    truth.write_text(truth.read_text().replace("1\n", "1001x\n", 1))
    refused("line [0-9]+ of .* is '.*1001x', not a whole number", odd)
    strange = layouts.devkit(tmp_path / "strange", images, ids={i: i + 1 for i in range(999)} | {999: 2000})
    (strange / "data" / devkit.TRUTH).write_text("1000\n" * 50_000)
    refused("holds the ILSVRC2012_ID 1000, which meta.mat does not have", strange)
    (strange / "data" / devkit.TRUTH).write_text("1001\n" * 50_000)
    refused("gives the WordNet ID n00001740, which is none of ImageNet's classes", strange)
    (strange / "data" / devkit.META).write_bytes(b"not a file of Matlab's")
    refused(r"strange: meta.mat cannot be read", strange)
    (strange / "data" / devkit.META).unlink()
    refused(r"holds no data/meta.mat", strange)
    (tmp_path / "kit.tar.gz").write_bytes(b"\x1f\x8bx")
    refused(r"kit\.tar\.gz is no whole tar archive", tmp_path / "kit.tar.gz")
    with pytest.raises(InputError, match=r"--devkit: .*absent does not exist"):
        devkit.find(tmp_path / "absent", tmp_path)


def test_numbers_that_no_validation_image_has_are_refused(images: list[Picture], tmp_path: Path) -> None:
    path = layouts.flat(tmp_path / "val", images)
    kit = layouts.devkit(tmp_path / "kit", images)
    extra = path / "ILSVRC2012_val_00050001.JPEG"
    extra.write_bytes(b"x")
    with pytest.raises(InputError, match=r"ILSVRC2012_val_00050001.JPEG has a number outside 1 to 50,000"):
        open_testset(path, devkit=kit, partial=True)
    extra.rename(path / images[0].file.replace(".JPEG", ".jpg"))
    with pytest.raises(InputError, match=r"are the same validation image"):
        open_testset(path, devkit=kit, partial=True)


def test_class_folders_are_compared_with_a_development_kit_that_is_given(
    images: list[Picture], tmp_path: Path
) -> None:
    path = layouts.folder(tmp_path / "val", images, "wnid")
    kit = layouts.devkit(tmp_path / "kit", images)
    assert len(open_testset(path, devkit=kit, partial=True).ids) == 143
    first, second = path / IMAGENET.wnids[7], path / IMAGENET.wnids[14]
    first.rename(tmp_path / "aside")
    second.rename(first)
    (tmp_path / "aside").rename(second)
    with pytest.raises(
        InputError,
        match=r"2 of 143 validation images lie in a folder of another class than .*kit says, the first is .*, in that of 7 \(n01514668\) and not 14 ",
    ):
        open_testset(path, devkit=kit, partial=True)
    other = layouts.folder(tmp_path / "v2", layouts.pictures(), "index")
    assert len(open_testset(other, devkit=kit).ids) == 1000, "of other images it says nothing"


@pytest.mark.parametrize("named", ["wnid", "index"])
def test_permuted_folders_of_validation_images_are_named(named: str) -> None:
    numbers = by_class(12)
    name = (lambda i: IMAGENET.wnids[i]) if named == "wnid" else str
    sound = folders({name(i): own for i, own in numbers.items() if len(own) == 12})
    assert open_images(Path("val"), sound, None, partial=True).known == "imagenet-val"
    swapped = {0: numbers[1], 1: numbers[0]} | {i: own for i, own in numbers.items() if i > 1}
    with pytest.raises(
        InputError,
        match=r"val: 2 class folders hold images of other classes by their ReaL labels, the first is that of 0 \(n01440764\): "
        r"0 of 12 images have a ReaL label of this class, 12 of 1 \(n01443537\); the folders are permuted",
    ):
        open_images(Path("val"), folders({name(i): own for i, own in swapped.items()}), None, partial=True)


def test_labels_that_are_wrong_all_over_are_noticed_with_one_image_a_class() -> None:
    numbers = by_class(1)
    shifted = folders({str(i): numbers[(i + 1) % 1000] for i in range(1000)})
    with pytest.raises(
        InputError, match=r"of 1,000 validation images only 0 have a ReaL label of the class .* permuted"
    ):
        open_images(Path("val"), shifted, None, partial=True)


@pytest.mark.packs
def test_the_true_labels_of_all_validation_images_pass(packs: Path) -> None:
    with tarfile.open(packs / "record.tar.gz") as archive:
        member = "./data/datasets/imagenet-validation-original.json"
        found = json.load(archive.extractfile(member))["image_filenames"]  # type: ignore[arg-type]
    numbers = [int(file[15:23]) for file, _ in found]
    indices = [IMAGENET.index_of[wnid] for _, wnid in found]
    assert len(numbers) == 50_000
    validation.require_real(numbers, indices, IMAGENET, "val")
    for one, other in ((0, 1), (848, 847), (265, 266)):
        pair = {one: other, other: one}
        with pytest.raises(InputError, match="folders are permuted"):
            validation.require_real(numbers, [pair.get(i, i) for i in indices], IMAGENET, "val")
            # A pair of classes that ReaL does not tell apart cannot be noticed.
            assert pair == {265: 266, 266: 265}
            raise InputError("folders are permuted")
