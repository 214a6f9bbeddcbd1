"""Networks in ONNX files: they agree with the same weights elsewhere, and what is not understood is said."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from onnx import TensorProto
from safetensors.torch import save_file
from scipy.special import log_softmax

from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Classifier, Compute, load, outline
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.ranking import true_ranks
from imagenetv2.evaluation.settings import Input, Model
from imagenetv2.evaluation.stages import stages
from imagenetv2.images import decode
from imagenetv2.networks.reproducible import numerics
from imagenetv2.stages import Stage
from imagenetv2.versions import identity
from tests.unit.onnx_files import export, mean_colour

SIDE = 64
INPUT = Input(size=SIDE, resize=70, interpolation="bilinear", mean=(0.5, 0.4, 0.3), std=(0.2, 0.25, 0.3))


@pytest.fixture(autouse=True)
def _held() -> Iterator[None]:
    with numerics():
        yield


def onnx_model(path: Path, **options: Any) -> Model:
    return Model(name="m", kind="onnx", weights=path, **options)


def ready(model: Model) -> tuple[Classifier, Preprocessing]:
    facts = outline(model)
    return load(model, facts, {}, Compute()), Preprocessing.from_json(facts["preprocessing"])


def models(config: Config) -> dict[str, Stage]:
    return {stage.name: stage for stage in stages(config)}


def looked_at(model: Model, images: list[np.ndarray]) -> np.ndarray:
    classifier, preprocessing = ready(model)
    batch = preprocessing.cut_all(images)
    return np.concatenate([classifier.outputs(batch[i : i + 8]) for i in range(0, len(batch), 8)])


def pictures(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(5)
    sizes = random.integers(60, 120, (count, 2))
    return [random.integers(0, 256, (h, w, 3)).astype(np.uint8) for h, w in sizes]


def require_same_ranks(found: np.ndarray, wanted: np.ndarray) -> None:
    """Outputs to 1e-4, and ranks of all classes whose output is so far from others that this cannot change them."""
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    gaps = np.diff(np.sort(wanted, axis=1), axis=1, prepend=-np.inf, append=np.inf)
    places = wanted.argsort(axis=1).argsort(axis=1)
    apart = np.take_along_axis(np.minimum(gaps[:, :-1], gaps[:, 1:]), places, axis=1) > 2e-4
    assert apart.mean() > 0.7
    for column in range(0, 1000, 37):
        true, clear = np.full(len(wanted), column), apart[:, column]
        assert np.array_equal(true_ranks(found, true)[clear], true_ranks(wanted, true)[clear])


def randomised(name: str) -> Any:
    """With statistics and scales of batch norm that are not 0 and 1, so that none of them can be mistaken."""
    torch.manual_seed(3)
    module: Any = timm.create_model(name, pretrained=False)
    for layer in module.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(layer.running_mean, 0, 0.1)
            torch.nn.init.uniform_(layer.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
    return module.eval()


def test_one_set_of_weights_as_timm_torchvision_and_onnx_model(tmp_path: Path) -> None:
    module = randomised("resnet18")
    save_file(module.state_dict(), tmp_path / "resnet18.safetensors")
    file = export(module, tmp_path / "resnet18.onnx", SIDE)
    images = pictures(11)
    found = {}
    for kind, weights in (("timm", "resnet18.safetensors"), ("torchvision", "resnet18.safetensors")):
        model = Model(name="m", kind=kind, architecture="resnet18", weights=tmp_path / weights, input=INPUT)
        found[kind] = looked_at(model, images)
    found["onnx"] = looked_at(onnx_model(file, input=INPUT), images)
    assert found["timm"].std() > 0.1
    require_same_ranks(found["torchvision"], found["timm"])
    require_same_ranks(found["onnx"], found["timm"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_export_with_its_weights_beside_it(tmp_path: Path) -> None:
    torch.manual_seed(3)
    layers = (torch.nn.Conv2d(3, 8, 5), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1152, 1000))
    module = torch.nn.Sequential(*layers)
    file = export(module, tmp_path / "m.onnx", 16, dynamo=True)
    assert (tmp_path / "m.onnx.data").exists()
    classifier, preprocessing = ready(onnx_model(file))
    batch = preprocessing.cut_all(pictures(8))
    with torch.inference_mode():
        wanted = module(torch.from_numpy(preprocessing.scale(batch))).numpy()
    np.testing.assert_allclose(classifier.outputs(batch), wanted, atol=1e-4)


@pytest.mark.packs
def test_an_export_of_lite0_sees_photographs_as_lite0_does(packs: Path, tmp_path: Path) -> None:
    from imagenetv2.benchmark.settings import Images
    from imagenetv2.networks import lite

    own = Model(name="own", kind="lite0")
    preprocessing = outline(own)["preprocessing"]
    file = export(lite.load(lite.LITES["lite0"]), tmp_path / "lite0.onnx", 224)
    stated(file, preprocessing)
    files = sorted((packs / "photos").glob("*.JPEG"))[:16]
    images = [decode(f.read_bytes(), Images()).pixels for f in files]
    assert outline(onnx_model(file))["preprocessing"] == preprocessing
    require_same_ranks(looked_at(onnx_model(file), images), looked_at(own, images))


def stated(path: Path, preprocessing: Any) -> None:
    import onnx
    from onnx import helper

    model = onnx.load(path)
    helper.set_model_props(model, {"preprocessing": json.dumps(preprocessing)})
    onnx.save(model, path)


@pytest.mark.parametrize("images", ["images", 1, 3, 8, 20])
def test_any_number_of_images_goes_through_a_file_for_so_many(tmp_path: Path, images: int | str) -> None:
    file = mean_colour(tmp_path / "m.onnx", images=images)
    classifier, preprocessing = ready(onnx_model(file))
    batch = preprocessing.cut_all(pictures(8))
    wanted = preprocessing.scale(batch).mean(axis=(2, 3)) @ np.random.default_rng(1).normal(size=(3, 1000))
    for count in (1, 3, 7, 8):
        np.testing.assert_allclose(classifier.outputs(batch[:count]), wanted[:count], atol=1e-4)


def test_threads_get_what_one_gets(tmp_path: Path) -> None:
    classifier, preprocessing = ready(onnx_model(mean_colour(tmp_path / "m.onnx")))
    batches = [preprocessing.cut_all([p] * 8) for p in pictures(16)]
    alone = [classifier.outputs(b) for b in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(classifier.outputs, batches))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_float16_files_are_given_float16(tmp_path: Path) -> None:
    file = mean_colour(tmp_path / "m.onnx", kind=TensorProto.FLOAT16)
    whole = looked_at(onnx_model(mean_colour(tmp_path / "f.onnx")), pictures(3))
    np.testing.assert_allclose(looked_at(onnx_model(file), pictures(3)), whole, atol=0.1)


def test_a_softmax_at_the_end_is_undone(tmp_path: Path) -> None:
    plain = looked_at(onnx_model(mean_colour(tmp_path / "m.onnx")), pictures(5))
    undone = looked_at(onnx_model(mean_colour(tmp_path / "s.onnx", softmax=True)), pictures(5))
    np.testing.assert_allclose(undone, log_softmax(plain.astype(np.float64), axis=1), atol=1e-4)


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    file = mean_colour(tmp_path / "m.onnx")
    assert ready(onnx_model(file))[0].digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_external_data_counts(tmp_path: Path) -> None:
    plain = looked_at(onnx_model(mean_colour(tmp_path / "m.onnx")), pictures(3))
    file = mean_colour(tmp_path / "e.onnx", external=True)
    assert np.array_equal(looked_at(onnx_model(file), pictures(3)), plain)
    before = ready(onnx_model(file))[0].digest
    data = tmp_path / "e.onnx.data"
    data.write_bytes(data.read_bytes()[:-4] + b"\0\0\0\0")
    assert ready(onnx_model(file))[0].digest not in (before, None)
    data.unlink()
    with pytest.raises(InputError, match=r"keeps its weights in e\.onnx\.data, which does not lie beside it"):
        outline(onnx_model(file))


def test_external_data_are_part_of_the_version(tmp_path: Path) -> None:
    file = mean_colour(tmp_path / "m.onnx", external=True)
    config = Config(models=(onnx_model(file),))
    known = models(config)["models/m"]
    data = tmp_path / "m.onnx.data"
    assert known.outside == {"models.m.weights": file, "models.m.weights, m.onnx.data": data}
    before = identity(known, 1, {"classes": "0"})
    data.write_bytes(data.read_bytes()[:-1] + b"x")
    assert identity(known, 1, {"classes": "0"}) != before
    file.write_bytes(b"no model")
    assert models(config)["models/m"].outside == {"models.m.weights": file}


def test_what_nobody_states_is_assumed_and_named(tmp_path: Path) -> None:
    facts = outline(onnx_model(mean_colour(tmp_path / "m.onnx", size=(3, 96, 96))))
    assert facts["assumed"] == ["resize", "interpolation", "mean", "std"]
    found = Preprocessing.from_json(facts["preprocessing"])
    assert (found.cut.size, found.cut.resize, found.cut.interpolation) == ((96, 96), 109, "bilinear")
    assert (found.mean, found.std) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    assert (facts["outputs"], facts["library"]) == (1000, "onnxruntime")
    open_size = outline(onnx_model(mean_colour(tmp_path / "o.onnx", size=(3, "h", "w"))))
    assert open_size["assumed"] == ["size", "resize", "interpolation", "mean", "std"]
    assert Preprocessing.from_json(open_size["preprocessing"]).cut.size == (224, 224)


def test_settings_go_before_metadata_and_metadata_before_the_usual(tmp_path: Path) -> None:
    says = {"size": 96, "resize": 100, "interpolation": "bicubic", "mean": [0.5, 0.5, 0.5]}
    file = mean_colour(tmp_path / "m.onnx", size=(3, 96, 96), metadata={"preprocessing": json.dumps(says)})
    facts = outline(onnx_model(file, input=Input(crop=0.75)))
    found = Preprocessing.from_json(facts["preprocessing"])
    assert (found.cut.resize, found.cut.interpolation, found.mean) == (128, "bicubic", (0.5, 0.5, 0.5))
    assert facts["assumed"] == ["std"]
    for share, size, resize in ((0.95, 300, 315), (0.875, 16, 18)):
        file = mean_colour(
            tmp_path / "s.onnx", size=(3, "h", "w"), metadata={"preprocessing": f'{{"crop": {share}}}'}
        )
        found = Preprocessing.from_json(outline(onnx_model(file, input=Input(size=size)))["preprocessing"])
        assert (found.cut.size, found.cut.resize) == ((size, size), resize)
    timms = {"input_size": [3, 96, 96], "crop_pct": 0.96, "interpolation": "bicubic", "mean": [0, 0, 0]}
    file = mean_colour(tmp_path / "t.onnx", size=(3, 96, 96), metadata={"preprocessing": json.dumps(timms)})
    found = Preprocessing.from_json(outline(onnx_model(file))["preprocessing"])
    assert (found.cut.size, found.cut.resize, found.mean) == ((96, 96), 100, (0, 0, 0))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"inputs": 2}, r"has 2 inputs \(image, more1\); export it with the image as its only input"),
        ({"size": (3, 8)}, r"takes an input of images × 3 × 8; export it for images × 3 channels"),
        ({"size": (8, 8, 3)}, r"images × 8 × 8 × 3, channels last \(NHWC\); export it with channels first"),
        ({"size": (1, 8, 8)}, r"needs 1 channels, not the 3 of an image"),
        ({"outputs": 999}, "has 999 outputs, not an output for each of ImageNet's 1,000 classes"),
        ({"kind": TensorProto.DOUBLE}, r"takes tensor\(double\); export it with an input of float32"),
        ({"metadata": {"preprocessing": "{"}}, "the entry preprocessing of the metadata of .* is no JSON"),
        (
            {"metadata": {"preprocessing": '{"sise": 8}'}},
            "sise: Extra inputs are not permitted; state size, ",
        ),
        ({"metadata": {"preprocessing": "[8]"}}, "is a list, not a table with size, resize, mean"),
        ({"metadata": {"preprocessing": '{"cut": 8}'}}, "cannot be understood"),
        ({"metadata": {"preprocessing": '{"size": 9}'}}, "its input is 8 × 8 pixels, not 9 × 9 as"),
    ],
)
def test_files_that_are_no_such_network(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    file = mean_colour(tmp_path / "m.onnx", **options)
    with pytest.raises(InputError, match=rf"^models: m: .*{said}") as caught:
        outline(onnx_model(file))
    assert "\n" not in str(caught.value)


def test_an_output_of_no_fixed_length_is_refused(tmp_path: Path) -> None:
    import onnx
    from onnx import helper

    node = helper.make_node("NonZero", ["image"], ["logits"])
    entry = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["images", 3, 8, 8])
    result = helper.make_tensor_value_info("logits", TensorProto.INT64, [4, "some"])
    model = helper.make_model(
        helper.make_graph([node], "g", [entry], [result]), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 9
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(InputError, match=r"has an output of 4 × some; export it with a row of logits"):
        outline(onnx_model(tmp_path / "m.onnx"))


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08\x07" * 40, b"PK\x03\x04" + bytes(60)])
def test_files_that_are_no_onnx_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(InputError, match=r"m\.onnx is no ONNX file, or is damaged; set weights"):
        outline(onnx_model(tmp_path / "m.onnx"))


def test_half_a_file_is_damaged(tmp_path: Path) -> None:
    file = mean_colour(tmp_path / "m.onnx")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(InputError, match=r"m\.onnx is no ONNX file, or is damaged"):
        outline(onnx_model(file))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.onnx cannot be read \(No such file or directory\); correct"):
        outline(onnx_model(tmp_path / "none.onnx"))


def test_a_size_that_the_file_does_not_take(tmp_path: Path) -> None:
    file = mean_colour(tmp_path / "m.onnx")
    with pytest.raises(InputError, match=r"its input is 8 × 8 pixels, not 16 × 16 as its settings"):
        outline(onnx_model(file, input=Input(size=16)))


def test_fast_modes_and_absent_gpus_are_refused(tmp_path: Path) -> None:
    model = onnx_model(mean_colour(tmp_path / "m.onnx"))
    with pytest.raises(InputError, match="in the precision that it was exported in; choose mode reference"):
        load(model, outline(model), {}, Compute(mode="bf16"))
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        with pytest.raises(InputError, match=r"cannot use cuda:0; install onnxruntime-gpu"):
            load(model, outline(model), {}, Compute(device="cuda:0"))


def test_without_onnx_runtime_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = mean_colour(tmp_path / "m.onnx")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        InputError, match=r"needs the packages onnx and onnxruntime; install imagenetv2\[onnx\]"
    ):
        outline(onnx_model(file))
