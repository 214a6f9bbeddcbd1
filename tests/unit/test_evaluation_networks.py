"""Pretrained networks: found, refused, and run as their libraries run them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import timm
import torch
import torchvision
from PIL import Image
from safetensors.torch import save_file

from imagenetv2 import job as jobs
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.evaluation import models, predictions
from imagenetv2.evaluation.batch import run_all
from imagenetv2.evaluation.classifier import Compute, load
from imagenetv2.evaluation.kinds.network import state_digest
from imagenetv2.evaluation.kinds.timm_trained import augmented
from imagenetv2.evaluation.outputs import imagenet_wnids, output_columns
from imagenetv2.evaluation.settings import Model
from imagenetv2.graph import stages
from imagenetv2.job import Job
from imagenetv2.networks.reproducible import reproducible
from tests.conftest import FAKE_VERSION, write_artifact
from tests.unit.evaluation_sets import archive, classes_table, picture, reference

PICTURE = picture(np.random.default_rng(3), 1, (230, 300))


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.nn.Module]:
    """A checkpoint of a timm network of 1,000 outputs, and the network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        module = timm.create_model("test_vit", pretrained=False).eval()
    path = tmp_path_factory.mktemp("weights") / "vit.safetensors"
    save_file(module.state_dict(), path)
    return path, module


def described(make_job: Callable[..., Job], wnids: list[str], **model: Any) -> dict[str, Any]:
    job = make_job(
        "models/m",
        config={"models": [{"name": "m", **model}]},
        inputs={"classes": {"classes.parquet": classes_table(wnids)}},
    )
    models.run(job)
    assert (job.out.folder / "weights.safetensors").read_bytes() == b""
    facts: dict[str, Any] = json.loads((job.out.folder / "model.json").read_text())
    return facts


def outputs_of(facts: dict[str, Any], pixels: np.ndarray, **model: Any) -> np.ndarray:
    classifier = load(Model(name="m", **model), facts, {}, Compute("cpu", 1))
    return classifier.outputs(classifier.prepare(pixels)[None])


