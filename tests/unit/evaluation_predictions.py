"""Predictions made up from outputs, consistent as a model's are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import softmax


def predictions(images: int, classes: int = 12, seed: int = 0, skill: float = 1.5) -> pd.DataFrame:
    """A table as the stage ``predictions`` writes it; the larger ``skill``, the better the model."""
    rng = np.random.default_rng(seed)
    true = np.sort(rng.integers(0, classes, images))
    outputs = rng.normal(size=(images, classes))
    outputs[np.arange(images), true] += skill
    order = np.argsort(-outputs, axis=1)
    chance = softmax(1.4 * outputs, axis=1)
    return pd.DataFrame(
        {
            "image_id": [f"{i:016x}" for i in range(images)],
            "wnid": [f"n{c:08d}" for c in true],
            "class_index": true,
            "rank": np.argmax(order == true[:, None], axis=1),
            "top5": order[:, :5].tolist(),
            "probability": chance[np.arange(images), true],
            "top_probability": chance.max(axis=1),
        }
    )


def confident(images: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distinct confidences, and whether an overconfident model is right."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0, 1, images)
    return confidence, rng.random(images) < confidence**1.5
