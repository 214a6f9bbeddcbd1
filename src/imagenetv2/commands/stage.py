"""``imagenetv2 STAGE``: make the artifact of one stage, unless it is there whole."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imagenetv2 import job
from imagenetv2.commands.options import add_plan, plan
from imagenetv2.errors import InputError
from imagenetv2.evaluation.stages import SETS
from imagenetv2.plan import Plan

SINGLE = {
    "classes": "list the classes with synonyms and WordNet neighbours",
    "world": None,
    "reference": "index the original data set",
    "search": "search Flickr for every class",
    "candidates": "download and decode what the search found",
    "hits": "generate Mechanical Turk tasks and their pages",
    "assignments": "publish tasks and collect the answers",
    "frequencies": "aggregate answers into selection frequencies",
    "duplicates": "resolve near-duplicates",
    "analysis": "compute accuracies, changes and fits",
    "report": "write the report",
}
FAMILIES = {
    "neighbours": ("METRIC", "find nearest neighbours under one metric: l2, fc7 or ssim"),
    "reviews": ("WHAT", "gather the verdicts on pairs or on the set of a rule"),
    "datasets": ("RULE", "sample the set of one rule"),
    "predictions": ("SET", "evaluate all models on one set: original or a rule's"),
}

MODELS = "Stages models/NAME: train, or load and name, every model that is not there yet."


def add(commands: Any) -> None:
    """Declare one subcommand a stage."""
    for name, text in SINGLE.items():
        if text is not None:
            add_options(commands.add_parser(name, help=text, description=f"Stage {name}: {text}."))
    for name, (what, text) in FAMILIES.items():
        parser = commands.add_parser(name, help=text, description=f"Stage {name}/{what}: {text}.")
        parser.add_argument("member", metavar=what)
        add_options(parser)
    add_options(commands.add_parser("models", help="train, or load and name, all models", description=MODELS))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every stage's subcommand."""
    add_plan(parser)
    parser.add_argument("--expect", metavar="VERSION", help="refuse to run where the version is another one")
    parser.add_argument(
        "--endpoints", type=Path, metavar="FILE", help="addresses of local servers, as they wrote it"
    )
    parser.add_argument(
        "--cores", type=int, default=1, metavar="N", help="processes or threads to use (default: 1)"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="also write messages there")
    parser.add_argument("--force", action="store_true", help="make it again even where it is there whole")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the artifact, or all artifacts of a set's predictions."""
    planned = plan(options)
    if options.command in ("models", "predictions"):
        return run_family(planned, options)
    name = f"{options.command}/{options.member}" if options.command in FAMILIES else options.command
    if name not in planned.stages:
        family = planned.family(options.command)
        known = f"; known are {', '.join(n.split('/', 1)[1] for n in family)}" if family else ""
        raise InputError(f"{name} is no stage under this configuration{known}.")
    version = planned.versions[name]
    if options.expect and options.expect != version:
        raise InputError(
            f"{name} has version {version} under this configuration, not {options.expect}: the configuration or an "
            "outside file changed since the run was planned; start snakemake again."
        )
    made = job.run(
        planned.stages[name],
        planned.versions,
        planned.data,
        planned.config.seed,
        force=options.force,
        **shared(options),
    )
    _say(name, version, planned, made)
    return 0


def run_family(planned: Plan, options: argparse.Namespace) -> int:
    """All models, or all predictions on one set, in one process: libraries and images are loaded once."""
    from imagenetv2.evaluation.batch import run_all

    family = "models" if options.command == "models" else f"predictions/{options.member}"
    names = planned.family(family)
    if not names:
        raise InputError(f"{options.member} is no set; known are {', '.join(SETS)}.")
    made = run_all(
        [planned.stages[n] for n in names],
        planned.versions,
        planned.data,
        planned.config.seed,
        force=options.force,
        **shared(options),
    )
    for name in names:
        _say(name, planned.versions[name], planned, name in made)
    return 0


def shared(options: argparse.Namespace) -> Mapping[str, Any]:
    """What a job gets from the command line."""
    return {"endpoints": job.Endpoints.read(options.endpoints), "cores": options.cores}


def _say(name: str, version: str, planned: Plan, made: bool) -> None:
    log = logging.getLogger("imagenetv2")
    if made:
        log.info("%s %s is written to %s", name, version, planned.folder(name))
    else:
        log.info("%s %s is there whole; nothing to do (--force makes it again)", name, version)
