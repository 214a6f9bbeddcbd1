"""Stage ``search``: what Flickr finds for each synonym of each class, checked, and admitted rung by rung."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imagenetv2.candidates import arguments, ladder, windows
from imagenetv2.candidates.arguments import Window
from imagenetv2.candidates.filters import Filter
from imagenetv2.candidates.flickr import Credentials, Flickr
from imagenetv2.candidates.ladder import Admitted
from imagenetv2.candidates.patience import Backoff, Clock, SystemClock, TransientError
from imagenetv2.candidates.records import MalformedAnswerError, Page, Photo, parse_page
from imagenetv2.candidates.responses import Responses
from imagenetv2.candidates.settings import Search
from imagenetv2.candidates.stages import FOUND, QUERIES
from imagenetv2.candidates.throttle import Throttle
from imagenetv2.errors import InputError
from imagenetv2.progress import progress
from imagenetv2.randomness import generator

if TYPE_CHECKING:
    import pandas as pd

    from imagenetv2.job import Job

AskText = Callable[[str, Window, int], Page]
"""Gives a page (from 1) of the results of a text query in a window."""


def run(job: Job) -> None:
    """Write ``photos.parquet``, ``queries.parquet`` and ``responses.jsonl.gz``."""
    settings = job.settings(Search)
    classes = job.read("classes").table("classes")
    responses = Responses(job.store(store_name(job, settings)))
    ask = asker(settings, responses, client(job, settings, SystemClock()))
    findings = []
    synonyms = list(zip(classes["wnid"], classes["lemmas"], strict=True))
    for wnid, lemmas in progress(synonyms, "search", total=len(synonyms)):
        findings.append(search_class(wnid, list(lemmas), settings, ask))
    report(job, findings, responses)
    empty = [(f.wnid, list(f.lemmas)) for f in findings if not f.admitted]
    if empty:
        raise InputError(without_photographs(empty))
    job.out.table("photos", photos_table(findings))
    job.out.table("queries", queries_table(findings))
    responses.export(job.out.path("responses.jsonl.gz"))


def store_name(job: Job, settings: Search) -> str:
    """Where answers are kept: by crawl, and in an embedded world by its version, since it answers otherwise."""
    world = job.versions["world"] if "world" in job.stage.reads else ""
    return "/".join(("flickr", "-".join(filter(None, (settings.snapshot, world)))))


def client(job: Job, settings: Search, clock: Clock) -> Callable[[], Flickr]:
    """Makes the API client when the first call is needed: a replay needs no key."""

    def make() -> Flickr:
        endpoint = job.endpoints.flickr
        jitter = generator(job.seed, "search", "jitter")
        backoff = Backoff(settings.attempts)
        if endpoint is not None:
            return Flickr(Credentials("embedded", "world"), endpoint, backoff, jitter, clock)
        if "world" in job.stage.reads:
            raise InputError(
                "search: the local Flickr of the embedded world is not running; run snakemake, which starts it."
            )
        throttle = Throttle(job.store("throttle") / "flickr", settings.calls_per_second, clock)
        return Flickr(Credentials.of_environment(), None, backoff, jitter, clock, throttle.wait)

    return make


def asker(settings: Search, responses: Responses, make: Callable[[], Flickr]) -> AskText:
    """Pages by text, window and number: from the kept answers, else from Flickr."""
    made: list[Flickr] = []

    def check(answer: Any) -> None:
        try:
            parse_page(answer, settings.sizes)
        except MalformedAnswerError as error:
            raise TransientError(f"the answer is not what Flickr documents: {error}") from None

    def call(given: Mapping[str, str]) -> dict[str, Any]:
        if not made:
            made.append(make())
        return made[0].search(given, check)

    def ask(text: str, window: Window, number: int) -> Page:
        answer = responses.get(arguments.search_arguments(settings, text, window, number), call)
        return parse_page(answer, settings.sizes)

    return ask


@dataclass
class Tally:
    """What one query gave in one window."""

    total: int
    pages: int = 0
    returned: int = 0
    malformed: int = 0
    outside: int = 0
    photos: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Findings:
    """A class: its synonyms, what was admitted, and a tally by synonym and window."""

    wnid: str
    lemmas: tuple[str, ...]
    admitted: list[Admitted]
    tallies: Mapping[tuple[str, Window], Tally]


def search_class(wnid: str, lemmas: Sequence[str], settings: Search, ask: AskText) -> Findings:
    """Ask for each synonym as far as the ladder needs it."""
    keep, tallies = Filter.of(settings), dict[tuple[str, Window], Tally]()

    def results(lemma: str) -> Iterator[Photo]:
        for fetched in windows.pages(keep.uploaded, lambda w, n: ask(lemma, w, n), settings.result_cap):
            tally = tallies.setdefault((lemma, fetched.window), Tally(fetched.page.total))
            yield from _sifted(fetched.page, keep, tally)

    admitted = ladder.climb({lemma: results(lemma) for lemma in dict.fromkeys(lemmas)}, settings.ladder)
    return Findings(wnid, tuple(lemmas), admitted, tallies)


def _sifted(page: Page, keep: Filter, tally: Tally) -> Iterator[Photo]:
    tally.pages += 1
    tally.returned += page.returned
    tally.malformed += page.malformed
    passing = []
    for photo in page.photos:
        if photo.photo_id in tally.photos:
            continue
        tally.photos.add(photo.photo_id)
        if keep.admits(photo):
            passing.append(photo)
        else:
            tally.outside += 1
    yield from passing


def photos_table(findings: Sequence[Findings]) -> pd.DataFrame:
    """``photos.parquet``: places within a class go by rung, time of upload and id."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for found in findings:
        for rank, one in enumerate(sorted(found.admitted, key=_place)):
            rows.append(
                {"wnid": found.wnid, "query": one.query, "rung": one.rung, "rank": rank, **vars(one.photo)}
            )
    return pd.DataFrame(rows, columns=[c.name for c in FOUND.columns], dtype=object)


