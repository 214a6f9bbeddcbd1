"""Building the folder from CIFAR-10 and the counts of CIFAR-10H, with made-up batches."""

from __future__ import annotations

import csv
import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.world.cifar10h import LABELS, TEST, TRAIN, build
from imagenetv2.world.recorded import read_votes

EACH = 20


def batches(folder: Path) -> dict[str, tuple[np.ndarray, list[int]]]:
    """Write batches as the python version has them: protocol 2, keys as bytes. Returns what is in them."""
    folder.mkdir()
    held = {}
    for number, name in enumerate((*TRAIN, TEST)):
        rng = np.random.default_rng(number)
        data = rng.integers(0, 256, (EACH, 3072), dtype=np.uint8)
        labels = [int(v) for v in rng.integers(0, 10, EACH)]
        held[name] = (data, labels)
        (folder / name).write_bytes(
            pickle.dumps({b"data": data, b"labels": labels, b"batch_label": b"x"}, protocol=2)
        )
    return held


def counts(path: Path, rows: int = EACH) -> np.ndarray:
    votes = np.random.default_rng(9).integers(0, 30, (rows, 10)) + 1
    np.save(path, votes)
    return votes


def images(path: Path) -> dict[str, np.ndarray]:
    with tarfile.open(path) as archive:
        return {m.name: np.asarray(Image.open(io.BytesIO(archive.extractfile(m).read()))) for m in archive}  # type: ignore[union-attr]


@pytest.mark.parametrize("packed", [False, True])
def test_everything_arrives_without_loss(tmp_path: Path, packed: bool) -> None:
    held = batches(tmp_path / "cifar-10-batches-py")
    votes = counts(tmp_path / "counts.npy")
    place = tmp_path
    if packed:
        place = tmp_path / "cifar-10-python.tar.gz"
        with tarfile.open(place, "w:gz") as archive:
            archive.add(tmp_path / "cifar-10-batches-py", "cifar-10-batches-py")
    build(place, tmp_path / "counts.npy", tmp_path / "out")
    test = images(tmp_path / "out/test.tar")
    with (tmp_path / "out/test_votes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(r["index"]) for r in rows] == list(range(EACH))
    data, labels = held[TEST]
    for index, row in enumerate(rows):
        assert row["label"] == LABELS[labels[index]] == row["image"].split("/")[0]
        assert [int(row[name]) for name in LABELS] == votes[index].tolist()
        for channel in range(3):
            plane = data[index, 1024 * channel : 1024 * (channel + 1)].reshape(32, 32)
            assert np.array_equal(test[row["image"]][:, :, channel], plane)
    train = images(tmp_path / "out/train.tar")
    assert len(train) == 5 * EACH
    assert sorted(n.split("/")[0] for n in train) == sorted(
        LABELS[v] for name in TRAIN for v in held[name][1]
    )


def test_the_world_reads_what_was_built_and_the_bytes_are_always_the_same(tmp_path: Path) -> None:
    batches(tmp_path / "cifar")
    votes = counts(tmp_path / "counts.npy")
    for out in ("one", "two"):
        build(tmp_path / "cifar", tmp_path / "counts.npy", tmp_path / out, 7)
    one, two = ({p.name: p.read_bytes() for p in sorted((tmp_path / o).iterdir())} for o in ("one", "two"))
    assert one == two and set(one) == {"train.tar", "test.tar", "test_votes.csv"}
    assert len(images(tmp_path / "one/train.tar")) == 7
    read = read_votes(tmp_path / "one/test_votes.csv", {f"n{n}": [name] for n, name in enumerate(LABELS)})
    assert np.array_equal(np.stack([r.counts for r in read]), votes)


class Harmful:
    """Unpickling it would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.path,))


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    batches(tmp_path / "cifar")
    counts(tmp_path / "counts.npy")
    (tmp_path / "cifar" / TEST).write_bytes(pickle.dumps(Harmful(tmp_path / "harm")))
    with pytest.raises(InputError, match="which no array needs"):
        build(tmp_path / "cifar", tmp_path / "counts.npy", tmp_path / "out")
    assert not (tmp_path / "harm").exists()


def test_wrong_inputs_are_named(tmp_path: Path) -> None:
    batches(tmp_path / "cifar")
    good, bad = tmp_path / "counts.npy", tmp_path / "bad.npy"
    counts(good)
    with pytest.raises(InputError, match="nowhere does not exist"):
        build(tmp_path / "nowhere", good, tmp_path / "out")
    for array in (np.ones((EACH, 9)), np.full((EACH, 10), 0.5), np.zeros((EACH, 10)), np.full((EACH, 10), "x"), -np.ones((EACH, 10))):  # fmt: skip
        np.save(bad, array)
        with pytest.raises(InputError, match=r"bad\.npy"):
            build(tmp_path / "cifar", bad, tmp_path / "out")
    counts(bad, EACH + 1)
    with pytest.raises(InputError, match="21 rows but test_batch has 20 images"):
        build(tmp_path / "cifar", bad, tmp_path / "out")
    (tmp_path / "cifar" / TRAIN[3]).write_bytes(b"\x80\x02garbage")
    with pytest.raises(InputError, match="data_batch_4 is no CIFAR-10 batch"):
        build(tmp_path / "cifar", good, tmp_path / "out")
    assert not (tmp_path / "out/train.tar").exists()
    (tmp_path / "cifar" / TEST).unlink()
    with pytest.raises(InputError, match="holds no test_batch"):
        build(tmp_path / "cifar", good, tmp_path / "out")
