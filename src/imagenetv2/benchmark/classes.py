"""Stage ``classes``: class index, WordNet ID, lemmas, definition, hypernyms and nearest classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from imagenetv2.benchmark import class_sources, wordnet
from imagenetv2.benchmark.class_sources import ClassRow
from imagenetv2.benchmark.settings import Classes
from imagenetv2.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from imagenetv2.job import Job


def run(job: Job) -> None:
    """Write ``classes.parquet``."""
    settings = job.settings(Classes)
    rows = select(class_sources.read(settings.table), settings.only)
    parents = class_sources.read_parents(settings.is_a) if settings.is_a is not None else {}
    table = describe(rows, parents, settings.neighbours)
    job.out.table("classes", table)
    job.log.info("%d classes with %d lemmas", len(table), table["lemmas"].map(len).sum())


def select(rows: Sequence[ClassRow], only: Sequence[str]) -> list[ClassRow]:
    """The classes named in ``only`` (all if empty), in the order of the table and numbered anew from 0.

    Raises InputError for a WordNet ID that the table does not have.
    """
    if not only:
        return list(rows)
    unknown = sorted(set(only) - {row.wnid for row in rows})
    if unknown:
        raise InputError(f"classes.only: {unknown[0]} is not in classes.table; remove it or add the class.")
    kept = [row for row in rows if row.wnid in set(only)]
    return [replace(row, class_index=index) for index, row in enumerate(kept)]


def describe(rows: Sequence[ClassRow], parents: Mapping[str, Sequence[str]], neighbours: int) -> pd.DataFrame:
    """The declared table, with hypernyms from ``parents`` where a row has none, and the nearest classes.

    Raises InputError where a class has no hypernyms and there is more than one class.
    """
    import pandas as pd

    ancestors = []
    for row in rows:
        above = wordnet.chain(row.wnid, row.hypernyms) if row.hypernyms else wordnet.ascend(row.wnid, parents)
        if len(above) == 1 and len(rows) > 1:
            raise InputError(
                f"class {row.wnid} ({row.lemmas[0]}) has no hypernyms, which are needed to find near classes; fill "
                "the column hypernyms of classes.table or set classes.is_a to WordNet's file of hypernym pairs."
            )
        ancestors.append(above)
    near = wordnet.nearest(ancestors, neighbours)
    return pd.DataFrame(
        {
            "class_index": [row.class_index for row in rows],
            "wnid": [row.wnid for row in rows],
            "lemmas": [list(row.lemmas) for row in rows],
            "definition": [row.definition for row in rows],
            "wikipedia": [list(row.wikipedia) for row in rows],
            "hypernyms": [
                [w for w in above if w != row.wnid] for row, above in zip(rows, ancestors, strict=True)
            ],
            "neighbours": [[rows[i].wnid for i in positions] for positions in near],
        }
    )
