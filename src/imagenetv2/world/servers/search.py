"""Which photographs a Flickr search finds, and in what order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from imagenetv2.world.servers.photographs import Photograph, clean_tag, words

Test = Callable[[Photograph], bool]


def matching(photographs: Sequence[Photograph], arguments: Mapping[str, str]) -> list[Photograph]:
    """Photographs that fit all arguments; arguments with other names are ignored, as Flickr does."""
    given = {name: value for name, value in arguments.items() if value}
    tests: list[Test] = []
    for name, make in _TESTS.items():
        if name in given:
            tests.append(make(given[name], given))
    return [photo for photo in photographs if all(test(photo) for test in tests)]


def ordered(photographs: Sequence[Photograph], sort: str) -> list[Photograph]:
    """Sorted as ``sort`` says, by upload with the latest first where it says nothing known."""
    kind, _, direction = sort.rpartition("-")
    keys: dict[str, Callable[[Photograph], int | str]] = {
        "date-posted": lambda p: p.uploaded,
        "date-taken": lambda p: p.taken,
        "interestingness": lambda p: p.interest,
    }
    if sort == "relevance":
        kind, direction = "interestingness", "desc"
    if kind not in keys or direction not in ("asc", "desc"):
        kind, direction = "date-posted", "desc"
    by_id = sorted(photographs, key=lambda p: (len(p.photo_id), p.photo_id), reverse=direction == "desc")
    return sorted(by_id, key=keys[kind], reverse=direction == "desc")


def positive(text: str | None, default: int) -> int:
    """A number of at least 1, or the default for anything else."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) and int(text) else default


def moment(text: str) -> float | None:
    """Seconds since 1970 of a Unix time or of a date and time (taken as UTC); None for anything else."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _text(value: str, _: Mapping[str, str]) -> Test:
    """All words must occur, quoted ones in a row in the title, none that has a minus before it."""
    phrases = [words(p) for p in re.findall(r'"([^"]+)"', value)]
    rest = re.sub(r'"[^"]*"', " ", value).split()
    without = {w for term in rest if term.startswith("-") for w in words(term)}
    needed = {w for term in rest if not term.startswith("-") for w in words(term)}

    def test(photo: Photograph) -> bool:
        if not needed <= photo.words or without & photo.words:
            return False
        return all(
            any(_contains(words(part), phrase) for part in (photo.title, *photo.tags)) for phrase in phrases
        )

    return test


def _contains(text: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(text[i : i + len(phrase)] == phrase for i in range(len(text) - len(phrase) + 1))


def _tags(value: str, given: Mapping[str, str]) -> Test:
    asked = [clean_tag(tag) for tag in value.split(",") if clean_tag(tag)]
    together = all if given.get("tag_mode") in ("all", "bool") else any
    return lambda photo: together(tag in photo.clean_tags for tag in asked)


def _uploaded(later: bool) -> Callable[[str, Mapping[str, str]], Test]:
    def make(value: str, _: Mapping[str, str]) -> Test:
        limit = moment(value)
        if limit is None:
            return lambda photo: True
        return lambda photo: photo.uploaded >= limit if later else photo.uploaded <= limit

    return make


def _taken(later: bool) -> Callable[[str, Mapping[str, str]], Test]:
    def make(value: str, _: Mapping[str, str]) -> Test:
        limit = moment(value)
        if limit is None:
            return lambda photo: True
        # The camera's clock knows no zone: compared as if both were UTC.
        return lambda photo: (
            (moment(photo.taken) or 0) >= limit if later else (moment(photo.taken) or 0) <= limit
        )

    return make


def _license(value: str, _: Mapping[str, str]) -> Test:
    asked = {part.strip() for part in value.split(",")}
    return lambda photo: photo.license in asked


def _user(value: str, _: Mapping[str, str]) -> Test:
    return lambda photo: photo.owner_id == value


def _none_if(*values: str) -> Callable[[str, Mapping[str, str]], Test]:
    return lambda value, _: lambda photo: value not in values


_TESTS: dict[str, Callable[[str, Mapping[str, str]], Test]] = {
    "text": _text,
    "tags": _tags,
    "user_id": _user,
    "min_upload_date": _uploaded(True),
    "max_upload_date": _uploaded(False),
    "min_taken_date": _taken(True),
    "max_taken_date": _taken(False),
    "license": _license,
    "media": _none_if("videos"),
    # 1 and 4, 6, 7 include photographs; 2, 3 and 5 are screenshots, other, and both of these.
    "content_type": _none_if("2", "3", "5"),
}
