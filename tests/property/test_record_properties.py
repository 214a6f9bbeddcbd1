"""Properties of reading a record: indices are a permutation, damaged ids come back, pairs have no direction."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.record.class_index import indices
from imagenetv2.record.duplicates import unordered
from imagenetv2.record.faults import CORRECTED
from imagenetv2.record.ids import mend, own_id

WNIDS = st.lists(st.integers(0, 10**8 - 1), min_size=1, max_size=12, unique=True).map(
    lambda numbers: [f"n{n:08d}" for n in numbers]
)
IDS = [hashlib.sha1(bytes([n])).hexdigest() for n in range(40)]


@given(WNIDS, st.data())
def test_indices_are_always_a_permutation(wnids: list[str], data: st.DataObject) -> None:
    stated = data.draw(st.lists(st.one_of(st.integers(-3, 15), st.none(), st.text(max_size=2)),
                                min_size=len(wnids), max_size=len(wnids)))  # fmt: skip
    found, _ = indices("f", [{"wnid": w, "cid": c} for w, c in zip(wnids, stated, strict=True)])
    assert sorted(found) == list(range(len(wnids)))


@given(WNIDS, st.integers(-1000, 1000), st.randoms(use_true_random=False), st.booleans())
def test_shuffled_and_shifted_indices_are_found_again(wnids, by, random, as_text) -> None:
    right = {w: k for k, w in enumerate(sorted(wnids))}
    entries = [{"wnid": w, "cid": str(k + by) if as_text else k + by} for w, k in right.items()]
    random.shuffle(entries)
    found, faults = indices("f", entries)
    assert {e["wnid"]: k for e, k in zip(entries, found, strict=True)} == right
    assert any(f.fault == "class indices shifted" for f in faults) == (by != 0)
    assert all(f.action == CORRECTED for f in faults)


@given(
    st.sampled_from(IDS), st.integers(0, 35), st.integers(1, 5), st.text("ghijklmnopqrstuvwxyz", min_size=1)
)
def test_a_word_in_place_of_some_digits_is_taken_out_again(
    whole: str, start: int, digits: int, word: str
) -> None:
    damaged = whole[:start] + word + whole[start + digits :]
    assert mend(damaged, IDS) == whole
    assert mend(damaged, [i for i in IDS if i != whole]) is None


@given(st.dictionaries(st.sampled_from(IDS[:8]), st.lists(st.sampled_from(IDS[:8]), max_size=5)))
def test_pairs_have_no_direction(judged: dict[str, list[str]]) -> None:
    pairs, _ = unordered("f", judged)
    expected = {frozenset((a, b)) for a, others in judged.items() for b in others if a != b}
    assert {frozenset(p) for p in pairs} == expected
    assert len(pairs) == len(expected)
    assert all(a < b for a, b in pairs)
    turned: dict[str, list[str]] = {}
    for a, others in judged.items():
        for b in others:
            turned.setdefault(b, []).append(a)
    assert unordered("f", turned)[0] == pairs


@given(st.integers(0, 10**12))
def test_own_ids_are_forty_digits(photo: int) -> None:
    assert len(own_id(str(photo))) == 40
