"""What holds for every pool and all verdicts."""

from __future__ import annotations

import networkx
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.resolution import fates

NAMES = [f"{i}" for i in range(8)]
names = st.sampled_from(NAMES)
votes = st.dictionaries(
    st.tuples(names, st.sampled_from(["n1", "n2"])), st.integers(0, 10), min_size=1, max_size=12
)
verdicts = st.sampled_from(["duplicate", "duplicate", "different", "unreviewed"])
pairs = st.dictionaries(
    st.tuples(names, st.sampled_from([*NAMES, "t1", "t2"])).filter(lambda p: p[0] != p[1]),
    verdicts,
    max_size=10,
)


@settings(deadline=None)
@given(st.sets(names), st.lists(st.tuples(names, names), max_size=12))
def test_components_equal_networkx(images: set[str], edges: list[tuple[str, str]]) -> None:
    graph = networkx.Graph(edges)
    graph.add_nodes_from(images)
    assert components(images, edges) == sorted(map(sorted, networkx.connected_components(graph)))


@settings(deadline=None, max_examples=40)
@given(votes, pairs, st.randoms(use_true_random=False))
def test_of_each_component_one_stays_or_none(
    selected: dict[tuple[str, str], int], found: dict[tuple[str, str], str], random: object
) -> None:
    rows = pd.DataFrame(
        [(*key, value) for key, value in selected.items()], columns=["image_id", "wnid", "selected"]
    )
    rows = rows.assign(shown=10, origin="candidates")
    pool = set(rows["image_id"])
    table = pd.DataFrame(
        [
            (*key, "train" if key[1].startswith("t") else "candidates", v)
            for key, v in found.items()
            if key[0] in pool
        ],
        columns=["image_id", "neighbour_id", "origin", "verdict"],
    )
    table = table[(table["origin"] == "train") | table["neighbour_id"].isin(pool)]
    copies = pd.DataFrame(columns=["image_id", "photo_id"])
    decided = fates(rows[["image_id", "wnid"]], copies, rows, table, (0.7, 0.6))
    assert len(decided) == len(rows)
    for component, part in decided[decided["component"] != ""].groupby("component"):
        staying = part["fate"].isin(["kept", "unreviewed"])
        originals = part["reason"].str.startswith("the original image")
        assert originals.all() or (staying.sum() == 1 and not originals.any()), component
    waiting = set(
        table.loc[table["verdict"] == "unreviewed", ["image_id", "neighbour_id"]].to_numpy().ravel()
    )
    assert not decided.loc[decided["image_id"].isin(waiting), "fate"].isin(["free", "kept"]).any()
    shuffled = rows.sample(frac=1, random_state=random.randrange(1000))  # type: ignore[attr-defined]
    again = fates(shuffled[["image_id", "wnid"]], copies, shuffled, table.iloc[::-1], (0.7, 0.6))
    columns = ["image_id", "wnid", "component", "fate"]
    assert again[columns].equals(decided[columns])
