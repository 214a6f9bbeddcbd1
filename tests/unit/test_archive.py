"""Archives: the same bytes each time, random access from threads and processes."""

from __future__ import annotations

import os
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor
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
