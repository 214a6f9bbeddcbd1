"""The scale of a network's input, on the device that the network is on."""

from __future__ import annotations

import torch

from imagenetv2.evaluation.preprocessing import Preprocessing


class Scale:
    """``Preprocessing.scale`` for tensors: the same bits on every device.

    Args:
        preprocessing: divisor, mean and deviation.
        device: where batches will be.
        layout: of the result in memory.
    """

    def __init__(
        self,
        preprocessing: Preprocessing,
        device: torch.device | str = "cpu",
        layout: torch.memory_format = torch.contiguous_format,
    ) -> None:
        def constant(*values: float) -> torch.Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device).view(1, -1, 1, 1)

        self._layout = layout
        # As a tensor of the device: by a plain number a GPU does not divide but multiplies with its inverse.
        self._divisor = constant(preprocessing.divisor)
        self._mean, self._std = constant(*preprocessing.mean), constant(*preprocessing.std)

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        """From n × height × width × 3, uint8, to n × 3 × height × width, float32."""
        # Bytes are laid out anew several times as fast as floating-point numbers.
        planes = batch.permute(0, 3, 1, 2).contiguous(memory_format=self._layout)
        return torch.div(planes, self._divisor).sub_(self._mean).div_(self._std)
