"""One data set in all layouts: the same images with the same labels, however folders are listed and named."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.errors import InputError
from imagenetv2.testsets.checking import check_files
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.known import by_name
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.writing import Picture
from tests.unit import testset_layouts as layouts


@pytest.fixture(scope="module")
def images() -> list[Picture]:
    return layouts.validation_pictures()


def opened(stored: layouts.Stored, scratch: Path, *, partial: bool = True) -> TestSet:
    return open_testset(stored.path, devkit=stored.devkit, partial=partial, scratch=scratch)


def expected(images: Sequence[Picture]) -> dict[str, int]:
    return {f"{layouts.IMAGENET.wnids[image.index]}/{image.file}": image.index for image in images}


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_every_layout_gives_the_same_images_with_the_same_labels(
    layout: str, images: list[Picture], tmp_path: Path
) -> None:
    found = opened(layouts.LAYOUTS[layout](tmp_path, images), tmp_path / "scratch")
    assert dict(zip(found.ids, found.labels.tolist(), strict=True)) == expected(images)
    for position in range(0, len(images), 11):
        assert (found.pixels[position] == layouts.pixels_of(int(found.labels[position]))).all()
    assert found.classes.tolist() == list(range(1000))
    assert found.wnids == layouts.IMAGENET.wnids
    check_files(found, cores=2)


def test_what_holds_files_does_not_change_which_set_it_is(images: list[Picture], tmp_path: Path) -> None:
    kinds = ("index", "wnid", "tar by index", "tgz", "zip", "flat")
    found = {}
    for kind in kinds:
        (tmp_path / kind).mkdir()
        found[kind] = opened(layouts.LAYOUTS[kind](tmp_path / kind, images), tmp_path)
    assert len({(t.digest, t.ids) for t in found.values()}) == 1
    assert {t.known for t in found.values()} == {"imagenet-val"}
    other = opened(layouts.LAYOUTS["index"](tmp_path / "other", images[1:]), tmp_path)
    assert other.digest != found["index"].digest


def test_no_order_of_a_listing_changes_anything(
    images: list[Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = layouts.folder(tmp_path / "set", images, "index")
    first = open_testset(path, partial=True)
    scandir, shuffled = os.scandir, random.Random(1)

    class Shuffled:
        def __init__(self, at: Any) -> None:
            with scandir(at) as found:
                self._entries = list(found)
            shuffled.shuffle(self._entries)

        def __iter__(self) -> Any:
            return iter(self._entries)

    monkeypatch.setattr(os, "scandir", Shuffled)
    again = open_testset(path, partial=True)
    assert (again.ids, again.digest) == (first.ids, first.digest)
    assert (again.labels == first.labels).all()
    assert all((a == b).all() for a, b in zip(first.pixels[:30], again.pixels[:30], strict=True))


def test_the_official_archive_is_known_and_whole(tmp_path: Path) -> None:
    """Folders 0 to 999 inside one that is named after the set, ten images each, in a tar that is called tar.gz."""
    name = "imagenetv2-matched-frequency"
    written = layouts.tar(tmp_path / "x.tar", layouts.pictures(10), "index", root=f"{name}-format-val")
    found = open_testset(written.rename(tmp_path / f"{name}.tar.gz"))
    assert (found.name, found.known, found.remarks) == (name, name, ())
    assert found.layout == "class folders by index, in a tar archive"
    assert (found.labels == np.repeat(np.arange(1000), 10)).all()
    sample = range(0, 10_000, 997)
    assert all((found.pixels[i] == layouts.pixels_of(i // 10, i % 10)).all() for i in sample)


@pytest.mark.parametrize(
    ("called", "known"),
    [
        ("imagenetv2-matched-frequency-format-val", "imagenetv2-matched-frequency"),
        ("imagenet-matched-frequency-format-val", "imagenetv2-matched-frequency"),
        ("imagenetv2-threshold0.7-format-val", "imagenetv2-threshold-0.7"),
        ("ImageNetV2-Threshold-0.7", "imagenetv2-threshold-0.7"),
        ("imagenetv2-topimages", "imagenetv2-top-images"),
        ("imagenet-a", "imagenet-a"),
        ("imagenet_r", "imagenet-r"),
        ("imagenet-rendition", "imagenet-r"),
        ("ILSVRC2012_img_val", "imagenet-val"),
        ("imagenet-auto", None),
        ("my-imagenet", None),
    ],
)
def test_published_sets_are_known_by_the_names_of_their_folders(called: str, known: str | None) -> None:
    found = by_name("holds", called)
    assert (found.name if found else None) == known


def test_the_official_archive_evaluates_rightly_where_libraries_mislabel_it(tmp_path: Path) -> None:
    """Each image tells its class, so that a perfect classifier is at hand."""
    from timm.data import ImageDataset
    from torchvision.datasets import ImageFolder

    def accuracy(pairs: Sequence[tuple[Any, int]]) -> float:
        told = [int(pixels[0, 0, 0]) * 256 + int(pixels[0, 0, 1]) for pixels, _ in pairs]
        return float(np.mean([said == label for said, (_, label) in zip(told, pairs, strict=True)]))

    def of_library(dataset: Any) -> list[tuple[Any, int]]:
        return [(np.asarray(image.convert("RGB")), label) for image, label in dataset]

    images = layouts.pictures(classes=range(120))
    path = layouts.folder(tmp_path / "v2", images, "index")
    plain = layouts.tar(tmp_path / "v2.tar", images, "index", root="v2-format-val")
    packed = layouts.tar(tmp_path / "v2.tar.gz", images, "index")
    for made in (plain, packed, path):
        found = open_testset(made, partial=True, scratch=tmp_path / "scratch")
        assert accuracy(list(zip(found.pixels, found.labels.tolist(), strict=True))) == 1.0
    by_torchvision, by_timm = ImageFolder(str(path)), ImageDataset(str(path))
    assert accuracy(of_library(by_torchvision)) < 0.05
    assert by_torchvision.class_to_idx["100"] == 3
    assert by_timm.reader.class_to_idx["100"] == 100, "the same folder has other labels in timm"


def test_libraries_mislabel_what_lacks_a_class(tmp_path: Path) -> None:
    from timm.data import ImageDataset
    from torchvision.datasets import ImageFolder

    path = layouts.folder(tmp_path / "set", layouts.pictures(classes=range(1, 1000)), "wnid")
    found = open_testset(path, partial=True)
    assert (found.labels == np.arange(1, 1000)).all()
    assert ImageFolder(str(path)).targets == list(range(999))
    assert ImageDataset(str(path)).reader.samples[0][1] == 0
    assert found.remarks == ("1 of the 1000 classes of ImageNet are missing, the first is 0 (n01440764)",)


@pytest.mark.parametrize(("name", "timms"), [("imagenet-a", "imagenet_a"), ("imagenet-r", "imagenet_r")])
def test_sets_of_200_classes_have_their_own_masks(name: str, timms: str, tmp_path: Path) -> None:
    from timm.data import imagenet_info

    text = (Path(imagenet_info.__file__).parent / "_info" / f"{timms}_synsets.txt").read_text()
    wnids = text.split()
    total = {"imagenet-a": 7_500, "imagenet-r": 30_000}[name]
    classes = [layouts.IMAGENET.index_of[wnid] for wnid in wnids]
    counts = np.full(200, total // 200)
    counts[:100] += total // 200 - 3
    counts[100:] -= total // 200 - 3
    counts[0] += total - counts.sum()
    data = layouts.picture(0, "").data()
    files = {f"{wnid}/{k}.jpg": data for wnid, n in zip(wnids, counts, strict=True) for k in range(n)}
    for called in (name, "natural"):
        found = open_images(Path(called), layouts.Memory(files), None, partial=False)
        assert (found.known, found.remarks, len(found.ids)) == (name, (), total)
        assert list(found.wnids) == sorted(wnids)
        assert found.classes.tolist() == sorted(classes)
        assert set(found.labels.tolist()) == set(classes)
    del files[f"{wnids[0]}/0.jpg"]
    with pytest.raises(InputError, match=f"has {total - 1:,} images, but {name} has {total:,}"):
        open_images(Path(name), layouts.Memory(files), None, partial=False)


def test_the_class_tables_are_timms() -> None:
    from timm.data import ImageNetInfo, RealLabelsImagenet

    from imagenetv2.testsets import timm_tables

    info = ImageNetInfo("imagenet-1k")
    assert list(timm_tables.imagenet_wnids()) == info.label_names()
    assert timm_tables.imagenet_words()[:3] == tuple(
        info.label_name_to_description(w) for w in info.label_names()[:3]
    )
    real = RealLabelsImagenet([f"ILSVRC2012_val_{i:08d}.JPEG" for i in range(1, 50_001)])
    assert [real.real_labels[f"ILSVRC2012_val_{i:08d}.JPEG"] for i in (1, 2, 50_000)] == [
        list(timm_tables.real_labels()[i - 1]) for i in (1, 2, 50_000)
    ]


def test_planning_to_open_imports_no_pytorch(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = layouts.folder(tmp_path / "set", layouts.pictures(classes=range(3)), "index")
    code = (
        "import sys; from pathlib import Path; from imagenetv2.testsets.opening import open_testset; "
        f"open_testset(Path({str(path)!r}), partial=True); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
