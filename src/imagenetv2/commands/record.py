"""``imagenetv2 record``: one part of a released study, under the configuration or of any record."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imagenetv2.commands import stage
from imagenetv2.commands.options import plan
from imagenetv2.errors import InputError
from imagenetv2.loading import DEFAULT, lay_over, read_yaml, validate
from imagenetv2.plan import Plan

DESCRIPTION = (
    "Stage record/PART: import one part of a released record, with the faults found in it. With PATH, of the record "
    "there: that part and all that it needs, without a configuration file."
)


def add(commands: Any) -> None:
    """Declare ``record``."""
    parser = commands.add_parser(
        "record", help="import or audit one part of a released record", description=DESCRIPTION
    )
    parser.add_argument("part", metavar="PART", help="classes, files, search, …: see data/record/")
    parser.add_argument(
        "path", type=Path, nargs="?", metavar="PATH", help="a checkout of a record, or its .tar.gz"
    )
    stage.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the artifact of a part; with a path, print its folder."""
    planned = plan(options) if options.path is None else planned_for(options.path, options)
    name = f"record/{options.part}"
    if name not in planned.stages:
        raise InputError(_unknown(planned, options.part))
    if options.path is None:
        return stage.make_all(planned, [name], options)
    stage.refuse_unexpected(planned, [name], options)
    options.expect = None
    for part in needed(planned, name):
        stage.make_all(planned, [part], options)
    print(planned.folder(name))
    return 0


def planned_for(path: Path, options: argparse.Namespace) -> Plan:
    """The plan for the record at ``path``, of the kind that lies there."""
    from imagenetv2.record.source import kind_of

    values: dict[str, Any] = {}
    files = [DEFAULT, *options.config] if options.config and DEFAULT.exists() else (options.config or [])
    for file in files:
        values = lay_over(values, read_yaml(file))
    record = {"record": {"path": str(path), "kind": kind_of(path)}}
    return Plan.of(validate(lay_over(values, record), files), options.data)


def needed(planned: Plan, name: str) -> list[str]:
    """A stage and all that it reads, each after what it reads itself."""
    order: list[str] = []

    def visit(one: str) -> None:
        for read in planned.stages[one].reads:
            visit(read)
        if one not in order:
            order.append(one)

    visit(name)
    return order


def _unknown(planned: Plan, part: str) -> str:
    parts = [name.split("/", 1)[1] for name in planned.family("record")]
    if not parts:
        return (
            f"record/{part} is no stage, since record.path is not set: set it, or give the path of a record."
        )
    kind = planned.config.record.kind
    return f"a record of the kind {kind} has no part {part}; its parts are {', '.join(parts)}."
