"""What crosses the boundary: arguments, records, the journal, waiting."""

from __future__ import annotations

import gzip
import json
import threading
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from imagenetv2.candidates import arguments
from imagenetv2.candidates.arguments import Window, upload_window
from imagenetv2.candidates.journal import Journal
from imagenetv2.candidates.ladder import Admitted
from imagenetv2.candidates.patience import Backoff, TransientError, retry_after
from imagenetv2.candidates.records import MalformedAnswerError, parse_page, parse_photo
from imagenetv2.candidates.responses import Responses
from imagenetv2.candidates.search import Findings, photos_table
from imagenetv2.candidates.settings import Search
from imagenetv2.candidates.stages import FOUND
from imagenetv2.candidates.throttle import Throttle
from tests.unit.scripted_server import FakeClock

RECORD: dict[str, Any] = {
    "id": "0012345678",
    "owner": "6e12345678",
    "secret": "6e12345678",
    "server": "65535",
    "license": "4",
    "dateupload": "1342000000",
    "datetaken": "2012-07-11 09:00:00",
    "datetakengranularity": "0",
    "datetakenunknown": "0",
    "url_z": "https://live.staticflickr.com/65535/0012345678_6e12345678_z.jpg",
    "width_z": "640",
    "height_z": 480,
}


def test_arguments_have_flickrs_names() -> None:
    made = arguments.search_arguments(
        Search(licenses=("4", "5")),
        "great white shark",
        upload_window(date(2012, 7, 11), date(2012, 7, 11)),
        3,
    )
    assert made["min_upload_date"] == "1341964800"
    assert made["max_upload_date"] == str(1341964800 + 86399)
    assert (made["min_taken_date"], made["max_taken_date"]) == ("2012-07-11 00:00:00", "2013-07-11 23:59:59")
    assert (made["text"], made["page"], made["per_page"]) == ("great white shark", "3", "500")
    assert (made["license"], made["sort"]) == ("4,5", "date-posted-asc")
    assert "taken" not in "".join(
        arguments.search_arguments(Search(taken_from=None, taken_to=None), "x", Window(0, 1), 1)
    )


def test_an_argument_that_flickr_would_ignore_is_refused() -> None:
    with pytest.raises(ValueError, match="max_uploaded_date"):
        arguments.checked({"text": "cat", "max_uploaded_date": "1"})


def test_numbers_as_strings_are_numbers_and_ids_stay_strings() -> None:
    photo = parse_photo(RECORD, ("l", "z"))
    assert (photo.photo_id, photo.owner_id) == ("0012345678", "6e12345678")
    assert (photo.uploaded, photo.width, photo.height, photo.taken_unknown) == (1342000000, 640, 480, False)
    page = parse_page({"photos": {"total": "3", "perpage": "250", "photo": [RECORD, {"id": "x"}, 7]}}, ("z",))
    assert (page.total, page.per_page, page.returned, page.malformed) == (3, 250, 3, 2)


def test_ids_and_secrets_survive_the_round_trip_through_the_table(tmp_path: Path) -> None:
    photo = parse_photo({**RECORD, "url_z": None}, ("z",))
    assert photo.url == "https://live.staticflickr.com/65535/0012345678_6e12345678.jpg"
    frame = photos_table([Findings("n00000001", ("a",), [Admitted("a", 0, photo)], {})])
    import pyarrow.parquet as pq

    pq.write_table(FOUND.to_arrow(frame), tmp_path / "p.parquet")
    row = pd.read_parquet(tmp_path / "p.parquet").iloc[0]
    assert (row["photo_id"], row["owner_id"], row["license"]) == ("0012345678", "6e12345678", "4")
    assert row["url"] == photo.url
    assert pd.isna(row["width"])


def test_sizes_are_taken_in_the_order_wanted() -> None:
    record = {**RECORD, "url_o": "https://o", "width_o": 4000, "height_o": "x"}
    assert parse_photo(record, ("l", "o", "z")).url == "https://o"
    assert parse_photo(record, ("l", "o", "z")).height is None
    assert parse_photo(record, ("z", "o")).width == 640


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"id": "12a"},
        {"id": "../x"},
        {"dateupload": None},
        {"dateupload": "soon"},
        {"dateupload": -1},
    ],
)
def test_records_without_id_or_time_are_malformed(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedAnswerError):
        parse_photo({**RECORD, **change}, ("z",))
    with pytest.raises(MalformedAnswerError):
        parse_photo({**RECORD, "url_z": "javascript:x", "secret": ""}, ("z",))


