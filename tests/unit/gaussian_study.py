"""A study that follows the Gaussian model of difficulty and skill, so that tests know what must come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.analysis.study import Study

SETS = {"original": (0.0, 1.5, 500), "matched_frequency": (0.8, 1.2, 300), "top_images": (-0.3, 1.0, 200)}
"""Mean and deviation of difficulty, and images."""


def gaussian_study(
    seed: int = 0,
    models: int = 9,
    sets: Mapping[str, tuple[float, float, int]] = SETS,
    skills: Sequence[float] | None = None,
) -> Study:
    """Models m0, m1, …, even ones of the family ``even``; a tenth of the images of each set has no votes."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(-0.5, 3, models) if skills is None else np.asarray(skills)
    names = tuple(f"m{i}" for i in range(models))
    found, frequencies = {}, {}
    for name, (mean, deviation, images) in sets.items():
        difficulty = rng.normal(mean, deviation, images)
        right = difficulty + rng.standard_normal((models, images)) < skill[:, None]
        ranks = np.where(right, 0, rng.integers(1, 8, right.shape))
        key = pd.DataFrame(
            {
                "image_id": [f"{name}-{i:06d}" for i in range(images)],
                "wnid": [f"n{i % 4}" for i in range(images)],
                "class_index": np.arange(images) % 4,
            }
        )
        found[name] = Predictions(names, ranks, key)
        shown = rng.integers(10, 15, images)
        votes = rng.binomial(shown, 1 / (1 + np.exp(difficulty - 1.5))) / shown
        asked = key[["image_id", "wnid"]].assign(frequency=votes)
        frequencies[name] = asked.sample(frac=0.9, random_state=seed)
    families = {name: "even" if i % 2 == 0 else "odd" for i, name in enumerate(names)}
    return Study({name: name for name in sets}, found, families, frequencies)
