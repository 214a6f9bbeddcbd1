"""Dates and times as a record writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

DAY = timedelta(days=1)
STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[-_T ](\d\d)[-:](\d\d)(?:[-:](\d\d))?)?")


def moment(text: str) -> datetime | None:
    """A date and time; without a zone it counts as UTC; None for what is none.

    Understood: ISO 8601, ``2018-12-13_09:53:50_UTC``, and a zone written ``+0000``.
    """
    plain = re.sub(r"[_ ]UTC$", "+00:00", text.strip()).replace("_", " ")
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def has_zone(text: str) -> bool:
    """Whether a time says in which zone it was taken."""
    return re.search(r"([+-]\d\d:?\d\d|UTC|Z)$", text.strip()) is not None


def day(text: object) -> str | None:
    """A day YYYY-MM-DD that is in the calendar; None for anything else."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return None
    return text if moment(text) else None


def in_name(name: str) -> datetime | None:
    """The first date, with its time where it has one, in a file's name; zones are not looked at."""
    for found in STAMP.finditer(name.rsplit("/", 1)[-1]):
        parts = [int(p) for p in found.groups() if p is not None]
        try:
            return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]
        except ValueError:
            continue
    return None
