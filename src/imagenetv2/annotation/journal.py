"""Append-only records: one JSON object a line, on the disk before anything depends on it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from imagenetv2.errors import InputError


class Journal:
    """A JSONL file that only grows. A last line that a killed writer left unfinished is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        """All records in the order of writing. Raises InputError where a whole line is damaged."""
        if not self.path.exists():
            return []
        *whole, _torn = self.path.read_bytes().split(b"\n")
        found = []
        for number, line in enumerate(whole, 1):
            try:
                found.append(dict(json.loads(line)))
            except ValueError as error:
                raise InputError(
                    f"{self.path}, line {number}, is damaged ({error}); restore the file or delete that line."
                ) from error
        return found

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add records and wait until they are on the disk."""
        lines = [json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n" for row in rows]
        with self.path.open("ab+") as file:
            self._mend(file)
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _mend(file: Any) -> None:
        """Cut off a torn last line, so that the next record starts on a line of its own."""
        size = file.seek(0, os.SEEK_END)
        step, end = 4096, size
        while end:
            start = max(0, end - step)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            file.truncate(end)
