"""Selection frequencies and workers, against counts made by hand and by crowd-kit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from imagenetv2.annotation import frequencies
from imagenetv2.annotation.frequencies import votes, workers
from imagenetv2.job import Job


def tasks(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """Rows of task, wnid, image and role; positions count up within a task."""
    table = pd.DataFrame(rows, columns=["task_id", "wnid", "image_id", "role"])
    table["position"] = table.groupby("task_id").cumcount()
    table["origin"] = np.where(table["role"] == "candidate", "candidates", "reference")
    table["token"] = [f"{n:032x}" for n in range(len(table))]
    return table


def assignments(*rows: tuple[str, str, list[int]], status: str = "Approved") -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["task_id", "worker", "selected"])
    return table.assign(
        hit_id="H",
        assignment_id=[f"A{n}" for n in range(len(rows))],
        status=status,
        seconds=range(10, 10 + len(rows)),
    )


TWO = tasks(
    ("a-0", "a", "x", "candidate"), ("a-0", "a", "v", "validation"), ("a-0", "a", "n", "negative"),
    ("a-1", "a", "y", "candidate"), ("a-1", "a", "v", "positive"), ("a-1", "a", "n", "negative"),
    ("b-0", "b", "x", "candidate"), ("b-0", "b", "n", "validation"),
)  # fmt: skip


def counted(answered: pd.DataFrame, level: float = 0.95) -> dict[tuple[str, str], tuple[Any, ...]]:
    table = frequencies.frequencies(votes(TWO, answered), level)
    return {
        (r.image_id, r.wnid): (r.selected, r.shown, r.origin, r.negative) for r in table.itertuples()
    }  # fmt: skip


def test_one_vote_a_worker_image_and_class_and_the_earliest_task_counts() -> None:
    answered = assignments(("a-1", "w", []), ("a-0", "w", [1, 2]), ("a-1", "u", [1]), ("b-0", "w", [0, 1]))
    assert counted(answered) == {
        ("x", "a"): (0, 1, "candidates", False),
        ("y", "a"): (0, 2, "candidates", False),
        ("v", "a"): (2, 2, "reference", False),
        ("n", "a"): (1, 2, "reference", True),
        ("x", "b"): (1, 1, "candidates", False),
        ("n", "b"): (1, 1, "reference", False),
    }


def test_submitted_and_approved_answers_count_and_rejected_ones_do_not() -> None:
    answered = pd.concat(
        [
            assignments(("a-0", "w", [0])),
            assignments(("a-0", "u", [0]), status="Rejected"),
            assignments(("a-0", "z", []), status="Submitted"),
        ]
    )
    assert counted(answered)["x", "a"][:2] == (1, 2)
    assert set(workers(votes(TWO, answered), answered)["worker"]) == {"w", "z"}


def test_answers_without_any_tick_are_votes() -> None:
    assert counted(assignments(("b-0", "w", []), ("b-0", "u", [])))["x", "b"][:2] == (0, 2)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_are_exact(level: float) -> None:
    ticked = [[0] if n < 7 else [] for n in range(10)]
    answered = assignments(*(("b-0", f"w{n}", t) for n, t in enumerate(ticked)))
    row = frequencies.frequencies(votes(TWO, answered), level).set_index("image_id").loc["x"]
    exact = binomtest(7, 10).proportion_ci(level, "exact")
    assert row["frequency"] == 0.7
    assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.filterwarnings("ignore::Warning")  # crowd-kit calls what pandas deprecates
def test_frequencies_are_crowdkits_label_distribution() -> None:
    from crowdkit.aggregation import MajorityVote as majority

    rng = np.random.default_rng(5)
    answered = assignments(
        *((task, f"w{w}", [p for p in range(size) if rng.random() < 0.5]) for task, size in (("a-0", 3), ("b-0", 2)) for w in range(9))
    )  # fmt: skip
    cast = votes(TWO, answered)
    long = pd.DataFrame(
        {
            "task": cast["image_id"] + " " + cast["wnid"],
            "worker": cast["worker"],
            "label": cast["selected"].astype(int),
        }
    )
    expected = majority().fit_predict_proba(long).reindex(columns=[0, 1], fill_value=0.0)[1]
    table = frequencies.frequencies(cast, 0.95)
    mine = pd.Series(table["frequency"].to_numpy(), table["image_id"] + " " + table["wnid"])
    pd.testing.assert_series_equal(mine.sort_index(), expected.sort_index(), check_names=False)


def test_workers_are_judged_by_controls_and_by_the_others() -> None:
    answered = assignments(
        ("a-1", "w", [0, 1]), ("a-1", "u", [0, 1]), ("a-1", "z", [2]), ("a-1", "y", [0, 1]), ("b-0", "w", [0])
    )
    table = workers(votes(TWO, answered), answered).set_index("worker")
    assert table.loc["w", ["tasks", "positive_rate", "negative_rate", "agreement"]].tolist() == [
        2,
        1.0,
        0.0,
        1.0,
    ]
    assert table.loc["z", ["positive_rate", "negative_rate", "agreement"]].tolist() == [0.0, 1.0, 0.0]
    assert table.loc["w", "seconds_median"] == 12.0
    alone = workers(votes(TWO, assignments(("b-0", "w", [0]))), assignments(("b-0", "w", [0])))
    assert alone[["positive_rate", "negative_rate", "agreement"]].isna().all(axis=None)


def test_the_stage_writes_what_plain_counting_gives(make_job: Callable[..., Job]) -> None:
    rng = np.random.default_rng(2)
    sizes = TWO.groupby("task_id").size()
    answered = assignments(
        *((t, f"{w:016x}", sorted(set(rng.integers(0, n, 2).tolist()))) for t, n in sizes.items() for w in range(12))
    )  # fmt: skip
    empty = pd.DataFrame(columns=["assignment_id", "task_id", "worker", "problem"], dtype=object)
    job = make_job(
        "frequencies",
        inputs={
            "hits": {"tasks.parquet": TWO},
            "assignments": {"assignments.parquet": answered, "problems.parquet": empty},
        },
    )
    frequencies.run(job)
    seen: dict[tuple[str, str, str], bool] = {}
    for a in answered.sort_values("task_id").itertuples():
        for t in TWO[TWO["task_id"] == a.task_id].itertuples():
            seen.setdefault((t.image_id, t.wnid, a.worker), t.position in a.selected)
    expected: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for (image, wnid, _), ticked in seen.items():
        expected[image, wnid].append(ticked)
    table = pd.read_parquet(job.out.folder / "frequencies.parquet")
    assert {(r.image_id, r.wnid): (r.selected, r.shown) for r in table.itertuples()} == {
        case: (sum(v), len(v)) for case, v in expected.items()
    }
    assert len(pd.read_parquet(job.out.folder / "workers.parquet")) == 12
