"""VGG-16 up to its second fully connected layer, whose output the study compared images by."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torchvision.models import VGG16_Weights, vgg16

from imagenetv2.errors import InputError

FEATURES = 4096
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
FC7 = 5
"""Layers of the classifier up to fc7 and its ReLU: linear, ReLU, dropout, linear, ReLU."""


def load(weights: Path | None) -> torch.nn.Module:
    """The network in eval mode with ImageNet weights from a file, or from torchvision where it is None.

    Raises InputError where the file is no state of VGG-16, or torchvision cannot fetch its own.
    """
    try:
        if weights is None:
            state = VGG16_Weights.IMAGENET1K_V1.get_state_dict(progress=False, check_hash=True)
        else:
            state = torch.load(weights, map_location="cpu", weights_only=True)
        # On the meta device nothing is drawn or allocated: every value comes from the state.
        with torch.device("meta"):
            module: torch.nn.Module = vgg16(weights=None, init_weights=False)
        module.load_state_dict(state, strict=True, assign=True)
    except (OSError, RuntimeError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        source = "torchvision" if weights is None else str(weights)
        raise InputError(
            f"neighbours.fc7.weights: {source} gives no weights of VGG-16 ({str(error).splitlines()[0]}); "
            "give a file of torchvision's vgg16 state."
        ) from error
    return module.eval()


def prepare(pixels: npt.NDArray[np.uint8], preprocessing: Literal["standard", "paper"]) -> torch.Tensor:
    """Images × height × width × 3 of 0 to 255 as input: images × 3 × height × width, float32.

    ``standard`` is what the weights were trained with; ``paper`` leaves 0 to 255, as the study's released code.
    """
    batch = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).to(torch.float32)
    if preprocessing == "paper":
        return batch
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, STD))
    return (batch / 255 - mean) / std


def features(module: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """fc7 after its ReLU: images × 4,096, float32; ``batch`` as from ``prepare``."""
    maps = module.get_submodule("features")(batch)
    pooled = torch.flatten(module.get_submodule("avgpool")(maps), 1)
    classifier = module.get_submodule("classifier")
    assert isinstance(classifier, torch.nn.Sequential)
    fc7: torch.Tensor = classifier[:FC7](pooled)
    return fc7
