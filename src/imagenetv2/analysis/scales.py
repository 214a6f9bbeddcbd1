"""Axes on which lines of new on original accuracy are fitted, and the way back to percent.

An accuracy of 0 or 1 has no normal or logistic quantile, so shares are first clipped to [1 / 2n, 1 − 1 / 2n],
n images: half an image.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
LINEAR, PROBIT, LOGIT = SCALES = ("linear", "probit", "logit")


def forward(share: npt.ArrayLike, images: npt.ArrayLike, scale: str) -> Floats:
    """Shares on an axis.

    Args:
        share: accuracies from 0 to 1, any shape.
        images: images that they were measured on, broadcast against ``share``.
        scale: linear gives percent, probit normal quantiles, logit log odds.

    Returns:
        float64, the broadcast shape.

    Raises:
        ValueError: ``scale`` is something else.
    """
    from scipy.special import logit, ndtri

    if scale not in SCALES:
        raise ValueError(f"an axis is one of {', '.join(SCALES)}, not {scale}")
    shares = np.asarray(share, np.float64)
    if scale == LINEAR:
        return 100 * shares
    half = 0.5 / np.asarray(images, np.float64)
    clipped = np.clip(shares, half, 1 - half)
    out: Floats = ndtri(clipped) if scale == PROBIT else logit(clipped)
    return out


def percent(value: npt.ArrayLike, scale: str) -> Floats:
    """Values on an axis back in percent; on the linear axis they may lie outside 0 to 100."""
    from scipy.special import expit, ndtr

    if scale not in SCALES:
        raise ValueError(f"an axis is one of {', '.join(SCALES)}, not {scale}")
    values = np.asarray(value, np.float64)
    if scale == LINEAR:
        return values
    out: Floats = 100 * (ndtr(values) if scale == PROBIT else expit(values))
    return out
