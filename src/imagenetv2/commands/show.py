"""``imagenetv2 show STAGE [VERSION]``: what an artifact holds, for a person."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from imagenetv2 import inventory
from imagenetv2.commands.options import add_plan, plan, whole
from imagenetv2.contact_sheet import PICTURES, contact_sheet
from imagenetv2.errors import InputError
from imagenetv2.inventory import Found


def add(commands: Any) -> None:
    """Declare ``show``."""
    parser = commands.add_parser(
        "show",
        help="say what an artifact holds",
        description="Say what an artifact holds: settings, counts, columns with meaning and unit, first rows, "
        "pictures, what it was made from and what was made from it.",
    )
    parser.add_argument("stage", metavar="STAGE", help="such as search or neighbours/l2")
    parser.add_argument(
        "version", metavar="VERSION", nargs="?", help="its first digits (default: the current one)"
    )
    parser.add_argument(
        "--rows", type=whole(0), default=5, metavar="N", help="rows of each table (default: 5)"
    )
    parser.add_argument(
        "--pictures", type=Path, metavar="FILE.png", help="write a contact sheet of its pictures"
    )
    add_plan(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the artifact; write the contact sheet where asked for."""
    found = _chosen(options)
    manifest = found.artifact.manifest
    print(
        f"{found.stage}/{found.version}  {inventory.size(found.size)}  made {found.made or 'at an unknown time'}"
    )
    print(f"folder     {found.artifact.folder}")
    _print_settings(manifest)
    _print_links(options.data, found)
    for name, facts in manifest["files"].items():
        rows = f", {facts['rows']} rows" if "rows" in facts else ""
        print(f"\n{name}  {inventory.size(facts['bytes'])}{rows}")
        _print_file(found.artifact.folder / name, options.rows)
    if options.pictures:
        count = contact_sheet(found.artifact, options.pictures)
        print(f"\n{count} pictures are on {options.pictures}")
    return 0


def _chosen(options: argparse.Namespace) -> Found:
    here = [f for f in inventory.artifacts(options.data) if f.stage == options.stage]
    if options.version:
        here = [f for f in here if f.version.startswith(options.version)]
    else:
        current = plan(options).versions.get(options.stage)
        here = [f for f in here if f.version == current] or here[-1:]
    if len(here) == 1:
        return here[0]
    known = (
        ", ".join(sorted({f.stage for f in inventory.artifacts(options.data)}))
        or "nothing yet; run snakemake"
    )
    raise InputError(
        f"{options.stage} {options.version or ''} names {len(here) or 'no'} artifacts in {options.data}; "
        f"there are: {known}."
    )


def _print_settings(manifest: dict[str, Any]) -> None:
    print(
        f"algorithm  {manifest['algorithm']}"
        + (f"   seed {manifest['seed']}" if manifest["seed"] is not None else "")
    )
    for name, value in inventory.flat(manifest["settings"], "settings"):
        print(f"setting    {name} = {json.dumps(value, ensure_ascii=False)}")
    for name, digest in manifest["outside"].items():
        print(f"outside    {name}  sha256 {digest[:16]}…")


def _print_links(data: Path, found: Found) -> None:
    made_from = [f"{s}/{v}" for s, v in found.artifact.manifest["reads"].items()]
    made_of_it = [
        f"{f.stage}/{f.version}"
        for f in inventory.artifacts(data)
        if f.artifact.manifest["reads"].get(found.stage) == found.version
    ]
    print(f"made from  {', '.join(made_from) or 'the configuration alone'}")
    print(f"in use by  {', '.join(made_of_it) or 'nothing yet'}")


def _print_file(path: Path, rows: int) -> None:
    if path.suffix == ".parquet":
        _print_table(path, rows)
    elif path.suffix == ".json":
        text = path.read_text("utf-8").splitlines()
        print("\n".join(f"  {line}" for line in text[:30]) + ("\n  …" if len(text) > 30 else ""))
    elif path.suffix == ".zip":
        import zipfile

        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        pictures = sum(n.lower().endswith(PICTURES) for n in names)
        print(f"  {len(names)} files, {pictures} pictures, such as {', '.join(names[:3])}")
        if pictures:
            print("  --pictures FILE.png writes a contact sheet of them")


def _print_table(path: Path, rows: int) -> None:
    import pandas as pd
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    print(f"  {(schema.metadata or {}).get(b'meaning', b'').decode()}")
    for field in schema:
        facts = field.metadata or {}
        unit = facts.get(b"unit", b"").decode()
        print(
            f"  {field.name:18} {field.type!s:14} {facts.get(b'meaning', b'').decode()}{f' [{unit}]' if unit else ''}"
        )
    if rows:
        head = pq.ParquetFile(path).read().slice(0, rows).to_pandas()
        with pd.option_context("display.width", 160, "display.max_columns", 20, "display.max_colwidth", 28):
            print("  " + head.to_string(index=False, max_cols=14).replace("\n", "\n  "))
