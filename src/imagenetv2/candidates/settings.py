"""Searching Flickr and fetching what it found."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from imagenetv2.settings import Section, operational


class Search(Section):
    """Flickr search: one query per synonym."""

    snapshot: str = Field(
        "first",
        pattern=r"^[A-Za-z0-9._-]+$",
        description="Name of this crawl. Flickr's answers are kept under it and never asked for twice; "
        "a new name asks again.",
    )
    uploaded_from: date = Field(date(2012, 7, 11), description="Earliest day of upload, UTC.")
    uploaded_to: date = Field(date(2013, 7, 11), description="Last day of upload, UTC.")
    taken_from: date | None = Field(date(2012, 7, 11), description="Earliest day taken; null does not ask.")
    taken_to: date | None = Field(date(2013, 7, 11), description="Last day taken; null does not ask.")
    ladder: tuple[int, ...] = Field(
        (100, 200),
        min_length=1,
        description="Photographs wanted a class, rung by rung; each candidate knows its rung.",
    )
    per_page: int = Field(
        500, ge=1, le=500, description="Results asked for per page; Flickr's maximum is 500."
    )
    result_cap: int = Field(
        4000,
        ge=1,
        description="Results after which Flickr repeats itself; longer answers are split by upload date.",
    )
    licenses: tuple[str, ...] = Field(
        (), description="Flickr licence numbers to ask for; empty asks for all."
    )
    sizes: tuple[Literal["o", "k", "h", "l", "c", "z", "m", "n"], ...] = Field(
        ("l", "c", "z", "o", "m"),
        min_length=1,
        description="Flickr's size letters, preferred first: l is 1024 pixels, c 800, z 640, m 500 (Flickr's "
        "medium), n 320, o the original; the first that a photograph has is fetched.",
    )
    calls_per_second: float = operational(
        1.0, "Calls to the Flickr API a second; an embedded world knows no limit.", gt=0, le=1
    )
    attempts: int = operational(6, "How often a call is tried before the search stops.", ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Search:
        for what in ("uploaded", "taken"):
            start, end = getattr(self, f"{what}_from"), getattr(self, f"{what}_to")
            if start and end and start > end:
                raise ValueError(f"{what}_from {start} is after {what}_to {end}")
        if list(self.ladder) != sorted(set(self.ladder)) or self.ladder[0] < 1:
            raise ValueError(f"ladder {list(self.ladder)} must rise from at least 1")
        return self


class Candidates(Section):
    """Download and decoding of what the search found."""

    minimum_side: int = Field(
        32, ge=1, description="Photographs with a shorter side are rejected, in pixels."
    )
    placeholders: tuple[str, ...] = Field(
        (),
        description="SHA-256 of files that the image host serves in place of photographs that are gone, beside those "
        "that it redirects to.",
    )
    attempts: int = operational(5, "How often a download is tried before it counts as failed.", ge=1)
    downloads_per_second: float = operational(10.0, "Downloads a second from the real image host.", gt=0)
    connections: int = operational(4, "Downloads under way at once.", ge=1, le=64)
    contact: str = operational(
        "", "A web page or e-mail address by which the image host can reach you; sent in the User-Agent."
    )
