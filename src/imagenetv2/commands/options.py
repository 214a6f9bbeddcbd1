"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from imagenetv2.loading import DEFAULT
from imagenetv2.plan import Plan


def add_plan(parser: argparse.ArgumentParser) -> None:
    """``--config`` and ``--data``."""
    parser.add_argument(
        "--config",
        type=Path,
        action="append",
        metavar="FILE",
        help=f"configuration, laid over {DEFAULT}; may be repeated",
    )
    parser.add_argument(
        "--data", type=Path, default=Path("data"), metavar="DIR", help="artifacts (default: data)"
    )


def whole(least: int) -> Callable[[str], int]:
    """An argument type: a whole number of at least ``least``."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least {least}")
        return value

    return number


def plan(options: argparse.Namespace) -> Plan:
    """The plan under those options.

    Without ``--config``, the file that the environment variable IMAGENETV2_CONFIG names or, failing that, the
    configuration of the last complete run.
    """
    if options.config:
        return Plan.load([DEFAULT, *options.config] if DEFAULT.exists() else options.config, options.data)
    if named := os.environ.get("IMAGENETV2_CONFIG"):
        return Plan.load([Path(named)], options.data)
    last = options.data / "latest" / "config.yaml"
    return Plan.load([last if last.exists() else DEFAULT], options.data)
