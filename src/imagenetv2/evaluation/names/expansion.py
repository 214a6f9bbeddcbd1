"""From a list of names, patterns, files and presets to models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.evaluation.names import naming
from imagenetv2.evaluation.names.libraries import catalogue
from imagenetv2.evaluation.names.naming import Named
from imagenetv2.evaluation.names.spec import LITES, Spec, either, inside, nearest, parse, readable, wrong
from imagenetv2.evaluation.settings import Model

PRESETS = ("published", "lite")
FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
HERE = Path()


def expand(specs: Iterable[str]) -> tuple[Model, ...]:
    """Models in the order written, each once; see the package for what may be written.

    timm and torchvision are imported only where their networks are named, and nothing is fetched.

    Raises InputError, naming the entry, where it has no meaning, nothing fits it, or its file is not there.
    """
    listed = list(specs)
    found = [named for text in listed for named in _entry(text, HERE, ())]
    if not found:
        raise InputError(
            "models: no model is named; name one, such as lite0, timm:resnet50 or preset:published."
        )
    return naming.distinct(found)


def require_meaning(specs: Iterable[str]) -> None:
    """Raises InputError for an entry that can have no meaning, whatever the libraries know; imports none of them."""
    for text in specs:
        if not readable(text).startswith("@"):
            parse(readable(text))


def _entry(text: str, folder: Path, reading: tuple[Path, ...]) -> Iterator[Named]:
    """Models of one entry; ``reading`` are the lists that it is in, ``folder`` that of the last."""
    text = readable(text)
    if text.startswith("@"):
        yield from _listed(text, inside(folder, text[1:]), reading)
        return
    spec = parse(text)
    found = list(_models(spec, folder))
    if spec.name and len(found) > 1:
        raise wrong(text, f"{len(found)} models fit, which cannot all be named {spec.name}; leave name out")
    for model in found:
        if spec.name:
            model = model.model_copy(update={"name": spec.name})
        yield Named(model, bool(spec.name) or spec.kind == "preset")


def _listed(text: str, file: Path, reading: tuple[Path, ...]) -> Iterator[Named]:
    path = file.resolve()
    if path in reading:
        raise wrong(text, "the file lists itself; remove that line")
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise wrong(text, f"{file} cannot be read ({why}); name a file with one model a line") from error
    entries = [entry for line in lines if (entry := re.sub(r"(^|\s)#.*", "", line).strip())]
    if not entries:
        raise wrong(text, f"{file} lists no model; write one a line")
    for entry in entries:
        yield from _entry(entry, file.parent, (*reading, path))


def _models(spec: Spec, folder: Path) -> Iterator[Model]:
    if spec.kind == "preset":
        yield from _preset(spec)
    elif spec.kind in LITES:
        name = _named(f"efficientnet_{spec.kind}", spec)
        yield Model(name=name, kind=spec.kind, input=spec.input)
    elif spec.kind == "onnx":
        for file in _files(spec, folder):
            yield Model(name=naming.of_file(file), kind="onnx", weights=file, input=spec.input)
    elif spec.kind == "python":
        if not FUNCTION.fullmatch(spec.target):
            raise wrong(spec.text, "it names no function; write python:package.module:function")
        name = naming.safe(spec.target.replace(":", "."))
        yield Model(name=name, kind="python", architecture=spec.target, input=spec.input)
    elif spec.file:
        yield from _filled(spec, folder)
    else:
        for full in _pretrained(spec):
            yield Model(name=_named(full, spec), kind=spec.kind, architecture=full, input=spec.input)


def _named(name: str, spec: Spec) -> str:
    return naming.safe(name + naming.of_input(spec.input))


def _pretrained(spec: Spec) -> list[str]:
    known = catalogue(spec.kind)
    if not any(c in spec.target for c in "*?["):
        try:
            return [known.one(spec.target)]
        except ValueError as error:
            raise wrong(spec.text, str(error)) from error
    found = known.matching(spec.target)
    if not found:
        words = nearest(re.sub(r"[*?\[\].]+", "", spec.target), tuple(known.defaults))
        near = f", such as {', '.join(words)}" if words else ""
        raise wrong(
            spec.text,
            f"none of {spec.kind}'s {len(known.names):,} pretrained networks fits this pattern; correct it by what "
            f"`imagenetv2 names '{spec.kind}:*'` lists{near}",
        )
    return found


def _filled(spec: Spec, folder: Path) -> Iterator[Model]:
    """A library's network with weights from a file."""
    try:
        catalogue(spec.kind).known(spec.target)
    except ValueError as error:
        raise wrong(spec.text, str(error)) from error
    for file in _files(spec, folder):
        name = naming.safe(naming.of_file(file, spec.target) + naming.of_input(spec.input))
        yield Model(name=name, kind=spec.kind, architecture=spec.target, weights=file, input=spec.input)


def _files(spec: Spec, folder: Path) -> list[Path]:
    """The file named, or all that fit the pattern, sorted."""
    path = inside(folder, spec.file)
    if path.is_file():
        return [path]
    if path.is_dir():
        raise wrong(spec.text, f"{path} is a folder; name a file in it, or {path}/* for all")
    if not any(c in spec.file for c in "*?"):
        raise wrong(spec.text, f"there is no file {path}; correct the path")
    root = Path(path.anchor) if path.is_absolute() else HERE
    try:
        found = sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file())
    except ValueError:  # such as ** amid letters
        found = []
    if not found:
        raise wrong(spec.text, f"no file fits {path}; correct the pattern")
    return found


def _preset(spec: Spec) -> Iterator[Model]:
    from imagenetv2.evaluation.names import published

    if spec.target not in PRESETS:
        raise wrong(
            spec.text, f"there is no preset {spec.target}; write {either([f'preset:{p}' for p in PRESETS])}"
        )
    if spec.target == "lite":
        for lite in LITES:
            yield Model(name=f"efficientnet_{lite}", kind=lite)
    else:
        yield from published.preset()
