"""fc7: exact distances of features, their bounds, and the network, layer and scale they come from."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import timm
import torch
import torchvision
from pydantic import ValidationError
from skimage.transform import resize
from sklearn.metrics.pairwise import euclidean_distances

from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.fc7 import expansion, features, network
from imagenetv2.duplicates.fc7 import stage as fc7_stage
from imagenetv2.duplicates.fc7.cpu import Engine
from imagenetv2.duplicates.fc7.rounding import rounded
from imagenetv2.duplicates.fc7.stage import Activations
from imagenetv2.duplicates.recipe import Pictures
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.settings import Features
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.networks import lite
from imagenetv2.networks.reproducible import reproducible

Rows = npt.NDArray[np.float32]


def pictures(count: int, side: int) -> Pixels:
    return np.random.default_rng(count).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def every_pair(engine: Engine, count: int) -> npt.NDArray[np.float64]:
    row, column = np.divmod(np.arange(count**2), count)
    return engine.exact(row, column, np.full(count**2, np.inf)).reshape(count, count)


def hostile(width: int) -> Rows:
    """Copies, near-copies, zeros, large, tiny and mixed features."""
    rng = np.random.default_rng(3)
    one = np.maximum(rng.normal(0, 30, width), 0)
    rows = [
        one,
        one,
        one + 1e-4,
        one * 1.0001,
        rng.normal(0, 30, width),
        np.zeros(width),
        np.full(width, 1e3),
    ]
    rows += [np.full(width, 1e3 + 1e-3), rng.normal(0, 1e-20, width), one * 1e-30, 1e12 * one, -one]
    return np.stack(rows).astype(np.float32)


@pytest.mark.parametrize("width", [1, 3, 4, 7, 1280, 4096])
def test_distances_are_those_of_float64_to_six_digits(width: int) -> None:
    rows = hostile(width)
    found = every_pair(Engine(rows), len(rows))
    whole = rows.astype(np.float64)
    direct = ((whole[:, None] - whole[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, direct, rtol=5.01e-6, atol=0)
    assert np.array_equal(found, found.T)
    equal = (rows[:, None] == rows[None]).all(axis=2)
    assert np.array_equal(found == 0, equal)
    far = direct > 1e-3 * ((whole**2).sum(1)[:, None] + (whole**2).sum(1))
    np.testing.assert_allclose(found[far], euclidean_distances(whole, squared=True)[far], rtol=5.1e-6)


@pytest.mark.parametrize("width", [1, 3, 4, 7, 1280, 4096])
def test_no_bound_is_above_its_distance(width: int) -> None:
    rows = hostile(width)
    engine, every = Engine(rows), np.arange(len(rows))
    lower, estimate = engine.bounds(every, every)
    distance = every_pair(engine, len(rows))
    assert lower.dtype == estimate.dtype == np.float32
    assert (lower <= distance).all()
    norm = (rows.astype(np.float64) ** 2).sum(1)
    assert (np.abs(estimate - distance) <= 1e-3 * (norm[:, None] + norm) + 1e-30).all()
    # For vectors of usual length they say something: all but the near-copies are told apart.
    usual = [0, 4, 6, 11]
    apart = distance[np.ix_(usual, usual)] > 0
    if width >= 1280:
        assert (lower[np.ix_(usual, usual)][apart] > 0.9 * distance[np.ix_(usual, usual)][apart]).all()


def test_features_that_would_overflow_are_compared_in_full() -> None:
    rows = np.array([[3e38, 0], [-3e38, 1], [3e38, 2e30], [1, 2]], np.float32)
    engine, every = Engine(rows), np.arange(4)
    lower, estimate = engine.bounds(every, every)
    assert not lower.any()
    assert not estimate.any()
    distance = every_pair(engine, 4)
    assert distance[0, 1] == pytest.approx(3.6e77, rel=1e-5)
    assert np.isfinite(distance).all()
    pairs, _ = search(engine, every, every, Excluded.of(4, []), Plan(1))
    assert pairs.column.tolist() == [0, 1, 2, 3]


def test_no_image_and_one_image() -> None:
    none = np.empty(0, np.int64)
    for rows in (np.empty((0, 8), np.float32), np.ones((1, 8), np.float32)):
        engine = Engine(rows)
        assert engine.exact(none, none, np.empty(0)).shape == (0,)
        every = np.arange(len(rows))
        assert engine.bounds(every, none)[0].shape == (len(rows), 0)
        pairs, _ = search(engine, every, every, Excluded.of(len(rows), [(i, i) for i in every]), Plan(30))
        assert len(pairs) == 0


def test_features_in_a_file_that_cannot_be_written_give_the_same(tmp_path: Path) -> None:
    rows = hostile(64)
    np.save(tmp_path / "features.npy", rows)
    stored = np.load(tmp_path / "features.npy", mmap_mode="r")
    assert np.array_equal(every_pair(Engine(stored), len(rows)), every_pair(Engine(rows), len(rows)))
    assert np.array_equal(expansion.norms(stored), expansion.norms(rows))


def test_searches_of_parts_and_whole_agree_and_skip_what_is_far() -> None:
    rng = np.random.default_rng(0)
    rows = np.maximum(rng.normal(0, 3, (300, 1280)), 0).astype(np.float32)
    rows[1::3] = rows[::3] + rng.normal(0, 0.01, (100, 1280))
    every = np.arange(300)
    distance = every_pair(Engine(rows), 300)
    np.fill_diagonal(distance, np.inf)
    order = np.lexsort((np.broadcast_to(every, (300, 300)), distance), axis=1)[:, :4]
    for plan in (Plan(4), Plan(4, tile=(7, 11), block=90, shard=64, cores=2, cache=0)):
        pairs, skipped = search(Engine(rows), every, every, Excluded.of(300, [(i, i) for i in every]), plan)
        assert np.array_equal(pairs.column.reshape(300, 4), order)
        assert np.array_equal(pairs.distance.reshape(300, 4), np.take_along_axis(distance, order, 1))
        assert skipped.pairs == 300 * 299
        assert skipped.computed < 0.05 * skipped.pairs


def test_rounding_keeps_six_digits() -> None:
    values = [0.0, 1.23456789, 123456.789, 0.000123456789, 9999999.0, 999999.5, 0.1, 1e-300, 5e-324, 1e300]
    wanted = [0.0, 1.23457, 123457.0, 0.000123457, 10000000.0, 1000000.0, 0.1]
    found = rounded(np.array(values))
    assert found[:7].tolist() == wanted
    assert np.isfinite(found).all()
    random = np.random.default_rng(1).uniform(0, 1, 5000) * 10.0 ** np.random.default_rng(2).integers(
        -12, 16, 5000
    )
    assert rounded(random).tolist() == [float(f"{value:.5e}") for value in random]


def test_lite0_is_the_default_and_gives_what_its_classifier_is_given() -> None:
    settings = Features()
    pixels = pictures(5, settings.side)
    embedding, width = network.embedding(settings)
    with torch.inference_mode():
        batch = torch.from_numpy((pixels.astype(np.float32) - 127) / 128).permute(0, 3, 1, 2)
        direct = lite.features(lite.load(), batch).numpy()
    assert width == direct.shape[1] == 1280
    np.testing.assert_allclose(embedding(pixels), direct, rtol=1e-4, atol=1e-5)


def state(module: torch.nn.Module, path: Path) -> Path:
    torch.save(module.state_dict(), path)
    return path


def seen(module: torch.nn.Module, layer: str, batch: torch.Tensor) -> npt.NDArray[np.float32]:
    """The output of a layer, flattened: by a hook of this test's own."""
    kept: list[torch.Tensor] = []
    module.get_submodule(layer).register_forward_hook(lambda _m, _i, output: kept.append(output.clone()))
    with torch.inference_mode():
        module.eval()(batch)
    return kept[-1].flatten(1).numpy()


