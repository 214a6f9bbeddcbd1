"""Every leaf of the configuration changes the versions that docs/what-runs-again.md says, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.versions import plan

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/what-runs-again.md").read_text("utf-8")


def table(name: str) -> list[tuple[str, str]]:
    """Rows of a marked table of the page: its two cells."""
    part = PAGE.split(f"<!-- table: {name} -->")[1].split("\n## ")[0]
    rows = [
        re.split(r"\s*\|\s*", line.strip().strip("|")) for line in part.splitlines() if line.startswith("|")
    ]
    return [(row[0].strip(), row[1].strip() if len(row) > 1 else "") for row in rows[2:]]


def leaves(section: BaseModel, prefix: str = "") -> Iterator[tuple[str, type[BaseModel], str, Any]]:
    """Every value of the configuration: dotted name, its model, its field, the value. Of a list, the first entry."""
    for field in type(section).model_fields:
        value = getattr(section, field)
        if isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            yield from leaves(value[0], f"{prefix}{field}.0.")
        elif isinstance(value, BaseModel):
            yield from leaves(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", type(section), field, value


def others(model: type[BaseModel], field: str, value: Any) -> Iterator[Any]:
    """Other values that the field might take, most likely first."""
    return (v for v in guesses(model, field, value) if v != value)


def guesses(model: type[BaseModel], field: str, value: Any) -> Iterator[Any]:
    """Values of the field's type, most likely first."""
    annotation = model.model_fields[field].annotation
    choices = [
        c for a in (annotation, *get_args(annotation)) if get_origin(a) is Literal for c in get_args(a)
    ]
    yield from (c for c in choices if c != value)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, value + 2)
    elif isinstance(value, float):
        yield from (value * 0.9, value + 0.01, value + 1)
    elif isinstance(value, Decimal):
        yield value + 1
    elif isinstance(value, date):
        yield value - timedelta(days=1)
        yield value + timedelta(days=1)
    elif isinstance(value, tuple | list):
        if value and isinstance(value[-1], int | float):
            yield (*value[:-1], value[-1] + 1)
        yield from ((*value, "n01440764"), value[:-1], ("0123456789abcdef",), (*value, 10_000))
    elif isinstance(value, dict):
        yield from (
            {"n01440764": 0.5},
            {**value, "x": 1},
            {**value, "x": "y"},
            {**value, "x": ("n01440764",)},
        )
    elif value is None:
        yield from ("x", 1, "2012-01-01", 64, (0.4, 0.5, 0.6))
    else:
        yield from (f"{value}x", "1", "other", "vgg16")


