"""Images in unusual colour modes, and edited copies of one photograph: what is decoded and what metrics find."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from imagenetv2.benchmark.settings import Images
from imagenetv2.duplicates import metrics
from imagenetv2.images import decode, squash

STORED, CANONICAL = Images(mode="raw"), Images()
Decoded = Callable[[str], npt.NDArray[np.uint8]]
SAME = {"mode-original.jpg", "mode-RGBA.png", "bridge-aaa-orig.jpg"}
GREY = {"mode-L.png", "mode-LA.png"}
REENCODED = {"mode-CMYK.jpg": "CMYK", "mode-YCbCr.jpg": "YCbCr"}


@pytest.fixture
def decoded(packs: Path) -> Decoded:
    """The pixels of a file of the pack as it is stored."""
    return lambda name: decode((packs / "hostile" / name).read_bytes(), STORED).pixels


@pytest.mark.packs
@pytest.mark.parametrize("name", sorted(SAME))
def test_modes_that_hold_the_same_pixels_decode_to_the_same_pixels(decoded: Decoded, name: str) -> None:
    np.testing.assert_array_equal(decoded(name), decoded("mode-original.jpg"))


@pytest.mark.packs
@pytest.mark.parametrize("name", sorted(GREY))
def test_grey_modes_decode_to_the_grey_of_the_original(decoded: Decoded, name: str) -> None:
    """ITU-R 601 luma, rounded: what every converter to grey computes, to within its rounding."""
    found = decoded(name)
    assert (found == found[..., :1]).all()
    luma = decoded("mode-original.jpg") @ np.array([0.299, 0.587, 0.114])
    assert np.abs(found[..., 0] - luma).max() <= 0.501
    np.testing.assert_array_equal(found, decoded("mode-L.png"))


@pytest.mark.packs
@pytest.mark.parametrize("name", sorted(REENCODED))
def test_jpegs_of_other_colour_spaces_differ_by_what_jpeg_loses_and_no_more(
    packs: Path, decoded: Decoded, name: str
) -> None:
    """They are the original, encoded again at quality 75; an inverted or shifted colour would be far off."""
    original, found = decoded("mode-original.jpg").astype(int), decoded(name).astype(int)
    buffer = io.BytesIO()
    Image.fromarray(original.astype(np.uint8)).convert(REENCODED[name]).save(buffer, "JPEG", quality=75)
    again = decode(buffer.getvalue(), STORED).pixels.astype(int)
    # Equal with the JPEG library that made the file; another one may round otherwise.
    assert np.abs(found - again).mean() < 0.5
    assert np.abs(found - original).mean() <= np.abs(again - original).mean() + 0.1
    assert np.abs((found - original).mean(axis=(0, 1))).max() < 1.5


@pytest.mark.packs
def test_cmyk_is_read_as_adobe_writes_it(packs: Path, decoded: Decoded) -> None:
    """Inverted inks in the file: red is C · K / 255 of what is stored."""
    with Image.open(packs / "hostile/mode-CMYK.jpg") as image:
        assert image.mode == "CMYK"
        assert image.info["adobe_transform"] == 0
        # Pillow has turned the inks round already: 255 is full ink.
        inks = 255 - np.asarray(image).astype(float)
    wanted = inks[..., :3] * inks[..., 3:] / 255
    assert np.abs(decoded("mode-CMYK.jpg") - wanted).max() <= 1


@pytest.mark.packs
def test_palette_and_black_and_white_are_dithered_and_show_it_only_close_up(decoded: Decoded) -> None:
    """Single pixels are far off; over 8 × 8 pixels the colours, or the greys, are those of the original."""
    original, palette, bits = (decoded(f"mode-{n}") for n in ("original.jpg", "P.png", "1.png"))
    grey = decoded("mode-L.png")
    assert set(np.unique(bits)) == {0, 255}
    assert set(np.unique(palette)) <= {0, 51, 102, 153, 204, 255}
    for dithered, wanted, near, far in ((palette, original, 2.0, 10), (bits, grey, 8.0, 50)):
        assert np.abs(dithered.astype(int) - wanted).mean() > far
        assert np.abs(blocks(dithered) - blocks(wanted)).mean() < near


def blocks(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Means of 8 × 8 pixels, without a rest at the edges."""
    down, across = pixels.shape[0] // 8, pixels.shape[1] // 8
    cut = pixels[: 8 * down, : 8 * across].reshape(down, 8, across, 8, 3)
    return np.asarray(cut.mean(axis=(1, 3)))


MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
KINDS = ("PNG", "TIFF", "BMP", "GIF", "WEBP")
HELD = [
    (mode, kind) for mode in MODES for kind in KINDS if (mode, kind) not in {("LA", "BMP"), ("I;16", "BMP")}
]


@pytest.mark.parametrize(("mode", "kind"), HELD)
def test_the_same_pixels_decode_to_the_same_pixels_in_any_mode_and_container(mode: str, kind: str) -> None:
    rng = np.random.default_rng(11)
    board = (rng.integers(0, 2, (24, 40)) * 255).astype(np.uint8)
    image = Image.fromarray(board)
    if mode == "I;16":
        image = Image.fromarray(board.astype(np.uint16) * 257)
    elif mode != "L":
        image = image.convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, kind, **({"lossless": True} if kind == "WEBP" else {}))
    found = decode(buffer.getvalue(), CANONICAL).pixels
    np.testing.assert_array_equal(found, np.repeat(board[..., None], 3, axis=-1))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_colours_stay_in_every_mode_that_holds_them(mode: str) -> None:
    rng = np.random.default_rng(12)
    few = rng.integers(0, 256, (200, 3)).astype(np.uint8)
    pixels = few[rng.integers(0, len(few), (24, 40))]
    image = Image.fromarray(pixels)
    image = image.quantize(256, dither=Image.Dither.NONE) if mode == "P" else image.convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    found = decode(buffer.getvalue(), CANONICAL).pixels
    np.testing.assert_array_equal(found, np.asarray(image.convert("RGB")))
    if mode != "P":
        np.testing.assert_array_equal(found, pixels)


@pytest.mark.packs
def test_every_copy_of_the_bridge_is_found_and_a_wee_picture_is_not(packs: Path) -> None:
    """At the study's 256 pixels and cut-offs: l2 and ssim each find every edit and every colour mode."""
    folder = packs / "hostile"
    names = sorted(path.name for path in folder.iterdir())
    names.insert(0, names.pop(names.index("mode-original.jpg")))
    pixels = np.stack([squash(decode((folder / n).read_bytes(), CANONICAL).pixels, 256) for n in names])
    others = np.arange(1, len(names))
    first, anything = np.zeros(len(others), np.int64), np.full(len(others), np.inf)
    found = {
        "l2": metrics.engine("l2", "cpu")(pixels).exact(first, others, anything),
        "ssim": metrics.engine("ssim", "cpu")(pixels, 35).exact(first, others, anything),
    }
    distance = {metric: dict(zip(names[1:], values, strict=True)) for metric, values in found.items()}
    for metric, cutoff in (("l2", 1.2e8), ("ssim", 0.2205)):
        far = distance[metric].pop("wee.jpg")
        assert far > 2 * cutoff
        assert max(distance[metric].values()) <= cutoff
        assert all(distance[metric][name] == 0 for name in SAME - {"mode-original.jpg"})
        # Small: re-encoding and dithering. Larger: without colour.
        assert max(distance[metric][n] for n in (*REENCODED, "mode-P.png")) < cutoff / 200
        assert min(distance[metric][n] for n in (*GREY, "mode-1.png")) > cutoff / 10
