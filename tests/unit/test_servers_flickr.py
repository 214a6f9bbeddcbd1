"""The local Flickr, asked by flickrapi and requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import flickrapi
import pytest
import requests

from imagenetv2.job import Endpoints
from imagenetv2.world.servers.flickr import PHOTOS, REFUSED_KEY
from imagenetv2.world.servers.photos import PLACEHOLDER
from imagenetv2.world.servers.serve import running

from .small_world import jpeg, make_world, photo

Start = Callable[..., Endpoints]
ROWS = [
    photo(1, title="A red robin", tags=["bird", "robin"], license="1", uploaded=100),
    photo(2, title="robin hood", tags=["robin hood"], license="4", uploaded=300, taken="2012-08-01 10:00:00"),
    photo(3, title="Blackbird, robin & wren", tags=["bird"], license="4", uploaded=200),
    photo(4, title="wren", tags=["Small Bird"], license="0", uploaded=400, taken="2014-01-01 00:00:00"),
    photo(5, title="gone robin", file=None, status="gone", uploaded=500),
    photo(6, title="broken robin", status="broken", uploaded=600, width=1500, height=1000),
]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def run(
            rows: list[dict[str, Any]], faults: Mapping[int, str] | None = None, files: Any = None
        ) -> Endpoints:
            world = make_world(tmp_path / "world", rows, files=files)
            parts = {"flickr", "photos"}
            return stack.enter_context(
                running(world, seed=1, data=tmp_path, version="v", parts=parts, faults=faults)
            )

        yield run


def client(endpoints: Endpoints, key: str = "key", timeout: float = 10.0) -> Any:
    api = flickrapi.FlickrAPI(key, "secret", format="parsed-json", store_token=False, timeout=timeout)
    api.REST_URL = f"{endpoints.flickr}/services/rest/"
    return api


def ids(answer: Any) -> list[int]:
    return [int(p["id"]) - 9_000_000_000 for p in answer["photos"]["photo"]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"text": "robin"}, [6, 5, 2, 3, 1]),
        ({"text": "ROBIN bird"}, [3, 1]),
        ({"text": "robin -hood -broken -gone"}, [3, 1]),
        ({"text": '"robin hood"'}, [2]),
        ({"text": "rob"}, []),
        ({"text": "robin", "sort": "date-posted-asc"}, [1, 3, 2, 5, 6]),
        ({"text": "robin", "sort": "date-taken-asc"}, [2, 1, 3, 5, 6]),
        ({"text": "robin", "sort": "nonsense"}, [6, 5, 2, 3, 1]),
        ({"tags": "robin"}, [1]),
        ({"tags": "robinhood,wren"}, [2]),
        ({"tags": "bird,robin", "tag_mode": "any"}, [3, 1]),
        ({"tags": "bird,robin", "tag_mode": "all"}, [1]),
        ({"tags": "small bird"}, [4]),
        ({"text": "robin", "min_upload_date": "200", "max_upload_date": "300"}, [2, 3]),
        ({"text": "robin", "max_upload_date": "1970-01-01 00:03:20"}, [3, 1]),
        ({"text": "robin", "max_uploaded_date": "200"}, [6, 5, 2, 3, 1]),
        ({"min_taken_date": "2013-06-01 00:00:00"}, [4]),
        ({"min_upload_date": "1", "max_taken_date": "2012-12-31 23:59:59"}, [2]),
        ({"text": "robin", "license": "1,5"}, [1]),
        ({"text": "robin", "media": "videos"}, []),
        ({"text": "robin", "media": "photos", "content_type": "1", "safe_search": "1"}, [6, 5, 2, 3, 1]),
        ({"user_id": "4@N00"}, [4]),
    ],
)
def test_search(start: Start, arguments: dict[str, str], expected: list[int]) -> None:
    answer = client(start(ROWS)).photos.search(**arguments)
    assert ids(answer) == expected
    assert answer["photos"]["total"] == str(len(expected))


def test_a_record_holds_what_extras_ask_for(start: Start) -> None:
    rows = [photo(1, secret="6e12345678", taken_unknown=True, width=1500, height=1000)]
    extras = "date_upload,date_taken,license,owner,url_o,url_l,url_k,o_dims,nonsense"
    (record,) = client(start(rows)).photos.search(text="photograph", extras=extras)["photos"]["photo"]
    assert record == {
        "id": "9000000001", "owner": "1@N00", "secret": "6e12345678", "server": "65535", "farm": 66,
        "title": "photograph 1", "ispublic": 1, "isfriend": 0, "isfamily": 0, "license": "4",
        "dateupload": "1357000001", "datetaken": "2013-01-01 12:00:00", "datetakengranularity": 0,
        "datetakenunknown": "1", "o_width": "1500", "o_height": "1000",
        "url_o": f"{PHOTOS}/65535/9000000001_6e12345678_o.jpg", "width_o": 1500, "height_o": 1000,
        "url_l": f"{PHOTOS}/65535/9000000001_6e12345678_b.jpg", "width_l": 1024, "height_l": 683,
    }  # fmt: skip
    plain = client(start(rows)).photos.search(text="photograph")["photos"]["photo"][0]
    assert set(plain) == {
        "id", "owner", "secret", "server", "farm", "title", "ispublic", "isfriend", "isfamily",
    }  # fmt: skip


def test_pages_are_clamped_and_results_repeat_after_the_cap(start: Start) -> None:
    api = client(start([photo(n, file=None) for n in range(4100)]))
    first = api.photos.search(text="photograph", sort="date-posted-asc", per_page=1000)["photos"]
    assert (first["perpage"], first["pages"], first["total"], first["page"]) == (500, 9, "4100", 1)
    pages = [
        ids(api.photos.search(text="photograph", sort="date-posted-asc", per_page=500, page=n))
        for n in range(1, 11)
    ]
    assert [n for page in pages[:8] for n in page] == list(range(4000))
    assert pages[8] == list(range(100))
    assert pages[9] == []
    standard = api.photos.search(text="photograph", per_page="many", page=0)["photos"]
    assert (standard["perpage"], standard["pages"], standard["page"]) == (100, 41, 1)


@pytest.mark.parametrize(
    ("method", "key", "arguments", "code"),
    [
        ("search", "", {"text": "robin"}, 100),
        ("search", REFUSED_KEY, {"text": "robin"}, 100),
        ("search", "key", {}, 3),
        ("search", "key", {"text": "", "license": "4"}, 3),
        ("getInfo", "key", {"photo_id": "1"}, 112),
    ],
)
def test_refusals(start: Start, method: str, key: str, arguments: dict[str, str], code: int) -> None:
    api = client(start(ROWS), key)
    with pytest.raises(flickrapi.FlickrError) as caught:
        getattr(api.photos, method)(**arguments)
    assert caught.value.code == code


def test_other_formats_and_callbacks(start: Start) -> None:
    url = f"{start(ROWS).flickr}/services/rest/"
    asked = {"method": "flickr.photos.search", "api_key": "k", "text": "wren"}
    assert requests.get(url, asked, timeout=10).text.startswith('jsonFlickrApi({"stat": "fail", "code": 111')
    called = requests.get(url, {**asked, "format": "json"}, timeout=10).text
    plain = requests.get(url, {**asked, "format": "json", "nojsoncallback": "1"}, timeout=10).text
    assert called == f"jsonFlickrApi({plain})"
    assert json.loads(plain)["photos"]["total"] == "2"


def test_injected_faults_look_like_the_real_ones(start: Start) -> None:
    api = client(start(ROWS, {0: "429", 1: "500", 2: "105", 3: "timeout"}), timeout=0.2)
    codes = []
    for _ in range(3):
        with pytest.raises(flickrapi.FlickrError) as caught:
            api.photos.search(text="robin")
        codes.append(caught.value.code)
    assert codes == [None, None, 105]
    with pytest.raises(requests.exceptions.Timeout):
        api.photos.search(text="robin")
    assert len(ids(api.photos.search(text="robin"))) == 5


def test_photo_files(start: Start) -> None:
    broken = jpeg(6)[:400]
    endpoints = start(ROWS, files={"p6.jpg": broken, "p1.jpg": jpeg(77, side=48)})
    found = client(endpoints).photos.search(text="robin", extras="url_o,url_m,url_l")["photos"]["photo"]

    def get(url: str) -> requests.Response:
        return requests.get(f"{endpoints.photos}{urlsplit(url).path}", timeout=10)

    files = {p["id"][-1]: get(p["url_o"]) for p in found}
    assert files["1"].content == jpeg(77, side=48)
    assert files["1"].headers["Content-Type"] == "image/jpeg"
    assert files["6"].content == broken
    assert files["5"].status_code == 200
    assert urlsplit(files["5"].url).path == PLACEHOLDER
    assert [r.status_code for r in files["5"].history] == [302]
    assert files["5"].content.startswith(b"\x89PNG")
    record = next(p for p in found if p["id"][-1] == "1")
    assert "url_l" not in record
    assert get(record["url_m"]).content[:2] == b"\xff\xd8"
    assert get(record["url_o"].replace(record["secret"], "0123456789")).status_code == 404
    assert get(record["url_o"].replace("_o.", "_b.")).status_code == 404
    assert get("/65535/nothing.jpg").status_code == 404