def changed(config: Config, name: str, value: Any) -> Config | None:
    """The configuration with one value replaced; None where it is not valid."""
    values = config.model_dump()
    here: Any = values
    *path, last = name.split(".")
    for part in path:
        if isinstance(here, tuple):
            here = here[int(part)]
        else:
            if isinstance(here[part], tuple):
                here[part] = tuple(dict(v) if isinstance(v, dict) else v for v in here[part])
            here = here[part]
    here[last] = value
    try:
        return Config.model_validate(values)
    except ValidationError:
        return None


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths of the configuration are relative to the checkout."""
    monkeypatch.chdir(ROOT)


def versions(config: Config) -> dict[str, str]:
    """Versions without looking at outside files, whose paths a test makes up."""
    known = stages(config)
    bare = {n: s.__class__(**{**vars(s), "outside": {}}) for n, s in known.items()}
    return plan(bare, config.seed)


def expected(
    name: str, operational: bool, reads: Mapping[str, tuple[str, ...]], marked: str = "values"
) -> set[str]:
    """Stages that a table of the page says change."""
    if operational:
        return set()
    keys = [(key.strip("`"), cell) for key, cell in table(marked)]
    any_entry = re.sub(r"\.\d+\.", ".*.", name)
    fitting = ((k, c) for k, c in keys if any_entry == k or any_entry.startswith(f"{k}."))
    key, cell = max(fitting, key=lambda kc: len(kc[0]))
    if cell == "everything":
        return set(reads)
    if key == "models":
        model = Config().models[int(name.split(".")[1])].name
        patterns = [f"models/{model}", f"predictions/*/{model}"]
    else:
        patterns = re.findall(r"`([^`]+)`", cell)
    first = {s for s in reads if any(fnmatch(s, p) for p in patterns)}
    while True:
        more = {s for s, r in reads.items() if s not in first and first & set(r)}
        if not more:
            return first
        first |= more


def operational(model: type[BaseModel], field: str) -> bool:
    """Whether the field is left out of versions."""
    extra = model.model_fields[field].json_schema_extra
    return isinstance(extra, dict) and extra.get("versioned") is False


LEAVES = list(leaves(Config()))
NEVER_ALONE = {
    "assignments.mode", "neighbours.fc7.preprocessing", "models.0.kind", "models.0.weights", "analysis.lines.0.paths",
}  # fmt: skip
"""Values that contradict another value of the defaults, whatever else they are."""
COMPANIONS = {
    "evaluation.compile": ("evaluation.mode", "bf16"),
    "neighbours.l2.side": ("duplicates.cutoffs.l2", 1e5),
    "neighbours.fc7.network": ("duplicates.cutoffs.fc7", 1e4),
    "neighbours.fc7.weights": ("neighbours.fc7.network", "vgg16"),
}
"""Values that need another one changed beside them: it is changed before and after."""


@pytest.mark.parametrize(("name", "model", "field", "value"), LEAVES, ids=[leaf[0] for leaf in LEAVES])
def test_a_changed_leaf_changes_what_the_page_says(
    name: str, model: type[BaseModel], field: str, value: Any
) -> None:
    before = changed(Config(), *COMPANIONS[name]) if name in COMPANIONS else Config()
    assert before is not None
    after = next(
        (c for v in others(model, field, value) if (c := changed(before, name, v)) is not None), None
    )
    if name in NEVER_ALONE:
        assert after is None
        return
    assert after is not None, f"no other valid value is known for {name}"
    assert after != before
    old, new = versions(before), versions(after)
    reads = {n: s.reads for n, s in stages(before).items()}
    if name == "models.0.name":
        # A renamed model is another model; only the stages that read all models change.
        gone = {s for s in old if s not in new}
        assert gone == {s for s in old if s.rsplit("/", 1)[-1] == before.models[0].name}
        assert {s for s in new if s in old and old[s] != new[s]} == {"metrics", "analysis", "report"}
        return
    if name == "record.path":
        assert {s for s in new if not s.startswith("record/")} == {"analysis", "report"}
        assert all(new[s] != old[s] for s in ("analysis", "report"))
        return
    if name == "world.source":
        assert all(old[s] != new[s] for s in old if s in new and s != "classes")
        return
    if field == "enabled":
        metric = name.split(".")[1]
        assert f"neighbours/{metric}" in old
        assert f"neighbours/{metric}" not in new
        old.pop(f"neighbours/{metric}")
    differ = {s for s in old if old[s] != new.get(s)}
    assert differ == expected(name, operational(model, field), reads) & set(old)


IN_BOTH = [
    leaf
    for leaf in LEAVES
    if leaf[0].split(".")[0] in ("record", "simulation", "analysis", "report", "seed")
    and leaf[0] not in NEVER_ALONE
]
RELEASED = Config.model_validate({"record": {"path": "record.tar.gz"}})


@pytest.mark.parametrize(
    ("name", "model", "field", "value"),
    IN_BOTH,
    ids=[leaf[0] for leaf in IN_BOTH],
)
def test_a_changed_leaf_of_a_released_study_changes_what_the_page_says(
    name: str, model: type[BaseModel], field: str, value: Any
) -> None:
    after = next(c for v in others(model, field, value) if (c := changed(RELEASED, name, v)) is not None)
    old, new = versions(RELEASED), versions(after)
    reads = {n: s.reads for n, s in stages(RELEASED).items()}
    differ = {s for s in old if old[s] != new.get(s)}
    assert differ == expected(name, operational(model, field), reads, "released")


def test_a_study_that_was_run_is_no_input_of_a_released_one() -> None:
    """All other values run nothing again."""
    after = changed(RELEASED, "world.rendered.train_per_class", Config().world.rendered.train_per_class + 1)
    assert after is not None and versions(after) == versions(RELEASED)


def test_reads_table() -> None:
    """The page's second table names what the graph reads."""
    known = {n: s.reads for n, s in stages(Config()).items()}
    own = {
        "the verdicts of its own rule": lambda n: {f"reviews/{n.split('/')[1]}"},
        "its model": lambda n: {f"models/{n.split('/')[2]}"},
        "its set": lambda n: {f"datasets/{n.split('/')[1]}"},
    }
    seen = set()
    for left, right in table("reads"):
        patterns = re.findall(r"`([^`]+)`", left)
        for name, reads in known.items():
            if not any(
                fnmatch(name, p) or (p == "predictions" and name.startswith("predictions/")) for p in patterns
            ):
                continue
            if patterns == ["predictions"] and name.startswith("predictions/original/"):
                continue
            seen.add(name)
            told = {k for p in re.findall(r"`([^`]+)`", right) for k in known if fnmatch(k, p)}
            for words, find in own.items():
                told |= find(name) if words in right else set()
            if name == "report":
                told = {k for k in {"analysis", *known["analysis"]} if not k.startswith("predictions/")}
                told |= {
                    k for k in known if k == "metrics" or k.startswith(("models/", "neighbours/", "reviews/"))
                }
            if name == "reviews/pairs" or not name.startswith("reviews/") or patterns[0] != "reviews/pairs":
                assert set(reads) == told, name
    assert seen == set(known)
