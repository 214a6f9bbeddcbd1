"""A large set of photographs with near-duplicates among them, made from the data packs, always the same.

A scene is part of a photograph, maybe mirrored. Images are scenes that were shifted, scaled, brightened, blurred and
encoded again, as copies on the web are; there are about two of a scene, and many scenes overlap.
"""

from __future__ import annotations

import io
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageEnhance, ImageFilter

from imagenetv2.benchmark.settings import Images
from imagenetv2.images import UndecodableImageError, decode

Pixels = npt.NDArray[np.uint8]
PACKS = Path(os.environ.get("IMAGENETV2_PACKS", Path(__file__).parents[2] / "shared" / "packs"))
FOLDERS = ("photos", "near-duplicates", "hostile")


def build(path: Path, references: int, candidates: int, side: int, seed: int = 2019) -> Pixels:
    """References, then candidates, in a memory-mapped file: images × side × side × 3."""
    count = references + candidates
    pixels = np.lib.format.open_memmap(path, "w+", np.uint8, (count, side, side, 3))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        make = partial(image, references=references, side=side, seed=seed)
        for number, made in enumerate(pool.map(make, range(count), chunksize=64)):
            pixels[number] = made
    pixels.flush()
    return np.load(path, mmap_mode="r")


@cache
def photographs() -> tuple[list[Pixels], list[Pixels]]:
    """All pictures of the packs that can be decoded: those that show the bird, and the others."""
    birds, others = [], []
    for folder in FOLDERS:
        for path in sorted(p for p in (PACKS / folder).rglob("*") if p.is_file()):
            try:
                pixels = decode(path.read_bytes(), Images()).pixels
            except UndecodableImageError:
                continue
            bird = folder == "near-duplicates" and path.parent.name == folder
            (birds if bird else others).append(pixels)
    if not others:
        raise SystemExit(f"no photographs in {PACKS}: set IMAGENETV2_PACKS to the folder of the data packs")
    return birds, others


def image(number: int, references: int, side: int, seed: int) -> Pixels:
    """One image of the set; the same whatever the set's size, but for the number of references."""
    rng = np.random.default_rng([seed, 0, number])
    scenes = max(1, references // 2)
    scene = int(rng.integers(scenes))
    if number >= references and rng.random() < 0.5:  # Half of the candidates show what no reference shows.
        scene = scenes + number
    return edited(part(np.random.default_rng([seed, 1, scene]), side), rng, side)


def part(rng: np.random.Generator, side: int) -> Image.Image:
    """A scene, a little larger than is needed."""
    birds, others = photographs()
    few = min(5, len(birds))
    which = int(rng.integers(len(others) + few))
    pixels = others[which] if which < len(others) else birds[int(rng.integers(len(birds)))]
    picture = Image.fromarray(pixels)
    size = [max(1, round(length * rng.uniform(0.35, 1.0))) for length in picture.size]
    x, y = (int(rng.integers(full - length + 1)) for full, length in zip(picture.size, size, strict=True))
    picture = picture.crop((x, y, x + size[0], y + size[1]))
    if rng.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    larger = side + side // 8
    return picture.resize((larger, larger), Image.Resampling.BICUBIC)


def edited(scene: Image.Image, rng: np.random.Generator, side: int) -> Pixels:
    """A copy of a scene: half of the copies in place, the others shifted and scaled; all encoded again."""
    margin = scene.width - side
    box = [margin / 2, margin / 2, margin / 2 + side, margin / 2 + side]
    if rng.random() < 0.5:
        box = [b + rng.uniform(-margin / 2, margin / 2) for b in box]
    picture = scene.resize((side, side), Image.Resampling.BILINEAR, box=tuple(box))
    kind = int(rng.integers(4))
    if kind == 1:
        picture = ImageEnhance.Brightness(picture).enhance(rng.uniform(0.8, 1.2))
    elif kind == 2:
        picture = ImageEnhance.Contrast(picture).enhance(rng.uniform(0.8, 1.2))
    elif kind == 3:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 2.0)))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=int(rng.integers(30, 96)))
    with Image.open(buffer) as again:
        return np.asarray(again.convert("RGB"))
