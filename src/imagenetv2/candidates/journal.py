"""Append-only files of JSON objects, one a line, that survive a killed writer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Journal:
    """A journal at ``path``. A line that is torn or damaged is skipped when read, and counted in ``damaged``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0

    def read(self) -> Iterator[dict[str, Any]]:
        """All whole records, oldest first."""
        self.damaged = 0
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    record = None
                if isinstance(record, dict):
                    yield record
                else:
                    self.damaged += bool(line.strip())

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record, in one write, on a line of its own even after a torn one."""
        line = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
