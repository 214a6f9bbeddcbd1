"""What EfficientNet-Lite says of photographs, by plain PyTorch and Pillow: an oracle for everything around networks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from PIL import Image
from timm.data import ImageNetInfo

from imagenetv2.networks import lite

SIDES = {"lite0": 224, "lite1": 240, "lite2": 260}
WNIDS: list[str] = ImageNetInfo("imagenet-1k").label_names()


def photographs(packs: Path) -> tuple[Path, ...]:
    """One of each of 100 classes; its WordNet ID is the beginning of its name."""
    return tuple(sorted((packs / "photos").glob("*.JPEG")))


@lru_cache
def directly(files: tuple[Path, ...], kind: str) -> pd.DataFrame:
    """file, rank of the true class, top5, probability and top_probability of each photograph, one at a time.

    Nothing of this package is used but the network itself, with its weights.
    """
    module = lite.load(lite.LITES[kind])
    return pd.DataFrame([row(module, file, SIDES[kind]) for file in files])


def row(module: torch.nn.Module, file: Path, side: int) -> dict[str, object]:
    outputs = logits(module, file, side)
    order = sorted(range(len(outputs)), key=lambda c: (-outputs[c], c))
    shares = np.exp(np.array(outputs) - max(outputs))
    shares /= shares.sum()
    true = WNIDS.index(file.name.partition("_")[0])
    return {
        "file": file.name,
        "rank": order.index(true),
        "top5": order[:5],
        "probability": shares[true],
        "top_probability": shares[order[0]],
    }


def logits(module: torch.nn.Module, file: Path, side: int) -> list[float]:
    """Shorter side to 32 pixels more than the network's, bicubic; the centre; (x − 127) / 128; the network."""
    with Image.open(file) as opened:
        image = opened.convert("RGB")
    width, height = image.size
    short = side + 32
    if width <= height:
        image = image.resize((short, int(short * height / width)), Image.Resampling.BICUBIC)
    else:
        image = image.resize((int(short * width / height), short), Image.Resampling.BICUBIC)
    left, top = round((image.width - side) / 2), round((image.height - side) / 2)
    square = np.asarray(image.crop((left, top, left + side, top + side))).astype(np.float32)
    tensor = torch.tensor((square - 127.0) / 128.0).permute(2, 0, 1).unsqueeze(0).contiguous()
    with torch.no_grad():
        found: list[float] = module(tensor)[0].tolist()
    return found
