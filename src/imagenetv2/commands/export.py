"""``imagenetv2 export RULE``: a frozen set as a folder or archive that others can use."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.artifacts import Artifact
from imagenetv2.commands.options import add_plan, plan, require_writable
from imagenetv2.errors import InputError
from imagenetv2.sampling.stages import RULES

if TYPE_CHECKING:
    from imagenetv2.testsets.writing import Picture


def add(commands: Any) -> None:
    """Declare ``export``."""
    parser = commands.add_parser(
        "export",
        help="write a frozen set as class folders or a tar archive",
        description="Write the frozen set of a rule as class folders with classes.csv, manifest.csv and, where its "
        "photographs have owners, attribution.csv. A set that is still under review is refused.",
    )
    parser.add_argument("rule", choices=RULES, metavar="RULE", help=", ".join(RULES))
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="PATH",
        help="the new folder or, with --tar, the new archive",
    )
    parser.add_argument(
        "--layout",
        choices=("wnid", "index"),
        default="wnid",
        help="name class folders by WordNet ID (default) or, as in the official archives, by class index",
    )
    parser.add_argument("--tar", action="store_true", help="write a tar archive in place of a folder")
    add_plan(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the set."""
    from imagenetv2.sampling.frozen import require_frozen
    from imagenetv2.testsets import pipeline_sets, writing

    require_writable(options.out.parent)
    dataset = _dataset(options)
    freeze = require_frozen(dataset)
    table = pipeline_sets.class_table_of(pipeline_sets.beside(dataset, "classes"))
    pictures = _pictures(dataset, pipeline_sets.beside(dataset, "candidates"))
    if options.tar and not options.out.name.endswith(".tar"):
        raise InputError(
            f"--out {options.out}: an archive without compression is written; end its name with .tar."
        )
    write = writing.write_tar if options.tar else writing.write_folder
    count = write(pictures, table, options.layout, options.out)
    print(
        f"{options.out}: {count:,} images of {len(table.wnids):,} classes, {freeze['rule']} revision {freeze['revision']}, "
        f"version {dataset.version}."
    )
    return 0


def _dataset(options: argparse.Namespace) -> Artifact:
    """The set under the configuration that is named or, where none is, that of the last complete run."""
    stage = f"datasets/{options.rule}"
    last = options.data / "latest" / stage
    if not options.config and last.exists():
        return Artifact(last.resolve())
    return Artifact(plan(options).folder(stage))


def _pictures(dataset: Artifact, candidates: Artifact) -> Iterator[Picture]:
    from imagenetv2.archive import Reader
    from imagenetv2.testsets.pipeline_sets import frozen_images
    from imagenetv2.testsets.writing import Credit, Picture

    reader = Reader(candidates.path("images.zip"))
    for row in frozen_images(dataset, candidates).to_dict("records"):
        yield Picture(
            index=int(row["class_index"]),
            file=str(row["file"]).rsplit("/", 1)[-1],
            data=partial(reader.data, str(row["file"])),
            image_id=str(row["image_id"]),
            credit=Credit(str(row["photo_id"]), str(row["owner_id"]), str(row["license"])),
        )
