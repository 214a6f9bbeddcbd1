"""Numbers of the configuration as they were written."""

from __future__ import annotations

from fractions import Fraction


def exact(value: float) -> Fraction:
    """The fraction that a setting's decimal text says: 0.7 is 7/10, not the nearest binary number."""
    return Fraction(str(value))
