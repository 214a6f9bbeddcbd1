"""What holds for any file of predictions, however damaged, and for any rearrangement of one."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imagenetv2.record import npy
from imagenetv2.record.listings import listing
from imagenetv2.record.prediction_checks import columns, rows, values
from imagenetv2.record.sheets import Sheet

CLASSES = 12
SHEET = Sheet("list", "model", "model.npy")


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@given(
    arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 6)), elements=st.integers(-5, 5)),
    st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=3)), max_size=4),
    st.integers(0, 400),
)
def test_damaged_bytes_are_an_array_or_unreadable(
    array: np.ndarray, changes: list[tuple[int, bytes]], end: int
) -> None:
    data = saved(array)
    for place, new in changes:
        data = data[:place] + new + data[place + len(new) :]
    try:
        found = npy.parse(data[:end])
    except npy.Unreadable as error:
        assert str(error)
    else:
        assert found.dtype.kind in "iuf"


@given(
    arrays(
        st.sampled_from([np.int64, np.uint8, np.float64]),
        st.one_of(st.tuples(st.integers(1, 8)), st.tuples(st.integers(1, 8), st.integers(1, 7))),
    )
)
def test_any_numbers_become_classes_or_are_left_out_with_a_reason(array: np.ndarray) -> None:
    sheet, whole = values.form(SHEET, array, {len(array)})
    if whole is None:
        assert sheet.faults and sheet.faults[-1].action == "left out"
        return
    sheet, top5 = values.within_range(sheet, whole, CLASSES)
    if top5 is None:
        assert sheet.faults[-1].action == "left out"
        return
    assert top5.shape == (len(array), 5) and top5.min() >= -1 and top5.max() < CLASSES
    for row in top5:
        known = row[row >= 0].tolist()
        assert len(known) == len(set(known))
    if (top5[:, : whole.shape[1]] != whole).any():
        assert sheet.faults


@st.composite
def predicted(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Classes of 300 images and predictions of five models: right first for two thirds, otherwise anywhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, CLASSES, 300)
    scores = rng.normal(size=(300, CLASSES)) + 0.4 * rng.normal(size=(5, 300, CLASSES))
    scores[:, np.arange(300), truth] += 2.5
    return truth, np.argsort(-scores, axis=2)[:, :, :5].astype(np.int16)


@given(predicted(), st.permutations(range(5)))
def test_columns_come_back_from_any_order(data: tuple[np.ndarray, np.ndarray], order: list[int]) -> None:
    truth, top5 = data
    sheets = [Sheet("list", f"m{k}", f"m{k}.npy", five) for k, five in enumerate(top5)]
    sheets[2] = Sheet("list", "m2", "m2.npy", top5[2][:, order])
    found = columns.ranked(sheets, truth, CLASSES)
    assert [s.faults for k, s in enumerate(found) if k != 2] == [()] * 4
    # Where chance brings the last columns close to each other, their order may stay; the first must come back.
    np.testing.assert_array_equal(found[2].values[:, 0], top5[2][:, 0])


@given(predicted(), st.integers(-30, 30), st.booleans())
def test_offset_and_order_come_back_together(
    data: tuple[np.ndarray, np.ndarray], shift: int, backwards: bool
) -> None:
    truth, top5 = data
    shift = max(-CLASSES + 1, min(CLASSES - 1, shift))
    wnids = [f"n{c:08d}" for c in truth]
    target = listing("list", [(f"{i:03d}", w) for i, w in enumerate(wnids)], {w: int(w[1:]) for w in wnids})
    stored = (top5[0][::-1] if backwards else top5[0]).astype(np.int32) + shift
    found = rows.align(SHEET, stored, {"list": target}, CLASSES)
    np.testing.assert_array_equal(found.values, top5[0])
    assert len(found.faults) == (shift != 0) + backwards
