"""Tables as the stage ``analysis`` writes them, made up: consistent enough to be shown, and quick."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from imagenetv2.analysis.results import BANDS, DIFFICULTY, FITS, INFLUENCE, LINES, ROBUSTNESS
from imagenetv2.intervals import clopper_pearson

SCALES = ("linear", "probit", "logit")
OVERS = ("models", "images", "classes", "both")
SHIFT = {"matched_frequency": 0.35, "threshold": 0.1, "top_images": -0.08}


def results(
    labels: Mapping[str, str],
    models: int = 6,
    *,
    classes: int = 4,
    images: int = 400,
    votes: bool = True,
    truth: bool = True,
    seed: int = 3,
) -> dict[str, pd.DataFrame]:
    """Every table of the analysis by file name, of models ``model_0``… in two families.

    Args:
        labels: displayed names of the sets; the original is the first.
        models, classes, images: how many.
        votes: whether the tables that need votes are there.
        truth: whether true selection frequencies are known.
        seed: of the made-up numbers.
    """
    rng = np.random.default_rng(seed)
    names = [f"model_{i}" for i in range(models)]
    sets = list(labels)  # The first is called original.
    skill = np.linspace(0.1, 1.4, models) + rng.normal(0, 0.05, models)
    right = {
        name: rng.binomial(images, ndtr(skill - SHIFT.get(name, 0.2) * (name != sets[0]))) for name in sets
    }
    accuracies = pd.concat([_accuracies(names, name, right, images) for name in sets])
    wide = accuracies.pivot(index="model", columns="set", values="top1")
    found = {
        "accuracies.parquet": accuracies,
        "by_class.parquet": _by_class(sets, classes, rng, votes),
        "groups.parquet": pd.concat([_group(wide, name, names) for name in sets]),
        "order.parquet": pd.DataFrame([_order(name, models) for name in sets[1:]]),
        "sampling_error.parquet": pd.concat([_error(wide, name) for name in sets[1:]]),
        "paired.parquet": pd.concat([_paired(wide, name, sets[0]) for name in sets]),
        "simulation.parquet": _simulation(),
    }
    if votes:
        found["rules.parquet"] = pd.DataFrame([_rule(name, wide, images, truth) for name in sets])
        found["bins.parquet"] = pd.concat([_bins(name, rng) for name in sets])
    if models < 2:
        return found | {t.name: t.empty() for t in (FITS, BANDS, INFLUENCE, DIFFICULTY, ROBUSTNESS, LINES)}
    axes = list(itertools.product(sets[1:], SCALES))
    found |= {
        "fits.parquet": pd.DataFrame([_fit(wide, *axis, over) for axis in axes for over in OVERS]),
        "bands.parquet": pd.concat([_band(wide, *axis) for axis in axes]),
        "influence.parquet": pd.concat([_influence(wide, name) for name in sets[1:]]),
        "difficulty.parquet": pd.DataFrame([_difficulty(name, models) for name in sets[1:]]),
        "robustness.parquet": pd.concat([_robustness(wide, name) for name in sets[1:]]),
        "lines.parquet": pd.DataFrame([_line(name) for name in sets[1:]]),
    }
    return found


def _family(names: list[str]) -> list[str]:
    return ["family 0" if i % 3 else "family 1" for i in range(len(names))]


def _accuracies(names: list[str], name: str, right: Mapping[str, np.ndarray], images: int) -> pd.DataFrame:
    top1 = right[name] / images
    low, high = clopper_pearson(right[name], images, 0.95)
    order = sorted(range(len(names)), key=lambda i: (-right[name][i], names[i]))
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(1, len(names) + 1)
    return pd.DataFrame(
        {
            "model": names, "family": _family(names), "set": name, "images": images, "top1": top1,
            "top1_low": low, "top1_high": high, "top5": np.minimum(1, top1 + 0.1), "top5_low": top1,
            "top5_high": 1.0, "change": top1 - right["original"] / images, "change_top5": 0.0, "rank": rank,
            "rank_change": 0,
        }
    )  # fmt: skip


def _by_class(sets: list[str], classes: int, rng: np.random.Generator, votes: bool) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "class_index": c, "wnid": f"n{c + 1:08d}", "set": name, "images": 10,
                "frequency": rng.uniform(0.5, 1) if votes else np.nan, "top1": rng.uniform(0.3, 1),
            }
            for c in range(classes)
            for name in sets
        ]
    )  # fmt: skip


def _group(wide: pd.DataFrame, name: str, names: list[str]) -> pd.DataFrame:
    change = float((wide[name] - wide["original"]).mean())
    row = {"set": name, "group": "all", "models": len(names)}
    for column, value in (
        ("top1", wide[name].mean()), ("top5", wide[name].mean() + 0.1), ("change", change),
        ("change_top5", change / 2),
    ):  # fmt: skip
        row |= {column: value, f"{column}_low": value - 0.02, f"{column}_high": value + 0.02}
    return pd.DataFrame([row])


def _transform(scale: str, share: np.ndarray) -> np.ndarray:
    share = np.clip(share, 0.002, 0.998)
    return {"linear": 100 * share, "probit": ndtri(share), "logit": np.log(share / (1 - share))}[scale]


def _back(scale: str, value: np.ndarray) -> np.ndarray:
    return {"linear": value, "probit": 100 * ndtr(value), "logit": 100 / (1 + np.exp(-value))}[scale]


def _fit(wide: pd.DataFrame, name: str, scale: str, over: str) -> dict[str, object]:
    x, y = _transform(scale, wide["original"].to_numpy()), _transform(scale, wide[name].to_numpy())
    slope, offset = np.polyfit(x, y, 1)
    few = len(wide) < 3 and over == "models"
    return {
        "set": name, "scale": scale, "group": "all", "over": over, "models": len(wide), "slope": slope,
        "slope_low": np.nan if few else slope - 0.05, "slope_high": np.nan if few else slope + 0.07,
        "offset": offset, "offset_low": np.nan if few else offset - 1,
        "offset_high": np.nan if few else offset + 2, "r2": 0.98, "residual": 0.7, "resamples": 400,
    }  # fmt: skip


def _band(wide: pd.DataFrame, name: str, scale: str) -> pd.DataFrame:
    fit = _fit(wide, name, scale, "models")
    grid = np.linspace(100 * wide["original"].min(), 100 * wide["original"].max(), 21)
    line = float(str(fit["slope"])) * _transform(scale, grid / 100) + float(str(fit["offset"]))
    return pd.DataFrame(
        {
            "set": name, "scale": scale, "group": "all", "over": "models", "point": range(21), "original": grid,
            "line": _back(scale, line), "low": _back(scale, line) - 1.5, "high": _back(scale, line) + 1.5,
        }
    )  # fmt: skip


def _influence(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    rows = [("family", f"family {i}", np.nan) for i in range(2)] + [("model", m, 0.2) for m in wide.index]
    slope = float(str(_fit(wide, name, "linear", "models")["slope"]))
    return pd.DataFrame(
        [
            {
                "set": name, "scale": "linear", "without": kind, "left_out": who, "leverage": leverage,
                "cook": leverage, "slope": slope + 0.02 * (i - 3), "offset": -9.0,
            }
            for i, (kind, who, leverage) in enumerate(rows)
        ]
    )  # fmt: skip


def _order(name: str, models: int) -> dict[str, object]:
    return {
        "set": name, "group": "all", "models": models, "kendall": 0.9, "kendall_low": 0.8, "kendall_high": 0.95,
        "spearman": 0.97, "spearman_low": 0.9, "spearman_high": 0.99, "moved": 2, "largest": 1,
    }  # fmt: skip


def _difficulty(name: str, models: int) -> dict[str, object]:
    return {
        "set": name, "group": "all", "models": models, "shift": 0.36, "shift_low": 0.3, "shift_high": 0.41,
        "spread": 0.97, "spread_low": 0.9, "spread_high": 1.02, "probit_slope": 1.03, "probit_slope_low": 1.0,
        "probit_slope_high": 1.1, "probit_offset": -0.37, "probit_offset_low": -0.4, "probit_offset_high": -0.3,
        "slope": 1.09, "offset": -20.0, "change": -0.11, "residual": 0.006, "difficulty_original": 1.2,
        "difficulty_original_low": 1.1, "difficulty_original_high": 1.3, "difficulty_new": np.nan,
        "difficulty_new_low": np.nan, "difficulty_new_high": np.nan, "agreement_slope": np.nan,
        "agreement_slope_low": np.nan, "agreement_slope_high": np.nan,
    }  # fmt: skip


def _error(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    change = wide[name] - wide["original"]
    rows = [*change.items(), ("average", change.mean())]
    return pd.DataFrame(
        [
            {
                "set": name, "model": model, "change": value, "error": 0.02, "change_low": value - 0.04,
                "change_high": value + 0.04, "z": value / 0.02, "p": 0.0004 if value < -0.06 else 0.2,
                "adjusted": 0.002 if value < -0.06 else 1.0,
            }
            for model, value in rows
        ]
    )  # fmt: skip


def _paired(wide: pd.DataFrame, name: str, original: str) -> pd.DataFrame:
    better = wide.sort_values(original, ascending=False, kind="stable").index
    rows, top1 = [], wide[name].to_dict()
    for one, other in itertools.combinations(better, 2):
        difference = top1[one] - top1[other]
        p = 0.001 if abs(difference) > 0.04 else 0.4
        rows.append(
            {
                "set": name, "model": one, "other": other, "only_model": 40, "only_other": 20,
                "difference": difference, "difference_low": difference - 0.03,
                "difference_high": difference + 0.03, "p": p, "adjusted": min(1, 5 * p),
            }
        )  # fmt: skip
    columns = ["set", "model", "other", "only_model", "only_other", "difference", "difference_low",
               "difference_high", "p", "adjusted"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _robustness(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    effective = 100 * (wide[name] - wide["original"])
    effective -= effective.mean()
    return pd.DataFrame(
        {
            "set": name, "line": "this run", "model": wide.index, "predicted": 60.0, "effective": effective,
            "effective_low": effective - 2, "effective_high": effective + 2,
        }
    ).reset_index(drop=True)  # fmt: skip


def _line(name: str) -> dict[str, object]:
    return {
        "set": name, "line": "this run", "scale": "linear", "models": 6, "slope": 1.1, "slope_low": 1.0,
        "slope_high": 1.2, "offset": -9.0, "offset_low": -10.0, "offset_high": -8.0, "source": "this run",
    }  # fmt: skip


def _simulation() -> pd.DataFrame:
    rows = []
    for rule, bias in (("MatchedFrequency", -0.02), ("Threshold", 0.014), ("TopImages", 0.043)):
        for annotators in (10, 40, 200):
            rows.append(
                {
                    "rule": rule, "annotators": annotators, "seeds": 10, "observed": 0.75 + max(bias, 0) * 4,
                    "observed_original": 0.75, "true": 0.75 - 0.4 / annotators + max(bias, 0) * 3,
                    "true_original": 0.75, "accuracy_original": 0.9, "change": bias * 10 / annotators**0.7,
                    "change_deviation": 0.003, "expected_change": bias * 10 / annotators**0.7,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def _rule(name: str, wide: pd.DataFrame, images: int, truth: bool) -> dict[str, object]:
    change = float((wide[name] - wide["original"]).mean())
    row: dict[str, object] = {
        "set": name, "images": images, "annotated": 80 if name == "original" else images, "models": len(wide),
        "change_top1": change, "change_low": change - 0.02, "change_high": change + 0.02,
        "change_top5": change / 2,
    }  # fmt: skip
    known = {
        "frequency": (0.75, "frequency"), "true_frequency": (0.72, "true"),
        "observed_shift": (0.01, "observed_shift"), "true_shift": (-0.03, "true_shift"),
    }  # fmt: skip
    for column, (value, key) in known.items():
        shown = truth or not column.startswith("true")
        for full, v in ((column, value), (f"{key}_low", value - 0.01), (f"{key}_high", value + 0.01)):
            row[full] = v if shown else np.nan
    return row


def _bins(name: str, rng: np.random.Generator) -> pd.DataFrame:
    edges = np.linspace(0, 1, 6)
    top1 = np.sort(rng.uniform(0.2, 0.9, 5))
    frame = pd.DataFrame(
        {
            "set": name, "bin": range(5), "from": edges[:-1], "to": edges[1:], "images": [0, 12, 40, 90, 200],
            "top1": top1, "top1_low": top1 - 0.03, "top1_high": top1 + 0.03, "best": top1 + 0.05,
        }
    )  # fmt: skip
    frame.loc[frame["images"] == 0, ["top1", "top1_low", "top1_high", "best"]] = np.nan
    return frame
