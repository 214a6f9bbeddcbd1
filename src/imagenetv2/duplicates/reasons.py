"""Why an image of a component stays, in words: the steps of ``keeping.order`` that decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from imagenetv2.duplicates.keeping import Counts, Entry, levels

Step = tuple[Callable[[Entry], object], str]
"""What entries are compared by, and what is said where that decides."""


def reason(ordered: Sequence[Entry], good: Sequence[float], counts: Counts, override: str | None) -> str:
    """Why the first of ``ordered``, two or more entries of one component, stays; the rest is that of ``order``."""
    kept = ordered[0]
    images, named = len({entry.image_id for entry in ordered}), override == kept.image_id
    own = [entry for entry in ordered if entry.image_id == kept.image_id]
    parts = [
        f"kept of {images} images in its component"
        if images > 1
        else f"kept for one of its {len(own)} classes"
    ]
    if named:
        parts.append("named by duplicates.override")
    parts += _for_class(own if named else ordered, good, counts, "image" if named else "component")
    votes = f"selected by {kept.selected} of {kept.shown} workers"
    best = "" if named else _for_image([entry for entry in ordered if entry.wnid == kept.wnid])
    parts.append(f"{votes}, {best}" if best else votes)
    return "; ".join(parts)


def _for_class(among: Sequence[Entry], good: Sequence[float], counts: Counts, of: str) -> list[str]:
    """Why the class of the first; nothing where there is no other."""
    kept, reached = among[0], levels(good)
    best: dict[str, Entry] = {}
    for entry in among:
        best.setdefault(entry.wnid, entry)
    level = next((level for level in reached if kept.reaches(level)), None)
    steps: list[Step]
    if level is None:
        none = f"no class of the {of} reaches {_plain(reached[-1])}, and " if reached else ""
        steps = [
            (_frequency, f"{none}{kept.wnid} has the highest frequency"),
            (_wnid, f"{none}of those with the highest frequency {kept.wnid} is the smallest WordNet ID"),
        ]
    else:
        count = counts.get((kept.wnid, level), 0)
        good_ones = f"candidates at {_plain(level)} or more"
        fewest = (
            f"of the {of}'s classes that reach {_plain(level)}, several have the fewest {good_ones} ({count})"
        )
        steps = [
            (lambda e: e.reaches(level), f"no other class of the {of} reaches {_plain(level)}"),
            (
                lambda e: counts.get((e.wnid, level), 0),
                f"of the {of}'s classes that reach {_plain(level)}, {kept.wnid} has the fewest {good_ones} ({count})",
            ),
            (_frequency, f"{fewest}, and of these {kept.wnid} has the highest frequency"),
            (
                _wnid,
                f"{fewest}, and of these with the highest frequency {kept.wnid} is the smallest WordNet ID",
            ),
        ]
    said = _decided(kept, [entry for wnid, entry in best.items() if wnid != kept.wnid], steps)
    return [said] if said else []


def _for_image(same: Sequence[Entry]) -> str:
    """Why the first of a class; empty where it is the only one."""
    return _decided(
        same[0],
        same[1:],
        [
            (_frequency, "the highest frequency for its class"),
            (lambda e: e.shown, "the highest frequency for its class, and the most votes of those with it"),
            (
                lambda e: e.image_id,
                "the highest frequency for its class, and the smallest id of those with it and as many votes",
            ),
        ],
    )


def _decided(kept: Entry, rivals: Sequence[Entry], steps: Sequence[Step]) -> str:
    """What is said of the step after which nothing else is left; empty where there are no rivals."""
    if not rivals:
        return ""
    for value, said in steps:
        rivals = [entry for entry in rivals if value(entry) == value(kept)]
        if not rivals:
            return said
    raise ValueError(f"{kept} and {rivals[0]} do not differ")


def _frequency(entry: Entry) -> Fraction:
    return entry.frequency


def _wnid(entry: Entry) -> str:
    return entry.wnid


def _plain(level: Fraction) -> str:
    return f"{float(level):g}"
