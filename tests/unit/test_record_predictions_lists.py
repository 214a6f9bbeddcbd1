"""Importing released predictions where lists are at fault: a set is missing, or all its files seem wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.analysis import released as analysed
from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import list_checks, predictions, ranks
from imagenetv2.record.claims.claim import Missing
from imagenetv2.record.claims.facts import Facts
from imagenetv2.record.lists import ImageList
from imagenetv2.record.prediction_checks import whole_list
from tests.conftest import write_artifact
from tests.unit import small_record as small
from tests.unit.small_import import NEW, ORIGINAL, Found, faults, same
from tests.unit.small_record import EARLIER, INDEX, LISTS, MODELS, WNIDS

UNFIT = "list does not fit its predictions"


def _cut(record: Path) -> None:
    path = small.list_file(record, NEW)
    path.write_bytes(path.read_bytes()[:3000])


def _no_list(record: Path) -> None:
    small.list_file(record, NEW).unlink()


def _no_predictions(record: Path) -> None:
    shutil.rmtree(small.file(record, NEW, "x").parent)


LOST: dict[str, Callable[[Path], None]] = {
    "list cut": _cut,
    "no list": _no_list,
    "no predictions": _no_predictions,
}


def stage(record: Path, tmp_path: Path, make_job: Callable[..., Job]) -> Artifact:
    inputs = {"record/classes": {"classes.parquet": small.classes()}}
    job = make_job("record/predictions", config={"record": {"path": str(record)}}, inputs=inputs)
    predictions.run(job)
    written = {f.name: f for f in job.out.folder.iterdir()}
    assert set(written) == {f.name for f in job.stage.files}
    return Artifact(write_artifact(tmp_path / "copy", job.stage, written))


@pytest.mark.parametrize("name", LOST)
def test_a_set_without_list_or_predictions_is_missing_and_not_replaced(
    clean: Found, record: Path, name: str, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    """There is an earlier revision with list and predictions; it must not pass for the published one."""
    LOST[name](record)
    found = Found(record)
    assert (NEW, "set missing", "left out") in {(s, k, a) for _, s, k, a in faults(found)}
    assert {k for _, _, k, _ in faults(found)} <= {"set missing", "file unreadable"}
    assert found.arrays["matched_frequency"].shape == (0, 0, 5)
    for table in (found.images, found.models):
        assert set(table["set"]) == set(LISTS) - {"matched_frequency"}
    assert set(found.earlier["revision"]) == {2}
    for other in set(LISTS) - {"matched_frequency"}:
        np.testing.assert_array_equal(found.arrays[other], clean.arrays[other])
    artifact = stage(record, tmp_path, make_job)
    assert ranks.common(artifact) == sorted(MODELS)
    ((missing, why),) = ranks.missing(artifact, LISTS).items()
    assert missing == "matched_frequency" and why.startswith(NEW)


def test_the_analysis_and_claims_go_on_without_a_set(
    record: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    _cut(record)
    artifact = stage(record, tmp_path, make_job)
    job = make_job(
        "analysis",
        config={"record": {"path": str(record)}},
        inputs={
            "record/predictions": {
                f.name: f.read_bytes() for f in artifact.folder.iterdir() if f.suffix in {".parquet", ".npy"}
            }
        },
    )
    study = analysed.study(job)
    assert list(study.labels) == list(study.sets) == ["original", "threshold", "top_images"]
    absent = ranks.missing(artifact, LISTS)
    facts = Facts(study.sets, study.families, frozenset(), lambda stage, name: artifact.table(name), absent)
    assert len(facts.accuracy("threshold")) == len(MODELS)
    for ask in (facts.accuracy, facts.images, facts.change, facts.line):
        with pytest.raises(Missing, match=rf"no predictions on matched_frequency .{NEW}: "):
            ask("matched_frequency")


def test_a_set_without_usable_files_is_passed_over(
    record: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    for model in MODELS:
        small.file(record, NEW, model).write_bytes(b"")
    artifact = stage(record, tmp_path, make_job)
    assert ranks.common(artifact) == sorted(MODELS)
    assert set(ranks.missing(artifact, LISTS)) == {"matched_frequency"}


def test_a_record_without_the_original_is_refused(record: Path) -> None:
    path = small.list_file(record, ORIGINAL)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(InputError, match=r"holds no predictions for a list of original images .*original"):
        Found(record)


def test_a_list_that_cannot_be_read_is_the_last_all_the_same() -> None:
    lists = [ImageList("f", n, "matched_frequency", k, 0, (), {}) for n, k in ((EARLIER, 2), (NEW, 7))]
    assert list_checks.finals(lists) == {NEW}
    assert list_checks.finals(lists[:1]) == {EARLIER}
    assert list_checks.finals(lists[:1], [NEW]) == set()


Entries = list[list[str]]


def _one_removed(entries: Entries) -> Entries:
    return entries[:123] + entries[124:]


def _one_added(entries: Entries) -> Entries:
    return [*entries[:123], ["f" * 40, entries[300][1]], *entries[123:]]


def _backwards(entries: Entries) -> Entries:
    return entries[::-1]


def _classes_shifted(entries: Entries) -> Entries:
    return [[image, WNIDS[(INDEX[wnid] + 1) % len(WNIDS)]] for image, wnid in entries]


def _classes_rolled(entries: Entries) -> Entries:
    return [[image, entries[k - 1][1]] for k, (image, _) in enumerate(entries)]


def _classes_shuffled(entries: Entries) -> Entries:
    order = np.random.default_rng(0).permutation(len(entries))
    return [[image, entries[k][1]] for (image, _), k in zip(entries, order, strict=True)]


def _cut_short(entries: Entries) -> Entries:
    return entries[:-7]


FAULTS: dict[str, tuple[Callable[[Entries], Entries], str]] = {
    "an image removed": (_one_removed, "corrected"),
    "an image added": (_one_added, "corrected"),
    "backwards": (_backwards, "corrected"),
    "classes shifted": (_classes_shifted, "corrected"),
    "classes a row late": (_classes_rolled, "corrected"),
    "classes shuffled": (_classes_shuffled, "left out"),
    "cut short": (_cut_short, "left out"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_list_is_told_of_the_list(clean: Found, record: Path, name: str) -> None:
    change, action = FAULTS[name]
    entries = small.entries(record, NEW)
    small.save_list(record, NEW, change(entries))
    found = Found(record)
    assert faults(found) == {(f"datasets/{NEW}.json", NEW, UNFIT, action)}
    if action == "left out":
        assert found.arrays["matched_frequency"].shape == (0, 0, 5)
        for other in set(LISTS) - {"matched_frequency"}:
            np.testing.assert_array_equal(found.arrays[other], clean.arrays[other])
        return
    assert found.models["usable"].all()
    gone = {i for i, _ in entries} - set(
        found.images.loc[found.images["set"] == "matched_frequency", "image_id"]
    )
    assert len(gone) <= 2
    if name == "an image removed":
        assert entries[123][0] in gone
    images = found.images[found.images["set"] == "matched_frequency"]
    truth = dict(map(tuple, entries))
    assert all(truth[i] == w for i, w in zip(images["image_id"], images["wnid"], strict=True))
    before = clean.images[clean.images["set"] == "matched_frequency"]["image_id"].tolist()
    places = [before.index(i) for i in images["image_id"]]
    np.testing.assert_array_equal(
        found.arrays["matched_frequency"], clean.arrays["matched_frequency"][:, places]
    )


def test_files_that_are_all_numbered_otherwise_are_told_of_each(clean: Found, record: Path) -> None:
    """Other lists bear out the classes of this one."""
    for model in MODELS:
        small.save(record, NEW, model, small.load(record, NEW, model) + 1)
    found = Found(record)
    kind = "class indices off by a constant"
    assert faults(found) == {(f"{NEW}/{m}.npy", m, kind, "corrected") for m in MODELS}
    same(found, clean)


def test_a_gap_in_a_list_by_class_leaves_that_class_out() -> None:
    """Which image of the class is missing cannot be told, and the hardest one must not be taken for it."""
    rng = np.random.default_rng(0)
    indices = {f"w{k}": k for k in range(200)}
    entries = [(f"{i:05d}", f"w{i // 20}") for i in range(4000)]
    truth = np.arange(4000) // 20
    hard = rng.random(4000) ** 2
    files = [np.where(rng.random(4000) < hard, rng.integers(0, 200, 4000), truth)[:, None] for _ in range(9)]
    short = entries[:1010] + entries[1011:]
    values = [f.astype(np.int32) for f in files]
    found = whole_list.mended("list", short, values, indices, {}, dict)
    assert found is not None and found.entries is not None and len(found.entries) == 4000
    kept = [(row, entry) for row, entry in enumerate(found.entries) if entry != whole_list.BLANK]
    assert all(entries[row] == entry for row, entry in kept)
    assert 20 <= 4000 - len(kept) <= 30 and found.entries[1010] == whole_list.BLANK
