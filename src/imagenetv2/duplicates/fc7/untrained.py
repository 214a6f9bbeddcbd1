"""Networks with arbitrary weights: they take as long as trained ones, and nothing has to be fetched for them."""

from __future__ import annotations

from typing import Any

import timm
import torch
import torchvision

from imagenetv2.duplicates.fc7.network import STUDY, WHERE
from imagenetv2.duplicates.settings import Features
from imagenetv2.errors import InputError
from imagenetv2.networks import lite
from imagenetv2.networks.loaded import Loaded
from imagenetv2.networks.timm_network import pooled

SMALL = 0.01


def untrained(settings: Features) -> Loaded:
    """The network of the settings, in eval mode. Raises InputError for a name that its library does not know."""
    library, _, name = settings.network.partition(":")
    if library == "efficientnet_lite0":
        return lite.loaded()
    try:
        # Without memory at first: to initialise the weights of a large network takes seconds.
        with torch.device("meta"):
            module: Any = (
                timm.create_model(name, pretrained=False)
                if library == "timm"
                else torchvision.models.get_model((name or STUDY).partition(".")[0], weights=None)
            )
    except (RuntimeError, ValueError, KeyError) as error:
        raise InputError(
            f"{WHERE}.network: there is no network {settings.network} ({error}); correct the name."
        ) from error
    module = module.to_empty(device="cpu").eval()
    with torch.no_grad():
        for values in (*module.parameters(), *module.buffers()):
            if values.is_floating_point():
                values.fill_(SMALL)
            else:
                values.zero_()
    middle = (127.5, 127.5, 127.5)
    return Loaded(
        settings.network, module, middle, middle, settings.side, pooled if library == "timm" else None
    )
