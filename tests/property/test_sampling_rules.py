"""The three rules against their definitions, on classes of any shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imagenetv2.decimals import exact
from imagenetv2.sampling import matched_frequency, staying, threshold, top_images
from imagenetv2.sampling.bins import bin_of, scale
from imagenetv2.sampling.eligibility import REASONS, Demands, eligible
from imagenetv2.sampling.plan import Plan
from imagenetv2.sampling.pool import Candidate, Chosen, Pool, Request
from imagenetv2.sampling.revisions import first, following, replay, reviewed, waiting
from imagenetv2.sampling.rules import RULES
from imagenetv2.sampling.settings import Eligibility, MatchedFrequency, Threshold, TopImages
from imagenetv2.sampling.verdicts import Verdict

SECTIONS: dict[str, Any] = {
    "threshold": Threshold(),
    "top_images": TopImages(),
    "matched_frequency": MatchedFrequency(minimum_validation=1),
}
many = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
few = settings(many, max_examples=40)
EDGES = [Fraction(k, 5) for k in range(1, 5)]

votes = st.integers(10, 14).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@st.composite
def candidates(draw: st.DrawFn, least: int = 0, most: int = 30) -> tuple[Candidate, ...]:
    """Candidates of one class by image_id, some of which no rule may take."""
    found = draw(st.lists(st.tuples(votes, st.sampled_from(["free", "kept", "dropped", "unreviewed"]), st.booleans()),
                          min_size=least, max_size=most))  # fmt: skip
    return tuple(
        Candidate(f"i{k:02d}", 9 if few else n, min(s, 9) if few else s, fate)
        for k, ((s, n), fate, few) in enumerate(found)
    )


@st.composite
def free(draw: st.DrawFn) -> tuple[Candidate, ...]:
    """Eligible candidates only, with ids that say nothing of their votes."""
    found = draw(st.lists(votes, max_size=30))
    return tuple(Candidate(f"i{k:02d}", n, s, "free") for k, (s, n) in enumerate(found))


def request(images: tuple[Candidate, ...], section: Any, wanted: int, **rest: Any) -> Request:
    return Request(
        "n1", rest.pop("revision", 1), images, tuple(rest.pop("previous", ())), tuple(rest.pop("validation", ())),
        wanted, section, np.random.default_rng(rest.pop("seed", 0)),
    )  # fmt: skip


def own_bin(candidate: Candidate) -> int:
    """By another road than ``bins.bin_of``: a fifth of the fraction, 1 in the last."""
    return min(int(Fraction(candidate.selected, candidate.shown) * 5), 4)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.integers(0, 40))
@many
def test_scaled_counts_are_the_largest_remainders(counts: list[int], total: int) -> None:
    shares = [Fraction(c * total, sum(counts)) for c in counts]
    expected = [s.numerator // s.denominator for s in shares]
    for _ in range(total - sum(expected)):
        lag = [s - e for s, e in zip(shares, expected, strict=True)]
        expected[max(b for b, value in enumerate(lag) if value == max(lag))] += 1
    assert scale(counts, total) == expected
    assert sum(expected) == total


@given(votes)
@many
def test_bins_hold_their_lower_edge_exactly(pair: tuple[int, int]) -> None:
    assert bin_of(*pair, EDGES) == own_bin(Candidate("i", pair[1], pair[0], "free"))
    assert [exact(e) for e in MatchedFrequency().edges] == EDGES


@given(candidates(), st.sets(st.integers(0, 29)), st.sampled_from([None, Fraction(7, 10)]))
@many
def test_first_failing_reason(
    images: tuple[Candidate, ...], black: set[int], lowest: Fraction | None
) -> None:
    blacklist = {f"i{k:02d}" for k in black}
    expected: Counter[str] = Counter()
    for c in images:
        fails = [
            c.image_id in blacklist,
            c.shown < 10,
            lowest is not None and Fraction(c.selected, c.shown) < lowest,
            c.fate == "dropped",
            c.fate == "unreviewed",
        ]
        if any(fails):
            expected[REASONS[fails.index(True)]] += 1
    taken, dropped = eligible(Pool("n1", images, ()), Demands(blacklist, 10, lowest))
    assert dropped == expected
    assert len(taken) == len(images) - expected.total()


@given(free(), st.integers(1, 12), st.data())
@many
def test_threshold_carries_over_in_order_and_draws_the_rest(
    images: tuple[Candidate, ...], wanted: int, data: st.DataObject
) -> None:
    ids = [c.image_id for c in images]
    old = data.draw(st.permutations([*ids, "gone"]))[: data.draw(st.integers(0, wanted))]
    previous = [Chosen(i, -1, -1, 0, "drawn") for i in old]
    drawn = threshold.draw(request(images, Threshold(), wanted, previous=previous)).images
    kept = [i for i in old if i in ids]
    assert [c.image_id for c in drawn][: len(kept)] == kept
    assert len({c.image_id for c in drawn}) == len(drawn) == min(wanted, len(ids))
    assert all(c.entered == (0 if c.image_id in kept else 1) for c in drawn)


@given(free(), st.integers(1, 12), st.data())
@many
def test_top_images_leave_none_better_behind(
    images: tuple[Candidate, ...], wanted: int, data: st.DataObject
) -> None:
    before = set(data.draw(st.lists(st.sampled_from([c.image_id for c in images] or ["none"]))))
    previous = [Chosen(i, -1, -1, 0, "ranked") for i in before]
    drawn = [
        c.image_id for c in top_images.draw(request(images, TopImages(), wanted, previous=previous)).images
    ]
    by_id = {c.image_id: c for c in images}

    def beats(a: Candidate, b: Candidate) -> bool:
        left, right = a.selected * b.shown, b.selected * a.shown
        if left != right:
            return left > right
        if a.shown != b.shown:
            return a.shown > b.shown
        if (a.image_id in before) != (b.image_id in before):
            return a.image_id in before
        return a.image_id > b.image_id

    assert len(drawn) == min(wanted, len(images))
    assert all(beats(by_id[a], by_id[b]) for a, b in pairwise(drawn))
    out = [c for c in images if c.image_id not in drawn]
    assert all(beats(by_id[i], c) for i in drawn for c in out)


def expected_upward(counts: list[int], targets: list[int]) -> Counter[tuple[int, int]]:
    """How many images of each own bin fill each bin, one image at a time, without a previous revision."""
    left, filled = list(counts), Counter[tuple[int, int]]()
    short = []
    for b, target in enumerate(targets):
        filled[b, b] = min(target, left[b])
        left[b] -= filled[b, b]
        short += [b] * (target - filled[b, b])
    for b in short:
        source = next((h for h in range(b + 1, len(left)) if left[h]), None)
        if source is not None:
            left[source] -= 1
            filled[b, source] += 1
    return +filled


@given(free(), st.lists(votes, min_size=1, max_size=30), st.integers(1, 12))
@many
def test_matched_frequency_fills_the_validation_histogram(
    images: tuple[Candidate, ...], validation: list[tuple[int, int]], wanted: int
) -> None:
    section = SECTIONS["matched_frequency"]
    drawn = matched_frequency.draw(request(images, section, wanted, validation=validation))
    counts = Counter(own_bin(c) for c in images)
    wish = Counter(own_bin(Candidate("v", n, s, "free")) for s, n in validation)
    targets = scale([wish[b] for b in range(5)], wanted)
    own = {c.image_id: own_bin(c) for c in images}
    assert all(c.own_bin == own[c.image_id] >= c.bin for c in drawn.images)
    assert all((c.how == "taken_upward") == (c.own_bin > c.bin) for c in drawn.images)
    got = Counter((c.bin, c.own_bin) for c in drawn.images)
    assert got == expected_upward([counts[b] for b in range(5)], targets)
    assert len({c.image_id for c in drawn.images}) == len(drawn.images)
    assert bool(drawn.why) == (len(drawn.images) < wanted)
    if all(counts[b] >= targets[b] for b in range(5)):
        assert [sum(c.own_bin == b for c in drawn.images) for b in range(5)] == targets


@given(free(), st.lists(votes, min_size=1, max_size=20), st.integers(1, 12), st.data())
@many
def test_matched_frequency_keeps_previous_images_in_their_bins(
    images: tuple[Candidate, ...], validation: list[tuple[int, int]], wanted: int, data: st.DataObject
) -> None:
    own = {c.image_id: own_bin(c) for c in images}
    old = data.draw(st.lists(st.sampled_from(list(own) or ["none"]), unique=True))
    previous = [Chosen(i, data.draw(st.integers(0, own[i])), own[i], 0, "drawn") for i in old if i in own]
    drawn = matched_frequency.draw(
        request(images, SECTIONS["matched_frequency"], wanted, validation=validation, previous=previous)
    )
    wish = Counter(own_bin(Candidate("v", n, s, "free")) for s, n in validation)
    targets = scale([wish[b] for b in range(5)], wanted)
    for b, target in enumerate(targets):
        was = {c.image_id for c in previous if c.bin == b}
        stayed = [c for c in drawn.images if c.bin == b and c.entered == 0]
        assert {c.image_id for c in stayed} <= was
        assert len(stayed) == min(len(was), target)
        assert sum(c.bin == b for c in drawn.images) <= target
    # Taken upward: previous images go first, and nothing is left in a bin that was passed over.
    used = {c.image_id for c in drawn.images}
    left = {i: o for i, o in own.items() if i not in used}
    for c in drawn.images:
        if c.how == "taken_upward" and c.entered == 1:
            assert not [i for i, o in left.items() if c.bin < o < c.own_bin]
            if c.image_id not in old:
                assert not [i for i, o in left.items() if o == c.own_bin and i in old]


@given(st.sampled_from(sorted(RULES)), free(), st.lists(votes, min_size=1, max_size=20), st.data())
@many
def test_row_order_does_not_matter(
    rule: str, images: tuple[Candidate, ...], validation: list[tuple[int, int]], data: st.DataObject
) -> None:
    mixed = tuple(data.draw(st.permutations(images)))
    draw, section = RULES[rule].draw, SECTIONS[rule]
    assert draw(request(images, section, 7, validation=validation)) == draw(
        request(mixed, section, 7, validation=data.draw(st.permutations(validation)))
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Three classes that share some photographs."""
    rule = draw(st.sampled_from(sorted(RULES)))
    pools = {}
    for wnid in ("n1", "n2", "n3"):
        images = draw(candidates(most=20))
        shift = draw(st.sampled_from([0, 10]))
        images = tuple(replace(c, image_id=f"i{k + shift:02d}") for k, c in enumerate(images))
        pools[wnid] = Pool(wnid, images, tuple(draw(st.lists(votes, max_size=8))))
    pools, known = together(
        pools, draw(st.dictionaries(st.sampled_from(IDS), st.sampled_from("pqr"))), draw(st.randoms())
    )
    eligibility = Eligibility(per_class=draw(st.integers(1, 6)))
    return Plan(rule, pools, eligibility, SECTIONS[rule], draw(st.integers(0, 9)), known)


