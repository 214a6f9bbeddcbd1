"""Coffee mug, pitcher, teapot: turned bodies with a handle, which is why they are taken for each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imagenetv2.world.rendering.canvas import (
    Colour,
    Frame,
    Layer,
    Plane,
    box,
    capsule,
    circle,
    ellipse,
    polygon,
    ramp,
)
from imagenetv2.world.rendering.chance import between, happens, jittered, pick

GLAZES: Sequence[Colour] = (
    (0.93, 0.92, 0.88), (0.75, 0.16, 0.14), (0.16, 0.33, 0.62), (0.2, 0.47, 0.38), (0.88, 0.7, 0.24),
    (0.58, 0.38, 0.26), (0.32, 0.34, 0.37), (0.55, 0.72, 0.8), (0.8, 0.5, 0.5),
)  # fmt: skip


def profile(v: Plane, knots: Sequence[float], widths: Sequence[float]) -> Plane:
    """Half width of a turned body at height v: the given widths, joined smoothly."""
    out = np.full_like(v, widths[0])
    for low, high, before, after in zip(knots, knots[1:], widths, widths[1:], strict=False):
        out += ramp(v, low, high) * np.float32(after - before)
    return out


def turned(v_top: float, v_bottom: float, sag: float, f: Frame, half: Plane) -> tuple[Plane, Plane]:
    """Distance from a turned body, and where each pixel lies across it (−1 left to 1 right)."""
    across: Plane = np.clip(f.u / np.maximum(half, np.float32(1e-3)), -1, 1)
    round_edge = np.sqrt(1 - across * across)
    low = f.v - (np.float32(v_bottom) + np.float32(sag) * round_edge)
    return np.maximum(np.maximum(np.abs(f.u) - half, np.float32(v_top) - f.v), low), across


def glaze(across: Plane) -> tuple[Plane, Plane]:
    """Shade and highlight of a turned body lit from the upper left."""
    facing = np.sqrt(1 - across * across)
    shade = np.float32(0.42) + np.float32(0.62) * np.clip(
        facing * np.float32(0.8) - across * np.float32(0.5), 0, 1
    )
    streak = np.clip(1 - np.abs(across + np.float32(0.5)) * 7, 0, 1)
    return shade, streak * np.float32(0.28)


def handle(layer: Layer, colour: Colour, x: float, y: float, rx: float, ry: float, thick: float) -> None:
    """A ring beside the body; the body is painted over its inner half."""
    f = layer.frame
    ring = np.abs(ellipse(f, x, y, rx, ry)) - np.float32(thick)
    shade = np.float32(0.75) - np.clip(f.v - np.float32(y), -1, 1) * np.float32(0.3)
    layer.paint(ring, colour, shade)


def opening(layer: Layer, colour: Colour, y: float, rx: float, ry: float, inside: Colour) -> None:
    """The rim as an ellipse seen from above, with what is inside."""
    f = layer.frame
    layer.paint(ellipse(f, 0, y, rx, ry), [min(1.0, c * 1.12) for c in colour])
    deep = np.float32(0.55) + np.clip((f.v - np.float32(y)) / np.float32(ry), -1, 1) * np.float32(0.3)
    layer.paint(ellipse(f, 0, y + ry * 0.12, rx * 0.87, ry * 0.74), inside, deep)


def decorate(layer: Layer, rng: np.random.Generator, across: Plane, half: float, base: Colour) -> None:
    """Bands, dots, a disc, or nothing upon the body."""
    f = layer.frame
    other = jittered(rng, pick(rng, GLAZES), 0.06)
    shade, _ = glaze(across)
    curve = f.v - np.float32(0.12) * np.sqrt(1 - across * across)
    kind = int(rng.integers(5))
    if kind == 0:
        for y in (-0.1, 0.28):
            layer.mark(np.abs(curve - np.float32(y)) - np.float32(0.07), other, shade)
    elif kind == 1:
        layer.mark(ellipse(f, -0.08, 0.12, half * 0.5, half * 0.5), other, shade)
    elif kind == 2:
        rows, columns = curve / np.float32(0.3), across / np.float32(0.42)
        a, b = rows - np.floor(rows) - np.float32(0.5), columns - np.floor(columns) - np.float32(0.5)
        layer.mark((np.sqrt(a * a + b * b) - np.float32(0.24)) * np.float32(0.3), other, shade)
    elif kind == 3:
        layer.mark(np.float32(0.2) - curve, [c * 0.8 for c in base], shade)


def coffee_mug(layer: Layer, rng: np.random.Generator) -> None:
    """A straight cup with one ring handle, often with coffee in it."""
    f = layer.frame
    colour = jittered(rng, pick(rng, GLAZES), 0.07)
    top, bottom, width = between(rng, -0.72, -0.58), between(rng, 0.58, 0.72), between(rng, 0.5, 0.6)
    foot = width * between(rng, 0.82, 1.0)
    handle(layer, colour, width * 0.98, 0.05, 0.3, between(rng, 0.34, 0.42), 0.075)
    half = profile(f.v, (top, bottom), (width, foot))
    shape, across = turned(top, bottom, 0.14, f, half)
    shade, shine = glaze(across)
    layer.paint(shape, colour, shade, shine)
    decorate(layer, rng, across, width, colour)
    inside = (0.3, 0.17, 0.09) if happens(rng, 0.7) else tuple(c * 0.7 for c in colour)
    opening(layer, colour, top, width, 0.15, inside)


def pitcher(layer: Layer, rng: np.random.Generator) -> None:
    """Taller than wide: a belly, a neck, a lip to the left and a long handle."""
    f = layer.frame
    colour = jittered(rng, pick(rng, GLAZES), 0.07)
    belly, neck = between(rng, 0.46, 0.56), between(rng, 0.26, 0.34)
    rim = neck + between(rng, 0.02, 0.1)
    loop = np.abs(ellipse(f, neck * 0.9, -0.25, belly * 0.95, 0.5)) - np.float32(0.06)
    layer.paint(np.maximum(loop, -f.u), colour, np.float32(0.8) - f.v * np.float32(0.25))
    lip = polygon(f, [(-rim - 0.3, -0.93), (-rim + 0.2, -0.88), (-neck + 0.12, -0.4), (-neck, -0.45)])
    layer.paint(lip, colour, np.full_like(f.u, 0.9))
    half = profile(f.v, (-0.88, -0.45, 0.3, 0.88), (rim, neck, belly, belly * 0.68))
    shape, across = turned(-0.88, 0.82, 0.1, f, half)
    shade, shine = glaze(across)
    layer.paint(shape, colour, shade, shine)
    decorate(layer, rng, across, belly, colour)
    opening(layer, colour, -0.88, rim, 0.08, tuple(c * 0.55 for c in colour))


def teapot(layer: Layer, rng: np.random.Generator) -> None:
    """A round body with a lid and knob, a spout to the left and a handle to the right."""
    f = layer.frame
    colour = jittered(rng, pick(rng, GLAZES), 0.07)
    rx, ry = between(rng, 0.54, 0.62), between(rng, 0.44, 0.54)
    handle(layer, colour, rx * 0.95, 0.1, 0.3, 0.33, 0.065)
    spout = capsule(f, (-rx * 0.7, 0.25), (-0.9, -0.3), 0.19, 0.075)
    layer.paint(spout, colour, np.float32(0.78) - (f.v + np.float32(0.2)) * np.float32(0.3))
    layer.paint(ellipse(f, -0.935, -0.345, 0.085, 0.055), [c * 0.4 for c in colour])
    body = ellipse(f, 0, 0.15, rx, ry)
    a, b = f.u / np.float32(rx), (f.v - np.float32(0.15)) / np.float32(ry)
    facing = np.sqrt(np.clip(1 - a * a - b * b, 0, 1))
    shade = np.float32(0.4) + np.float32(0.68) * np.clip(
        facing * np.float32(0.7) - a * np.float32(0.42) - b * np.float32(0.5), 0, 1
    )
    glint = np.clip(1 - circle(f, -rx * 0.42, -ry * 0.28, 0.0) * np.float32(6.5), 0, 1) * np.float32(0.6)
    layer.paint(box(f, 0, 0.15 + ry * 0.95, rx * 0.55, 0.07, 0.03), [c * 0.55 for c in colour])
    layer.paint(body, colour, shade, glint)
    decorate(layer, rng, np.clip(a, -1, 1), rx, colour)
    layer.paint(
        ellipse(f, 0, 0.15 - ry * 0.86, rx * 0.52, 0.13), colour, np.float32(0.95) - a * np.float32(0.25)
    )
    layer.mark(
        np.abs(ellipse(f, 0, 0.15 - ry * 0.84, rx * 0.52, 0.13)) - np.float32(0.014),
        [c * 0.45 for c in colour],
    )
    layer.paint(circle(f, 0, 0.15 - ry * 0.86 - 0.19, 0.1), colour, np.float32(1.0) - a * np.float32(0.6))
