"""The features that are compared: which network, which of its layers, and what it is fed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from imagenetv2.duplicates.settings import Features
from imagenetv2.errors import InputError, first_line
from imagenetv2.images import Pixels
from imagenetv2.networks import lite, timm_network, torchvision_network
from imagenetv2.networks.layers import Tap, last_linear
from imagenetv2.networks.loaded import Loaded
from imagenetv2.networks.named import Fields
from imagenetv2.pooling import slices

Embedding = Callable[[Pixels], npt.NDArray[np.float32]]
Layer = Callable[[torch.Tensor], torch.Tensor]

WHERE = "neighbours.fc7"
STUDY = "vgg16.IMAGENET1K_V1"
FC7 = "classifier.4"
"""The ReLU after the second fully connected layer of torchvision's VGG-16."""
BATCH = 16
"""Images of each pass through the network, whatever the machine: features change in their last digits with it."""


def embedding(
    settings: Features, device: str = "cpu", network: Loaded | None = None
) -> tuple[Embedding, int]:
    """The function from pixels (uint8, images × side × side × 3) to features (float32), and how many an image has.

    ``network`` takes the place of that of the settings with its weights. Several threads may call the function at
    once. Maps of a layer are flattened, channels first, not pooled: the distance is that of the whole layer. Images
    go through the network BATCH at a time, the last of them with black ones, so that features of an image do not
    depend on how many are given. Call it under ``networks.reproducible``, as ``features.extract`` does.
    Raises InputError where the network, its weights or its layer are not to be had, or where it refuses images of
    that size.
    """
    network = network or loaded(settings)
    # Channels last is what convolutions are fastest in; the order of features is not changed by it.
    module = network.module.to(device).to(memory_format=torch.channels_last)
    run, size = layer(network, settings), settings.input or settings.side
    standard = settings.preprocessing == "standard"
    mean, std = (torch.tensor(v, device=device).view(1, 3, 1, 1) for v in (network.mean, network.std))

    def through(pixels: Pixels) -> npt.NDArray[np.float32]:
        with torch.inference_mode():
            batch = torch.from_numpy(np.ascontiguousarray(pixels)).to(device).permute(0, 3, 1, 2)
            batch = resized(batch.to(torch.float32), size)
            batch = (batch - mean) / std if standard else batch
            found = run(batch.contiguous(memory_format=torch.channels_last))
            out: npt.NDArray[np.float32] = torch.flatten(found, 1).to(torch.float32).cpu().numpy()
        return out

    def values(pixels: Pixels) -> npt.NDArray[np.float32]:
        return np.concatenate([_passed(through, pixels[place]) for place in slices(len(pixels), BATCH)])

    assert not module.training
    return values, _width(through, network, settings.side, size)


def _passed(through: Embedding, pixels: Pixels) -> npt.NDArray[np.float32]:
    """Features of at most BATCH images, by a pass of exactly BATCH."""
    batch = np.zeros((BATCH, *pixels.shape[1:]), np.uint8)
    batch[: len(pixels)] = pixels
    return through(batch)[: len(pixels)]


def loaded(settings: Features) -> Loaded:
    """The network with its weights."""
    library, _, name = settings.network.partition(":")
    fields = Fields.of_section(WHERE)
    if library == "efficientnet_lite0":
        return lite.loaded()
    if library == "timm":
        return timm_network.load(name, settings.weights, fields)
    return torchvision_network.load(name or STUDY, settings.weights, fields)


def layer(network: Loaded, settings: Features) -> Layer:
    """The function from a batch of input to the output of the layer that is compared."""
    chosen = settings.layer or (FC7 if settings.network == "vgg16" else None)
    if chosen is not None:
        return Tap(network.module, chosen, f"{WHERE}.layer")
    if network.pooled is not None:
        pooled, module = network.pooled, network.module
        return lambda batch: pooled(module, batch)
    last = last_linear(network.module)
    if last is None:
        raise InputError(f"{WHERE}.layer: {network.name} has no fully connected layer; name a layer.")
    return Tap(network.module, last, f"{WHERE}.layer", before=True)


def resized(batch: torch.Tensor, size: int) -> torch.Tensor:
    """Images at another size, still with fractions of a level: images × 3 × size × size.

    Bilinear and without antialiasing. The study squashed images to 256 pixels and reduced these to 224 with
    scikit-image's ``resize`` as it was then: of order 1, from four pixels around each place, without a filter before.
    """
    if batch.shape[-2:] == (size, size):
        return batch
    return torch.nn.functional.interpolate(
        batch, (size, size), mode="bilinear", align_corners=False, antialias=False
    )


def _width(through: Embedding, network: Loaded, side: int, size: int) -> int:
    try:
        found = through(np.zeros((1, side, side, 3), np.uint8))
    except InputError:
        raise
    except (RuntimeError, AssertionError, ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"{WHERE}.input: {network.name} refuses images of {size} × {size} pixels ({first_line(error)}); it was "
            f"trained at {network.side}."
        ) from error
    return int(found.shape[1])
