"""``imagenetv2 duplicates``: the stage; with images, all that is known of each among its near-duplicates."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from imagenetv2.atomically import write_bytes
from imagenetv2.commands import stage
from imagenetv2.commands.options import plan, whole
from imagenetv2.errors import InputError


def add(commands: Any) -> None:
    """Declare ``duplicates``."""
    parser = commands.add_parser(
        "duplicates",
        help="resolve near-duplicates, or explain what became of images",
        description="Stage duplicates: resolve near-duplicates. With IMAGE: say where an image comes from, its "
        "neighbours and their distances, the verdicts, its component and which image of it is kept and why, and in "
        "which sets it is.",
    )
    parser.add_argument(
        "images",
        nargs="*",
        metavar="IMAGE",
        help="an image_id or its first digits, a Flickr photo id, or a picture file",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="explain on a page with the pictures")
    parser.add_argument("--json", action="store_true", help="explain as JSON")
    parser.add_argument(
        "--neighbours", type=whole(0), default=5, metavar="N",
        help="neighbours shown under each metric, beside those below its cut-off (default: 5)",
    )  # fmt: skip
    stage.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the artifact, or explain."""
    if options.images:
        return explain(options)
    if options.out or options.json:
        raise InputError("--out and --json explain images; name one or several.")
    return stage.run(options)


def explain(options: argparse.Namespace) -> int:
    """Print the explanation of each image; write the page."""
    from imagenetv2.duplicates.explain.facts import facts
    from imagenetv2.duplicates.explain.study import Study
    from imagenetv2.duplicates.explain.text import text

    study = Study(plan(options))
    images = dict.fromkeys(image for name in options.images for image in study.known.find(name))
    found = [facts(study, image) for image in images]
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif options.out is None:
        print("\n\n".join(text(one, options.neighbours) for one in found))
    if options.out is not None:
        from imagenetv2.duplicates.explain.page import page

        options.out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(options.out, page(study, found, options.neighbours).encode())
        if not options.json:
            print(options.out)
    return 0
