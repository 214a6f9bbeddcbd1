"""The filter of the search, applied again to every record: what is asked of Flickr is not always done."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date

from imagenetv2.candidates.arguments import Window, upload_window
from imagenetv2.candidates.records import Photo
from imagenetv2.candidates.settings import Search

MONTH, YEAR, CIRCA = 4, 6, 8


@dataclass(frozen=True)
class Filter:
    """Which records are candidates.

    The time of upload is exact and the hard rule. The date taken is in the owner's local time, may be coarse (then
    its whole month or year counts), wrong or made up by Flickr: a record is dropped for it only where it is
    known and lies outside.
    """

    uploaded: Window
    taken_from: date | None
    taken_to: date | None
    licenses: frozenset[str]

    @classmethod
    def of(cls, settings: Search) -> Filter:
        """The filter that the settings describe."""
        window = upload_window(settings.uploaded_from, settings.uploaded_to)
        return cls(window, settings.taken_from, settings.taken_to, frozenset(settings.licenses))

    def admits(self, photo: Photo) -> bool:
        """Whether the record passes."""
        if not self.uploaded.start <= photo.uploaded <= self.uploaded.end:
            return False
        if self.licenses and photo.license not in self.licenses:
            return False
        span = taken_span(photo)
        if span is None:
            return True
        return (self.taken_from is None or span[1] >= self.taken_from) and (
            self.taken_to is None or span[0] <= self.taken_to
        )


def taken_span(photo: Photo) -> tuple[date, date] | None:
    """First and last day on which it may have been taken; None where that is unknown."""
    if photo.taken_unknown:
        return None
    try:
        day = date.fromisoformat(photo.taken[:10])
    except ValueError:
        return None
    if photo.taken_granularity in (YEAR, CIRCA):
        return date(day.year, 1, 1), date(day.year, 12, 31)
    if photo.taken_granularity == MONTH:
        return day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1])
    return day, day
