"""Identifiers of the local Mechanical Turk: they look like the real ones and are always the same."""

from __future__ import annotations

import hashlib

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _text(length: int, *parts: str | int) -> str:
    number = int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest(), "big")
    out = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        out.append(_DIGITS[digit])
    return "".join(out)


def hit_id(token: str) -> str:
    """30 characters, from the UniqueRequestToken of the task."""
    return "3" + _text(29, "hit", token)


def hit_type_id(*properties: str) -> str:
    """30 characters, from the properties that tasks of a type share."""
    return "3" + _text(29, "type", *properties)


def hit_group_id(hit_type: str) -> str:
    """30 characters, from the type."""
    return "3" + _text(29, "group", hit_type)


def worker_id(seed: int, number: int) -> str:
    """14 characters, from the world's seed and the worker's number in the pool."""
    return "A" + _text(13, "worker", seed, number)


def assignment_id(hit: str, worker: str) -> str:
    """30 characters, from the task and the worker."""
    return "3" + _text(29, "assignment", hit, worker)
