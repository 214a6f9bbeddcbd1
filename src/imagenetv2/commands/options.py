"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.loading import DEFAULT
from imagenetv2.plan import Plan

FIELD = re.compile(r"neighbours\.\w+\.(\w+)")
"""A field of the configuration, in a sentence."""
Command = Callable[[argparse.Namespace], int]


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


def in_options(command: Command) -> Command:
    """A command without a configuration: what goes wrong names options in place of a configuration's fields."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        try:
            return command(options)
        except InputError as error:
            raise InputError(FIELD.sub(r"--\1", str(error))) from error

    return run


def available() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_writable(out: Path) -> None:
    """Raise InputError where the folder ``out`` can be neither written to nor made; makes nothing."""
    try:
        there = next(path for path in (out, *out.absolute().parents) if path.exists())
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}; name a folder.") from error
    if not there.is_dir():
        raise InputError(f"--out {out}: {there} is a file; name a folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"--out {out}: nothing can be written to {there}; name another folder.")


def plan(options: argparse.Namespace) -> Plan:
    """The plan under those options, see ``files``."""
    return Plan.load(files(options), options.data)


def files(options: argparse.Namespace) -> list[Path]:
    """The configuration files under those options.

    Without ``--config``, the file that the environment variable IMAGENETV2_CONFIG names or, failing that, the
    configuration of the last complete run.
    """
    if options.config:
        return [DEFAULT, *options.config] if DEFAULT.exists() else list(options.config)
    if named := os.environ.get("IMAGENETV2_CONFIG"):
        return [Path(named)]
    last = options.data / "latest" / "config.yaml"
    return [last if last.exists() else DEFAULT]
