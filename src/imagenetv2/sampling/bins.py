"""Bins of selection frequencies, in integers throughout: a frequency is a pair of counts, never a decimal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


def at_least(selected: int, shown: int, lowest: Fraction) -> bool:
    """Whether selected / shown ≥ lowest; ``shown`` is positive."""
    return selected * lowest.denominator >= lowest.numerator * shown


def bin_of(selected: int, shown: int, edges: Sequence[Fraction]) -> int:
    """Bin of selected / shown, from 0. A bin holds its lower edge; the last one also holds 1."""
    return sum(at_least(selected, shown, edge) for edge in edges)


def histogram(votes: Iterable[tuple[int, int]], edges: Sequence[Fraction]) -> list[int]:
    """Images in each bin; ``votes`` are pairs (selected, shown)."""
    counts = [0] * (len(edges) + 1)
    for selected, shown in votes:
        counts[bin_of(selected, shown, edges)] += 1
    return counts


def scale(counts: Sequence[int], total: int) -> list[int]:
    """Counts in proportion to ``counts`` that sum to ``total``, by largest remainder.

    Each gets the floor of its share; what is left goes one each to the largest remainders, ties to the higher
    bin. Raises ValueError where all counts are zero.
    """
    whole = sum(counts)
    if whole == 0:
        raise ValueError("nothing to scale: all counts are zero")
    scaled = [count * total // whole for count in counts]
    order = sorted(range(len(counts)), key=lambda b: (counts[b] * total % whole, b), reverse=True)
    for b in order[: total - sum(scaled)]:
        scaled[b] += 1
    return scaled


def interval(b: int, edges: Sequence[Fraction]) -> str:
    """How bin ``b`` is written: [0.2, 0.4)."""
    low = Fraction(0) if b == 0 else edges[b - 1]
    last = b == len(edges)
    high = Fraction(1) if last else edges[b]
    return f"[{float(low):g}, {float(high):g}{']' if last else ')'}"
