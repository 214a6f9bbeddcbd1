"""What a stage is. Every room declares its own in its ``stages.py``; ``graph.py`` puts them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from imagenetv2.tables import File, Table


@dataclass(frozen=True)
class Stage:
    """One stage under one configuration.

    Attributes:
        name: the path of its artifacts below ``data/``, such as ``neighbours/l2``.
        algorithm: raised by one whenever the same settings would give other bytes.
        run: ``module:function`` that does the work; imported only when it runs.
        settings: configuration sections it sees, by name. It sees no others, so its version can't miss one.
        reads: names of the stages whose artifacts it reads.
        files: what its artifact holds.
        outside: files or folders outside ``data/`` that it reads, by configuration field; their content is
            part of the version, their place is not.
        seed: whether it draws random numbers, so that the seed is part of the version.
        service: whether it speaks to Flickr, MTurk or a host (in the embedded world: to local servers).
    """

    name: str
    algorithm: int
    run: str
    files: tuple[Table | File, ...]
    settings: Mapping[str, BaseModel] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    outside: Mapping[str, Path] = field(default_factory=dict)
    seed: bool = False
    service: bool = False

    def table(self, name: str) -> Table:
        """The declared table of that file name (``.parquet`` may be left out)."""
        wanted = name if name.endswith(".parquet") else f"{name}.parquet"
        for file in self.files:
            if isinstance(file, Table) and file.name == wanted:
                return file
        raise KeyError(f"stage {self.name} declares no table {wanted}")
