"""``imagenetv2 prune``: delete what nothing current needs, after showing it."""

from __future__ import annotations

import argparse
import shutil
from typing import Any

from imagenetv2 import inventory
from imagenetv2.commands.options import add_plan, plan


def add(commands: Any) -> None:
    """Declare ``prune``."""
    parser = commands.add_parser(
        "prune",
        help="delete artifacts that are not current, after showing them",
        description="Show artifacts that are not current under the configuration; delete them with --yes. "
        "Stores (downloads, answers, verdicts) are never touched.",
    )
    add_plan(parser)
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show, ask, delete."""
    planned = plan(options)
    current = {(s, v) for s, v in planned.versions.items()}
    old = [f for f in inventory.artifacts(planned.data) if (f.stage, f.version) not in current]
    if not old:
        print("Nothing to delete: every artifact is current.")
        return 0
    for found in old:
        print(f"{found.stage}/{found.version}  {inventory.size(found.size)}  {found.made[:19]}")
    print(f"{len(old)} artifacts, {inventory.size(sum(f.size for f in old))}.")
    if not options.yes and not _agreed():
        print("Nothing was deleted.")
        return 0
    for found in old:
        # The manifest goes first: without it a folder half deleted is no artifact.
        (found.artifact.folder / "manifest.json").unlink()
        shutil.rmtree(found.artifact.folder)
    print("Deleted.")
    return 0


def _agreed() -> bool:
    try:
        return input("Delete them? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
