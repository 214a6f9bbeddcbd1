"""``imagenetv2 names SPEC…``: which models a list of names comes to, and what their input looks like."""

from __future__ import annotations

import argparse
from typing import Any

TEXT = """Which models a list comes to, without fetching weights. SPEC is timm:NAME or torchvision:NAME, with or without
the tag of weights and with =FILE for weights of yours; a pattern of * and ? in place of NAME; onnx:FILE;
python:package.module:function; lite0, lite1 or lite2; preset:published (the study's networks that are still to be had)
or preset:lite; or @FILE, a file with one SPEC a line. Behind it, ?size=…&resize=…&crop=…&interpolation=…&mean=…&std=…
says how the input has to look, and name=… what the model is called. Quote patterns and options for the shell."""


def add(commands: Any) -> None:
    """Declare ``names``."""
    parser = commands.add_parser(
        "names", help="list the models that names, patterns, files and presets stand for", description=TEXT
    )
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="what to list")
    parser.add_argument(
        "--yaml", action="store_true", help="print them as the section models of a configuration"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table, or the section of a configuration."""
    from imagenetv2.evaluation.names import expand

    models = expand(options.specs)
    from imagenetv2.evaluation.names import listing

    print(listing.entries(models) if options.yaml else listing.table(listing.listed(models)))
    return 0
