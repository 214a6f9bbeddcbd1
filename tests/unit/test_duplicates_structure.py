"""SSIM against scikit-image, and which references a candidate has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from skimage.metrics import structural_similarity

from imagenetv2.duplicates import screen, ssim, structure
from imagenetv2.duplicates.squashed import Collection, collection

Images = npt.NDArray[np.uint8]


def hostile(side: int) -> Images:
    rng = np.random.default_rng(11)
    noise = rng.integers(0, 255, (side, side, 3), dtype=np.uint8)
    ramp = np.broadcast_to(np.linspace(0, 255, side).astype(np.uint8)[:, None, None], (side, side, 3))
    flat = [np.full((side, side, 3), level) for level in (0, 1, 128, 254, 255)]
    board = (np.indices((side, side)).sum(axis=0) % 2 * 255)[:, :, None].repeat(3, axis=2)
    grey = noise[:, :, :1].repeat(3, axis=2)
    return np.stack([noise, noise + 1, 255 - noise, ramp, *flat, board, grey]).astype(np.uint8)


def every_pair(x: Images, y: Images, window: int) -> npt.NDArray[np.float64]:
    row, column = np.divmod(np.arange(len(x) * len(y)), len(y))
    found = ssim.dissimilarities(ssim.windows(x, window), ssim.windows(y, window), row, column, window)
    return found.reshape(len(x), len(y))


def oracle(a: Images, b: Images, window: int) -> float:
    value = structural_similarity(a, b, channel_axis=-1, data_range=255, win_size=window)
    return (1 - float(value)) / 2


@pytest.mark.parametrize(("side", "window"), [(24, 7), (20, 3), (20, 13), (19, 19), (40, 35)])
def test_equals_scikit_image(side: int, window: int) -> None:
    images = hostile(side)
    found = every_pair(images, images, window)
    wanted = np.array([[oracle(a, b, window) for b in images] for a in images])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert np.array_equal(found, found.T)
    assert found.diagonal().max() < 1e-15


@pytest.mark.parametrize("window", [3, 7, 13])
def test_estimates_stay_within_their_margin(window: int) -> None:
    images = hostile(24)
    parts = ssim.windows(images, window)
    prepared = screen.prepared(parts, window)
    error = screen.estimates(prepared, prepared, window) - every_pair(images, images, window)
    assert abs(error).max() < screen.MARGIN / 10


def test_constant_images_differ_by_their_luminance_only() -> None:
    flat = np.stack([np.full((16, 16, 3), level, dtype=np.uint8) for level in (100, 100, 200)])
    found = every_pair(flat, flat, 7)
    assert found[0, 1] == 0.0
    c1 = (0.01 * 255) ** 2
    assert found[0, 2] == pytest.approx((1 - (2 * 100 * 200 + c1) / (100**2 + 200**2 + c1)) / 2, abs=1e-12)


def test_a_window_larger_than_the_image_is_refused() -> None:
    with pytest.raises(ValueError, match="a window of 9 does not fit images of 8 × 8"):
        ssim.windows(np.zeros((1, 8, 8, 3), dtype=np.uint8), 9)


def small() -> tuple[Collection, pd.DataFrame, pd.DataFrame]:
    reference = pd.DataFrame(
        [
            ("t1", "train", "n1"),
            ("t2", "train", "n2"),
            ("t3", "train", "n3"),
            ("v1", "val", "n1"),
            ("c2", "val", "n3"),
        ],
        columns=["image_id", "split", "wnid"],
    ).assign(file=lambda f: f["image_id"])
    candidates = pd.DataFrame(
        [("c1", "n1"), ("c2", "n1"), ("c2", "n3"), ("t2", "n2")], columns=["image_id", "wnid"]
    ).assign(file=lambda f: f["image_id"])
    return collection(reference, candidates), reference, candidates


def names(images: Collection, everything: bool) -> dict[str, list[str]]:
    _, reference, candidates = small()
    near = {"n1": ["n1", "n2"], "n2": ["n2", "n1"], "n3": ["n3"]}
    found = structure.groups(images, reference, candidates, near, everything=everything)
    union: dict[str, set[str]] = {}
    for group in found:
        for row in group.rows:
            union.setdefault(images.ids[images.candidates[row]], set()).update(
                images.ids[i] for i in group.references
            )
    return {name: sorted(ids) for name, ids in union.items()}


def test_references_are_the_training_images_of_near_classes_and_candidates_of_its_own() -> None:
    images, _, _ = small()
    assert names(images, False) == {
        "c1": ["c1", "c2", "t1", "t2"],
        "c2": ["c1", "c2", "t1", "t2", "t3"],
        "t2": ["t1", "t2"],
    }
    everything = names(images, True)
    assert everything["c1"] == ["c1", "c2", "t1", "t2", "v1"]
    assert everything["c2"] == ["c1", "c2", "t1", "t2", "t3", "v1"]


def test_near_classes_are_cut_to_the_number_asked_for() -> None:
    classes = pd.DataFrame({"wnid": ["n1", "n2"], "neighbours": [["n2", "n3"], ["n1"]]})
    assert structure.near(classes, 0) == {"n1": ["n1"], "n2": ["n2"]}
    assert structure.near(classes, 1) == {"n1": ["n1", "n2"], "n2": ["n2", "n1"]}


def test_an_exact_copy_of_an_original_counts_and_the_candidate_itself_does_not() -> None:
    images, _, _ = small()
    assert [images.origins[i] for i in images.candidates] == ["candidates", "val", "train"]
    assert images.never.tolist() == [0, -1, -1]


@pytest.mark.parametrize("window", [5, 15])
@pytest.mark.parametrize("tile", [(2, 3), (5, 1), (256, 256)])
def test_search_finds_what_comparing_everything_finds(window: int, tile: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    base = rng.integers(0, 200, (4, 16, 16, 3))
    pixels = np.concatenate([base + rng.integers(0, s, base.shape) for s in (1, 2, 20, 50)]).astype(np.uint8)
    count = len(pixels)
    images = Collection(
        [f"{i:02d}" for i in range(count)],
        ["candidates"] * count,
        [("candidates", "")] * count,
        np.arange(0, count, 3),
    )
    references = np.arange(count)
    half = len(images.candidates) // 2
    rows = np.arange(len(images.candidates))
    groups = [structure.Group(rows[:half], references), structure.Group(rows[half:], references[:7])]
    # The last candidate is in two groups that share some references.
    twice = structure.Group(rows[-1:], references[4:])
    found = structure.search(pixels, images, [*groups, twice], 5, window, 2, tile)
    distances = every_pair(pixels, pixels, window)
    for group in groups:
        for row in group.rows:
            own = images.candidates[row]
            near = references if row == rows[-1] else group.references
            order = sorted((distances[own, j], j) for j in near if j != own)[:5]
            assert found.index[row].tolist() == [j for _, j in order]
            assert found.distance[row].tolist() == [d for d, _ in order]


def test_a_candidate_without_references_has_no_neighbours() -> None:
    images = Collection(["a"], ["candidates"], [("candidates", "")], np.array([0]))
    pixels = np.zeros((1, 8, 8, 3), dtype=np.uint8)
    nothing = structure.Group(np.array([0]), np.array([], dtype=np.int64))
    assert structure.search(pixels, images, [nothing], 3, 3).index.tolist() == [[-1, -1, -1]]
    lone = structure.Group(np.array([0]), np.array([0]))
    assert structure.search(pixels, images, [lone], 3, 3).index.tolist() == [[-1, -1, -1]]
