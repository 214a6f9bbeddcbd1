"""The stage ``datasets/<rule>``: exact thresholds, revisions, freezing and the gate before evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from imagenetv2.artifacts import Artifact
from imagenetv2.benchmark.stages import CLASSES
from imagenetv2.candidates.stages import CANDIDATES
from imagenetv2.decimals import exact
from imagenetv2.errors import InputError
from imagenetv2.sampling import matched_frequency
from imagenetv2.sampling.bins import at_least, bin_of, scale
from imagenetv2.sampling.datasets import run
from imagenetv2.sampling.frozen import digest, require_frozen
from imagenetv2.sampling.pool import Candidate, Chosen, Request
from imagenetv2.sampling.settings import MatchedFrequency, Threshold
from imagenetv2.sampling.verdicts import Verdict, from_table, to_table


def inputs(
    votes: dict[str, list[tuple[int, int]]],
    fates: dict[str, str] | None = None,
    validation: dict[str, list[tuple[int, int]]] | None = None,
    verdicts: list[Verdict] | None = None,
    rule: str = "threshold",
    components: dict[str, str] | None = None,
    places: dict[str, int] | None = None,
) -> dict[str, dict[str, Any]]:
    """Artifacts of classes ``votes``, whose images are <wnid>-<number>."""
    images = [(f"{w}-{k:02d}", w, s, n) for w, of in votes.items() for k, (s, n) in enumerate(of)]
    originals = [
        (f"v{w}-{k:02d}", w, s, n) for w, of in (validation or {}).items() for k, (s, n) in enumerate(of)
    ]
    frequencies = [
        {
            "image_id": i, "wnid": w, "origin": origin, "negative": False, "shown": n, "selected": s,
            "frequency": s / n, "low": 0.0, "high": 1.0,
        }
        for origin, rows in (("candidates", images), ("reference", originals))
        for i, w, s, n in rows
    ]  # fmt: skip
    classes = [
        {
            "class_index": k, "wnid": w, "lemmas": [w], "definition": f"a {w}", "wikipedia": [], "hypernyms": [],
            "neighbours": [],
        }
        for k, w in enumerate(votes)
    ]  # fmt: skip
    return {
        "classes": {"classes.parquet": table(CLASSES, classes)},
        "candidates": {
            "candidates.parquet": table(CANDIDATES, [{"image_id": i, "wnid": w, "photo_id": f"p{i}"} for i, w, _, _ in images])
        },
        "frequencies": {"frequencies.parquet": pd.DataFrame(frequencies)},
        "duplicates": {
            "fates.parquet": pd.DataFrame(
                [
                    {"image_id": i, "wnid": w, "component": (components or {}).get(i, ""), "fate": (fates or {}).get(i, "free"), "reason": "", "place": (places or {}).get(i, 0), "flags": []}
                    for i, w, _, _ in images
                ]
            )
        },
        f"reviews/{rule}": {"verdicts.parquet": to_table(verdicts or [])},
    }  # fmt: skip


def table(declared: Any, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of a declared table whose other columns do not matter."""
    blank = {"string": "", "int64": 0, "float64": 0.0, "bool": False, "list<string>": []}
    return pd.DataFrame([{c.name: row.get(c.name, blank[c.dtype]) for c in declared.columns} for row in rows])


def made(
    make_job: Callable[..., Any], given: dict[str, Any], rule: str = "threshold", **sampling: Any
) -> Artifact:
    """Run the stage and return its artifact."""
    eligibility = {"per_class": 2, **sampling.pop("eligibility", {})}
    config = {"sampling": {"eligibility": eligibility, **sampling}}
    job = make_job(f"datasets/{rule}", config=config, inputs=given)
    run(job)
    job.out.finish({"version": job.version}, {})
    return Artifact(job.out.folder)


def looked(round_: int, artifact: Artifact, *refused: str) -> list[Verdict]:
    """A review of all classes of an artifact's set that objects to these images."""
    images = artifact.table("images").groupby("wnid")["image_id"].agg(list)
    return [
        Verdict(
            round_,
            w,
            tuple(ids),
            bad := tuple(i for i in ids if i in refused),
            ("blurred",) * len(bad),
            "Ada",
        )
        for w, ids in images.items()
    ]


