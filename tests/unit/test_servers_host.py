"""The local image host, spoken to by boto3 and requests."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests
from botocore.exceptions import ClientError

from imagenetv2.job import Endpoints
from imagenetv2.world.servers.serve import running

from .small_world import boto, make_world, photo

Start = Callable[[], tuple[Any, Endpoints]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    world = make_world(tmp_path / "world", [photo(1)])
    with ExitStack() as stack:

        def run() -> tuple[Any, Endpoints]:
            endpoints = stack.enter_context(
                running(world, seed=1, data=tmp_path, version="v", parts={"host"})
            )
            client = boto("s3", endpoints.s3)
            stack.callback(client.close)
            return client, endpoints

        yield run


def code(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_objects_are_kept_and_public(start: Start) -> None:
    s3, endpoints = start()
    s3.create_bucket(Bucket="tasks")
    key = "a b/ü+&=%25.html"
    s3.put_object(Bucket="tasks", Key=key, Body=b"<p>page", ContentType="text/html; charset=utf-8")
    s3.upload_fileobj(io.BytesIO(b"\xff\xd8\x00"), "tasks", "x.jpg", ExtraArgs={"ContentType": "image/jpeg"})
    s3.put_object(Bucket="tasks", Key="untyped", Body=b"")
    for _ in range(2):
        got = s3.get_object(Bucket="tasks", Key=key)
        assert got["Body"].read() == b"<p>page"
        assert got["ContentType"] == "text/html; charset=utf-8"
        head = s3.head_object(Bucket="tasks", Key="x.jpg")
        assert (head["ContentLength"], head["ContentType"]) == (3, "image/jpeg")
        page = requests.get(f"{endpoints.pages}/tasks/{quote(key)}?assignmentId=1", timeout=10)
        assert (page.content, page.headers["Content-Type"]) == (b"<p>page", "text/html; charset=utf-8")
        untyped = requests.get(f"{endpoints.pages}/tasks/untyped", timeout=10)
        assert (untyped.content, untyped.headers["Content-Type"]) == (b"", "binary/octet-stream")
        s3, endpoints = start()
    s3.delete_object(Bucket="tasks", Key="x.jpg")
    assert code(s3.head_object, Bucket="tasks", Key="x.jpg") == "404"


def test_lists_come_in_pages(start: Start) -> None:
    s3, _ = start()
    s3.create_bucket(Bucket="tasks")
    names = sorted(f"p/{n:02d} é&.jpg" for n in range(25))
    for name in (*names, "other"):
        s3.put_object(Bucket="tasks", Key=name, Body=name.encode())
    pages = list(
        s3.get_paginator("list_objects_v2").paginate(
            Bucket="tasks", Prefix="p/", PaginationConfig={"PageSize": 10}
        )
    )
    assert [page["KeyCount"] for page in pages] == [10, 10, 5]
    entries = [entry for page in pages for entry in page["Contents"]]
    assert [entry["Key"] for entry in entries] == names
    assert [entry["Size"] for entry in entries] == [len(name.encode()) for name in names]
    assert s3.list_objects_v2(Bucket="tasks")["KeyCount"] == 26
    assert "Contents" not in s3.list_objects_v2(Bucket="tasks", Prefix="q")


def test_refusals(start: Start) -> None:
    s3, endpoints = start()
    assert code(s3.put_object, Bucket="tasks", Key="x", Body=b"") == "NoSuchBucket"
    assert code(s3.list_objects_v2, Bucket="tasks") == "NoSuchBucket"
    assert code(s3.head_bucket, Bucket="tasks") == "404"
    s3.create_bucket(Bucket="tasks")
    s3.head_bucket(Bucket="tasks")
    s3.put_bucket_policy(Bucket="tasks", Policy="{}")
    assert code(s3.create_bucket, Bucket="tasks") == "BucketAlreadyOwnedByYou"
    assert code(s3.get_object, Bucket="tasks", Key="x") == "NoSuchKey"
    assert code(s3.list_objects, Bucket="tasks") == "NotImplemented"
    assert requests.put(f"{endpoints.s3}/tasks/x", b"x", timeout=10).status_code == 403
    assert requests.put(f"{endpoints.pages}/tasks/x", b"x", timeout=10).status_code == 405
    assert requests.get(f"{endpoints.pages}/tasks/x", timeout=10).status_code == 404
    assert requests.get(f"{endpoints.flickr}/services/rest/", timeout=10).status_code == 404
