"""Pictures like photographs where there are none yet: only how long they take matters."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image

from imagenetv2.duplicates.recipe import Pictures
from imagenetv2.images import Pixels, encode_png

FIELD = 1024
DIFFERENT = 32
"""Pictures that are made; they are repeated."""


def photographs(count: int, longest_side: int, cores: int) -> tuple[Pictures, int]:
    """So many pictures, which are decoded as canonical images are, and the bytes of a file."""
    width, height = longest_side, max(1, longest_side * 3 // 4)
    generator = np.random.default_rng(0)
    field = noise(generator)
    files = [encode_png(_view(field, generator, height, width)) for _ in range(min(DIFFERENT, count))]

    def picture(index: int) -> Pixels:
        with Image.open(io.BytesIO(files[index % len(files)]), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGB"))

    return Pictures(count, picture, None, cores), len(files[0]) if files else 0


def noise(generator: np.random.Generator) -> npt.NDArray[np.float32]:
    """Noise whose amplitude falls with frequency as that of photographs does: FIELD × FIELD × 3, deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(FIELD)[:, None], np.fft.rfftfreq(FIELD)[None])
    frequency[0, 0] = np.inf
    white = generator.standard_normal((FIELD, FIELD, 3), np.float32)
    spectrum = np.fft.rfft2(white, axes=(0, 1)) / frequency[..., None]
    found = np.fft.irfft2(spectrum, (FIELD, FIELD), axes=(0, 1))
    # Channels of photographs are mostly alike.
    found = 0.3 * found + 0.7 * found.mean(axis=2, keepdims=True)
    return np.asarray(found / found.std(), np.float32)


def _view(field: npt.NDArray[np.float32], generator: np.random.Generator, height: int, width: int) -> Pixels:
    """A part of the field, at its own brightness and contrast."""
    scale = max(height, width) / FIELD
    step = max(1.0, 2 * scale)
    down = (np.arange(height) / step + generator.integers(FIELD)).astype(int) % FIELD
    across = (np.arange(width) / step + generator.integers(FIELD)).astype(int) % FIELD
    part = field[down][:, across] * generator.uniform(25, 60) + generator.uniform(80, 170)
    return np.asarray(np.clip(part, 0, 255), np.uint8)
