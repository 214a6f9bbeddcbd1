"""Where a search is cut: shards into tiles for threads, and the names of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from imagenetv2.pooling import slices

NARROW, ENDS = 128, 4
"""Images of the narrowest tile that more than one thread asks for, and tiles of a thread before it is narrowed."""


def tiles(rows: int, shard: slice, tile: tuple[int, int], cores: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each tile, of that size at most, of so many rows and the columns of the shard."""
    down, across = tile
    length, high = shard.stop - shard.start, -(-rows // down)
    if cores > 1:  # Enough tiles that all threads end at about the same time.
        enough = -(-ENDS * cores // max(high, 1))
        across = min(across, max(NARROW, -(-length // enough)))
    for left in slices(length, across):
        columns = slice(shard.start + left.start, shard.start + left.stop)
        for some in slices(rows, down):
            yield some, columns


def name(part: slice) -> str:
    """For a piece of the work."""
    return f"{part.start}.{part.stop}"
