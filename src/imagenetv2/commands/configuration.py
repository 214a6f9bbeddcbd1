"""``imagenetv2 config``: check a configuration, and rewrite the files generated from the models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imagenetv2.commands.options import add_plan, plan
from imagenetv2.config_files import GENERATED


def add(commands: Any) -> None:
    """Declare ``config`` and its actions."""
    parser = commands.add_parser("config", help="check a configuration, or rewrite its generated files")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    check = actions.add_parser("check", help="validate a configuration and print the versions it plans")
    add_plan(check)
    check.set_defaults(run=run_check)
    write = actions.add_parser("write", help="rewrite config.yaml, schema.json and the reference page")
    write.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="the checkout (default: here)"
    )
    write.set_defaults(run=run_write)


def run_check(options: argparse.Namespace) -> int:
    """Print stage and version, one a line."""
    for stage, version in plan(options).versions.items():
        print(f"{stage:34} {version}")
    return 0


def run_write(options: argparse.Namespace) -> int:
    """Rewrite the generated files."""
    for name, make in GENERATED.items():
        path = options.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), "utf-8")
        print(path)
    return 0
