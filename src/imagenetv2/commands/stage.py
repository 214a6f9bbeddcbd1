"""``imagenetv2 STAGE``: make the artifact of one stage, unless it is there whole."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from imagenetv2 import job
from imagenetv2.commands.cost import dry_run, part
from imagenetv2.commands.options import add_plan, plan, whole
from imagenetv2.errors import InputError
from imagenetv2.evaluation.stages import SETS
from imagenetv2.plan import Plan

SINGLE = {
    "classes": "list the classes with synonyms and WordNet neighbours",
    "reference": "index the original data set",
    "search": "search Flickr for every class",
    "candidates": "download and decode what the search found",
    "hits": "generate Mechanical Turk tasks and their pages",
    "assignments": "publish tasks and collect the answers",
    "frequencies": "aggregate answers into selection frequencies",
    "metrics": "compute calibration and other metrics of all predictions",
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
        add_options(commands.add_parser(name, help=text, description=f"Stage {name}: {text}."))
    for name, (what, text) in FAMILIES.items():
        parser = commands.add_parser(name, help=text, description=f"Stage {name}/{what}: {text}.")
        parser.add_argument("member", metavar=what)
        add_options(parser)
        if name == "neighbours":
            parser.add_argument(
                "--dry-run", action="store_true", help="only say what it takes: pairs, bytes and time"
            )
            parser.add_argument(
                "--part",
                type=whole(0),
                metavar="N",
                help="do only that part of neighbours.search.parts, from 1; 0 prepares and comes first",
            )
        if name == "predictions":
            parser.add_argument(
                "--model",
                action="append",
                metavar="NAME",
                help="evaluate only that model; may be repeated (default: all)",
            )
    add_options(commands.add_parser("models", help="train, or load and name, all models", description=MODELS))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every stage's subcommand."""
    add_plan(parser)
    parser.add_argument(
        "--expect", nargs="+", metavar="VERSION", help="refuse to run where versions are others"
    )
    parser.add_argument(
        "--endpoints", type=Path, metavar="FILE", help="addresses of local servers, as they wrote it"
    )
    parser.add_argument(
        "--cores", type=whole(1), default=1, metavar="N", help="processes or threads to use (default: 1)"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="also write messages there")
    parser.add_argument("--force", action="store_true", help="make it again even where it is there whole")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the artifact, or those of all models."""
    planned = plan(options)
    names = _names(planned, options)
    if getattr(options, "dry_run", False):
        return dry_run(planned, names[0], options.cores)
    if getattr(options, "part", None) is not None:
        refuse_unexpected(planned, names, options)
        return part(planned, names[0], options.part, options.cores)
    return make_all(planned, names, options)


def make_all(planned: Plan, names: list[str], options: argparse.Namespace) -> int:
    """Make the named artifacts, unless versions are others than expected; says what was done."""
    refuse_unexpected(planned, names, options)
    made = make(planned, names, options)
    log = logging.getLogger("imagenetv2")
    for name in names:
        version = planned.versions[name]
        if name in made:
            log.info("%s %s is written to %s", name, version, planned.folder(name))
        else:
            log.info("%s %s is there whole; nothing to do (--force makes it again)", name, version)
    return 0


def refuse_unexpected(planned: Plan, names: list[str], options: argparse.Namespace) -> None:
    """Raise InputError where ``--expect`` names other versions."""
    versions = [planned.versions[name] for name in names]
    if options.expect and options.expect != versions:
        raise InputError(
            f"{', '.join(names)}: versions are {', '.join(versions)} under this configuration, not "
            f"{', '.join(options.expect)}: the configuration or an outside file changed since the run was planned; "
            "start snakemake again."
        )


def _names(planned: Plan, options: argparse.Namespace) -> list[str]:
    if options.command == "models":
        return planned.family("models")
    if options.command == "predictions":
        names = planned.family(f"predictions/{options.member}")
        if not names:
            raise InputError(f"{options.member} is no set; known are {', '.join(SETS)}.")
        return _of_models(names, options.model) if options.model else names
    name = f"{options.command}/{options.member}" if options.command in FAMILIES else options.command
    if name not in planned.stages:
        family = planned.family(options.command)
        known = f"; known are {', '.join(n.split('/', 1)[1] for n in family)}" if family else ""
        raise InputError(f"{name} is no stage under this configuration{known}.")
    return [name]


def _of_models(names: list[str], models: list[str]) -> list[str]:
    """Those of some models, in the order of the configuration."""
    known = [name.rsplit("/", 1)[1] for name in names]
    for model in models:
        if model not in known:
            raise InputError(
                f"--model {model}: no such model under this configuration; known are {', '.join(known)}."
            )
    return [name for name, model in zip(names, known, strict=True) if model in models]


def make(planned: Plan, names: list[str], options: argparse.Namespace) -> list[str]:
    """Make artifacts; those of several models in this one process, so that libraries and images are loaded once."""
    settings = (planned.versions, planned.data, planned.config.seed)
    shared = {
        "force": options.force,
        "endpoints": job.Endpoints.read(options.endpoints),
        "cores": options.cores,
    }
    stages = [planned.stages[name] for name in names]
    if options.command not in ("models", "predictions"):
        (stage,) = stages
        return names if job.run(stage, *settings, **shared) else []
    from imagenetv2.evaluation import batch

    how = batch.Batch(*settings, shared.pop("force"), shared)
    return (batch.prepare if options.command == "models" else batch.evaluate)(stages, how)
