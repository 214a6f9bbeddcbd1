"""``imagenetv2 cost``: what the search for near-duplicates will take, before anything is there."""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any

from imagenetv2.commands.options import add_plan, files, whole
from imagenetv2.duplicates.stages import enabled
from imagenetv2.errors import InputError
from imagenetv2.loading import load
from imagenetv2.plan import Plan

TEXT = """What the search for near-duplicates takes on this machine, under each metric in use: pairs, operations, bytes and
time. Every part is timed for a moment. Numbers of images are those of the artifacts of this configuration where they
are there; options take their place."""


def add(commands: Any) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser(
        "cost", help="say what the search for near-duplicates will take", description=TEXT
    )
    add_plan(parser)
    for name, text in (
        ("candidates", "images found"),
        ("references", "images of the original data set, all splits"),
        ("held-out", "of these, validation and test images (default: a tenth)"),
        ("classes", "classes (default: those of the configuration, else 1000)"),
    ):
        parser.add_argument(f"--{name}", type=whole(1), metavar="N", help=text)
    parser.add_argument(
        "--cores", type=whole(1), default=os.cpu_count() or 1, metavar="N", help="threads (default: all)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table, one column a metric."""
    from imagenetv2.duplicates import outlook

    config = load(files(options))
    if config.record.path is not None or not enabled(config):
        raise InputError("This configuration searches for no near-duplicates; enable a metric of neighbours.")
    given = outlook.Given(options.candidates, options.references, options.held_out, options.classes)
    if options.candidates is not None and options.references is not None:
        # Needs none of the files outside that a run needs.
        found = outlook.supposed(config, outlook.counts(config, given), options.cores)
    else:
        found = outlook.planned(Plan.of(config, options.data), given, options.cores)
    print("\n".join(found))
    return 0


def dry_run(planned: Plan, stage: str, cores: int) -> int:
    """Print what one search takes on the images that are there."""
    from imagenetv2.duplicates.outlook import one

    print("\n".join(one(planned, stage, cores)))
    logging.getLogger("imagenetv2").info("%s %s: nothing was run", stage, planned.versions[stage])
    return 0


def part(planned: Plan, stage: str, number: int, cores: int) -> int:
    """Do one part of a search."""
    from imagenetv2.duplicates import outlook

    outlook.part(planned, stage, number, cores)
    logging.getLogger("imagenetv2").info("%s %s: part %d is done", stage, planned.versions[stage], number)
    return 0
