"""``imagenetv2 review``: what people are to look at, and recording what they said."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imagenetv2.commands.options import add_plan, plan, whole


def add(commands: Any) -> None:
    """Declare ``review`` and its actions."""
    parser = commands.add_parser(
        "review",
        help="write pages for people to review, and record their verdicts",
        description="With review.reviewer people: write pages that show what is to be looked at, and record the "
        "verdicts that they save. The next run of snakemake goes on with them.",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    sheet = actions.add_parser(
        "sheet", help="write the pages: near-duplicate pairs, or the classes of a rule's set"
    )
    sheet.add_argument("kind", metavar="WHAT", help="pairs, matched_frequency, threshold or top_images")
    sheet.add_argument(
        "--out", type=Path, default=Path("review"), metavar="DIR", help="folder (default: review)"
    )
    sheet.add_argument(
        "--each", type=whole(1), default=50, metavar="N", help="pairs or classes a page (default: 50)"
    )
    add_plan(sheet)
    sheet.set_defaults(run=run_sheet)
    record = actions.add_parser("record", help="record a file that a page saved")
    record.add_argument("file", type=Path, metavar="FILE.json")
    add_plan(record)
    record.set_defaults(run=run_record)


def run_sheet(options: argparse.Namespace) -> int:
    """Write the pages and say where."""
    from imagenetv2.review.sheets import write

    pages = write(plan(options), options.kind, options.out, options.each)
    for page in pages:
        print(page)
    print(
        f"{_plural(len(pages), 'page')} to look at: open {'it' if len(pages) == 1 else 'them'} in a browser, save the "
        "verdicts, then imagenetv2 review record FILE"
        if pages
        else "nothing is waiting for a look: run snakemake"
    )
    return 0


def run_record(options: argparse.Namespace) -> int:
    """Record a file and say what became of it."""
    from imagenetv2.review.record import record

    done = record(plan(options), options.file)
    print(
        f"{done.kind}: {_plural(done.added, 'verdict')} recorded, {done.known} known before, "
        f"{len(done.stale)} no longer asked for"
    )
    for name in done.stale[:10]:
        print(f"  no longer asked for: {name}")
    print("Run snakemake to go on with them.")
    return 0


def _plural(count: int, one: str) -> str:
    return f"{count} {one if count == 1 else one + 's'}"
