"""What the paper says of lines through the models, and of averages over them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.record.claims.claim import Claim, Missing
from imagenetv2.record.claims.facts import MATCHED, NEW, THRESHOLD, TOP, Facts, fitted

OVER = {"models": "models", "images": "images", "classes": "classes", "both": "models and images"}
DISPLAYED = {MATCHED: "MatchedFrequency", THRESHOLD: "Threshold0.7", TOP: "TopImages"}
RULES = {MATCHED: ("−11.8%", "−8.2%"), THRESHOLD: ("−3.2%", "−1.2%"), TOP: ("+2.1%", "+1.8%")}
FREQUENCIES = {MATCHED: "0.73", THRESHOLD: "0.85", TOP: "0.93", ORIGINAL: "0.71"}
NO_VOTES = "The answers of the workers were not released, only the tasks; so no selection frequency is known."


def claims() -> list[Claim]:
    """All of them, in the order of the page."""
    return [*_lines(), *_rules(), *_frequencies()]


def _lines() -> list[Claim]:
    where = "Figure 1"
    return [
        Claim("lines/slope", where, "Slope of new on original top-1 accuracy, networks, MatchedFrequency", "1.11", lambda f: f.line(MATCHED, f.networks).slope),
        Claim("lines/offset", where, "Offset of that line", "−20.2%", lambda f: f.line(MATCHED, f.networks).offset, _offset),
        Claim("lines/slope-low", "results on the new sets", "Lower end of the 95% bootstrap interval of the slope", "1.07", lambda f: interval(f, "slope")[0], _bootstraps),
        Claim("lines/slope-high", "results on the new sets", "Upper end of the 95% bootstrap interval of the slope", "1.19", lambda f: interval(f, "slope")[1], _bootstraps),
        Claim("lines/slope-threshold", "accuracy plots of the other sets", "Slope on Threshold0.7", "1.10", lambda f: f.line(THRESHOLD, f.networks).slope),
        Claim("lines/slope-top", "accuracy plots of the other sets", "Slope on TopImages", "0.96", lambda f: f.line(TOP, f.networks).slope),
        Claim("lines/slope-top5-top", "accuracy plots of the other sets", "Slope of top-5 accuracies on TopImages", "0.88", lambda f: f.line(TOP, f.networks, 5).slope),
        Claim("lines/probit", "Figure with probit axes", "Over all models, a line on probit axes fits MatchedFrequency", "better than a linear one", _better, _probit),
    ]  # fmt: skip


def _rules() -> list[Claim]:
    where = "table of sampling rules"
    out = []
    for name, printed in RULES.items():
        for k, text in zip((1, 5), printed, strict=True):
            out.append(
                Claim(
                    f"rules/{name}/top{k}",
                    where,
                    f"Average change of top-{k} accuracy over all models, {DISPLAYED[name]}",
                    text,
                    _average(name, k),
                    _only_networks(name, k),
                )
            )
    where = "impact of data cleaning"
    return [
        *out,
        Claim("rules/spread-top1", where, "Spread of the three averages, top-1", "14%", lambda f: _apart(f, 1)),
        Claim("rules/spread-top5", where, "Spread of the three averages, top-5", "10%", lambda f: _apart(f, 5)),
    ]  # fmt: skip


def _frequencies() -> list[Claim]:
    displayed = {**DISPLAYED, ORIGINAL: "the original validation images"}
    listed = [
        Claim(f"frequencies/{name}", "table of sampling rules", f"Average selection frequency of {displayed[name]}", text, None, NO_VOTES)
        for name, text in FREQUENCIES.items()
    ]  # fmt: skip
    return [
        *listed,
        Claim("frequencies/bin", "accuracy by selection frequency", "What accuracy loses in the bin from 0.4 to 0.6, against all new images", "20%", None, NO_VOTES),
        Claim("frequencies/upward", "MatchedFrequency in detail", "Images taken from a higher bin than wanted", "0.8%", None, NO_VOTES),
    ]  # fmt: skip


def interval(facts: Facts, of: str, over: str = "models", group: str | None = None) -> tuple[float, float]:
    """The analysis' bootstrap interval of the slope or offset on MatchedFrequency; group None is the networks."""
    if not facts.networks:
        raise Missing("There are no networks.")
    fits = facts.table("analysis", "fits")
    family = facts.families[facts.networks[0]]
    wanted = group or (family if (fits["group"] == family).any() else "all")
    keep = (fits["set"] == MATCHED) & (fits["scale"] == "linear") & (fits["group"] == wanted)
    found = fits[keep & (fits["over"] == over)]
    if found.empty or found[f"{of}_low"].isna().any():
        raise Missing(f"The analysis holds no interval over {OVER[over]}.")
    return float(found[f"{of}_low"].iloc[0]), float(found[f"{of}_high"].iloc[0])


