"""The blinding attack against tokens made with a cipher of the same kind."""

from __future__ import annotations

import base64
import hashlib
import os

import pandas as pd
import pytest

from imagenetv2.record.audit import blinding
from imagenetv2.record.audit.finding import LIMIT, SOUND
from tests.unit.audit_inputs import changed, image, one, original, record, small_paper

__all__ = ["small_paper"]


def token(name: str, key: bytes) -> str:
    """CBC with a fixed key and initialisation vector over a keyed hash: equal in what AES would make equal."""
    text = ("M" * 8 + name.ljust(99)).encode()
    pad = 16 - len(text) % 16
    text += bytes([pad]) * pad
    previous, out = hashlib.sha256(key + b"iv").digest()[:16], b""
    for start in range(0, len(text), 16):
        block = bytes(a ^ b for a, b in zip(text[start : start + 16], previous, strict=True))
        previous = hashlib.sha256(key + block).digest()[:16]
        out += previous
    return base64.urlsafe_b64encode(out).decode()


NAMES = [image(n) for n in range(40)] + [original(k, n) for k in range(4) for n in range(2)]


def test_beginnings_of_tokens_agree_where_the_names_say_so() -> None:
    key = os.urandom(16)
    beginnings = [token(name, key)[: blinding.VISIBLE] for name in NAMES]
    assert blinding.alike(NAMES) == [beginnings.count(b) > 1 for b in beginnings]
    assert blinding.alike(NAMES) == [name.startswith("ILSVRC") for name in NAMES]


@pytest.mark.parametrize("name", [image(1), original(1, 1), "a", "b" * 99])
def test_tokens_have_the_length_of_real_ones(name: str) -> None:
    assert blinding.token_length(name) == len(token(name, b"key")) == 152


def test_names_that_cannot_be_filled_up_are_refused() -> None:
    with pytest.raises(ValueError, match="99"):
        blinding.token_length("c" * 100)


@pytest.mark.usefixtures("small_paper")
def test_the_attack_counts_what_it_gets_wrong() -> None:
    base = record()
    assert one(base, "blinding").count == 4
    # Two candidates whose names begin alike are taken for validation images.
    twin = image(0)[:8] + "0" * 32
    tasks = base.tasks.replace({"image_id": {image(1): twin}})
    finding = one(changed(base, tasks=tasks), "blinding")
    assert (finding.kind, finding.count) == (LIMIT, 3)
    assert finding.summaries[0].rows == (("Marked", "8", "2"), ("Not marked", "0", "22"))


@pytest.mark.usefixtures("small_paper")
def test_names_without_a_common_beginning_are_blind() -> None:
    base = record()
    names = {original(k, n): image(500 + 10 * k + n) for k in range(4) for n in range(5)}
    tasks = base.tasks.replace({"image_id": names})
    finding = one(changed(base, tasks=tasks), "blinding")
    assert (finding.kind, finding.count) == (SOUND, 0)


@pytest.mark.usefixtures("small_paper")
def test_meeting_an_image_again_is_judged_against_its_chance() -> None:
    base = record()
    assert one(base, "same-token").kind == SOUND
    same = {original(k, 0): original(0, 0) for k in range(4)}
    finding = one(changed(base, tasks=base.tasks.replace({"image_id": same})), "same-token")
    assert (finding.kind, finding.count) == (LIMIT, 4)
    assert set(finding.evidence["id"]) == {f"task-{k}" for k in range(4)}


def test_table_is_a_table_of_confusion() -> None:
    assert blinding.table([True, True, False, False, True], [True, False, True, False, True]) == (2, 1, 1, 1)


def test_evidence_names_the_places() -> None:
    tasks = pd.DataFrame({"image_id": [image(0), original(0, 0), original(1, 1)]})
    assert blinding.alike(tasks["image_id"].tolist()) == [False, True, True]
