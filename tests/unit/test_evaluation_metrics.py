"""Metrics against independent computations: loops, scikit-learn, timm's evaluator of ReaL labels, the bootstrap."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, log_loss, recall_score

from imagenetv2.errors import InputError
from imagenetv2.evaluation.metrics import calibration, estimate, likelihood, real, subsets
from imagenetv2.evaluation.metrics.accuracy import accuracy, share
from imagenetv2.evaluation.metrics.aurra import aurra
from imagenetv2.evaluation.metrics.by_class import by_class
from imagenetv2.evaluation.metrics.summary import summary
from imagenetv2.testsets import timm_tables
from tests.unit.evaluation_predictions import confident, predictions


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return predictions(1230, classes=12, seed=5)


def test_rms_calibration_error_by_a_loop() -> None:
    confidence, right = confident(1234, seed=1)
    order = sorted(range(1234), key=lambda i: confidence[i])
    total = 0.0
    for b in range(12):
        some = order[100 * b :] if b == 11 else order[100 * b : 100 * (b + 1)]
        gap = sum(confidence[i] for i in some) / len(some) - sum(right[i] for i in some) / len(some)
        total += len(some) / 1234 * gap**2
    assert calibration.rms_calibration_error(confidence, right) == pytest.approx(math.sqrt(total), abs=1e-14)


@pytest.mark.parametrize(("images", "size", "sizes"), [(5, 100, [5]), (199, 100, [199]), (200, 100, [100, 100]),
                                                       (7, 2, [2, 2, 3]), (3, 1, [1, 1, 1])])  # fmt: skip
def test_bins_hold_equally_many_images_and_the_last_the_rest(
    images: int, size: int, sizes: list[int]
) -> None:
    confidence, right = confident(images, seed=images)
    order, start, total = np.argsort(confidence), 0, 0.0
    for n in sizes:
        some = order[start : start + n]
        start += n
        total += n / images * (confidence[some].mean() - right[some].mean()) ** 2
    assert calibration.rms_calibration_error(confidence, right, size) == pytest.approx(math.sqrt(total))


def test_ties_count_as_their_average() -> None:
    """Ten images of one confidence over two bins: each bin has the share of all ten, in whatever order they come."""
    confidence = np.full(10, 0.5)
    for right in ([1] * 5 + [0] * 5, [1, 0] * 5, [0] * 5 + [1] * 5):
        assert calibration.rms_calibration_error(confidence, right, 5) == pytest.approx(0, abs=1e-15)
    assert calibration.rms_calibration_error(confidence, [1] * 9 + [0], 5) == pytest.approx(0.4)


def test_a_calibrated_model_has_the_error_that_chance_gives_it() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.2, 1, 2050)
    squares = [
        calibration.rms_calibration_error(confidence, rng.random(2050) < confidence) ** 2 for _ in range(400)
    ]
    found = calibration.calibration_by_chance(confidence)
    assert found == pytest.approx(math.sqrt(np.mean(squares)), rel=0.04)


@pytest.mark.parametrize("bins", [1, 4, 10, 15])
def test_expected_calibration_error_is_that_of_scikit_learns_curve(bins: int) -> None:
    confidence, right = confident(700, seed=2)
    true, claimed = calibration_curve(right, confidence, n_bins=bins, strategy="uniform")
    counts = [
        sum(low < c <= high or c == low == 0 for c in confidence)
        for low, high in zip(np.arange(bins) / bins, np.arange(1, bins + 1) / bins, strict=True)
    ]
    weights = np.array([c for c in counts if c]) / 700
    wanted = float((weights * np.abs(true - claimed)).sum())
    assert calibration.expected_calibration_error(confidence, right, bins) == pytest.approx(wanted)


def test_confidence_on_an_edge_is_in_the_lower_bin_and_zero_in_the_first() -> None:
    found = calibration.expected_calibration_error([0.0, 0.5, 0.5, 1.0], [0, 1, 0, 0], 2)
    # Bins [0, 0.5] and (0.5, 1]: 3/4 · |1/3 − 1/3| + 1/4 · |1 − 0|.
    assert found == pytest.approx(0.25)


def test_aurra_by_a_loop() -> None:
    confidence, right = confident(300, seed=4)
    order = sorted(range(300), key=lambda i: -confidence[i])
    curve = [sum(right[i] for i in order[:k]) / k for k in range(1, 301)]
    found = aurra(confidence, right)
    assert found.value == pytest.approx(sum(curve) / 300, abs=1e-13)
    assert found.images == 300 and found.low < found.value < found.high


def test_aurra_of_ties_is_the_mean_over_their_orders() -> None:
    rng = np.random.default_rng(6)
    confidence = rng.integers(0, 4, 40) / 4
    right = rng.random(40) < 0.2 + 0.7 * confidence
    areas = []
    for _ in range(4000):
        order = rng.permutation(40)
        order = order[np.argsort(-confidence[order], kind="stable")]
        areas.append((np.cumsum(right[order]) / np.arange(1, 41)).mean())
    assert aurra(confidence, right).value == pytest.approx(np.mean(areas), abs=4 * np.std(areas) / 60)


@pytest.mark.parametrize(("images", "steps"), [(600, 0), (600, 5), (2000, 40)])
def test_the_interval_of_aurra_is_the_bootstraps(images: int, steps: int) -> None:
    """With and without ties."""
    confidence, right = confident(images, seed=8)
    if steps:
        confidence = np.ceil(confidence * steps) / steps
    rng = np.random.default_rng(9)
    draws = rng.integers(0, images, (600, images))
    error = np.std([aurra(confidence[d], right[d]).value for d in draws])
    found = aurra(confidence, right)
    assert (found.high - found.low) / 2 / norm.ppf(0.975) == pytest.approx(error, rel=0.1)


def test_aurra_where_confidence_says_nothing() -> None:
    right = np.arange(50) < 20
    found = aurra(np.full(50, 0.3), right)
    assert found.value == pytest.approx(0.4)
    # Then it is an accuracy, with an accuracy's standard error.
    assert found.high - found.value == pytest.approx(1.96 * math.sqrt(0.4 * 0.6 / 50), rel=1e-3)
    assert aurra([0.1, 0.9], [True, False]).value == pytest.approx(0.25)
    assert aurra([0.1, 0.9], [False, True]).value == pytest.approx(0.75)


@pytest.mark.parametrize("right", [True, False])
def test_no_interval_of_aurra_where_all_are_alike(right: bool) -> None:
    found = aurra(np.linspace(0, 1, 9), np.full(9, right))
    assert found.value == right and math.isnan(found.low) and math.isnan(found.high)


def test_log_loss_is_scikit_learns() -> None:
    rng = np.random.default_rng(2)
    outputs = rng.dirichlet(np.ones(7), 200)
    true = rng.integers(0, 7, 200)
    found = likelihood.log_loss(outputs[np.arange(200), true])
    assert found.value == pytest.approx(log_loss(true, outputs, labels=range(7)))
    assert likelihood.log_loss([0.0, 1.0]).value == pytest.approx(708.396 / 2, rel=1e-5)


def test_a_mean_has_the_interval_of_its_standard_error() -> None:
    values = np.random.default_rng(2).random(37)
    found = likelihood.mean_probability(values, 0.9)
    assert found.value == pytest.approx(values.mean())
    half = norm.ppf(0.95) * values.std(ddof=1) / math.sqrt(37)
    assert (found.low, found.high) == (
        pytest.approx(values.mean() - half),
        pytest.approx(values.mean() + half),
    )
    assert math.isnan(estimate.mean([0.4], 0.95).low)
    with pytest.raises(ValueError, match="at least one"):
        estimate.mean([], 0.95)


@pytest.mark.parametrize(
    ("confidence", "right", "complaint"),
    [
        ([], [], "at least one"),
        ([0.5], [1, 0], "shape"),
        ([1.01], [1], "between"),
        ([math.nan], [1], "between"),
    ],
)
def test_what_is_no_confidence_is_refused(confidence: list[float], right: list[int], complaint: str) -> None:
    for metric in (calibration.rms_calibration_error, calibration.expected_calibration_error, aurra):
        with pytest.raises(ValueError, match=complaint):
            metric(confidence, right)


def test_bins_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        calibration.rms_calibration_error([0.5], [1], 0)
    with pytest.raises(ValueError, match="at least 1"):
        calibration.expected_calibration_error([0.5], [1], 0)


class Answered:
    """Outputs of a model of which only the first answers matter, as timm asks for them."""

    def __init__(self, answers: np.ndarray) -> None:
        self.answers = answers

    def topk(self, k: int, *_: object) -> tuple[None, Any]:
        import torch

        return None, torch.from_numpy(self.answers[:, :k])


def test_real_accuracy_is_timms() -> None:
    from timm.data import RealLabelsImagenet

    rng = np.random.default_rng(1)
    labels = real.real_labels()
    answers = np.tile(rng.permutation(1000)[:5], (50_000, 1))
    # In half of the rows one of the answers, at any place, is a label; no answer is given twice.
    first = labels[:, 0]
    hit = (rng.random(50_000) < 0.5) & (first >= 0) & ~np.isin(first, answers[0])
    answers[hit, rng.integers(0, 5, hit.sum())] = first[hit]
    names = [f"val/n00000000/ILSVRC2012_val_{i + 1:08d}.JPEG" for i in range(50_000)]
    judge = RealLabelsImagenet(names)
    judge.add_result(Answered(answers))
    for k in (1, 5):
        found = real.real_accuracy(real.numbers(names), answers, k)
        assert 100 * found.share == pytest.approx(judge.get_accuracy(k), abs=1e-10)
        assert found.images == len(judge.is_correct[k]) == 46_837


def test_names_of_validation_images() -> None:
    names = [
        "ILSVRC2012_val_00000001.JPEG", "val/n01440764/ILSVRC2012_val_00050000.png", "ILSVRC2012_val_00000007_n01751748.JPEG",
        "ILSVRC2012_val_00050001.JPEG", "ILSVRC2012_val_00000000.JPEG", "ILSVRC2012_test_00000001.JPEG", "a/7.jpg", "",
        "ILSVRC2012_val_1.JPEG",
    ]  # fmt: skip
    assert real.numbers(names).tolist() == [1, 50_000, 7, -1, -1, -1, -1, -1, -1]


def test_real_accuracy_needs_validation_images_with_labels() -> None:
    labels = real.real_labels()
    assert labels.shape == (50_000, 9) and labels.min() == -2 and labels.max() == 999
    assert (labels[0] < 0).all()  # People found no label right for the first image.
    with pytest.raises(ValueError, match="validation images only"):
        real.real_accuracy([1, -1], [[0], [0]])
    with pytest.raises(ValueError, match="between 1 and 2"):
        real.real_accuracy([1], [[0, 1]], k=5)
    with pytest.raises(ValueError, match="at least one"):
        real.real_accuracy([1], [[0, 1]])
    assert real.real_accuracy([1, 2], [[5, 6], [970, 6]]).images == 1
    assert real.real_accuracy([2], [[6, 795]], 2).share == 1


@pytest.mark.parametrize("name", ["imagenet-a", "imagenet-r"])
def test_named_subsets_are_timms_masks(name: str) -> None:
    own = np.loadtxt(_of_timm(f"{name.replace('-', '_')}_indices.txt"), int)
    every = timm_tables.imagenet_wnids()
    assert list(subsets.named(name)) == [every[i] for i in own]
    assert len(set(own)) == 200


def _of_timm(name: str) -> list[str]:
    return timm_tables.text(name).splitlines()


def test_a_table_that_timm_lacks_is_named() -> None:
    with pytest.raises(InputError, match=r"nothing_synsets\.txt; install timm"):
        timm_tables.text("nothing_synsets.txt")


def test_accuracy_on_images_of_some_classes(table: pd.DataFrame) -> None:
    chosen = ["n00000003", "n00000007"]
    right = [rank < 5 for rank, wnid in zip(table["rank"], table["wnid"], strict=True) if wnid in chosen]
    found = subsets.accuracy_on_images_of(table["rank"], table["wnid"].tolist(), chosen, k=5)
    assert (found.images, found.right) == (len(right), sum(right))
    with pytest.raises(ValueError, match="at least one"):
        subsets.accuracy_on_images_of(table["rank"], table["wnid"].tolist(), ["n99999999"])


def test_subsets_of_lists_names_and_files(tmp_path: Path) -> None:
    path = tmp_path / "dogs.txt"
    path.write_text("# dogs\nn02085620 Chihuahua\n\nn02085620\nn02085782\n")
    known = timm_tables.imagenet_wnids()
    found = subsets.subsets(
        {"all": ("imagenet-a", "imagenet-r"), "one": ("n01440764",)}, {"dogs": path}, known
    )
    assert found["dogs"] == ("n02085620", "n02085782") and found["one"] == ("n01440764",)
    assert set(found["all"]) == set(subsets.named("imagenet-a")) | set(subsets.named("imagenet-r"))
    assert list(found) == ["all", "dogs", "one"]
    with pytest.raises(InputError, match=r"metrics\.subset_files\.dogs: 1 of its 2 classes .* n02085782"):
        subsets.subsets({}, {"dogs": path}, ["n02085620"])
    with pytest.raises(InputError, match=r"metrics\.subsets\.one: 1 of its 1"):
        subsets.subsets({"one": ("n01440764",)}, {}, [])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"n0208562\n", "line 1: n0208562 is no WordNet ID"),
        (b"\n# x\n", "names no class"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_files_that_are_no_subsets(content: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        subsets.read(tmp_path / "x.txt")
    with pytest.raises(InputError, match="cannot be read"):
        subsets.read(tmp_path / "none.txt")


def test_accuracy_of_each_class_is_its_recall(table: pd.DataFrame) -> None:
    found = by_class(table, 0.9)
    answers = [top[0] for top in table["top5"]]
    recalls = recall_score(table["class_index"], answers, average=None, labels=range(12))
    assert found["share"].to_numpy() == pytest.approx(recalls)
    assert found["class_index"].tolist() == list(range(12)) and found["images"].sum() == len(table)
    assert found["right"].sum() / len(table) == pytest.approx(accuracy_score(table["class_index"], answers))
    for row in found.to_dict("records"):
        exact = binomtest(row["right"], row["images"]).proportion_ci(0.9, method="exact")
        assert (row["low"], row["high"]) == (pytest.approx(exact.low), pytest.approx(exact.high))


def test_share_of_right_images() -> None:
    assert share([True, False, True, True]) == accuracy([0, 3, 0, 0])


def test_summary_holds_every_metric(table: pd.DataFrame) -> None:
    found = summary(
        table, 0.9, bin_images=50, bins=10, subsets={"pair": ["n00000000", "n00000001"], "none": ["n9"]}
    )
    value = found.set_index("metric")["value"]
    assert value.index.tolist() == [
        "top1", "top1[images of pair]", "top5", "top5[images of pair]", "mean_probability", "log_loss",
        "rms_calibration_error", "rms_calibration_error_by_chance", "expected_calibration_error", "aurra",
    ]  # fmt: skip
    confidence, right = table["top_probability"], table["rank"] == 0
    assert value["top1"] == right.mean() and value["top5"] == (table["rank"] < 5).mean()
    assert value["mean_probability"] == pytest.approx(table["probability"].mean())
    assert value["rms_calibration_error"] == calibration.rms_calibration_error(confidence, right, 50)
    assert value["expected_calibration_error"] == calibration.expected_calibration_error(
        confidence, right, 10
    )
    assert value["aurra"] == aurra(confidence, right).value
    few = found.set_index("metric").loc["top1[images of pair]"]
    assert few["images"] == (table["class_index"] < 2).sum()
    exact = binomtest(int(right.sum()), len(table)).proportion_ci(0.9, method="exact")
    assert found["low"].iloc[0] == pytest.approx(exact.low)


def test_real_accuracy_is_there_only_for_validation_images(table: pd.DataFrame) -> None:
    names = [f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i in range(len(table))]
    value = summary(table, names=names).set_index("metric")
    wanted = real.real_accuracy(range(1, len(table) + 1), np.stack(list(table["top5"])), 5)
    assert value.loc["real_top5", "value"] == wanted.share
    assert value.loc["real_top5", "images"] == wanted.images < len(table)
    assert "real_top1" not in summary(table, names=[*names[1:], "other.jpg"])["metric"].tolist()


def test_a_perfect_and_sure_model() -> None:
    table = predictions(120, classes=6, seed=1).assign(rank=0, probability=1.0, top_probability=1.0)
    value = summary(table).set_index("metric")["value"]
    ones = ["top1", "top5", "mean_probability", "aurra"]
    zeros = [
        "log_loss",
        "rms_calibration_error",
        "rms_calibration_error_by_chance",
        "expected_calibration_error",
    ]
    assert (value[ones] == 1).all() and (value[zeros] == 0).all()


def test_a_constant_model() -> None:
    """Equal outputs for all of ten classes: right for the first class only, and sure of a tenth."""
    true = np.repeat(np.arange(10), 12)
    table = pd.DataFrame(
        {
            "wnid": [f"n{c:08d}" for c in true], "class_index": true, "rank": true, "top5": [list(range(5))] * 120,
            "probability": 0.1, "top_probability": 0.1,
        }
    )  # fmt: skip
    value = summary(table).set_index("metric")["value"]
    assert value[["top1", "top5", "aurra", "mean_probability"]].tolist() == pytest.approx(
        [0.1, 0.5, 0.1, 0.1]
    )
    assert value["log_loss"] == pytest.approx(math.log(10))
    errors = value[["rms_calibration_error", "expected_calibration_error"]]
    assert errors.tolist() == pytest.approx([0, 0], abs=1e-15)
    assert by_class(table)["right"].tolist() == [12, *[0] * 9]
