"""The image host: task pages and, beside each, its pictures under their opaque names, on S3 or what speaks S3."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pandas as pd

from imagenetv2 import archive
from imagenetv2.annotation.services import THREADS
from imagenetv2.errors import InputError
from imagenetv2.progress import progress


@dataclass(frozen=True)
class Host:
    """A bucket, and the prefix under which this version of the tasks lies in it."""

    client: Any
    bucket: str
    prefix: str
    pages: str | None

    def address(self, name: str) -> str:
        """Where a worker's browser finds a file. ``pages`` is the local host's base URL, None for S3 itself.

        S3's website addresses speak no HTTPS, which Mechanical Turk demands; hence its HTTPS ones.
        """
        region = self.client.meta.region_name
        base = (
            f"{self.pages}/{self.bucket}"
            if self.pages
            else f"https://{self.bucket}.s3.{region}.amazonaws.com"
        )
        return f"{base}/{self.prefix}/{name}"

    def listing(self) -> set[str]:
        """Names of the files that are there; the bucket of an embedded world is made if absent."""
        from botocore.exceptions import ClientError

        paginator = self.client.get_paginator("list_objects_v2")
        found: set[str] = set()
        try:
            for page in paginator.paginate(Bucket=self.bucket, Prefix=f"{self.prefix}/"):
                found |= {item["Key"].removeprefix(f"{self.prefix}/") for item in page.get("Contents", ())}
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") not in ("NoSuchBucket", "404"):
                raise
            if not self.pages:
                raise InputError(
                    f"assignments.bucket: S3 has no bucket {self.bucket}; make one whose objects are publicly readable."
                ) from error
            self.client.create_bucket(Bucket=self.bucket)
        return found

    def put(self, name: str, data: bytes) -> None:
        """Upload one file."""
        kind = "text/html; charset=utf-8" if name.endswith(".html") else "image/jpeg"
        key = f"{self.prefix}/{name}"
        self.client.put_object(Bucket=self.bucket, Key=key, Body=data, ContentType=kind)


def upload(host: Host, tasks: pd.DataFrame, pages: archive.Reader, shown: archive.Reader) -> int:
    """Upload what is not there yet, pictures before pages; returns how many files that was.

    A file counts as there when its name is listed: names are keyed to the content, and S3 keeps no half uploads.
    """
    there = host.listing()
    pictures = [
        (f"{token}.jpg", shown, f"{image_id}.jpg")
        for token, image_id in zip(tasks["token"], tasks["image_id"], strict=True)
        if f"{token}.jpg" not in there
    ]
    documents = [(name, pages, name) for name in pages.names() if name not in there]

    def put(file: tuple[str, archive.Reader, str]) -> None:
        name, source, entry = file
        host.put(name, source.data(entry))

    with ThreadPoolExecutor(THREADS) as pool:
        for group, what in ((pictures, "uploading pictures"), (documents, "uploading pages")):
            for _ in progress(pool.map(put, group), what, len(group)):
                pass
    return len(pictures) + len(documents)
