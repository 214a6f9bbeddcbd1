"""Pictures from folders and archives."""

from __future__ import annotations

import errno
import io
import os
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from imagenetv2.duplicates.folders import Folder, pictures
from imagenetv2.errors import InputError
from imagenetv2.images import UndecodableImageError, encode_jpeg, encode_png


def picture(seed: int, side: int = 12) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (side, side + 2, 3), dtype=np.uint8)


def tree(root: Path) -> Path:
    """Pictures 0 to 3 at several depths, and files that are none."""
    for seed, name in enumerate(("b/deep/er/0.png", "a/1.png", "top.png", "z 2/é.png")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(encode_png(picture(seed)))
    return root


SORTED = ["a/1.png", "b/deep/er/0.png", "top.png", "z 2/é.png"]
SEEDS = [1, 0, 2, 3]


def packed_tar(root: Path, path: Path, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for file in sorted(root.rglob("*"), reverse=True):
            archive.add(file, f"./{file.relative_to(root).as_posix()}", recursive=False)
    return path


def packed_zip(root: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*"), reverse=True):
            archive.write(file, file.relative_to(root).as_posix())
    return path


def reasons(folder: Folder) -> dict[str, str]:
    found = {}
    for i, name in enumerate(folder.names):
        try:
            folder.pixels(i)
        except UndecodableImageError as error:
            found[name] = str(error)
    return found


def test_a_folder_and_all_kinds_of_archives_hold_the_same(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    # Names say nothing: the first bytes decide.
    paths = [root, packed_tar(root, tmp_path / "one"), packed_zip(root, tmp_path / "two.tar")]
    paths += [packed_tar(root, tmp_path / f"three.{kind}", f"w:{kind}") for kind in ("gz", "bz2", "xz")]
    for path in paths:
        folder = pictures([path])
        assert folder.names == SORTED, path
        for i, seed in enumerate(SEEDS):
            assert np.array_equal(folder.pixels(i), picture(seed)), path


def test_archives_are_read_by_many_threads_at_once(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    for path in (packed_tar(root, tmp_path / "a.tar"), packed_zip(root, tmp_path / "a.zip")):
        folder = pictures([path])
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(folder.pixels, [i % 4 for i in range(400)]))
        assert all(np.array_equal(pixels, picture(SEEDS[i % 4])) for i, pixels in enumerate(found))


def test_archives_inside_a_folder_are_opened(tmp_path: Path) -> None:
    root, shards = tree(tmp_path / "root"), tmp_path / "set"
    shards.mkdir()
    packed_tar(root, shards / "b.tar")
    packed_zip(root, shards / "a.ZIP")
    assert pictures([shards]).names == [f"{shard}/{name}" for shard in ("a.ZIP", "b.tar") for name in SORTED]


def test_files_that_are_no_pictures_are_named_with_the_reason(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (root / "a/notes.jpg").write_text("hello")
    (root / "a/empty.png").touch()
    (root / "a/cut.jpg").write_bytes(encode_jpeg(picture(5, 64))[:-200])
    (root / "gone.png").symlink_to(root / "nowhere.png")
    (root / "broken.tar").write_text("no archive")
    (root / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing")
    found = reasons(pictures([root]))
    assert found["a/notes.jpg"] == "not an image: it begins with b'hello'"
    assert found["a/empty.png"] == "the file is empty"
    assert "JPEG cannot be decoded" in found["a/cut.jpg"]
    assert found["gone.png"] == "it cannot be read: No such file or directory"
    assert "not an image" in found["broken.tar"]
    assert "the archive cannot be read" in found["broken.zip"]
    assert len(found) == 6, "the four pictures are read all the same"


@pytest.mark.parametrize(
    ("number", "own"),
    [
        (errno.ENOENT, True),
        (errno.EACCES, True),
        (errno.EISDIR, True),
        (errno.EIO, False),
        (errno.EMFILE, False),
    ],
)
def test_what_is_wrong_with_the_disk_is_no_broken_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, own: bool
) -> None:
    folder = pictures([tree(tmp_path / "root")])

    def failing(*_: Any) -> None:
        raise OSError(number, "something")

    monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(UndecodableImageError if own else OSError):
        folder.pixels(0)


@pytest.mark.parametrize("pack", [packed_tar, packed_zip])
def test_what_is_wrong_with_an_archive_as_a_whole_is_no_broken_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    folder = pictures([pack(tree(tmp_path / "root"), tmp_path / "archive")])

    def failing(*_: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", failing)
    monkeypatch.setattr(zipfile.ZipFile, "open", failing)
    with pytest.raises(OSError, match="Input/output error"):
        folder.pixels(0)


def test_extensions_say_nothing_about_pictures(tmp_path: Path) -> None:
    (tmp_path / "photo.txt").write_bytes(encode_jpeg(picture(0)))
    buffer = io.BytesIO()
    Image.fromarray(picture(1)).save(buffer, "WEBP", lossless=True)
    (tmp_path / "photo").write_bytes(buffer.getvalue())
    folder = pictures([tmp_path])
    assert not reasons(folder)
    assert np.array_equal(folder.pixels(0), picture(1))


def test_a_cut_archive_gives_what_is_whole_and_names_itself(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    for kind in ("", "gz"):
        whole = packed_tar(root, tmp_path / f"whole{kind}", f"w:{kind}").read_bytes()
        (tmp_path / "cut.tar").write_bytes(whole[: len(whole) * 2 // 5] if kind else whole[:2500])
        folder = pictures([tmp_path / "cut.tar"])
        found = reasons(folder)
        assert "cut.tar" in found and "damaged" in found["cut.tar"], kind
        assert len(folder) > len(found) or kind, "what lies before the cut is read"


def test_a_damaged_member_of_a_zip_is_named(tmp_path: Path) -> None:
    path = packed_zip(tree(tmp_path / "root"), tmp_path / "a.zip")
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("top.png").header_offset + 60
    data = bytearray(path.read_bytes())
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    assert list(reasons(pictures([path]))) == ["top.png"]


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.png").write_bytes(encode_png(picture(9)))
    (root / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (root / "a/up").symlink_to(root, target_is_directory=True)
    names = pictures([root]).names
    assert "linked/x.png" in names
    assert not any(name.startswith("a/up") for name in names)


def test_hidden_files_are_left_out_and_nothing_waits_for_a_pipe(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (root / ".DS_Store").write_text("x")
    (root / "__MACOSX").mkdir()
    (root / "__MACOSX/._1.png").write_text("x")
    os.mkfifo(root / "pipe.png")
    assert pictures([root]).names == SORTED
    with zipfile.ZipFile(packed_zip(root / "a", tmp_path / "a.zip"), "a") as archive:
        archive.writestr("__MACOSX/._1.png", "x")
    assert pictures([tmp_path / "a.zip"]).names == ["1.png"]


def test_several_paths_keep_their_names_and_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    archive = packed_tar(root, tmp_path / "a.tar")
    found = pictures([root / "a", archive, root / "a/1.png", root / "top.png"])
    assert found.names == sorted(
        [f"{root}/a/1.png", f"{root}/top.png", *(f"{archive}/{name}" for name in SORTED)]
    )
    assert pictures([root / "top.png"]).names == ["top.png"]


def test_a_name_that_is_no_text_is_shown_and_read(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.png"
    Path(os.fsdecode(path)).write_bytes(encode_png(picture(0)))
    folder = pictures([tmp_path])
    assert folder.names == ["caf\\xe9.png"]
    assert np.array_equal(folder.pixels(0), picture(0))


def test_a_missing_path_ends_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere does not exist; correct the path"):
        pictures([tmp_path / "nowhere"])


def test_the_digest_changes_with_the_files(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    before = pictures([root]).digest()
    assert pictures([root]).digest() == before
    (root / "a/1.png").write_bytes(encode_png(picture(7, 13)))
    assert pictures([root]).digest() != before


@pytest.mark.packs
def test_the_packs_open_without_unpacking(packs: Path) -> None:
    folder = pictures([packs / "cifar10h/test.tar"])
    assert len(folder) == 10_000
    assert folder.names[0] == "airplane/0000.jpg"
    assert folder.pixels(9_999).shape == (32, 32, 3)
