"""The one image path: every container and mode, orientation, and files that are broken."""

from __future__ import annotations

import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from imagenetv2 import images
from imagenetv2.benchmark.settings import Images

CANONICAL = Images()
RAW = Images(mode="raw")


def gradient(height: int = 24, width: int = 36) -> npt.NDArray[np.uint8]:
    rows, columns = np.mgrid[0:height, 0:width]
    return np.stack([rows * 10 % 256, columns * 7 % 256, (rows + columns) * 4 % 256], -1).astype(np.uint8)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "WEBP", "JPEG"])
def test_containers_are_known_by_their_first_bytes(kind: str) -> None:
    pixels = gradient()
    options = {"lossless": True} if kind == "WEBP" else {}
    picture = images.decode(encoded(Image.fromarray(pixels), kind, **options), CANONICAL)
    assert picture.format == kind
    assert picture.stored == (36, 24)
    if kind in ("PNG", "BMP", "TIFF", "WEBP"):
        np.testing.assert_array_equal(picture.pixels, pixels)


@pytest.mark.parametrize("data", [b"", b"<html>gone</html>", b"\x89PN", b"\xff\xd8\xff", b"RIFF1234WAVE"])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(images.UndecodableImageError):
        images.decode(data, CANONICAL)


# Row and column of the upright image at the corner (0, 0) of the stored one, and whether axes are swapped:
# from the EXIF standard's table of orientations, written as array operations that undo each.
UPRIGHT = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: np.rot90(a, 1),
}


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_baked_in_but_not_in_raw_mode(orientation: int) -> None:
    pixels, exif = gradient(), Image.Exif()
    exif[0x0112] = orientation
    data = encoded(Image.fromarray(pixels), "PNG", exif=exif)
    picture = images.decode(data, CANONICAL)
    np.testing.assert_array_equal(picture.pixels, UPRIGHT[orientation](pixels))
    assert picture.orientation == orientation
    assert picture.stored == (36, 24)
    raw = images.decode(data, RAW)
    np.testing.assert_array_equal(raw.pixels, pixels)
    assert raw.orientation == 1


def test_orientations_outside_the_standard_mean_none() -> None:
    exif = Image.Exif()
    exif[0x0112] = 9
    picture = images.decode(encoded(Image.fromarray(gradient()), "PNG", exif=exif), CANONICAL)
    assert picture.orientation == 1
    np.testing.assert_array_equal(picture.pixels, gradient())


def with_damaged_exif(whole: bytes) -> bytes:
    """A JPEG with an EXIF block whose directory claims more entries than there are bytes."""
    body = b"Exif\0\0II*\0\x08\0\0\0\xff\x7f\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
    segment = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    return whole[:2] + segment + whole[2:]


def test_damaged_exif_data_is_counted_and_the_pixels_stay() -> None:
    whole = encoded(Image.fromarray(gradient()), "JPEG", quality=95)
    picture = images.decode(with_damaged_exif(whole), CANONICAL)
    assert picture.exif_warnings >= 1
    assert images.decode(whole, CANONICAL).exif_warnings == 0
    unturned = picture.pixels if picture.orientation == 1 else np.rot90(picture.pixels, 1)
    np.testing.assert_array_equal(unturned, images.decode(whole, CANONICAL).pixels)


def test_threads_decode_the_same_pixels_and_leave_the_filters_of_warnings() -> None:
    whole = encoded(Image.fromarray(gradient()), "JPEG", quality=95)
    files = [whole, with_damaged_exif(whole)] * 50
    wanted = [images.decode(data, CANONICAL).pixels for data in files[:2]] * 50
    before = list(warnings.filters)
    with images.silent(), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda data: images.decode_in_threads(data, CANONICAL).pixels, files))
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))
    assert list(warnings.filters) == before


def test_transparency_lies_over_white() -> None:
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:, :2] = (200, 40, 0, 255)
    pixels[:, 3] = (0, 0, 0, 127)
    found = images.decode(encoded(Image.fromarray(pixels), "PNG"), CANONICAL).pixels
    assert found[0].tolist() == [[200, 40, 0], [200, 40, 0], [255, 255, 255], [128, 128, 128]]


@pytest.mark.parametrize("whole", [True, False], ids=["one index", "alpha for each index"])
def test_palette_with_transparency(whole: bool) -> None:
    image = Image.new("P", (3, 1))
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.putdata([0, 1, 2])
    data = encoded(image, "PNG", transparency=1 if whole else bytes([255, 0, 255]))
    assert images.decode(data, CANONICAL).pixels[0].tolist() == [[255, 0, 0], [255, 255, 255], [0, 0, 255]]


def test_sixteen_bit_grey_is_scaled_not_clipped() -> None:
    grey = np.array([[0, 257, 32768, 65535]], np.uint16)
    found = images.decode(encoded(Image.fromarray(grey), "PNG"), CANONICAL).pixels
    assert found[0, :, 0].tolist() == [0, 1, 128, 255]
    assert (found[..., 0] == found[..., 1]).all()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA"])
