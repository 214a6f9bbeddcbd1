"""A timm network trained from random weights on the training split."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.network import Network, seeded
from imagenetv2.evaluation.kinds.scaling import Scale
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import timm_network
from imagenetv2.networks.named import Fields
from imagenetv2.networks.reproducible import reproducible
from imagenetv2.progress import progress

BATCH = 64
DECAY = 0.05
SMOOTHING = 0.1
SHIFT = 8
"""Training images are shifted by up to 1/8 of the side."""


def train(model: Model, training: Training) -> Fitted:
    """AdamW under a one-cycle learning rate, with flips and small shifts.

    On one thread whatever the machine has, so that the weights do not depend on the number of cores.
    """
    timm_network.known(model.architecture, Fields.of_model(model.name))
    preprocessing = Preprocessing(Cut.square(model.side))
    inputs = preprocessing.cut_all(training.images)
    with reproducible(1), seeded(int(training.generator.integers(2**62))):
        module = _built(model, training.classes).to(memory_format=torch.channels_last)
        _descend(model, module.train(), preprocessing, inputs, training)
    weights = {
        name: value.detach().contiguous().numpy().copy() for name, value in module.state_dict().items()
    }
    facts = {
        "library": "timm",
        "architecture": model.architecture,
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, weights)


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network with its weights."""
    preprocessing = Preprocessing.from_json(facts["preprocessing"])
    with seeded(0):
        module = _built(model, int(facts["outputs"]))
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    return Network(module, preprocessing, compute)


def augmented(batch: Array, random: np.random.Generator) -> Array:
    """Each image shifted by up to 1/8 of its side, its border reflected, and mirrored with probability 1/2.

    Args:
        batch: images × side × side × 3.
        random: source of shifts and mirrors.
    """
    count, side = batch.shape[:2]
    reach = side // SHIFT
    padded = np.pad(batch, ((0, 0), (reach, reach), (reach, reach), (0, 0)), "reflect")
    shifts = random.integers(0, 2 * reach + 1, (count, 2))
    mirrored = set(np.flatnonzero(random.random(count) < 0.5).tolist())
    out = np.empty_like(batch)
    for i, (top, left) in enumerate(shifts):
        cut = padded[i, top : top + side, left : left + side]
        out[i] = cut[:, ::-1] if i in mirrored else cut
    return out


def _built(model: Model, classes: int) -> Any:
    try:
        return timm_network.build(model.architecture, model.side, num_classes=classes)
    except (ValueError, AssertionError, RuntimeError, TypeError) as error:
        raise InputError(
            f"models: {model.name}: timm cannot build {model.architecture} for side {model.side} ({error}); "
            "change side or architecture."
        ) from error


def _descend(
    model: Model, module: Any, preprocessing: Preprocessing, inputs: Array, training: Training
) -> None:
    size = min(BATCH, len(inputs))
    steps = len(inputs) // size
    optimiser = torch.optim.AdamW(module.parameters(), lr=model.learning_rate, weight_decay=DECAY, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, model.learning_rate, epochs=model.epochs, steps_per_epoch=steps
    )
    scale = Scale(preprocessing)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    for _ in progress(range(model.epochs), model.name):
        order = training.generator.permutation(len(inputs))
        for step in range(steps):
            chosen = order[step * size : (step + 1) * size]
            batch = augmented(inputs[chosen], training.generator)
            optimiser.zero_grad(set_to_none=True)
            loss = criterion(
                module(scale(torch.from_numpy(batch))), torch.from_numpy(training.labels[chosen])
            )
            loss.backward()
            optimiser.step()
            schedule.step()
