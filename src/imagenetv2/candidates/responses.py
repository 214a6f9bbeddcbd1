"""Flickr's answers, kept: asked for once, read from here ever after."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from imagenetv2.candidates.arguments import canonical
from imagenetv2.candidates.journal import Journal


class Responses:
    """An append-only journal of answers by arguments; remembers which were used, in order of first use."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder / "responses.jsonl")
        self._known: dict[str, dict[str, Any]] = {}
        for record in self._journal.read():
            # The first answer counts: a later one to the same call would be another state of Flickr.
            if isinstance(record.get("arguments"), dict) and isinstance(record.get("response"), dict):
                self._known.setdefault(canonical(record["arguments"]), record["response"])
        self._used: dict[str, None] = {}

    @property
    def damaged(self) -> int:
        """Lines that could not be read; their calls are made again."""
        return self._journal.damaged

    def get(
        self, arguments: Mapping[str, str], ask: Callable[[Mapping[str, str]], dict[str, Any]]
    ) -> dict[str, Any]:
        """The kept answer, or that of ``ask``, which is kept before it is used."""
        name = canonical(arguments)
        if name not in self._known:
            answer = ask(arguments)
            self._journal.append({"arguments": dict(arguments), "response": answer})
            self._known[name] = answer
        self._used.setdefault(name)
        return self._known[name]

    def export(self, path: Path) -> None:
        """Write the answers that were used, in order of first use, as gzipped JSON lines; always the same bytes."""
        with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
            for name in self._used:
                record = {"arguments": json.loads(name), "response": self._known[name]}
                text = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
                file.write(text.encode() + b"\n")
