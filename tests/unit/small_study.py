"""A study of made-up predictions: models of different skill on images of different difficulty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.analysis.study import Study


def study(
    models: int = 8,
    images: Mapping[str, int] | None = None,
    classes: int = 10,
    families: int = 2,
    seed: int = 0,
    skill: float = 2.0,
) -> Study:
    """Predictions on ``original`` and new sets; of each set that many images, spread over the classes in turn."""
    rng = np.random.default_rng(seed)
    sizes = images or {"original": 400, "matched_frequency": 150, "top_images": 100}
    names = tuple(f"model_{i}" for i in range(models))
    skills = np.linspace(-skill / 2, skill, models)[:, None]
    sets = {}
    for place, (name, count) in enumerate(sizes.items()):
        margin = skills - rng.normal(0.3 * place, 1, count) + rng.normal(0, 0.3, (models, count))
        ranks = np.clip(np.ceil(-4 * margin), 0, 5).astype(np.int64)
        index = np.arange(count) % classes
        frame = pd.DataFrame(
            {
                "image_id": [f"{i:06d}" for i in range(count)],
                "wnid": [f"n{i:08d}" for i in index],
                "class_index": index,
            }
        )
        sets[name] = Predictions(names, ranks, frame)
    known = {m: f"family {i % families}" for i, m in enumerate(names)}
    return Study({name: name for name in sets}, sets, known, {})
