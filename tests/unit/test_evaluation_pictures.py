"""Images of an archive that cannot be decoded, and disks that cannot be read."""

from __future__ import annotations

import errno
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.archive import Reader
from imagenetv2.errors import InputError
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.images import encode_png

PNG = encode_png(np.random.default_rng(0).integers(0, 256, (20, 20, 3)).astype(np.uint8))


@pytest.mark.parametrize("cut", [0, 5, 30, 50, 97, 600, len(PNG) - 30])
def test_an_image_that_ends_too_early_is_named(tmp_path: Path, cut: int) -> None:
    for data in (PNG[:cut], PNG[:cut] + b"\xff" * 8 + PNG[cut + 8 :]):
        with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
            archive.writestr("a.png", data)
        with pytest.raises(InputError, match=r"images\.zip: a\.png is damaged \(.*; delete its folder"):
            Pictures(tmp_path / "images.zip", ["a.png"])[0]


def test_an_error_of_the_disk_is_no_fault_of_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise OSError(errno.EIO, "Input/output error", "images.zip")

    monkeypatch.setattr(Reader, "data", broken)
    with pytest.raises(OSError, match="Input/output error"):
        Pictures(tmp_path / "images.zip", ["a.png"])[0]
