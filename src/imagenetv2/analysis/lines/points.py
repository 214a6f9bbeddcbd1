"""The points that lines go through: the models' observed accuracies on the axes of a scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from imagenetv2.analysis.scales import SCALES, forward
from imagenetv2.analysis.study import Study

Floats = npt.NDArray[np.float64]
Points = Mapping[str, Floats]
"""By set, one number a model."""


def observed(study: Study) -> dict[str, Points]:
    """By scale and set, the models' top-1 accuracies on the axis."""
    shares = {name: study.right(name).mean(axis=1) for name in study.sets}
    sizes = {name: predictions.ranks.shape[1] for name, predictions in study.sets.items()}
    return {
        scale: {name: forward(share, sizes[name], scale) for name, share in shares.items()}
        for scale in SCALES
    }
