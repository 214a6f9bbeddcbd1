"""Figures as files for a paper, and the library that draws them in a page: the same bytes each time.

The renderer holds Python's lock, so that work is spread over processes; it is handed over as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from imagenetv2.analysis.figures import renderer
from imagenetv2.analysis.figures.figure import Figure, for_paper
from imagenetv2.analysis.figures.style import FONT, on_paper
from imagenetv2.pooling import in_order, processes


def files(figures: Iterable[Figure], drawings: Mapping[str, str], cores: int = 1) -> dict[str, bytes]:
    """``<name>.svg``, ``.png`` and ``.pdf`` of figures and of SVG drawings by name, and ``library.js``."""
    specs = {figure.name: on_paper(json.dumps(for_paper(figure, FONT))) for figure in figures}
    work: list[Callable[[], dict[str, bytes]]] = [
        renderer.library,
        *(partial(renderer.chart, name, spec) for name, spec in specs.items()),
        *(partial(renderer.drawing, name, svg) for name, svg in drawings.items()),
    ]
    made: dict[str, bytes] = {}
    with processes(cores) as pool:
        for part in in_order(pool, renderer.perform, work, ahead=len(work)):
            made |= part
    return made
