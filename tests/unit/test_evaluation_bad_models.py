"""Models that go wrong, in a run with others: one sentence each, and the others are not touched."""

from __future__ import annotations

import errno
import io
import logging
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
from safetensors.torch import save_file
from torchvision.models import get_model

from imagenetv2.cli import main
from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import load, outline
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.running.ledger import Ledger, Records, record_type
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable, Task
from imagenetv2.evaluation.settings import Input, Model
from imagenetv2.images import encode_png
from tests.unit.onnx_files import mean_colour

SIDE = 32
COUNT = 21
NETWORKS = """
    import torch

    def constant():
        return lambda batch: torch.full((len(batch), 1000), 0.25)

    def dark_is_nan():
        return lambda batch: torch.where(batch.mean(dim=(1, 2, 3), keepdim=True)[..., 0, 0] < -1.5, torch.nan, 1.0).expand(
            -1, 1000
        )

    def infinite():
        return lambda batch: torch.full((len(batch), 1000), torch.inf)

    def short():
        return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 999))

    def maps():
        return torch.nn.Conv2d(3, 1000, 1)

    def grey():
        return torch.nn.Sequential(torch.nn.Conv2d(1, 1000, 1), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())

    def table():
        return lambda batch: {"logits": batch}

    def raising():
        def answer(batch):
            raise KeyError("layer")
        return answer
"""


@pytest.fixture(autouse=True)
def _networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("bad_networks.py").write_text(textwrap.dedent(NETWORKS), "utf-8")
    yield
    sys.modules.pop("bad_networks", None)


def images() -> LabelledImages:
    random = np.random.default_rng(1)
    pixels = [random.integers(0, 256, (40, 40, 3)).astype(np.uint8) for _ in range(COUNT)]
    for dark in (4, 5, 7, 12):
        pixels[dark][:] = 0
    true = np.where(np.arange(COUNT) % 3 == 0, 0, np.arange(COUNT) * 40)
    names = [f"image{i:02}" for i in range(COUNT)]
    return LabelledImages("a set", names, true.astype(np.int64), np.arange(1000), pixels)


def python(name: str) -> Model:
    return Model(name=name, kind="python", architecture=f"bad_networks:{name}", input=Input(size=SIDE))


def filed(kind: str, weights: Path, architecture: str = "resnet18") -> Model:
    return Model(name="m", kind=kind, architecture=architecture, weights=weights, input=Input(size=SIDE))


def task(model: Model, shown: LabelledImages, folder: Path) -> Task:
    facts = outline(model)
    cut = Preprocessing.from_json(facts["preprocessing"]).cut
    made = Runnable(model.name, cut, lambda compute: load(model, facts, {}, compute))
    return Task(made, shown, np.arange(1000), int(facts["outputs"]), folder / f"{model.name}.records")


def outcome(folder: Path, *models: Model, cores: int = 2) -> tuple[dict[str, InputError], dict[str, Records]]:
    """What failed, and the records that there are, by model."""
    shown = images()
    tasks = [task(model, shown, folder) for model in models]
    failures = run(tasks, Resources(cores=cores), logging.getLogger("test"))
    return failures, {t.model.name: Ledger(t.ledger, record_type(1000, False)).read() for t in tasks}


def test_a_constant_output_scores_what_it_deserves(tmp_path: Path) -> None:
    failures, records = outcome(tmp_path, python("constant"))
    found, true = records["constant"], images().true
    assert failures == {}
    assert np.array_equal(found["rank"], true)
    assert (found["rank"] == 0).mean() == (true == 0).mean() == 7 / COUNT
    assert (found["top5"] == [0, 1, 2, 3, 4]).all()
    assert found["probability"] == pytest.approx(1 / 1000)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "dark_is_nan",
            r"its outputs for image04, image05, image07 \(3 of the 8 images of a pass over a set\) are not",
        ),
        ("infinite", r"its outputs for image00, image01, image02 \(8 of the 8 images"),
        ("short", r"it gives 999 outputs an image, not 1000; take weights that were made for these classes"),
        (
            "maps",
            r"it gives 8 × 1000 × 32 × 32 for 8 images, not a row of 1000 outputs for each; correct the model",
        ),
        (
            "grey",
            r"a forward pass of 8 images of 32 × 32 pixels fails \(.*to have 1 channels, but got 3 channels",
        ),
        ("table", r"fails \(it returns a dict, not a tensor of images × outputs\); correct the model"),
        ("raising", r"fails \('layer'\); correct the model"),
    ],
)
@pytest.mark.parametrize("cores", [1, 2])
def test_outputs_that_are_none_fail_their_model_only(
    tmp_path: Path, name: str, said: str, cores: int
) -> None:
    failures, records = outcome(tmp_path, python(name), python("constant"), cores=cores)
    assert list(failures) == [name]
    sentence = str(failures[name])
    assert sentence.startswith(f"models: {name}: ")
    assert "\n" not in sentence
    assert sentence.endswith(".")
    with pytest.raises(InputError, match=said):
        raise failures[name]
    assert len(records[name]) < COUNT
    assert len(records["constant"]) == COUNT


def checkpoint(path: Path, library: str, name: str, **options: Any) -> Path:
    module: Any
    if library == "timm":
        module = timm.create_model(name, pretrained=False, **options)
    else:
        module = get_model(name, weights=None, **options)
    save_file({k: v.contiguous() for k, v in module.state_dict().items()}, path)
    return path


@pytest.mark.parametrize("kind", ["timm", "torchvision"])
def test_a_missing_checkpoint(tmp_path: Path, kind: str) -> None:
    failures, _ = outcome(tmp_path, filed(kind, tmp_path / "absent.pth"), python("constant"))
    with pytest.raises(
        InputError, match=r"^models: m: .*absent\.pth cannot be read \(No such file or directory"
    ):
        raise failures["m"]


