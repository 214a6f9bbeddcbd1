"""Sampling error apart from everything else: is a change of accuracy beyond what drawing images explains?

Both sets are taken as independent samples of images, each image drawn by itself. (A set with equally many images
a class varies a little less.) What is left of a change beyond its interval is systematic: other images, not other
luck.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.multiplicity import holm, written
from imagenetv2.analysis.results import SAMPLING_ERROR
from imagenetv2.analysis.study import Study
from imagenetv2.intervals import newcombe, reach

Floats = npt.NDArray[np.float64]
AVERAGE = "average"
CHANCES = ["p", "adjusted"]


def sampling_error(study: Study, level: float) -> pd.DataFrame:
    """The table ``results.SAMPLING_ERROR``: every model and their average on every new set.

    Raises:
        ValueError: ``level`` is not inside (0, 1).
    """
    old = study.right(ORIGINAL)
    frames = []
    for name in study.new:
        new = study.right(name)
        models = _models(new.sum(axis=1), new.shape[1], old.sum(axis=1), old.shape[1], level)
        average = _average(new.mean(axis=0), old.mean(axis=0), level)
        frames.append(pd.DataFrame(models).assign(set=name, model=study.models))
        frames.append(pd.DataFrame([average]).assign(set=name, model=AVERAGE))
    columns = [c.name for c in SAMPLING_ERROR.columns]
    found = pd.concat(frames, ignore_index=True)[columns] if frames else SAMPLING_ERROR.empty()
    found[CHANCES] = written(found[CHANCES])
    return found.round({c: 12 for c in columns if c not in CHANCES}).sort_values(
        ["set", "model"], ignore_index=True
    )


def _models(new: Floats, new_images: int, old: Floats, old_images: int, level: float) -> dict[str, Floats]:
    """Of each model. ``z`` is the test of equal shares, so its error pools them; ``error`` does not."""
    p, q = new / new_images, old / old_images
    pooled = (new + old) / (new_images + old_images)
    error = np.sqrt(p * (1 - p) / new_images + q * (1 - q) / old_images)
    null = np.sqrt(pooled * (1 - pooled) * (1 / new_images + 1 / old_images))
    low, high = newcombe(new, new_images, old, old_images, level)
    z = _ratio(p - q, null)
    chance = _two_sided(z)
    return {
        "change": p - q,
        "error": error,
        "change_low": low,
        "change_high": high,
        "z": z,
        "p": chance,
        "adjusted": holm(chance),
    }


def _average(new: Floats, old: Floats, level: float) -> dict[str, float]:
    """Of the average over models, from each image's share of right models."""
    change = float(new.mean() - old.mean())
    error = float(np.sqrt(sum(v.var(ddof=1) / v.size if v.size > 1 else 0.0 for v in (new, old))))
    z = float(_ratio(np.array(change), np.array(error)))
    chance = float(_two_sided(np.array(z)))
    arm = reach(level) * error
    return {
        "change": change,
        "error": error,
        "change_low": change - arm,
        "change_high": change + arm,
        "z": z,
        "p": chance,
        "adjusted": chance,
    }


def _ratio(change: Floats, error: Floats) -> Floats:
    """change / error; not a number where there is no error: all images right on both sets, or all wrong."""
    out: Floats = np.divide(change, error, out=np.full(np.shape(change), np.nan), where=error > 0)
    return out


def _two_sided(z: Floats) -> Floats:
    from scipy.special import ndtr

    out: Floats = np.where(np.isnan(z), 1.0, 2 * ndtr(-np.abs(z)))
    return out
