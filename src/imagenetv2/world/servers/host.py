"""The local image host: as much of S3's REST protocol as boto3 needs, and the bucket as a website."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote
from xml.sax.saxutils import escape

from imagenetv2.world.servers.database import Database
from imagenetv2.world.servers.dispatch import Request, Response

STAMP = 1560124800
"""Every object says it was stored on 10 June 2019, so that answers are always the same."""
_STORED = formatdate(STAMP, usegmt=True)
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
SCHEMA = """
CREATE TABLE IF NOT EXISTS buckets (bucket TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT, key TEXT, type TEXT, etag TEXT, body BLOB, PRIMARY KEY (bucket, key)
);
"""
SETTINGS = {"acl", "cors", "ownershipControls", "policy", "publicAccessBlock", "tagging", "website"}
"""Settings of a bucket that are accepted and change nothing: every bucket here is a public website."""


class Host:
    """Buckets and objects, kept on disk so that a killed run needn't upload again."""

    def __init__(self, path: Path, s3: str = "/s3", pages: str = "/pages") -> None:
        self._data = Database(path, SCHEMA)
        self._s3, self._pages = s3, pages

    def close(self) -> None:
        """Close the file."""
        self._data.close()

    def website(self, request: Request) -> Response:
        """GET or HEAD <pages>/<bucket>/<key>, by anyone."""
        if request.method not in ("GET", "HEAD"):
            return _error(405, "MethodNotAllowed", "The specified method is not allowed")
        bucket, key = _split(request.path.removeprefix(self._pages))
        return self._get(bucket, key)

    def rest(self, request: Request) -> Response:
        """The S3 protocol at <s3>/<bucket>/<key>, for signed requests; signatures are not checked."""
        if not request.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256"):
            return _error(403, "AccessDenied", "Access Denied")
        if request.headers.get("x-amz-content-sha256", "").startswith("STREAMING"):
            return _error(501, "NotImplemented", "Uploads in signed chunks are not implemented")
        bucket, key = _split(request.path.removeprefix(self._s3))
        query = parse_qs(request.query, keep_blank_values=True)
        if not bucket:
            return _error(501, "NotImplemented", "Only requests for a bucket are implemented")
        return self._object(request, bucket, key) if key else self._bucket(request, bucket, query)

    def _bucket(self, request: Request, bucket: str, query: dict[str, list[str]]) -> Response:
        exists = self._data.row("SELECT 1 FROM buckets WHERE bucket = ?", bucket) is not None
        if request.method == "PUT" and not SETTINGS & query.keys():
            if exists:
                return _error(409, "BucketAlreadyOwnedByYou", "The bucket is there and it is yours")
            with self._data.change() as change:
                change.execute("INSERT INTO buckets VALUES (?)", (bucket,))
            return Response(200, b"", headers={"Location": f"/{bucket}"})
        if not exists:
            return _error(404, "NoSuchBucket", "The specified bucket does not exist")
        if request.method in ("PUT", "DELETE") and SETTINGS & query.keys():
            return Response(200 if request.method == "PUT" else 204)
        if request.method == "HEAD":
            return Response(200)
        if request.method == "GET" and query.get("list-type") == ["2"]:
            return self._list(bucket, {name: values[0] for name, values in query.items()})
        return _error(501, "NotImplemented", "This operation on a bucket is not implemented")

    def _object(self, request: Request, bucket: str, key: str) -> Response:
        if self._data.row("SELECT 1 FROM buckets WHERE bucket = ?", bucket) is None:
            return _error(404, "NoSuchBucket", "The specified bucket does not exist")
        if request.method in ("GET", "HEAD"):
            return self._get(bucket, key)
        if request.method == "DELETE":
            with self._data.change() as change:
                change.execute("DELETE FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
            return Response(204)
        if request.method != "PUT" or request.query not in ("", "x-id=PutObject"):
            return _error(501, "NotImplemented", "This operation on an object is not implemented")
        etag = hashlib.md5(request.body, usedforsecurity=False).hexdigest()
        # Without a type S3 stores this one, and a browser then saves a page instead of showing it.
        kind = request.headers.get("Content-Type") or "binary/octet-stream"
        with self._data.change() as change:
            change.execute(
                "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)",
                (bucket, key, kind, etag, request.body),
            )
        return Response(200, b"", headers={"ETag": f'"{etag}"'})

    def _get(self, bucket: str, key: str) -> Response:
        row = self._data.row("SELECT * FROM objects WHERE bucket = ? AND key = ?", bucket, key)
        if row is None:
            return _error(404, "NoSuchKey", "The specified key does not exist.")
        headers = {"ETag": f'"{row["etag"]}"', "Last-Modified": _STORED}
        return Response(200, row["body"], row["type"], headers)

    def _list(self, bucket: str, query: dict[str, str]) -> Response:
        prefix, most = query.get("prefix", ""), min(int(query.get("max-keys", "1000")), 1000)
        after = query.get("continuation-token") or query.get("start-after", "")
        encode = (lambda key: quote(key, safe="/")) if query.get("encoding-type") == "url" else str
        rows = self._data.rows(
            "SELECT key, etag, length(body) AS size FROM objects "
            "WHERE bucket = ? AND key > ? AND substr(key, 1, ?) = ? ORDER BY key LIMIT ?",
            bucket, after, len(prefix), prefix, most + 1,
        )  # fmt: skip
        more, rows = len(rows) > most, rows[:most]
        stamp = datetime.fromtimestamp(STAMP, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        entries = "".join(
            f"<Contents><Key>{escape(encode(r['key']))}</Key><LastModified>{stamp}</LastModified>"
            f"<ETag>&quot;{r['etag']}&quot;</ETag><Size>{r['size']}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
            for r in rows
        )
        token = (
            f"<NextContinuationToken>{escape(rows[-1]['key'])}</NextContinuationToken>"
            if more and rows
            else ""
        )
        kind = "<EncodingType>url</EncodingType>" if query.get("encoding-type") == "url" else ""
        return _xml(
            200,
            f'<ListBucketResult xmlns="{NAMESPACE}"><Name>{escape(bucket)}</Name>'
            f"<Prefix>{escape(encode(prefix))}</Prefix><MaxKeys>{most}</MaxKeys>{kind}"
            f"<KeyCount>{len(rows)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"
            f"{token}{entries}</ListBucketResult>",
        )


def _split(path: str) -> tuple[str, str]:
    bucket, _, key = path.lstrip("/").partition("/")
    return unquote(bucket), unquote(key)


def _xml(status: int, text: str) -> Response:
    return Response(status, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode(), "application/xml")


def _error(status: int, code: str, message: str) -> Response:
    return _xml(status, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>")
