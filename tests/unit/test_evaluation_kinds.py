"""The parts of the trained kinds against scikit-learn and scikit-image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax
from skimage.feature import hog
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from imagenetv2.evaluation.classifier import Compute, Training
from imagenetv2.evaluation.kinds import gradients, random_features
from imagenetv2.evaluation.kinds.linear import fit_logistic, logits
from imagenetv2.evaluation.pictures import Pictures, pictures
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from tests.unit.evaluation_sets import picture, reference


@pytest.mark.parametrize("classes", [2, 4])
def test_logistic_regression_is_scikit_learns(classes: int) -> None:
    random = np.random.default_rng(1)
    features = random.normal(2, 3, (80, 6))
    labels = np.arange(80) % classes
    features[:, 0] += labels
    scaled = StandardScaler().fit_transform(features)
    oracle = LogisticRegression(C=0.1, tol=1e-8, max_iter=5000).fit(scaled, labels)
    weights = fit_logistic(features, labels, classes, 0.1)
    found = softmax(logits(features, weights), axis=1)
    np.testing.assert_allclose(found, oracle.predict_proba(scaled), atol=2e-3)


def test_a_constant_feature_does_no_harm() -> None:
    features = np.ones((6, 2))
    features[3:, 0] = 5
    weights = fit_logistic(features, np.array([0, 0, 0, 1, 1, 1]), 2, 1.0)
    assert np.isfinite(logits(features, weights)).all()
    assert logits(features, weights).argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 1]


def test_random_features_are_scikit_learns_ridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_features, "BLOCK", 10)  # several blocks, the last one short
    files = reference(12, 1)
    (tmp_path / "images.zip").write_bytes(files["images.zip"])
    table = files["reference.parquet"].query("split == 'train'")
    images = Pictures(tmp_path / "images.zip", table["file"].tolist())
    labels = table["class_index"].to_numpy()
    model = Model(name="m", kind="random_features", side=8, components=50)
    weights = random_features.train(model, Training(images, labels, 3, np.random.default_rng(1))).weights
    values = random_features.vectors(Preprocessing(Cut.square(8)).cut_all(images))
    features = random_features.fourier(values, weights)
    penalty = random_features.PENALTY * len(labels) * float(np.mean(features**2))
    oracle = Ridge(alpha=penalty).fit(features, np.eye(3)[labels])
    np.testing.assert_allclose(weights["slopes"].T, oracle.coef_, atol=1e-5)
    np.testing.assert_allclose(weights["intercepts"], oracle.intercept_, atol=1e-5)


def test_histograms_are_scikit_images() -> None:
    pixels = picture(np.random.default_rng(1), 2, (32, 32))
    wanted = hog(pixels, orientations=9, pixels_per_cell=(8, 8), cells_per_block=(2, 2), channel_axis=2)
    np.testing.assert_allclose(gradients.histograms(pixels), wanted, rtol=1e-5)


def test_gradients_are_those_of_each_image_of_a_batch() -> None:
    random = np.random.default_rng(1)
    batch = np.stack([picture(random, colour, (32, 32)) for colour in (0, 1, 2)])
    features = np.stack([gradients.histograms(pixels) for pixels in batch])
    weights = fit_logistic(features, np.arange(3), 3, 1.0)
    facts = {"preprocessing": Preprocessing(Cut.square(32)).to_json()}
    classifier = gradients.load(Model(name="m", kind="hog", side=32), facts, weights, Compute())
    found = classifier.outputs(batch)
    assert found.argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(found, logits(features, weights))
    assert classifier.digest is None


def test_pictures_are_remembered_only_while_small(tmp_path: Path) -> None:
    files = reference(2, 1)
    path = tmp_path / "images.zip"
    path.write_bytes(files["images.zip"])
    names = tuple(files["reference.parquet"]["file"])
    small = pictures(path, names, 1000)
    assert small is pictures(path, names, 1000)
    assert small[0] is small[0]
    large = pictures(path, names, 2**40)
    assert large[0] is not large[0]
    assert np.array_equal(large[0], small[0])
    assert [p.shape for p in small[1:3]] == [p.shape for p in list(small)[1:3]]
