"""One row of results: a model on a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.evaluation.metrics.aurra import aurra
from imagenetv2.evaluation.metrics.calibration import calibration_by_chance, rms_calibration_error
from imagenetv2.evaluation.metrics.real import real_accuracy
from imagenetv2.evaluation.names import input_words
from imagenetv2.evaluation.scorecard import study
from imagenetv2.evaluation.scorecard.chance import suspicion
from imagenetv2.evaluation.scorecard.columns import COLUMNS
from imagenetv2.evaluation.scorecard.comparable import no_line, same_classes, verdict
from imagenetv2.evaluation.scorecard.entrants import Entrant
from imagenetv2.evaluation.scorecard.lines import LEVEL, Count, effect
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.shelf import Made
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.intervals import clopper_pearson, newcombe

Row = dict[str, Any]
HARD = ("imagenet-a",)
"""Sets of images that a trained network had wrong: accuracies near chance are nothing to wonder about."""
ALL = 1000
"""ReaL labels are of all ImageNet classes, so a model has to choose between all of them."""


@dataclass(frozen=True)
class Scored:
    """Predictions of a model on a set, with what made them."""

    entrant: Entrant
    of: Opened
    predictions: pd.DataFrame
    made: Made

    @property
    def count(self) -> Count:
        """How many are right."""
        return Count(int((self.predictions["rank"] == 0).sum()), len(self.predictions))


@dataclass(frozen=True)
class Original:
    """How many images of ImageNet a model has right."""

    count: Count
    of: Opened


def row(scored: Scored, original: Original | None, wanted: Wanted) -> Row:
    """All columns of ``columns.COLUMNS``; None where there is nothing to say.

    Args:
        scored: predictions of the model on the set.
        original: the same model on ImageNet; None where that is not there.
        wanted: what was asked for.
    """
    found: Row = dict.fromkeys(COLUMNS)
    found |= {"model": scored.entrant.name, "set": scored.of.name}
    found |= described(scored.entrant) | executed(scored, wanted) | measured(scored)
    found |= compared(scored, original)
    found |= ranked(scored)
    found |= sampled(scored.made)
    found["comparable"], found["why"] = verdict(scored.of.set, wanted.mode)
    found["note"] = noted(scored)
    return found


def described(entrant: Entrant) -> Row:
    """What the model is and how its input is made."""
    facts = entrant.facts
    return {
        "library": facts.get("library"),
        "library_version": entrant.version,
        "architecture": facts.get("architecture"),
        "tag": facts.get("tag"),
        **{name: value or None for name, value in input_words.parts(entrant.preprocessing).items()},
    }


def executed(scored: Scored, wanted: Wanted) -> Row:
    """Where and how it ran."""
    made, images = scored.made, len(scored.predictions)
    return {
        "weights_digest": made.weights,
        "mode": wanted.mode + (" + compile" if wanted.compile else ""),
        "device": made.device,
        "batch": made.batch,
        "seconds": round(made.seconds, 3),
        "images_per_second": round(images / made.seconds, 2) if made.seconds > 0 else None,
    }


def sampled(made: Made) -> Row:
    """How far a fast mode is from mode reference, on a sample of the images; nothing in that mode."""
    found = made.difference
    if found is None:
        return {}
    return {
        "reference_images": found.images,
        "reference_same": 100 * found.same_first,
        "reference_largest": found.largest,
    }


def measured(scored: Scored) -> Row:
    """Metrics of the set by itself."""
    count, ranks = scored.count, scored.predictions["rank"].to_numpy(np.int64)
    low, high = clopper_pearson(count.right, count.images, LEVEL)
    confidence = scored.predictions["top_probability"].to_numpy(np.float64)
    return {
        "classes": scored.of.set.classes.size,
        "images": count.images,
        "right": count.right,
        "top1": count.percent,
        "low": 100 * float(low),
        "high": 100 * float(high),
        "top5": 100 * float((ranks < 5).mean()),
        "calibration": 100 * rms_calibration_error(confidence, ranks == 0),
        "calibration_by_chance": 100 * calibration_by_chance(confidence),
        "aurra": 100 * aurra(confidence, ranks == 0).value,
        "real": _real(scored),
    }


def _real(scored: Scored) -> float | None:
    """None where there are no such labels."""
    if scored.of.set.classes.size != ALL or scored.of.numbers is None:
        return None
    return 100 * real_accuracy(scored.of.numbers, np.stack(scored.predictions["top5"].to_list())).share


def compared(scored: Scored, original: Original | None) -> Row:
    """Drop, expected accuracy and effective robustness of a new set; the reason where they cannot be given."""
    if scored.of.part != "v2":
        return {}
    if original is None:
        return {"missing": "no ImageNet validation set (--val)"}
    if not same_classes(original.of.set, scored.of.set):
        return {"missing": "the two sets have other classes, so that their accuracies cannot be subtracted"}
    old, new = original.count, scored.count
    low, high = newcombe([old.right], old.images, [new.right], new.images, LEVEL)
    drop: Row = {
        "drop": old.percent - new.percent,
        "drop_low": 100 * float(low[0]),
        "drop_high": 100 * float(high[0]),
    }
    return drop | from_line(scored, original)


def from_line(scored: Scored, original: Original) -> Row:
    """Expected accuracy and effective robustness, or why there are none."""
    if reason := no_line(original.of, scored.of):
        return {"missing": reason}
    line, old = study.line(scored.of.set.known), original.count
    if line is None:
        return {"missing": "no line for this set"}
    if not line.says(old.percent):
        return {"line": line.words, "missing": line.known}
    above = effect(line, old, scored.count, f"{scored.entrant.name} {scored.of.name}")
    return {
        "line": line.words,
        "extrapolated": line.known if line.extrapolated(old.percent) else None,
        "expected": above.expected,
        "expected_printed": study.printed(scored.of.set.known, old.percent),
        "effective": above.effective,
        "effective_low": above.low,
        "effective_high": above.high,
    }


def ranked(scored: Scored) -> Row:
    """Place among the study's models, and the study's own number of these weights."""
    others = study.accuracies(scored.of.set.known or "")
    if not scored.of.whole or others.empty:
        return {}
    name, differs = study.same(scored.entrant.model)
    rivals = others.drop(index=name) if name else others
    return {
        "published": None if name is None else float(others[name]),
        "published_as": f"{name} ({differs})" if differs else name,
        "rank": int((rivals > scored.count.percent).sum()) + 1,
        "ranked": len(rivals) + 1,
    }


def noted(scored: Scored) -> str:
    """What looks wrong, or was guessed."""
    notes = []
    if assumed := scored.entrant.facts.get("assumed"):
        notes.append(f"nobody says what the input looks like, so its {', '.join(assumed)} are as usual")
    if scored.of.set.known not in HARD:
        first = np.stack(scored.predictions["top5"].to_list())[:, 0]
        notes.append(suspicion(scored.of.set.labels, first, scored.of.set.classes.size))
    return "; ".join(note for note in notes if note)
