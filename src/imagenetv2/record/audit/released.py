"""The tables of a record that the audit reads, and where its files lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from imagenetv2.record.stages import SETS

BLACKLIST_FILE = "data/metadata/candidate_blacklist.json"
PAIRS_FILE = "data/metadata/near_duplicates.json"
EXEMPTED_FILE = "data/metadata/near_duplicate_resolution_override.json"
LOOKED_AT_FILE = "data/metadata/nearest_neighbor_reviews_v2.json"
ANNOTATED = "annotatedval"
"""Part of the name of lists of validation images that workers saw."""
LABELS = SETS["imagenetv2"]
NEW = tuple(name for name in LABELS if name != "original")


@dataclass(frozen=True)
class Released:
    """A record’s tables, as declared in ``record/part_tables.py``; ``faults`` has a column ``part`` more."""

    classes: pd.DataFrame
    search: pd.DataFrame
    candidates: pd.DataFrame
    blacklist: pd.DataFrame
    tasks: pd.DataFrame
    submissions: pd.DataFrame
    pairs: pd.DataFrame
    exempted: pd.DataFrame
    looked_at: pd.DataFrame
    reviewed: pd.DataFrame
    lists: pd.DataFrame
    revisions: pd.DataFrame
    originals: pd.DataFrame
    images: pd.DataFrame
    models: pd.DataFrame
    earlier: pd.DataFrame
    files: pd.DataFrame
    faults: pd.DataFrame

    def final(self, name: str) -> pd.DataFrame:
        """Images of the published revision of a set: ``image_id`` and ``wnid``, sorted."""
        if name not in self._finals:
            chosen = self.revisions.loc[self.revisions["final"] & (self.revisions["set"] == name)]
            self._finals[name] = chosen[["image_id", "wnid"]].sort_values("image_id", ignore_index=True)
        return self._finals[name]

    def finals(self) -> dict[str, set[str]]:
        """Ids of the published revision of each set."""
        return {name: set(self.final(name)["image_id"]) for name in NEW}

    @cached_property
    def _finals(self) -> dict[str, pd.DataFrame]:
        return {}

    @cached_property
    def _list_files(self) -> dict[tuple[str, int | None], str]:
        found: dict[tuple[str, int | None], str] = {}
        columns = (self.lists[c] for c in ("name", "set", "revision", "final"))
        for name, where, revision, final in zip(*columns, strict=True):
            found[where, int(revision)] = f"data/datasets/{name}.json"
            if final:
                found[where, None] = f"data/datasets/{name}.json"
        return found

    def list_file(self, name: str, revision: int | None = None) -> str:
        """The file of a set’s list: that of a revision, or of the published one."""
        return self._list_files.get((name, revision), f"{LABELS.get(name, name)} (no list in the record)")

    def original_class(self) -> dict[str, str]:
        """WordNet ID of each original image."""
        rows = self.images.loc[self.images["set"] == "original"]
        return dict(zip(rows["image_id"], rows["wnid"], strict=True))


Table = Callable[[str, str], pd.DataFrame]


def read(read_table: Table, parts: list[str]) -> Released:
    """The tables of a record from ``read_table(part, name)``; faults of all ``parts`` that declare them."""

    def table(part: str, name: str) -> pd.DataFrame:
        # Checks go through texts one by one, which Arrow's arrays are slow at.
        frame = read_table(part, name)
        texts = [c for c in frame.columns if pd.api.types.is_string_dtype(frame[c].dtype)]
        return frame.astype(dict.fromkeys(texts, "object"))

    faults = [table(part, "faults").assign(part=part) for part in parts if part != "files"]
    return Released(
        classes=table("classes", "classes"),
        search=table("search", "records"),
        candidates=table("candidates", "candidates"),
        blacklist=table("candidates", "blacklist"),
        tasks=table("hits", "tasks"),
        submissions=table("hits", "submissions"),
        pairs=table("duplicates", "pairs"),
        exempted=table("duplicates", "exempted"),
        looked_at=table("duplicates", "looked_at"),
        reviewed=table("reviews", "classes"),
        lists=table("datasets", "lists"),
        revisions=table("datasets", "revisions"),
        originals=table("datasets", "originals"),
        images=table("predictions", "images"),
        models=table("predictions", "models"),
        earlier=table("predictions", "earlier"),
        files=table("files", "files"),
        faults=pd.concat(faults, ignore_index=True),
    )
