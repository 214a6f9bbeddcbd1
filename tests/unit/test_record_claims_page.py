"""The page of claims, and the claims of the released records."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.record.claims.claim import CORRECTED, DIFFERS, SAME, UNKNOWN, Missing, judge, table
from imagenetv2.record.claims.facts import Facts
from imagenetv2.record.claims.page import page
from imagenetv2.record.claims.stage import listed
from imagenetv2.record.source import Source

COLUMNS = ["number", "id", "section", "claim", "printed", "computed", "value", "printed_value", "tolerance", "verdict", "note"]  # fmt: skip
ROWS = [
    (0, "a", "one", "first", "72.2", "72.19", 72.19, 72.2, 0.05, SAME, ""),
    (1, "b", "one", "a | b", "1.07", "1.078", 1.078, 1.07, 0.005, DIFFERS, "because"),
    (2, "c", "two", "votes", "0.73", "", None, 0.73, 0.005, UNKNOWN, "no votes"),
    (3, "d", "one", "third", "5", "5", 5.0, 5.0, 0.5, CORRECTED, "because"),
    (4, "table-1/m/x", "three", "m: x", "1.0", "1.01", 1.01, 1.0, 0.05, SAME, ""),
    (5, "table-1/m/y", "three", "m: y", "2", "3", 3.0, 2.0, 0.5, DIFFERS, "moved"),
    (6, "table-1/n/x", "three", "n: x", "4.0", "4.00", 4.0, 4.0, 0.05, SAME, ""),
]


def made(rows: list[tuple[object, ...]] = ROWS) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_page_counts_verdicts_and_gathers_sections() -> None:
    text = page({"imagenetv2": made(), "cifar10.1": made(ROWS[:1])})
    assert "| same | 3 | 1 |" in text and "| differs | 2 | 0 |" in text and "| all | 7 | 1 |" in text
    assert text.count("### One") == 2 and text.count("### Two") == 1
    assert "| first | 72.2 | 72.19 | 0.05 | same |" in text
    assert "| votes | 0.73 | – |  | **not derivable** <sup>1</sup> |" in text
    assert "| a \\| b | 1.07 | 1.078 | 0.005 | **differs** <sup>1</sup> |" in text
    assert "| third | 5 | 5 | exact | **same after correction** <sup>1</sup> |" in text
    assert "\n1. because\n" in text and "2. because" not in text


def test_a_printed_table_stays_one() -> None:
    text = page({"imagenetv2": made()})
    assert "| printed (here) | x | y | verdict |" in text
    assert "| m | 1.0 (1.01) | 2 (3) | y: **differs** <sup>1</sup> |" in text
    assert "| n | 4.0 (4.00) |  | same |" in text


def test_the_page_does_not_depend_on_the_order_of_rows() -> None:
    assert page({"imagenetv2": made()}) == page({"imagenetv2": made(ROWS[::-1])})


def test_every_table_of_the_page_has_even_rows() -> None:
    text = page({"imagenetv2": made(), "cifar10.1": made(ROWS[:1])})
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1


SETS = {
    "original": "imagenet-validation-original",
    "matched_frequency": "imagenetv2-b-33",
    "threshold": "imagenetv2-a-44",
    "top_images": "imagenetv2-c-12",
}


def _none(stage: str, name: str) -> pd.DataFrame:
    raise Missing(f"{stage}/{name} is not read here.")


@pytest.fixture(scope="module")
def imagenet(published_record: Source) -> tuple[Facts, Facts]:
    """The released predictions with the columns of fv_16k turned round, and as they are, without the importer."""
    record = published_record
    index = {c["wnid"]: c["cid"] for c in record.json("data/metadata/class_info.json")}
    released, corrected = {}, {}
    for name, listing in SETS.items():
        images = record.json(f"data/datasets/{listing}.json")["image_filenames"]
        classes = np.array([index[w] for _, w in images])
        files = record.names(f"data/predictions/{listing}", ".npy")
        models = tuple(Path(f).stem.removesuffix("_model") for f in files)
        hits = [np.load(io.BytesIO(record.read(f))) == classes[:, None] for f in files]
        ranks = np.stack([np.where(h.any(axis=1), h.argmax(axis=1), 5) for h in hits])
        turned = ranks.copy()
        if name != "original":
            row = models.index("fv_16k")
            turned[row] = np.where(ranks[row] < 5, 4 - ranks[row], 5)
        frame = pd.DataFrame(images, columns=["image_id", "wnid"]).assign(class_index=classes)
        released[name], corrected[name] = (Predictions(models, r, frame) for r in (ranks, turned))
    families = {m: "Fisher vectors" if m.startswith("fv_") else "Networks" for m in models}
    facts = Facts(corrected, families, frozenset({"Fisher vectors"}), _none)
    return facts, replace(facts, sets=released)


EXPECTED = {
    "models/all": SAME,
    "models/networks": SAME,
    "networks/smallest-loss": SAME,
    "networks/largest-loss": SAME,
    "fisher/largest-loss": CORRECTED,
    "abstract/smallest-loss": DIFFERS,
    "abstract/below": DIFFERS,
    "best/top1-new": SAME,
    "best/top5-new-exact": SAME,
    "order/largest": SAME,
    "lines/slope": SAME,
    "lines/offset": DIFFERS,
    "lines/slope-threshold": SAME,
    "lines/slope-top": SAME,
    "lines/probit": CORRECTED,
    "rules/matched_frequency/top1": CORRECTED,
    "rules/threshold/top1": CORRECTED,
    "rules/top_images/top1": CORRECTED,
    "rules/matched_frequency/top5": SAME,
    "rules/spread-top1": SAME,
    "rules/spread-top5": SAME,
    "interval/half-width": SAME,
    "frequencies/matched_frequency": UNKNOWN,
}


@pytest.mark.packs
def test_headline_claims_about_imagenet(imagenet: tuple[Facts, Facts]) -> None:
    judged = table(judge(c, *imagenet) for c in listed("imagenetv2")).set_index("id")
    assert judged.loc[list(EXPECTED), "verdict"].to_dict() == EXPECTED
    assert judged.loc[judged.index.str.startswith("table-1/"), "verdict"].eq(SAME).all()
    assert judged.loc[judged["verdict"] == DIFFERS, "note"].ne("").all()


@pytest.mark.packs
def test_headline_claims_about_cifar10(packs: Path) -> None:
    with np.load(packs / "cifar10.1/cifar101_predictions.npz") as archive:
        found = {name: archive[name] for name in archive.files}
    truth = {
        "original": np.load(packs / "cifar10.1/cifar10_test_labels.npy"),
        "v4": found["labels_v4"],
        "v6": found["labels_v6"],
    }
    models = tuple(str(m) for m in found["models"])
    sets = {
        name: Predictions(
            models,
            np.where(found[name] == labels, 0, 5).astype(np.int64),
            pd.DataFrame({"image_id": np.arange(len(labels)).astype(str), "class_index": labels}),
        )
        for name, labels in truth.items()
    }
    families = {m: "Random features" if m.startswith("random_") else "Networks" for m in models}
    facts = Facts(sets, families, frozenset({"Random features"}), _none)
    judged = table(judge(c, facts, facts) for c in listed("cifar10.1")).set_index("id")
    assert judged.loc[judged.index.str.startswith("table-1/"), "verdict"].eq(SAME).all()
    assert judged.loc[["lines/slope", "lines/offset", "losses/largest"], "verdict"].eq(SAME).all()
    assert judged.loc["models/2019", "computed"] == "29"
    assert judged.loc[judged["verdict"] == DIFFERS, "note"].ne("").all()
    assert set(judged.index[judged["verdict"] == DIFFERS]) == {
        "models/2019",
        "sets/size",
        "losses/networks-largest",
        "2018/wide-new",
    }
