"""The sets of a scorecard: opened behind their gates, each with its part in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import Literal

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.evaluation.metrics.real import Integers, numbers
from imagenetv2.evaluation.running.tasks import LabelledImages
from imagenetv2.evaluation.scorecard import hidden
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.unpacking import COMPRESSED, first_bytes, stem

Part = Literal["val", "v2", "also"]
ORIGINAL = "imagenet-val"
NEW = {
    "imagenetv2-matched-frequency": "MatchedFrequency",
    "imagenetv2-threshold-0.7": "Threshold0.7",
    "imagenetv2-top-images": "TopImages",
}
TITLES = {ORIGINAL: "ImageNet", "imagenet-a": "ImageNet-A", "imagenet-r": "ImageNet-R", **NEW}
PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Opened:
    """A set with its part.

    Attributes:
        part: the option that it was named after.
        name: in tables and as a folder; no two are the same.
        title: as shown.
        set: the set.
        content: SHA-256 over all its images, see ``checking.check_files``; empty where they were not read.
    """

    part: Part
    name: str
    title: str
    set: TestSet
    content: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is a published set, and all of it."""
        return self.set.known is not None and not self.set.remarks

    @cached_property
    def numbers(self) -> Integers | None:
        """Number of each ImageNet validation image; None where not all are such images."""
        found = numbers(self.set.ids)
        return found if (found > 0).all() else None

    @cached_property
    def labelled(self) -> LabelledImages:
        """What is run: one object, by which a run knows that models share images."""
        true = np.searchsorted(self.set.classes, self.set.labels)
        return LabelledImages(self.title, self.set.ids, true, self.set.classes, self.set.pixels)


def named(wanted: Wanted) -> list[tuple[Part, Path]]:
    """Parts and paths: ImageNet, then the new sets, then the others. Raises InputError where there are none."""
    found: list[tuple[Part, Path]] = [("val", wanted.val)] if wanted.val else []
    found += [("v2", path) for path in wanted.v2] + [("also", path) for path in wanted.also]
    if not found:
        raise InputError("--val, --v2: no set is named; name a folder or archive of at least one.")
    return found


def packed(wanted: Wanted) -> list[Path]:
    """Archives that would be unpacked, which has not been done yet."""
    return [path for _, path in named(wanted) if _compressed(path) and not _unpacked(path, wanted.out)]


def _compressed(path: Path) -> bool:
    return path.is_file() and any(first_bytes(path).startswith(magic) for magic in COMPRESSED)


def _unpacked(path: Path, out: Path) -> bool:
    """An archive that was changed since is unpacked anew."""
    changed = path.stat().st_mtime_ns
    there = sorted(hidden.unpacked(out).glob(f"{escape(stem(path))}-*.tar"))
    return any(made.stat().st_mtime_ns >= changed for made in there)


def open_all(wanted: Wanted, without: Collection[Path] = ()) -> tuple[Opened, ...]:
    """ImageNet, then the new sets, then the others, but for those ``without``.

    Raises:
        InputError: no set is named, one does not pass its gates, one is not what its option says, or two are the same.
    """
    scratch = hidden.unpacked(wanted.out)
    found = [
        (part, path, open_testset(path, devkit=wanted.devkit, partial=wanted.partial, scratch=scratch))
        for part, path in named(wanted)
        if path not in without
    ]
    for part, path, each in found:
        _require_part(part, path, each)
    _require_distinct([(path, each) for _, path, each in found])
    sets = [each for _, _, each in found]
    return tuple(
        Opened(part, _name(each), title, each)
        for (part, _, each), title in zip(found, _titles(sets), strict=True)
    )


def _require_part(part: Part, path: Path, of: TestSet) -> None:
    """Swapped options would give a drop with the wrong sign."""
    if part == "val" and of.known not in (None, ORIGINAL):
        raise InputError(
            f"--val {path}: this is {TITLES.get(of.known or '', of.known)}; name it after --v2 or --also."
        )
    if part == "v2" and of.known == ORIGINAL:
        raise InputError(f"--v2 {path}: this is ImageNet's validation set; name it after --val.")


def _require_distinct(found: Sequence[tuple[Path, TestSet]]) -> None:
    first: dict[str, Path] = {}
    for path, of in found:
        if of.digest in first:
            raise InputError(f"{path}: this is the same set as {first[of.digest]}; name it once.")
        first[of.digest] = path


def _name(of: TestSet) -> str:
    """That of a whole published set; else with its digest, so that it does not depend on what else is asked for."""
    plain = PLAIN.sub("-", of.known or of.name).strip("-.") or "set"
    return plain if of.known and not of.remarks else f"{plain}-{of.digest[:6]}"


def _titles(sets: Sequence[TestSet]) -> list[str]:
    """As shown; with the digest where several have one."""
    plain = [TITLES.get(each.known or "", each.name) for each in sets]
    return [
        f"{title} {each.digest[:6]}" if plain.count(title) > 1 else title
        for title, each in zip(plain, sets, strict=True)
    ]
