"""The study's networks: which are to be had, and what it found of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imagenetv2.evaluation.classifier import outline
from imagenetv2.evaluation.names import expand, listing, published
from imagenetv2.evaluation.names.libraries import catalogue
from imagenetv2.evaluation.names.spec import parse
from imagenetv2.evaluation.preprocessing import Preprocessing

ROOT = Path(__file__).parents[2]
BY_NAME = {row.name: row for row in published.rows()}


def test_there_are_64_networks_and_three_baselines() -> None:
    table = published.models()
    assert list(table["name"]) == sorted(set(table["name"]))
    assert (len(table), len(published.networks())) == (67, 64)
    assert set(table.loc[table["family"] == published.FISHER, "name"]) == {"fv_4k", "fv_16k", "fv_64k"}
    assert set(table["source"]) == {"torchvision", "pretrainedmodels", "TF-Slim", "baseline"}
    assert (table["name"].str.endswith("_tf") == (table["source"] == "TF-Slim")).all()


def test_counts_are_of_the_sets() -> None:
    table = published.models()
    for name, images in published.IMAGES.items():
        top1, top5 = table[f"{name}_top1"], table[f"{name}_top5"]
        assert (top1 > 0).all() and (top1 < top5).all() and (top5 < images).all()


def test_accuracies_are_those_that_the_paper_prints() -> None:
    """Rows of its Table 1: original and, less the loss, MatchedFrequency."""
    for name, original, new in (
        ("pnasnet_large_tf", 82.9, 72.2),
        ("nasnetalarge", 82.5, 72.2),
        ("resnet152", 78.3, 67.0),
        ("inception_v3_tf", 78.0, 66.1),
        ("densenet161", 77.1, 65.3),
        ("vgg19_bn", 74.2, 61.9),
        ("alexnet", 56.5, 44.0),
        ("fv_64k", 35.1, 24.1),
    ):
        row = BY_NAME[name]
        assert round(row.accuracy("original"), 1) == original
        assert round(row.accuracy("matched_frequency"), 1) == new


def test_every_name_and_tag_is_in_the_installed_libraries() -> None:
    relations = {published.SAME, published.OTHER_INPUT, published.ANEW}
    for row in published.rows():
        assert bool(row.model) == bool(row.relation)
        if row.model:
            assert row.relation in relations
            spec = parse(row.model)
            assert catalogue(spec.kind).one(spec.target) == spec.target, row.name


def test_torchvision_states_the_accuracy_that_the_study_found() -> None:
    """To 0.005 points, half an image in 200 thousand, so that the weights are the same; its inception_v3 is cut otherwise."""
    import torchvision

    compared = 0
    for row in published.rows():
        kind, _, name = row.network.partition(":")
        if row.relation == published.SAME and kind == "torchvision":
            network, _, tag = name.partition(".")
            stated = torchvision.models.get_model_weights(network)[tag].meta["_metrics"]["ImageNet-1K"]
            near = 0.1 if row.name == "inception_v3" else 0.005
            for k in (1, 5):
                assert row.accuracy("original", k) == pytest.approx(stated[f"acc@{k}"], abs=near), row.name
            compared += 1
    assert compared == 21


@pytest.mark.packs
def test_timm_found_nearly_the_accuracy_that_the_study_did(packs: Path) -> None:
    """Within 0.65 points, for timm resizes bicubically; GluonCV's ResNeXt, trained anew, are two points away."""
    measured = pd.read_csv(packs / "model-results/timm-results-imagenet.csv").set_index("model")["top1"]
    compared = 0
    for row in published.rows():
        kind, _, name = row.network.partition(":")
        if row.relation in (published.SAME, published.OTHER_INPUT) and kind == "timm":
            assert float(measured[name]) == pytest.approx(row.accuracy("original"), abs=0.65), row.name
            compared += 1
    assert compared == 23


