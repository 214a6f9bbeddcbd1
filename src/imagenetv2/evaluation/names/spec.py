"""One entry of a list of models, taken apart: which source, which name in it, which file, which options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from imagenetv2.errors import InputError
from imagenetv2.evaluation.settings import Input

LITES = ("lite0", "lite1", "lite2")
SOURCES = ("timm", "torchvision", "onnx", "python", "preset")
OPTIONS = re.compile(r"\?([A-Za-z_]+=[^?&]*(?:&[A-Za-z_]+=[^?&]*)*)$")
"""A ``?`` before a letter and an ``=`` begins options; any other is of a pattern."""
KEYS = (*Input.model_fields, "name")
TRIPLES = ("mean", "std")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Spec:
    """What was written, in parts.

    Attributes:
        text: as written, for messages.
        kind: one of ``SOURCES`` or ``LITES``.
        target: what stands after the colon, without file and options; empty for the lites.
        file: what stands after ``=``, or after ``onnx:``; empty for none.
        input: options about the input.
        name: the option of that name; empty for none.
    """

    text: str
    kind: str
    target: str = ""
    file: str = ""
    input: Input = field(default_factory=Input)
    name: str = ""


def parse(text: str) -> Spec:
    """Take an entry apart that is ``readable`` and no file of entries. Raises InputError where it has no meaning."""
    found = OPTIONS.search(text)
    body = text[: found.start()] if found else text
    options = _options(text, found[1]) if found else {}
    name = options.pop("name", "")
    if name and not NAME.fullmatch(name):
        raise wrong(
            text, f"{name} is no name for a model; use letters, digits, dots, - and _, a letter first"
        )
    kind, target, file = _source(text, body)
    if options and kind == "preset":
        raise wrong(text, "a preset takes no options; put them behind single models")
    return Spec(text, kind, target, file, _input(text, options), name)


def wrong(text: str, why: str) -> InputError:
    """What is wrong with an entry, in one sentence."""
    return InputError(f"models: {text}: {why}.")


def readable(text: str) -> str:
    """An entry without blanks around it. Raises InputError where it is empty or has characters that nobody sees."""
    text = text.strip()
    if not text:
        raise InputError("models: an empty entry names no model; remove it.")
    if not text.isprintable():
        raise wrong(repr(text), "it has characters that cannot be printed; write it again")
    return text


def nearest(word: str, known: tuple[str, ...], most: int = 3) -> list[str]:
    """Known words that ``word`` may have been meant to be, likeliest first."""
    close = difflib.get_close_matches(word, known, most, 0.7)
    return close or [k for k in known if word and word.lower() in k.lower()][:most]


def either(words: Sequence[str]) -> str:
    """Words as alternatives: a, b or c."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _source(text: str, body: str) -> tuple[str, str, str]:
    if body in LITES:
        return body, "", ""
    kind, colon, rest = body.partition(":")
    if not colon or kind not in SOURCES:
        raise wrong(text, _unknown(body, kind if colon else ""))
    if not rest:
        raise wrong(text, f"nothing follows {kind}:; write {EXAMPLES[kind]}")
    if kind == "onnx":
        return kind, "", rest
    if kind in ("timm", "torchvision"):
        target, equals, file = rest.partition("=")
        if not target or (equals and not file):
            raise wrong(text, f"a name and a file belong on the two sides of =; write {EXAMPLES[kind]}")
        return kind, target, file
    return kind, rest, ""


EXAMPLES = {
    "timm": "timm:resnet50.a1_in1k, or timm:resnet50=model.safetensors for weights of yours",
    "torchvision": "torchvision:resnet50.IMAGENET1K_V1, or torchvision:resnet50=model.pth for weights of yours",
    "onnx": "onnx:model.onnx",
    "python": "python:package.module:function",
    "preset": "preset:published",
}


def _unknown(body: str, kind: str) -> str:
    """Why an entry's beginning is none, and what may have been meant."""
    if kind:
        near = nearest(kind, SOURCES) or list(SOURCES)
        return f"{kind} is no source of models; begin with {either([f'{n}:' for n in near])}"
    if body.lower().endswith(".onnx"):
        return f"it names no source of models; write onnx:{body}"
    if near := [n for n in nearest(body, LITES) if body.startswith("lite")]:
        return f"there is no {body}; write {either(near)}"
    return f"it names no source of models; write timm:{body}, torchvision:{body}, or @{body} for a file that lists models"


def _options(text: str, options: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in options.split("&"):
        key, _, value = pair.partition("=")
        if key not in KEYS:
            near = nearest(key, KEYS) or list(KEYS)
            raise wrong(text, f"there is no option {key}; write {either(near)}")
        if key in found:
            raise wrong(text, f"{key} is given twice; give it once")
        if not value:
            raise wrong(text, f"{key} has no value; write {key}=… or leave it out")
        found[key] = value
    return found


def _input(text: str, options: dict[str, str]) -> Input:
    values = {k: tuple(v.split(",")) if k in TRIPLES else v for k, v in options.items()}
    try:
        return Input.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        expected = str(first["msg"]).replace("Input should", "it must")
        if key in TRIPLES:
            expected = f"write three numbers between commas, such as {key}=0.5,0.5,0.5"
        raise wrong(text, f"{key}={options[key]}: {expected}") from error


def inside(folder: Path, file: str) -> Path:
    """A file as written; where it is relative, below ``folder``."""
    path = Path(file).expanduser()
    return path if path.is_absolute() else folder / path
