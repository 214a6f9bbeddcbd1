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
        "Stores (downloads, answers, verdicts) are never touched, but for the pieces of searches that were begun under "
        "another configuration.",
    )
    add_plan(parser)
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show, ask, delete."""
    planned = plan(options)
    current = {(s, v) for s, v in planned.versions.items()}
    old = [f for f in inventory.artifacts(planned.data) if (f.stage, f.version) not in current]
    left = [
        (stage, version, folder, inventory.bytes_in(folder))
        for stage, version, folder in inventory.unfinished(planned.data)
        if (stage, version) not in current
    ]
    if not old and not left:
        print("Nothing to delete: every artifact is current.")
        return 0
    for found in old:
        print(f"{found.stage}/{found.version}  {inventory.size(found.size)}  {found.made[:19]}")
    for stage, version, _, size in left:
        print(f"{stage}/{version}  {inventory.size(size)}  begun, not finished")
    total = sum(f.size for f in old) + sum(size for *_, size in left)
    print(f"{len(old)} artifacts, {len(left)} begun; {inventory.size(total)}.")
    if not options.yes and not _agreed():
        print("Nothing was deleted.")
        return 0
    for found in old:
        # The manifest goes first: without it a folder half deleted is no artifact.
        (found.artifact.folder / "manifest.json").unlink()
        shutil.rmtree(found.artifact.folder)
    for _, _, folder, _ in left:
        shutil.rmtree(folder)
    print("Deleted.")
    return 0


def _agreed() -> bool:
    try:
        return input("Delete them? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
