"""What holds for tasks and frequencies whatever the inputs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.annotation import answers, frequencies, tasks
from imagenetv2.annotation.settings import Hits
from imagenetv2.errors import InputError


@given(
    candidates=st.integers(1, 150),
    validation=st.integers(0, 60),
    near=st.integers(0, 8),
    size=st.integers(4, 48),
    positive=st.integers(0, 3),
    negative=st.integers(0, 3),
    sample=st.integers(0, 30),
    overlap=st.integers(0, 10),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=80, deadline=None)
def test_tasks_of_a_class(
    candidates: int, validation: int, near: int, size: int, positive: int, negative: int, sample: int, overlap: int,
    seed: int,
) -> None:  # fmt: skip
    if positive + negative >= size:
        return
    plan = Hits(
        images_per_task=size,
        positive_controls=positive,
        negative_controls=negative,
        validation_per_class=sample,
    )
    held = [f"v{n}" for n in range(validation)]
    pool = [f"c{n}" for n in range(candidates)] + held[:overlap]
    other = [f"x{n}" for n in range(near)] + held[:3] + pool[:3]
    try:
        made = tasks.draw_tasks("n", pool, held, other, plan, np.random.default_rng(seed))
    except InputError:
        assert validation < sample + overlap + positive or near < negative
        return
    again = tasks.draw_tasks("n", pool[::-1], held[::-1], other[::-1], plan, np.random.default_rng(seed))
    assert made == again, "the order of the inputs does not matter"
    shown = Counter(s.image_id for task in made for s in task if s.role in ("candidate", "validation"))
    assert set(shown.values()) == {1}
    assert set(pool) <= shown.keys()
    assert sum(n.startswith("v") for n in shown) >= sample
    own = set(pool) | set(held)
    for task in made:
        assert len({s.image_id for s in task}) == len(task) <= size
        roles = Counter(s.role for s in task)
        assert roles["positive"] == positive and roles["negative"] == negative
        assert not own & {s.image_id for s in task if s.role == "negative"}
        assert all(s.origin == ("candidates" if s.role == "candidate" else "reference") for s in task)
    lengths = [len(task) for task in made]
    assert max(lengths) - min(lengths) <= 1
    if min(lengths) < size:
        assert set(held) <= {s.image_id for task in made for s in task}, (
            "slots are free only when images ran out"
        )


ROLES = ("candidate", "validation", "positive", "negative")


@st.composite
def rounds(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = []
    for t in range(draw(st.integers(1, 4))):
        images = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True))
        for position, image in enumerate(images):
            role = draw(st.sampled_from(ROLES))
            origin = "candidates" if role == "candidate" else "reference"
            rows.append(
                (f"n{t % 2}-{t}", position, f"n{t % 2}", f"i{image}", origin, role, f"{t}-{position}")
            )
    table = pd.DataFrame(rows, columns=list(tasks.COLUMNS))
    answered = []
    for task_id, count in table.groupby("task_id").size().items():
        for worker in draw(st.sets(st.integers(0, 5), max_size=5)):
            ticked = sorted(draw(st.sets(st.integers(0, int(count) - 1))))
            status = draw(st.sampled_from(["Approved", "Submitted", "Rejected"]))
            answered.append((task_id, f"w{worker}", "H", f"{task_id}-{worker}", status, 30, ticked))
    return table, pd.DataFrame(answered, columns=list(answers.ASSIGNMENT_COLUMNS))


@given(rounds(), st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_frequencies_of_a_round(given_: tuple[pd.DataFrame, pd.DataFrame], seed: int) -> None:
    shown, answered = given_
    cast = frequencies.votes(shown, answered)
    table = frequencies.frequencies(cast, 0.95)
    assert not cast.duplicated(["worker", "image_id", "wnid"]).any()
    people = answered.loc[answered["status"] != "Rejected", "worker"].nunique()
    assert (table["shown"] <= people).all() and (table["shown"] > 0).all()
    assert (table["selected"] <= table["shown"]).all()
    assert ((table["low"] <= table["frequency"]) & (table["frequency"] <= table["high"])).all()
    quality = frequencies.workers(cast, answered)
    assert len(quality) == people

    shuffled = frequencies.votes(
        shown.sample(frac=1, random_state=seed), answered.sample(frac=1, random_state=seed)
    )
    pd.testing.assert_frame_equal(frequencies.frequencies(shuffled, 0.95), table)

    # One more answer of a worker who has answered everything changes no count of theirs.
    if len(answered):
        copy = shown[shown["task_id"] == answered["task_id"].iloc[0]].assign(task_id="z-9")
        extra = answered.iloc[[0]].assign(task_id="z-9", assignment_id="more", selected=[[]])
        more = frequencies.frequencies(
            frequencies.votes(pd.concat([shown, copy]), pd.concat([answered, extra])), 0.95
        )
        if answered["status"].iloc[0] != "Rejected":
            columns = ["image_id", "wnid", "shown", "selected"]
            pd.testing.assert_frame_equal(more[columns], table[columns])
