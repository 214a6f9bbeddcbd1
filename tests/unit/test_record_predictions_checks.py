"""Parts of the import of predictions against brute force, and the import of CIFAR-10.1."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from imagenetv2.errors import InputError
from imagenetv2.record import npy, predictions, source
from imagenetv2.record.faults import table
from imagenetv2.record.listings import doubled, listing
from imagenetv2.record.model_names import alike, chosen
from imagenetv2.record.prediction_checks import consensus, kinship, line, rows
from imagenetv2.record.reader import Reader
from imagenetv2.record.settings import Record

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def some_top5(rng: np.random.Generator, models: int, images: int, classes: int) -> np.ndarray:
    scores = rng.normal(size=(models, images, classes)) + rng.normal(size=(images, classes))
    return np.argsort(-scores, axis=2)[:, :, :5].astype(np.int16)


def test_support_is_how_often_others_have_the_class() -> None:
    rng = np.random.default_rng(0)
    top5 = some_top5(rng, 4, 1100, 9)
    top5[1, 5, 3] = -1
    expected = np.zeros((4, 5))
    for m, i, k in itertools.product(range(4), range(1100), range(5)):
        if top5[m, i, k] >= 0:
            expected[m, k] += sum(top5[m, i, k] in top5[o, i] for o in range(4) if o != m)
    np.testing.assert_allclose(consensus.support(top5, 9), expected / (3 * 1100))


def test_correlation_within_classes_is_that_of_centred_values() -> None:
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 6, 400)
    right = rng.random((5, 400)) < rng.random(400)
    found = consensus.within_class(right, classes)
    for m in range(5):
        frame = pd.DataFrame(
            {"own": right[m], "others": np.delete(right, m, axis=0).mean(axis=0), "c": classes}
        )
        frame[["own", "others"]] -= frame.groupby("c")[["own", "others"]].transform("mean")
        assert found[m] == pytest.approx(stats.pearsonr(frame["own"], frame["others"]).statistic)


def test_agreement_is_the_share_of_equal_first_classes() -> None:
    first = some_top5(np.random.default_rng(2), 4, 50, 6)[:, :, 0]
    expected = (first[:, None] == first[None]).mean(axis=2)
    np.testing.assert_allclose(consensus.agreement(first), expected)


def test_distances_leave_out_the_two_models_themselves() -> None:
    rng = np.random.default_rng(3)
    one, other = (rng.uniform(0.2, 0.9, (7, 7)) for _ in range(2))
    one, other = (one + one.T) / 2, (other + other.T) / 2
    x, y = kinship.kinship(one), kinship.kinship(other)
    found = kinship.distances(one, other)
    for i, k in itertools.product(range(7), repeat=2):
        rest = [j for j in range(7) if j not in (i, k)]
        assert found[i, k] == pytest.approx(np.sqrt(((x[i, rest] - y[k, rest]) ** 2).mean()))


def test_residuals_are_from_the_line_through_all_others() -> None:
    rng = np.random.default_rng(4)
    old = rng.normal(size=12)
    new = 1.1 * old - 0.2 + 0.05 * rng.normal(size=12)
    left, spread = line.residuals(old, new)
    for i in range(12):
        fitted = stats.linregress(np.delete(old, i), np.delete(new, i))
        assert left[i] == pytest.approx(new[i] - fitted.intercept - fitted.slope * old[i])
        rest = np.delete(new - fitted.intercept - fitted.slope * old, i)
        assert spread[i] == pytest.approx(1.4826 * np.median(np.abs(rest)))


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 8])
def test_a_constant_offset_is_measured(shift: int) -> None:
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 30, 500)
    given = np.where(rng.random(500) < 0.6, classes, rng.integers(0, 30, 500))[:, None] + shift
    found = rows.fit(given.astype(np.int32), np.arange(500), classes, 30)
    assert found.shift == shift and found.good
    assert found.share == pytest.approx((given[:, 0] - shift == classes).mean())
    assert found.beyond == pytest.approx((found.share - 1 / 30) / (1 - 1 / 30), abs=0.01)
    assert not rows.fit(rng.permutation(given).astype(np.int32), np.arange(500), classes, 30).good


def test_lists_keep_an_image_once() -> None:
    entries = [("a", "x"), ("b", "y"), ("a", "x"), ("c", "?"), ("d", "x")]
    assert doubled(entries) == {"a": [0, 2]}
    first, last = (listing("l", entries, {"x": 0, "y": 1}, last=v) for v in (False, True))
    assert first.ids == ("a", "b", "d") and first.entries.tolist() == [0, 1, -1, -1, 2]
    assert last.ids == ("b", "a", "d") and last.entries.tolist() == [-1, 0, 1, -1, 2]
    assert first.rows(5) is first.entries
    whole = first.rows(3)
    assert whole is not None and whole.tolist() == [0, 1, 2] and first.rows(4) is None
    for _, order in first.orders(5):
        assert sorted(order.tolist()) == [-1, -1, 0, 1, 2]


def test_names_that_may_be_spellings_of_one() -> None:
    for one, other in [
        ("fv_64k", "fv_64k_model"),
        ("ResNet-50", "resnet50"),
        ("inceptionv3", "inception_v3"),
    ]:
        assert alike(one, other) and alike(other, one)
    for one, other in [("fv_64k", "fv_16k_model"), ("resnet18", "resnet34"), ("alexnet", "vgg11")]:
        assert not alike(one, other) and not alike(other, one)


def test_the_name_of_most_files_is_chosen() -> None:
    from collections import Counter

    assert chosen(["a", "b", "a"], Counter()) == "a"
    assert chosen(["a_model", "a"], Counter({"a": 3, "a_model": 1})) == "a"
    assert chosen(["a", "b"], Counter({"a": 3, "b": 3})) is None


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_format_version_are_read(version: tuple[int, int], order: str) -> None:
    values = np.asarray(np.arange(15).reshape(3, 5), order="C" if order == "C" else "F")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, values, version)
    np.testing.assert_array_equal(npy.parse(stream.getvalue()), values)
    for end in range(0, len(stream.getvalue()), 7):
        with pytest.raises(npy.Unreadable):
            npy.parse(stream.getvalue()[:end])


def cifar(folder: Path, change: Callable[[dict[str, np.ndarray]], None] = lambda arrays: None) -> Path:
    """A record in the layout of CIFAR-10.1 with six models."""
    rng = np.random.default_rng(6)
    arrays: dict[str, np.ndarray] = {
        "models": np.array([f"net{k}" for k in range(5)] + ["random_features_1"])
    }
    labels = {}
    for name, count in (("original", 1000), ("v4", 300), ("v6", 250)):
        labels[name] = rng.permutation(np.arange(count) % 10)
        hard = rng.random(count)
        arrays[name] = np.stack(
            [np.where(hard < 0.5 + 0.08 * m, labels[name], rng.integers(0, 10, count)) for m in range(6)]
        ).astype(np.int8)
    arrays |= {"labels_v4": labels["v4"], "labels_v6": labels["v6"]}
    change(arrays)
    folder.mkdir(exist_ok=True)
    np.savez(folder / "cifar101_predictions.npz", allow_pickle=False, **arrays)
    np.save(folder / "cifar10_test_labels.npy", labels["original"])
    return folder


def import_cifar(folder: Path) -> tuple[predictions.Imported, pd.DataFrame]:
    reader = Reader(source.read(folder, "cifar10.1"))
    settings = Record(path=folder, kind="cifar10.1")
    found = predictions.imported(reader, {name: k for k, name in enumerate(CIFAR10)}, settings)
    return found, table(reader.faults)


def test_cifar_predictions_fill_the_first_column(tmp_path: Path) -> None:
    found, faults = import_cifar(cifar(tmp_path))
    assert faults.empty and found.earlier.empty and found.models["usable"].all()
    with np.load(tmp_path / "cifar101_predictions.npz") as arrays:
        for name in ("original", "v4", "v6"):
            np.testing.assert_array_equal(found.arrays[name][:, :, 0], arrays[name])
            assert (found.arrays[name][:, :, 1:] == -1).all()
        v4 = found.images[found.images["set"] == "v4"]
        assert v4["class_index"].tolist() == arrays["labels_v4"].tolist()
    assert v4["image_id"].iloc[[0, 299]].tolist() == ["000", "299"]
    assert v4["wnid"].tolist() == [CIFAR10[k] for k in v4["class_index"]]
    families = dict(zip(found.models["model"], found.models["family"], strict=True))
    assert families["random_features_1"] == "Random features" and families["net0"] == "Convolutional networks"


def test_faults_in_cifar_predictions_are_found(tmp_path: Path) -> None:
    clean, _ = import_cifar(cifar(tmp_path / "clean"))

    def damage(arrays: dict[str, np.ndarray]) -> None:
        arrays["v4"][0] += 1
        arrays["v4"][1] = arrays["v4"][1][::-1]
        arrays["v4"][2] = np.random.default_rng(0).permutation(arrays["v4"][2])
        arrays["v6"] = arrays["v6"].T.astype(float)

    found, faults = import_cifar(cifar(tmp_path / "damaged", damage))
    kinds = set(zip(faults["file"], faults["subject"], faults["fault"], faults["action"], strict=True))
    archive = "cifar101_predictions.npz"
    assert {k for k in kinds if k[0].endswith("v4")} == {
        (f"{archive}/v4", "net0", "class indices off by a constant", "corrected"),
        (f"{archive}/v4", "net1", "rows in another order", "corrected"),
        (f"{archive}/v4", "net2", "predictions do not fit the images", "left out"),
    }
    assert {k[2] for k in kinds if k[0].endswith("v6")} == {"stored as floats"}
    np.testing.assert_array_equal(found.arrays["v4"], np.delete(clean.arrays["v4"], 2, axis=0))
    np.testing.assert_array_equal(found.arrays["v6"], clean.arrays["v6"])


def test_a_set_that_cannot_be_read_leaves_every_model_out(tmp_path: Path) -> None:
    def damage(arrays: dict[str, np.ndarray]) -> None:
        arrays["v4"] = arrays["v4"][:, :-1][:4]

    found, faults = import_cifar(cifar(tmp_path, damage))
    assert len(found.arrays["v4"]) == 0 and len(found.arrays["v6"]) == 6
    assert set(faults["subject"]) == set(found.models["model"])


@pytest.mark.parametrize("name", ["models", "labels_v4"])
def test_cifar_without_names_or_labels_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="fetch"):
        import_cifar(cifar(tmp_path, lambda arrays: arrays.__delitem__(name)))
    path = tmp_path / "cifar101_predictions.npz"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match="fetch"):
        import_cifar(tmp_path)