IDS = [f"i{k:02d}" for k in range(30)]


def together(
    pools: dict[str, Pool], groups: dict[str, str], rng: Any
) -> tuple[dict[str, Pool], dict[str, staying.Component]]:
    """The pools with the images of ``groups`` in components, whose entries have any order."""
    rows: list[staying.Row] = []
    for name in sorted(set(groups.values())):
        inside = [
            (c.image_id, w) for w, p in pools.items() for c in p.candidates if groups.get(c.image_id) == name
        ]
        rng.shuffle(inside)
        kept, start = rng.choice([("kept", 0), ("kept", 0), ("unreviewed", 0), ("dropped", -1)])
        rows += [
            (i, w, name, "dropped" if place else kept, place if start == 0 else -1)
            for place, (i, w) in enumerate(inside)
        ]
    fates = {(i, w): fate for i, w, _, fate, _ in rows}
    found = {
        w: replace(
            p,
            candidates=tuple(
                replace(c, fate=fates[c.image_id, w], component=groups[c.image_id])
                if (c.image_id, w) in fates
                else c
                for c in p.candidates
            ),
        )
        for w, p in pools.items()
    }
    few = {(c.image_id, w) for w, p in pools.items() for c in p.candidates if c.shown < 10}
    return found, staying.components(rows, few)


