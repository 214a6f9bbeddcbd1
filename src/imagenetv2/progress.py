"""Progress bars of long stages: on the terminal only, never in a log file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from tqdm import tqdm

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """Iterate with a bar that shows rate and time left; updates at most twice a second."""
    return _bar(items, what, total)


class Bar(Protocol):
    """A bar that is moved by hand."""

    def update(self, n: int = 1) -> object:
        """So many steps are done."""
        ...

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
        """What stands at the end of the bar, shown now or with the next steps."""
        ...


@contextmanager
def bar(what: str, total: int, unit: str = "it") -> Iterator[Bar]:
    """A bar for work in several loops; steps, each one a ``unit``, are reported with ``update``."""
    with _bar(None, what, total, unit) as shown:
        yield shown


def _bar(items: Iterable[Any] | None, what: str, total: int | None, unit: str = "it") -> tqdm[Any]:
    return tqdm(
        items,
        desc=what,
        total=total,
        unit=unit,
        file=sys.stderr,
        mininterval=0.5,
        dynamic_ncols=True,
        leave=False,
        disable=None,
    )
