"""The configuration: generated files do not drift, and every fault is one readable line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import yaml
from pydantic import BaseModel

from imagenetv2.config import Config
from imagenetv2.config_files import GENERATED, default_yaml
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.settings import Cutoffs
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.loading import lay_over, load, read_yaml, require_outside, validate
from imagenetv2.versions import digest_outside, plan

ROOT = Path(__file__).parents[2]
OVERLAYS = sorted(p for p in (ROOT / "config").glob("*.yaml") if p.name != "config.yaml")


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_generated_files_are_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == GENERATED[name](), "run `imagenetv2 config write` and commit"


def test_the_default_file_holds_the_defaults() -> None:
    assert load([ROOT / "config/config.yaml"]) == Config()


@pytest.mark.parametrize("path", [ROOT / "config/config.yaml", *OVERLAYS], ids=lambda p: p.name)
def test_every_configuration_is_valid_and_fits_the_schema(path: Path) -> None:
    assert load([ROOT / "config/config.yaml", path])
    schema = json.loads((ROOT / "config/schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(json.dumps(read_yaml(path), default=str)), schema)


def test_the_schema_refuses_what_the_models_refuse() -> None:
    schema = json.loads((ROOT / "config/schema.json").read_text("utf-8"))
    for wrong in ({"serch": {}}, {"search": {"per_page": 501}}, {"world": {"source": "moon"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
        with pytest.raises(InputError):
            validate(wrong)


def test_every_field_has_a_description() -> None:
    def check(model: type[BaseModel]) -> None:
        for name, info in model.model_fields.items():
            assert info.description, f"{model.__name__}.{name} has no description"
            for kind in (info.annotation, *get_args(info.annotation)):
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    check(kind)

    check(Config)


def test_all_faults_are_told_at_once_one_a_line_with_file_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "serch: {}\nsearch: {per_pag: 100, ladder: [200, 100]}\nhits: {images_per_task: many}\nseed: -1\n"
    )
    with pytest.raises(InputError) as caught:
        load([ROOT / "config/config.yaml", path])
    lines = str(caught.value).splitlines()[1:]
    assert len(lines) == 5
    assert all(line.strip().startswith(f"{path}: ") for line in lines)
    text = "\n".join(lines)
    assert "serch: unknown key; did you mean search?" in text
    assert "search.per_pag: unknown key; did you mean per_page?" in text
    assert "hits.images_per_task: 'many' is not allowed" in text
    assert "seed: -1 is not allowed" in text
    assert "search: ladder [200, 100] must rise" in text


def test_contradictions_between_sections_are_told_beside_faults_within(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("seed: none\nworld: {source: real}\n")
    with pytest.raises(InputError) as caught:
        load([path])
    text = str(caught.value)
    assert "seed: 'none' is not allowed" in text
    assert "review.reviewer: simulated needs an embedded world" in text
    assert "reference.path: the real world needs" in text


@pytest.mark.parametrize(
    ("neighbours", "complaint"),
    [
        (
            {"l2": {"side": 64}},
            r"cutoffs\.l2: none is known for side 64 .*; state one; known are 200000 for side 32",
        ),
        (
            {"fc7": {"network": "vgg16"}},
            r"cutoffs\.fc7: none is known for network vgg16, preprocessing standard",
        ),
        ({"fc7": {"network": "vgg16", "preprocessing": "paper"}}, r"cutoffs\.fc7: none .* paper, side 48 "),
        ({"fc7": {"layer": "conv_head"}}, r"cutoffs\.fc7: none is known for .*, layer conv_head, "),
        ({"fc7": {"input": 40}}, r"cutoffs\.fc7: none is known for .*, side 48, input 40 "),
        ({"ssim": {"window": 9}}, r"cutoffs\.ssim: none is known for side 24, window 9 "),
    ],
)
def test_a_known_cutoff_goes_with_its_mode_only(
    neighbours: dict[str, dict[str, object]], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        validate({"neighbours": neighbours})
    stated = {"l2": 5e5, "fc7": 1e4, "ssim": 0.1}
    assert validate(
        {"neighbours": neighbours, "duplicates": {"cutoffs": stated}}
    ).duplicates.cutoffs == Cutoffs(**stated)
    off = {m: {**v, "enabled": False} for m, v in neighbours.items()}
    for metric, value in validate({"neighbours": off}).duplicates.cutoffs.model_dump().items():
        assert value == (0 if metric in off else Config().duplicates.cutoffs.model_dump()[metric])


def test_cutoffs_left_open_are_those_of_the_mode() -> None:
    assert Config().duplicates.cutoffs == Cutoffs(l2=2e5, fc7=300, ssim=0.15)
    study = {
        "l2": {"side": 256},
        "fc7": {"network": "vgg16", "preprocessing": "paper", "side": 256, "input": 224},
        "ssim": {"side": 256, "window": 35},
    }
    paper = Cutoffs(l2=1.2e8, fc7=1.32e4, ssim=0.2205)
    assert validate({"neighbours": study}).duplicates.cutoffs == paper
    study["fc7"]["layer"] = "classifier.4"
    assert validate({"neighbours": study}).duplicates.cutoffs == paper
    partly = validate({"neighbours": study, "duplicates": {"cutoffs": {"fc7": 9e3}}})
    assert partly.duplicates.cutoffs == Cutoffs(l2=1.2e8, fc7=9e3, ssim=0.2205)


def test_the_file_of_defaults_leaves_cutoffs_open() -> None:
    """Whoever lays a file with another mode over it is asked for a cut-off, and not given that of the defaults."""
    assert yaml.safe_load(default_yaml())["duplicates"]["cutoffs"] == dict.fromkeys(METRICS)


def test_strings_from_a_command_line_are_read_as_numbers() -> None:
    assert validate({"sampling": {"threshold": {"frequency": "0.6"}}}).sampling.threshold.frequency == 0.6


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("a: [", "not YAML at line"), ("- 1", "holds a list"), (None, "cannot be read")],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=complaint) as caught:
        load([path])
    assert str(path) in str(caught.value)


def test_missing_outside_files_are_all_named() -> None:
    config = validate(
        {"world": {"source": "folder", "folder": {"path": "nowhere"}}, "classes": {"table": "no.csv"}}
    )
    with pytest.raises(InputError) as caught:
        require_outside(stages(config).values())
    for name in (
        "classes.table: no.csv",
        "world.folder.votes",
        "world.folder.train",
        "world.folder.photographs",
    ):
        assert name in str(caught.value)


def test_laying_over_merges_sections_and_replaces_lists() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert lay_over(base, {"a": {"c": [3]}}) == {"a": {"b": 1, "c": [3]}, "d": 1}


def test_paths_are_not_part_of_versions_but_content_is(tmp_path: Path) -> None:
    def version_of(folder: str, text: str) -> str:
        table = tmp_path / folder / "classes.csv"
        table.parent.mkdir()
        table.write_text(text)
        config = validate({"classes": {"table": str(table)}})
        return plan(stages(config), config.seed)["classes"]

    assert version_of("a", "x") == version_of("b", "x") != version_of("c", "y")


def test_the_merged_file_can_be_read_again(tmp_path: Path) -> None:
    text = yaml.safe_dump(Config().model_dump(mode="json"))
    (tmp_path / "merged.yaml").write_text(text)
    assert load([tmp_path / "merged.yaml"]) == Config()


def test_a_folder_is_digested_by_content_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x").write_text("one")
    first = digest_outside("field", tmp_path)
    (tmp_path / "a/x").write_text("two")
    assert digest_outside("field", tmp_path) != first
    monkeypatch.setattr("imagenetv2.versions.CONTENT_LIMIT", 2)
    large = digest_outside("field", tmp_path)
    (tmp_path / "a/x").write_text("six")
    assert digest_outside("field", tmp_path) == large
    (tmp_path / "a/x").rename(tmp_path / "a/y")
    assert digest_outside("field", tmp_path) != large
    with pytest.raises(InputError, match=r"field: .*nowhere does not exist"):
        digest_outside("field", tmp_path / "nowhere")
