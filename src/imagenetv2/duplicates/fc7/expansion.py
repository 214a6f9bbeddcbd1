"""What the expansion |x|² + |y|² − 2xy in float32 may be wrong by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.engine import Values
from imagenetv2.duplicates.fc7.rounding import ROUNDING

UNIT = 2.0**-24
"""Unit roundoff of float32."""
UNDERFLOW = 2.0**-126
"""Products below it may be flushed to 0."""
WIDEST, LARGEST = 2**22, 2.0**120
"""Number of features and squared norm up to which the expansion says anything."""

Single = npt.NDArray[np.float32]


def norms(features: Single) -> Values:
    """Squared norm of each row, float64."""
    out = np.empty(len(features))
    for start in range(0, len(features), 1024):
        some = features[start : start + 1024].astype(np.float64)
        out[start : start + 1024] = np.einsum("ij,ij->i", some, some)
    return out


def useful(norm: Values, width: int) -> bool:
    """Whether nothing overflows and errors stay below the terms."""
    return width <= WIDEST and float(norm.max(initial=0.0)) <= LARGEST


def shrunk(norm: Values, width: int) -> Values:
    """Squared norms so much smaller that shrunk |x|² + shrunk |y|² − 2xy in float32 is below the stored distance.

    However its terms are ordered or fused, a dot product of d terms is wrong by at most γ |x| |y| with
    γ = du / (1 − du) (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and 2 |x| |y| is at most
    |x|² + |y|². So is everything else that is taken off: eight roundings of intermediate results, none of them larger
    than 2 (|x|² + |y|²), and the digits that a stored distance ≤ 2 (|x|² + |y|²) loses.
    """
    gamma = width * UNIT / (1 - width * UNIT)
    return norm * (1 - gamma - 16 * UNIT - 2 * ROUNDING) - (2 * width + 4) * UNDERFLOW
