"""All checks of predictions in their order: each makes the ground firmer for the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks import columns, copies, exchanges, line, parts, shared, spellings
from imagenetv2.record.sheets import Sheet, usable


def checked(
    sheets: Sequence[Sheet], listings: Mapping[str, Listing], compared: Sequence[str], count: int
) -> list[Sheet]:
    """The sheets after every check that looks at several of them.

    Args:
        sheets: rows in the order of the images of their list (see ``rows.align``).
        listings: by name.
        compared: names of the lists whose models are compared; revisions on the way only bear witness.
        count: number of classes.
    """
    done = [s for s in sheets if not s.usable]
    ranked: dict[str, list[Sheet]] = {}
    together: dict[str, float] = {}
    for name, target in sorted(listings.items()):
        ready = [s for s in sheets if s.usable and s.listing == name]
        ready = columns.ranked(ready, target.classes, count)
        done += [s for s in ready if not s.usable]
        ranked[name] = [s for s in ready if s.usable]
        together |= parts.correlations(ranked[name], target)
    usual = parts.usual_by_model([s for ready in ranked.values() for s in ready], together)
    for name, ready in ranked.items():
        done += parts.in_place(ready, listings[name], together, usual)
    common = shared.overlaps(listings)
    done = shared.named(done, common)
    done = spellings.renamed(done, compared)
    done = copies.twice(done, compared)
    done = exchanges.exchanged(done, compared, listings)
    done = shared.unlike_itself(done, common)
    return line.out_of_line(done, listings, [c for c in compared if usable(done, c)])
