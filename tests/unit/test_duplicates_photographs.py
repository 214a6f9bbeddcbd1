"""The default cut-offs on real photographs and known copies of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from imagenetv2.benchmark.settings import Images
from imagenetv2.config import Config
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.recipe import Pictures, recipe
from imagenetv2.images import decode

pytestmark = pytest.mark.packs
MILD = (
    "brightness_1", "defocus_blur_3", "elastic_transform_4", "gaussian_noise_2", "jpeg_compression_5",
    "motion_blur_2", "pixelate_5", "saturate_3", "zoom_blur_2",
)  # fmt: skip


def below(files: list[Path]) -> list[npt.NDArray[np.bool_]]:
    """Under each metric, which of the files are at or below the default cut-off from the first."""
    config = Config()
    decoded = [decode(f.read_bytes(), Images()).pixels for f in files]
    pictures = Pictures(len(files), decoded.__getitem__, None, 1)
    first, every = np.zeros(len(files), dtype=np.int64), np.arange(len(files))
    out = []
    for metric in METRICS:
        own, settings = recipe(metric), getattr(config.neighbours, metric)
        values, unreadable = own.values(pictures, settings, "cpu")
        assert not unreadable
        distance = own.engine(values, settings, "cpu").exact(first, every, np.full(len(files), np.inf))
        out.append(distance <= getattr(config.duplicates.cutoffs, metric))
    return out


def test_mild_corruptions_are_found_and_other_photographs_are_not(packs: Path) -> None:
    folder = packs / "near-duplicates"
    copies = [folder / f"{name}.jpeg" for name in MILD]
    others = sorted(f for f in folder.rglob("*") if f.is_file() and f.parent != folder)[::3]
    others += sorted((packs / "photos").glob("*.JPEG"))[::5]
    found = np.any(below([folder / "bird.jpeg", *copies, *others]), axis=0)
    assert found[: 1 + len(copies)].all()
    assert not found[1 + len(copies) :].any()


def test_edited_copies_are_found_by_every_metric(packs: Path) -> None:
    folder = packs / "hostile"
    edited = [
        folder / f"bridge-{name}.jpg"
        for name in ("blur-a-little", "sharpen-a-little", "shrink-a-little", "square-256x256")
    ]
    for metric in below([folder / "bridge-aaa-orig.jpg", *edited]):
        assert metric.all()


def test_consecutive_frames_of_a_film_are_found(packs: Path) -> None:
    frames = sorted((packs / "near-duplicates/vid_robust_examples").iterdir())[:4]
    assert np.any(below(frames), axis=0).all()
