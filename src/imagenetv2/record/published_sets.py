"""Which lists of a record are the sets that were published: of each rule the last revision."""

from __future__ import annotations

from collections.abc import Iterable

from imagenetv2.record.lists import ORIGINAL, identified, stem
from imagenetv2.record.source import Source

LISTS, PREDICTIONS = "data/datasets", "data/predictions"


def published(names: Iterable[str]) -> dict[str, str]:
    """List of each set of new images: that of its last revision, whether or not it can be used.

    Args:
        names: of lists; those of original images, and of no known set, are passed over.
    """
    last: dict[str, tuple[int, str]] = {}
    for name in names:
        if (which := revision(name)) is not None:
            last[which[0]] = max(last.get(which[0], (-1, "")), (which[1], name))
    return {name: best[1] for name, best in sorted(last.items(), key=lambda item: item[1][1])}


def named(record: Source) -> set[str]:
    """Names of lists that a record has a file of, readable or not, or predictions for.

    A list that is broken, or gone while its predictions are there, was published all the same: the revision before
    it must not pass for it.
    """
    folders = {file.split("/")[2] for file in record.names(PREDICTIONS) if file.count("/") == 3}
    return {stem(file) for file in record.names(LISTS, ".json")} | folders


def revision(name: str) -> tuple[str, int] | None:
    """Rule and revision of a list of new images; None for any other."""
    which = identified(name)
    return None if which is None or which[0] == ORIGINAL else which