def test_seven_of_ten_reaches_a_threshold_of_0_7() -> None:
    assert at_least(7, 10, exact(0.7))
    assert not at_least(699_999_999, 1_000_000_000, exact(0.7))
    assert at_least(0, 10, exact(0.0))
    assert at_least(1, 100_000, exact(1e-05))


@pytest.mark.parametrize(
    ("selected", "shown", "expected"), [(2, 10, 1), (3, 15, 1), (199, 1000, 0), (10, 10, 4), (6, 10, 3)]
)
def test_bins_hold_their_lower_edge(selected: int, shown: int, expected: int) -> None:
    assert bin_of(selected, shown, [exact(e) for e in (0.2, 0.4, 0.6, 0.8)]) == expected


def test_ties_of_remainders_go_to_the_higher_bin() -> None:
    assert scale([1, 1, 1, 1], 10) == [2, 2, 3, 3]
    assert scale([3, 0, 0, 7], 10) == [3, 0, 0, 7]
    with pytest.raises(ValueError, match="zero"):
        scale([0, 0], 10)


def test_a_class_threshold_may_only_be_lower() -> None:
    assert Threshold(by_class={"n1": 0.5}).by_class == {"n1": 0.5}
    with pytest.raises(ValidationError, match=r"by_class\.n1: 0\.8"):
        Threshold(by_class={"n1": 0.8})


def test_unreviewed_set_is_written_but_not_frozen(make_job: Callable[..., Any]) -> None:
    artifact = made(make_job, inputs({"n1": [(7, 10), (8, 10), (6, 10)]}))
    assert set(artifact.table("images")["image_id"]) == {"n1-00", "n1-01"}
    freeze = artifact.json("freeze.json")
    assert not freeze["frozen"]
    assert freeze["blocked"] == ["n1 has not been reviewed without objection"]
    with pytest.raises(InputError, match=r"revision 0 of this set is not frozen.*n1 has not been reviewed"):
        require_frozen(artifact)


def test_reviewed_without_objection_is_frozen(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(7, 10), (8, 10), (6, 10)], "n2": [(9, 10)] * 5}
    accepted = looked(0, made(make_job, inputs(votes)))
    artifact = made(make_job, inputs(votes, verdicts=accepted))
    freeze = require_frozen(artifact)
    assert freeze["frozen"] and freeze["blocked"] == [] and freeze["images"] == 4
    images = artifact.table("images")
    assert freeze["digest"] == digest(zip(images["wnid"], images["image_id"], strict=True))
    assert artifact.table("classes")["reviewed"].tolist() == [True, True]


def test_an_objection_makes_a_revision_that_keeps_the_rest(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(9, 10)] * 6, "n2": [(9, 10)] * 6}
    before = made(make_job, inputs(votes))
    bad = before.table("images").query("wnid == 'n1'")["image_id"].iloc[0]
    verdicts = looked(0, before, bad)
    after = made(make_job, inputs(votes, verdicts=verdicts))
    old, new = (set(a.table("images")["image_id"]) for a in (before, after))
    assert old - new == {bad}
    assert after.table("images").set_index("image_id")["entered"].to_dict() == {
        i: int(i not in old) for i in new
    }
    revisions = after.table("revisions")
    assert revisions[revisions["blacklisted"]][["revision", "image_id"]].to_numpy().tolist() == [[0, bad]]
    freeze = after.json("freeze.json")
    assert freeze["revision"] == 1 and freeze["blocked"] == ["n1 has not been reviewed without objection"]
    last = made(make_job, inputs(votes, verdicts=[*verdicts, *looked(1, after)[:1]]))
    assert require_frozen(last)["revision"] == 1
    late = made(make_job, inputs(votes, verdicts=[*verdicts, *looked(1, after, min(new))]))
    assert late.json("freeze.json")["revision"] == 2 and not late.json("freeze.json")["frozen"]