def test_a_timm_checkpoint_runs_under_its_own_transform(
    make_job: Callable[..., Job], vit: tuple[Path, torch.nn.Module]
) -> None:
    path, module = vit
    model = {"kind": "timm", "architecture": "test_vit.r160_in1k", "weights": str(path)}
    known = imagenet_wnids()
    facts = described(make_job, [known[7], known[3]], **model)
    assert (facts["columns"], facts["outputs"], facts["library"]) == ([7, 3], 1000, "timm")
    assert facts["version"] == timm.__version__
    assert facts["state_sha256"] == state_digest(module)
    assert facts["preprocessing"]["input_size"] == [3, 160, 160]
    # The same by hand: shorter side to 160 / 0.95, bicubic, centre, this network's mean and deviation of ½.
    short = int(160 / 0.95)
    resized = Image.fromarray(PICTURE).resize((int(short * 300 / 230), short), Image.Resampling.BICUBIC)
    left, top = round((resized.width - 160) / 2), round((short - 160) / 2)
    square = np.asarray(resized.crop((left, top, left + 160, top + 160)), np.float32)
    with torch.inference_mode():
        wanted = module(torch.from_numpy((square / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]).numpy()
    np.testing.assert_allclose(outputs_of(facts, PICTURE, **model), wanted, atol=1e-5)


def test_a_torchvision_checkpoint_runs_under_its_own_transform(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        module = torchvision.models.squeezenet1_1(weights=None).eval()
    path = tmp_path / "squeezenet.pth"
    torch.save({"state_dict": {f"module.{k}": v for k, v in module.state_dict().items()}}, path)
    model = {"kind": "torchvision", "architecture": "squeezenet1_1.IMAGENET1K_V1", "weights": str(path)}
    facts = described(make_job, imagenet_wnids(), **model)
    assert (facts["tag"], facts["columns"][:3]) == ("IMAGENET1K_V1", [0, 1, 2])
    resized = Image.fromarray(PICTURE).resize((int(256 * 300 / 230), 256), Image.Resampling.BILINEAR)
    left, top = round((resized.width - 224) / 2), 16
    square = np.asarray(resized.crop((left, top, left + 224, top + 224)), np.float32) / 255
    scaled = (square - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    with torch.inference_mode():
        wanted = module(torch.from_numpy(scaled).permute(2, 0, 1)[None]).numpy()
    np.testing.assert_allclose(outputs_of(facts, PICTURE, **model), wanted, atol=1e-4)


def test_weights_that_changed_are_refused(vit: tuple[Path, torch.nn.Module]) -> None:
    model = Model(name="m", kind="timm", architecture="test_vit", weights=vit[0])
    with pytest.raises(InputError, match="its weights are not those with the digest 0000000000"):
        load(model, {"state_sha256": "0" * 64}, {}, Compute())


def test_weights_of_another_network_are_refused(
    make_job: Callable[..., Job], vit: tuple[Path, torch.nn.Module]
) -> None:
    with pytest.raises(InputError, match=r"vit\.safetensors do not fit the network .*Missing key"):
        described(make_job, ["n1"], kind="timm", architecture="test_vit2", weights=str(vit[0]))


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
def test_a_text_file_is_no_checkpoint(make_job: Callable[..., Job], tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("not tensors")
    with pytest.raises(InputError, match=f"{name} are no PyTorch or safetensors file of tensors"):
        described(make_job, ["n1"], kind="timm", architecture="test_vit", weights=str(tmp_path / name))


def test_without_a_network_to_the_hub_the_remedy_is_named(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: object, **options: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(timm, "create_model", offline)
    monkeypatch.setattr(torchvision.models, "get_model", offline)
    for kind, architecture in (("timm", "resnet18.a1_in1k"), ("torchvision", "resnet18")):
        with pytest.raises(InputError, match=r"cannot get the weights of resnet18.*set weights to a file"):
            described(make_job, ["n1"], kind=kind, architecture=architecture)


@pytest.mark.parametrize("kind", ["timm", "torchvision"])
def test_an_unknown_architecture_names_near_ones(make_job: Callable[..., Job], kind: str) -> None:
    with pytest.raises(InputError, match=rf"{kind} has no network resnet5; .*resnet50"):
        described(make_job, ["n1"], kind=kind, architecture="resnet5")


def test_an_unknown_tag_names_those_there_are(make_job: Callable[..., Job]) -> None:
    with pytest.raises(InputError, match="no weights V9 of resnet50; it has IMAGENET1K_V1, IMAGENET1K_V2"):
        described(make_job, ["n1"], kind="torchvision", architecture="resnet50.V9")


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
    known = imagenet_wnids()
    assert (len(known), known[0], known[7], known[999]) == (1000, "n01440764", "n01514668", "n15075141")
    assert known == sorted(known)


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


def test_cuda_without_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r"evaluation\.device is cuda but PyTorch finds no GPU"):
        load(Model(name="m", kind="lite0"), models_facts(), {}, Compute("cuda", 1))


def models_facts() -> dict[str, Any]:
    from imagenetv2.evaluation.kinds.lite0_features import lite0_preprocessing

    return {"preprocessing": lite0_preprocessing(32, 1.0).to_json()}


def test_a_batch_runs_all_and_raises_the_first_failure_at_the_end(tmp_path: Path) -> None:
    entries = [
        {"name": "bad", "kind": "timm_trained", "architecture": "none_such"},
        {"name": "centroid", "kind": "nearest_centroid", "side": 8},
        {"name": "fourier", "kind": "random_features", "side": 8, "components": 20},
    ]
    known = stages(Config.model_validate({"models": entries}))
    versions = dict.fromkeys(known, FAKE_VERSION)
    write_artifact(tmp_path, known["classes"], {"classes.parquet": classes_table()})
    write_artifact(tmp_path, known["reference"], reference(4, 2))
    names = [f"models/{e['name']}" for e in entries]
    with pytest.raises(InputError, match="none_such"):
        run_all([known[n] for n in names], versions, tmp_path, 1, log=logging.getLogger("test"))
    rest = [known[f"predictions/original/{n}"] for n in ("centroid", "fourier")]
    assert run_all(rest, versions, tmp_path, 1) == [s.name for s in rest]
    assert run_all(rest, versions, tmp_path, 1) == []
    for stage in rest:
        path = jobs.folder(tmp_path, stage.name, FAKE_VERSION) / "predictions.parquet"
        assert len(pd.read_parquet(path)) == 6


def photographs(packs: Path) -> list[Path]:
    return sorted((packs / "photos").glob("*.JPEG"))


def directly(files: list[Path], wnids: list[str]) -> pd.DataFrame:
    """Rank and first five of each photograph, one at a time, with nothing of this package but the network."""
    from imagenetv2.networks import lite0

    module = lite0.load()
    rows = []
    for file in files:
        with Image.open(file) as opened:
            image = opened.convert("RGB")
        width, height = image.size
        scale = 256 / min(width, height)
        image = image.resize(
            (256 if width <= height else int(256 * width / height), 256 if height <= width else int(256 * height / width)),
            Image.Resampling.BICUBIC,
        ) if scale != 1 else image  # fmt: skip
        left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
        square = np.asarray(image.crop((left, top, left + 224, top + 224))).astype(np.float32)
        tensor = torch.tensor((square - 127.0) / 128.0).permute(2, 0, 1).unsqueeze(0)
        with torch.no_grad():
            logits = module(tensor)[0].tolist()
        order = sorted(range(1000), key=lambda c: (-logits[c], c))
        true = wnids.index(file.name.split("_")[0])
        rows.append({"file": file.name, "rank": order.index(true), "top5": order[:5]})
    return pd.DataFrame(rows)


@pytest.mark.packs
def test_lite0_on_photographs_agrees_with_torch_image_by_image(
    make_job: Callable[..., Job], packs: Path
) -> None:
    from imagenetv2.benchmark.settings import Images
    from imagenetv2.images import content_id, decode, encode_png

    wnids = imagenet_wnids()
    files = photographs(packs)
    assert len(files) == 100
    rows, pictures = [], {}
    for file in files:
        pixels = decode(file.read_bytes(), Images(mode="raw")).pixels
        image, wnid = content_id(pixels), file.name.split("_")[0]
        pictures[f"{wnid}/{image}.png"] = encode_png(pixels)
        rows.append(
            {
                "image_id": image, "split": "val", "wnid": wnid, "class_index": wnids.index(wnid),
                "file": f"{wnid}/{image}.png", "source_file": file.name, "source_sha256": "",
                "source_format": "JPEG", "width": pixels.shape[1], "height": pixels.shape[0], "spread": 1.0,
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    wanted = directly(files, wnids).set_index("file")
    model = {"name": "m", "kind": "lite0"}
    facts = described(make_job, wnids, kind="lite0")
    for batch, count, cores in ((32, 100, 1), (1, 6, 1), (7, 15, 2)):
        part = table.iloc[:count]
        job = make_job(
            "predictions/original/m",
            config={"models": [model], "evaluation": {"batch": batch, "device": "cpu"}},
            inputs={
                "classes": {"classes.parquet": classes_table(wnids)},
                "models/m": {"model.json": facts, "weights.safetensors": b""},
                "reference": {
                    "reference.parquet": part,
                    "images.zip": archive({f: pictures[f] for f in part["file"]}),
                },
            },
            cores=cores,
        )
        predictions.run(job)
        found = pd.read_parquet(job.out.folder / "predictions.parquet").merge(part, on=["image_id", "wnid"])
        assert len(found) == count
        own = wanted.loc[found["source_file"]]
        assert found["rank"].tolist() == own["rank"].tolist()
        assert [list(t) for t in found["top5"]] == own["top5"].tolist()
    assert 0.75 <= (wanted["rank"] == 0).mean() <= 0.95
