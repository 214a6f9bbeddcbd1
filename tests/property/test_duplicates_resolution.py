"""What holds for every pool, all verdicts and every blacklist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.fates import Candidates, entries, fates
from imagenetv2.duplicates.settings import Duplicates
from imagenetv2.sampling import staying

NAMES = [f"{i}" for i in range(8)]
ORIGINALS = ("t1", "t2")
CLASSES = ("n1", "n2", "n3")
LEVELS = (Fraction(7, 10), Fraction(6, 10))
names = st.sampled_from(NAMES)
counts = st.one_of(
    st.just((0, 0)), st.integers(0, 10).map(lambda n: (n, 10)), st.integers(0, 20).map(lambda n: (n, 20))
)
votes = st.dictionaries(st.tuples(names, st.sampled_from(CLASSES)), counts, min_size=1, max_size=14)
verdicts = st.sampled_from(["duplicate", "duplicate", "duplicate", "different", "unreviewed"])
pairs = st.dictionaries(
    st.tuples(names, st.sampled_from([*NAMES, *ORIGINALS])).filter(lambda p: p[0] < p[1]),
    verdicts,
    max_size=9,
)
many = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


@settings(deadline=None)
@given(st.sets(names), st.lists(st.tuples(names, names), max_size=12))
def test_components_equal_networkx(images: set[str], edges: list[tuple[str, str]]) -> None:
    graph = networkx.Graph(edges)
    graph.add_nodes_from(images)
    assert components(images, edges) == sorted(map(sorted, networkx.connected_components(graph)))


@dataclass(frozen=True)
class World:
    """Votes by image and class, verdicts by pair, and the photographs that images share."""

    votes: Mapping[tuple[str, str], tuple[int, int]]
    pairs: Mapping[tuple[str, str], str]
    photographs: Mapping[str, str]

    def renamed(self, names: Mapping[str, str]) -> World:
        """The same with other image_ids."""
        return World(
            {(names[i], w): v for (i, w), v in self.votes.items()},
            {tuple(sorted((names[a], names[b]))): v for (a, b), v in self.pairs.items()},  # type: ignore[misc]
            {names[i]: p for i, p in self.photographs.items()},
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Pairs of candidates of the pool, and of these and two original images."""
    asked = draw(votes)
    pool = {image for image, _ in asked}
    found = {p: v for p, v in draw(pairs).items() if p[0] in pool and p[1] in {*pool, *ORIGINALS}}
    return World(asked, found, draw(st.dictionaries(st.sampled_from(sorted(pool)), st.sampled_from("pq"))))


def decided(world: World, override: Mapping[str, str] | None = None, seed: int = 0) -> pd.DataFrame:
    """The table of fates, from rows in any order."""
    rows = pd.DataFrame(
        [(*key, *value, "candidates") for key, value in world.votes.items()],
        columns=["image_id", "wnid", "selected", "shown", "origin"],
    ).sample(frac=1, random_state=seed)
    table = pd.DataFrame(
        [
            (*p, "train" if p[1] in ORIGINALS or p[1].startswith("t") else "candidates", v)
            for p, v in world.pairs.items()
        ],
        columns=["image_id", "neighbour_id", "origin", "verdict"],
    ).sample(frac=1, random_state=seed)
    copies = pd.DataFrame(list(world.photographs.items()), columns=["image_id", "photo_id"])
    pool = Candidates(entries(rows[["image_id", "wnid"]], rows), copies.sample(frac=1, random_state=seed))
    return fates(pool, table, Duplicates(override=dict(override or {}), good_frequencies=(0.7, 0.6)))


def connected(world: World) -> dict[str, set[str]]:
    """The images that each is connected to, by joining sets until nothing changes."""
    group = {image: {image} for image, _ in world.votes} | {t: {t} for t in ORIGINALS}
    joined = [p for p, v in world.pairs.items() if v == "duplicate"]
    joined += [(a, b) for a, p in world.photographs.items() for b, q in world.photographs.items() if p == q]
    for _ in range(len(group)):
        for one, other in joined:
            both = group[one] | group[other]
            for image in both:
                group[image] = both
    return group


