"""Stage ``reference``: the original data set as canonical images, with an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2 import archive
from imagenetv2.benchmark import originals, pictures
from imagenetv2.benchmark.decoding import Decoded, Source, Undecodable, decode_all
from imagenetv2.benchmark.originals import Original
from imagenetv2.benchmark.settings import Classes, Images, Reference
from imagenetv2.benchmark.stages import REFERENCE, REFERENCE_REJECTED
from imagenetv2.progress import progress

if TYPE_CHECKING:
    import pandas as pd

    from imagenetv2.job import Job


def run(job: Job) -> None:
    """Write ``reference.parquet``, ``rejected.parquet`` and ``images.zip``."""
    classes = job.read("classes").table("classes")
    index_of = dict(zip(classes["wnid"], classes["class_index"].astype(int), strict=True))
    files, sources = _inputs(job, list(index_of))
    decoded = progress(
        decode_all(sources, job.settings(Images), job.cores), "reference images", total=len(files)
    )
    found = Catalogue(index_of)
    with pictures.write(job.out.path("images.zip")) as images:
        for original, (_, result) in zip(files, decoded, strict=True):
            found.add(original, result)
            if isinstance(result, Decoded):
                images.add(original.wnid, result.image_id, result.png)
    originals.check_classes(found.validation, list(index_of))
    job.out.table("reference", found.table())
    job.out.table("rejected", found.rejected_table())
    _log(job, found, len(files))


def _inputs(job: Job, wnids: list[str]) -> tuple[list[Original], Iterator[Source]]:
    if "world" not in job.stage.reads:
        root = job.settings(Reference).path
        assert root is not None, "the configuration demands reference.path in the real world"
        files = originals.listing(root, wnids, numbered=not job.settings(Classes).only)
        return files, (Source(o.file, root / o.file) for o in files)
    world = job.read("world")
    table = world.table("originals")
    rows = table[table["wnid"].isin(wnids)]
    files = sorted(Original(*row) for row in rows[["wnid", "split", "file"]].itertuples(index=False))
    return files, _unpacked(world.path("originals.zip"), [o.file for o in files])


def _unpacked(path: Path, names: Iterable[str]) -> Iterator[Source]:
    with archive.Reader(path) as reader:
        for name in names:
            yield Source(name, reader.data(name))


@dataclass
class Catalogue:
    """The index as it grows: one row for each image, split and class; the first file of copies is named."""

    index_of: Mapping[str, int]
    rows: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    rejected: list[dict[str, str]] = field(default_factory=list)
    exif_warnings: int = 0

    def add(self, original: Original, result: Decoded | Undecodable) -> None:
        """Take one file's result."""
        if isinstance(result, Undecodable):
            self.rejected.append(
                {"source_file": original.file, "reason": result.reason, "detail": result.detail}
            )
            return
        self.exif_warnings += result.exif_warnings
        row = {
            "image_id": result.image_id,
            "split": original.split,
            "wnid": original.wnid,
            "class_index": self.index_of[original.wnid],
            "file": pictures.file_name(original.wnid, result.image_id),
            "source_file": original.file,
            "source_sha256": result.source_sha256,
            "source_format": result.source_format,
            "width": result.width,
            "height": result.height,
            "spread": result.spread,
        }
        self.rows.setdefault((result.image_id, original.split, original.wnid), row)

    @property
    def validation(self) -> Counter[str]:
        """Validation images by WordNet ID."""
        return Counter(wnid for _, split, wnid in self.rows if split == "val")

    def table(self) -> pd.DataFrame:
        """``reference.parquet``."""
        import pandas as pd

        return pd.DataFrame(list(self.rows.values()), columns=[c.name for c in REFERENCE.columns])

    def rejected_table(self) -> pd.DataFrame:
        """``rejected.parquet``."""
        import pandas as pd

        return pd.DataFrame(self.rejected, columns=[c.name for c in REFERENCE_REJECTED.columns])


def _log(job: Job, found: Catalogue, files: int) -> None:
    job.log.info("%d images from %d files", len(found.rows), files)
    if found.rejected:
        first = found.rejected[0]
        job.log.warning(
            "%d files are no images; the first is %s: %s",
            len(found.rejected),
            first["source_file"],
            first["detail"],
        )
    if found.exif_warnings:
        job.log.info("%d warnings about damaged EXIF data; the pixels are whole", found.exif_warnings)
