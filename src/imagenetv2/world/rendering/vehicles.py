"""Pickup, minivan, school bus from the side: boxes on wheels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imagenetv2.world.rendering.canvas import Colour, Layer, Plane, box, circle, polygon
from imagenetv2.world.rendering.chance import between, happens, jittered, pick

PAINTS: Sequence[Colour] = (
    (0.7, 0.12, 0.12), (0.14, 0.27, 0.55), (0.85, 0.85, 0.86), (0.2, 0.21, 0.23), (0.55, 0.57, 0.6),
    (0.16, 0.4, 0.27), (0.86, 0.68, 0.2), (0.45, 0.12, 0.2), (0.5, 0.66, 0.76),
)  # fmt: skip
GLASS: Colour = (0.24, 0.31, 0.37)


def sheet(layer: Layer) -> Plane:
    """Shade of painted sheet metal: bright above, dark below the waist."""
    v = layer.frame.v
    shade: Plane = np.float32(0.98) - np.clip(v - np.float32(0.02), -1, 1) * np.float32(0.55)
    return shade


def glass(layer: Layer, shape: Plane) -> None:
    """A window with the sky slanting across it."""
    f = layer.frame
    slant = f.u * np.float32(0.9) + f.v * np.float32(1.6)
    band = ((slant * 3 - np.floor(slant * 3)) < np.float32(0.35)).astype(np.float32)
    layer.mark(shape, GLASS, np.float32(0.85) - f.v * np.float32(0.7) + band * np.float32(0.3))


def wheels(layer: Layer, places: Sequence[float], y: float, radius: float) -> None:
    """Tyres with hubs, in dark arches."""
    f = layer.frame
    for x in places:
        layer.mark(circle(f, x, y, radius * 1.22), (0.06, 0.06, 0.07))
    for x in places:
        layer.paint(circle(f, x, y, radius), (0.11, 0.11, 0.12))
        layer.paint(
            circle(f, x, y, radius * 0.55), (0.66, 0.67, 0.69), np.float32(0.9) - (f.v - np.float32(y)) * 2
        )
        layer.paint(circle(f, x, y, radius * 0.18), (0.3, 0.3, 0.32), outline=False)


def lamps(layer: Layer, front: float, back: float, y: float) -> None:
    """Headlamp to the left, tail lamp to the right."""
    f = layer.frame
    layer.mark(box(f, front, y, 0.05, 0.045, 0.02), (0.98, 0.95, 0.8))
    layer.mark(box(f, back, y, 0.03, 0.06, 0.02), (0.8, 0.1, 0.08))


def pickup(layer: Layer, rng: np.random.Generator) -> None:
    """A bonnet, a cab of one or two doors and an open bed."""
    f = layer.frame
    colour = jittered(rng, pick(rng, PAINTS), 0.05)
    long = happens(rng, 0.4)
    back = 0.22 if long else 0.02
    cab = [(-0.42, -0.4), (back, -0.4), (back + 0.06, 0.05), (-0.62, 0.05)]
    layer.paint(polygon(f, cab, 0.02), colour, sheet(layer))
    layer.paint(box(f, -0.62, 0.1, 0.36, 0.15, 0.06), colour, sheet(layer))
    layer.paint(box(f, 0.28, 0.1, 0.7, 0.17, 0.03), colour, sheet(layer))
    middle = (back - 0.44) / 2
    for pane in ([(-0.39, -0.34), (middle - 0.02, -0.34), (middle - 0.02, -0.06), (-0.54, -0.06)],
                 [(middle + 0.02, -0.34), (back - 0.04, -0.34), (back - 0.01, -0.06), (middle + 0.02, -0.06)]):  # fmt: skip
        glass(layer, polygon(f, pane))
    layer.mark(
        np.minimum(np.abs(f.u - np.float32(back + 0.08)), np.abs(f.u - np.float32(middle)))
        - np.float32(0.008),
        INKED,
    )
    if happens(rng, 0.3):
        load = jittered(rng, (0.55, 0.42, 0.28), 0.12)
        layer.paint(box(f, 0.6, -0.13, between(rng, 0.14, 0.26), between(rng, 0.06, 0.13), 0.02), load)
    lamps(layer, -0.93, 0.95, 0.06)
    wheels(layer, (-0.58, 0.58), 0.27, between(rng, 0.17, 0.2))


INKED: Colour = (0.12, 0.12, 0.13)


def minivan(layer: Layer, rng: np.random.Generator) -> None:
    """One tall body whose bonnet runs on into a raked windscreen."""
    f = layer.frame
    colour = jittered(rng, pick(rng, PAINTS), 0.05)
    roof = between(rng, -0.45, -0.38)
    body = [(-0.38, roof), (0.78, roof), (0.9, -0.05), (0.92, 0.24), (-0.8, 0.24), (-0.74, -0.04)]
    layer.paint(box(f, -0.69, 0.1, 0.25, 0.17, 0.1), colour, sheet(layer))
    layer.paint(polygon(f, body, 0.03), colour, sheet(layer))
    layer.mark(np.abs(f.v - np.float32(0.17)) - np.float32(0.012), [c * 0.5 for c in colour])
    top = roof + 0.06
    panes = (
        [(-0.35, top), (-0.26, top), (-0.26, -0.08), (-0.62, -0.08)],
        [(-0.22, top), (0.16, top), (0.16, -0.08), (-0.22, -0.08)],
        [(0.2, top), (0.5, top), (0.5, -0.08), (0.2, -0.08)],
        [(0.54, top), (0.74, top), (0.82, -0.08), (0.54, -0.08)],
    )
    for pane in panes:
        glass(layer, polygon(f, pane))
    for x in (-0.24, 0.18, 0.52):
        layer.mark(
            np.maximum(np.abs(f.u - np.float32(x)) - np.float32(0.008), -f.v - np.float32(0.08)), INKED
        )
    for x in (-0.14, 0.26):
        layer.mark(box(f, x, 0.02, 0.05, 0.014), INKED)
    lamps(layer, -0.86, 0.91, 0.03)
    wheels(layer, (-0.56, 0.56), 0.27, between(rng, 0.16, 0.18))


def school_bus(layer: Layer, rng: np.random.Generator) -> None:
    """A long yellow box with a row of small windows, black rails and a short bonnet."""
    f = layer.frame
    colour = jittered(rng, (0.95, 0.68, 0.1), 0.05)
    roof = between(rng, -0.5, -0.42)
    layer.paint(box(f, -0.7, 0.1, 0.27, 0.17, 0.06), colour, sheet(layer))
    layer.paint(
        polygon(f, [(-0.66, roof), (0.94, roof), (0.95, 0.27), (-0.74, 0.27), (-0.74, -0.1)], 0.03),
        colour,
        sheet(layer),
    )
    top = roof + 0.09
    glass(layer, polygon(f, [(-0.62, top), (-0.52, top), (-0.52, -0.09), (-0.69, -0.09)]))
    count = int(rng.integers(5, 8))
    step = 1.36 / count
    for n in range(count):
        x = -0.44 + step * (n + 0.5)
        glass(layer, box(f, x, (top - 0.1) / 2, step * 0.39, (-0.1 - top) / 2, 0.02))
    for y in (-0.02, 0.1):
        layer.mark(
            np.maximum(np.abs(f.v - np.float32(y)) - np.float32(0.018), np.float32(-0.45) - f.u), INKED
        )
    if happens(rng, 0.6):
        layer.paint(polygon(f, [(-0.3, -0.06), (-0.24, -0.06), (-0.2, 0.0), (-0.24, 0.06), (-0.3, 0.06), (-0.34, 0.0)]),
                    (0.78, 0.1, 0.1))  # fmt: skip
    lamps(layer, -0.92, 0.94, 0.06)
    wheels(layer, (-0.52, 0.55), 0.3, 0.17)