def _bootstraps(facts: Facts) -> str:
    """All bootstraps' intervals of the slope, and which comes nearest to the printed ends."""
    parts: list[str] = []
    far: dict[str, float] = {}
    for group, text in (
        (None, f"the {len(facts.networks)} networks"),
        ("all", f"all {len(facts.models)} models"),
    ):
        ends = {}
        for over, name in OVER.items():
            try:
                ends[name] = interval(facts, "slope", over, group)
            except Missing:
                continue
        listed = [f"over {name} [{low:.3f}, {high:.3f}]" for name, (low, high) in ends.items()]
        parts += [f"of {text} {', '.join(listed)}"] if listed else []
        far |= {
            f"over {n}, of {text}": max(abs(low - 1.07), abs(high - 1.19)) for n, (low, high) in ends.items()
        }
    if not far:
        raise Missing("The analysis holds no intervals of the slope.")
    nearest = min(far, key=lambda name: far[name])
    low, high = min(interval(facts, "slope")), max(interval(facts, "slope"))
    outward = f"[{math.floor(100 * low) / 100:.2f}, {math.ceil(100 * high) / 100:.2f}]"
    return (
        f"Bootstraps {'; '.join(parts)}. The printed interval is nearest to that {nearest}; that over models, of the "
        f"networks, rounded outward is {outward}."
    )


def _offset(facts: Facts) -> str:
    x, y = facts.axes(MATCHED, facts.networks)
    whole = fitted(x, y).offset
    beyond = abs(whole + 20.2) - 0.05
    without = np.array([fitted(np.delete(x, i), np.delete(y, i)).offset for i in range(x.size)])
    more = int((np.abs(without - whole) > beyond).sum())
    low, high = interval(facts, "offset")
    return (
        f"{beyond:.3f} points beyond rounding; cut off instead of rounded, {whole:.3f} gives −20.2. Leaving out one "
        f"model moves the offset by more than that for {more} of {x.size} models, and its interval over models is "
        f"[{low:.1f}, {high:.1f}]."
    ).replace(" -", " −").replace("[-", "[−")  # fmt: skip


def _better(facts: Facts) -> str:
    probit, linear = facts.line(MATCHED, scale="probit").r2, facts.line(MATCHED).r2
    if probit is None or linear is None:
        raise Missing("All models have the same new accuracy.")
    return "better than a linear one" if probit > linear else "no better than a linear one"


def _probit(facts: Facts) -> str:
    linear, probit = facts.line(MATCHED), facts.line(MATCHED, scale="probit")
    networks = facts.line(MATCHED, facts.networks), facts.line(MATCHED, facts.networks, scale="probit")
    return (
        f"R² over all {len(facts.models)} models: linear {linear.r2:.4f}, probit {probit.r2:.4f} (slope "
        f"{probit.slope:.3f}); over the networks alone {networks[0].r2:.4f} and {networks[1].r2:.4f}. The linear "
        f"slope over all models is {linear.slope:.2f}."
    )


def _average(name: str, k: int) -> Callable[[Facts], float]:
    return lambda f: float(f.change(name, k=k).mean())


def _only_networks(name: str, k: int) -> Callable[[Facts], str]:
    return lambda f: f"Over the networks alone {f.change(name, f.networks, k).mean():+.2f}.".replace("-", "−")


def _apart(facts: Facts, k: int) -> float:
    averages = [facts.change(name, k=k).mean() for name in NEW]
    return float(max(averages) - min(averages))