def test_the_next_of_a_component_follows_a_blacklisted_one(make_job: Callable[..., Any]) -> None:
    # n1-00, n2-00 and n1-01 are one photograph; the next of it is of another class.
    group = ["n1-00", "n2-00", "n1-01"]
    given: dict[str, Any] = {
        "votes": {"n1": [(10, 10), (9, 10), (8, 10)], "n2": [(10, 10), (9, 10)]},
        "fates": {"n1-00": "kept", "n2-00": "dropped", "n1-01": "dropped"},
        "components": dict.fromkeys(group, "n1-00"),
        "places": {image: place for place, image in enumerate(group)},
        "rule": "top_images",
    }

    def images(artifact: Artifact) -> list[str]:
        return artifact.table("images")["image_id"].tolist()

    before = made(make_job, inputs(**given), "top_images")
    assert images(before) == ["n1-00", "n1-02", "n2-01"]
    verdicts = looked(0, before, "n1-00")
    after = made(make_job, inputs(**given, verdicts=verdicts), "top_images")
    assert images(after) == ["n1-02", "n2-00", "n2-01"]
    assert after.table("images").set_index("image_id")["entered"].to_dict() == {
        "n1-02": 0,
        "n2-00": 1,
        "n2-01": 0,
    }
    freeze = after.json("freeze.json")
    assert [b for b in freeze["blocked"] if "reviewed" in b and b.startswith("n2")]
    last = made(make_job, inputs(**given, verdicts=[*verdicts, *looked(1, after, "n2-00")]), "top_images")
    assert images(last) == ["n1-01", "n1-02", "n2-01"]
    # The same from a list in the configuration, in one step.
    listed = made(make_job, inputs(**given), "top_images", eligibility={"blacklist": ["n1-00", "n2-00"]})
    assert images(listed) == images(last)
    given["fates"]["n1-00"] = "unreviewed"
    waits = made(make_job, inputs(**given), "top_images", eligibility={"blacklist": ["n1-00"]})
    assert images(waits) == ["n1-02", "n2-01"]
    assert waits.table("classes").set_index("wnid").loc["n2", ["duplicate", "unreviewed"]].tolist() == [0, 1]


def test_a_class_that_cannot_be_filled_is_named_with_the_reasons(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(9, 10), (9, 10), (9, 10), (3, 10), (9, 9), (10, 10)], "n2": [(9, 10)] * 2, "n3": []}
    fates = {"n1-00": "dropped", "n1-01": "unreviewed"}
    given = inputs(votes, fates, verdicts=[Verdict(0, "n2", ("n2-00", "n2-01"))])
    artifact = made(make_job, given, eligibility={"blacklist": ["n1-05"]})
    rows = artifact.table("classes").set_index("wnid")
    columns = ["found", "eligible", "blacklisted", "few_votes", "below_threshold", "duplicate", "unreviewed"]
    assert rows.loc["n1", columns].tolist() == [1, 1, 1, 1, 1, 1, 1]
    assert rows.loc["n1", "missing"] == (
        "1 of 2 images: 1 of 6 candidates are eligible (1 below threshold, 1 blacklisted, 1 duplicate, 1 few votes, "
        "1 unreviewed)"
    )
    assert rows.loc["n3", "missing"] == "2 of 2 images: 0 of 0 candidates are eligible"
    blocked = artifact.json("freeze.json")["blocked"]
    assert [b.split()[0] for b in blocked] == ["n1", "n1", "n3"]
    with pytest.raises(InputError, match=r"lower sampling\.eligibility\.per_class"):
        require_frozen(artifact)


def test_matching_needs_enough_validation_images(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(9, 10)] * 3}
    few = inputs(votes, validation={"n1": [(9, 10)] * 3 + [(9, 9)]}, rule="matched_frequency")
    artifact = made(make_job, few, "matched_frequency", matched_frequency={"minimum_validation": 4})
    assert "3 annotated validation images have enough votes and 4" in artifact.table("classes")["missing"][0]
    assert len(artifact.table("images")) == 0
    artifact = made(make_job, few, "matched_frequency", matched_frequency={"minimum_validation": 3})
    assert artifact.table("images")["how"].tolist() == ["drawn", "drawn"]


def test_missing_frequencies_are_taken_from_higher_bins(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(9, 10), (7, 10), (0, 10)]}
    given = inputs(votes, validation={"n1": [(3, 10), (5, 10)]}, rule="matched_frequency")
    artifact = made(make_job, given, "matched_frequency", matched_frequency={"minimum_validation": 2})
    rows = artifact.table("images")[["image_id", "bin", "own_bin", "how"]].to_numpy().tolist()
    assert rows == [["n1-00", 2, 4, "taken_upward"], ["n1-01", 1, 3, "taken_upward"]]
    assert artifact.json("freeze.json")["taken_upward"] == 2


