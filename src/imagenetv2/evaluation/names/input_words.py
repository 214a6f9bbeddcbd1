"""A model's input in words: the same in every table."""

from __future__ import annotations

from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Colour

HEADINGS = ("input_size", "resize", "crop", "interpolation", "mean", "std")


def parts(of: Preprocessing) -> dict[str, str]:
    """``HEADINGS``; empty where nothing is resized. Mean and std are on the scale 0 to 1."""
    cut = of.cut
    shorter = cut.resize if isinstance(cut.resize, int) else min(cut.resize or (0,))
    resize = "" if cut.resize is None else size(cut.resize)
    return {
        "input_size": size(cut.size),
        "resize": f"{resize} {cut.fit}" if isinstance(cut.resize, tuple) else resize,
        "crop": f"{round(min(cut.size) / shorter, 4):g}" if shorter else "",
        "interpolation": cut.interpolation,
        "mean": _colour(of.mean, of.divisor / 255),
        "std": _colour(of.std, of.divisor / 255),
    }


def size(of: int | tuple[int, int]) -> str:
    """256, or height and width as 224x224."""
    return str(of) if isinstance(of, int) else f"{of[0]}x{of[1]}"


def _colour(of: Colour, scale: float) -> str:
    return " ".join(f"{value * scale:.4g}" for value in of)
