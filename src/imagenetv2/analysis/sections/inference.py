"""How much of what was found rests on chance, on single models, and on the way of drawing images."""

from __future__ import annotations

from typing import Any

from imagenetv2.analysis.figures.robustness import ENDS
from imagenetv2.analysis.findings import ALL, Findings
from imagenetv2.analysis.sampling_error import AVERAGE


def influence(found: Findings) -> list[dict[str, Any]]:
    """One entry a set with a line: its slope, and what it is without each family and without the strongest model."""
    fits = found.main_fits[found.main_fits["scale"] == "linear"]
    slopes: dict[Any, float] = fits.set_index("set")["slope"].to_dict()
    rows: list[dict[str, Any]] = []
    for name, label in found.new.items():
        mine = found.influence[(found.influence["set"] == name) & (found.influence["scale"] == "linear")]
        if mine["slope"].notna().sum() == 0 or name not in slopes:
            continue
        slope = slopes[name]
        far = mine.assign(moved=mine["slope"] - slope)
        single = far[(far["without"] == "model") & far["slope"].notna()]
        strongest = single.loc[single["moved"].abs().sort_values(ascending=False, kind="stable").index]
        rows.append(
            {
                "label": label,
                "css": found.sets[name].css,
                "slope": slope,
                "families": far[far["without"] == "family"].sort_values("left_out").to_dict("records"),
                "model": strongest.head(1).to_dict("records"),
            }
        )
    return rows


def chance(found: Findings) -> list[dict[str, Any]]:
    """One entry a new set: the average change against its sampling error, and how many models change beyond theirs."""
    rows: list[dict[str, Any]] = []
    for name, label in found.new.items():
        mine = found.sampling_error[found.sampling_error["set"] == name]
        models = mine[mine["model"] != AVERAGE]
        average: list[dict[Any, Any]] = mine[mine["model"] == AVERAGE].to_dict("records")
        beyond = models["adjusted"] < 1 - found.level
        rows.append(
            {
                "label": label,
                "css": found.sets[name].css,
                "models": len(models),
                "lower": int((beyond & (models["change"] < 0)).sum()),
                "higher": int((beyond & (models["change"] > 0)).sum()),
                **(average[0] if average else {}),
            }
        )
    return rows


def pairs(found: Findings) -> list[dict[str, Any]]:
    """One entry a set: pairs of models, those told apart by a paired test, and those in the other order."""
    rows: list[dict[str, Any]] = []
    for name, label in found.labels.items():
        mine = found.paired[found.paired["set"] == name]
        told = mine["adjusted"] < 1 - found.level
        rows.append(
            {
                "label": label,
                "css": found.sets[name].css,
                "pairs": len(mine),
                "told": int(told.sum()),
                "reversed": int((told & (mine["difference"] < 0)).sum()),
            }
        )
    return [row for row in rows if row["pairs"]]


def robustness(found: Findings) -> dict[str, Any]:
    """Lines that models are measured from; and of each new set how many lie beyond the main one."""
    line = found.main_line
    rows: list[dict[str, Any]] = []
    for name, label in found.new.items():
        mine = found.robustness[(found.robustness["set"] == name) & (found.robustness["line"] == line)]
        if mine.empty:
            continue
        rows.append(
            {
                "label": label,
                "css": found.sets[name].css,
                "models": len(mine),
                "above": int((mine["effective_low"] > 0).sum()),
                "below": int((mine["effective_high"] < 0).sum()),
            }
        )
    names = {name: i for i, name in enumerate(found.lines_in_order)}
    places = {name: i for i, name in enumerate(found.labels)}
    every: list[dict[Any, Any]] = found.lines.to_dict("records")
    every.sort(key=lambda r: (places[r["set"]], names.get(r["line"], len(names))))
    lines = [{**r, "label": found.labels[r["set"]], "css": found.sets[r["set"]].css} for r in every]
    return {"line": line, "sets": rows, "lines": lines, "ends": ENDS}


def difficulty(found: Findings) -> list[dict[str, Any]]:
    """One entry a new set and group: the fitted model of difficulty and what it implies, beside what was seen."""
    seen = found.groups.set_index(["set", "group"])["change"].to_dict()
    rows: list[dict[str, Any]] = []
    for name, label in found.new.items():
        mine: list[dict[Any, Any]] = found.difficulty[found.difficulty["set"] == name].to_dict("records")
        for row in sorted(mine, key=lambda r: r["group"] != ALL):
            observed = seen.get((name, row["group"]))
            rows.append({**row, "label": label, "css": found.sets[name].css, "observed": observed})
    return rows


def simulation(found: Findings) -> list[dict[str, Any]]:
    """One entry a rule and number of annotators."""
    order = {rule: i for i, rule in enumerate(dict.fromkeys(found.simulation["rule"]))}
    rows: list[dict[str, Any]] = [
        {str(k): v for k, v in row.items()} for row in found.simulation.to_dict("records")
    ]
    return sorted(rows, key=lambda r: (order[r["rule"]], r["annotators"]))
