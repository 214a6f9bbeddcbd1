"""Granny Smith, orange, lemon: round, bright, and alike when the colour is gone."""

from __future__ import annotations

import numpy as np

from imagenetv2.world.rendering.canvas import (
    Colour,
    Frame,
    Layer,
    Plane,
    capsule,
    circle,
    ellipse,
    planes,
    ramp,
)
from imagenetv2.world.rendering.chance import DIRECTIONS, bell, between, happens, jittered


def ball_light(a: Plane, b: Plane) -> tuple[Plane, Plane, Plane]:
    """Depth, shade and highlight of a ball whose disc is a² + b² ≤ 1, lit from the upper left."""
    depth = np.sqrt(np.clip(1 - a * a - b * b, 0, 1))
    lit = depth * np.float32(0.68) - a * np.float32(0.45) - b * np.float32(0.57)
    shade = np.float32(0.36) + np.float32(0.74) * np.clip(lit, 0, 1)
    glint = ramp(lit, 0.93, 1.0)
    return depth, shade, glint


def leaf(layer: Layer, x: float, y: float, turn: tuple[float, float], length: float) -> None:
    """A pointed leaf that starts at (x, y)."""
    f = layer.frame
    own = Frame(f.u - np.float32(x), f.v - np.float32(y), f.pixel).turned(*turn)
    half = np.float32(length / 2)
    t = np.clip((own.u - half) / half, -1, 1)
    width = np.float32(length * 0.26) * (1 - t * t)
    blade = np.maximum(np.abs(own.v) - width, np.abs(own.u - half) - half)
    layer.paint(blade, (0.2, 0.42, 0.14), np.float32(0.85) + own.v / np.float32(length) * 2)
    layer.mark(np.maximum(np.abs(own.v) - np.float32(0.012), blade), (0.5, 0.65, 0.35))


def stem(layer: Layer, lean: float, top: float) -> None:
    """A short brown stem."""
    layer.paint(capsule(layer.frame, (0.0, -0.62), (lean, top), 0.035, 0.05), (0.33, 0.22, 0.12))


def granny_smith(layer: Layer, rng: np.random.Generator) -> None:
    """A green apple: shoulders, a hollow with the stem, pale speckles, at times a blush or a leaf."""
    f = layer.frame
    wide, tall = between(rng, 0.76, 0.86), between(rng, 0.7, 0.8)
    narrowing = 1 - np.clip(f.v, -1, 1) * np.float32(between(rng, 0.06, 0.15))
    a, b = f.u / (np.float32(wide) * narrowing), (f.v - np.float32(0.06)) / np.float32(tall)
    dent = np.clip(1 - np.abs(f.u) / np.float32(0.36), 0, 1)
    top = np.float32(0.06 - tall) + dent * dent * np.float32(0.2)
    shape = np.maximum((np.sqrt(a * a + b * b) - 1) * np.float32(tall), top - f.v)
    _, shade, glint = ball_light(np.clip(a, -1, 1), np.clip(b, -1, 1))
    speckle = (bell(rng, f.u.shape) > np.float32(2.1)).astype(np.float32) * np.float32(0.13)
    colour = planes(jittered(rng, (0.5, 0.72, 0.17), 0.06)) + speckle
    if happens(rng, 0.35):
        blush = ramp(a - b * np.float32(0.3), 0.1, 1.1) * np.float32(0.6)
        colour += (planes((0.75, 0.42, 0.2)) - colour) * blush
    hollow = ramp(-ellipse(f, 0, -0.6, 0.4, 0.2), -0.02, 0.2) * np.float32(0.5)
    layer.paint(shape, colour, shade * (1 - hollow), glint * np.float32(0.55))
    lean = between(rng, -0.16, 0.16)
    stem(layer, lean, -0.9)
    if happens(rng, 0.4):
        leaf(layer, lean * 0.5, -0.78, DIRECTIONS[int(rng.integers(325, 360))], 0.5)


