"""What was asked for on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from imagenetv2.evaluation.settings import Mode


@dataclass(frozen=True)
class Wanted:
    """Models by name or pattern, sets by path, and how they are run.

    Attributes:
        models: names, patterns, files of names, presets; see ``evaluation.names``.
        val: ImageNet's validation set.
        v2: new sets, whose accuracy is compared with that on ``val``.
        also: sets that are only measured.
        devkit: ImageNet's development kit, for a flat ``val``.
        out: folder to write.
        memory: bytes of prepared images.
        partial: whether sets that lack classes or images are opened.
    """

    models: tuple[str, ...]
    val: Path | None = None
    v2: tuple[Path, ...] = ()
    also: tuple[Path, ...] = ()
    devkit: Path | None = None
    out: Path = Path("evaluation")
    device: Literal["auto", "cpu", "cuda"] = "auto"
    mode: Mode = "reference"
    compile: bool = False
    batch: int = 128
    memory: int = 2 * 10**9
    cores: int = 1
    logits: bool = False
    partial: bool = False
