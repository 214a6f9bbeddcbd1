"""What lies under ``data/``: every artifact, its size, and what differs between two."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imagenetv2.artifacts import MANIFEST, RUN, Artifact
from imagenetv2.errors import InputError

NOT_STAGES = ("latest", "stores", "config")
VERSION = re.compile("[0-9a-f]{10}")


@dataclass(frozen=True)
class Found:
    """One artifact on the disk."""

    stage: str
    version: str
    artifact: Artifact

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(int(f["bytes"]) for f in self.artifact.manifest["files"].values())

    @property
    def made(self) -> str:
        """When it was finished, or nothing where run.json is lost."""
        try:
            return str(json.loads((self.artifact.folder / RUN).read_text("utf-8"))["finished"])
        except (OSError, ValueError, KeyError):
            return ""


def artifacts(data: Path) -> list[Found]:
    """Every complete artifact, by stage and time. Folders without a manifest are passed over."""
    found = []
    for manifest in sorted(data.rglob(MANIFEST)):
        folder = manifest.parent
        parts = folder.relative_to(data).parts
        if len(parts) < 2 or parts[0] in NOT_STAGES or any(p.startswith(".") for p in parts):
            continue
        found.append(Found("/".join(parts[:-1]), parts[-1], Artifact(folder)))
    return sorted(found, key=lambda f: (f.stage, f.made, f.version))


def unfinished(data: Path) -> list[tuple[str, str, Path]]:
    """Stage, version and folder of the finished pieces of artifacts that are not finished, by stage and version."""
    top = data / "stores" / "work"
    places = [path for path in sorted(top.rglob("*")) if path.is_dir() and VERSION.fullmatch(path.name)]
    return [(path.parent.relative_to(top).as_posix(), path.name, path) for path in places]


def bytes_in(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file())


def find(data: Path, text: str) -> Found:
    """The artifact that ``text`` names: a version or its first digits, or ``stage/version``.

    Raises InputError where none or several fit.
    """
    matches = [f for f in artifacts(data) if f.version.startswith(text) or f"{f.stage}/{f.version}" == text]
    if len(matches) == 1:
        return matches[0]
    what = ", ".join(f"{f.stage}/{f.version}" for f in matches) or "imagenetv2 versions lists what there is"
    raise InputError(f"{text} names {len(matches) or 'no'} artifacts in {data}: {what}.")


def differences(data: Path, first: Found, second: Found) -> list[str]:
    """Why two artifacts differ, one line a cause, causes in what they read first."""
    lines: list[str] = []
    _compare(data, first, second, lines, set())
    return lines


def _compare(data: Path, a: Found, b: Found, lines: list[str], seen: set[tuple[str, str]]) -> None:
    if (a.version, b.version) in seen or a.version == b.version:
        return
    seen.add((a.version, b.version))
    one, two = a.artifact.manifest, b.artifact.manifest
    for stage in sorted(set(one["reads"]) | set(two["reads"])):
        old, new = one["reads"].get(stage), two["reads"].get(stage)
        if old and new and old != new:
            try:
                before, after = (Found(stage, v, Artifact(data / stage / v)) for v in (old, new))
                _compare(data, before, after, lines, seen)
            except InputError:
                lines.append(f"{stage}: {old} → {new} (one of them is no longer there)")
        elif old != new:
            lines.append(f"{a.stage}: reads {stage}: {old or 'no'} → {new or 'no'}")
    for key in ("stage", "algorithm", "seed", "settings", "outside"):
        left, right = dict(flat(one[key], key)), dict(flat(two[key], key))
        for name in sorted(set(left) | set(right)):
            if left.get(name) != right.get(name):
                lines.append(f"{a.stage}: {name}: {_short(left.get(name))} → {_short(right.get(name))}")


def flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Leaves of nested mappings with dotted names; lists are leaves."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name != "settings" else key)
    else:
        yield name, value


def _short(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


def size(count: int) -> str:
    """Bytes for people: 999 B, 1.2 MB."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