@pytest.fixture
def drawn() -> Callable[..., Any]:
    """Builds a network, always with the same random weights."""

    def build(make: Callable[..., torch.nn.Module], *args: Any) -> torch.nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return make(*args).eval()

    return build


def standard(pixels: Pixels, mean: Any, std: Any) -> torch.Tensor:
    scaled = (pixels / 255 - np.array(mean)) / np.array(std)
    return torch.from_numpy(scaled.transpose(0, 3, 1, 2).astype(np.float32))


def test_timm_features_are_those_before_the_classifier_or_of_a_named_layer(
    drawn: Callable[..., Any], tmp_path: Path
) -> None:
    module = drawn(timm.create_model, "test_resnet")
    weights, pixels = state(module, tmp_path / "state.pth"), pictures(3, 64)
    batch = standard(pixels, module.pretrained_cfg["mean"], module.pretrained_cfg["std"])
    for layer, other in ((None, "global_pool"), ("layer3", "layer3"), ("layer2.0.bn1", "layer2.0.bn1")):
        settings = Features(network="timm:test_resnet", layer=layer, weights=weights, side=64)
        embedding, width = network.embedding(settings)
        wanted = seen(module, other, batch)
        assert width == wanted.shape[1]
        np.testing.assert_allclose(embedding(pixels), wanted, rtol=1e-3, atol=1e-5)


