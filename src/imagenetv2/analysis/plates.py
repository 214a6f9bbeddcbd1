"""The figures of the report: each as SVG for the page, and two also as files for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from imagenetv2.analysis.figures import accuracy, changes, frequencies, order, style, truth
from imagenetv2.sampling.stages import RULES

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """Figures for the page by name (lists have one panel a rule), and files by name."""

    pages: Mapping[str, str | list[str]]
    files: Mapping[str, str | bytes]


def plates(
    accuracies: pd.DataFrame,
    rules: pd.DataFrame,
    fits: Mapping[str, Any],
    observed: Mapping[str, Floats],
    known: Mapping[str, tuple[str, Floats, Floats]] | None,
    labels: Mapping[str, str],
    rng: np.random.Generator,
) -> Drawn:
    """All figures.

    Args:
        accuracies, rules: tables of the analysis.
        fits: its ``fits.json``.
        observed: selection frequencies of the images of each set.
        known: label, observed and true selection frequencies of groups of images; None where unknown.
        labels: name of each set, ``original`` first.
        rng: scatters overlapping points.
    """
    pages: dict[str, str | list[str]] = {}
    with style.style():
        pages["changes"] = _changes(accuracies, rules)
        pages["accuracy"] = [_accuracy_panel(accuracies, fits, rule) for rule in RULES]
        pages["frequencies"] = [_frequency_panel(observed, rule) for rule in RULES]
        pages["order"] = _order(accuracies, labels)
        if known is not None:
            pages["images"] = _images(known, rng)
            pages["sets"] = _sets(rules, labels)
        both = {"accuracy": _accuracy(accuracies, fits), "frequencies": _frequencies(observed)}
        files: dict[str, str | bytes] = {}
        for name, made in both.items():
            files[f"{name}.svg"], files[f"{name}.png"] = style.svg(made), style.png(made)
    return Drawn(pages, files)


def linear(fits: Mapping[str, Any], rule: str) -> Mapping[str, Any]:
    """The linear fit over all models."""
    found: Mapping[str, Any] = next(
        f for f in fits["fits"] if (f["set"], f["scale"], f["group"]) == (rule, "linear", "all")
    )
    return found


def _accuracy(accuracies: pd.DataFrame, fits: Mapping[str, Any]) -> Figure:
    made, axes = style.panels(10.5, 3.6, len(RULES))
    ends = accuracy.limits(accuracies)
    for ax, (rule, label) in zip(axes, RULES.items(), strict=True):
        accuracy.draw(ax, accuracy.wide(accuracies, rule), linear(fits, rule), rule, label, ends)
    return made


def _accuracy_panel(accuracies: pd.DataFrame, fits: Mapping[str, Any], rule: str) -> str:
    made, (ax,) = style.panels(3.7, 3.8)
    points, fit = accuracy.wide(accuracies, rule), linear(fits, rule)
    tips = accuracy.draw(ax, points, fit, rule, RULES[rule], accuracy.limits(accuracies))
    alt = f"Accuracy of {len(points)} models on {RULES[rule]} against that on the original, with a line."
    return style.inline(made, f"accuracy-{rule.replace('_', '-')}", alt, tips)


def _frequencies(observed: Mapping[str, Floats]) -> Figure:
    made, axes = style.panels(10.5, 2.9, len(RULES))
    ceiling = frequencies.top(*observed.values())
    for ax, (rule, label) in zip(axes, RULES.items(), strict=True):
        frequencies.draw(ax, observed["original"], observed[rule], rule, label, ceiling)
    return made


def _frequency_panel(observed: Mapping[str, Floats], rule: str) -> str:
    made, (ax,) = style.panels(3.7, 2.9)
    ceiling = frequencies.top(*observed.values())
    frequencies.draw(ax, observed["original"], observed[rule], rule, RULES[rule], ceiling)
    alt = f"Histograms of the selection frequencies of {RULES[rule]} and of the original."
    return style.inline(made, f"frequency-{rule.replace('_', '-')}", alt)


def _changes(accuracies: pd.DataFrame, rules: pd.DataFrame) -> str:
    made, ax = style.figure(4.9, 2.6)
    tips = changes.draw(ax, accuracies, rules, RULES)
    alt = "Average change of accuracy on each set with its interval, and the change of each model."
    return style.inline(made, "changes", alt, tips)


def _order(accuracies: pd.DataFrame, labels: Mapping[str, str]) -> str:
    made, ax = style.figure(6.6, order.height(accuracies["model"].nunique()))
    order.draw(ax, accuracies, labels)
    return style.inline(made, "order", "Places of the models on each set, joined by lines.")


def _images(known: Mapping[str, tuple[str, Floats, Floats]], rng: np.random.Generator) -> str:
    made, ax = style.figure(4.4, 4.5)
    truth.draw_images(ax, known, rng)
    alt = "True against observed selection frequency of single images, with averages for each frequency."
    return style.inline(made, "truth-images", alt)


def _sets(rules: pd.DataFrame, labels: Mapping[str, str]) -> str:
    made, ax = style.figure(4.9, 3.2)
    truth.draw_sets(ax, rules, labels)
    return style.inline(made, "truth-sets", "Observed and true average selection frequency of each set.")
