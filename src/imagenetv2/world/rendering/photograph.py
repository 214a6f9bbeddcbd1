"""From a scene to the pixels of a photograph of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from imagenetv2.images import Pixels
from imagenetv2.randomness import generator
from imagenetv2.world.rendering import places
from imagenetv2.world.rendering.canvas import Frame, Layer, ellipse, frame, planes, ramp, window
from imagenetv2.world.rendering.chance import between, degrees, happens, pick
from imagenetv2.world.rendering.difficulty import Factors
from imagenetv2.world.rendering.objects import KINDS
from imagenetv2.world.rendering.places import RGB

MARGIN = 4
"""Pixels rendered beyond each edge, so that shots of one scene can be framed differently."""
SHAPES = (0.75, 1.0, 1.0, 1.25, 1.33, 1.33, 1.33, 1.5)
"""Widths of photographs by their heights."""
HAZES = ((0.78, 0.8, 0.83), (0.06, 0.06, 0.09), (0.5, 0.47, 0.42))
"""Fog, dusk, dust: what an image of low contrast fades into."""


@dataclass(frozen=True)
class Scene:
    """What stands before the camera. ``key`` seeds its looks; ``shown`` is a WordNet ID or None for nothing."""

    key: str
    shown: str | None
    factors: Factors
    drawing: bool = False


@dataclass(frozen=True)
class Shot:
    """One photograph of a scene: how far the frame is moved, in pixels, how bright, and which noise."""

    right: int = 0
    down: int = 0
    gain: float = 1.0
    take: int = 0


def photograph(scene: Scene, shot: Shot, side: int, seed: int) -> Pixels:
    """Render: height ``side``, width by the scene. Equal arguments give equal pixels on every machine."""
    rng = generator(seed, "scene", scene.key)
    width = int(side * pick(rng, SHAPES)) + 2 * MARGIN
    height = side + 2 * MARGIN
    rgb = _composed(scene, rng, height, width, side)
    top, left = MARGIN + shot.down, MARGIN + shot.right
    rgb = rgb[:, top : top + side, left : left + width - 2 * MARGIN]
    return _developed(rgb, scene, shot, rng, generator(seed, "shot", scene.key, shot.take))


def _composed(scene: Scene, rng: np.random.Generator, height: int, width: int, side: int) -> RGB:
    f = scene.factors
    place = pick(
        rng, KINDS[scene.shown].places if scene.shown else ("table", "wall", "cloth", "grass", "road")
    )
    if scene.drawing:
        return _drawn(scene, rng, places.paper(rng, height, width), side)
    rgb, horizon = places.background(place, rng, height, width)
    _clutter(rgb, rng, f.clutter, horizon, side)
    if scene.shown is None:
        _clutter(rgb, rng, 1.0, horizon, side)
        return rgb
    return _drawn(scene, rng, rgb, side)


def _drawn(scene: Scene, rng: np.random.Generator, rgb: RGB, side: int) -> RGB:
    """The object upon the scene, with its shadow and what hides part of it."""
    assert scene.shown is not None
    height, width = rgb.shape[1:]
    kind, f = KINDS[scene.shown], scene.factors
    scale = min(side * kind.reach, (width - 2 * MARGIN) * 0.5) * (0.97 - 0.68 * f.size)
    slack_x = max(0.0, (width - 2 * MARGIN) / 2 - scale) * (0.35 + 0.6 * f.size)
    slack_y = max(0.0, side / 2 - scale) * (0.3 + 0.6 * f.size)
    x = width / 2 + between(rng, -slack_x, slack_x)
    y = height / 2 + between(rng, -0.4 * slack_y, slack_y)
    part = window(height, width, x, y, scale * 1.35)
    upright = frame(part, x, y, scale, mirrored=happens(rng, 0.5))
    layer = Layer(upright.turned(*degrees(rng, 7)), scene.drawing)
    kind.paint(layer, rng)
    seen = rgb[:, part[0], part[1]]
    if not scene.drawing:
        seen *= 1 - ramp(-ellipse(upright, 0.12, kind.floor, 0.95, 0.2), -0.18, 0.1) * np.float32(0.5)
    layer.onto(seen)
    share = 0.76 * f.occlusion - 0.06
    if share > 0.05 and not scene.drawing:
        around = Frame(upright.u, upright.v * np.float32(0.85 / kind.floor), upright.pixel)
        places.in_the_way(rng, around, share).onto(seen)
    return rgb


def _clutter(rgb: RGB, rng: np.random.Generator, amount: float, horizon: float, side: int) -> None:
    """Paint other things upon the background, more and larger ones with the amount."""
    height, width = rgb.shape[1:]
    for _ in range(int(amount * 7 + 0.3)):
        scale = side * between(rng, 0.08, 0.14 + 0.12 * amount)
        x, y = between(rng, 0, width), height * between(rng, max(0.25, horizon), 0.95)
        part = window(height, width, x, y, scale * 1.5)
        layer = Layer(frame(part, x, y, scale).turned(*degrees(rng, 15)))
        places.thing(layer, rng)
        layer.onto(rgb[:, part[0], part[1]])


def _developed(
    rgb: RGB, scene: Scene, shot: Shot, rng: np.random.Generator, noise: np.random.Generator
) -> Pixels:
    """Light, haze or dusk, blur, noise; height × width × 3."""
    f = scene.factors
    height, width = rgb.shape[1:]
    amount = 1.5
    if not scene.drawing:
        warmth, light = between(rng, -0.08, 0.08), between(rng, 0.85, 1.1)
        rgb = rgb * planes([light * (1 + warmth), light, light * (1 - warmth)])
        lost = np.float32(0.9 * f.contrast * (0.42 + 0.58 * f.contrast))
        rgb += (planes(pick(rng, HAZES)) - rgb) * lost
        amount = 2.5 + 5.0 * f.contrast + 15.0 * f.contrast * f.contrast
    exposed = np.clip(rgb * np.float32(255 * shot.gain), 0, 255) + np.float32(0.5)
    image = Image.fromarray(np.ascontiguousarray(exposed.astype(np.uint8).transpose(1, 2, 0)))
    radius = 3.6 * f.blur * f.blur * height / 80
    if radius > 0.15 and not scene.drawing:
        image = image.filter(ImageFilter.BoxBlur(radius)).filter(ImageFilter.BoxBlur(radius))
    noisy = np.asarray(image, np.float32).transpose(2, 0, 1) + places.grain(noise, (height, width), amount)
    pixels: Pixels = (np.clip(noisy, 0, 255) + np.float32(0.49)).astype(np.uint8).transpose(1, 2, 0).copy()
    return pixels
