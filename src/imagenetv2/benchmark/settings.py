"""The original benchmark: its classes and its images."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section, operational


class Classes(Section):
    """The classes, in the order of the class index."""

    table: str = operational(
        "config/classes/rendered.csv",
        "CSV with the columns class_index, wnid, lemmas, definition, hypernyms and wikipedia, lists separated by "
        "semicolons, hypernyms nearest first; or timm:imagenet-1k for ImageNet's 1,000.",
    )
    is_a: Path | None = operational(
        None,
        "File of WordNet's hypernym pairs (parent and child WordNet ID a line), for classes whose hypernyms the table "
        "does not give.",
    )
    only: tuple[str, ...] = Field(
        (),
        description="WordNet IDs to keep; empty keeps all. Those kept are numbered anew from 0, in the table's order.",
    )
    neighbours: int = Field(
        5, ge=1, description="How many WordNet-nearest classes are listed for each class."
    )


class Images(Section):
    """The one path from a file to pixels, for original and new images alike."""

    mode: Literal["canonical", "raw"] = Field(
        "canonical",
        description="canonical: orientation applied, colours converted, size bounded; "
        "raw: no orientation and no size bound, to match published numbers.",
    )
    longest_side: int = Field(
        500, ge=8, description="Larger images are reduced to this longest side, in pixels."
    )


class Reference(Section):
    """Where the original data set lies in the real world; an embedded world brings its own."""

    path: Path | None = operational(
        None,
        "Folder with train/, val/ and optionally test/, each with one folder a class, named by its WordNet ID or its "
        "class index.",
    )