def next_of_each(plan: Plan, blacklist: Set[str]) -> dict[str, tuple[str, str]]:
    """By walking through the order of each component."""
    found = {}
    votes = {(c.image_id, w): c.shown for w, p in plan.pools.items() for c in p.candidates}
    for name, component in plan.components.items():
        for image, wnid in component.order:
            assert votes[image, wnid] >= plan.eligibility.minimum_votes
            if image not in blacklist:
                found[name] = (image, wnid)
                break
    return found


@given(plans(), st.lists(st.sets(st.integers(0, 29), max_size=4), max_size=4))
@few
def test_of_a_component_at_most_the_first_that_is_not_blacklisted_is_in_the_set(
    plan: Plan, steps: list[set[int]]
) -> None:
    revision = first(plan)
    for step in [set(), *steps]:
        revision = following(plan, revision, {f"i{k:02d}" for k in step})
        nexts = next_of_each(plan, revision.blacklist)
        known = {(c.image_id, w): c for w, p in plan.pools.items() for c in p.candidates}
        for wnid, filled in revision.classes.items():
            for image in filled.ids:
                assert image not in revision.blacklist
                component = known[image, wnid].component
                if component:
                    assert nexts[component] == (image, wnid)
                    assert not plan.components[component].undecided
        # No class is left as it was though it could be filled better.
        for wnid, pool in plan.pools.items():
            lowest = RULES[plan.rule].lowest(plan.settings, wnid)
            taken, dropped = eligible(pool, Demands(revision.blacklist, 10, lowest, plan.components))
            assert (revision.classes[wnid].eligible, revision.classes[wnid].dropped) == (len(taken), dropped)


