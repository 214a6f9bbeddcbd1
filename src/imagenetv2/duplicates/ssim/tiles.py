"""The bound of ``bounds`` for tiles of pairs in torch: block products of all pairs are one batch of matrix products.

Arrays have channels first, then places down and across, then images; in ``cells`` they are in another order.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn.functional import max_pool2d

from imagenetv2.duplicates.ssim.bounds import MARGIN
from imagenetv2.duplicates.ssim.cells import ROUNDING, Grid
from imagenetv2.duplicates.ssim.exact import C2
from imagenetv2.duplicates.ssim.pairs import window_sums
from imagenetv2.duplicates.ssim.windows import CENTRE, CHANNELS

EXACT = 32
"""Side of a block, in bins of one pixel, whose products add up in float32 without rounding: 1,024 · 2^14 = 2^24."""


def statistics(pixels: torch.Tensor, sums: torch.Tensor, squares: torch.Tensor, grid: Grid) -> torch.Tensor:
    """``Cells.statistics`` of images, from what ``pairs.prepared`` gives: images × 6 × channels × cells × cells."""
    n, core = grid.window**2, (grid.cell * grid.across) ** 2
    wide = sums.to(torch.float64)
    deviations = n * squares.to(torch.float64) - wide * wide
    block = _blocks(pixels, grid)
    total, known = (
        window_sums(values.sum((3, 5)).to(torch.int32), grid.across).to(torch.float64)
        for values in (block, block * block)
    )
    known = known / grid.bin**2 - total * total / core
    rest = (_largest(deviations, grid) / n - known).clamp_(min=0) + ROUNDING * n
    out = (
        total / math.sqrt(core),
        known + float(np.float32(C2 * (n - 1) / 2)),
        (2 * rest).sqrt_(),
        (-_largest(-deviations, grid) / n - known).clamp_(min=0),
        -_largest(-wide, grid) / n + CENTRE,
        _largest(wide, grid) / n + CENTRE,
    )
    return torch.stack(out, 1).to(torch.float32)


def constants(grid: Grid, device: torch.device) -> torch.Tensor:
    """The numbers of ``Grid.plan``: float32, a tensor as in ``pairs.constants``."""
    return torch.tensor([float(value) for value in grid.plan[4]], dtype=torch.float32, device=device)


def weights(grid: Grid, device: torch.device) -> torch.Tensor:
    """Windows of each cell: cells × cells × 1 × 1, float32."""
    counts = torch.full((grid.cells,), float(grid.cell), device=device)
    counts[-1] = grid.places - grid.cell * (grid.cells - 1)
    return (counts[:, None] * counts)[:, :, None, None]


def sums_of_products(x: torch.Tensor, y: torch.Tensor, grid: Grid) -> torch.Tensor:
    """Σ_K x y of every pair over bins, exact: channels × cells × cells × images of ``x`` × images of ``y``, int32.

    ``x`` and ``y`` are pixels, images × channels × side × side, int8.
    """
    kind = torch.float32 if grid.cell * grid.bin <= EXACT else torch.float64
    a, b = (
        _blocks(some, grid).permute(1, 2, 4, 0, 3, 5).flatten(4).flatten(0, 2).to(kind) for some in (x, y)
    )
    products = torch.bmm(a, b.transpose(1, 2)).to(torch.int32)
    shape = (CHANNELS, grid.blocks, grid.blocks, len(x), len(y))
    return window_sums(products.view(shape), grid.across, (1, 2))


def similarities(
    products: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    weight: torch.Tensor,
    constants: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Upper bound and estimate of SSIM of every pair, summed over all windows, float64; see ``bounds.similarities``.

    ``x`` and ``y`` are ``statistics`` with images last. Sums are in float64, as the order in which GPUs add is not known.
    """
    scale, growth, c1, c2, floor = constants.unbind()
    mean, known, rest, least, low, high = x.unsqueeze(-1).unbind()
    mean_y, known_y, rest_y, least_y, low_y, high_y = y.unsqueeze(-2).unbind()
    covariance = products.to(torch.float32) * scale - mean * mean_y
    slack = rest * rest_y
    variances = known + known_y
    smallest = least + least_y
    middle = 0.5 * smallest + 0.25 * (rest * rest + rest_y * rest_y)
    m = torch.minimum(high, torch.maximum(low, low_y))
    m_y = torch.maximum(low_y, torch.minimum(high_y, m))
    product = m * m_y
    luminance = weight * (product + product + c1)
    squares = m * m + m_y * m_y + c1
    top = torch.maximum(covariance + covariance + c2 + slack, floor) * luminance
    upper = top / ((variances + torch.maximum(slack, smallest)) * squares)
    likely = (covariance * growth + c2) * luminance / ((variances + middle) * squares)
    every = (0, 1, 2)
    return upper.sum(every, dtype=torch.float64), likely.sum(every, dtype=torch.float64)


def dissimilarities(
    upper: torch.Tensor, likely: torch.Tensor, grid: Grid
) -> tuple[torch.Tensor, torch.Tensor]:
    """Lower bound and estimate of the dissimilarity, float32, from what ``similarities`` gives."""
    windows = CHANNELS * grid.places**2
    lower = ((1.0 - upper / windows - MARGIN) / 2.0).clamp_(min=0)
    return lower.to(torch.float32), ((1.0 - likely / windows) / 2.0).to(torch.float32)


def _blocks(pixels: torch.Tensor, grid: Grid) -> torch.Tensor:
    """Sums over the bins of each block, int32: images × channels × blocks × bins × blocks × bins."""
    start, size = grid.cell - 1, grid.cell * grid.blocks
    inner = pixels[:, :, start : start + size, start : start + size].to(torch.int32)
    if grid.bin == 2:
        inner = inner[:, :, ::2] + inner[:, :, 1::2]
        inner = inner[..., ::2] + inner[..., 1::2]
    many = grid.cell // grid.bin
    return inner.reshape(len(pixels), CHANNELS, grid.blocks, many, grid.blocks, many)


def _largest(values: torch.Tensor, grid: Grid) -> torch.Tensor:
    """Of each cell the largest value of its windows."""
    return max_pool2d(values, grid.cell, ceil_mode=True)
