"""manifest.csv beside a set: which files it has, with the class and the digest of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imagenetv2.errors import InputError
from imagenetv2.testsets.class_table import ClassTable, read_rows
from imagenetv2.testsets.gates import Gate

COLUMNS = ("file", "class_index", "wnid", "image_id", "sha256")
NEEDED = COLUMNS[:3]


@dataclass(frozen=True)
class Manifest:
    """Rows by file."""

    where: str
    rows: Mapping[str, Mapping[str, str]]

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 by file, where it is given."""
        return {file: row["sha256"].lower() for file, row in self.rows.items() if row.get("sha256")}

    def require(self, found: Mapping[str, int], table: ClassTable, gate: Gate) -> None:
        """Raise InputError where files or their classes, ``found`` by name, are not those of the manifest.

        Missing ones are a remark where only a part is meant to be there.
        """
        self._require_files(found, gate)
        for file, index in found.items():
            row = self.rows[file]
            if (row["class_index"], row["wnid"]) != (str(index), table.wnids[index]):
                raise InputError(
                    f"{self.where}: {file} is of class {row['class_index']} ({row['wnid']}) there, but lies in the folder of "
                    f"class {table.shown(index)}: folders are permuted or renamed; unpack the set again."
                )
        self._require_distinct()

    def _require_files(self, found: Mapping[str, int], gate: Gate) -> None:
        missing, extra = sorted(set(self.rows) - set(found)), sorted(set(found) - set(self.rows))
        if missing:
            gate.lacks(
                f"{len(missing)} of the {len(self.rows):,} files of manifest.csv are missing, the first is {missing[0]}",
                "unpack the set again",
            )
        if extra:
            raise InputError(
                f"{self.where}: {len(extra)} files are there that it does not name, the first is {extra[0]}; remove them."
            )

    def _require_distinct(self) -> None:
        first: dict[tuple[str, str, str], str] = {}
        for file, row in self.rows.items():
            for column in ("image_id", "sha256"):
                if value := row.get(column):
                    other = first.setdefault((row["wnid"], column, value), file)
                    if other != file:
                        raise InputError(
                            f"{self.where}: {other} and {file} have the same {column}, so one image is there twice; "
                            "remove one of them."
                        )


def parse(data: bytes, where: str) -> Manifest:
    """Raises InputError where it is no manifest, or names a file twice."""
    rows: dict[str, dict[str, str]] = {}
    for row in read_rows(data, where, NEEDED):
        if row["file"] in rows:
            raise InputError(f"{where}: {row['file']} has two rows; delete one of them.")
        rows[row["file"]] = row
    return Manifest(where, rows)
