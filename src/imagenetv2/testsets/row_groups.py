"""Rows of Parquet files: labels at once, images row group by row group as they are asked for."""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.errors import InputError
from imagenetv2.testsets.stores import AGAIN, stamp, state

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

HELD = 4
"""Row groups held in memory, so that threads at the border of two, and one that lags behind, read none twice."""


class Rows:
    """Rows of several files in their order, see ``testset.Files``; may be shared by threads.

    Raises InputError where a file is no Parquet file, or has no columns ``image`` (bytes and path) and ``label``.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._metadata = [_metadata(path) for path in self._paths]
        self._starts = [0]
        self._groups: list[tuple[int, int]] = []
        for file, metadata in enumerate(self._metadata):
            for group in range(metadata.num_row_groups):
                self._groups.append((file, group))
                self._starts.append(self._starts[-1] + metadata.row_group(group).num_rows)
        self._lock = threading.Lock()
        self._held: OrderedDict[int, _Group] = OrderedDict()

    def __len__(self) -> int:
        return self._starts[-1]

    def file(self, row: int) -> Path:
        """The file that holds a row."""
        return self._paths[self._groups[self._group(row)][0]]

    def name(self, index: int) -> str:
        """A row for messages."""
        group = self._group(index)
        file, within = self._groups[group]
        return f"{self._paths[file]}, row {index - self._starts[group - within]}"

    def data(self, index: int) -> bytes:
        """The bytes of an image."""
        number = self._group(index)
        with self._lock:
            group = self._held.setdefault(number, _Group())
            self._held.move_to_end(number)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        with group.lock:
            if group.values is None:
                group.values = self._read(number)
        value = group.values[index - self._starts[number]].as_py()
        if value is None:
            raise InputError(f"{self.name(index)}: the image has a path but no bytes; {AGAIN}.")
        return bytes(value)

    @property
    def state(self) -> str:
        """See ``testset.TestSet``."""
        return state([f"{path} {stamp(path.stat())}" for path in self._paths])

    def sha256(self, index: int) -> str | None:
        """Parquet files come without a manifest."""
        return None

    def labels(self) -> list[int]:
        """The column ``label``. Raises InputError that names the row where one has none."""
        found = self._column("label")
        if None in found:
            raise InputError(
                f"{self.name(found.index(None))}: label is null, where a class index should be; {AGAIN}, or take "
                f"the {found.count(None):,} rows without a label out."
            )
        return [int(value) for value in found]

    def paths(self) -> list[str | None]:
        """The column ``image.path``: names of the files that the images were read from."""
        return self._column("image.path")

    def features(self) -> dict[str, Any]:
        """What the Hub's library wrote of the columns into the file; empty where nothing."""
        found = (self._metadata[0].metadata or {}).get(b"huggingface", b"{}")
        try:
            features: dict[str, Any] = json.loads(found)["info"]["features"]
        except (ValueError, KeyError, TypeError):
            return {}
        return features

    def _group(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    def _read(self, number: int) -> pa.Array:
        file, group = self._groups[number]
        try:
            table = _opened(self._paths[file], self._metadata[file]).read_row_group(
                group, columns=["image.bytes"]
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._paths[file]}: row group {group} cannot be read ({error}); {AGAIN}."
            ) from error
        return table["image"].combine_chunks().field("bytes")

    def _column(self, column: str) -> list[Any]:
        values: list[Any] = []
        for path, metadata in zip(self._paths, self._metadata, strict=True):
            name, _, inner = column.partition(".")
            try:
                found = _opened(path, metadata).read(columns=[column])[name].combine_chunks()
            except (OSError, ValueError) as error:
                raise InputError(f"{path}: column {column} cannot be read ({error}); {AGAIN}.") from error
            values += (found.field(inner) if inner else found).to_pylist()
        return values


class _Group:
    """A row group, read by the first thread that needs it while others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: pa.Array | None = None


def _metadata(path: Path) -> pq.FileMetaData:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no whole Parquet file ({error}); {AGAIN}.") from error
    columns = {metadata.schema.column(i).path for i in range(metadata.num_columns)}
    schema = metadata.schema.to_arrow_schema()
    missing = [name for name in ("image.bytes", "image.path", "label") if name not in columns]
    if missing:
        raise InputError(
            f"{path} has no column {missing[0]}, but {', '.join(sorted(columns))}; it must have image (a struct of bytes and "
            "path) and label, as image sets of the Hugging Face Hub do."
        )
    if not pa.types.is_integer(schema.field("label").type):
        raise InputError(f"{path}: label is of type {schema.field('label').type}, not a class index.")
    return metadata


def _opened(path: Path, metadata: pq.FileMetaData) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, metadata=metadata, memory_map=True)
