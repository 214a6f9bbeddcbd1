"""Stage ``candidates``: fetch what the search found, decode it, and make one image of equal pixels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from imagenetv2.benchmark import pictures
from imagenetv2.benchmark.decoding import Decoded, Source, decode_all
from imagenetv2.benchmark.settings import Images
from imagenetv2.candidates.fetching import Fetcher, user_agent
from imagenetv2.candidates.patience import Backoff, SystemClock
from imagenetv2.candidates.photo_store import FAILED, Outcome, PhotoStore
from imagenetv2.candidates.pool import Pool, absent, downloads_table, judge
from imagenetv2.candidates.settings import Candidates, Search
from imagenetv2.candidates.throttle import Throttle
from imagenetv2.errors import InputError
from imagenetv2.pooling import in_order
from imagenetv2.progress import progress

if TYPE_CHECKING:
    from imagenetv2.job import Job

FAILURES_IN_A_ROW = 20
"""After so many the host is taken to be out of reach."""
FAILED_SHARE = 0.1
"""Where more than this share of the photographs failed, the pool would be another than it could be."""

Found = dict[str, Any]
"""A row of the search's photos.parquet."""


def run(job: Job) -> None:
    """Write the candidate pool, its pictures, the copies, the downloads and the rejects."""
    settings = job.settings(Candidates)
    classes = job.read("classes").table("classes")
    photos = job.read("search").table("photos")
    found: list[Found] = [{str(k): v for k, v in row.items()} for row in photos.to_dict("records")]
    store = PhotoStore(job.store(store_name(job)))
    urls = {row["photo_id"]: row["url"] for row in found}
    outcomes = fetch_all(urls, store, fetcher(job, settings), settings.connections)
    check_failures(outcomes)
    pool = Pool(dict(zip(classes["wnid"], classes["class_index"].astype(int), strict=True)))
    with pictures.write(job.out.path("images.zip")) as archive:
        fill(pool, found, outcomes, store, archive, job)
    check_classes(pool, found, [str(w) for w in classes["wnid"]])
    job.out.table("candidates", pool.candidates_table())
    job.out.table("copies", pool.copies_table())
    job.out.table("downloads", downloads_table(outcomes, pool.decoded))
    job.out.table("rejected", pool.rejected_table(outcomes))
    reasons = Counter(r.reason for r in pool.rejections.values())
    job.log.info("%d images from %d photographs", len(pool.images), len(urls))
    for reason, count in sorted(reasons.items()):
        level = job.log.warning if reason == FAILED else job.log.info
        level("%d photographs are not in the pool: %s", count, reason)


def store_name(job: Job) -> str:
    """Where files are kept: by crawl, and in an embedded world by its version."""
    world = job.versions["world"] if "world" in job.stage.reads else ""
    return "/".join(("photos", "-".join(filter(None, (job.settings(Search).snapshot, world)))))


def fetcher(job: Job, settings: Candidates) -> Fetcher:
    """For the real host with its own limit of downloads a second, or for a local server without."""
    clock = SystemClock()
    fetch = Fetcher(
        Backoff(settings.attempts),
        clock,
        user_agent(settings.contact),
        job.endpoints.photos,
        frozenset(settings.placeholders),
    )
    if job.endpoints.photos is not None:
        return fetch
    if "world" in job.stage.reads:
        raise InputError(
            "candidates: the local image host of the embedded world is not running; run snakemake, which starts it."
        )
    throttle = Throttle(job.store("throttle") / "photos", settings.downloads_per_second, clock)
    return replace(fetch, pace=throttle.wait)


def fetch_all(
    urls: Mapping[str, str], store: PhotoStore, fetch: Fetcher, connections: int
) -> dict[str, Outcome]:
    """What became of each photograph, by id; those that are settled in the store are not asked for again.

    Raises InputError where the host seems out of reach; what was fetched stays in the store.
    """

    def one(item: tuple[str, str]) -> Outcome:
        photo_id, url = item
        settled = store.settled(photo_id, url)
        if settled is not None:
            return settled
        outcome, data = fetch.fetch(photo_id, url)
        if data is not None:
            store.keep(photo_id, data)
        store.record(outcome)
        return outcome

    outcomes: dict[str, Outcome] = {}
    row = 0
    with ThreadPoolExecutor(connections, thread_name_prefix="download") as threads:
        results = in_order(threads, one, sorted(urls.items()), ahead=4 * connections)
        for outcome in progress(results, "download", total=len(urls)):
            outcomes[outcome.photo_id] = outcome
            row = row + 1 if outcome.state == FAILED else 0
            if row >= FAILURES_IN_A_ROW:
                raise InputError(
                    f"the image host is out of reach: {row} downloads in a row failed, the last, {outcome.url}, with: "
                    f"{outcome.detail}; what was fetched is kept, run again later."
                )
    return outcomes


def check_failures(outcomes: Mapping[str, Outcome]) -> None:
    """Raises InputError where too many downloads failed for a pool that others could make too."""
    failed = [o for o in outcomes.values() if o.state == FAILED]
    if len(failed) > FAILED_SHARE * len(outcomes):
        raise InputError(
            f"{len(failed)} of {len(outcomes)} downloads failed, the first, {failed[0].url}, with: {failed[0].detail}; "
            "what was fetched is kept, run again and only the failed ones are tried."
        )


def fill(
    pool: Pool,
    found: Sequence[Found],
    outcomes: Mapping[str, Outcome],
    store: PhotoStore,
    archive: pictures.ClassPictures,
    job: Job,
) -> None:
    """Decode the files, class by class, into the pool and the archive."""
    for outcome in outcomes.values():
        if (rejection := absent(outcome)) is not None:
            pool.reject(outcome.photo_id, rejection)
    present = sorted(
        (row for row in found if row["photo_id"] not in pool.rejections),
        key=lambda row: (row["wnid"], row["photo_id"]),
    )
    sources = (Source(row["photo_id"], store.path(row["photo_id"])) for row in present)
    decoded = progress(decode_all(sources, job.settings(Images), job.cores), "decode", total=len(present))
    minimum = job.settings(Candidates).minimum_side
    for row, (photo_id, result) in zip(present, decoded, strict=True):
        if isinstance(result, Decoded):
            pool.decoded[photo_id] = replace(result, png=b"")
        image = judge(result, _stated(row), minimum)
        if isinstance(image, Decoded):
            pool.add(row, image)
            archive.add(row["wnid"], image.image_id, image.png)
        else:
            pool.reject(photo_id, image)


def _stated(row: Found) -> tuple[int, int] | None:
    sides = row["width"], row["height"]
    # A nullable column comes back as floats with NaN.
    return (
        (int(sides[0]), int(sides[1])) if all(side == side and side is not None for side in sides) else None
    )


def check_classes(pool: Pool, found: Iterable[Found], wnids: Sequence[str]) -> None:
    """Raises InputError naming classes none of whose photographs is an image."""
    have = {wnid for _, wnid in pool.images}
    empty = [wnid for wnid in wnids if wnid not in have]
    if empty:
        tried = Counter(row["wnid"] for row in found)
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        raise InputError(
            f"candidates: no image is left for the class {', '.join(f'{w} (of {tried[w]} photographs)' for w in empty[:3])}"
            f"{more}; widen the dates of the search, add lemmas to classes.table, or leave the class out with classes.only."
        )