def orange(layer: Layer, rng: np.random.Generator) -> None:
    """A dimpled orange globe with a green button, at times with a leaf, at times cut open."""
    f = layer.frame
    squash = between(rng, 0.93, 1.0)
    radius = between(rng, 0.74, 0.84)
    a, b = f.u / np.float32(radius), f.v / np.float32(radius * squash)
    if happens(rng, 0.25):
        _cut(layer, rng, a, b, radius)
        return
    _, shade, glint = ball_light(a, b)
    dimples = bell(rng, f.u.shape) * np.float32(0.055)
    colour = jittered(rng, (0.95, 0.53, 0.08), 0.05)
    layer.paint(
        (np.sqrt(a * a + b * b) - 1) * np.float32(radius),
        colour,
        shade * (1 + dimples),
        glint * np.float32(0.4),
    )
    x, y = between(rng, -0.3, 0.3), between(rng, -0.6, -0.3)
    for turn in range(0, 360, 72):
        c, s = DIRECTIONS[turn]
        layer.mark(capsule(f, (x, y), (x + c * 0.1, y + s * 0.07), 0.045, 0.012), (0.33, 0.42, 0.14))
    layer.mark(circle(f, x, y, 0.035), (0.5, 0.42, 0.25))
    if happens(rng, 0.35):
        leaf(layer, x, y, DIRECTIONS[int(rng.integers(300, 360))], 0.55)


def _cut(layer: Layer, rng: np.random.Generator, a: Plane, b: Plane, radius: float) -> None:
    """The cut face: rind, pith and segments."""
    f = layer.frame
    rind: Colour = jittered(rng, (0.93, 0.52, 0.09), 0.04)
    far = np.sqrt(a * a + b * b)
    light = np.float32(0.95) - b * np.float32(0.12)
    layer.paint((far - 1) * np.float32(radius), rind, light)
    layer.mark((far - np.float32(0.92)) * np.float32(radius), (0.97, 0.9, 0.72), light)
    pulp = (far - np.float32(0.84)) * np.float32(radius)
    walls = np.full_like(a, 9.0)
    for turn in range(int(rng.integers(18)), 180, 18):
        c, s = DIRECTIONS[turn]
        walls = np.minimum(walls, np.abs(a * np.float32(s) - b * np.float32(c)))
    grain = 1 + bell(rng, f.u.shape) * np.float32(0.05)
    juicy = np.maximum(pulp, np.float32(0.022) - walls * np.float32(radius))
    layer.mark(juicy, jittered(rng, (0.97, 0.6, 0.13), 0.03), light * grain)
    layer.mark((far - np.float32(0.09)) * np.float32(radius), (0.97, 0.9, 0.72), light)


def lemon(layer: Layer, rng: np.random.Generator) -> None:
    """A yellow oval with a nipple at each end, lying at any angle."""
    f = layer.frame
    tilt = int(rng.integers(-50, 51)) % 360
    own = f.turned(*DIRECTIONS[tilt])
    long, wide = between(rng, 0.76, 0.82), between(rng, 0.54, 0.62)
    body = ellipse(own, 0, 0, long, wide)
    tip = ellipse(own, long * 0.9, 0, 0.24, 0.17)
    tail = ellipse(own, -long * 0.92, 0, 0.19, 0.12)
    shape = _joined(_joined(body, tip), tail)
    _, shade, glint = ball_light(f.u / np.float32(long), f.v / np.float32(wide + 0.08))
    dimples = 1 + bell(rng, f.u.shape) * np.float32(0.035)
    colour = jittered(rng, (0.97, 0.84, 0.16), 0.05)
    shade = np.clip(shade, np.float32(0.5), 2)
    layer.paint(shape, colour, shade * dimples, glint * np.float32(0.5))
    layer.mark(ellipse(own, -long * 1.04, 0, 0.05, 0.05), (0.45, 0.42, 0.16))
    if happens(rng, 0.25):
        c, s = DIRECTIONS[tilt]
        leaf(layer, -long * c, -long * s, DIRECTIONS[int(rng.integers(220, 300))], 0.5)


def _joined(a: Plane, b: Plane) -> Plane:
    """Union of two shapes with a soft crease (a quadratic blend)."""
    k = np.float32(0.14)
    h = np.maximum(k - np.abs(a - b), 0) / k
    joined: Plane = np.minimum(a, b) - h * h * k * np.float32(0.25)
    return joined
