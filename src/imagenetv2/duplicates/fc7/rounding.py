"""Six significant digits: all that is stored of a distance of features."""

from __future__ import annotations

import numpy as np

from imagenetv2.duplicates.engine import Values

DIGITS = 6
ROUNDING = 5.1e-6
"""A rounded distance differs from the distance by less than this share of it."""
LOWEST, HIGHEST = -250, 250
# Written out, not raised to a power: the nearest floating-point number to each, on any machine.
POWERS = np.array([float(f"1e{power}") for power in range(LOWEST, HIGHEST + 1)])


def rounded(values: Values) -> Values:
    """The numbers of six significant digits nearest to values ≥ 0; between 1e-17 and 1e27 the float64 nearest to each.

    Features differ in their last digits between machines; rounded distances hardly ever do.
    """
    place = np.searchsorted(POWERS, values, side="right") - 1 + LOWEST - (DIGITS - 1)
    place = np.clip(place, LOWEST, HIGHEST)
    up = POWERS[np.maximum(place, 0) - LOWEST]
    down = POWERS[np.maximum(-place, 0) - LOWEST]
    # One of the two is 1, and a power up to 10²² is exact: dividing by it, or multiplying, rounds once.
    out: Values = np.rint(values / up * down) / down * up
    return out
