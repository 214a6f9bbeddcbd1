"""Windows, budgets and filters, against brute force."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.candidates import ladder, windows
from imagenetv2.candidates.arguments import Window, upload_window
from imagenetv2.candidates.filters import Filter, taken_span
from imagenetv2.candidates.records import Page, Photo

times = st.lists(st.integers(0, 60), max_size=60)


def photo(number: int, uploaded: int = 0, **fields: object) -> Photo:
    values = {
        "photo_id": str(number),
        "owner_id": "",
        "license": "0",
        "taken": "2012-08-01 10:00:00",
        "taken_granularity": 0,
        "taken_unknown": False,
        "uploaded": uploaded,
        "width": None,
        "height": None,
        "url": "https://x/",
        **fields,
    }
    return Photo(**values)  # type: ignore[arg-type]


class RepeatingFlickr:
    """Results in order of upload; beyond the cap earlier ones come again; pages may be smaller than asked for."""

    def __init__(self, uploads: list[int], cap: int, per_page: int) -> None:
        self.photos = [photo(i, u) for i, u in enumerate(sorted(uploads))]
        self.cap, self.per_page, self.calls = cap, per_page, 0

    def __call__(self, window: Window, number: int) -> Page:
        self.calls += 1
        found = [p for p in self.photos if window.start <= p.uploaded <= window.end]
        places = range((number - 1) * self.per_page, min(number * self.per_page, len(found)))
        return Page(len(found), self.per_page, tuple(found[i % self.cap] for i in places), 0)


@given(times, st.integers(1, 12), st.integers(1, 7))
def test_every_photograph_is_read_once_and_in_order(uploads: list[int], cap: int, per_page: int) -> None:
    flickr = RepeatingFlickr(uploads, cap, per_page)
    fetched = list(windows.pages(Window(0, 60), flickr, cap))
    found = [p.photo_id for f in fetched for p in f.page.photos]
    whole = [p.photo_id for p in flickr.photos]
    # Where one second alone holds more than the cap, Flickr gives no way to read the rest.
    if max((uploads.count(u) for u in uploads), default=0) <= cap:
        assert found == whole
    else:
        assert set(found) <= set(whole)
    leaves = sorted({f.window for f in fetched})
    assert (leaves[0].start, leaves[-1].end) == (0, 60)
    assert all(a.end + 1 == b.start for a, b in pairwise(leaves))
    assert all(f.page.total <= cap or f.window.start == f.window.end for f in fetched)


@given(times, st.integers(1, 12), st.integers(1, 7))
def test_no_page_is_fetched_before_it_is_wanted(uploads: list[int], cap: int, per_page: int) -> None:
    lazy, whole = RepeatingFlickr(uploads, cap, per_page), RepeatingFlickr(uploads, cap, per_page)
    next(iter(windows.pages(Window(0, 60), lazy, cap)))
    list(windows.pages(Window(0, 60), whole, cap))
    assert lazy.calls <= whole.calls
    assert lazy.calls <= 8  # One call a halving: a window of 61 seconds is halved at most six times.


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_halves_make_the_window(a: int, b: int) -> None:
    window = Window(min(a, b), max(a, b) + 1)
    first, second = window.halves()
    assert (first.start, first.end + 1, second.end) == (window.start, second.start, window.end)


def test_a_window_has_an_order() -> None:
    with pytest.raises(ValueError, match="empty"):
        Window(2, 1)


@given(st.integers(0, 500), st.integers(1, 40))
def test_a_budget_is_split_whole_and_even(budget: int, shares: int) -> None:
    parts = ladder.split(budget, shares)
    assert (sum(parts), len(parts)) == (budget, shares)
    assert max(parts) - min(parts) <= 1
    assert parts == sorted(parts, reverse=True)


synonyms = st.lists(st.lists(st.integers(0, 30), max_size=25, unique=True), min_size=1, max_size=5)
rungs = st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True).map(sorted)


@given(synonyms, rungs)
def test_no_budget_is_lost_and_no_photograph_twice(results: list[list[int]], rungs: list[int]) -> None:
    found = ladder.climb({f"q{i}": iter([photo(n) for n in r]) for i, r in enumerate(results)}, rungs)
    ids = [one.photo.photo_id for one in found]
    everything = {str(n) for result in results for n in result}
    assert len(set(ids)) == len(ids)
    for rung, wanted in enumerate(rungs):
        assert sum(one.rung <= rung for one in found) == min(wanted, len(everything))
    for one in found:
        assert int(one.photo.photo_id) in results[int(one.query[1:])]


@given(synonyms, rungs)
def test_a_lower_ladder_gives_the_beginning_of_a_higher_one(
    results: list[list[int]], rungs: list[int]
) -> None:
    def climb(steps: list[int]) -> list[ladder.Admitted]:
        return ladder.climb({f"q{i}": iter([photo(n) for n in r]) for i, r in enumerate(results)}, steps)

    assert climb(rungs[:1]) == [one for one in climb(rungs) if one.rung == 0]


@given(synonyms, st.integers(1, 60))
def test_a_synonym_with_enough_gets_at_least_its_even_share(results: list[list[int]], wanted: int) -> None:
    apart = [[1000 * i + n for n in r] for i, r in enumerate(results)]
    found = ladder.climb({f"q{i}": iter([photo(n) for n in r]) for i, r in enumerate(apart)}, [wanted])
    for i, result in enumerate(apart):
        mine = [int(one.photo.photo_id) for one in found if one.query == f"q{i}"]
        assert mine == result[: len(mine)]
        assert len(mine) >= min(len(result), wanted // len(results))


days = st.dates(date(2011, 1, 1), date(2014, 12, 31))


@given(days, days, st.integers(-2, 2), st.booleans())
def test_upload_is_exact_to_the_second(first: date, last: date, off: int, at_end: bool) -> None:
    first, last = min(first, last), max(first, last)
    keep = Filter(upload_window(first, last), None, None, frozenset())
    midnight = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
    edge = midnight if at_end else datetime(first.year, first.month, first.day, tzinfo=UTC)
    moment = int(edge.timestamp()) + off
    day = datetime.fromtimestamp(moment, UTC).date()
    assert keep.admits(photo(1, moment)) == (first <= day <= last)


@given(days, days, days, st.sampled_from([0, 4, 6, 8]), st.booleans())
def test_a_date_taken_counts_only_where_it_is_known(
    first: date, last: date, day: date, granularity: int, unknown: bool
) -> None:
    first, last = min(first, last), max(first, last)
    keep = Filter(Window(0, 10), first, last, frozenset())
    one = photo(1, 5, taken=f"{day} 23:59:59", taken_granularity=granularity, taken_unknown=unknown)
    every = [date(2011, 1, 1) + timedelta(days=i) for i in range(1461)]
    same = {0: lambda d: d == day, 4: lambda d: (d.year, d.month) == (day.year, day.month)}
    may_be = [d for d in every if same.get(granularity, lambda d: d.year == day.year)(d)]
    assert keep.admits(one) == (unknown or any(first <= d <= last for d in may_be))
    assert not keep.admits(photo(1, 11, taken_unknown=True))


@pytest.mark.parametrize("taken", ["", "0000-00-00 00:00:00", "yesterday", "2013-02-30 00:00:00"])
def test_a_senseless_date_taken_is_unknown(taken: str) -> None:
    assert taken_span(photo(1, taken=taken)) is None


def test_months_end_where_the_calendar_says() -> None:
    for year, month in ((2012, 2), (2013, 2), (2012, 12)):
        span = taken_span(photo(1, taken=f"{year}-{month:02}-01 00:00:00", taken_granularity=4))
        assert span == (date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def test_licences_are_checked_again() -> None:
    keep = Filter(Window(0, 10), None, None, frozenset({"4", "5"}))
    assert keep.admits(photo(1, 5, license="4"))
    assert not keep.admits(photo(1, 5, license="45"))
