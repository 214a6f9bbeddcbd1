"""From near-duplicate pairs and verdicts to what becomes of each candidate."""

from __future__ import annotations

import pandas as pd

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.keeping import Entry, choose, good_counts
from imagenetv2.duplicates.queue import queue
from imagenetv2.duplicates.settings import Duplicates
from imagenetv2.job import Job


def run(job: Job) -> None:
    """Write the pairs below a cut-off with their verdicts, and the fate of each candidate."""
    settings = job.settings(Duplicates)
    neighbours = {
        metric: artifact.table("neighbours") for metric, artifact in job.reads("neighbours").items()
    }
    verdicts = job.read("reviews/pairs").table("verdicts")
    pairs = judged(queue(neighbours, settings.cutoffs), verdicts)
    pool = job.read("candidates")
    decided = fates(
        pool.table("candidates"),
        pool.table("copies"),
        job.read("frequencies").table("frequencies"),
        pairs,
        settings.good_frequencies,
    )
    job.out.table("pairs", pairs)
    job.out.table("fates", decided)
    job.log.info(
        "duplicates: %d pairs (%s); candidates: %s",
        len(pairs),
        _counts(pairs["verdict"]),
        _counts(decided["fate"]),
    )


def _counts(column: pd.Series) -> str:
    counts = column.value_counts().sort_index()
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def judged(pairs: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """``pairs`` with columns verdict and reviewer: of several verdicts on a pair, in either order, the last."""
    last = {
        frozenset((row["image_id"], row["neighbour_id"])): (row["verdict"], row["reviewer"])
        for row in verdicts.sort_values("number").to_dict("records")
    }
    found = [
        last.get(frozenset((row["image_id"], row["neighbour_id"])), ("unreviewed", ""))
        for row in pairs.to_dict("records")
    ]
    return pairs.assign(verdict=[v for v, _ in found], reviewer=[r for _, r in found])


def fates(
    candidates: pd.DataFrame,
    copies: pd.DataFrame,
    frequencies: pd.DataFrame,
    pairs: pd.DataFrame,
    good: tuple[float, ...],
) -> pd.DataFrame:
    """What near-duplicates mean for each candidate, one row an image and class.

    Images are connected by pairs with the verdict ``duplicate`` and by a shared Flickr photograph. A component
    with an original image drops all its candidates; of any other one image for one class stays (``keeping``).
    An image that would stay but has a pair without a verdict is ``unreviewed``. Which images are blacklisted is
    not looked at here: sampling takes no blacklisted image, so a blacklisted image that is kept here is not used,
    and neither are the others of its component.
    """
    entries = _entries(candidates, frequencies)
    of_image: dict[str, list[Entry]] = {}
    for entry in entries:
        of_image.setdefault(entry.image_id, []).append(entry)
    originals = _originals(pairs)
    counts = good_counts(entries, good)
    decided: dict[Entry, tuple[str, str, str]] = {}
    for members in components(of_image, _edges(pairs, copies, set(of_image))):
        inside = [entry for image in members for entry in of_image.get(image, [])]
        original = next((image for image in members if image in originals), None)
        name = members[0]
        if original is not None:
            reason = f"the original image {original} ({originals[original]}) is in its component"
            decided.update((entry, (name, "dropped", reason)) for entry in inside)
        elif len(inside) > 1:
            kept, why = choose(inside, good, counts)
            reason = f"image {kept.image_id} for class {kept.wnid} is kept of its component"
            decided.update((entry, (name, "dropped", reason)) for entry in inside)
            decided[kept] = (name, "kept", why)
    return _table(entries, decided, pairs)


def _entries(candidates: pd.DataFrame, frequencies: pd.DataFrame) -> list[Entry]:
    votes = {
        (row["image_id"], row["wnid"]): (int(row["selected"]), int(row["shown"]))
        for row in frequencies[frequencies["origin"] == "candidates"].to_dict("records")
    }
    rows = candidates.sort_values(["image_id", "wnid"])
    return [
        Entry(row["image_id"], row["wnid"], *votes.get((row["image_id"], row["wnid"]), (0, 0)))
        for row in rows.to_dict("records")
    ]


def _originals(pairs: pd.DataFrame) -> dict[str, str]:
    """Split of each original image in a pair; also of a candidate whose pixels equal an original image's."""
    return {
        row["neighbour_id"]: row["origin"]
        for row in pairs.to_dict("records")
        if row["origin"] != "candidates"
    }


def _edges(pairs: pd.DataFrame, copies: pd.DataFrame, pool: set[str]) -> list[tuple[str, str]]:
    same = pairs[pairs["verdict"] == "duplicate"]
    edges = list(zip(same["image_id"], same["neighbour_id"], strict=True))
    for _, rows in copies[copies["image_id"].isin(pool)].groupby("photo_id", sort=True):
        images = sorted(rows["image_id"])
        edges += [(images[0], other) for other in images[1:]]
    return edges


def _table(
    entries: list[Entry], decided: dict[Entry, tuple[str, str, str]], pairs: pd.DataFrame
) -> pd.DataFrame:
    waiting: dict[str, str] = {}
    different: dict[str, int] = {}
    for row in pairs.to_dict("records"):
        for one, other in dict.fromkeys(
            [(row["image_id"], row["neighbour_id"]), (row["neighbour_id"], row["image_id"])]
        ):
            if row["verdict"] == "unreviewed":
                waiting.setdefault(one, other)
            elif row["verdict"] == "different":
                different[one] = different.get(one, 0) + 1
    rows = []
    for entry in entries:
        component, fate, reason = decided.get(entry, ("", "free", ""))
        if fate != "dropped" and entry.image_id in waiting:
            fate, reason = "unreviewed", f"its pair with image {waiting[entry.image_id]} has no verdict"
        elif fate == "free":
            count = different.get(entry.image_id, 0)
            reason = f"near neighbours looked at: {count}, none a duplicate" if count else "no near neighbour"
        rows.append((entry.image_id, entry.wnid, component, fate, reason))
    return pd.DataFrame(rows, columns=["image_id", "wnid", "component", "fate", "reason"])
