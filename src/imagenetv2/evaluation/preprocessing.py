"""From an image to the input of a model that this project trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from imagenetv2.images import Pixels

INTERPOLATIONS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


@dataclass(frozen=True)
class Preprocessing:
    """Resize the shorter side to ``size / crop`` with antialiasing, cut out the centre, scale.

    ``mean`` and ``std`` are of red, green and blue on the scale 0 to 1.
    """

    size: int
    crop: float = 1.0
    interpolation: str = "bilinear"
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Preprocessing:
        """From what ``to_json`` gave."""
        return cls(**{**value, "mean": tuple(value["mean"]), "std": tuple(value["std"])})

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "mean": list(self.mean), "std": list(self.std)}

    def cut(self, pixels: Pixels) -> Pixels:
        """The centre as size × size × 3, uint8; as torchvision's Resize and CenterCrop do on PIL images."""
        image = Image.fromarray(pixels)
        width, height = image.size
        short = int(self.size / self.crop)
        if width <= height:
            size = (short, max(short, int(short * height / width)))
        else:
            size = (max(short, int(short * width / height)), short)
        if size != image.size:
            image = image.resize(size, INTERPOLATIONS[self.interpolation])
        left, top = round((size[0] - self.size) / 2.0), round((size[1] - self.size) / 2.0)
        return np.asarray(image.crop((left, top, left + self.size, top + self.size)))

    def cut_all(self, images: Sequence[Pixels]) -> Pixels:
        """All of them, n × size × size × 3, without holding any whole image."""
        out = np.empty((len(images), self.size, self.size, 3), np.uint8)
        for i, pixels in enumerate(images):
            out[i] = self.cut(pixels)
        return out

    def scale(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """From n × size × size × 3 uint8 to n × 3 × size × size float32, normalised."""
        mean, std = np.asarray(self.mean, np.float32), np.asarray(self.std, np.float32)
        scaled = (batch.astype(np.float32) / np.float32(255) - mean) / std
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))
