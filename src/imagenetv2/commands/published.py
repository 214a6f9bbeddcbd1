"""``imagenetv2 published PATH…``: the numbers that papers print beside what their released records give."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imagenetv2.artifacts import Artifact
from imagenetv2.atomically import write_bytes
from imagenetv2.commands import record, stage
from imagenetv2.errors import InputError
from imagenetv2.plan import Plan

CLAIMS = "record/claims"


def add(commands: Any) -> None:
    """Declare ``published``."""
    parser = commands.add_parser(
        "published",
        help="compare what the papers print with their released records",
        description="Write one page with every number that the papers print, what the released records at PATH give, "
        "the tolerance and the verdict. Makes record/claims of each record and all that it needs.",
    )
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="a checkout of a record, or its .tar.gz"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="where the page goes (default: print it)")
    stage.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the claims of every record and write their page, in the order of the paths."""
    from imagenetv2.record.claims.page import page

    plans: dict[str, Plan] = {}
    for path in options.paths:
        planned = record.planned_for(path, options)
        kind = planned.config.record.kind
        if kind in plans:
            raise InputError(f"{path} is a second record of the kind {kind}; give one of each kind.")
        plans[kind] = planned
    for planned in plans.values():
        for name in record.needed(planned, CLAIMS):
            stage.make_all(planned, [name], options)
    claims = {kind: Artifact(planned.folder(CLAIMS)).table("claims") for kind, planned in plans.items()}
    text = page(claims)
    if options.out is None:
        print(text, end="")
    else:
        write_bytes(options.out, text.encode("utf-8"))
    return 0
