"""Fisher vectors against their formula, descriptors against scikit-image, and the classifier as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from skimage.color import rgb2gray
from skimage.feature import hog
from threadpoolctl import threadpool_limits

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute, Fitted, Training
from imagenetv2.evaluation.kinds import fisher_vectors
from imagenetv2.evaluation.kinds.fisher_vectors import Encoder, descriptors
from imagenetv2.evaluation.settings import Model
from tests.unit.evaluation_sets import picture

MODEL = Model(name="m", kind="fisher_vectors", side=32, components=4)


def images(per_class: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), per_class)
    return [picture(random, int(label)) for label in labels], labels


def trained(model: Model = MODEL, seed: int = 1) -> Fitted:
    pixels, labels = images(10, 1)
    return fisher_vectors.train(model, Training(pixels, labels, 3, np.random.default_rng(seed)))


@pytest.mark.parametrize("shape", [(64, 64), (67, 50), (16, 16), (19, 100)])
@pytest.mark.parametrize("levels", [1, 60])
def test_descriptors_are_blocks_of_scikit_images_hog(shape: tuple[int, int], levels: int) -> None:
    random = np.random.default_rng(1)
    pixels = (random.integers(0, 256, (*shape, 3)) // levels * levels).astype(np.uint8)
    wanted = hog(rgb2gray(pixels), 8, (4, 4), (4, 4), "L2-Hys", feature_vector=False).reshape(-1, 128)
    np.testing.assert_allclose(descriptors(pixels), wanted, atol=1e-6)


def test_a_fisher_vector_is_the_gradient_of_the_log_likelihood() -> None:
    """The formula of Sánchez, Perronnin, Mensink and Verbeek (IJCV 2013), equations 16 to 18, one descriptor at a time;
    scikit-image has the last of the three with the other sign."""
    random = np.random.default_rng(2)
    shares, means = np.array([0.2, 0.5, 0.3]), random.normal(size=(3, 4))
    variances = random.uniform(0.3, 2, (3, 4))
    weights = {
        "pca_mean": np.zeros(4), "pca_axes": np.eye(4),
        "gmm_shares": shares, "gmm_means": means, "gmm_variances": variances,
    }  # fmt: skip
    found = random.normal(size=(30, 4))
    by_share, by_mean, by_deviation = np.zeros(3), np.zeros((3, 4)), np.zeros((3, 4))
    for x in found:
        parts = [
            s * multivariate_normal.pdf(x, m, np.diag(v))
            for s, m, v in zip(shares, means, variances, strict=True)
        ]
        for k, posterior in enumerate(np.array(parts) / sum(parts)):
            z = (x - means[k]) / np.sqrt(variances[k])
            by_share[k] += (posterior - shares[k]) / np.sqrt(shares[k])
            by_mean[k] += posterior * z / np.sqrt(shares[k])
            by_deviation[k] += posterior * (z**2 - 1) / np.sqrt(2 * shares[k])
    whole = np.concatenate([by_share, by_mean.ravel(), -by_deviation.ravel()])
    rooted = np.sign(whole) * np.sqrt(np.abs(whole))
    np.testing.assert_allclose(Encoder(weights)(found), rooted / np.linalg.norm(rooted), atol=1e-6)


def test_it_learns_and_says_what_it_is() -> None:
    fitted = trained()
    pixels, labels = images(6, 2)
    batch = fisher_vectors.Preprocessing.from_json(fitted.facts["preprocessing"]).cut_all(pixels)
    found = fisher_vectors.load(MODEL, fitted.facts, fitted.weights, Compute()).outputs(batch)
    assert found.shape == (18, 3)
    assert (found.argmax(axis=1) == labels).mean() > 0.9
    assert "4 Gaussians" in fitted.facts["architecture"]


def test_the_seed_decides_and_threads_do_not() -> None:
    with threadpool_limits(1):
        alone = trained().weights
    again, other = trained().weights, trained(seed=2).weights
    assert all(np.array_equal(alone[name], again[name]) for name in alone)
    assert not np.array_equal(alone["gmm_means"], other["gmm_means"])


def test_no_setting_means_sixteen_gaussians() -> None:
    assert len(trained(MODEL.model_copy(update={"components": None})).weights["gmm_shares"]) == 16


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"side": 12}, "side is 12, and a descriptor of fisher_vectors covers 16 pixels; set side to 16"),
        ({"components": 400}, "750 descriptors of training images are too few for 400 Gaussians"),
    ],
)
def test_what_cannot_be_trained(changed: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        trained(MODEL.model_copy(update=changed))
