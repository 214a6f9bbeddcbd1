"""Whose predictions a file holds, from images that several lists share: a model says the same of one image always."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from imagenetv2.duplicates.components import components
from imagenetv2.record.listings import Listing
from imagenetv2.record.model_names import chosen
from imagenetv2.record.sheets import Ints, Sheet, first

SAME = 0.98
"""Share of shared images on which two files name the same class first if they are one model's; the most alike of
different models agree on 0.95."""
IMAGES = 100
"""Shared images from which that is a proof."""
MOST = 2_000


Overlaps = Mapping[tuple[str, str], tuple[Ints, Ints]]


def overlaps(listings: Mapping[str, Listing]) -> dict[tuple[str, str], tuple[Ints, Ints]]:
    """For two lists, in the order of their names, that share enough images: the places of these in both."""
    pairs = {p: listings[p[0]].common(listings[p[1]]) for p in combinations(sorted(listings), 2)}
    return {names: found for names, found in pairs.items() if len(found[0]) >= IMAGES}


def named(sheets: Sequence[Sheet], common: Overlaps) -> list[Sheet]:
    """The sheets under the name that most files of their model have.

    Files of different lists that agree on the images their lists share are one model's. Where a file has another name
    than most files of its model, it is renamed; where its list has a file of that name and model already, it is a
    copy and is left out.
    """
    ready = [s for s in sheets if s.usable]
    groups = _of_one_model(ready, common)
    everywhere = Counter(m for m, _ in {(s.model, s.listing) for s in ready})
    names = [chosen([ready[i].model for i in _at_home(ready, group)], everywhere) for group in groups]
    elsewhere: dict[str, int] = {}
    for number, (name, group) in enumerate(zip(names, groups, strict=True)):
        if name is not None and len(group) > 1:
            elsewhere.setdefault(name, number)
    changed: dict[int, Sheet] = {}
    for number, (name, group) in enumerate(zip(names, groups, strict=True)):
        for i in group:
            sheet = ready[i]
            if name is None or name == sheet.model:
                continue
            lists = sorted({ready[j].listing for j in group if ready[j].model == name})
            twin = any(ready[j].listing == sheet.listing and ready[j].model == name for j in group)
            if _second_name(ready, group, name, sheet.model, everywhere[sheet.model]):
                continue
            swapped = elsewhere.get(sheet.model, number) != number
            changed[i] = _renamed(sheet, name, lists, twin, swapped)
    done = [changed.get(i, s) for i, s in enumerate(ready)]
    return single([s for s in sheets if not s.usable] + done)


def _second_name(sheets: Sequence[Sheet], group: list[int], name: str, other: str, lists: int) -> bool:
    """Whether a model goes by a second name beside its own in several lists, and nothing else has that name."""
    own, second = ({sheets[i].listing for i in group if sheets[i].model == m} for m in (name, other))
    return len(second) > 1 and second <= own and lists - len(second) <= 1


def _at_home(sheets: Sequence[Sheet], group: list[int]) -> list[int]:
    """Those whose name counts: a file that lies at the place of another list says little about whose it is."""
    return [i for i in group if not sheets[i].home] or group


def _renamed(sheet: Sheet, name: str, lists: list[str], twin: bool, swapped: bool) -> Sheet:
    evidence = (
        f"on images shared with {', '.join(lists)} it names the same class first as {name} there on at least "
        f"{100 * SAME:.0f} %"
    )
    if twin:
        return sheet.left_out(
            "one model's predictions under two names", f"it holds those of {name}", evidence
        )
    if swapped:
        evidence += f", and as {sheet.model} there it does not"
        return sheet.corrected("models exchanged", f"it holds predictions of {name}", evidence, model=name)
    return sheet.corrected(
        "name of a model differs", f"{sheet.model}, in other lists {name}", evidence, model=name
    )


def single(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The sheets with one of a model and list: the one at its place, otherwise the first by file."""
    kept: dict[tuple[str, str], str] = {}
    for sheet in sorted(sheets, key=lambda s: (bool(s.home), s.file)):
        if sheet.usable:
            kept.setdefault((sheet.listing, sheet.model), sheet.file)
    out = []
    for sheet in sheets:
        file = kept.get((sheet.listing, sheet.model), sheet.file)
        if sheet.usable and file != sheet.file:
            evidence = f"{file} holds that model's predictions for {sheet.listing}"
            sheet = sheet.left_out(
                "predictions not needed", f"for {sheet.listing}, as {sheet.model}", evidence
            )
        out.append(sheet)
    return out


def _of_one_model(sheets: Sequence[Sheet], common: Overlaps) -> list[list[int]]:
    """Places of sheets in groups that are one model's, in the order of each group's first."""
    by_list: dict[str, list[int]] = defaultdict(list)
    for i, sheet in enumerate(sheets):
        by_list[sheet.listing].append(i)
    edges = [
        edge
        for (one, other), places in common.items()
        if one in by_list and other in by_list
        for edge in _same(sheets, by_list[one], by_list[other], *places)
    ]
    return components(range(len(sheets)), edges)


def _same(
    sheets: Sequence[Sheet], ones: list[int], others: list[int], here: Ints, there: Ints
) -> list[tuple[int, int]]:
    step = max(1, len(here) // MOST)
    left = np.ascontiguousarray(first([sheets[i] for i in ones])[:, here[::step]])
    right = np.ascontiguousarray(first([sheets[j] for j in others])[:, there[::step]])
    least = SAME * left.shape[1]
    return [
        (i, j)
        for a, i in enumerate(ones)
        for b, j in enumerate(others)
        if np.count_nonzero(left[a] == right[b]) >= least
    ]


def unlike_itself(sheets: Sequence[Sheet], common: Overlaps) -> list[Sheet]:
    """Sheets with a report where a model says other things of the same images than in most lists."""
    place = {(s.listing, s.model): i for i, s in enumerate(sheets) if s.usable}
    seen: dict[int, list[tuple[float, int, str]]] = defaultdict(list)
    for (one, other), (here, there) in common.items():
        for i, sheet in enumerate(sheets):
            if sheet.listing == one and sheet.usable and (j := place.get((other, sheet.model))) is not None:
                share = float((sheet.values[here, 0] == sheets[j].values[there, 0]).mean())
                seen[i].append((share, len(here), other))
                seen[j].append((share, len(here), one))
    out = list(sheets)
    for i, found in seen.items():
        unlike = [f for f in found if f[0] < SAME]
        if 2 * len(unlike) > len(found):
            share, images, listing = min(unlike)
            detail = f"the same class first on {100 * share:.1f} % of {images:,} images shared with {listing}"
            out[i] = sheets[i].fault("different predictions for the same images", detail)
    return out
