"""Products and squared distances of 8-bit images on a GPU's integer matrix units, exact.

Values are centred at 128. A product is at most 2^14 in size, so that 98,304 of them stay within 32 bits; longer rows
are cut, and the parts added in 64 bits.
"""

from __future__ import annotations

import torch
from torch.nn.functional import pad

PART = 98_304
"""Values of a partial sum; a multiple of 16, so that every part begins where the matrix units read."""
ROWS, COLUMNS, VALUES = 32, 8, 16
"""A product's sizes are multiples of these, with at least so many rows."""


def centred(images: torch.Tensor) -> torch.Tensor:
    """uint8 images × … as int8 rows, less 128, with zeros up to a multiple of ``VALUES``."""
    flat = images.reshape(len(images), -1).bitwise_xor(128).view(torch.int8)
    return pad(flat, (0, -flat.shape[1] % VALUES))


def norms(x: torch.Tensor) -> torch.Tensor:
    """Σ x² of int8 rows, int64."""
    wide = x.to(torch.int16)
    return wide.mul_(wide).sum(1, dtype=torch.int64)


def products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Σ x y of every pair of int8 rows: rows of ``x`` × rows of ``y``, int64."""
    rows, columns = len(x), len(y)
    x, y = _filled(x, ROWS, VALUES), _filled(y, COLUMNS, VALUES)
    total = torch.zeros((len(x), len(y)), dtype=torch.int64, device=x.device)
    for start in range(0, x.shape[1], PART):
        total += _int32(x[:, start : start + PART], y[:, start : start + PART])
    return total[:rows, :columns]


def dense_distances(x: torch.Tensor, y: torch.Tensor, x2: torch.Tensor, y2: torch.Tensor) -> torch.Tensor:
    """Σ (x − y)² of every pair of int8 rows, whose ``norms`` are ``x2`` and ``y2``; int64."""
    return products(x, y).mul_(-2).add_(x2[:, None]).add_(y2[None, :])


def paired_distances(x: torch.Tensor, y: torch.Tensor, x2: torch.Tensor, y2: torch.Tensor) -> torch.Tensor:
    """Σ (x − y)² of row i of one with row i of the other, int64."""
    return x2 + y2 - 2 * x.to(torch.int16).mul_(y).sum(1, dtype=torch.int64)


def _filled(x: torch.Tensor, rows: int, values: int) -> torch.Tensor:
    down, across = -len(x) % rows, -x.shape[1] % values
    return pad(x, (0, across, 0, down)) if down or across else x


def _int32(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.is_cuda:
        return torch._int_mm(x, y.T)
    # Processors without instructions for it may saturate int8 products; float64 holds these sums exactly.
    return (x.to(torch.float64) @ y.to(torch.float64).T).to(torch.int32)