@pytest.mark.packs
def test_the_counts_are_those_of_the_record(packs: Path) -> None:
    from imagenetv2.evaluation.names import from_record

    committed = (ROOT / "src/imagenetv2/evaluation/names/published.csv").read_text("utf-8")
    command = "python -m imagenetv2.evaluation.names.from_record ../shared/packs/record.tar.gz"
    assert from_record.text(packs / "record.tar.gz") == committed, f"run: {command}"


def test_the_preset_holds_every_network_to_be_had_once() -> None:
    models = expand(["preset:published"])
    assert len(models) == 41
    assert len({(m.kind, m.architecture) for m in models}) == 41
    to_be_had = {r.network for r in published.rows() if r.relation in (published.SAME, published.OTHER_INPUT)}
    assert {f"{m.kind}:{m.architecture}" for m in models} == to_be_had
    assert [m.name for m in models] == sorted(m.name for m in models)


def test_the_preset_has_the_study_s_input() -> None:
    """Shorter side to size / 0.875, rounded down, bilinearly; torchvision's 256, and its inception_v3 299."""
    for model in expand(["preset:published"]):
        row = BY_NAME[model.name]
        if row.relation != published.SAME:
            continue
        cut = Preprocessing.from_json(outline(model)["preprocessing"]).cut
        size = cut.size[0]
        wanted = {"inception_v3": 299}.get(row.name, int(size / 0.875))
        assert (cut.size, cut.resize, cut.interpolation) == ((size, size), wanted, "bilinear"), row.name


def test_a_model_of_the_study_is_known_with_its_input() -> None:
    for model in expand(["preset:published"]):
        known = published.known(model)
        assert known is not None and known.row.name == model.name
        assert known.same_input == (known.row.relation == published.SAME)


def test_known_looks_at_weights_and_input(tmp_path: Path) -> None:
    (tmp_path / "w.pth").touch()
    own, alike, resized, new, file, bare, lite = expand(
        [
            "timm:nasnetalarge.tf_in1k",
            "timm:dpn92?interpolation=bilinear",
            "timm:dpn92?size=288",
            "torchvision:resnet50.IMAGENET1K_V2",
            f"torchvision:resnet50.IMAGENET1K_V1={tmp_path}/w.pth",
            f"torchvision:resnet50={tmp_path}/w.pth",
            "lite0",
        ]
    )
    assert published.known(own) == published.Known(BY_NAME["nasnetalarge"], same_input=False)
    assert published.known(alike) == published.Known(BY_NAME["dpn92"], same_input=True)
    assert [published.known(m) for m in (resized, new, file, bare, lite)] == [None] * 5, (
        "who knows what is in a file"
    )


@pytest.mark.parametrize(
    ("name", "slope", "k"),
    [
        ("matched_frequency", 1.11, 1),
        ("threshold", 1.10, 1),
        ("top_images", 0.96, 1),
        ("top_images", 0.88, 5),
    ],
)
def test_lines_are_those_that_the_paper_prints(name: str, slope: float, k: int) -> None:
    line = published.line(name, 1000, k)
    assert round(line.slope, 2) == slope
    x, y = published.points(name, k)
    assert (line.slope, line.offset) == pytest.approx(tuple(np.polyfit(x, y, 1)))


def test_the_interval_of_the_slope_is_the_paper_s() -> None:
    """1.07 to 1.19, and the offset −20.2, to the digits that docs/published.md finds."""
    line = published.line("matched_frequency")
    assert line.offset == pytest.approx(-20.263, abs=0.0005)
    assert np.quantile(line.slopes, [0.025, 0.975]) == pytest.approx([1.078, 1.188], abs=0.003)
    again = published.line("matched_frequency")
    assert (line.slopes == again.slopes).all()


def test_the_configuration_for_imagenet_lists_the_preset() -> None:
    """To mend it: imagenetv2 names preset:published --yaml."""
    written = (ROOT / "config/imagenet.yaml").read_text("utf-8")
    assert listing.entries(expand(["preset:published"])) in written
