"""Importing released predictions: planted faults are found, named, and put right or left out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import predictions, ranks
from imagenetv2.record.published_sets import published
from tests.conftest import write_artifact
from tests.unit import small_record as small
from tests.unit.small_import import NEW, ORIGINAL, Found, faults, same
from tests.unit.small_record import CLASSES, EARLIER, LISTS, MODELS


def test_a_sound_record_is_imported_as_it_is(sound: Path) -> None:
    found = Found(sound)
    assert found.faults.empty
    assert found.models["usable"].all() and (found.models["action"] == "").all()
    for name, listing in LISTS.items():
        images = found.images[found.images["set"] == name]
        assert images[["image_id", "wnid"]].to_numpy().tolist() == small.entries(sound, listing)
        for k, model in enumerate(sorted(MODELS)):
            np.testing.assert_array_equal(found.arrays[name][k], small.load(sound, listing, model))
    assert found.arrays["original"].dtype == np.int16
    top5 = small.load(sound, EARLIER, "beta")
    truth = np.array([small.INDEX[w] for _, w in small.entries(sound, EARLIER)])
    row = found.earlier.set_index("model").loc["beta"]
    assert (row["set"], row["revision"], row["images"]) == ("matched_frequency", 2, len(top5))
    assert row["right"] == (top5[:, 0] == truth).sum()
    assert row["right5"] == (top5 == truth[:, None]).any(axis=1).sum()
    assert len(found.earlier) == 5


Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _by_row(top5: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.permuted(top5, axis=1)


def _once(value: int) -> Change:
    def change(top5: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        top5[17, 2] = value
        return top5

    return change


RESTORED: dict[str, tuple[str, Change]] = {
    "columns backwards": ("columns out of rank order", lambda p, rng: p[:, ::-1]),
    "columns shuffled": ("columns out of rank order", lambda p, rng: p[:, [2, 0, 4, 1, 3]]),
    "first two columns": ("columns out of rank order", lambda p, rng: p[:, [1, 0, 2, 3, 4]]),
    "background class": ("class indices off by a constant", lambda p, rng: p + 1),
    "counted from -1": ("class indices off by a constant", lambda p, rng: p - 1),
    "off by seven": ("class indices off by a constant", lambda p, rng: p + 7),
    "rows backwards": ("rows in another order", lambda p, rng: p[::-1]),
    "one row late": ("rows in another order", lambda p, rng: np.roll(p, 1, axis=0)),
    "floats": ("stored as floats", lambda p, rng: p.astype(np.float32)),
    "transposed": ("rows and columns exchanged", lambda p, rng: p.T),
    "more columns": ("wrong number of columns", lambda p, rng: np.hstack([p, p[:, :1]])),
}


@pytest.mark.parametrize("listing", [NEW, ORIGINAL])
@pytest.mark.parametrize("name", RESTORED)
def test_what_can_be_put_right_is(clean: Found, record: Path, name: str, listing: str) -> None:
    kind, change = RESTORED[name]
    top5 = small.load(record, listing, "delta")
    small.save(record, listing, "delta", change(top5, np.random.default_rng(3)))
    found = Found(record)
    assert faults(found) == {(f"{listing}/delta.npy", "delta", kind, "corrected")}
    assert (found.faults["evidence"] != "").all()
    same(found, clean)


@pytest.mark.parametrize("key", ["image", "class"])
def test_rows_in_alphabetical_order_are_put_right(clean: Found, record: Path, key: str) -> None:
    entries = small.entries(record, NEW)
    order = sorted(range(len(entries)), key=lambda i: entries[i] if key == "image" else entries[i][::-1])
    small.save(record, NEW, "delta", small.load(record, NEW, "delta")[order])
    found = Found(record)
    assert faults(found) == {(f"{NEW}/delta.npy", "delta", "rows in another order", "corrected")}
    same(found, clean)


LEFT_OUT: dict[str, tuple[str, Change]] = {
    "columns by row": ("columns mixed row by row", _by_row),
    "rows missing": ("wrong number of rows", lambda p, rng: p[:-3]),
    "rows shuffled": ("predictions do not fit the images", lambda p, rng: rng.permutation(p)),
    "noise": ("predictions do not fit the images", lambda p, rng: rng.integers(0, CLASSES, p.shape)),
    "probabilities": ("no class indices", lambda p, rng: rng.random(p.shape)),
    "three axes": ("wrong shape", lambda p, rng: p[:, :, None]),
    "no rows": ("wrong shape", lambda p, rng: p[:0]),
    "out of range": ("no class of that index", lambda p, rng: np.where(rng.random(p.shape) < 0.1, 1000, p)),
    "classes repeated": ("class repeated in a row", lambda p, rng: p[:, [0, 0, 1, 2, 3]]),
    "complex": ("file unreadable", lambda p, rng: p.astype(complex)),
}


@pytest.mark.parametrize("listing", [NEW])
@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_cannot_be_put_right_is_left_out_by_name(
    clean: Found, record: Path, name: str, listing: str
) -> None:
    kind, change = LEFT_OUT[name]
    small.save(
        record, listing, "delta", change(small.load(record, listing, "delta"), np.random.default_rng(3))
    )
    found = Found(record)
    assert faults(found) == {(f"{listing}/delta.npy", "delta", kind, "left out")}
    which = next(s for s, value in LISTS.items() if value == listing)
    assert found.of(which, "delta") is None
    row = found.models[(found.models["set"] == which) & (found.models["model"] == "delta")]
    assert kind in row["action"].item()
    same(found, clean, {(which, "delta")})


def test_rows_of_other_images_of_the_same_class_are_left_out(clean: Found, record: Path) -> None:
    top5 = small.load(record, ORIGINAL, "delta").reshape(CLASSES, -1, 5)
    rng = np.random.default_rng(1)
    small.save(record, ORIGINAL, "delta", np.concatenate([rng.permutation(part) for part in top5]))
    found = Found(record)
    expected = (f"{ORIGINAL}/delta.npy", "delta", "rows do not fit the images", "left out")
    assert faults(found) == {expected}
    same(found, clean, {("original", "delta")})


def test_a_part_of_the_rows_that_does_not_fit_is_found(sound: Path, record: Path) -> None:
    top5 = small.load(record, NEW, "delta")
    top5[400:] = np.roll(top5[400:], 40, axis=0)
    small.save(record, NEW, "delta", top5)
    found = Found(record)
    expected = (f"{NEW}/delta.npy", "delta", "a part of the rows does not fit", "left out")
    assert faults(found) == {expected}


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut in the header": lambda data: data[:40],
    "empty": lambda data: b"",
    "a page": lambda data: b"<!DOCTYPE html><title>404</title>",
    "header of nonsense": lambda data: data[:10] + b"x" * (len(data) - 10),
    "claims more than memory": lambda data: data.replace(b"(600, 5)", b"(6" + b"0" * 12 + b", 5)")[
        : len(data)
    ],
}


@pytest.mark.parametrize("name", BYTES)
def test_damaged_files_are_left_out(clean: Found, record: Path, name: str) -> None:
    path = small.file(record, NEW, "eta")
    path.write_bytes(BYTES[name](path.read_bytes()))
    found = Found(record)
    assert faults(found) == {(f"{NEW}/eta.npy", "eta", "file unreadable", "left out")}
    same(found, clean, {("matched_frequency", "eta")})


def test_pickled_objects_are_refused_and_not_executed(record: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    np.save(small.file(record, NEW, "eta"), np.array([Trap()], dtype=object), allow_pickle=True)
    found = Found(record)
    assert faults(found) == {(f"{NEW}/eta.npy", "eta", "file unreadable", "left out")}
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("dtype", ["uint8", "int16", ">i4", "uint64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_ways_to_store_the_same_numbers_are_no_fault(
    clean: Found, record: Path, dtype: str, order: Any
) -> None:
    small.save(record, NEW, "eta", small.load(record, NEW, "eta").astype(dtype, order=order))
    found = Found(record)
    assert found.faults.empty
    same(found, clean)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1000, "no class of that index"), (CLASSES, "no class of that index"), (-1, "no class of that index")],
)
def test_a_stray_index_becomes_no_class(clean: Found, record: Path, value: int, kind: str) -> None:
    small.save(
        record, ORIGINAL, "eta", _once(value)(small.load(record, ORIGINAL, "eta"), np.random.default_rng())
    )
    found = Found(record)
    assert faults(found) == {(f"{ORIGINAL}/eta.npy", "eta", kind, "corrected")}
    assert str(value) in found.faults["detail"].item()
    row = sorted(MODELS).index("eta")
    expected = clean.arrays["original"][row].copy()
    expected[17, 2] = -1
    np.testing.assert_array_equal(found.arrays["original"][row], expected)


def test_stray_values_that_are_no_numbers_and_repeated_classes_become_no_class(record: Path) -> None:
    top5 = small.load(record, NEW, "eta").astype(float)
    top5[3, 1], top5[4, 2], top5[5, 4] = np.nan, 1.5, top5[5, 0]
    small.save(record, NEW, "eta", top5)
    found = Found(record)
    kinds = {k for _, _, k, _ in faults(found)}
    assert kinds == {"stored as floats", "no class of that index", "class repeated in a row"}
    array = found.arrays["matched_frequency"][sorted(MODELS).index("eta")]
    assert array[3, 1] == array[4, 2] == array[5, 4] == -1
    assert (array == -1).sum() == 3


def test_top_1_predictions_are_kept_and_said_to_be_that(clean: Found, record: Path) -> None:
    small.save(record, NEW, "eta", small.load(record, NEW, "eta")[:, 0])
    found = Found(record)
    assert faults(found) == {(f"{NEW}/eta.npy", "eta", "wrong number of columns", "reported")}
    array, known = found.of("matched_frequency", "eta"), clean.of("matched_frequency", "eta")
    assert array is not None and known is not None
    np.testing.assert_array_equal(array[:, 0], known[:, 0])
    assert (array[:, 1:] == -1).all()


def exchange(record: Path, one: tuple[str, str], other: tuple[str, str]) -> None:
    """Exchange two files, each by list and model."""
    a, b = small.load(record, *one), small.load(record, *other)
    small.save(record, *one, b)
    small.save(record, *other, a)


@pytest.mark.parametrize("listing", [NEW, ORIGINAL])
def test_models_exchanged_in_one_set_are_put_right(clean: Found, record: Path, listing: str) -> None:
    exchange(record, (listing, "alpha"), (listing, "zeta"))
    found = Found(record)
    assert faults(found) == {
        (f"{listing}/{m}.npy", m, "models exchanged", "corrected") for m in ("alpha", "zeta")
    }
    same(found, clean)


@pytest.mark.parametrize("other", ["alpha", "zeta"])
def test_files_exchanged_between_sets_are_put_right(clean: Found, record: Path, other: str) -> None:
    third = LISTS["threshold"]
    exchange(record, (NEW, "alpha"), (third, other))
    found = Found(record)
    moved = {
        (f"{NEW}/alpha.npy", "alpha", "predictions of another list", "corrected"),
        (f"{third}/{other}.npy", other, "predictions of another list", "corrected"),
    }
    assert moved <= faults(found)
    assert {k for _, _, k, _ in faults(found) - moved} <= {"models exchanged", "name of a model differs"}
    same(found, clean)


@pytest.mark.parametrize("listing", [NEW, ORIGINAL])
def test_a_copy_of_another_model_is_left_out(clean: Found, record: Path, listing: str) -> None:
    small.save(record, listing, "alpha", small.load(record, listing, "zeta"))
    found = Found(record)
    kind = "one model's predictions under two names"
    assert faults(found) == {(f"{listing}/alpha.npy", "alpha", kind, "left out")}
    which = next(s for s, value in LISTS.items() if value == listing)
    same(found, clean, {(which, "alpha")})


def test_a_model_under_two_names_everywhere_is_reported(record: Path) -> None:
    for listing in LISTS.values():
        shutil.copyfile(small.file(record, listing, "alpha"), small.file(record, listing, "omega"))
    found = Found(record)
    kinds = {(s, k, a) for _, s, k, a in faults(found)}
    kind = "one model's predictions under two names"
    assert kinds == {("alpha", kind, "reported"), ("omega", kind, "reported")}
    assert found.models["usable"].all()


def test_predictions_copied_from_another_set_are_left_out(clean: Found, record: Path) -> None:
    small.save(record, NEW, "alpha", small.load(record, LISTS["threshold"], "alpha"))
    found = Found(record)
    assert ("matched_frequency", "alpha") in set(
        found.models.loc[~found.models["usable"], ["set", "model"]].itertuples(index=False, name=None)
    )
    assert (f"{NEW}/alpha.npy", "alpha", "predictions of another list", "corrected") in faults(found)
    same(found, clean, {("matched_frequency", "alpha")})


@pytest.mark.parametrize("listing", [NEW, ORIGINAL])
def test_a_name_that_differs_in_one_set_is_found(clean: Found, record: Path, listing: str) -> None:
    path = small.file(record, listing, "gamma_64k")
    path.rename(path.with_name("gamma_64k_model.npy"))
    found = Found(record)
    subject = "gamma_64k_model"
    assert faults(found) == {(f"{listing}/{subject}.npy", subject, "name of a model differs", "corrected")}
    same(found, clean)


def test_a_broken_file_under_another_name_belongs_to_its_model(record: Path) -> None:
    path = small.file(record, NEW, "gamma_64k")
    path.rename(path.with_name("gamma_64k_model.npy")).write_bytes(b"")
    found = Found(record)
    assert {k for _, _, k, _ in faults(found)} == {"file unreadable", "name of a model differs"}
    assert found.of("matched_frequency", "gamma_64k") is None
    assert len(found.models) == len(MODELS) * len(LISTS)


def test_a_name_that_is_only_alike_is_not_taken_for_the_model(record: Path) -> None:
    """The file of that name holds predictions of a model that nobody else has."""
    path = small.file(record, ORIGINAL, "gamma_64k")
    path.unlink()
    rng = np.random.default_rng(9)
    truth = np.array([small.INDEX[w] for _, w in small.entries(record, ORIGINAL)])
    scores = rng.normal(size=(len(truth), CLASSES))
    scores[np.arange(len(truth)), truth] += 3
    small.save(record, ORIGINAL, "gamma_64k_model", np.argsort(-scores, axis=1)[:, :5])
    found = Found(record)
    assert "name of a model differs" not in {k for _, _, k, _ in faults(found)}
    assert found.of("original", "gamma_64k") is None


def test_a_missing_model_has_its_row(clean: Found, record: Path) -> None:
    small.file(record, NEW, "beta").unlink()
    found = Found(record)
    assert faults(found) == {(NEW, "beta", "model missing", "left out")}
    same(found, clean, {("matched_frequency", "beta")})


@pytest.mark.parametrize("with_row", [False, True])
def test_an_image_listed_twice_is_kept_once(clean: Found, record: Path, with_row: bool) -> None:
    """An entry is repeated further on; predictions have a row for it, or not."""
    entries = small.entries(record, NEW)
    small.save_list(record, NEW, [*entries[:400], entries[20], *entries[400:]])
    if with_row:
        for model in MODELS:
            top5 = small.load(record, NEW, model)
            small.save(record, NEW, model, np.insert(top5, 400, top5[20], axis=0))
    found = Found(record)
    assert faults(found) == {(f"datasets/{NEW}.json", entries[20][0], "image doubled", "left out")}
    same(found, clean)


@pytest.mark.parametrize(("kept", "lost"), [(20, 500), (500, 20)])
def test_an_image_listed_in_the_place_of_another_keeps_its_own_row(
    clean: Found, record: Path, kept: int, lost: int
) -> None:
    entries = small.entries(record, NEW)
    assert entries[kept][1] != entries[lost][1]
    image = entries[lost][0]
    entries[lost] = entries[kept]
    small.save_list(record, NEW, entries)
    found = Found(record)
    assert faults(found) == {(f"datasets/{NEW}.json", entries[kept][0], "image doubled", "left out")}
    ids = clean.images.loc[clean.images["set"] == "matched_frequency", "image_id"].sort_values().to_numpy()
    for model in MODELS:
        one, two = found.of("matched_frequency", model), clean.of("matched_frequency", model)
        assert one is not None and two is not None
        np.testing.assert_array_equal(one, two[ids != image])


def test_an_image_of_an_unknown_class_is_left_out(record: Path) -> None:
    entries = small.entries(record, NEW)
    entries[7][1] = "n99999999"
    small.save_list(record, NEW, entries)
    found = Found(record)
    assert faults(found) == {(f"datasets/{NEW}.json", entries[7][0], "class unknown", "left out")}
    assert found.arrays["matched_frequency"].shape == (len(MODELS), len(entries) - 1, 5)


def test_stray_files_are_reported(record: Path) -> None:
    folder = record / "data" / "predictions"
    (folder / NEW / "notes.txt").write_text("hello")
    shutil.copytree(folder / NEW, folder / "unknown")
    (folder / "unknown" / "notes.txt").unlink()
    found = Found(record)
    assert {(f, k, a) for f, _, k, a in faults(found)} == {
        (f"{NEW}/notes.txt", "no file of predictions", "reported"),
        ("unknown", "predictions without list", "left out"),
    }


def test_accuracy_out_of_line_is_reported(record: Path) -> None:
    """A fault of no known kind: a third of all first classes, in no order, is replaced."""
    top5 = small.load(record, ORIGINAL, "eta")
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(rng.random(len(top5)) < 0.4)
    top5[rows] = np.stack([rng.permutation(CLASSES)[:5] for _ in rows])
    small.save(record, ORIGINAL, "eta", top5)
    found = Found(record)
    assert ("eta", "accuracy out of line", "reported") in {(s, k, a) for _, s, k, a in faults(found)}


def test_several_faults_at_once(clean: Found, record: Path) -> None:
    small.save(record, NEW, "alpha", small.load(record, NEW, "alpha")[:, ::-1] + 1)
    small.save(record, NEW, "beta", small.load(record, NEW, "beta").astype(float)[::-1])
    small.file(record, NEW, "delta").write_bytes(b"")
    path = small.file(record, LISTS["threshold"], "gamma_16k")
    path.rename(path.with_name("gamma_16k_model.npy"))
    exchange(record, (ORIGINAL, "zeta"), (ORIGINAL, "beta"))
    found = Found(record)
    assert {(s, k) for _, s, k, _ in faults(found)} == {
        ("alpha", "columns out of rank order"),
        ("alpha", "class indices off by a constant"),
        ("beta", "stored as floats"),
        ("beta", "rows in another order"),
        ("delta", "file unreadable"),
        ("gamma_16k_model", "name of a model differs"),
        ("zeta", "models exchanged"),
        ("beta", "models exchanged"),
    }
    same(found, clean, {("matched_frequency", "delta")})


def test_a_record_without_predictions_is_refused(record: Path) -> None:
    shutil.rmtree(record / "data" / "predictions")
    with pytest.raises(InputError, match="data/predictions holds no predictions"):
        Found(record)


def test_the_stage_writes_what_the_analysis_reads(
    record: Path, tmp_path: Path, make_job: Callable[..., Job]
) -> None:
    small.file(record, NEW, "beta").unlink()
    inputs = {"record/classes": {"classes.parquet": small.classes()}}
    job = make_job("record/predictions", config={"record": {"path": str(record)}}, inputs=inputs)
    predictions.run(job)
    written = {f.name: f for f in job.out.folder.iterdir()}
    assert set(written) == {f.name for f in job.stage.files}
    artifact = Artifact(write_artifact(tmp_path / "copy", job.stage, written))
    models = sorted(set(MODELS) - {"beta"})
    assert ranks.common(artifact) == models
    assert ranks.left_out(artifact).to_numpy().tolist() == [["beta", "matched_frequency", "model missing"]]
    for name, listing in LISTS.items():
        found = ranks.predictions(artifact, name)
        assert list(found.models) == models
        keys = found.images[["image_id", "wnid"]].to_numpy().tolist()
        assert keys == sorted(small.entries(record, listing))
        place = {e[0]: i for i, e in enumerate(small.entries(record, listing))}
        for row, model in zip(found.ranks, found.models, strict=True):
            top5 = small.load(record, listing, model).tolist()
            said = [(top5[place[image]], small.INDEX[wnid]) for image, wnid in keys]
            assert row.tolist() == [five.index(truth) if truth in five else 5 for five, truth in said]


def test_the_published_revision_is_the_last_of_its_rule() -> None:
    names = ["imagenetv2-b-3", "imagenetv2-b-20", "imagenetv2-b-9", "imagenetv2-a-1", ORIGINAL, "notes"]
    assert published(names) == {"threshold": "imagenetv2-a-1", "matched_frequency": "imagenetv2-b-20"}
