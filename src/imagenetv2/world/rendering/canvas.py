"""Painting with signed distances.

Every pixel comes from +, −, ×, ÷, square roots and comparisons, which give the same result on every machine;
there is no sine, power, exponential or matrix product here or in the modules that paint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.float32]
"""Height × width, or 3 × height × width for colours."""
Colour = Sequence[float]
INK: Colour = (0.1, 0.09, 0.09)


@dataclass
class Frame:
    """Object coordinates of each pixel: u to the right, v down; ``pixel`` is the size of one pixel in them."""

    u: Plane
    v: Plane
    pixel: float

    def turned(self, cosine: float, sine: float) -> Frame:
        """The frame rotated about its origin."""
        c, s = np.float32(cosine), np.float32(sine)
        return Frame(self.u * c + self.v * s, self.v * c - self.u * s, self.pixel)


Window = tuple[slice, slice]
"""Rows and columns of a picture."""


def window(height: int, width: int, x: float, y: float, reach: float) -> Window:
    """The part of a picture within ``reach`` pixels of (x, y), and at least one pixel."""
    top, left = (min(max(int(at - reach), 0), end - 1) for at, end in ((y, height), (x, width)))
    bottom, right = (
        max(min(int(at + reach) + 1, end), low + 1) for at, end, low in ((y, height, top), (x, width, left))
    )
    return slice(top, bottom), slice(left, right)


def frame(part: Window, x: float, y: float, scale: float, mirrored: bool = False) -> Frame:
    """A frame over part of a picture whose origin is pixel (x, y) and whose unit is ``scale`` pixels."""
    rows, columns = (
        (np.arange(s.start, s.stop, dtype=np.float32) + np.float32(0.5 - at)) / np.float32(scale)
        for s, at in zip(part, (y, x), strict=True)
    )
    if mirrored:
        columns = -columns
    u = np.empty((len(rows), len(columns)), np.float32)
    v = np.empty_like(u)
    u[:], v[:] = columns, rows[:, None]
    return Frame(u, v, 1.0 / scale)


@dataclass
class Layer:
    """Colour and coverage being painted: ``rgb`` 3 × height × width and ``alpha`` height × width, 0 to 1.

    Colours are kept multiplied by the coverage. A drawing has flat colours and ink outlines in place of shading.
    """

    frame: Frame
    drawing: bool = False
    rgb: Plane = field(init=False)
    alpha: Plane = field(init=False)

    def __post_init__(self) -> None:
        self.rgb = np.zeros((3, *self.frame.u.shape), np.float32)
        self.alpha = np.zeros(self.frame.u.shape, np.float32)

    def paint(
        self,
        distance: Plane,
        colour: Colour | Plane,
        shade: Plane | None = None,
        shine: Plane | None = None,
        outline: bool = True,
    ) -> None:
        """Paint where ``distance`` (object units, negative inside) says, shaded by a factor, plus highlights."""
        cover = coverage(distance, self.frame.pixel)
        paint = planes(colour)
        if self.drawing:
            self._over(cover, paint)
            if outline:
                line = np.abs(distance) - np.float32(0.8 * self.frame.pixel)
                self._over(coverage(line, self.frame.pixel), planes(INK))
            return
        if shade is not None:
            paint = paint * shade
        if shine is not None:
            paint = paint + shine
        self._over(cover, paint)

    def mark(self, distance: Plane, colour: Colour | Plane, shade: Plane | None = None) -> None:
        """Paint a detail upon what is painted already: it does not reach beyond, and has no outline."""
        paint = planes(colour)
        if shade is not None and not self.drawing:
            paint = paint * shade
        self.rgb += (paint * self.alpha - self.rgb) * coverage(distance, self.frame.pixel)

    def _over(self, cover: Plane, paint: Plane) -> None:
        self.rgb += (paint - self.rgb) * cover
        self.alpha += (1 - self.alpha) * cover

    def onto(self, picture: Plane) -> None:
        """Lay it over a picture, 3 × height × width, in place."""
        picture *= 1 - self.alpha
        picture += self.rgb


def planes(colour: Colour | Plane) -> Plane:
    """A colour as 3 × 1 × 1; planes stay as they are."""
    paint = np.asarray(colour, np.float32)
    return paint.reshape(3, 1, 1) if paint.ndim == 1 else paint


def coverage(distance: Plane, pixel: float) -> Plane:
    """Share of each pixel that lies inside, from its signed distance."""
    covered: Plane = np.clip(np.float32(0.5) - distance * np.float32(1 / pixel), 0, 1)
    return covered


def ramp(values: Plane, low: float, high: float) -> Plane:
    """0 below ``low``, 1 above ``high``, smooth between (a cubic)."""
    t: Plane = np.clip((values - np.float32(low)) / np.float32(high - low), 0, 1)
    risen: Plane = t * t * (3 - 2 * t)
    return risen


def circle(f: Frame, x: float, y: float, radius: float) -> Plane:
    """Distance from a disc."""
    a, b = f.u - np.float32(x), f.v - np.float32(y)
    away: Plane = np.sqrt(a * a + b * b) - np.float32(radius)
    return away


def ellipse(f: Frame, x: float, y: float, rx: float, ry: float) -> Plane:
    """Distance from an ellipse along its axes, to first order at its edge."""
    a, b = (f.u - np.float32(x)) / np.float32(rx), (f.v - np.float32(y)) / np.float32(ry)
    k = np.sqrt(a * a + b * b) + np.float32(1e-6)
    slope = np.sqrt(a * a / np.float32(rx * rx) + b * b / np.float32(ry * ry)) + np.float32(1e-6)
    away: Plane = k * (k - 1) / slope
    return away


def box(f: Frame, x: float, y: float, half_width: float, half_height: float, radius: float = 0.0) -> Plane:
    """Distance from a rectangle with rounded corners."""
    a = np.abs(f.u - np.float32(x)) - np.float32(half_width - radius)
    b = np.abs(f.v - np.float32(y)) - np.float32(half_height - radius)
    outside_a, outside_b = np.maximum(a, 0), np.maximum(b, 0)
    out = np.sqrt(outside_a * outside_a + outside_b * outside_b)
    away: Plane = out + np.minimum(np.maximum(a, b), 0) - np.float32(radius)
    return away


def capsule(f: Frame, a: tuple[float, float], b: tuple[float, float], ra: float, rb: float) -> Plane:
    """Distance from a rod that widens from radius ``ra`` at ``a`` to ``rb`` at ``b``."""
    du, dv = b[0] - a[0], b[1] - a[1]
    pu, pv = f.u - np.float32(a[0]), f.v - np.float32(a[1])
    t: Plane = np.clip((pu * np.float32(du) + pv * np.float32(dv)) / np.float32(du * du + dv * dv), 0, 1)
    x, y = pu - t * np.float32(du), pv - t * np.float32(dv)
    away: Plane = np.sqrt(x * x + y * y) - (np.float32(ra) + t * np.float32(rb - ra))
    return away


def polygon(f: Frame, points: Sequence[tuple[float, float]], radius: float = 0.0) -> Plane:
    """Distance from a convex polygon, corners clockwise as seen (v points down)."""
    worst: Plane = np.full_like(f.u, -np.inf)
    for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
        du, dv = x1 - x0, y1 - y0
        length = math.sqrt(du * du + dv * dv)
        across, along = np.float32(dv / length), np.float32(du / length)
        edge: Plane = (f.u - np.float32(x0)) * across - (f.v - np.float32(y0)) * along
        worst = np.maximum(worst, edge)
    away: Plane = worst - np.float32(radius)
    return away
