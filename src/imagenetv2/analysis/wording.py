"""Numbers and names as a reader wants them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

MINUS = "−"


def count(value: Any) -> str:
    """12345 as 12,345."""
    return f"{int(value):,}"


def percent(value: Any, digits: int = 1) -> str:
    """A share as 83.2 %, with a no-break space; a dash where it is missing."""
    return "–" if _missing(value) else f"{100 * float(value):.{digits}f}\u00a0%"


def points(value: Any, digits: int = 1) -> str:
    """A difference of shares in percentage points, signed: −3.4; a dash where it is missing."""
    if _missing(value):
        return "–"
    rounded = round(100 * float(value), digits) + 0.0
    return f"{rounded:+.{digits}f}".replace("-", MINUS) if rounded else f"{rounded:.{digits}f}"


def share(value: Any, digits: int = 3) -> str:
    """A frequency as 0.734; a dash where it is missing."""
    return "–" if _missing(value) else f"{float(value):.{digits}f}".replace("-", MINUS)


def shift(value: Any, digits: int = 3) -> str:
    """A signed difference of frequencies: −0.031; a dash where it is missing."""
    if _missing(value):
        return "–"
    return f"{float(value):+.{digits}f}".replace("-", MINUS)


def number(value: Any, digits: int = 3) -> str:
    """A number with so many significant digits, such as 1.11 or 0.0342; a dash where it is missing."""
    if _missing(value):
        return "–"
    return f"{float(value):#.{digits}g}".rstrip(".").replace("-", MINUS)


def signed(value: Any, digits: int = 1) -> str:
    """A signed number that is in points already: +1.2; a dash where it is missing."""
    return "–" if _missing(value) else points(float(value) / 100, digits)


def chance(value: Any) -> str:
    """A probability as 0.034, or < 0.001."""
    if _missing(value):
        return "–"
    return "< 0.001" if float(value) < 0.001 else f"{float(value):.3f}"


def plural(value: Any, one: str, more: str | None = None) -> str:
    """1 vote, 12 votes."""
    return f"{count(value)} {one if int(value) == 1 else more or one + 's'}"


def names(classes: pd.DataFrame) -> dict[str, str]:
    """The first lemma of each class, by WordNet ID."""
    return {
        wnid: str(lemmas[0]).replace("_", " ") if len(lemmas) else wnid
        for wnid, lemmas in zip(classes["wnid"], classes["lemmas"], strict=True)
    }


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


FILTERS = {
    "count": count,
    "percent": percent,
    "points": points,
    "share": share,
    "shift": shift,
    "number": number,
    "signed": signed,
    "chance": chance,
    "plural": plural,
}