@pytest.mark.parametrize("answer", [{}, {"photos": []}, {"photos": {"photo": {}}}, {"photos": {"photo": []}}])
def test_other_envelopes_are_malformed(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedAnswerError):
        parse_page(answer, ("z",))


def test_a_journal_outlives_a_torn_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1, "text": "Zürich\n"})
    journal.append({"n": 2})
    whole = journal.path.read_bytes()
    for cut in range(len(whole) + 1):
        journal.path.write_bytes(whole[:cut])
        journal.append({"n": 3})
        numbers = [record["n"] for record in journal.read()]
        assert numbers[-1] == 3
        assert numbers[:-1] == [n for n, end in ((1, whole.index(b"\n")), (2, len(whole) - 1)) if cut >= end]
        assert journal.damaged <= 1


def test_responses_are_asked_for_once_and_exported_the_same(tmp_path: Path) -> None:
    calls: list[str] = []

    def ask(given: Any) -> dict[str, Any]:
        calls.append(given["page"])
        return {"page": given["page"], "call": len(calls)}

    (tmp_path / "a").mkdir()
    first = Responses(tmp_path / "a")
    for page in ("1", "2", "3"):
        first.get({"page": page, "text": "x"}, ask)
    again = Responses(tmp_path / "a")
    # Another order of names is the same call; page 3 is kept but not used this time.
    assert again.get({"text": "x", "page": "2"}, ask) == {"page": "2", "call": 2}
    again.get({"text": "x", "page": "1"}, ask)
    assert calls == ["1", "2", "3"]
    again.export(tmp_path / "one.gz")
    again.export(tmp_path / "two.gz")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    lines = [json.loads(line) for line in gzip.decompress((tmp_path / "one.gz").read_bytes()).splitlines()]
    assert [line["arguments"]["page"] for line in lines] == ["2", "1"]
    # A torn line is a call that is made again; of two answers to a call the first counts.
    journal = tmp_path / "a/responses.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])
    with journal.open("a") as file:
        file.write('\n{"arguments": {"page": "1", "text": "x"}, "response": {"page": "other"}}\n')
    torn = Responses(tmp_path / "a")
    assert torn.damaged == 1
    assert torn.get({"page": "1", "text": "x"}, ask)["call"] == 1
    assert torn.get({"page": "3", "text": "x"}, ask)["call"] == 4


def test_waits_grow_with_jitter_up_to_the_ceiling() -> None:
    backoff, clock = Backoff(7, base=1.0, ceiling=10.0), FakeClock()

    def fail() -> None:
        raise TransientError("no")

    with pytest.raises(TransientError):
        backoff.retry(fail, np.random.default_rng(1), clock)
    assert len(clock.sleeps) == 6
    for wait, most in zip(clock.sleeps, [1, 2, 4, 8, 10, 10], strict=True):
        assert most / 2 <= wait <= most
    assert backoff.wait(0, 30.0, np.random.default_rng(1)) == 30.0
    assert backoff.wait(0, 1e9, np.random.default_rng(1)) == backoff.longest


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("?", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, 100.0) == seconds


def test_a_throttle_spaces_calls_over_all_who_share_the_ledger(tmp_path: Path) -> None:
    clock = FakeClock()
    throttles = [Throttle(tmp_path / "rate", 2.0, clock) for _ in range(3)]
    slots = [t._reserve(1_000_000.0) for t in throttles * 2]
    assert slots == [1_000_000.0 + 0.5 * i for i in range(6)]
    (tmp_path / "rate").write_text("garbage")
    throttles[0].wait()
    assert clock.sleeps == []
    throttles[1].wait()
    assert clock.sleeps == [0.5]
    (tmp_path / "rate").write_text("9e99")
    throttles[0].wait()
    assert len(clock.sleeps) == 1


def test_a_throttle_is_shared_by_threads(tmp_path: Path) -> None:
    throttle, slots = Throttle(tmp_path / "rate", 10.0, FakeClock()), list[float]()
    threads = [threading.Thread(target=lambda: slots.append(throttle._reserve(5.0))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(sorted(slots), 5.0 + np.arange(20) / 10)
