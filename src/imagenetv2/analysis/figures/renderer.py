"""Charts and drawings as SVG, PNG and PDF. Imports little: it is what each process of a pool has to load."""

from __future__ import annotations

import re
from collections.abc import Callable

import vl_convert

LIBRARY = "library.js"
SCALE = 2.5
"""Pixels of a PNG for each of a chart, 1/96 inch: 240 dots an inch."""

RESOURCES = re.compile(rb"(?:^ +/[A-Za-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)


def library() -> dict[str, bytes]:
    """Vega, Vega-Lite and Vega-Embed as one script that defines ``vegaEmbed``."""
    return {LIBRARY: vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()}


def chart(name: str, specification: str) -> dict[str, bytes]:
    """The three files of a Vega-Lite specification, which may load nothing."""
    return drawing(name, vl_convert.vegalite_to_svg(specification, allowed_base_urls=[]))


def drawing(name: str, svg: str) -> dict[str, bytes]:
    """The three files of an SVG drawing."""
    return {
        f"{name}.svg": svg.encode() + b"\n",
        f"{name}.png": vl_convert.svg_to_png(svg, scale=SCALE),
        f"{name}.pdf": ordered(vl_convert.svg_to_pdf(svg)),
    }


def perform(work: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
    """Do it: what a pool is given to do with each piece of work."""
    return work()


def ordered(pdf: bytes) -> bytes:
    """A PDF whose lists of resources are sorted: the renderer writes them in an order that changes from run to run.

    No length changes, so that all places in the file stay right.
    """
    return RESOURCES.sub(lambda found: b"".join(sorted(found.group().splitlines(keepends=True))), pdf)
