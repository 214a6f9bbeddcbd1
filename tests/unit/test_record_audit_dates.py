"""Dates against windows, with their slack."""

from __future__ import annotations

import pytest

from imagenetv2.record.audit.searches import AFTER, BEFORE, OPEN, WITHIN, placed, shares
from tests.unit.audit_inputs import at, image, record


@pytest.mark.parametrize(
    ("date", "place"),
    [
        ("2012-07-09 23:59:59", BEFORE),
        ("2012-07-10 00:00:00", WITHIN),
        ("2012-07-11 00:00:00", WITHIN),
        ("2013-07-12 00:00:00", WITHIN),
        ("2013-07-12 00:00:01", AFTER),
        ("1873-01-01 00:00:00", BEFORE),
        ("1601-01-01 00:00:00", BEFORE),
        ("no date", OPEN),
        ("", OPEN),
    ],
)
def test_a_day_of_slack_at_both_ends(date: str, place: str) -> None:
    frame = placed(at(record().search, 0, uploaded=date, taken=date))
    assert frame.loc[0, "uploaded_is"] == frame.loc[0, "taken_is"] == place


def test_a_window_may_be_open_at_one_end_or_absent() -> None:
    search = at(record().search, 0, uploaded_from=None, uploaded="1990-01-01 00:00:00")
    search = at(search, 1, uploaded_from=None, uploaded_to=None, uploaded="1990-01-01 00:00:00")
    assert placed(search)["uploaded_is"].tolist()[:2] == [WITHIN, OPEN]


def test_a_photograph_is_outside_only_if_all_its_records_are() -> None:
    search = record().search
    search = at(search, 0, uploaded="2016-01-01 00:00:00")
    search = at(search, 1, image_id=image(0))
    finals = {"matched_frequency": {image(0)}, "threshold": {image(9)}, "top_images": set()}
    assert shares(placed(search), finals).rows[0][3:5] == ("0", "0")
    search = at(search, 1, uploaded="2010-01-01 00:00:00")
    assert shares(placed(search), finals).rows[0][3:5] == ("0", "1")
    assert shares(placed(search), finals).rows[2][2:] == ("0", "0", "0", "–")
