"""Basketball, soccer ball, tennis ball: one globe, three patterns upon it."""

from __future__ import annotations

import numpy as np

from imagenetv2.world.rendering.canvas import Layer, Plane
from imagenetv2.world.rendering.chance import DIRECTIONS, bell, between, jittered, pick
from imagenetv2.world.rendering.fruit import ball_light

GOLDEN = 1.618034


def globe(
    layer: Layer, rng: np.random.Generator, radius: float
) -> tuple[Plane, Plane, Plane, Plane, Plane, Plane]:
    """Distance, shade, highlight and the three coordinates of a ball that lies turned at random."""
    f = layer.frame
    a, b = f.u / np.float32(radius), f.v / np.float32(radius)
    depth, shade, glint = ball_light(a, b)
    x, y, z = a, b, depth
    for _ in range(2):
        c, s = (np.float32(d) for d in DIRECTIONS[int(rng.integers(360))])
        x, y = x * c - y * s, x * s + y * c
        c, s = (np.float32(d) for d in DIRECTIONS[int(rng.integers(360))])
        y, z = y * c - z * s, y * s + z * c
    return (np.sqrt(a * a + b * b) - 1) * np.float32(radius), shade, glint, x, y, z


def basketball(layer: Layer, rng: np.random.Generator) -> None:
    """Pebbled orange-brown leather with dark seams: two great circles and two small ones."""
    radius = between(rng, 0.8, 0.9)
    shape, shade, glint, x, y, _ = globe(layer, rng, radius)
    grain = 1 + bell(rng, x.shape) * np.float32(0.05)
    leather = jittered(rng, (0.8, 0.4, 0.15), 0.06)
    layer.paint(shape, leather, shade * grain, glint * np.float32(0.3))
    seam = np.minimum(np.abs(x), np.abs(y))
    bow = np.abs(np.abs(x) - np.float32(0.42) - y * y * np.float32(0.35))
    width = max(0.03, layer.frame.pixel * 0.6)
    layer.mark((np.minimum(seam, bow) - np.float32(width)) * np.float32(radius), (0.13, 0.08, 0.06))


def tennis_ball(layer: Layer, rng: np.random.Generator) -> None:
    """Yellow-green felt with one pale seam that winds round the ball."""
    radius = between(rng, 0.8, 0.9)
    shape, shade, _, x, y, z = globe(layer, rng, radius)
    felt = 1 + bell(rng, x.shape) * np.float32(0.08)
    layer.paint(shape, jittered(rng, (0.8, 0.9, 0.25), 0.05), shade * felt)
    winding = x * x - y * y - z * np.float32(0.85)
    gx, gy = x * 2, y * -2
    slope = np.sqrt(gx * gx + gy * gy + np.float32(0.72)) + np.float32(1e-3)
    width = max(0.05, layer.frame.pixel * 0.7)
    layer.mark((np.abs(winding) / slope - np.float32(width)) * np.float32(radius), (0.96, 0.97, 0.9), shade)


def soccer_ball(layer: Layer, rng: np.random.Generator) -> None:
    """White hexagons, dark pentagons."""
    f, radius = layer.frame, between(rng, 0.8, 0.9)
    shape, shade, glint, x, y, z = globe(layer, rng, radius)
    layer.paint(shape, jittered(rng, (0.93, 0.93, 0.91), 0.04), shade, glint * np.float32(0.2))
    inside = shape < f.pixel
    pent, hexa = _panels(x[inside], y[inside], z[inside])
    dark = np.full(x.shape, 1.0, np.float32)
    dark[inside] = (hexa[:, -1] - pent + np.float32(0.004)) * np.float32(1.2)
    seam = np.full(x.shape, 1.0, np.float32)
    seam[inside] = (hexa[:, -1] - hexa[:, -2]) * np.float32(0.75) - np.float32(0.028)
    layer.mark(seam * np.float32(radius), (0.35, 0.35, 0.36), shade)
    ink = pick(rng, ((0.07, 0.07, 0.08), (0.07, 0.07, 0.08), (0.12, 0.17, 0.45), (0.6, 0.1, 0.1)))
    layer.mark(dark * np.float32(radius), ink, shade + np.float32(0.15))


def _panels(x: Plane, y: Plane, z: Plane) -> tuple[Plane, Plane]:
    """Nearness to the nearest pentagon's centre, and to the two nearest hexagons' (ascending)."""
    n = float(np.sqrt(1 + GOLDEN * GOLDEN))
    pent = np.full(x.shape, -1.0, np.float32)
    for i in (-1 / n, 1 / n):
        for j in (-GOLDEN / n, GOLDEN / n):
            i32, j32 = np.float32(i), np.float32(j)
            for d in (y * i32 + z * j32, x * i32 + y * j32, z * i32 + x * j32):
                pent = np.maximum(pent, d)
    t = float(np.sqrt(3.0))
    p, q, r = (np.float32(w / t) for w in (1.0, 1 / GOLDEN, GOLDEN))
    rows = [x * (p * i) + y * (p * j) + z * (p * k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    for i in (-1, 1):
        for j in (-1, 1):
            rows += [y * (q * i) + z * (r * j), x * (q * i) + y * (r * j), z * (q * i) + x * (r * j)]
    return pent, np.partition(np.stack(rows, axis=1), -2, axis=1)[:, -2:]
