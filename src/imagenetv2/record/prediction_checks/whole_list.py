"""Whether a list is at fault where its files seem to be: most of them would have to be wrong in the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from imagenetv2.record.faults import CORRECTED, LEFT_OUT, Fault
from imagenetv2.record.listings import Listing, listing
from imagenetv2.record.prediction_checks.rows import Fit, fit
from imagenetv2.record.ranks import UNFIT
from imagenetv2.record.sheets import Ints, Raw

MODELS = 4
"""Files that a list needs for most of them to say something about it."""
SAMPLE = 8
"""Files that a correction is measured on."""
SHARED = 20
"""Images known from other lists that tell which class is an image's."""
AGREE = 0.9
CERTAIN = 0.1
"""Places of a gap are alike where they differ by fewer hits than this part of the files."""
NEAR = 0.01
"""Hits beyond chance by which two orders fit equally well."""
MOST = 0.01
"""Share of the images that may be left out around a gap that cannot be placed exactly."""
BLANK = ("", "")
"""Entry that stands for a row of no known image."""

Entries = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Mended:
    """A list after it was compared with its files: None instead of entries where it cannot be used."""

    entries: list[tuple[str, str]] | None
    detail: str
    evidence: str

    def fault(self, file: str, name: str) -> Fault:
        """The fault of the list that this is about."""
        return Fault(
            file, name, UNFIT, self.detail, LEFT_OUT if self.entries is None else CORRECTED, self.evidence
        )


def mended(
    name: str,
    entries: Entries,
    values: Sequence[Raw],
    indices: Mapping[str, int],
    others: Mapping[str, Listing],
    elsewhere: Callable[[], Mapping[str, str]],
) -> Mended | None:
    """What is wrong with a list that most of its files do not fit; None where they fit, or fit another list.

    Args:
        name: of the list.
        entries: image and class of each entry.
        values: class indices of each file, rows × columns, rows as they are in it.
        indices: class index by WordNet ID.
        others: all lists by name.
        elsewhere: gives the class of images that other lists hold.
    """
    if len(values) < MODELS:
        return None
    counts = Counter(len(v) for v in values)
    rows = min(counts, key=lambda n: (-counts[n], n))
    target = listing(name, entries, indices)
    alike = [v for v in values if len(v) == rows]
    if 2 * len(alike) <= len(values):
        return None
    places, many = target.rows(rows), f"{len(alike)} of {len(values)} files"
    if places is None:
        if any(_fits(alike, o.rows(rows), o, len(indices)) for o in others.values() if o.name != name):
            return None
        if abs(rows - len(entries)) == 1:
            return _gap(name, entries, alike, indices, many)
        detail = f"{many} have {rows:,} rows, the list has {len(entries):,} entries"
        return Mended(None, detail, "which image a row belongs to is not known")
    found = [fit(v, places, target.classes, len(indices)) for v in alike]
    bad = [v for v, f in zip(alike, found, strict=True) if not f.good or f.shift]
    if 2 * len(bad) <= len(values):
        return None
    return _rearranged(target, bad, indices, others, elsewhere, f"{len(bad)} of {len(values)} files")


def _rearranged(
    target: Listing,
    bad: Sequence[Raw],
    indices: Mapping[str, int],
    others: Mapping[str, Listing],
    elsewhere: Callable[[], Mapping[str, str]],
    many: str,
) -> Mended | None:
    """The list in another order, or with its classes in another, whichever other lists bear out."""
    rows, count = len(bad[0]), len(indices)
    places = target.rows(rows)
    assert places is not None
    orders = [("", places), *target.orders(rows)]
    fits = [_pooled(bad, order, target, count) for _, order in orders]
    # A list in order of its classes fits nearly as well in several orders; the first of them is the plainest.
    best = next(k for k, f in enumerate(fits) if f.beyond >= max(g.beyond for g in fits) - NEAR)
    if not fits[best].good:
        if any(_fits(bad, o.rows(rows), o, count) for o in others.values() if o.name != target.name):
            return None
        detail = (
            f"in {many} the class is among the predictions for {100 * fits[0].share:.1f} % of images, under any "
            "constant offset"
        )
        return Mended(
            None, detail, "no order that follows from the list brings the accuracy back in any of them"
        )
    return _borne_out(target, *orders[best], fits[best], indices, elsewhere(), many, fits[0].share)


