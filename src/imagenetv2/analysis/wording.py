"""Numbers and names as a reader wants them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
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


def duration(seconds: float) -> str:
    """In the largest units that say it: 0.3 s, 12 min, 3.5 h, 4 days, 2.1 years."""
    for unit, length, least in (
        ("years", 365.25 * 86400, 365.25 * 86400), ("days", 86400, 2 * 86400), ("h", 3600, 5400), ("min", 60, 90)
    ):  # fmt: skip
        if seconds >= least:
            return f"{_short(seconds / length)} {unit}"
    return f"{_short(seconds)} s"


def volume(size: float) -> str:
    """Bytes in the largest unit that says it."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= length:
            return f"{_short(size / length)} {unit}"
    return f"{size:.0f} bytes"


def grid(columns: Mapping[str, Sequence[str]], left: bool = False) -> list[str]:
    """Aligned columns below their titles, the first to the left, the others to the right or all to the ``left``."""
    whole = [[title, *values] for title, values in columns.items()]
    widths = [max(map(len, values)) for values in whole]
    return [
        "  ".join(
            v.ljust(w) if left or not i else v.rjust(w)
            for i, (v, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in zip(*whole, strict=True)
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def names(classes: pd.DataFrame) -> dict[str, str]:
    """The first lemma of each class, by WordNet ID."""
    return {
        wnid: str(lemmas[0]).replace("_", " ") if len(lemmas) else wnid
        for wnid, lemmas in zip(classes["wnid"], classes["lemmas"], strict=True)
    }


def distinct_names(classes: pd.DataFrame) -> dict[str, str]:
    """The same, with the WordNet ID where several classes have that lemma first."""
    short = names(classes)
    shared = {name for name, times in Counter(short.values()).items() if times > 1}
    return {wnid: f"{name} ({wnid})" if name in shared else name for wnid, name in short.items()}


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
