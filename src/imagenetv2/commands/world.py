"""``imagenetv2 world``: make the embedded world, serve it, or build a folder for it from public data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imagenetv2.artifacts import Artifact
from imagenetv2.commands import stage
from imagenetv2.commands.options import add_plan, plan, whole
from imagenetv2.errors import InputError


def add(commands: Any) -> None:
    """Declare ``world`` and its actions."""
    parser = commands.add_parser("world", help="make or serve the embedded world")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    make = actions.add_parser("make", help="stage world: draw or read its photographs")
    stage.add_options(make)
    serve = actions.add_parser(
        "serve", help="run its Flickr, MTurk, image host and people on loopback until stopped"
    )
    add_plan(serve)
    serve.add_argument(
        "--ready", type=Path, required=True, metavar="FILE", help="written once the servers listen"
    )
    serve.add_argument(
        "--parts", default="flickr,photos,mturk,host,people", help="comma-separated (default: all)"
    )
    serve.add_argument("--log", type=Path, metavar="FILE", help="also write messages there")
    serve.set_defaults(run=run_serve)
    cifar = actions.add_parser(
        "cifar10h",
        help="build a folder of photographs and votes from CIFAR-10 and the CIFAR-10H counts",
        description="Build train.tar, test.tar and test_votes.csv, which config/cifar10h.yaml reads.",
    )
    cifar.add_argument(
        "--cifar", type=Path, required=True, metavar="PATH", help="cifar-10-python.tar.gz or its folder"
    )
    cifar.add_argument("--counts", type=Path, required=True, metavar="FILE", help="cifar10h-counts.npy")
    cifar.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    cifar.add_argument(
        "--train-limit", type=whole(1), metavar="N", help="keep only the first N training photographs"
    )
    cifar.set_defaults(run=run_cifar10h)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until SIGTERM."""
    from imagenetv2.world.servers.serve import serve

    planned = plan(options)
    if "world" not in planned.stages:
        raise InputError("world.source is real: there is nothing to serve; set it to rendered or folder.")
    serve(
        Artifact(planned.folder("world")),
        seed=planned.config.seed,
        people=planned.config.world.people,
        data=planned.data,
        version=planned.versions["world"],
        ready=options.ready,
        port=planned.config.world.port,
        parts=set(options.parts.split(",")),
    )
    return 0


def run_cifar10h(options: argparse.Namespace) -> int:
    """Build the folder."""
    from imagenetv2.world.cifar10h import build

    build(options.cifar, options.counts, options.out, options.train_limit)
    print(
        f"{options.out} is ready: set world.folder.path to it and run snakemake --configfile config/cifar10h.yaml"
    )
    return 0
