"""Cuts and scales of any kind have the bits of timm's and torchvision's transforms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import timm
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms import v2

from imagenetv2.evaluation.inputs import from_timm
from imagenetv2.evaluation.kinds.scaling import Scale
from imagenetv2.evaluation.preprocessing import INTERPOLATIONS, Cut, Preprocessing
from imagenetv2.images import Pixels

LIBRARY: Any = timm.data
SIDES = st.integers(1, 60)
SHAPES = st.tuples(SIDES, SIDES)
COLOURS = st.tuples(*[st.floats(0, 1)] * 3)
INTERPOLATION = st.sampled_from(sorted(INTERPOLATIONS))


def noise(shape: tuple[int, int]) -> Pixels:
    return np.random.default_rng(shape).integers(0, 256, (*shape, 3), dtype=np.uint8)


@given(
    SHAPES,
    st.one_of(SHAPES, SIDES.map(lambda side: (side, side))),
    st.floats(0.5, 1.3),
    st.sampled_from(["center", "squash", "border"]),
    INTERPOLATION,
    COLOURS,
    st.tuples(*[st.floats(0.01, 1)] * 3),
)
def test_timms(
    shape: tuple[int, int],
    size: tuple[int, int],
    share: float,
    mode: str,
    interpolation: str,
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
) -> None:
    config = {
        "input_size": (3, *size), "crop_pct": share, "crop_mode": mode, "interpolation": interpolation,
        "mean": mean, "std": std,
    }  # fmt: skip
    ours = from_timm(config)
    assert Preprocessing.from_json(json.loads(json.dumps(ours.to_json()))) == ours
    pixels = noise(shape)
    try:
        wanted = LIBRARY.create_transform(**config, is_training=False)(Image.fromarray(pixels))
    except ValueError as error:  # of a side that timm would round to 0
        assert "height and width must be > 0" in str(error)
        return
    batch = ours.cut(pixels)[None]
    assert torch.equal(torch.from_numpy(ours.scale(batch))[0], wanted)
    assert torch.equal(Scale(ours)(torch.tensor(batch))[0], wanted)


@given(SHAPES, SHAPES, st.one_of(st.none(), SIDES, SHAPES), INTERPOLATION)
def test_torchvisions(
    shape: tuple[int, int],
    size: tuple[int, int],
    resize: int | tuple[int, int] | None,
    interpolation: str,
) -> None:
    image: Any = Image.fromarray(noise(shape))
    if resize is not None:
        mode = v2.InterpolationMode(interpolation)
        image = v2.functional.resize(image, resize if isinstance(resize, int) else list(resize), mode)
    wanted = np.asarray(v2.functional.center_crop(image, list(size)))
    assert np.array_equal(Cut(size, resize, interpolation)(noise(shape)), wanted)


@given(SHAPES, SHAPES, st.one_of(st.none(), SIDES, SHAPES), st.sampled_from(["squash", "inside", "around"]))
def test_one_colour_stays_it(
    shape: tuple[int, int], size: tuple[int, int], resize: int | tuple[int, int] | None, fit: Any
) -> None:
    cut = Cut(size, resize, "bilinear", fit, fill=(77, 78, 79))
    found = cut(np.full((*shape, 3), (77, 78, 79), np.uint8))
    assert found.shape == (*size, 3)
    assert (found == (77, 78, 79)).all()
