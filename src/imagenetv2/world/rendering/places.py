"""Backgrounds, things that stand about, and things that stand in the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from imagenetv2.world.rendering.canvas import Frame, Layer, Plane, box, capsule, ellipse, planes, ramp
from imagenetv2.world.rendering.chance import DIRECTIONS, bell, between, happens, jittered, pick

RGB = npt.NDArray[np.float32]
WALLS = ((0.78, 0.74, 0.66), (0.6, 0.68, 0.72), (0.82, 0.8, 0.78), (0.52, 0.56, 0.48), (0.7, 0.55, 0.47))
WOODS = ((0.55, 0.38, 0.23), (0.42, 0.28, 0.18), (0.7, 0.54, 0.36), (0.33, 0.27, 0.24), (0.72, 0.7, 0.66))
CLOTHS = ((0.72, 0.3, 0.28), (0.85, 0.84, 0.8), (0.28, 0.4, 0.56), (0.36, 0.5, 0.36), (0.3, 0.28, 0.34))


def clouds(rng: np.random.Generator, height: int, width: int, rows: int, columns: int) -> Plane:
    """Smooth noise of mean 0 within ±1: a coarse grid of random greys, enlarged by Pillow in integers."""
    grid = Image.fromarray(rng.integers(0, 256, size=(rows, columns), dtype=np.uint8))
    large = np.asarray(grid.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    return large / np.float32(127.5) - 1


def _plain(colour: Sequence[float], shape: tuple[int, int]) -> RGB:
    out = np.empty((3, *shape), np.float32)
    out[:] = planes(colour)
    return out


def background(place: str, rng: np.random.Generator, height: int, width: int) -> tuple[RGB, float]:
    """The empty scene and the row of its horizon or table edge, as a share of the height."""
    shape = (height, width)
    rows: Plane = ((np.arange(height, dtype=np.float32) + np.float32(0.5)) / np.float32(height))[:, None]
    horizon = between(rng, 0.3, 0.55)
    if place == "cloth":
        return _cloth(rng, shape), 0.0
    below = ramp(rows, horizon - 0.006, horizon + 0.006)
    if place in ("table", "wall"):
        upper = _plain(jittered(rng, pick(rng, WALLS), 0.07), shape)
        upper *= 1 + clouds(rng, height, width, 3, 4) * np.float32(0.1)
        lower = _plain(jittered(rng, pick(rng, WOODS), 0.05), shape)
        grain = clouds(rng, height, width, max(2, height // 3), 3) * np.float32(0.13)
        lower *= 1 + grain + (rows - 1) * np.float32(0.25)
        if place == "wall":
            _pictures(rng, upper)
    else:
        upper = _sky(rng, rows, shape)
        lower = _ground(place, rng, rows, shape, horizon)
    return upper + (lower - upper) * below, horizon


def _sky(rng: np.random.Generator, rows: Plane, shape: tuple[int, int]) -> RGB:
    sky = _plain(jittered(rng, (0.56, 0.7, 0.86), 0.08), shape)
    sky += rows * np.float32(0.35)
    cover = ramp(clouds(rng, *shape, 5, 4), 0.05, 0.8) * np.float32(0.6)
    sky += (np.float32(0.95) - sky) * cover
    if happens(rng, 0.6):
        trees = clouds(rng, *shape, 2, 9) * np.float32(0.1) + clouds(rng, *shape, 2, 24) * np.float32(0.04)
        edge = ramp(rows - np.float32(between(rng, 0.18, 0.3)) + trees, -0.01, 0.01)
        leaves = _plain(jittered(rng, (0.2, 0.32, 0.17), 0.06), shape)
        leaves *= 1 + clouds(rng, *shape, shape[0] // 4, shape[1] // 4) * np.float32(0.4)
        sky += (leaves - sky) * edge
    return sky


def _ground(place: str, rng: np.random.Generator, rows: Plane, shape: tuple[int, int], horizon: float) -> RGB:
    height, width = shape
    if place == "grass":
        lower = _plain(jittered(rng, (0.33, 0.5, 0.2), 0.06), shape)
        blades = clouds(rng, height, width, height // 2, width) * np.float32(0.28)
        lower *= 1 + blades + clouds(rng, height, width, 5, 4) * np.float32(0.15)
    elif place == "court":
        lower = _plain(
            jittered(rng, pick(rng, ((0.68, 0.45, 0.3), (0.3, 0.42, 0.5), (0.6, 0.6, 0.58))), 0.05), shape
        )
        lower *= 1 + clouds(rng, height, width, height // 2, width // 2) * np.float32(0.07)
        line = np.float32(between(rng, horizon + 0.1, 0.95))
        stripe = ramp(np.float32(0.02) - np.abs(rows - line), -0.008, 0.008)
        lower += (np.float32(0.9) - lower) * stripe
    else:
        lower = _plain(jittered(rng, (0.4, 0.4, 0.42), 0.05), shape)
        lower *= 1 + clouds(rng, height, width, height // 2, width // 2) * np.float32(0.12)
        kerb = ramp(np.float32(0.02) - np.abs(rows - np.float32(horizon + 0.04)), -0.008, 0.008)
        lower += (np.float32(0.68) - lower) * kerb
    return lower


def _cloth(rng: np.random.Generator, shape: tuple[int, int]) -> RGB:
    height, width = shape
    cloth = _plain(jittered(rng, pick(rng, CLOTHS), 0.06), shape)
    folds = clouds(rng, height, width, 3, 5) * np.float32(0.16)
    if happens(rng, 0.5):
        step = int(rng.integers(5, 10))
        ys, xs = np.arange(height) // step % 2, np.arange(width) // step % 2
        folds = folds + (ys[:, None] + xs[None, :] - 1).astype(np.float32) * np.float32(0.14)
    cloth *= 1 + folds
    return cloth


def _pictures(rng: np.random.Generator, upper: RGB) -> None:
    height, width = upper.shape[1:]
    for _ in range(int(rng.integers(1, 3))):
        w, h = int(rng.integers(width // 8, width // 4)), int(rng.integers(height // 8, height // 4))
        x, y = int(rng.integers(0, width - w)), int(rng.integers(0, height // 3))
        upper[:, y : y + h, x : x + w] = planes(pick(rng, CLOTHS)) * np.float32(0.7)
        upper[:, y + 2 : y + h - 2, x + 2 : x + w - 2] = planes(jittered(rng, pick(rng, WALLS), 0.1))


def paper(rng: np.random.Generator, height: int, width: int) -> RGB:
    """What a drawing is on."""
    tone = jittered(rng, (0.95, 0.94, 0.9), 0.04)
    return _plain(tone, (height, width)) + (clouds(rng, height, width, 6, 6) * np.float32(0.015))


def thing(layer: Layer, rng: np.random.Generator) -> None:
    """Some object that is none of the classes, within the unit square: a book, a bottle, a pebble, a post."""
    f = layer.frame
    colour = jittered(rng, pick(rng, (*CLOTHS, *WOODS, *WALLS)), 0.12)
    shade = np.float32(0.85) - f.u * np.float32(0.25) - f.v * np.float32(0.15)
    kind = int(rng.integers(4))
    if kind == 0:
        layer.paint(box(f, 0, 0, between(rng, 0.4, 0.9), between(rng, 0.3, 0.8), 0.05), colour, shade)
        layer.mark(
            np.abs(f.v - np.float32(between(rng, -0.2, 0.2))) - np.float32(0.06), [c * 0.6 for c in colour]
        )
    elif kind == 1:
        width = between(rng, 0.22, 0.34)
        layer.paint(capsule(f, (0, -0.8), (0, -0.2), width * 0.4, width * 0.45), colour, shade)
        layer.paint(box(f, 0, 0.3, width, 0.6, 0.15), colour, shade)
    elif kind == 2:
        layer.paint(ellipse(f, 0, 0.2, between(rng, 0.5, 0.9), between(rng, 0.35, 0.6)), colour, shade)
    else:
        c, s = DIRECTIONS[int(rng.integers(60, 121))]
        layer.paint(capsule(f, (-c, -s), (c, s), 0.14, 0.18), colour, shade)


def in_the_way(rng: np.random.Generator, around: Frame, share: float) -> Layer:
    """Something before the object that hides about that share of the unit square."""
    hidden = Layer(around)
    colour = jittered(rng, pick(rng, (*CLOTHS, *WOODS, (0.2, 0.36, 0.16), (0.16, 0.16, 0.18))), 0.08)
    height, width = around.u.shape
    weave = 1 + clouds(rng, height, width, height // 3 + 1, width // 3 + 1) * np.float32(0.22)
    shade = weave - around.u * np.float32(0.1)
    kind = int(rng.integers(4))
    reach = np.float32(1 - 2 * share)
    # It ends a little beyond the object, so that the scene about it stays in sight.
    near = box(around, 0, 0, 1.2, 1.2, 0.2)
    if kind == 0:
        shape = reach - around.v
    elif kind == 1:
        shape = reach - around.u * np.float32(pick(rng, (-1.0, 1.0)))
    elif kind == 2:
        shape = np.abs(around.u - np.float32(between(rng, -0.3, 0.3))) - np.float32(share * 0.95)
    else:
        c, s = DIRECTIONS[int(rng.integers(360))]
        size = float(np.sqrt(share)) * 1.05
        shape = ellipse(around, c * 0.55, s * 0.5 + 0.1, size * 1.1, size)
    hidden.paint(np.maximum(shape, near), colour, shade)
    return hidden


def grain(rng: np.random.Generator, shape: tuple[int, int], amount: float) -> RGB:
    """Noise of a sensor, part grey and part coloured, 3 × height × width."""
    grey = bell(rng, shape) * np.float32(0.8)
    return (grey + bell(rng, (3, *shape)) * np.float32(0.5)) * np.float32(amount)
