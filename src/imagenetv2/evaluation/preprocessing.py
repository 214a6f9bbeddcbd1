"""From an image to the input of a model, in two steps: a cut that models share, and a scale of each one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from imagenetv2.evaluation.settings import Colour
from imagenetv2.images import Pixels

INTERPOLATIONS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
Fit = Literal["squash", "inside", "around"]
Size = tuple[int, int]


@dataclass(frozen=True)
class Cut:
    """Resize with antialiasing, then cut out the centre. Equal cuts give equal pixels, so models share them.

    Attributes:
        size: height and width of the result, in pixels.
        resize: what the shorter side is brought to; or height and width of a box; None: as it is.
        interpolation: one of ``INTERPOLATIONS``.
        fit: with a box, squash: to just this size, whatever the proportions; inside: as large as it holds; around:
            as small as covers it.
        fill: colour, 0 to 255, of what an image smaller than ``size`` leaves free around it.
    """

    size: Size
    resize: int | Size | None
    interpolation: str = "bilinear"
    fit: Fit = "squash"
    fill: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def square(cls, side: int, resize: int | None = None, interpolation: str = "bilinear") -> Cut:
        """A square of ``side`` after the shorter side was brought to ``resize``; None: to ``side``."""
        return cls((side, side), side if resize is None else resize, interpolation)

    def __call__(self, pixels: Pixels) -> Pixels:
        """The centre, height × width × 3, uint8; bits as torchvision and timm have them on PIL images."""
        image = Image.fromarray(pixels)
        height, width = self._resized(image.height, image.width)
        if (width, height) != image.size:
            image = image.resize((width, height), INTERPOLATIONS[self.interpolation])
        top, left = _start(height, self.size[0]), _start(width, self.size[1])
        if top < 0 or left < 0:
            canvas = Image.new("RGB", (self.size[1], self.size[0]), self.fill)
            canvas.paste(image, (-left, -top))
            return np.asarray(canvas)
        return np.asarray(image.crop((left, top, left + self.size[1], top + self.size[0])))

    def _resized(self, height: int, width: int) -> Size:
        if self.resize is None:
            return height, width
        if isinstance(self.resize, int):
            if width <= height:
                return int(self.resize * height / width), self.resize
            return self.resize, int(self.resize * width / height)
        if self.fit == "squash":
            return self.resize
        ratios = height / self.resize[0], width / self.resize[1]
        ratio = max(ratios) if self.fit == "inside" else min(ratios)
        return max(1, round(height / ratio)), max(1, round(width / ratio))


def _start(length: int, wanted: int) -> int:
    """Where the centre begins; negative where there is too little, the odd pixel then being free at the end."""
    return -((wanted - length) // 2) if wanted > length else round((length - wanted) / 2)


@dataclass(frozen=True)
class Preprocessing:
    """A cut, and the scale of the network's input: (x / divisor − mean) / std in each channel, float32."""

    cut: Cut
    mean: Colour = (0.485, 0.456, 0.406)
    std: Colour = (0.229, 0.224, 0.225)
    divisor: float = 255.0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Preprocessing:
        """From what ``to_json`` gave."""
        cut = Cut(**{name: _frozen(v) for name, v in value["cut"].items()})
        return cls(cut, tuple(value["mean"]), tuple(value["std"]), value["divisor"])

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        cut = {name: _plain(value) for name, value in asdict(self.cut).items()}
        return {"cut": cut, "mean": list(self.mean), "std": list(self.std), "divisor": self.divisor}

    def cut_all(self, images: Sequence[Pixels]) -> Pixels:
        """All of them, n × height × width × 3, without holding any whole image."""
        out = np.empty((len(images), *self.cut.size, 3), np.uint8)
        for i, pixels in enumerate(images):
            out[i] = self.cut(pixels)
        return out

    def scale(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """From n × height × width × 3 uint8 to n × 3 × height × width float32, normalised.

        Bits as those of torchvision's ToTensor and Normalize where ``divisor`` is 255.
        """
        scaled = batch.transpose(0, 3, 1, 2).astype(np.float32, order="C")
        shape = (3, 1, 1)
        scaled /= np.float32(self.divisor)
        scaled -= np.asarray(self.mean, np.float32).reshape(shape)
        scaled /= np.asarray(self.std, np.float32).reshape(shape)
        return scaled


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
