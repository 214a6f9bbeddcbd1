"""Clients of Mechanical Turk and S3: real, sandbox or the local servers of an embedded world."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from imagenetv2.errors import InputError

LIVE = "https://mturk-requester.us-east-1.amazonaws.com"
SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
REGION = "us-east-1"
THREADS = 8
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def mturk(endpoint: str | None, mode: str) -> Any:
    """A boto3 client; ``mode`` (sandbox or live) chooses the address where ``endpoint`` is None."""
    address = endpoint or {"sandbox": SANDBOX, "live": LIVE}[mode]
    return _client("mturk", address, embedded=endpoint is not None)


def s3(endpoint: str | None) -> Any:
    """A boto3 client; the region of the real bucket comes from AWS_DEFAULT_REGION."""
    client = _client("s3", endpoint, embedded=endpoint is not None)
    client.meta.events.register_last("before-call.s3.PutObject", _send_at_once)
    return client


def _send_at_once(params: dict[str, Any], **_: Any) -> None:
    """Pictures are small: asking first whether they may be sent costs a round trip each."""
    params["headers"].pop("Expect", None)


def _client(service: str, endpoint: str | None, *, embedded: bool) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(
        retries={"mode": "adaptive", "max_attempts": 10},
        max_pool_connections=THREADS,
        connect_timeout=10,
        read_timeout=60,
        s3={"addressing_style": "path"} if embedded else {},
    )
    keys = _keys(embedded)
    region = REGION if service == "mturk" or embedded else os.environ.get("AWS_DEFAULT_REGION", REGION)
    return boto3.client(service, region_name=region, endpoint_url=endpoint, config=config, **keys)


def _keys(embedded: bool) -> dict[str, str | None]:
    if embedded:
        return {"aws_access_key_id": "embedded", "aws_secret_access_key": "embedded"}
    missing = [name for name in CREDENTIALS if not os.environ.get(name)]
    if missing:
        raise InputError(
            f"The environment variables {' and '.join(missing)} are not set; set them to the AWS key of the "
            f"Mechanical Turk account (and AWS_SESSION_TOKEN where the key needs it)."
        )
    key, secret = (os.environ[name] for name in CREDENTIALS)
    return {
        "aws_access_key_id": key,
        "aws_secret_access_key": secret,
        "aws_session_token": os.environ.get("AWS_SESSION_TOKEN"),
    }


@contextmanager
def refusals(service: str) -> Iterator[None]:
    """Turn what botocore raises into one sentence."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        what = str(error).rstrip(".")
        raise InputError(
            f"{service}: {what}; mend that and run again, what is done so far is kept."
        ) from error
