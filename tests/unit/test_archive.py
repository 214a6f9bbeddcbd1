"""Archives: the same bytes each time, random access from threads and processes."""

from __future__ import annotations

import errno
import os
import pickle
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from imagenetv2 import archive
from imagenetv2.errors import InputError
from imagenetv2.images import encode_png

FILES = {"a/1.png": b"one", "a/2.png": b"", "b/1.png": b"three" * 1000}


def _write(path: Path) -> Path:
    with archive.write(path) as writer:
        for name, data in FILES.items():
            writer.add(name, data)
    return path


def test_bytes_depend_on_content_only(tmp_path: Path) -> None:
    first = _write(tmp_path / "x.zip")
    os.utime(first, (1, 1))
    assert first.read_bytes() == _write(tmp_path / "y.zip").read_bytes()
    with zipfile.ZipFile(first) as plain:
        assert plain.testzip() is None
        assert {name: plain.read(name) for name in plain.namelist()} == FILES


def test_a_name_can_be_added_once(tmp_path: Path) -> None:
    with archive.write(tmp_path / "x.zip") as writer:
        writer.add("a", b"1")
        with pytest.raises(ValueError, match="already holds a"):
            writer.add("a", b"2")


def test_reading_from_threads_and_after_pickling(tmp_path: Path) -> None:
    with archive.Reader(_write(tmp_path / "x.zip")) as reader:
        assert reader.names() == sorted(FILES)

        def read(name: str) -> bytes:
            try:
                return reader.data(name)
            finally:
                reader.close()

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(read, list(FILES) * 20)) == list(FILES.values()) * 20
        with pickle.loads(pickle.dumps(reader)) as copy:
            assert copy.data("a/1.png") == b"one"
        with pytest.raises(KeyError):
            reader.data("absent")


def test_pixels_of_a_canonical_image(tmp_path: Path) -> None:
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    with archive.write(tmp_path / "x.zip") as writer:
        writer.add("p.png", encode_png(pixels))
    with archive.Reader(tmp_path / "x.zip") as reader:
        np.testing.assert_array_equal(reader.pixels("p.png"), pixels)


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("no archive")
    with pytest.raises(InputError, match=r"x\.zip cannot be read"):
        archive.Reader(tmp_path / "x.zip").names()


def _damaged(path: Path, at: int, data: bytes) -> archive.Reader:
    whole = bytearray(path.read_bytes())
    whole[at : at + len(data)] = data
    path.write_bytes(whole)
    return archive.Reader(path)


def test_a_damaged_entry_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    for part, said in ((0, "magic number"), (30, "header differ"), (38, "CRC-32")):
        reader = _damaged(_write(tmp_path / f"{part}.zip"), part, b"~")
        with pytest.raises(zipfile.BadZipFile, match=f"{said}.*a/1.png|'a/1.png' and {said}"):
            reader.data("a/1.png")
        assert reader.data("b/1.png") == FILES["b/1.png"]


@pytest.mark.parametrize("kept", [0, 10, 21, 60, 5000, -1])
def test_a_cut_archive_is_named(tmp_path: Path, kept: int) -> None:
    path = _write(tmp_path / "x.zip")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"x\.zip cannot be read"):
        archive.Reader(path).names()


def test_any_damage_of_the_directory_is_told(tmp_path: Path) -> None:
    """Whatever a byte of it becomes: an error that names the archive, that of an entry, or what was there."""
    path = _write(tmp_path / "x.zip")
    whole = path.read_bytes()
    for at in range(whole.index(b"PK\1\2"), len(whole)):
        for value in (0, 1, 0x7F, 0xFF):
            path.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
            reader = archive.Reader(path)
            with suppress(InputError, zipfile.BadZipFile, KeyError):
                assert reader.data("b/1.png") == FILES["b/1.png"]


def test_archives_of_more_than_four_gigabytes_and_65535_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zipfile writes wide numbers where it must; here it is made to think so."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 40)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    path = _write(tmp_path / "x.zip")
    assert b"PK\6\6" in path.read_bytes()
    with archive.Reader(path) as reader:
        assert {name: reader.data(name) for name in reader.names()} == FILES


def test_entries_in_any_order_and_names_in_any_script(tmp_path: Path) -> None:
    names = ["z.png", "a.png", "größe.png", "貓/1.png", "b"]
    with archive.write(tmp_path / "x.zip") as writer:
        for name in names:
            writer.add(name, name.encode())
    with archive.Reader(tmp_path / "x.zip") as reader:
        assert reader.names() == sorted(names)
        assert all(reader.data(name) == name.encode() for name in names)


def test_what_is_compressed_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as plain:
        plain.writestr("a", "text")
    with pytest.raises(InputError, match=r"x\.zip cannot be read .*compressed"):
        archive.Reader(tmp_path / "x.zip").data("a")


def test_threads_share_one_index_and_errors_of_the_disk_name_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = archive.Reader(_write(tmp_path / "x.zip"))
    made: list[Path] = []
    opened = archive._Opened
    monkeypatch.setattr(archive, "_Opened", lambda path: made.append(path) or opened(path))
    for _ in range(3):  # as many pools, each with threads of its own
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(reader.data, list(FILES) * 9)) == list(FILES.values()) * 9
    assert made == [reader.path]

    def failing(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", failing)
    with pytest.raises(OSError, match=r"Input/output error: '.*x\.zip'"):
        reader.data("a/1.png")


def test_many_entries_take_little_memory(tmp_path: Path) -> None:
    with archive.write(tmp_path / "x.zip") as writer:
        for i in range(3000):
            writer.add(f"n{i // 100:08d}/photograph_{i:010d}.png", b"")
    reader = archive.Reader(tmp_path / "x.zip")
    tracemalloc.start()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(reader.data, reader.names()))
        kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 3000 * 250
    reader.close()
