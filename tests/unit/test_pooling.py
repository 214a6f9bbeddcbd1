"""Work on several threads gives what work on one gives, and never much more than is asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from imagenetv2.pooling import in_order, slices, threaded, threads


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_results_come_in_the_order_of_the_items(cores: int, count: int) -> None:
    assert list(threaded(lambda n: n * n, range(count), cores)) == [n * n for n in range(count)]


@pytest.mark.parametrize("ahead", [1, 4])
def test_no_more_than_so_many_items_are_taken_ahead(ahead: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for n in range(20):
            taken += 1
            yield n

    with threads(2) as pool:
        for done, _ in enumerate(in_order(pool, str, items(), ahead), 1):
            assert taken <= done + ahead


def test_an_error_comes_in_its_place_and_what_waits_is_not_begun() -> None:
    begun, gate = [], threading.Event()

    def work(n: int) -> int:
        begun.append(n)
        if n == 1:
            raise ValueError("the second")
        if n > 1:
            gate.wait(10)
        return n

    results = []

    def use() -> None:
        with threads(2) as pool:
            for result in in_order(pool, work, range(100), ahead=50):
                results.append(result)
                if result == 0:
                    threading.Timer(0.2, gate.set).start()

    with pytest.raises(ValueError, match="the second"):
        use()
    assert results == [0]
    assert len(begun) < 100


@pytest.mark.parametrize("size", [-1, 0, 1, 3, 7, 8])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_slices_cover_everything_once(length: int, size: int) -> None:
    found = list(slices(length, size))
    assert [i for part in found for i in range(length)[part]] == list(range(length))
    assert all(part.stop - part.start == max(size, 1) for part in found[:-1])
    assert all(0 < part.stop - part.start <= max(size, 1) for part in found)
