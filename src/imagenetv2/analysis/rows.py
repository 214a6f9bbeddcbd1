"""From rows of plain values to a table as declared."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from imagenetv2.tables import Table

Row = dict[str, object]
DIGITS = 12
"""Decimals kept: later ones differ between processors."""


def frame(rows: Sequence[Row], table: Table) -> pd.DataFrame:
    """Rows with the table's columns and types, sorted by its key; None is missing."""
    if not rows:
        return table.empty()
    types = {c.name: c.dtype for c in table.columns if c.dtype != "string"}
    columns = [c.name for c in table.columns]
    found = pd.DataFrame(list(rows), columns=columns).astype(types).round(DIGITS)
    return found.sort_values(list(table.key), ignore_index=True)
