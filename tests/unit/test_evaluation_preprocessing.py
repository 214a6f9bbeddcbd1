"""What a network is fed has the bits of its library's own transform, for every set of weights there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import timm
import torch
import torchvision
from PIL import Image
from torchvision.transforms import v2

from imagenetv2.evaluation.inputs import from_timm, from_torchvision, replaced
from imagenetv2.evaluation.kinds.lite_pretrained import outline
from imagenetv2.evaluation.kinds.scaling import Scale
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Input, Model
from imagenetv2.images import Pixels

LIBRARY: Any = timm.data
SHAPES = ((61, 47), (40, 61), (300, 401), (3, 1), (1, 1))
"""Portrait, landscape, one that is larger than some crops, and images of a pixel's width."""


def picture(height: int, width: int) -> Pixels:
    return np.random.default_rng([height, width]).integers(0, 256, (height, width, 3), dtype=np.uint8)


PICTURES = [picture(*shape) for shape in SHAPES]


def timm_configs() -> dict[str, dict[str, Any]]:
    """All that differ among timm's pretrained weights, each by a name that has it."""
    found: dict[str, str] = {}
    configs = {}
    for name in timm.list_pretrained():
        own: Any = timm.get_pretrained_cfg(name)
        config = LIBRARY.resolve_data_config({}, pretrained_cfg=own.to_dict())
        if found.setdefault(json.dumps(config), name) == name:
            configs[name] = config
    return configs


def torchvision_transforms() -> dict[str, Any]:
    found: dict[str, str] = {}
    transforms = {}
    for name in torchvision.models.list_models(module=torchvision.models):
        for weights in torchvision.models.get_model_weights(name):
            transform = weights.transforms()
            if found.setdefault(repr(transform), f"{name}.{weights.name}") == f"{name}.{weights.name}":
                transforms[f"{name}.{weights.name}"] = transform
    return transforms


def require_same_bits(
    ours: Preprocessing,
    tensor: Callable[[Image.Image], torch.Tensor],
    cropped: Callable[[Image.Image], Image.Image] | None = None,
) -> None:
    """Of crops and of scaled tensors, in numpy and in PyTorch, also after a way through JSON.

    ``cropped`` is the part of a transform before tensors; where there is one, tensors are compared for one picture.
    """
    ours = Preprocessing.from_json(json.loads(json.dumps(ours.to_json())))
    batch = ours.cut_all(PICTURES)
    assert batch.dtype == np.uint8
    assert batch.shape == (len(PICTURES), *ours.cut.size, 3)
    images = [Image.fromarray(pixels) for pixels in PICTURES]
    if cropped is not None:
        assert all(np.array_equal(cropped(i), pixels) for i, pixels in zip(images, batch, strict=True))
        images, batch = images[:1], batch[:1]
    wanted = torch.stack([tensor(image) for image in images])
    assert torch.equal(torch.from_numpy(ours.scale(batch)), wanted)
    assert torch.equal(Scale(ours)(torch.from_numpy(batch)), wanted)


TIMM, TORCHVISION = timm_configs(), torchvision_transforms()


def test_there_are_as_many_as_expected() -> None:
    assert len(TIMM) > 100
    assert {c["crop_mode"] for c in TIMM.values()} >= {"center", "squash", "border"}
    assert any(c["crop_pct"] > 1 for c in TIMM.values())
    assert len(TORCHVISION) > 20


@pytest.mark.parametrize("name", TIMM)
def test_bits_of_timm(name: str) -> None:
    theirs = LIBRARY.create_transform(**TIMM[name], is_training=False)
    *first, to_tensor, _normalize = theirs.transforms
    assert type(to_tensor).__name__ == "MaybeToTensor"
    require_same_bits(from_timm(TIMM[name]), theirs, v2.Compose(first))


@pytest.mark.parametrize("name", TORCHVISION)
def test_bits_of_torchvision(name: str) -> None:
    require_same_bits(from_torchvision(TORCHVISION[name]), TORCHVISION[name])


def test_models_of_both_libraries_share_a_cut() -> None:
    config = LIBRARY.resolve_data_config(
        {}, pretrained_cfg=timm.get_pretrained_cfg("resnet50.tv_in1k").to_dict()
    )
    weights = torchvision.models.get_model_weights("resnet50")["IMAGENET1K_V1"]
    ours = from_timm(config)
    assert ours == from_torchvision(weights.transforms())
    assert ours.cut == Cut((224, 224), 256, "bilinear")
    assert len({ours.cut, Cut.square(224, 256)}) == 1


