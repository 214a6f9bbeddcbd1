"""Photographs in folders by WordNet ID, and small networks with random weights: what evaluations are timed on.

Photographs are parts of those of the data packs, or are drawn where there are no packs. A photograph is in the folder
of the class that one of the networks sees in it, so that a network is right about a tenth of them and a wrong label, a
wrong crop or a wrong order would be seen in its accuracy.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import photograph_set
from PIL import Image

from imagenetv2.images import Images, decode

SIZES = ((500, 375), (500, 375), (500, 333), (375, 500))
"""Width and height, as most photographs of ImageNet have them."""
SHARING = (
    "mobilenetv3_small_050", "mobilenetv3_small_075", "lcnet_050", "lcnet_075", "mnasnet_small", "mobilenetv2_050",
    "ghostnet_050",
)  # fmt: skip
"""224 pixels, cut out of 256, bicubic."""
OTHERS = ("lcnet_035", "tf_mobilenetv3_small_minimal_100", "tinynet_e")
"""The same bilinear, on two scales; and 106 pixels."""
NETWORKS = SHARING + OTHERS
QUICK = ("test_efficientnet", "test_resnet")


def draw(folder: Path, count: int, seed: int = 2019) -> str:
    """Write so many JPEG photographs, and say what they are."""
    folder.mkdir(parents=True)
    packs = photograph_set.PACKS.is_dir()
    if packs:
        photograph_set.photographs()  # Lest each thread decodes all of them.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(partial(_write, folder, packs, seed), range(count)))
    files = list(folder.iterdir())
    mean = sum(file.stat().st_size for file in files) / len(files) / 1e3
    return f"{count:,} JPEG photographs {'from the data packs' if packs else 'drawn'}, {mean:.0f} kB each"


def _write(folder: Path, packs: bool, seed: int, number: int) -> None:
    rng = np.random.default_rng([seed, number])
    size = SIZES[rng.integers(len(SIZES))]
    picture = part(rng, size) if packs else cloud(rng, size)
    picture.save(folder / f"{number:05}.JPEG", quality=int(rng.integers(93, 99)))


def part(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """More than half of a photograph of the packs, brought to a size, maybe mirrored."""
    _, others = photograph_set.photographs()
    picture = Image.fromarray(others[rng.integers(len(others))])
    share = rng.uniform(0.6, 1) * min(picture.width / size[0], picture.height / size[1])
    width, height = share * size[0], share * size[1]
    x, y = rng.uniform(0, picture.width - width), rng.uniform(0, picture.height - height)
    if rng.random() < 0.5:
        picture, x = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT), picture.width - width - x
    return picture.resize(size, Image.Resampling.BICUBIC, box=(x, y, x + width, y + height))


def cloud(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Noise whose amplitude falls with its frequency, as that of photographs does."""
    width, height = size
    fall = 1 / np.hypot(*np.meshgrid(np.fft.fftfreq(width) * width, np.fft.fftfreq(height) * height)).clip(1)
    noise = np.fft.fft2(rng.normal(size=(height, width, 3)), axes=(0, 1)) * fall[..., None]
    values = np.fft.ifft2(noise, axes=(0, 1)).real
    return Image.fromarray(np.clip(values / values.std() * 50 + 120, 0, 255).astype(np.uint8))


class Files(Sequence[Any]):
    """Photographs that are decoded when they are asked for."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files, self._settings = files, Images(mode="raw")

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: Any) -> Any:
        return decode(self._files[index].read_bytes(), self._settings).pixels


def sort_in(flat: Path, folder: Path, first: npt.NDArray[np.int64], wnids: list[str]) -> None:
    """Move photographs into class folders: each into that of the class which a network in turn sees in it.

    Args:
        flat: where they are.
        folder: where they go.
        first: the class that each network sees first, networks × photographs.
        wnids: WordNet ID of each class.
    """
    for number, file in enumerate(sorted(flat.iterdir())):
        place = folder / wnids[first[number % len(first), number]]
        place.mkdir(parents=True, exist_ok=True)
        file.rename(place / file.name)
    flat.rmdir()
