"""ssim: equal to scikit-image, bounded rightly, and searched completely, whatever the images and the tiles."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.duplicates import engine as protocol
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.ssim.bounds import MARGIN, bounds
from imagenetv2.duplicates.ssim.cells import Cells, Grid
from imagenetv2.duplicates.ssim.cpu import Engine
from tests.property.duplicates_strategies import plans, varied
from tests.unit.duplicates_pixels import Pixels
from tests.unit.duplicates_similarity import every_pair, odd_images, oracle

WINDOWS = st.sampled_from([3, 5, 7, 11, 15, 23])


@st.composite
def collections(draw: st.DrawFn, window: int) -> Pixels:
    """Images of any side that the window fits."""
    return varied(draw, odd_images(window + draw(st.integers(0, 12))), most=10, noise=9)


@settings(deadline=None)
@given(WINDOWS, st.data())
def test_equals_scikit_image(window: int, data: st.DataObject) -> None:
    images = data.draw(collections(window))[:5]
    found = every_pair(Engine(images, window), len(images))
    for i, j in np.ndindex(found.shape):
        assert abs(found[i, j] - oracle(images[i], images[j], window)) <= 1e-10


@settings(deadline=None)
@given(WINDOWS, st.data())
def test_bounds_are_never_on_the_wrong_side(window: int, data: st.DataObject) -> None:
    images = data.draw(collections(window))
    cell = data.draw(st.sampled_from([s for s in range(1, (window + 1) // 2 + 1) if (window + 1) % s == 0]))
    grid = Grid(images.shape[1], window, cell, data.draw(st.sampled_from([1, 2])) if cell % 2 == 0 else 1)
    cells = Cells.of(images, np.arange(len(images)), grid)
    lower, _ = bounds(cells, cells, grid)
    distance = every_pair(Engine(images, window), len(images))
    assert (lower <= distance).all()
    # Rounding alone stays far from its margin.
    assert (lower <= np.maximum(distance - MARGIN / 4, 0)).all()


@settings(deadline=None)
@given(WINDOWS, st.integers(0, 5), st.data())
def test_search_equals_sorting_all_distances(window: int, k: int, data: st.DataObject) -> None:
    images = data.draw(collections(window))
    count = len(images)
    engine: protocol.Engine = Engine(images, window, memory=data.draw(st.sampled_from([1, 2**28])))
    wanted = every_pair(Engine(images, window), count)
    index = st.integers(0, count - 1)
    rows = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    columns = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    left_out = data.draw(st.sets(st.tuples(index, index), max_size=6))
    # Cut-offs at a distance that occurs, and just below one.
    within = data.draw(st.sampled_from(sorted(set(wanted.ravel().tolist()))))
    within = within - data.draw(st.sampled_from([0.0, 1e-12]))
    excluded = Excluded.of(count, left_out)
    plan = Plan(k=k, within=within, **data.draw(plans()))  # type: ignore[arg-type]
    found, skipped = search(engine, rows, columns, excluded, plan)
    expected = []
    for row in rows.tolist():
        near = sorted((float(wanted[row, c]), c) for c in columns.tolist() if (row, c) not in left_out)
        expected += [(row, c, d) for rank, (d, c) in enumerate(near) if rank < k or d <= within]
    assert (
        list(zip(found.row.tolist(), found.column.tolist(), found.distance.tolist(), strict=True)) == expected
    )
    _, counted = search(engine, rows, columns, excluded, Plan(k=k, within=within))
    assert skipped == counted
