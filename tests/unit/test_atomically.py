"""A file is the old one or the new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from imagenetv2.atomically import replacing, write_bytes


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_made_and_replaced(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "file"
    for data in (b"one", b"", b"three"):
        write_bytes(path, data, durable=durable)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("old", [None, b"old"])
def test_an_error_or_an_end_within_changes_nothing(tmp_path: Path, old: bytes | None) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), replacing(path) as file:
            file.write(b"half")
            file.flush()
            assert (path.read_bytes() if path.exists() else None) == old
            raise error
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])