def _borne_out(
    target: Listing,
    name: str,
    order: Ints,
    found: Fit,
    indices: Mapping[str, int],
    known: Mapping[str, str],
    many: str,
    before: float,
) -> Mended | None:
    places = target.rows(len(order))
    assert places is not None
    wnid_of = {k: w for w, k in indices.items()}
    moved = [
        wnid_of[(indices[target.wnids[p]] + found.shift) % len(indices)] if p >= 0 else "" for p in order
    ]
    kept = [(target.ids[p], target.wnids[p]) if p >= 0 else BLANK for p in order]
    other = [(target.ids[p], w) if p >= 0 and w else BLANK for p, w in zip(places, moved, strict=True)]
    shared = [image for image in target.ids if image in known]
    listed, changed = _agree(kept, known), _agree(other, known)
    detail = f"{many} fit it only with {_what(name, found.shift)}"
    evidence = (
        f"the class is then among the predictions for {100 * found.share:.1f} % of images, before "
        f"{100 * before:.1f} %; of {len(shared):,} images that other lists hold"
    )
    if len(shared) >= SHARED and changed >= AGREE > listed:
        evidence += f" {100 * changed:.0f} % have their classes with the list's classes moved so, as listed {100 * listed:.0f} %"
        return Mended(other, detail, evidence)
    if len(shared) < SHARED or listed >= AGREE:
        if found.shift:  # Then the files are numbered otherwise, which is told of each.
            return None
        return Mended(kept, detail, f"{evidence} {100 * listed:.0f} % have the class listed")
    return Mended(
        None, detail, f"{evidence} only {100 * max(listed, changed):.0f} % have their classes either way"
    )


def _what(name: str, shift: int) -> str:
    parts = [f"its order changed: {name}"] if name else []
    return " and ".join(parts + ([f"its class indices {shift:+d}"] if shift else []))


def _agree(entries: Entries, known: Mapping[str, str]) -> float:
    """Share of images whose class other lists confirm."""
    found = [known[image] == wnid for image, wnid in entries if image in known]
    return float(np.mean(found)) if found else 0.0


def _gap(name: str, entries: Entries, files: Sequence[Raw], indices: Mapping[str, int], many: str) -> Mended:
    """The list with one entry more or less, there where its files have a row more or less."""
    rows, listed = len(files[0]), len(entries)
    detail = f"{many} have {rows:,} rows, the list has {listed:,} entries"
    classes = np.array([indices.get(w, -1) for _, w in entries])
    shorter, later = min(rows, listed), rows > listed
    here, there = np.zeros(shorter), np.zeros(shorter)
    for v in files:
        here += (v[:shorter] == classes[:shorter, None]).any(axis=1)
        there += (v[1:] == classes[:, None]).any(axis=1) if later else (v == classes[1:, None]).any(axis=1)
    score = np.append(0, np.cumsum(here)) + np.append(np.cumsum(there[::-1])[::-1], 0)
    if later:
        # Between images of one class any row may be the one without an entry; else the hardest image would be chosen.
        between = np.append(-1, classes) == np.append(classes, -1)
        score += np.where(between, np.append(0, there), 0)
    near = np.flatnonzero(score >= score.max() - CERTAIN * len(files))
    low, high = int(near[0]), int(near[-1])
    if low < high:
        low, high = max(low - 1, 0), min(high + 1, shorter)
    before = [*entries[:low]]
    after = [*entries[high:]] if later else [*entries[high + 1 :]]
    fixed = before + [BLANK] * (high - low + later) + after
    target = listing(name, fixed, indices)
    if high - low > MOST * listed or not _fits(files, target.rows(rows), target, len(indices)):
        return Mended(None, detail, "which image a row belongs to is not known")
    where = f"at entry {low:,}" if low == high else f"between entries {low:,} and {high:,}"
    evidence = (
        f"with one entry {'more' if later else 'fewer'} {where} the class is among the predictions of an image in "
        f"{100 * score.max() / (len(files) * (shorter + later)):.1f} % of cases, with all rows as they are in "
        f"{100 * here.sum() / (len(files) * shorter):.1f} %"
    )
    if high > low:
        evidence += (
            f"; the {high - low + (not later):,} images there, which cannot be told apart, are left out"
        )
    return Mended(fixed, f"{detail}: one is {'missing' if later else 'too many'} {where}", evidence)


def _pooled(files: Sequence[Raw], rows: Ints, target: Listing, count: int) -> Fit:
    some = list(files)[:: max(1, len(files) // SAMPLE)]
    columns = min(v.shape[1] for v in some)
    return fit(
        np.concatenate([v[:, :columns] for v in some]), np.tile(rows, len(some)), target.classes, count
    )


def _fits(files: Sequence[Raw], rows: Ints | None, target: Listing, count: int) -> bool:
    return rows is not None and _pooled(files, rows, target, count).good
