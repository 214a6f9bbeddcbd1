"""The cut-off of each mode: it belongs to all that decides about a metric's distances, and to nothing else."""

from __future__ import annotations

from typing import Any

from imagenetv2.duplicates.settings import Cutoffs, Features, Metric, Neighbours, Pixels, Structure

DECIDING = {
    "l2": ("side",),
    "fc7": ("network", "layer", "preprocessing", "side", "input"),
    "ssim": ("side", "window"),
}
"""Settings that make a mode; none for a metric that has no cut-off of its own here."""
STUDY: dict[str, Metric] = {
    "l2": Pixels(side=256),
    "fc7": Features(network="vgg16", preprocessing="paper", side=256, input=224),
    "ssim": Structure(side=256, window=35),
}
"""The study's modes."""
# The first of each metric was chosen on the rendered world: together they let through nine in ten of its
# near-duplicates and about one other pair in nine candidates. The second is the study's.
KNOWN: dict[str, tuple[tuple[Metric, float], ...]] = {
    "l2": ((Pixels(), 2e5), (STUDY["l2"], 1.2e8)),
    "fc7": ((Features(), 300.0), (STUDY["fc7"], 1.32e4)),
    "ssim": ((Structure(), 0.15), (STUDY["ssim"], 0.2205)),
}
"""Modes whose cut-off is known, and it."""


def known_cutoff(metric: str, section: Metric) -> float | None:
    """The cut-off for a metric with these settings, None where none is known."""
    mode = _mode(metric, section)
    return next((cutoff for other, cutoff in KNOWN.get(metric, ()) if _mode(metric, other) == mode), None)


def resolved(given: Cutoffs, neighbours: Neighbours) -> Cutoffs:
    """Cut-offs as numbers: for null that of the metric's mode, or 0 where none is known."""
    values = given.model_dump()
    for metric, value in values.items():
        if value is None:
            values[metric] = known_cutoff(metric, getattr(neighbours, metric)) or 0.0
    return type(given)(**values)


def without_cutoff(given: Cutoffs, neighbours: Neighbours) -> list[str]:
    """A sentence for each metric in use that has no cut-off, neither given nor known."""
    out = []
    for metric, value in given.model_dump().items():
        section = getattr(neighbours, metric)
        if section.enabled and value is None and known_cutoff(metric, section) is None:
            modes = KNOWN.get(metric, ())
            others = " and ".join(f"{known:g} for {_words(metric, mode)}" for mode, known in modes)
            mode = _words(metric, section) or "any settings"
            out.append(
                f"duplicates.cutoffs.{metric}: none is known for {mode} (neighbours.{metric}); state one"
                + (f"; known are {others}" if others else "")
            )
    return out


def _mode(metric: str, section: Metric) -> dict[str, Any]:
    values = {name: getattr(section, name) for name in DECIDING.get(metric, ())}
    if isinstance(section, Features):
        fc7 = section.network == "vgg16" and section.layer == "classifier.4"
        values |= {"layer": None if fc7 else section.layer, "input": section.input or section.side}
    return values


def _words(metric: str, section: Metric) -> str:
    given = ((name, getattr(section, name)) for name in DECIDING.get(metric, ()))
    return ", ".join(f"{name} {value}" for name, value in given if value is not None)
