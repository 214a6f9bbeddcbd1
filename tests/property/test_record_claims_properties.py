"""Tolerances of printed numbers, against rounding in decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from imagenetv2.record.claims.claim import agrees, number, shown, tolerance

DIGITS = st.integers(0, 4)
VALUES = st.decimals(-100_000, 100_000, places=6, allow_nan=False, allow_infinity=False)


def as_printed(value: Decimal, digits: int) -> str:
    """A value rounded to ``digits``, with thousands commas and the typographic minus."""
    rounded = value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{rounded:,}".replace("-", "−")


@given(VALUES, DIGITS)
def test_a_rounded_value_agrees_with_what_was_rounded(value: Decimal, digits: int) -> None:
    assert agrees(as_printed(value, digits), float(value))


@given(VALUES, DIGITS, st.decimals(0, 10, places=4))
def test_a_value_agrees_exactly_within_half_a_unit(value: Decimal, digits: int, off: Decimal) -> None:
    unit = Decimal(1).scaleb(-digits)
    rounded = value.quantize(unit, ROUND_HALF_UP)
    distance = off * unit
    assume(abs(distance - unit / 2) > Decimal("1e-7"))
    for other in (rounded + distance, rounded - distance):
        assert agrees(as_printed(value, digits), float(other)) is (distance <= unit / 2)


@given(VALUES, DIGITS, st.sampled_from(["{}", "{}%", "about {}", "{}, by “11%”", "±{}"]))
def test_number_and_tolerance_are_read_back(value: Decimal, digits: int, around: str) -> None:
    printed = as_printed(value, digits)
    text = around.format(printed)
    assert number(text) == float(printed.replace(",", "").replace("−", "-"))
    assert tolerance(text) == 0.5 * 10.0**-digits


@given(VALUES, DIGITS)
def test_a_shown_value_has_the_verdict_of_the_value(value: Decimal, digits: int) -> None:
    """One digit more than printed is enough to see agreement, but for what lies on the edge."""
    printed = as_printed(value, digits)
    text = shown(printed, float(value))
    back = number(text)
    assert back is not None
    assert abs(back - float(value)) <= 0.5 * 10.0 ** -(digits + 1) + 1e-6
    assert agrees(printed, back)
