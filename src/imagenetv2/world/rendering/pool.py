"""What Flickr holds for a class: good photographs, bad ones, copies, and things that are not the class at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from imagenetv2.randomness import generator
from imagenetv2.world.records import Dates, dates_inside, dates_outside, owner
from imagenetv2.world.rendering.chance import between, happens, pick
from imagenetv2.world.rendering.difficulty import any_level, easy
from imagenetv2.world.rendering.files import BROKEN, Picture
from imagenetv2.world.rendering.objects import KINDS
from imagenetv2.world.rendering.originals import Original
from imagenetv2.world.rendering.photograph import Scene, Shot

SHARES = {
    "off_topic": 0.15, "drawing": 0.04, "burst": 0.05, "reupload": 0.02, "edited": 0.04, "reference": 0.03,
    "gone": 0.02, "broken": 0.015,
}  # fmt: skip
"""Shares of a class's photographs within the window; the rest are plain photographs of the class."""
OUTSIDE = 0.12
"""Photographs outside the window, in addition, as a share of those inside."""
EDIT_KINDS = ("crop", "brighter", "smaller", "grey", "framed")
RARE_ENCODINGS = (("png", 0.02), ("grey", 0.04), ("cmyk", 0.05), ("upside_down", 0.06), ("on_its_left", 0.075), ("on_its_right", 0.09))  # fmt: skip


@dataclass(frozen=True)
class Upload:
    """A photograph on Flickr: its picture (None when gone), the classes whose queries find it, owner and dates."""

    picture: Picture | None
    tagged: tuple[str, ...]
    owner: str
    dates: Dates

    @property
    def status(self) -> str:
        """ok, gone or broken."""
        if self.picture is None:
            return "gone"
        return "broken" if self.picture.encoding in BROKEN else "ok"


def counts(size: int) -> dict[str, int]:
    """How many photographs of each sort a class of that size has within the window."""
    found = {sort: int(share * size + 0.5) for sort, share in SHARES.items()}
    return {"plain": size - sum(found.values()), **found, "outside": max(2, int(OUTSIDE * size + 0.5))}


def pool(
    wnid: str, wnids: Sequence[str], size: int, references: Sequence[Original], seed: int
) -> list[Upload]:
    """All uploads of a class. ``references`` are the class's originals, copies of which are on Flickr too."""
    rng = generator(seed, "world", "pool", wnid)
    many = counts(size)
    others = [w for w in wnids if w != wnid]
    plain = [_plain(rng, wnid, n, others) for n in range(many["plain"])]
    uploads = [
        *plain,
        *(_off_topic(rng, wnid, n, others) for n in range(many["off_topic"])),
        *(_drawing(rng, wnid, n) for n in range(many["drawing"])),
        *_copies(rng, plain, many),
        *_of_references(rng, wnid, references, many["reference"]),
        *(_new(rng, wnid, None) for _ in range(many["gone"])),
        *(_broken(rng, wnid, n) for n in range(many["broken"])),
    ]
    late = (_plain(rng, wnid, many["plain"] + n, others) for n in range(many["outside"]))
    return [*uploads, *(replace(u, dates=dates_outside(rng)) for u in late)]


def _new(rng: np.random.Generator, wnid: str, picture: Picture | None, *more: str) -> Upload:
    return Upload(picture, (wnid, *more), owner(rng), dates_inside(rng))


def _plain(rng: np.random.Generator, wnid: str, number: int, others: Sequence[str]) -> Upload:
    u = float(rng.random())
    encoding = next((name for name, below in RARE_ENCODINGS if u < below), "jpeg")
    picture = Picture(Scene(f"pool/{wnid}/{number}", wnid, any_level(rng)), encoding=encoding)
    return _new(rng, wnid, picture, *((_other(rng, wnid, others),) if others and happens(rng, 0.05) else ()))


def _other(rng: np.random.Generator, wnid: str, others: Sequence[str]) -> str:
    """Another class, more often one that looks alike."""
    near = [w for w in others if KINDS[w].family == KINDS[wnid].family]
    return pick(rng, near if near and happens(rng, 0.6) else others)


def _off_topic(rng: np.random.Generator, wnid: str, number: int, others: Sequence[str]) -> Upload:
    key = f"pool/{wnid}/off_topic/{number}"
    if not others or happens(rng, 0.4):
        return _new(rng, wnid, Picture(Scene(key, None, easy(rng))))
    shown = _other(rng, wnid, others)
    picture = Picture(Scene(key, shown, any_level(rng)))
    return _new(rng, wnid, picture, *((shown,) if happens(rng, 0.3) else ()))


def _drawing(rng: np.random.Generator, wnid: str, number: int) -> Upload:
    return _new(rng, wnid, Picture(Scene(f"pool/{wnid}/drawing/{number}", wnid, easy(rng), drawing=True)))


def _broken(rng: np.random.Generator, wnid: str, number: int) -> Upload:
    scene = Scene(f"pool/{wnid}/broken/{number}", wnid, easy(rng))
    return _new(rng, wnid, Picture(scene, encoding=BROKEN[number % len(BROKEN)]))


def _copies(rng: np.random.Generator, plain: Sequence[Upload], many: dict[str, int]) -> Iterator[Upload]:
    """Bursts by the same owner minutes later, the same file once more, and edited copies by others."""
    for _ in range(many["burst"]):
        first = pick(rng, plain)
        assert first.picture is not None
        shot = Shot(
            int(rng.integers(-3, 4)),
            int(rng.integers(-3, 4)),
            round(between(rng, 0.94, 1.06), 3),
            1 + int(rng.integers(9)),
        )
        dates = replace(first.dates, uploaded=first.dates.uploaded + int(rng.integers(5, 600)))
        yield replace(first, picture=replace(first.picture, shot=shot, encoding="jpeg"), dates=dates)
    for _ in range(many["reupload"]):
        first = pick(rng, plain)
        yield _new(rng, first.tagged[0], first.picture)
    for number in range(many["edited"]):
        first = pick(rng, plain)
        assert first.picture is not None
        picture = replace(
            first.picture, edit=EDIT_KINDS[number % len(EDIT_KINDS)], encoding=pick(rng, ("jpeg", "rough"))
        )
        yield _new(rng, first.tagged[0], picture)


def _of_references(
    rng: np.random.Generator, wnid: str, references: Sequence[Original], count: int
) -> Iterator[Upload]:
    """Photographs that the original data set has too: the same file, the same pixels, or edited."""
    for number in range(count):
        split = ("train", "val")[number % 2]
        picture = pick(rng, [r for r in references if r.split == split]).picture
        if number % 3 == 1:
            picture = replace(picture, encoding="lossless_copy")
        elif number % 3 == 2:
            picture = replace(picture, edit=EDIT_KINDS[number // 3 % 4], encoding="rough")
        yield _new(rng, wnid, picture)
