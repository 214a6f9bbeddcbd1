"""One contender of `neighbours.py` in a process of its own: `python contenders.py NAME TASK.json`.

TASK.json is a ``Task``. Times, peak memory and what was found go to OUT.json and OUT.npz. A contender is a function of
the task that yields, for each thing it does, a name, the seconds of preparation and of search, the pairs (candidate,
reference, distance), and a remark.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Found = tuple[str, float, float, tuple[Any, Any, Any], str]
PART = 500


@dataclass(frozen=True)
class Task:
    """What every contender is given.

    Attributes:
        pixels: a .npy file of images, references first, then candidates.
        references: how many are references.
        cutoff, k: what is searched: pairs at or below a distance, and so many nearest.
        cores: threads.
        pairs: how many pairs' SSIM is computed.
        out: where results go, without the ending.
    """

    pixels: str
    references: int
    cutoff: float
    k: int
    cores: int
    pairs: int
    out: str

    def images(self) -> np.ndarray:
        """All images, memory-mapped: references, then candidates."""
        return np.load(self.pixels, mmap_mode="r")

    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """References and candidates as rows of values."""
        images = self.images()
        flat = images.reshape(len(images), -1)
        return flat[: self.references], flat[self.references :]


def main() -> None:
    """Run one contender."""
    name, path = sys.argv[1:]
    task = Task(**json.loads(Path(path).read_text("utf-8")))
    results, arrays, private = [], {}, Private()
    private.start()
    for what, preparation, search, pairs, remark in CONTENDERS[name](task):
        arrays |= {f"{len(results)}_{i}": np.asarray(values) for i, values in enumerate(pairs)}
        said = {"what": what, "preparation": preparation, "search": search, "remark": remark}
        results.append(said | {"peak": peak(), "private": private.most})
    np.savez(f"{task.out}.npz", **arrays)
    Path(f"{task.out}.json").write_text(json.dumps(results), "utf-8")


def peak() -> int:
    """Most memory of this process in bytes, pages of mapped files included."""
    status = Path("/proc/self/status")
    if status.exists():  # since exec; getrusage also counts what the parent had
        line = next(s for s in status.read_text("ascii").splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Private(threading.Thread):
    """Watches memory that is not a mapped file's, which the system can't take back; 0 where it isn't told."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0

    def run(self) -> None:
        status = Path("/proc/self/status")
        while status.exists():
            for line in status.read_text("ascii").splitlines():
                if line.startswith("RssAnon"):
                    self.most = max(self.most, int(line.split()[1]) * 1024)
            time.sleep(0.05)


def ours(task: Task) -> Iterator[Found]:
    """imagenetv2, with an engine of its own for each search."""
    from threadpoolctl import threadpool_limits

    from imagenetv2.duplicates.excluded import Excluded
    from imagenetv2.duplicates.l2.cpu import Engine
    from imagenetv2.duplicates.search import Plan, search

    images = task.images()
    rows, columns = np.arange(task.references, len(images)), np.arange(task.references)
    excluded = Excluded.of(len(images), [])
    # Compiling is done once after installation.
    few = Engine(np.random.default_rng(0).integers(0, 256, (60, 8, 8, 3), dtype=np.uint8))
    search(few, np.arange(30), np.arange(30, 60), Excluded.of(60, []), Plan(k=1))
    few.exact(np.arange(3), np.arange(3), np.zeros(3))
    searches = {
        "under the cut-off": Plan(k=0, within=task.cutoff, cores=task.cores),
        f"nearest {task.k}": Plan(k=task.k, cores=task.cores),
    }
    with threadpool_limits(1, user_api="blas"):
        for what, plan in searches.items():
            start = time.perf_counter()
            engine = Engine(images)
            prepare(engine, len(images), task.cores)
            ready = time.perf_counter()
            pairs, skipped = search(engine, rows, columns, excluded, plan)
            done = time.perf_counter()
            share = 100 * (1 - skipped.computed / skipped.pairs)
            found = (pairs.row - task.references, pairs.column, pairs.distance)
            yield f"imagenetv2, {what}", ready - start, done - ready, found, f"{share:.2f} % of pairs skipped"


def prepare(engine: Any, images: int, cores: int) -> None:
    """Have an engine make what it keeps of every image."""
    from imagenetv2.pooling import threaded

    parts = [np.arange(start, min(start + PART, images)) for start in range(0, images, PART)]
    list(threaded(lambda part: engine.bounds(part[:1], part), parts, cores))


