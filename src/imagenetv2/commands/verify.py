"""``imagenetv2 verify``: hash the whole chain again."""

from __future__ import annotations

import argparse
from typing import Any

from imagenetv2 import inventory
from imagenetv2.artifacts import Artifact
from imagenetv2.commands.options import add_plan, plan
from imagenetv2.errors import InputError
from imagenetv2.progress import progress


def add(commands: Any) -> None:
    """Declare ``verify``."""
    parser = commands.add_parser(
        "verify",
        help="hash every current artifact again and compare with its manifest",
        description="Hash every current artifact (--all: every one) and compare with its manifest and its sources.",
    )
    add_plan(parser)
    parser.add_argument("--all", action="store_true", help="earlier artifacts too")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what is wrong; exit code 1 where anything is."""
    planned = plan(options)
    if options.all:
        chosen = {f"{f.stage}/{f.version}": f.artifact for f in inventory.artifacts(planned.data)}
    else:
        chosen = {f"{s}/{v}": Artifact(planned.folder(s)) for s, v in planned.versions.items()}
    faults, total = [], 0
    for name, artifact in progress(chosen.items(), "hashing", len(chosen)):
        try:
            faults += artifact.damage()
            total += sum(f["bytes"] for f in artifact.manifest["files"].values())
            stage, version = name.rsplit("/", 1)
            if (artifact.manifest["stage"], artifact.version) != (stage, version):
                faults.append(f"{artifact.folder} holds {artifact.manifest['stage']}/{artifact.version}")
            for read, version in artifact.manifest["reads"].items():
                if not (planned.data / read / version / "manifest.json").exists():
                    faults.append(f"{name} was made from {read}/{version}, which is not there")
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError(
            "the chain is broken:\n  " + "\n  ".join(faults) + "\nDelete the folders named and run snakemake."
        )
    print(f"{len(chosen)} artifacts, {inventory.size(total)}: every file is as its manifest says.")
    return 0
