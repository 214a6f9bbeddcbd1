"""Rules of the house that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from imagenetv2.config import Config
from imagenetv2.graph import stages

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
RULES = sorted((ROOT / "workflow/rules").glob("*.smk"))
LISTINGS = {"glob", "rglob", "iterdir", "scandir", "listdir"}
HEAVY = (
    "torch",
    "timm",
    "torchvision",
    "pandas",
    "pyarrow",
    "numpy",
    "sklearn",
    "skimage",
    "boto3",
    "altair",
    "vl_convert",
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_folders_are_listed_in_order(path: Path) -> None:
    """A listing is sorted where it is made, or only asked whether anything is there."""
    tree = ast.parse(path.read_text("utf-8"))
    fine = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("sorted", "any", "sum")
        ):
            fine |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LISTINGS:
            assert id(node) in fine, f"line {node.lineno}: sort what {node.func.attr} gives"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_global_state_of_libraries_is_changed(path: Path) -> None:
    text = path.read_text("utf-8")
    for wrong in (
        "LOAD_TRUNCATED_IMAGES",
        "np.random.seed",
        "verify=False",
        "np.random.rand",
        "random.seed(",
    ):
        assert wrong not in text


def test_planning_imports_nothing_heavy() -> None:
    code = f"import imagenetv2.plan, sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_rules_hold_no_logic_and_params_take_no_input(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"^\s*(run|script|notebook):", text, re.M)
    assert not re.search(r"lambda wildcards, *(input|output|resources)", text)
    for command in re.findall(r'shell:\s+"([^"]+)', text):
        assert re.match(r"(exec )?imagenetv2 ", command)


def test_every_stage_has_a_function_and_unique_files() -> None:
    for stage in stages(Config()).values():
        module, function = stage.run.split(":")
        path = ROOT / "src" / Path(*module.split("."))
        source = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        names = {n.name for n in ast.parse(source.read_text("utf-8")).body if isinstance(n, ast.FunctionDef)}
        assert function in names, stage.run
        assert len({f.name for f in stage.files}) == len(stage.files)


def test_every_table_says_what_its_columns_mean() -> None:
    for stage in stages(Config()).values():
        for file in stage.files:
            assert file.meaning
            for column in getattr(file, "columns", ()):
                assert column.meaning, f"{stage.name}/{file.name}: {column.name}"