def faiss_flat(task: Task) -> Iterator[Found]:
    """faiss IndexFlatL2."""
    import faiss

    faiss.omp_set_num_threads(task.cores)
    references, candidates = task.sets()
    start = time.perf_counter()
    index = faiss.IndexFlatL2(references.shape[1])
    for begin in range(0, len(references), PART):
        index.add(references[begin : begin + PART].astype(np.float32))
    queries = candidates.astype(np.float32)
    preparation = time.perf_counter() - start
    start = time.perf_counter()
    # Its range is open: the next float32 makes it closed.
    radius = float(np.nextafter(np.float32(task.cutoff), np.float32(np.inf)))
    limits, distance, column = index.range_search(queries, radius)
    took = time.perf_counter() - start
    row = np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64)))
    yield "faiss IndexFlatL2, range search", preparation, took, (row, column, distance), ""
    start = time.perf_counter()
    distance, column = index.search(queries, task.k)
    took = time.perf_counter() - start
    yield f"faiss IndexFlatL2, nearest {task.k}", preparation, took, nearest(column, distance), ""


def scikit_learn(task: Task) -> Iterator[Found]:
    """scikit-learn's brute force."""
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    references, candidates = task.sets()
    start = time.perf_counter()
    known, queries = references.astype(np.float32), candidates.astype(np.float32)
    model = NearestNeighbors(algorithm="brute", metric="sqeuclidean", n_jobs=task.cores).fit(known)
    preparation = time.perf_counter() - start
    with threadpool_limits(task.cores):
        start = time.perf_counter()
        distances, columns = model.radius_neighbors(queries, radius=task.cutoff)
        took = time.perf_counter() - start
        row = np.repeat(np.arange(len(queries)), [len(some) for some in columns])
        pairs = (row, np.concatenate(columns), np.concatenate(distances))
        yield "scikit-learn brute force, radius", preparation, took, pairs, ""
        start = time.perf_counter()
        distance, column = model.kneighbors(queries, n_neighbors=min(task.k, len(known)))
        took = time.perf_counter() - start
    yield f"scikit-learn brute force, nearest {task.k}", preparation, took, nearest(column, distance), ""


def nearest(column: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, ...]:
    """Pairs from candidates × k; faiss fills up with −1 where there are fewer."""
    row = np.broadcast_to(np.arange(len(column))[:, None], column.shape)
    there = column >= 0
    return row[there], column[there], distance[there]


def truth(task: Task) -> Iterator[Found]:
    """All distances, candidates × references, by products of integers in float64: no sum comes near 2^53."""
    references, candidates = task.sets()
    start = time.perf_counter()
    distance = np.zeros((len(candidates), len(references)))
    norms = [np.zeros(len(some)) for some in (candidates, references)]
    for part in range(0, references.shape[1], 2048):
        x, y = (some[:, part : part + 2048].astype(np.float64) for some in (candidates, references))
        distance -= 2 * (x @ y.T)
        for norm, some in zip(norms, (x, y), strict=True):
            norm += np.einsum("ij,ij->i", some, some)
    distance += norms[0][:, None] + norms[1]
    yield "truth", 0.0, time.perf_counter() - start, (distance.astype(np.int64), [], []), ""


def ssim(task: Task) -> Iterator[Found]:
    """SSIM of some pairs: ours of many on one core, and scikit-image's of the first of them."""
    from skimage.metrics import structural_similarity
    from threadpoolctl import threadpool_limits

    from imagenetv2.duplicates.ssim.cpu import Engine

    images = task.images()
    window = max(3, images.shape[1] * 35 // 256 // 2 * 2 + 1)
    side = min(max(2, int(task.pairs**0.5)), task.references, len(images) - task.references)
    chosen = np.concatenate([images[:side], images[task.references : task.references + side]])
    columns, rows = (a.ravel() for a in np.indices((side, side)) + np.array([[[0]], [[side]]]))
    limit = np.full(len(rows), np.inf)
    Engine(chosen[:4], window).exact(np.array([2, 3]), np.array([0, 1]), limit[:2])  # compiles
    with threadpool_limits(1):
        start = time.perf_counter()
        engine = Engine(chosen, window)
        ready = time.perf_counter()
        distance = engine.exact(rows, columns, limit)
        took = time.perf_counter() - ready
        yield "imagenetv2, SSIM", ready - start, took, (rows - side, columns, distance), ""
        some = np.random.default_rng(0).permutation(len(rows))[: max(20, len(rows) // 50)]
        start = time.perf_counter()
        theirs = [
            structural_similarity(chosen[r], chosen[c], win_size=window, data_range=255, channel_axis=-1)
            for r, c in zip(rows[some], columns[some], strict=True)
        ]
        took = time.perf_counter() - start
    yield "scikit-image, SSIM", 0.0, took, (rows[some] - side, columns[some], (1 - np.array(theirs)) / 2), ""


CONTENDERS: dict[str, Callable[[Task], Iterator[Found]]] = {
    "truth": truth,
    "imagenetv2": ours,
    "faiss": faiss_flat,
    "scikit-learn": scikit_learn,
    "ssim": ssim,
}

if __name__ == "__main__":
    main()