def test_black_and_white_survive_every_mode(mode: str) -> None:
    board = Image.fromarray((np.indices((8, 8)).sum(0) % 2 * 255).astype(np.uint8)).convert(mode)
    found = images.decode(encoded(board, "PNG"), CANONICAL).pixels
    np.testing.assert_array_equal(found, np.asarray(board.convert("RGB")))


def test_of_an_animation_the_first_frame_counts() -> None:
    frames = [Image.new("RGB", (6, 5), colour) for colour in ((250, 0, 0), (0, 250, 0))]
    for kind in ("GIF", "PNG"):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)
        assert images.decode(data, CANONICAL).pixels[2, 2].tolist() == [250, 0, 0]


def test_cmyk_golden_pixels() -> None:
    """Ink amounts C, M, Y, K to (1 − C)(1 − K) …: what browsers without a profile show."""
    inks = [(0, 0, 0, 0), (255, 0, 0, 0), (0, 255, 0, 0), (0, 0, 255, 0), (0, 0, 0, 255), (0, 0, 0, 128)]
    image = Image.new("CMYK", (16 * len(inks), 16))
    for place, ink in enumerate(inks):
        image.paste(ink, (16 * place, 0, 16 * place + 16, 16))
    picture = images.decode(encoded(image, "JPEG", quality=100, subsampling=0), CANONICAL)
    wanted = [(255, 255, 255), (0, 255, 255), (255, 0, 255), (255, 255, 0), (0, 0, 0), (127, 127, 127)]
    np.testing.assert_allclose(picture.pixels[8, 8::16], wanted, atol=3)


@pytest.mark.packs
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("CMYK.jpg", 1),
        ("P.png", 2),
        ("RGBA.png", 0),
        ("YCbCr.jpg", 2),
        ("L.png", 1),
        ("LA.png", 1),
        ("1.png", 10),
    ],
)
def test_real_files_in_unusual_modes_show_the_same_photograph(
    packs: Path, name: str, tolerance: float
) -> None:
    """Mean distance to the RGB original (to its grey version where the mode has no colour), as 8-bit levels."""
    original = images.decode((packs / "hostile/mode-original.jpg").read_bytes(), CANONICAL).pixels
    found = images.decode((packs / "hostile" / f"mode-{name}").read_bytes(), CANONICAL).pixels
    if name.split(".")[0] in ("L", "LA", "1"):
        grey = original @ np.array([0.299, 0.587, 0.114])
        original = np.repeat(grey[..., None], 3, -1).round().astype(np.uint8)
    assert np.abs(found.astype(int) - original.astype(int)).mean() <= tolerance


@pytest.mark.packs
def test_all_real_files_of_the_pack_decode(packs: Path) -> None:
    for path in sorted((packs / "hostile").iterdir()):
        pixels = images.decode(path.read_bytes(), CANONICAL).pixels
        assert pixels.ndim == 3
        assert pixels.shape[2] == 3
        assert max(pixels.shape) <= CANONICAL.longest_side


def test_large_images_are_reduced_in_canonical_mode_only() -> None:
    data = encoded(Image.fromarray(gradient(100, 1000)), "PNG")
    assert images.decode(data, Images(longest_side=500)).pixels.shape == (50, 500, 3)
    assert images.decode(data, Images(mode="raw", longest_side=500)).pixels.shape == (100, 1000, 3)


def test_reduction_is_antialiased() -> None:
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::2] = 255
    for small in (images.within(stripes, 16), images.squash(stripes, 16)):
        assert np.abs(small.astype(int) - 128).max() < 40


def test_png_of_pixels_gives_them_back_and_the_id_tells_shapes_apart() -> None:
    pixels = gradient()
    np.testing.assert_array_equal(images.decode(images.encode_png(pixels), CANONICAL).pixels, pixels)
    assert images.content_id(pixels) != images.content_id(pixels.reshape(36, 24, 3))
    assert images.content_id(pixels) == images.content_id(np.asfortranarray(pixels))
    assert len(images.content_id(pixels)) == 16


def test_spread_is_the_deviation_of_the_grey_levels() -> None:
    pixels = gradient()
    grey = np.asarray(Image.fromarray(pixels).convert("L"), dtype=float)
    assert images.spread(pixels) == pytest.approx(grey.std(), abs=0.5)
    assert images.spread(np.full((4, 4, 3), 7, np.uint8)) == 0


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (1, 21844), (1, 21845), (170, 257), (300, 200)])
def test_png_is_whole_at_the_edges_of_its_blocks(size: tuple[int, int]) -> None:
    """A stored block holds 65,535 bytes: 21,844 pixels and a filter byte are two short of that."""
    pixels = np.random.default_rng(3).integers(0, 256, (*size, 3)).astype(np.uint8)
    data = images.encode_png(pixels)
    with Image.open(io.BytesIO(data)) as image:
        image.verify()
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)