def test_a_changed_set_is_refused_though_marked_frozen(make_job: Callable[..., Any]) -> None:
    votes = {"n1": [(9, 10)] * 2}
    artifact = made(make_job, inputs(votes, verdicts=[Verdict(0, "n1", ("n1-00", "n1-01"))]))
    require_frozen(artifact)
    artifact.table("images").assign(image_id=["x", "y"]).to_parquet(artifact.folder / "images.parquet")
    with pytest.raises(InputError, match=r"images\.parquet: its images have the digest"):
        require_frozen(artifact)


def test_unknown_class_in_the_configuration(make_job: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=r"sampling\.threshold\.by_class: n9 is not among the 1 classes"):
        made(make_job, inputs({"n1": [(9, 10)]}), threshold={"by_class": {"n9": 0.5}})


def test_a_verdict_on_a_revision_out_of_reach(make_job: Callable[..., Any]) -> None:
    given = inputs({"n1": [(9, 10)] * 3}, verdicts=[Verdict(1, "n1", ("n1-00",))])
    with pytest.raises(InputError, match=r"reviews/threshold: verdict 0 .* revision 1"):
        made(make_job, given)


def test_verdicts_survive_their_table() -> None:
    verdicts = [Verdict(0, "n1", ("a", "b"), ("b",), ("blurred",), "Ada"), Verdict(1, "n1", ("a", "c"))]
    assert from_table(to_table(verdicts).sample(frac=1, random_state=1)) == verdicts
    assert from_table(to_table([])) == []


def test_seed_rule_and_class_have_streams_of_their_own(make_job: Callable[..., Any]) -> None:
    votes = {f"n{k}": [(9, 10)] * 30 for k in range(4)}
    sets = made(make_job, inputs(votes)).table("images")
    numbers = sets.assign(number=sets["image_id"].str[-2:]).groupby("wnid")["number"].agg(tuple)
    assert len(set(numbers)) == 4
    again = made(make_job, inputs(dict(reversed(votes.items())))).table("images")
    assert again.drop(columns="class_index").equals(sets.drop(columns="class_index"))


def test_images_of_the_previous_revision_are_taken_upward_first() -> None:
    # Bin 4 wants one image and had two; bin 0 has none of its own and must get the other of them.
    for seed in range(20):
        request = Request(
            wnid="n1",
            revision=1,
            eligible=tuple(Candidate(i, 10, 10, "free") for i in "abcdef"),
            previous=(Chosen("c", 4, 4, 0, "drawn"), Chosen("e", 4, 4, 0, "drawn")),
            validation=((0, 10), (10, 10)),
            wanted=2,
            settings=MatchedFrequency(minimum_validation=2),
            rng=np.random.default_rng(seed),
        )
        drawn = matched_frequency.draw(request).images
        assert sorted(c.image_id for c in drawn) == ["c", "e"]
        assert [(c.bin, c.own_bin, c.how) for c in drawn] == [(0, 4, "taken_upward"), (4, 4, "drawn")]


def test_an_image_with_too_few_votes_costs_no_other_its_place(make_job: Callable[..., Any]) -> None:
    given = inputs(
        {"n1": [(1, 1), (9, 10), (9, 10)], "n2": [(9, 10)]},
        fates={"n1-00": "kept", "n1-01": "dropped", "n1-02": "dropped"},
        components=dict.fromkeys(("n1-00", "n1-01", "n1-02"), "n1-00"),
        places={"n1-01": 1, "n1-02": 2},
    )
    done = made(make_job, given)
    assert done.table("images")["image_id"].tolist() == ["n1-01", "n2-00"]
    row = done.table("classes").set_index("wnid").loc["n1"]
    assert (row["few_votes"], row["duplicate"], row["eligible"]) == (1, 1, 1)
    # With fewer votes asked for it stays.
    done = made(make_job, given, eligibility={"minimum_votes": 1})
    assert done.table("images")["image_id"].tolist() == ["n1-00", "n2-00"]
