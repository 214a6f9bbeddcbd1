"""Whatever is written: models with names of their own, or one sentence."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.errors import InputError
from imagenetv2.evaluation.names import expand, naming
from imagenetv2.evaluation.names.naming import Named
from imagenetv2.evaluation.names.spec import KEYS
from imagenetv2.evaluation.settings import Model

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
anything = st.text(st.characters(codec="utf-8"), max_size=20)
options = st.lists(st.tuples(st.sampled_from([*KEYS, "x"]), anything | st.just("8")), max_size=3)
entries = st.builds(
    lambda head, rest, pairs: head + rest + "?" * bool(pairs) + "&".join(f"{k}={v}" for k, v in pairs),
    st.sampled_from(["", "lite0", "onnx:", "python:", "preset:", "python:a.b:c", "@", "tim:"]),
    st.just("") | anything,
    options,
)


@given(st.lists(entries, max_size=3))
def test_models_or_one_sentence(specs: list[str]) -> None:
    try:
        models = expand(specs)
    except InputError as error:
        assert re.fullmatch(r"models: .*\.", str(error))
        return
    assert models
    assert all(NAME.fullmatch(m.name) for m in models)
    assert len({m.name.casefold() for m in models}) == len(models)


@given(st.lists(st.tuples(anything, st.sampled_from(["lite0", "lite1", "lite2"]), st.integers(1, 3))))
def test_distinct_names(drawn: list[tuple[str, str, int]]) -> None:
    found = [
        Named(Model.model_validate({"name": naming.safe(text), "kind": kind, "input": {"size": size}}))
        for text, kind, size in drawn
    ]
    models = naming.distinct(found)
    assert len({m.name.casefold() for m in models}) == len(models)
    order = list(dict.fromkeys((kind, size) for _, kind, size in drawn))
    assert [(m.kind, m.input.size) for m in models] == order
    assert all(NAME.fullmatch(m.name) and len(m.name) <= naming.LONGEST + 4 for m in models)
    assert all(m.name.startswith(e.model.name) for m, e in zip(models[:1], found[:1], strict=True))