@given(plans(), st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29)))
@few
def test_chain_of_revisions_ends_and_holds_only_eligible_images(
    plan: Plan, faulty: set[int], overlooked: set[int]
) -> None:
    bad = {f"i{k:02d}" for k in faulty}
    late = {f"i{k:02d}" for k in overlooked}
    verdicts: list[Verdict] = []
    revision, chain = first(plan), [first(plan)]
    for number in range(70):
        look = waiting(revision, verdicts)
        for wnid in look:
            ids = revision.classes[wnid].ids
            refused = tuple(i for i in ids if i in bad and not (number == 0 and i in late))
            verdicts.append(Verdict(number, wnid, ids, refused, ("x",) * len(refused), "simulated"))
        refused_now = {i for v in verdicts if v.round == number for i in v.blacklisted}
        if not refused_now:
            break
        revision = following(plan, revision, refused_now)
        chain.append(revision)
    else:
        raise AssertionError("the chain does not end")
    assert replay(plan, verdicts) == chain
    assert waiting(revision, verdicts) == []
    lowest = RULES[plan.rule].lowest(plan.settings, "n1")
    for wnid, filled in revision.classes.items():
        members = {c.image_id: c for c in plan.pools[wnid].candidates}
        chosen = [members[c.image_id] for c in filled.images]
        assert not {c.image_id for c in chosen} & (revision.blacklist | (bad - late))
        assert all(c.shown >= 10 for c in chosen)
        assert all(c.fate in ("free", "kept") for c in chosen if not c.component)
        assert all(lowest is None or Fraction(c.selected, c.shown) >= lowest for c in chosen)
        assert bool(filled.missing) == (len(chosen) < plan.eligibility.per_class)
        assert filled.eligible + sum(filled.dropped.values()) == len(members)
        assert (wnid in reviewed(revision, verdicts)) == bool(chosen)


@given(plans(), st.sets(st.integers(0, 29), max_size=4))
@few
def test_classes_without_newly_blacklisted_candidates_would_be_drawn_the_same(
    plan: Plan, refused: set[int]
) -> None:
    before = first(plan)
    after = following(plan, before, {f"i{k:02d}" for k in refused})
    for wnid, pool in plan.pools.items():
        lowest = RULES[plan.rule].lowest(plan.settings, wnid)
        taken, _ = eligible(
            pool, Demands(after.blacklist, plan.eligibility.minimum_votes, lowest, plan.components)
        )
        again = RULES[plan.rule].draw(
            Request(
                wnid, 2, taken, after.classes[wnid].images,
                tuple(v for v in pool.validation if v[1] >= 10), plan.eligibility.per_class, plan.settings,
                np.random.default_rng(5),
            )
        )  # fmt: skip
        assert set(again.images) == set(after.classes[wnid].images)
    kept = {w: {c.image_id for c in f.images} - after.blacklist for w, f in before.classes.items()}
    if plan.rule != "top_images":
        assert all(kept[w] <= set(f.ids) for w, f in after.classes.items())
