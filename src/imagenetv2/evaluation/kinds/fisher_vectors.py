"""Fisher vectors of dense gradient histograms and a linear classifier (Perronnin, Sánchez and Mensink, ECCV 2010).

Inspired by, and not, the study's Fisher vector models (fv_4k, fv_16k, fv_64k), which are far larger and were trained
on all of ImageNet's training images. Here a descriptor is a square of 4 × 4 cells with a histogram of 8 orientations
each, as in SIFT but of unsigned gradients; descriptors are reduced by PCA, and a mixture of Gaussians with diagonal
covariances is fitted to a sample of them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.linear import fit_logistic, logits, one_thread
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels
from imagenetv2.progress import progress

COMPONENTS = 16
"""Gaussians where the configuration does not say."""
CELL, CELLS, ORIENTATIONS = 4, 4, 8
"""Side of a cell in pixels, cells along the side of a descriptor, bins of a histogram; descriptors lie a cell apart."""
CLIP = 0.2
"""Largest value of a descriptor of length 1, as in SIFT; then it is brought to length 1 again."""
DIMENSIONS = 32
"""Of descriptors after PCA."""
SAMPLE = (200, 20_000)
"""Images and descriptors of them, drawn at random, that PCA and the mixture are fitted to."""
ROUNDS = 100
"""Most rounds of expectation maximisation."""
STRENGTH = 1e-2


def train(model: Model, training: Training) -> Fitted:
    """The mixture from a random sample of descriptors; then logistic regression on the Fisher vectors."""
    smallest = CELLS * CELL
    if model.side < smallest:
        raise InputError(
            f"models: {model.name}: side is {model.side}, and a descriptor of fisher_vectors covers {smallest} pixels; "
            f"set side to {smallest} or more."
        )
    preprocessing = Preprocessing(Cut.square(model.side))
    inputs, components = preprocessing.cut_all(training.images), model.components or COMPONENTS
    with one_thread():
        weights = _mixture(model.name, inputs, components, training.generator)
        encode = Encoder(weights)
        features = np.stack([encode(descriptors(pixels)) for pixels in progress(inputs, model.name)])
    facts = {
        "library": "scikit-image",
        "architecture": f"Fisher vectors of {components} Gaussians, logistic",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, weights | fit_logistic(features, training.labels, training.classes, STRENGTH))


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> FisherVectors:
    """Ready."""
    return FisherVectors(weights)


def descriptors(pixels: Pixels) -> Array:
    """Descriptors of an image, squares × values, of the grey level's gradients.

    The blocks of scikit-image's ``hog``, all at once: it normalises one at a time, which takes ten times as long.
    """
    from skimage.color import rgb2gray

    down, right = _differences(rgb2gray(pixels))
    bins = (np.degrees(np.arctan2(down, right)) % 180 // (180 / ORIENTATIONS)).astype(np.int64)
    rows, columns = (side // CELL for side in down.shape)
    row, column = np.ogrid[: rows * CELL, : columns * CELL]
    place = (row // CELL * columns + column // CELL) * ORIENTATIONS + bins[: len(row), : column.size]
    lengths = np.hypot(down, right)[: len(row), : column.size]
    sums = np.bincount(place.ravel(), lengths.ravel(), rows * columns * ORIENTATIONS) / CELL**2
    squares = np.lib.stride_tricks.sliding_window_view(
        sums.reshape(rows, columns, ORIENTATIONS), (CELLS, CELLS), axis=(0, 1)
    )
    found = squares.transpose(0, 1, 3, 4, 2).reshape(-1, CELLS**2 * ORIENTATIONS)
    return _unit(np.minimum(_unit(found), CLIP))


def _differences(grey: Array) -> tuple[Array, Array]:
    """Central differences along rows and columns, 0 at the border."""
    down, right = np.zeros_like(grey), np.zeros_like(grey)
    down[1:-1] = grey[2:] - grey[:-2]
    right[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    return down, right


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.sqrt((rows**2).sum(axis=1, keepdims=True) + 1e-10))


class Encoder:
    """From the descriptors of an image to its Fisher vector, by the weights of PCA and mixture."""

    def __init__(self, weights: Weights) -> None:
        from sklearn.mixture import GaussianMixture

        self._centre, self._axes = (np.asarray(weights[n], np.float64) for n in ("pca_mean", "pca_axes"))
        shares, means, variances = (
            np.asarray(weights[n], np.float64) for n in ("gmm_shares", "gmm_means", "gmm_variances")
        )
        self._mixture: Any = GaussianMixture(len(shares), covariance_type="diag")
        self._mixture.weights_, self._mixture.means_ = shares, means
        self._mixture.covariances_, self._mixture.precisions_cholesky_ = variances, 1 / np.sqrt(variances)

    def reduced(self, found: Array) -> Array:
        """Descriptors × dimensions."""
        return np.asarray((found - self._centre) @ self._axes.T)

    def __call__(self, found: Array) -> Array:
        """Gradients by shares, means and deviations of the Gaussians, signed square roots, of length 1; float32."""
        from skimage import feature

        library: Any = feature
        return np.asarray(
            library.fisher_vector(self.reduced(found), self._mixture, improved=True), np.float32
        )


class FisherVectors:
    """Outputs are logits."""

    digest = None

    def __init__(self, weights: Weights) -> None:
        self._encode, self._weights = Encoder(weights), weights

    def outputs(self, batch: Array) -> Array:
        """Images × classes."""
        return logits(np.stack([self._encode(descriptors(pixels)) for pixels in batch]), self._weights)


def _mixture(name: str, inputs: Pixels, components: int, random: np.random.Generator) -> dict[str, Any]:
    """PCA and mixture of a sample of descriptors. Raises InputError where there are too few of them."""
    from skimage import feature
    from sklearn.decomposition import PCA
    from sklearn.exceptions import ConvergenceWarning

    library: Any = feature
    images, size = SAMPLE
    pool = np.concatenate([descriptors(inputs[i]) for i in random.permutation(len(inputs))[:images]])
    if len(pool) < 2 * components:
        raise InputError(
            f"models: {name}: {len(pool)} descriptors of training images are too few for {components} Gaussians; "
            "lower components, or give more training images or a larger side."
        )
    sample = pool[random.permutation(len(pool))[:size]]
    seed = int(random.integers(2**31))
    pca = PCA(min(DIMENSIONS, *sample.shape), svd_solver="full").fit(sample)
    options = {
        "covariance_type": "diag",
        "init_params": "k-means++",
        "max_iter": ROUNDS,
        "random_state": seed,
    }
    with warnings.catch_warnings():
        # A mixture that still moves a little after ROUNDS is as good a vocabulary.
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture: Any = library.learn_gmm(pca.transform(sample), n_modes=components, gm_args=options)
    return {
        "pca_mean": pca.mean_.astype(np.float32),
        "pca_axes": pca.components_.astype(np.float32),
        "gmm_shares": mixture.weights_.astype(np.float32),
        "gmm_means": mixture.means_.astype(np.float32),
        "gmm_variances": mixture.covariances_.astype(np.float32),
    }
