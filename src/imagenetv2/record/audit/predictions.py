"""Prediction files, and what the import had to mend or leave out anywhere."""

from __future__ import annotations

from typing import Any

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit.finding import (
    INCONSISTENT,
    MISSING,
    NOTED,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
    proved,
)
from imagenetv2.record.audit.released import LABELS, Released


def findings(record: Released) -> list[Finding]:
    """All findings about predictions and about faults of files."""
    of_predictions = record.faults["part"] == "predictions"
    return [
        _models(record),
        _faults(
            record.faults.loc[of_predictions],
            "prediction-faults",
            INCONSISTENT,
            "Prediction files",
            "Accuracies and paired comparisons of these models need the correction first; it is made from the evidence given, and in every table.",
            "That the published accuracies are wrong: the faults are in the released files, and how the authors read them is another matter.",
        ),
        _faults(
            record.faults.loc[~of_predictions],
            "other-faults",
            NOTED,
            "Other files",
            "Whoever reads these files again will meet the same. Many are small, and the larger ones are findings of their own on this page.",
            "That the study used them in this state: files were edited over months, and this copy was edited once more to replace names.",
        ),
    ]


def _models(record: Released) -> Finding:
    models = record.models
    usable = models.loc[models["usable"].astype(bool)]
    known = models["model"].nunique()
    wanted = {(s, m) for m in models["model"] for s in LABELS}
    lacking = sorted(wanted - set(zip(usable["set"], usable["model"], strict=True)))
    short = {m for _, m in lacking}
    about = {(r.set, r.model): (r.source_file, r.action) for r in each(models)}
    table = [
        (LABELS[s], count((models["set"] == s).sum()), count((usable["set"] == s).sum())) for s in LABELS
    ]
    proof = []
    for key in lacking:
        file, action = about.get(key, ("", "no file"))
        label = LABELS[key[0]]
        proof.append((file or f"data/predictions ({label})", key[1], f"{label}: {action or 'not usable'}"))
    return Finding(
        slug="models",
        kind=MISSING if short else SOUND,
        title="Models without usable predictions on some set"
        if short
        else "Every model has predictions on every set",
        count=len(short),
        measured=f"{count(known - len(short))} of {plural(known, 'model')} have usable predictions on all four sets; {plural(len(lacking), 'pair')} of model and set lack them.",
        how="Files of predictions by set, with names of models made the same; see the faults for each correction.",
        implies="Averages over models can use the same models on each set."
        if not short
        else "Averages must leave these models out, on all sets.",
        does_not_imply="That these are all models that were evaluated.",
        evidence=proved(proof),
        summaries=(Summary("Predictions", ("Set", "Models", "Usable"), tuple(table)),),
    )


def _faults(faults: pd.DataFrame, slug: str, kind: str, what: str, implies: str, does_not: str) -> Finding:
    table: Any = faults.groupby(["fault", "action"]).size()
    rows = tuple((str(f), str(a), count(n)) for (f, a), n in table.items())
    actions = faults["action"].value_counts()
    text = ", ".join(f"{count(actions.get(a, 0))} {a}" for a in ("corrected", "left out", "reported"))
    return Finding(
        slug=slug,
        kind=kind if len(faults) else SOUND,
        title=f"{what} with faults" if len(faults) else f"{what} without faults",
        count=len(faults),
        measured=f"{plural(len(faults), 'fault')}: {text}.",
        how="Checks made while the record was imported; each fault names its file, what was found, what was done, and why.",
        implies=implies if len(faults) else "The files can be used as they are.",
        does_not_imply=does_not if len(faults) else "That a check exists for every kind of fault.",
        evidence=evidence(
            faults["file"],
            faults["subject"],
            (
                f"{r.fault}: {r.detail}; {r.action}" + (f", since {r.evidence}" if r.evidence else "")
                for r in each(faults)
            ),
        ),
        summaries=(Summary("Faults by kind", ("Fault", "Action", "Number"), rows),) if rows else (),
    )
