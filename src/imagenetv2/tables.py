"""What an artifact holds: declared tables and files, checked whenever one crosses a stage boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

DTYPES = ("string", "int64", "float64", "bool", "list<string>", "list<int64>")


@dataclass(frozen=True)
class Column:
    """One column: ``dtype`` is one of ``DTYPES``; ``nullable`` columns may hold missing values."""

    name: str
    dtype: str
    meaning: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True)
class File:
    """A file of an artifact that is not a table: pictures, pages, summaries."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """A Parquet file with declared columns; rows are sorted by ``key``, which is unique."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    def without(self, *names: str) -> Table:
        """The same table without some columns. Raises KeyError for one that it does not have."""
        if unknown := set(names) - {c.name for c in self.columns}:
            raise KeyError(f"{self.name} has no columns {sorted(unknown)}")
        return replace(self, columns=tuple(c for c in self.columns if c.name not in names))

    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema, with meaning and unit as field metadata, so that a file explains itself."""
        import pyarrow as pa

        types = {
            "string": pa.string(),
            "int64": pa.int64(),
            "float64": pa.float64(),
            "bool": pa.bool_(),
            "list<string>": pa.list_(pa.string()),
            "list<int64>": pa.list_(pa.int64()),
        }
        return pa.schema(
            [
                pa.field(c.name, types[c.dtype], c.nullable, {"meaning": c.meaning, "unit": c.unit})
                for c in self.columns
            ],
            metadata={"meaning": self.meaning, "key": ",".join(self.key)},
        )

    def to_arrow(self, frame: pd.DataFrame) -> pa.Table:
        """Check ``frame`` against the declaration and return it sorted by key.

        Raises ValueError naming the table and column: missing or extra columns, values of another type,
        missing values where none are allowed, a repeated key.
        """
        import pyarrow as pa

        names = [c.name for c in self.columns]
        if set(frame.columns) != set(names):
            given = [str(c) for c in frame.columns]
            missing, extra = sorted(set(names) - set(given)), sorted(set(given) - set(names))
            raise ValueError(f"{self.name}: missing columns {missing}, undeclared columns {extra}")
        ordered = frame[names].sort_values(list(self.key), kind="stable", ignore_index=True)
        repeated = ordered.duplicated(list(self.key))
        if repeated.any():
            first = ordered.loc[repeated, list(self.key)].iloc[0].to_dict()
            raise ValueError(f"{self.name}: the key {first} occurs more than once")
        arrays = []
        for field in self.arrow_schema():
            try:
                values = ordered[field.name].astype(object)
                array = _array(values.where(values.notna(), None).tolist(), field.type)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise ValueError(f"{self.name}: column {field.name}: {error}") from error
            if array.null_count and not field.nullable:
                raise ValueError(f"{self.name}: column {field.name} has {array.null_count} missing values")
            arrays.append(array)
        return pa.Table.from_arrays(arrays, schema=self.arrow_schema())

    def empty(self) -> pd.DataFrame:
        """A frame with the declared columns and no rows."""
        frame: pd.DataFrame = self.arrow_schema().empty_table().to_pandas()
        return frame


def _array(values: list[object], kind: pa.DataType) -> pa.Array:
    """An Arrow array of that type; unlike Arrow by itself, refuses to cut 1.5 down to 1."""
    import pyarrow as pa

    if kind == pa.int64():
        found = pa.array(values)
        if pa.types.is_floating(found.type):
            return found.cast(kind, safe=True)
    return pa.array(values, type=kind)