def test_lite_networks_are_scaled_as_they_were_trained() -> None:
    for kind, side in (("lite0", 224), ("lite1", 240), ("lite2", 260)):
        found = Preprocessing.from_json(outline(Model(name="m", kind=kind))["preprocessing"])
        assert found.cut == Cut((side, side), side + 32, "bicubic")
        config = LIBRARY.resolve_data_config(
            {}, pretrained_cfg=timm.get_pretrained_cfg(f"tf_efficientnet_{kind}").to_dict()
        )
        assert found.cut == from_timm(config).cut
        batch = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, 3)
        wanted = (torch.arange(256) - 127.0).div(128.0).view(1, 1, 16, 16).expand(1, 3, 16, 16)
        assert torch.equal(torch.from_numpy(found.scale(batch)), wanted)
        assert torch.equal(Scale(found)(torch.from_numpy(batch)), wanted)


def arguments(**values: Any) -> tuple[Input, dict[str, Any]]:
    """The same in our words and in timm's."""
    theirs = {
        {"size": "img_size", "crop": "crop_pct"}.get(name, name): value for name, value in values.items()
    }
    return Input(**values), theirs


@pytest.mark.parametrize(
    "name", ["resnet50.a1_in1k", "dm_nfnet_f1.dm_in1k", "deepseek_vit_412m_enc.deepseek_v4_flash_vision_exp"]
)
@pytest.mark.parametrize(
    "values",
    [
        {"size": 160},
        {"size": 200, "crop": 0.8},
        {"crop": 0.5, "interpolation": "lanczos"},
        {"mean": (0.1, 0.2, 0.3), "std": (0.9, 0.8, 0.7), "interpolation": "nearest"},
    ],
)
def test_what_is_given_replaces_what_timm_says_as_its_own_options_do(
    name: str, values: dict[str, Any]
) -> None:
    own: Any = timm.get_pretrained_cfg(name)
    given, theirs = arguments(**values)
    usual = LIBRARY.resolve_data_config({}, pretrained_cfg=own.to_dict())
    changed = LIBRARY.resolve_data_config(theirs, pretrained_cfg=own.to_dict())
    require_same_bits(from_timm(usual, given), LIBRARY.create_transform(**changed, is_training=False))


def test_what_is_given_replaces_what_torchvision_says() -> None:
    transform = torchvision.models.get_model_weights("resnet50")["IMAGENET1K_V2"].transforms()  # 224 of 232
    given = Input(size=64, mean=(0.5, 0.5, 0.5), interpolation="bicubic")
    found = from_torchvision(transform, given)
    assert (found.cut, found.mean, found.std) == (
        Cut((64, 64), 66, "bicubic"),
        (0.5, 0.5, 0.5),
        (0.229, 0.224, 0.225),
    )
    assert from_torchvision(transform, Input(resize=300)).cut == Cut((224, 224), 300)
    assert from_torchvision(transform, Input(crop=0.875)).cut == Cut((224, 224), 256)
    box = Preprocessing(Cut((20, 40), (30, 60)))
    assert replaced(box, Input(size=10)).cut == Cut((10, 10), (15, 15))
    assert replaced(box, Input(size=10, crop=0.5)).cut == Cut((10, 10), (20, 20))
    assert replaced(Preprocessing(Cut((20, 40), None)), Input(size=10)).cut == Cut((10, 10), None)
    assert replaced(box, Input()) == box


def test_colours_are_given_from_0_to_1_whatever_the_scale_of_the_network() -> None:
    model = Model(name="m", kind="lite0", input=Input(mean=(0.5, 0.5, 0.5), std=(0.2, 0.2, 0.2)))
    found = Preprocessing.from_json(outline(model)["preprocessing"])
    assert (found.mean, found.std, found.divisor) == ((127.5,) * 3, (51.0,) * 3, 1.0)


def test_an_image_that_is_too_small_is_padded_as_torchvision_pads() -> None:
    for height, width, size in ((5, 4, 9), (4, 30, 9), (30, 5, 8), (7, 7, 10)):
        pixels = picture(height, width)
        wanted = np.asarray(v2.CenterCrop(size)(Image.fromarray(pixels)))
        assert np.array_equal(Cut((size, size), None)(pixels), wanted)
        filled = Cut((size, size), None, fill=(9, 8, 7))(pixels)
        outside = (wanted == 0).all(axis=2)
        assert np.array_equal(filled[~outside], wanted[~outside])
        assert (filled[outside] == (9, 8, 7)).all()