def test_torchvision_features_are_what_the_last_linear_layer_is_given(
    drawn: Callable[..., Any], tmp_path: Path
) -> None:
    module = drawn(torchvision.models.resnet18)
    weights, pixels = state(module, tmp_path / "state.pth"), pictures(3, 64)
    batch = standard(pixels, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    for layer, other in ((None, "avgpool"), ("layer1.0.bn1", "layer1.0.bn1")):
        settings = Features(network="torchvision:resnet18", layer=layer, weights=weights, side=64)
        embedding, width = network.embedding(settings)
        wanted = seen(module, other, batch)
        assert width == wanted.shape[1]
        np.testing.assert_allclose(embedding(pixels), wanted, rtol=1e-3, atol=1e-4)


class SmallVgg(torch.nn.Module):
    """VGG-16 with the names and order of its layers, but a hundred of its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.features, self.avgpool = torch.nn.Conv2d(3, 2, 3), torch.nn.AdaptiveAvgPool2d(7)
        self.classifier = torch.nn.Sequential(
            torch.nn.Linear(98, 12), torch.nn.ReLU(True), torch.nn.Dropout(),
            torch.nn.Linear(12, 9), torch.nn.ReLU(True), torch.nn.Dropout(), torch.nn.Linear(9, 5),
        )  # fmt: skip

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.classifier(torch.flatten(self.avgpool(self.features(batch)), 1))
        return out


def test_vgg16_is_built_as_the_small_one() -> None:
    with torch.device("meta"):
        whole = torchvision.models.vgg16(init_weights=False)
    names = [type(layer).__name__ for layer in whole.classifier]
    assert names == [type(layer).__name__ for layer in SmallVgg().classifier]
    assert (whole.classifier[3].in_features, whole.classifier[3].out_features) == (4096, 4096)


@pytest.mark.parametrize("preprocessing", ["paper", "standard"])
def test_vgg16_gives_fc7_after_its_relu_on_reduced_images(
    preprocessing: Any, drawn: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torchvision.models, "get_model", lambda name, weights: SmallVgg())
    module = drawn(SmallVgg)
    weights, pixels = state(module, tmp_path / "state.pth"), pictures(4, 64)
    # As the study: reduced by scikit-image, of order 1 and without a filter, to fractions of a level.
    reduced = np.stack(
        [resize(p.astype(float), (56, 56), order=1, mode="edge", anti_aliasing=False) for p in pixels]
    )
    batch = torch.from_numpy(reduced.transpose(0, 3, 1, 2).astype(np.float32))
    if preprocessing == "standard":
        batch = standard(reduced, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    before = seen(module, "classifier.3", batch)
    assert (before < 0).any()
    assert (before > 0).any()
    settings = Features(network="vgg16", preprocessing=preprocessing, weights=weights, side=64, input=56)
    embedding, width = network.embedding(settings)
    assert width == 9
    np.testing.assert_allclose(embedding(pixels), np.maximum(before, 0), rtol=1e-4, atol=1e-4)
    named, _ = network.embedding(settings.model_copy(update={"layer": "classifier.4"}))
    as_any, _ = network.embedding(settings.model_copy(update={"network": "torchvision:vgg16"}))
    assert np.array_equal(named(pixels), embedding(pixels))
    assert np.array_equal(as_any(pixels), embedding(pixels))


@pytest.mark.parametrize(("side", "size"), [(64, 56), (40, 64), (48, 48)])
def test_sizes_change_as_scikit_image_does_it(side: int, size: int) -> None:
    pixels = pictures(2, side).astype(np.float32)
    found = network.resized(torch.from_numpy(pixels).permute(0, 3, 1, 2), size)
    wanted = [
        resize(p.astype(float), (size, size), order=1, mode="edge", anti_aliasing=False) for p in pixels
    ]
    np.testing.assert_allclose(found.permute(0, 2, 3, 1).numpy(), np.stack(wanted), atol=1e-3)


def test_networks_say_what_is_wrong_with_the_settings(drawn: Callable[..., Any], tmp_path: Path) -> None:
    vit = state(drawn(timm.create_model, "test_vit"), tmp_path / "vit.pth")
    squeeze = state(drawn(torchvision.models.squeezenet1_1), tmp_path / "squeeze.pth")
    for values, said in (
        (
            {"network": "timm:test_vit", "weights": vit, "input": 41},
            r"input: timm:test_vit refuses images of 41 × 41",
        ),
        (
            {"network": "timm:test_vit", "weights": vit, "layer": "block"},
            r"layer: .* no layer block; near it are blocks",
        ),
        ({"network": "timm:test_vit", "weights": squeeze}, r"weights: .*squeeze\.pth do not fit the network"),
        (
            {"network": "torchvision:squeezenet1_1", "weights": squeeze},
            r"layer: .* has no fully connected layer",
        ),
        (
            {"network": "torchvision:resnet", "weights": squeeze},
            r"network: torchvision has no network resnet;",
        ),
        ({"network": "timm:no", "weights": squeeze}, r"network: timm has no network no;"),
    ):
        with pytest.raises(InputError, match=rf"^neighbours\.fc7\.{said}") as caught:
            network.embedding(Features(**values))  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"network": "resnet50"}, "resnet50 is no network; take efficientnet_lite0, vgg16, timm:NAME or"),
        ({"network": "timm:"}, "timm: is no network"),
        ({"preprocessing": "paper"}, "preprocessing paper is for vgg16; efficientnet_lite0 takes standard"),
        (
            {"network": "timm:vgg19", "preprocessing": "paper"},
            "paper is for vgg16; timm:vgg19 takes standard",
        ),
        ({"weights": "some.pth"}, "efficientnet_lite0 has its weights from its package; set weights to null"),
    ],
)
def test_settings_refuse_what_does_not_fit(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Features(**values)
    for name in ("vgg16", "timm:vgg16.tv_in1k", "torchvision:vgg16"):
        assert Features(network=name, preprocessing="paper", weights=Path("some.pth")).network == name


def batches(pixels: Pixels, size: int) -> list[tuple[slice, Pixels]]:
    return [(slice(i, min(i + size, len(pixels))), pixels[i : i + size]) for i in range(0, len(pixels), size)]


def test_features_come_in_the_order_of_their_batches_whatever_the_threads() -> None:
    embedding, _ = network.embedding(Features(side=32))
    pixels = pictures(11, 32)
    threads = torch.get_num_threads()
    alone, more = (list(features.extract(batches(pixels, 4), embedding, n)) for n in (1, 3))
    assert [place for place, _ in alone] == [place for place, _ in more] == [p for p, _ in batches(pixels, 4)]
    for (_, one), (_, other) in zip(alone, more, strict=True):
        assert one.dtype == np.float32
        assert np.array_equal(one, other)
    whole = np.concatenate([found for _, found in alone])
    np.testing.assert_allclose(whole, embedding(pixels), rtol=1e-3, atol=1e-4)
    assert torch.get_num_threads() == threads


def test_features_of_an_image_do_not_depend_on_what_is_with_it() -> None:
    embedding, _ = network.embedding(Features())
    pixels = pictures(37, 48)
    with reproducible(threads=1):
        whole = embedding(pixels)
        for size in (1, 3, 16, 19):
            parts = [embedding(part) for _, part in batches(pixels, size)]
            assert np.array_equal(np.concatenate(parts), whole)
        assert np.array_equal(embedding(pixels[::-1])[::-1], whole)


def given(pixels: Pixels, folder: Path | None, cores: int, memory: int) -> Pictures:
    return Pictures(len(pixels), pixels.__getitem__, folder, cores, memory)


def test_values_do_not_depend_on_cores_memory_or_where_they_lie(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pixels, settings, recipe = pictures(75, 48), Features(), Activations()
    monkeypatch.setattr(fc7_stage, "SHARD", 40)
    one = 2 * network.BATCH * 48**2 * fc7_stage.ACTIVATIONS
    whole, _ = recipe.values(given(pixels, None, 1, 2**32), settings, "cpu")
    for cores, memory, at_once in ((1, one, 1), (3, one, 1), (3, 2 * one, 2), (4, 2**32, 4)):
        folder = tmp_path / f"{cores}-{memory}"
        here = given(pixels, folder, cores, memory)
        assert recipe.at_once(settings, here) == at_once
        found, _ = recipe.values(here, settings, "cpu")
        assert found.tobytes() == whole.tobytes()
        # A run with other cores and memory goes on here: pieces are named by images alone.
        assert sorted(p.name for p in folder.glob("*.json")) == [
            f"features-cpu-{part}.json" for part in ("0.40", "40.75")
        ]


def test_a_memory_too_small_for_one_pass_is_refused() -> None:
    settings = Features(network="vgg16", side=256, input=224)
    with pytest.raises(
        InputError, match=r"neighbours\.search\.memory of 1 GB is too little for fc7: 16 images of 224 × 224"
    ):
        Activations().values(given(pictures(2, 64), None, 1, 10**9), settings, "cpu")


def test_the_network_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, loaded, modules = Activations(), network.loaded, []

    def watched(settings: Features) -> Any:
        found = loaded(settings)
        modules.append(weakref.ref(found.module))
        return found

    monkeypatch.setattr(network, "loaded", watched)
    recipe.values(given(pictures(2, 32), None, 1, 2**32), Features(), "cpu")
    recipe.width(Features(), "cpu")
    assert [module() is not None for module in modules] == [True]
    recipe.release()
    assert modules[0]() is None


def test_features_that_are_no_numbers_are_refused() -> None:
    def damaged(pixels: Pixels) -> Rows:
        return np.full((len(pixels), 3), np.nan, np.float32)

    with pytest.raises(InputError, match=r"neighbours\.fc7\.weights: features .* are not finite"):
        list(features.extract(batches(pictures(2, 32), 2), damaged, 1))