def stays(world: World, among: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The entry that the definition keeps of some, word by word."""
    left = sorted(among)
    if not left:
        return None
    share = {e: Fraction(*v) if (v := world.votes[e])[1] else Fraction(0) for e in world.votes}
    best = {w: max(share[e] for e in left if e[1] == w) for _, w in left}
    able, count = {w for w in best if best[w] == max(best.values())}, dict.fromkeys(best, 0)
    for level in LEVELS:
        if any(value >= level for value in best.values()):
            able = {w for w, value in best.items() if value >= level}
            count = {w: sum(share[e] >= level for e in share if e[1] == w) for w in best}
            break
    wnid = min(able, key=lambda w: (count[w], -best[w], w))
    of_class = [e for e in left if e[1] == wnid]
    return min(of_class, key=lambda e: (-share[e], -world.votes[e][1], e[0]))


def taken(table: pd.DataFrame, blacklist: set[str], few: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What sampling makes of each candidate that is not blacklisted nor has too few votes: free, dropped, unreviewed."""
    rows = list(table[["image_id", "wnid", "component", "fate", "place"]].itertuples(index=False, name=None))
    known = staying.components(rows, few)
    return {
        (image, wnid): known[component].fate(image, wnid, blacklist) if component else fate
        for image, wnid, component, fate, _ in rows
        if image not in blacklist and (image, wnid) not in few
    }


@many
@given(worlds())
def test_the_order_is_what_stays_when_those_before_are_taken_away(world: World) -> None:
    table, group = decided(world), connected(world)
    for image in {i for i, _ in world.votes}:
        inside = {e for e in world.votes if e[0] in group[image]}
        part = table[table["image_id"].isin(group[image])].sort_values("place")
        ordered = [(r["image_id"], r["wnid"]) for r in part.to_dict("records")]
        assert set(ordered) == inside
        if group[image] & set(ORIGINALS):
            assert set(part["place"]) == {-1} and set(part["fate"]) == {"dropped"}
            continue
        assert part["place"].tolist() == list(range(len(inside)))
        for place, entry in enumerate(ordered):
            assert stays(world, ordered[place:]) == entry
        assert (part["fate"][1:] == "dropped").all()
        waiting = any(v == "unreviewed" and set(p) & group[image] for p, v in world.pairs.items())
        expected = "unreviewed" if waiting else "kept" if len(inside) > 1 else "free"
        assert part["fate"].iloc[0] == expected
        assert set(part["component"]) == ({min(group[image])} if len(inside) > 1 else {""})


@many
@given(worlds(), st.lists(st.sets(names, max_size=3), min_size=1, max_size=4), st.sampled_from([0, 10, 15]))
def test_of_each_component_the_first_is_taken_that_is_not_blacklisted_and_has_enough_votes(
    world: World, steps: list[set[str]], minimum: int
) -> None:
    table, group = decided(world), connected(world)
    few = {entry for entry, (_, shown) in world.votes.items() if shown < minimum}
    blacklist: set[str] = set()
    before: set[tuple[str, str]] = set()
    for step in [set(), *steps]:
        blacklist |= step
        now = {e for e, fate in taken(table, blacklist, few).items() if fate in ("free", "kept")}
        assert {e for e in before if e[0] not in blacklist} <= now
        for image in {i for i, _ in world.votes}:
            chosen = {e for e in now if e[0] in group[image]}
            left = {e for e in set(world.votes) - few if e[0] in group[image] - blacklist}
            waiting = any(v == "unreviewed" and set(p) & group[image] for p, v in world.pairs.items())
            if waiting or group[image] & set(ORIGINALS) or not left:
                assert not chosen
            else:
                assert chosen == {stays(world, left)}
        before = now


@many
@given(worlds(), st.integers(1, 999))
def test_row_order_does_not_matter(world: World, seed: int) -> None:
    pd.testing.assert_frame_equal(decided(world), decided(world, seed=seed))


@many
@given(worlds(), st.permutations(NAMES))
def test_ids_matter_in_ties_only(world: World, shuffled: list[str]) -> None:
    shares = [Fraction(*v) if v[1] else Fraction(0) for v in world.votes.values()]
    votes = {e: v for (e, v), s in zip(world.votes.items(), shares, strict=True) if shares.count(s) == 1}
    pool = {i for i, _ in votes}
    world = World(
        votes,
        {p: v for p, v in world.pairs.items() if set(p) <= {*pool, *ORIGINALS}},
        {i: p for i, p in world.photographs.items() if i in pool},
    )
    new = {**dict(zip(NAMES, (f"r{n}" for n in shuffled), strict=True)), **{t: t for t in ORIGINALS}}
    one, other = decided(world), decided(world.renamed(new))
    left = {(new[r["image_id"]], r["wnid"]): (r["fate"], r["place"]) for r in one.to_dict("records")}
    right = {(r["image_id"], r["wnid"]): (r["fate"], r["place"]) for r in other.to_dict("records")}
    assert left == right


@many
@given(worlds(), st.data())
def test_an_override_moves_one_image_to_the_front_of_its_component(world: World, data: st.DataObject) -> None:
    group = connected(world)
    image = data.draw(st.sampled_from(sorted({i for i, _ in world.votes})))
    kept = data.draw(st.sampled_from(sorted(group[image] - set(ORIGINALS))))
    usual, changed = decided(world), decided(world, {image: kept})

    def order(table: pd.DataFrame) -> list[Any]:
        part = table[table["image_id"].isin(group[image]) & (table["place"] >= 0)].sort_values("place")
        return list(zip(part["image_id"], part["wnid"], strict=True))

    assert order(changed) == sorted(order(usual), key=lambda e: e[0] != kept)
    elsewhere = ~usual["image_id"].isin(group[image])
    pd.testing.assert_frame_equal(usual[elsewhere], changed[elsewhere])
