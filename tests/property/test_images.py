"""Truncated and damaged files: refused as what they are, or whole."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from imagenetv2 import images
from imagenetv2.benchmark.settings import Images

PIXELS = np.random.default_rng(5).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def _encoded(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PIXELS).save(buffer, kind, **({"lossless": True} if kind == "WEBP" else {}))
    return buffer.getvalue()


FILES = {kind: _encoded(kind) for kind in ("JPEG", "PNG", "BMP", "TIFF", "GIF", "WEBP")}


@given(st.sampled_from(sorted(FILES)), st.floats(0, 1))
def test_a_truncated_file_is_refused_or_nothing_of_the_picture_is_lost(kind: str, share: float) -> None:
    data = FILES[kind]
    try:
        found = images.decode(data[: int(share * len(data))], Images()).pixels
    except images.UndecodableImageError:
        return
    np.testing.assert_array_equal(found, images.decode(data, Images()).pixels)


@pytest.mark.parametrize("kind", sorted(FILES))
def test_half_a_file_is_always_refused(kind: str) -> None:
    with pytest.raises(images.UndecodableImageError):
        images.decode(FILES[kind][: len(FILES[kind]) // 2], Images())


@given(st.sampled_from(sorted(FILES)), st.integers(0, 10**6), st.binary(min_size=1, max_size=40))
def test_damage_anywhere_raises_nothing_but_the_declared_error(kind: str, where: int, damage: bytes) -> None:
    data = bytearray(FILES[kind])
    start = where % len(data)
    data[start : start + len(damage)] = damage
    try:
        picture = images.decode(bytes(data), Images())
    except images.UndecodableImageError as error:
        assert str(error)
    else:
        assert picture.pixels.dtype == np.uint8
        assert picture.pixels.ndim == 3
