"""Builds the folder of a world from CIFAR-10 and the counts of CIFAR-10H."""

from __future__ import annotations

import csv
import io
import pickle
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from imagenetv2.atomically import replacing
from imagenetv2.errors import InputError
from imagenetv2.images import encode_png
from imagenetv2.progress import progress

LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
TRAIN = tuple(f"data_batch_{n}" for n in range(1, 6))
TEST = "test_batch"

Images = npt.NDArray[np.uint8]


def build(cifar: Path, counts: Path, out: Path, train_limit: int | None = None) -> None:
    """Write train.tar, test.tar (PNG, one folder a class) and test_votes.csv into ``out``.

    Args:
        cifar: the folder ``cifar-10-batches-py``, one that holds it, or ``cifar-10-python.tar.gz``.
        counts: ``cifar10h-counts.npy``, test images × 10 classes: how many people chose which class.
        out: made where absent; earlier files of these names are replaced, each as a whole.
        train_limit: keep only the first so many training photographs; None keeps all.

    Raises InputError where a file is missing, damaged or of another form.
    """
    if train_limit is not None and train_limit < 1:
        raise InputError(f"--train-limit {train_limit} keeps nothing; give at least 1 or leave it out.")
    votes = read_counts(counts)
    batches = _Batches(cifar)
    images, labels = batches.read(TEST)
    if len(images) != len(votes):
        raise InputError(
            f"{counts} has {len(votes)} rows but {TEST} has {len(images)} images; they don't belong together."
        )
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "test.tar") as file:
        names = _pack(file, iter([(images, labels)]), None, "test")
    with replacing(out / "test_votes.csv") as file:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["index", "image", "label", *LABELS])
        for index, (name, label, row) in enumerate(zip(names, labels, votes.tolist(), strict=True)):
            table.writerow([index, name, LABELS[label], *row])
        file.write(text.getvalue().encode())
    with replacing(out / "train.tar") as file:
        _pack(file, (batches.read(name) for name in TRAIN), train_limit, "train")


def read_counts(path: Path) -> npt.NDArray[np.int64]:
    """The counts, checked. Raises InputError."""
    try:
        counts = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as a numpy array ({error}); fetch cifar10h-counts.npy again."
        ) from error
    whole = np.rint(counts) if np.issubdtype(counts.dtype, np.number) else counts
    if (
        counts.ndim != 2
        or counts.shape[1] != len(LABELS)
        or whole is counts
        or (whole != counts).any()
        or (counts < 0).any()
    ):
        raise InputError(
            f"{path} holds no counts of {len(LABELS)} classes but {counts.dtype} {counts.shape}; use cifar10h-counts.npy."
        )
    if (counts.sum(axis=1) == 0).any():
        raise InputError(f"{path} has a row without votes; use cifar10h-counts.npy.")
    checked: npt.NDArray[np.int64] = whole.astype(np.int64)
    return checked


class _Batches:
    """The pickled batches, in a folder or in the archive."""

    def __init__(self, place: Path) -> None:
        if not place.exists():
            raise InputError(f"{place} does not exist; give the folder cifar-10-batches-py or its archive.")
        self._place = place

    def read(self, name: str) -> tuple[Images, list[int]]:
        """Images N × 32 × 32 × 3 and labels."""
        with self._stream(name) as file:
            try:
                batch = ArraysOnly(file, encoding="bytes").load()
                data, labels = np.asarray(batch[b"data"]), [int(v) for v in batch[b"labels"]]
                images = data.reshape(len(labels), 3, 32, 32).transpose(0, 2, 3, 1)
                fits = data.dtype == np.uint8 and all(0 <= v < len(LABELS) for v in labels)
            except (
                pickle.UnpicklingError,
                EOFError,
                KeyError,
                TypeError,
                ValueError,
                AttributeError,
            ) as error:
                raise InputError(
                    f"{self._place}: {name} is no CIFAR-10 batch ({error}); fetch it again."
                ) from error
        if not fits:
            raise InputError(
                f"{self._place}: {name} holds {data.dtype} values or unknown labels; fetch it again."
            )
        return images, labels

    @contextmanager
    def _stream(self, name: str) -> Iterator[Any]:
        if self._place.is_dir():
            for path in (self._place / name, self._place / "cifar-10-batches-py" / name):
                if path.is_file():
                    with path.open("rb") as file:
                        yield file
                    return
            raise InputError(f"{self._place} holds no {name}; give the folder cifar-10-batches-py.")
        try:
            with tarfile.open(self._place) as archive:
                found = [m for m in archive if m.isfile() and Path(m.name).name == name]
                if not found:
                    raise InputError(f"{self._place} holds no {name}; give cifar-10-python.tar.gz.")
                yield archive.extractfile(found[0])
        except (tarfile.TarError, EOFError, OSError) as error:
            raise InputError(f"{self._place} is no whole archive ({error}); fetch it again.") from error


class ArraysOnly(pickle.Unpickler):
    """Unpickles plain values and numpy arrays, and refuses everything that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        """The few names that an array's pickle needs."""
        rebuild = np.zeros(0).__reduce__()[0]
        allowed = {
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("_codecs", "encode"): _latin1,
        }
        for old in ("numpy.core.multiarray", "numpy._core.multiarray"):
            allowed[(old, "_reconstruct")] = rebuild
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no array needs")
        return allowed[(module, name)]


def _latin1(text: str, encoding: str) -> bytes:
    """What protocol 2 writes for bytes."""
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding}")
    return text.encode("latin1")


def _pack(
    file: BinaryIO, batches: Iterator[tuple[Images, list[int]]], limit: int | None, what: str
) -> list[str]:
    """Write images as PNG into a tar archive; returns their names."""
    seen = dict.fromkeys(LABELS, 0)
    names: list[str] = []
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for images, labels in batches:
            for pixels, label in progress(zip(images, labels, strict=True), f"packing {what}", len(labels)):
                if limit is not None and len(names) >= limit:
                    return names
                word = LABELS[label]
                number = seen[word]
                seen[word] += 1
                data = encode_png(np.ascontiguousarray(pixels))
                entry = tarfile.TarInfo(f"{word}/{number:04d}.png")
                entry.size, entry.mode, entry.mtime = len(data), 0o644, 0
                archive.addfile(entry, io.BytesIO(data))
                names.append(entry.name)
    return names
