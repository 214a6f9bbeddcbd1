"""The chain of revisions of a set: sampled, looked at, sampled again without what was objected to, and so on.

Verdicts determine the chain. Revision 0 is sampled without any; revision r + 1 is sampled without the images that
verdicts of rounds up to r object to. An image objected to is taken for no class: the objections are to the
photograph (a drawing, blurred, edited), and the released code's blacklist is one of images too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from imagenetv2.randomness import generator
from imagenetv2.sampling.eligibility import Demands, eligible
from imagenetv2.sampling.plan import Plan
from imagenetv2.sampling.pool import Chosen, Request
from imagenetv2.sampling.rules import RULES
from imagenetv2.sampling.staying import touched
from imagenetv2.sampling.verdicts import Verdict, objections


@dataclass(frozen=True, slots=True)
class FilledClass:
    """A class of a revision. ``missing`` is empty where it holds as many images as wanted."""

    images: tuple[Chosen, ...]
    eligible: int
    dropped: Mapping[str, int]
    missing: str

    @property
    def ids(self) -> tuple[str, ...]:
        """Its image_ids, sorted."""
        return tuple(sorted(c.image_id for c in self.images))


@dataclass(frozen=True)
class Revision:
    """A revision: its classes by WordNet ID, and the images that were blacklisted when it was sampled."""

    number: int
    classes: Mapping[str, FilledClass]
    blacklist: frozenset[str]


def first(plan: Plan) -> Revision:
    """Revision 0."""
    blacklist = frozenset(plan.eligibility.blacklist)
    return Revision(0, {w: _fill(plan, w, 0, blacklist, ()) for w in plan.pools}, blacklist)


def following(plan: Plan, before: Revision, objections: Iterable[str]) -> Revision:
    """The revision after ``before`` without the images objected to.

    Classes none of whose candidates are among these, nor in one component with any of them, keep their images: every
    rule would give the same again. Where the image kept of a component is objected to, the next of it may be taken, for
    whichever class it is of.
    """
    new = frozenset(objections) - before.blacklist
    blacklist = before.blacklist | new
    number = before.number + 1
    classes = dict(before.classes)
    follow = touched(plan.components, plan.of_image, new)
    for wnid, pool in plan.pools.items():
        if wnid in follow or not new.isdisjoint(c.image_id for c in pool.candidates):
            classes[wnid] = _fill(plan, wnid, number, blacklist, before.classes[wnid].images)
    return Revision(number, classes, blacklist)


def replay(plan: Plan, verdicts: Sequence[Verdict]) -> list[Revision]:
    """All revisions that the verdicts lead to, from 0; the last one is the one to be looked at, or is done.

    Raises ValueError as ``last_revision`` does.
    """
    last = last_revision(verdicts)
    chain = [first(plan)]
    for number in range(last):
        chain.append(following(plan, chain[-1], objections(verdicts, number)))
    return chain


def last_revision(verdicts: Sequence[Verdict]) -> int:
    """Number of the revision that the verdicts lead to: one more than the last round with an objection.

    Raises ValueError for a verdict on a revision that those before it do not lead to.
    """
    last = 0
    for number, verdict in enumerate(verdicts):
        if not 0 <= verdict.round <= last:
            raise ValueError(
                f"verdict {number} (from 0) is on revision {verdict.round}, but those before it lead to "
                f"revision {last}"
            )
        if verdict.blacklisted:
            last = max(last, verdict.round + 1)
    return last


def reviewed(revision: Revision, verdicts: Iterable[Verdict]) -> set[str]:
    """WordNet IDs of the classes whose present images were looked at and that nobody objected to.

    The review of an earlier revision counts as long as the images of the class are the same.
    """
    accepted: set[str] = set()
    refused: set[str] = set()
    for verdict in verdicts:
        filled = revision.classes.get(verdict.wnid)
        if filled is not None and filled.images and tuple(sorted(verdict.images)) == filled.ids:
            (refused if verdict.blacklisted else accepted).add(verdict.wnid)
    return accepted - refused


def waiting(revision: Revision, verdicts: Iterable[Verdict]) -> list[str]:
    """WordNet IDs of the classes that hold images and must be looked at, in the order of the classes."""
    done = reviewed(revision, verdicts)
    return [w for w, filled in revision.classes.items() if filled.images and w not in done]


def _fill(
    plan: Plan, wnid: str, number: int, blacklist: frozenset[str], previous: tuple[Chosen, ...]
) -> FilledClass:
    rule, pool, wanted = RULES[plan.rule], plan.pools[wnid], plan.eligibility.per_class
    lowest = rule.lowest(plan.settings, wnid)
    demands = Demands(blacklist, plan.eligibility.minimum_votes, lowest, plan.components)
    taken, dropped = eligible(pool, demands)
    enough = tuple(v for v in pool.validation if v[1] >= plan.eligibility.minimum_votes)
    rng = generator(plan.seed, "sampling", plan.rule, number, wnid)
    drawn = rule.draw(Request(wnid, number, taken, previous, enough, wanted, plan.settings, rng))
    missing = wanted - len(drawn.images)
    return FilledClass(
        drawn.images,
        len(taken),
        dropped,
        _missing(missing, wanted, drawn.why, len(pool.candidates), len(taken), dropped) if missing else "",
    )


def _missing(missing: int, wanted: int, why: str, candidates: int, taken: int, dropped: Counter[str]) -> str:
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(dropped.items())]
    among = f"{taken} of {candidates} candidates are eligible" + (f" ({', '.join(counts)})" if counts else "")
    return f"{missing} of {wanted} images: {why + '; ' if why else ''}{among}"
