"""The published records themselves, as they are and with faults planted in a copy."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imagenetv2.record import predictions, source
from imagenetv2.record.faults import table
from imagenetv2.record.reader import Reader
from imagenetv2.record.settings import Record
from imagenetv2.record.source import Source

pytestmark = pytest.mark.packs
B, A, C, ORIGINAL = "imagenetv2-b-33", "imagenetv2-a-44", "imagenetv2-c-12", "imagenet-validation-original"
SETS = {"original": ORIGINAL, "matched_frequency": B, "threshold": A, "top_images": C}


@dataclass(frozen=True)
class Found:
    imported: predictions.Imported
    faults: pd.DataFrame

    def kinds(self) -> set[tuple[str, str, str, str]]:
        """List, subject, kind and action."""
        rows = self.faults
        lists = [Path(f).parent.name if f.endswith(".npy") else Path(f).stem for f in rows["file"]]
        return set(zip(lists, rows["subject"], rows["fault"], rows["action"], strict=True))

    def of(self, name: str, model: str) -> np.ndarray | None:
        models = self.imported.models
        row = models[(models["set"] == name) & (models["model"] == model)]
        return self.imported.arrays[name][int(row["row"].item())] if row["usable"].item() else None


def import_(record: Source, indices: dict[str, int], kind: str = "imagenetv2") -> Found:
    reader = Reader(record)
    settings = Record.model_validate({"path": record.path, "kind": kind})
    found = predictions.imported(reader, indices, settings)
    return Found(found, table(reader.faults))


@pytest.fixture(scope="module")
def record(packs: Path) -> Source:
    return source.read(packs / "record.tar.gz", "imagenetv2")


@pytest.fixture(scope="module")
def indices(record: Source) -> dict[str, int]:
    return {c["wnid"]: c["cid"] for c in record.json("data/metadata/class_info.json")}


@pytest.fixture(scope="module")
def clean(record: Source, indices: dict[str, int]) -> Found:
    return import_(record, indices)


KNOWN = {
    (A, "fv_16k", "columns out of rank order", "corrected"),
    (B, "fv_16k", "columns out of rank order", "corrected"),
    (C, "fv_16k_model", "columns out of rank order", "corrected"),
    (A, "fv_64k_model", "name of a model differs", "corrected"),
    (C, "fv_16k_model", "name of a model differs", "corrected"),
}


def test_the_published_record(clean: Found) -> None:
    assert clean.kinds() == KNOWN
    models = clean.imported.models
    assert models["usable"].all() and models["model"].nunique() == 67
    truth = {s: part["class_index"].to_numpy() for s, part in clean.imported.images.groupby("set")}
    printed = {"resnet152": (78.31, 67.02), "pnasnet_large_tf": (82.9, 72.2), "alexnet": (56.5, 44.0)}
    printed |= {"fv_4k": (21.2, 15.0), "fv_16k": (28.3, 19.2), "fv_64k": (35.1, 24.1)}
    for model, values in printed.items():
        for name, value in zip(("original", "matched_frequency"), values, strict=True):
            top5 = clean.of(name, model)
            assert top5 is not None
            assert 100 * (top5[:, 0] == truth[name]).mean() == pytest.approx(value, abs=0.051)
    earlier = clean.imported.earlier.groupby("revision").size()
    assert earlier.to_dict() == {1: 4, 23: 64}


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_faults_planted_in_a_copy(record: Source, indices: dict[str, int], clean: Found) -> None:
    changed: dict[str, bytes] = {}

    def file(name: str, model: str) -> str:
        return f"data/predictions/{name}/{model}.npy"

    def top5(name: str, model: str) -> np.ndarray:
        found: np.ndarray = np.load(io.BytesIO(record.read(file(name, model))))
        return found

    def plant(name: str, model: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
        changed[file(name, model)] = saved(change(top5(name, model)))

    def exchange(one: tuple[str, str], other: tuple[str, str]) -> None:
        changed[file(*one)], changed[file(*other)] = record.read(file(*other)), record.read(file(*one))

    rng = np.random.default_rng(1)
    entries = record.json(f"data/datasets/{B}.json")["image_filenames"]
    listed = record.json(f"data/datasets/{C}.json")["image_filenames"]
    by_name = sorted(range(len(listed)), key=lambda i: listed[i])
    doubled = {"image_filenames": [*entries[:6000], entries[50], *entries[6000:]], "is_valid": True}
    changed[f"data/datasets/{B}.json"] = json.dumps(doubled).encode()
    plant(B, "alexnet", lambda p: p[:, [2, 0, 4, 1, 3]])
    plant(B, "vgg16", lambda p: rng.permuted(p, axis=1))
    plant(B, "resnet34", lambda p: p.astype(np.float32))
    plant(ORIGINAL, "vgg13", lambda p: p + 1)
    plant(C, "squeezenet1_0", lambda p: p[by_name])
    plant(A, "resnet50", lambda p: np.where(np.arange(50_000).reshape(-1, 5) == 123, 1000, p))
    plant(A, "polynet", lambda p: top5(A, "senet154"))
    changed[file(C, "vgg11")] = record.read(file(C, "vgg11"))[:200_000]
    exchange((ORIGINAL, "densenet121"), (ORIGINAL, "resnet18"))
    exchange((A, "dpn68"), (A, "xception"))
    exchange((B, "se_resnet50"), (A, "se_resnet101"))
    planted = replace(
        record,
        sizes={**record.sizes, **{n: len(d) for n, d in changed.items()}},
        open=lambda name: changed[name] if name in changed else record.read(name),
    )
    found = import_(planted, indices)
    kinds = found.kinds() - KNOWN
    assert found.kinds() >= KNOWN
    assert kinds >= {
        (B, entries[50][0], "image doubled", "left out"),
        (B, "alexnet", "columns out of rank order", "corrected"),
        (B, "vgg16", "columns mixed row by row", "left out"),
        (B, "resnet34", "stored as floats", "corrected"),
        (ORIGINAL, "vgg13", "class indices off by a constant", "corrected"),
        (C, "squeezenet1_0", "rows in another order", "corrected"),
        (A, "resnet50", "no class of that index", "corrected"),
        (A, "polynet", "one model's predictions under two names", "left out"),
        (C, "vgg11", "file unreadable", "left out"),
        *((ORIGINAL, m, "models exchanged", "corrected") for m in ("densenet121", "resnet18")),
        *((A, m, "models exchanged", "corrected") for m in ("dpn68", "xception")),
        (B, "se_resnet50", "predictions of another list", "corrected"),
        (A, "se_resnet101", "predictions of another list", "corrected"),
    }
    subjects = {model for path in changed if (model := Path(path).stem) != B} | {entries[50][0]}
    assert {s for _, s, _, _ in kinds} == subjects
    gone = {("matched_frequency", "vgg16"), ("threshold", "polynet"), ("top_images", "vgg11")}
    for name in SETS:
        for model in sorted(set(clean.imported.models["model"])):
            one, two = found.of(name, model), clean.of(name, model)
            assert two is not None
            if (name, model) in gone:
                assert one is None
            elif (name, model) == ("threshold", "resnet50"):
                assert one is not None and (one != two).sum() == 1 and one.ravel()[123] == -1
            else:
                np.testing.assert_array_equal(one, two, err_msg=f"{model} on {name}")


def test_faults_of_lists_and_parts_planted_in_a_copy(
    record: Source, indices: dict[str, int], clean: Found
) -> None:
    def file(model: str) -> str:
        return f"data/predictions/{ORIGINAL}/{model}.npy"

    def top5(model: str) -> np.ndarray:
        found: np.ndarray = np.load(io.BytesIO(record.read(file(model))))
        return found

    entries = record.json(f"data/datasets/{B}.json")["image_filenames"]
    shorter = {"image_filenames": [*entries[:4321], *entries[4322:]], "is_valid": True}
    damaged = top5("resnet101")
    damaged[1000:2500] += 1
    mixed = top5("polynet")
    mixed[20_000:25_000] = np.random.default_rng(0).permuted(mixed[20_000:25_000], axis=1)
    changed = {
        f"data/datasets/{A}.json": record.read(f"data/datasets/{A}.json")[:5000],
        f"data/datasets/{B}.json": json.dumps(shorter).encode(),
        file("resnet101"): saved(damaged),
        file("polynet"): saved(mixed),
        file("alexnet"): saved((top5("alexnet") + 1) % 1000),
        file("resnet50"): record.read(file("vgg19")),
        file("vgg13"): record.read(file("vgg16")),
        file("vgg16"): record.read(file("vgg13")),
    }
    planted = replace(
        record,
        sizes={**record.sizes, **{n: len(d) for n, d in changed.items()}},
        open=lambda name: changed[name] if name in changed else record.read(name),
    )
    found = import_(planted, indices)
    kinds = found.kinds() - {k for k in KNOWN if k[0] != A}
    assert kinds == {
        (A, "file", "file unreadable", "left out"),
        (A, A, "set missing", "left out"),
        (B, B, "list does not fit its predictions", "corrected"),
        (ORIGINAL, "resnet101", "a part of the rows does not fit", "left out"),
        (ORIGINAL, "polynet", "columns mixed in a part of the rows", "left out"),
        (ORIGINAL, "alexnet", "class indices off by a constant", "corrected"),
        (ORIGINAL, "alexnet", "class indices counted around", "corrected"),
        (ORIGINAL, "resnet50", "one model's predictions under two names", "left out"),
        *((ORIGINAL, m, "models exchanged", "corrected") for m in ("vgg13", "vgg16")),
    }
    gone = {"resnet101", "polynet", "resnet50"}
    assert found.imported.arrays["threshold"].shape == (0, 0, 5)
    for model in sorted(set(clean.imported.models["model"])):
        one, two = found.of("original", model), clean.of("original", model)
        assert (one is None) == (model in gone)
        if one is not None and two is not None:
            np.testing.assert_array_equal(one, two)
        new, old = found.of("matched_frequency", model), clean.of("matched_frequency", model)
        assert new is not None and old is not None
        np.testing.assert_array_equal(new, np.delete(old, 4321, axis=0))


def test_the_published_cifar_record(packs: Path) -> None:
    names = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    folder = source.read(packs / "cifar10.1", "cifar10.1")
    found = import_(folder, {n: k for k, n in enumerate(names)}, "cifar10.1")
    assert found.faults.empty
    assert {s: a.shape for s, a in found.imported.arrays.items()} == {
        "original": (30, 10_000, 5),
        "v4": (30, 2021, 5),
        "v6": (30, 2000, 5),
    }
    truth = {s: part["class_index"].to_numpy() for s, part in found.imported.images.groupby("set")}
    top5 = found.of("v6", "shake_shake_26_2x64d_SSI_cutout16")
    assert top5 is not None
    assert 100 * (top5[:, 0] == truth["v6"]).mean() == pytest.approx(93.1, abs=0.05)