@pytest.mark.parametrize("kind", ["timm", "torchvision"])
def test_a_checkpoint_of_another_architecture(tmp_path: Path, kind: str) -> None:
    file = checkpoint(tmp_path / "other.safetensors", "torchvision", "squeezenet1_1")
    failures, _ = outcome(tmp_path, filed(kind, file))
    said = (
        r"^models: m: .*other\.safetensors do not fit the network: they lack 122 of its 122 tensors, such as "
    )
    with pytest.raises(InputError, match=said):
        raise failures["m"]


def test_a_checkpoint_with_999_outputs(tmp_path: Path) -> None:
    file = checkpoint(tmp_path / "short.safetensors", "timm", "test_resnet", num_classes=999)
    failures, _ = outcome(tmp_path, filed("timm", file, "test_resnet"))
    with pytest.raises(
        InputError, match=r"do not fit the network: their fc\.weight is 999 × \d+, not 1000 × "
    ):
        raise failures["m"]


def test_a_checkpoint_for_another_number_of_channels(tmp_path: Path) -> None:
    file = checkpoint(tmp_path / "grey.safetensors", "timm", "test_resnet", in_chans=1)
    failures, _ = outcome(tmp_path, filed("timm", file, "test_resnet"))
    with pytest.raises(
        InputError, match="they are of a network that needs 1 channels, not the 3 of an image"
    ):
        raise failures["m"]


def test_an_onnx_file_that_fails_while_it_runs(tmp_path: Path) -> None:
    """Its number of images is said to be open, but its graph holds to one."""
    import onnx
    from onnx import helper, numpy_helper

    file = mean_colour(tmp_path / "m.onnx", size=(3, SIDE, SIDE))
    model = onnx.load(file)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 1000]), "shape"))
    model.graph.node[-1].output[0] = "whole"
    model.graph.node.append(helper.make_node("Reshape", ["whole", "shape"], ["logits"]))
    onnx.save(model, file)
    failures, _ = outcome(tmp_path, Model(name="m", kind="onnx", weights=file))
    with pytest.raises(
        InputError, match=r"^models: m: a forward pass of 8 images of 32 × 32 pixels fails \("
    ):
        raise failures["m"]
    assert "\n" not in str(failures["m"])


class FullDisk(io.FileIO):
    """A file on a disk that has room for ``left`` more bytes."""

    left = 0

    def write(self, data: Any, /) -> int:
        part = bytes(data)[: FullDisk.left]
        if not part:
            raise OSError(errno.ENOSPC, "No space left on device")
        FullDisk.left -= len(part)
        return super().write(part)


@contextmanager
def room(left: int) -> Iterator[None]:
    """A disk on which so many bytes of ledgers can be written."""
    opened = Path.open

    def full(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if path.suffix == ".records" and mode in ("wb", "r+b"):
            return io.BufferedRandom(FullDisk(path, "w+" if mode == "wb" else "r+"))
        return opened(path, mode, *args, **options)

    FullDisk.left = left
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", full)
        yield


def test_a_full_disk_ends_the_run_and_what_is_written_is_gone_on_with(tmp_path: Path) -> None:
    _, wanted = outcome(tmp_path / "whole", python("constant"))
    kind = record_type(1000, False)
    with room(5 * kind.itemsize + 7), pytest.raises(OSError, match="No space left on device") as caught:
        outcome(tmp_path / "full", python("constant"))
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "full/constant.records")
    assert Ledger(tmp_path / "full/constant.records", kind).done == 5
    failures, found = outcome(tmp_path / "full", python("constant"))
    assert failures == {}
    assert np.array_equal(found["constant"], wanted["constant"])


def evaluated(folder: Path, model: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Exit code of the command, and the lines that it logs of errors."""
    for wnid, pixels in zip(("n01440764", "n01443537"), images().pixels, strict=False):
        (folder / "set" / wnid).mkdir(parents=True, exist_ok=True)
        (folder / "set" / wnid / "a.png").write_bytes(encode_png(pixels))
    given = [
        "evaluate",
        "--models",
        model,
        "--v2",
        str(folder / "set"),
        "--partial",
        "--out",
        str(folder / "out"),
    ]
    code = main([*given, "--device", "cpu", "--cores", "1"])
    lines = capsys.readouterr().err.splitlines()
    assert not any("Traceback" in line for line in lines)
    return code, lines


def test_the_command_says_that_the_disk_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with room(3):
        code, lines = evaluated(tmp_path, "python:bad_networks:constant", capsys)
    assert code == 1
    assert lines[-1].startswith(f"imagenetv2 evaluate: {tmp_path}/out/")
    assert ".records: the disk is full; free some space and run again" in lines[-1]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            "python:bad_networks:infinite",
            "its outputs for n01440764/a.png, n01443537/a.png (2 of the 2 images",
        ),
        (
            "python:bad_networks:short",
            "it gives 999 outputs an image, not 1000; take weights that were made for",
        ),
        ("python:bad_networks:absent", "bad_networks has no absent; correct the name of the function."),
        ("onnx:absent.onnx", "there is no file absent.onnx; correct the path."),
        ("onnx:bad_networks.py", "bad_networks.py is no ONNX file, or is damaged; set weights"),
        (
            "timm:resnet18=absent.pth",
            "there is no file absent.pth; correct the path.",
        ),
    ],
)
def test_the_command_says_what_is_wrong_with_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, said: str
) -> None:
    code, lines = evaluated(tmp_path, model, capsys)
    assert code == 1
    assert sum(said in line for line in lines) == 1
