"""Networks that functions make: what is taken from them, and what is said of those that are none."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute, load, outline
from imagenetv2.evaluation.kinds import python_function
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Input, Model
from imagenetv2.networks.reproducible import numerics

Written = Callable[[str, str], Model]
LINEAR = """
    import torch

    def linear(outputs=1000):
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, outputs))
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """A function that writes a module into the current folder and names something in it."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)

    def write(source: str, name: str) -> Model:
        (tmp_path / "my_networks.py").write_text(textwrap.dedent(source), "utf-8")
        return Model(name="m", kind="python", architecture=f"my_networks:{name}")

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("my_"):
            del sys.modules[name]


def preprocessing_of(model: Model) -> Preprocessing:
    return Preprocessing.from_json(outline(model)["preprocessing"])


def test_a_module_of_the_current_folder_is_found_and_run(written: Written) -> None:
    model, path = written(LINEAR, "linear"), list(sys.path)
    facts = outline(model)
    found = load(model, facts, {}, Compute())
    assert sys.path == path
    own: Any = sys.modules["my_networks"]
    batch = np.random.default_rng(1).integers(0, 256, (4, 224, 224, 3)).astype(np.uint8)
    scaled = torch.from_numpy(Preprocessing.from_json(facts["preprocessing"]).scale(batch))
    with numerics(), torch.inference_mode():
        np.testing.assert_array_equal(found.outputs(batch), own.linear()(scaled).numpy())
    assert (facts["outputs"], facts["architecture"]) == (1000, "my_networks:linear")


def test_a_function_of_a_batch_will_do(written: Written) -> None:
    source = """
        import torch

        class Made:
            def __call__(self, batch):
                assert batch.dtype == torch.float32 and batch.shape[1:] == (3, 8, 8)
                return batch.mean(dim=(1, 2, 3)).unsqueeze(1) * torch.arange(1000)
    """
    model = written(source, "Made").model_copy(update={"input": Input(size=8)})
    classifier = load(model, outline(model), {}, Compute())
    assert classifier.outputs(np.full((2, 8, 8, 3), 255, np.uint8)).argmax(axis=1).tolist() == [999, 999]
    assert classifier.digest == python_function.digest(model)


def test_a_change_of_the_state_is_seen(written: Written) -> None:
    source = """
        import torch

        def unseeded():
            return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 1000))
    """
    model = written(source, "unseeded")
    facts = outline(model)
    first, second = (load(model, facts, {}, Compute()).digest for _ in range(2))
    assert None not in (first, second)
    assert first != second


def test_a_change_of_the_code_is_seen(written: Written) -> None:
    first = load(model := written(LINEAR, "linear"), outline(model), {}, Compute()).digest
    assert load(model, outline(model), {}, Compute()).digest == first
    written(LINEAR + "\n\n    # It computes something else.\n", "linear")
    assert load(model, outline(model), {}, Compute()).digest != first


def test_it_is_made_once_to_be_looked_at_and_loaded(written: Written) -> None:
    source = """
        import torch

        made = []

        def counted():
            made.append(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 1000)))
            return made[-1]
    """
    model = written(source, "counted")
    facts = outline(model)
    own: Any = sys.modules["my_networks"]
    digest = python_function.digest(model)
    assert load(model, facts, {}, Compute()).digest == digest
    assert len(own.made) == 1
    load(model, facts, {}, Compute())  # another, for another device
    assert len(own.made) == 2


def test_a_network_of_timms_says_what_it_wants_itself(written: Written) -> None:
    source = """
        import timm

        def small():
            return timm.create_model("test_resnet", pretrained=False)
    """
    model = written(source, "small")
    same = Model(name="t", kind="timm", architecture="test_resnet", weights=Path("none"))
    assert outline(model)["preprocessing"] == outline(same)["preprocessing"]
    assert outline(model)["assumed"] == []
    wider = {"input": Input(size=96, crop=0.5, mean=(0, 0, 0))}
    wanted = outline(same.model_copy(update=wider))["preprocessing"]
    assert outline(model.model_copy(update=wider))["preprocessing"] == wanted


def test_what_it_wants_may_be_an_attribute(written: Written) -> None:
    source = """
        import torch, torchvision

        def on_the_module():
            made = torch.nn.Flatten()
            made.preprocessing = {"size": 8, "crop": 0.5, "interpolation": "bicubic", "std": [1, 1, 1]}
            return made

        def on_the_function():
            return torch.nn.Flatten()

        on_the_function.preprocessing = torchvision.models.ResNet18_Weights.DEFAULT.transforms()
    """
    model = written(source, "on_the_module")
    wanted = Preprocessing(Cut.square(8, 16, "bicubic"), std=(1, 1, 1))
    assert preprocessing_of(model) == wanted
    assert outline(model)["assumed"] == ["mean"]
    other = model.model_copy(update={"architecture": "my_networks:on_the_function"})
    assert preprocessing_of(other) == Preprocessing(Cut.square(224, 256))
    assert outline(other)["assumed"] == []
    assert outline(written(LINEAR, "on_the_function"))["assumed"] == []  # the module is imported once


BROKEN = """
    import sys
    import torch

    constant = 5

    def raising():
        raise ValueError("no weights here\\nand more")

    def leaving():
        sys.exit(3)

    def asking(size):
        return torch.nn.Flatten()

    def number():
        return 7

    def nothing():
        return None

    def without_classifier():
        made = torch.nn.Flatten()
        made.num_classes = 0
        return made

    def odd():
        made = torch.nn.Flatten()
        made.preprocessing = {"mean": 0.5}
        return made
"""


@pytest.mark.parametrize(
    ("architecture", "said"),
    [
        ("my_networks", r"my_networks is no package\.module:callable; write the module, a colon"),
        ("my_absent:f", r"my_absent:f: there is no module my_absent; correct the name, or run in the folder"),
        ("my_networks.inner:f", r"there is no module my_networks\.inner; correct"),
        ("my_networks:absent", r"my_networks has no absent; correct the name of the function"),
        ("my_networks:constant", r"my_networks:constant is a int, which cannot be called"),
        ("my_networks:raising", r"raises ValueError \(no weights here\); correct it"),
        ("my_networks:leaving", r"raises SystemExit \(3\); correct it"),
        (
            "my_networks:asking",
            r"raises TypeError \(asking\(\) missing 1 required positional argument: 'size'\)",
        ),
        ("my_networks:number", r"returns a int; have it return a torch\.nn\.Module"),
        ("my_networks:nothing", r"returns a NoneType; have it return"),
        (
            "my_networks:without_classifier",
            r"my_networks:without_classifier has no classifier, not an output",
        ),
        (
            "my_networks:odd",
            r"preprocessing of my_networks:odd: mean: Input should be a valid tuple; state size",
        ),
    ],
)
def test_what_is_no_network(written: Written, architecture: str, said: str) -> None:
    model = written(BROKEN, "").model_copy(update={"architecture": architecture})
    with pytest.raises(InputError, match=rf"^models: m: .*{said}") as caught:
        outline(model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import my_missing_needs", "its import needs my_missing_needs, which is not there; install it"),
        ("1 / 0", r"importing my_networks raises ZeroDivisionError \(division by zero\); correct it"),
        ("def f(:", r"importing my_networks raises SyntaxError \(.*\); correct it"),
    ],
)
def test_modules_that_cannot_be_imported(written: Written, source: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        outline(written(source, "f"))
