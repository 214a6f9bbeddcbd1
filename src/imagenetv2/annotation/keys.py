"""Secret keys: of the opaque image tokens, and of the hashes that stand for workers."""

from __future__ import annotations

import hashlib
import hmac
import os

from imagenetv2.annotation.settings import Hits
from imagenetv2.errors import InputError

BLINDING = "IMAGENETV2_BLINDING_KEY"
WORKERS = "IMAGENETV2_WORKER_KEY"
SHORTEST = 16


def blinding_key(settings: Hits, seed: int) -> bytes:
    """The key of image tokens. Raises InputError where the environment should hold it but does not."""
    if settings.blinding == "environment":
        return _from_environment(BLINDING, "image tokens, or set hits.blinding to seed")
    return _from_seed("blinding", seed)


def worker_key(*, embedded: bool, seed: int) -> bytes:
    """The key of worker hashes; simulated workers are nobody, so theirs comes from the seed."""
    if embedded:
        return _from_seed("workers", seed)
    return _from_environment(WORKERS, "worker hashes and keep it as long as this batch is used")


def keyed_hash(key: bytes, *parts: str) -> str:
    """HMAC-SHA256 of the parts in hex, 64 digits."""
    return hmac.new(key, "\x1f".join(parts).encode(), hashlib.sha256).hexdigest()


def worker_hash(key: bytes, worker_id: str) -> str:
    """What stands for a worker in every file: 16 hex digits."""
    return keyed_hash(key, worker_id)[:16]


def fingerprint(key: bytes) -> str:
    """Eight hex digits by which a changed key is noticed."""
    return keyed_hash(key, "fingerprint", "of this key")[:8]


def _from_seed(purpose: str, seed: int) -> bytes:
    return hashlib.sha256(f"imagenetv2 {purpose} {seed}".encode()).digest()


def _from_environment(name: str, purpose: str) -> bytes:
    value = os.environ.get(name, "")
    if len(value) < SHORTEST:
        state = "is not set" if not value else f"has only {len(value)} characters"
        raise InputError(
            f"The environment variable {name} {state}; set it to a secret of at least {SHORTEST} characters "
            f"that keys the {purpose}."
        )
    return value.encode()
