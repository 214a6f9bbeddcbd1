"""The store of squashed pictures."""

from __future__ import annotations

import errno
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from imagenetv2.duplicates import squashed as module
from imagenetv2.duplicates import stored
from imagenetv2.duplicates.squashed import squashed
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels, UndecodableImageError, squash

COUNT, SIDE = 23, 8


def image(index: int) -> Pixels:
    return np.random.default_rng(index).integers(0, 256, (10 + index, 12, 3)).astype(np.uint8)


def wanted() -> npt.NDArray[np.uint8]:
    return np.stack([squash(image(i), SIDE) for i in range(COUNT)])


class Source:
    """Pictures, of which some raise an error; remembers which were asked for."""

    def __init__(self, errors: dict[int, BaseException] | None = None) -> None:
        self.errors, self.asked = errors or {}, []

    def __call__(self, index: int) -> Pixels:
        self.asked.append(index)
        if index in self.errors:
            raise self.errors[index]
        return image(index)


@pytest.fixture(autouse=True)
def _always_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 0)


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("shard", [1, 4, 23, 100])
def test_same_pixels_in_memory_and_in_a_file(tmp_path: Path, cores: int, shard: int) -> None:
    for folder in (None, tmp_path):
        pixels, unreadable = squashed(COUNT, image, SIDE, folder, cores, shard)
        assert np.array_equal(pixels, wanted())
        assert pixels.dtype == np.uint8
        assert unreadable == {}


def test_no_picture(tmp_path: Path) -> None:
    pixels, unreadable = squashed(0, image, SIDE, tmp_path, 2)
    assert pixels.shape == (0, SIDE, SIDE, 3)
    assert unreadable == {}


BROKEN: dict[int, BaseException] = {
    1: UndecodableImageError("PNG cannot be decoded: cut off"),
    2: KeyError("There is no item named 'n1/x.png' in the archive"),
    3: OSError("image file is truncated (3 bytes not processed)"),
    9: ValueError("buffer is not large enough"),
    10: zipfile.BadZipFile("Bad CRC-32 for file 'x.png'"),
    22: SyntaxError("broken PNG file"),
}


@pytest.mark.parametrize("folder", [True, False])
def test_unreadable_pictures_are_black_and_named(tmp_path: Path, folder: bool) -> None:
    expected = wanted()
    expected[list(BROKEN)] = 0
    for _ in range(2):
        pixels, unreadable = squashed(COUNT, Source(BROKEN), SIDE, tmp_path if folder else None, 2, 4)
        assert np.array_equal(pixels, expected)
        assert list(unreadable) == list(BROKEN)
        assert unreadable[2] == "There is no item named 'n1/x.png' in the archive"
        assert unreadable[10] == "Bad CRC-32 for file 'x.png'"


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EMFILE, "Too many open files"),
        OSError(errno.EIO, "Input/output error", "images.zip"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "images.zip"),
        PermissionError(errno.EACCES, "Permission denied", "images.zip"),
        OSError(errno.EINVAL, "Invalid argument"),
        MemoryError(),
        InputError("images.zip cannot be read"),
    ],
)
def test_what_is_wrong_with_the_machine_is_no_broken_picture(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        squashed(COUNT, Source({5: error}), SIDE, tmp_path, 2, 4)


class Stopped(BaseException):
    """As when a process is killed."""


@pytest.mark.parametrize("stop", [0, 1, 7, 8, 22])
def test_a_killed_run_goes_on_after_its_last_shard(tmp_path: Path, stop: int) -> None:
    broken = Source({**BROKEN, stop: Stopped()})
    with pytest.raises(Stopped):
        squashed(COUNT, broken, SIDE, tmp_path, 1, 4)
    again = Source(BROKEN)
    pixels, unreadable = squashed(COUNT, again, SIDE, tmp_path, 1, 4)
    expected = wanted()
    expected[list(BROKEN)] = 0
    assert np.array_equal(pixels, expected)
    assert set(unreadable) == set(BROKEN)
    assert again.asked == list(range(stop // 4 * 4, COUNT))
    third = Source()
    squashed(COUNT, third, SIDE, tmp_path, 1, 4)
    assert third.asked == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / f"squashed-{SIDE}.npy").unlink(),
        lambda folder: (folder / f"squashed-{SIDE}.npy").write_bytes(b"\x93NUMPY"),
        lambda folder: np.save(folder / f"squashed-{SIDE}.npy", np.zeros((COUNT, SIDE, 3), np.uint8)),
    ],
)
def test_a_damaged_file_is_made_again_as_a_whole(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    squashed(COUNT, image, SIDE, tmp_path, 1, 4)
    damage(tmp_path)
    source = Source()
    pixels, _ = squashed(COUNT, source, SIDE, tmp_path, 1, 4)
    assert np.array_equal(pixels, wanted())
    assert source.asked == list(range(COUNT))


def test_a_damaged_note_means_that_its_shard_is_not_finished(tmp_path: Path) -> None:
    squashed(COUNT, image, SIDE, tmp_path, 1, 4)
    (tmp_path / f"squashed-{SIDE}-8.12.json").write_text("{")
    source = Source()
    pixels, _ = squashed(COUNT, source, SIDE, tmp_path, 1, 4)
    assert source.asked == [8, 9, 10, 11]
    assert np.array_equal(pixels, wanted())


def test_a_full_disk_is_said_before_anything_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = stored.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(stored.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    source = Source()
    with pytest.raises(InputError, match=rf"{tmp_path}: squashed-8 of 23 images need 0\.0 GB there"):
        squashed(COUNT, source, SIDE, tmp_path, 1)
    assert source.asked == []


def test_large_arrays_are_mapped_and_not_to_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    pixels, _ = squashed(COUNT, image, SIDE, tmp_path, 2, 4)
    assert not pixels.flags.writeable
    assert np.array_equal(pixels, wanted())
