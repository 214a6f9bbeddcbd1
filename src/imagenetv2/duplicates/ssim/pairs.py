"""Structural dissimilarity of single pairs in torch, on any device: the formula of ``exact``, without its early ends.

Window sums of centred pixels stay below 2^31, so that differences of running sums in int32 give them exactly, even
where a running sum wraps around.
"""

from __future__ import annotations

import torch

from imagenetv2.duplicates.ssim.exact import C1, C2
from imagenetv2.duplicates.ssim.windows import CENTRE


def prepared(images: torch.Tensor, window: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What single images contribute: pixels less 128, int8, channels first; sums of them and of squares, int32."""
    pixels = images.bitwise_xor(128).view(torch.int8).permute(0, 3, 1, 2).contiguous()
    wide = pixels.to(torch.int32)
    return pixels, window_sums(wide, window), window_sums(wide * wide, window)


def window_sums(values: torch.Tensor, window: int, axes: tuple[int, int] = (-1, -2)) -> torch.Tensor:
    """Sums over each window that lies inside, along two axes; int32."""
    for axis in axes:
        running = values.cumsum(axis, dtype=torch.int32)
        places = running.shape[axis] - window + 1
        values = running.narrow(axis, window - 1, places).clone()
        values.narrow(axis, 1, places - 1).sub_(running.narrow(axis, 0, places - 1))
    return values


def constants(window: int, device: torch.device) -> torch.Tensor:
    """N, 128 N, c₁ N² and c₂ N (N − 1); float64.

    A tensor, since compilers pass single numbers in float32.
    """
    n = window * window
    return torch.tensor([n, CENTRE * n, C1 * n * n, C2 * n * (n - 1)], dtype=torch.float64, device=device)


def similarity(
    cross: torch.Tensor,
    sx: torch.Tensor,
    sxx: torch.Tensor,
    sy: torch.Tensor,
    syy: torch.Tensor,
    constants: torch.Tensor,
) -> torch.Tensor:
    """Sum over the places of each pair: from sums of products, pairs × …, and what ``prepared`` gives of both."""
    n, shift, c1, c2 = constants.unbind()
    sx, sy = sx.to(torch.float64), sy.to(torch.float64)
    covariance = n * cross - sx * sy
    variances = n * (sxx + syy) - (sx * sx + sy * sy)
    mx, my = sx + shift, sy + shift
    top = (2 * mx * my + c1) * (2 * covariance + c2)
    bottom = (mx * mx + my * my + c1) * (variances + c2)
    return (top / bottom).flatten(1).sum(1)
