"""``imagenetv2 versions``: what artifacts there are; ``diff`` and ``point``."""

from __future__ import annotations

import argparse
import logging
from collections import defaultdict
from typing import Any

from imagenetv2 import inventory, latest
from imagenetv2.commands.options import add_plan, plan


def add(commands: Any) -> None:
    """Declare ``versions`` and its actions."""
    parser = commands.add_parser(
        "versions",
        help="list artifacts, compare two, or point data/latest at the current ones",
        description="List every artifact: what made it, its size and whether it is current under the configuration.",
    )
    add_plan(parser)
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(metavar="ACTION")
    diff = actions.add_parser("diff", help="say what differs between two artifacts, and why")
    diff.add_argument("first", metavar="A", help="version, its first digits, or stage/version")
    diff.add_argument("second", metavar="B")
    add_plan(diff)
    diff.set_defaults(run=run_diff)
    point = actions.add_parser("point", help="point data/latest at the current versions")
    add_plan(point)
    point.set_defaults(run=run_point)


def run(options: argparse.Namespace) -> int:
    """Print one line an artifact, planned ones that are absent included."""
    planned = plan(options)
    by_stage = defaultdict(list)
    for found in inventory.artifacts(planned.data):
        by_stage[found.stage].append(found)
    print(f"{'stage':34} {'version':11} {'state':8} {'size':>9}  {'made':19}  from")
    for stage in [*planned.versions, *sorted(set(by_stage) - set(planned.versions))]:
        wanted = planned.versions.get(stage)
        for found in by_stage[stage]:
            state = "current" if found.version == wanted else "earlier"
            reads = found.artifact.manifest["reads"]
            origin = ", ".join(f"{s} {v[:6]}" for s, v in sorted(reads.items())[:4]) + (
                " …" if len(reads) > 4 else ""
            )
            made = found.made[:19].replace("T", " ")
            print(
                f"{stage:34} {found.version:11} {state:8} {inventory.size(found.size):>9}  {made:19}  {origin}"
            )
        if wanted and wanted not in {f.version for f in by_stage[stage]}:
            print(f"{stage:34} {wanted:11} {'to make':8}")
    return 0


def run_diff(options: argparse.Namespace) -> int:
    """Print the causes, one a line."""
    first, second = (inventory.find(options.data, text) for text in (options.first, options.second))
    print(f"{first.stage}/{first.version} → {second.stage}/{second.version}")
    lines = inventory.differences(options.data, first, second)
    for line in lines or ["nothing: they are the same artifact"]:
        print(f"  {line}")
    return 0


def run_point(options: argparse.Namespace) -> int:
    """Point ``data/latest`` at the current versions."""
    planned = plan(options)
    latest.point(planned)
    logging.getLogger("imagenetv2").info("%s points at this run", planned.data / "latest")
    return 0
