"""What tells that files changed, and how a set was told to be a published one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.evaluation.scorecard import card
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.testsets import gates, known
from imagenetv2.testsets.checking import check_files
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.testset import TestSet
from tests.unit import testset_layouts as layouts

CLASSES = range(0, 1000, 300)


def opened(path: Path) -> TestSet:
    return open_testset(path, partial=True)


def bitmaps(folder: Path, grey: int) -> Path:
    """Files whose sizes do not depend on what they show."""
    for index in CLASSES:
        (folder / str(index)).mkdir(parents=True)
        Image.fromarray(np.full((8, 8, 3), grey, np.uint8)).save(folder / str(index) / "a.bmp")
    return folder


def test_only_content_tells_files_of_the_same_names_and_sizes_apart(tmp_path: Path) -> None:
    one, other = (opened(bitmaps(tmp_path / str(grey), grey)) for grey in (10, 200))
    assert one.digest == other.digest
    assert check_files(one) != check_files(other)
    assert one.state != other.state


def test_content_is_the_same_wherever_files_lie(tmp_path: Path) -> None:
    images = layouts.pictures(classes=CLASSES)
    made = (
        layouts.folder(tmp_path / "a", images, "index"),
        layouts.folder(tmp_path / "b", images, "wnid", tables=True),
        layouts.tar(tmp_path / "c.tar", images, "index"),
        layouts.packed_zip(tmp_path / "d.zip", images, "wnid"),
    )
    assert len({check_files(opened(path), cores) for cores, path in enumerate(made, start=1)}) == 1
    relabelled = layouts.folder(tmp_path / "e", layouts.pictures(classes=(0, 300, 600, 901)), "index")
    assert check_files(opened(relabelled)) != check_files(opened(made[0]))


MAKERS: dict[str, Callable[[Path], Path]] = {
    "folder": lambda at: layouts.folder(at / "set", layouts.pictures(classes=CLASSES), "index"),
    "tar": lambda at: layouts.tar(at / "set.tar", layouts.pictures(classes=CLASSES), "index"),
    "zip": lambda at: layouts.packed_zip(at / "set.zip", layouts.pictures(classes=CLASSES), "index"),
    "parquet": lambda at: layouts.parquet(at / "set", layouts.pictures(classes=CLASSES), 1),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_set_whose_files_were_written_to_is_in_another_state(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = make(tmp_path)
    before = opened(path)
    assert opened(path).state == before.state
    file = next(
        p for p in [path, *sorted(path.rglob("*"))] if p.suffix in (".jpeg", ".tar", ".zip", ".parquet")
    )
    facts = file.stat()
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    after = opened(path)
    assert after.state != before.state and after.digest == before.digest
    assert check_files(after) == check_files(before)


def test_a_file_replaced_by_one_as_old_and_as_large_is_noticed(tmp_path: Path) -> None:
    path = bitmaps(tmp_path / "set", 10)
    file, other = path / "0/a.bmp", bitmaps(tmp_path / "other", 200) / "0/a.bmp"
    before, facts = opened(path), file.stat()
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    other.replace(file)
    assert file.stat().st_mtime_ns == facts.st_mtime_ns
    assert opened(path).state != before.state


def test_how_a_published_set_was_recognised_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = layouts.folder(tmp_path / "my_matched_frequency", layouts.pictures(classes=CLASSES), "index")
    assert (opened(own).known, opened(own).recognised) == ("imagenetv2-matched-frequency", gates.BY_NAME)
    other = own.rename(tmp_path / "mine")
    assert (opened(other).known, opened(other).recognised) == (None, "")
    images = layouts.folder(tmp_path / "val", layouts.validation_pictures(), "index")
    assert opened(images).recognised == gates.BY_IMAGES
    packed = layouts.tar(tmp_path / "imagenetv2-top-images.tar", layouts.pictures(classes=CLASSES), "index")
    assert opened(packed).recognised == gates.BY_NAME
    release = known.Release(packed.stat().st_size, known._digest(packed, 1))
    top = next(k for k in known.KNOWN if k.name == "imagenetv2-top-images")
    published = known.Known(top.name, top.images, top.per_class, top.named, releases=(release,))
    monkeypatch.setattr(known, "KNOWN", (published,))
    assert opened(packed).recognised == gates.BY_ARCHIVE
    damaged = known.Release(release.bytes, "0" * 64)
    monkeypatch.setattr(
        known, "KNOWN", (known.Known(top.name, top.images, 10, top.named, releases=(damaged,)),)
    )
    with pytest.raises(InputError, match=r"its SHA-256 is .*, not 0{16}…: it is damaged"):
        opened(packed)


def test_a_cut_gif_is_found_whatever_its_last_bytes_hold(tmp_path: Path) -> None:
    noise = np.random.default_rng(2).integers(0, 256, (200, 200), dtype=np.uint8)
    (tmp_path / "set/0").mkdir(parents=True)
    file = tmp_path / "set/0/a.gif"
    Image.fromarray(noise).save(file)
    check_files(opened(tmp_path / "set"))
    data = file.read_bytes()
    file.write_bytes(data[: data.rindex(b";", 0, len(data) // 2) + 1])
    with pytest.raises(InputError, match=r"1 of its 1 files are not whole images: .*a\.gif: GIF cannot be"):
        check_files(opened(tmp_path / "set"))


def test_images_that_changed_behind_their_names_and_sizes_are_computed_anew(tmp_path: Path) -> None:
    """A finished set stays as it is while nothing is written to it, and is another one afterwards."""
    path, out = bitmaps(tmp_path / "set", 10), tmp_path / "out"

    def checked(look: bool = True) -> str:
        return card.checked(Opened("also", "set", "set", opened(path)), out, 1, look).content

    assert checked(look=False) == "" and not out.exists(), "a forecast reads and writes nothing"
    first = checked()
    assert checked() == checked(look=False) == first
    file = path / "0/a.bmp"
    sound = file.read_bytes()
    file.write_bytes(sound[:-1] + b"\xff")
    assert checked(look=False) == ""
    assert checked() not in ("", first)
    file.write_bytes(sound)
    assert checked() == first
    file.write_bytes(sound[:20])
    with pytest.raises(InputError, match=r"1 of its 4 files are not whole images"):
        checked()