def _place(one: Admitted) -> tuple[int, int, int]:
    return one.rung, one.photo.uploaded, int(one.photo.photo_id)


def queries_table(findings: Sequence[Findings]) -> pd.DataFrame:
    """``queries.parquet``; a photograph counts as kept where the query that brought it found it first."""
    import pandas as pd

    rows = []
    for found in findings:
        mine: dict[str, set[str]] = {}
        for one in found.admitted:
            mine.setdefault(one.query, set()).add(one.photo.photo_id)
        for (query, window), tally in found.tallies.items():
            kept = mine.get(query, set()) & tally.photos
            mine[query] = mine.get(query, set()) - kept
            counts = (
                tally.total,
                tally.pages,
                tally.returned,
                tally.malformed,
                len(tally.photos),
                tally.outside,
            )
            rows.append((found.wnid, query, window.start, window.end, *counts, len(kept)))
    return pd.DataFrame(rows, columns=[c.name for c in QUERIES.columns])


def without_photographs(empty: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The sentence for classes that nothing was found for."""
    named = "; ".join(f"{wnid} ({', '.join(lemmas)})" for wnid, lemmas in empty[:3])
    more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
    return (
        f"search: no photograph was found for the class {named}{more}; add lemmas to classes.table, widen "
        "search.uploaded_from to uploaded_to and taken_from to taken_to, or leave the class out with classes.only "
        "(answers so far are kept)."
    )


def report(job: Job, findings: Sequence[Findings], responses: Responses) -> None:
    """Key counts for the log."""
    tallies = [tally for found in findings for tally in found.tallies.values()]
    job.log.info(
        "%d photographs for %d classes from %d queries and windows",
        sum(len(found.admitted) for found in findings), len(findings), len(tallies),
    )  # fmt: skip
    outside, malformed = sum(t.outside for t in tallies), sum(t.malformed for t in tallies)
    if outside or malformed:
        job.log.warning("dropped %d records outside the filter and %d malformed ones", outside, malformed)
    if responses.damaged:
        job.log.warning("%d kept answers were damaged; they were asked for again", responses.damaged)
    cap = job.settings(Search).result_cap
    for found in findings:
        for (query, window), tally in found.tallies.items():
            if tally.total > cap:
                job.log.warning(
                    "%s: %r: %d results within one second (%d) are above result_cap; %d of them were read",
                    found.wnid, query, tally.total, window.start, tally.returned,
                )  # fmt: skip
