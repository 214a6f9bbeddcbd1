"""Reading a query's results in order of upload, split by time where Flickr would begin to repeat itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from imagenetv2.candidates.arguments import Window
from imagenetv2.candidates.records import Page

Ask = Callable[[Window, int], Page]
"""Gives a page (from 1) of the results in a window."""


@dataclass(frozen=True)
class Fetched:
    """A page and the window that it belongs to."""

    window: Window
    number: int
    page: Page


def leaves(window: Window, ask: Ask, cap: int) -> Iterator[Fetched]:
    """First pages of the windows, in order of time, whose ``total`` is at most ``cap``.

    A window above it is halved, and its halves again. A window of one second can't be halved: it is given as it is,
    and no more than ``cap`` of its results may be believed.
    """
    first = ask(window, 1)
    if first.total <= cap or window.start == window.end:
        yield Fetched(window, 1, first)
        return
    for half in window.halves():
        yield from leaves(half, ask, cap)


def pages(window: Window, ask: Ask, cap: int) -> Iterator[Fetched]:
    """All pages of a query, window by window, each fetched only when it is wanted.

    How many there are follows from the page size that Flickr says it used, not from the one asked for.
    """
    for leaf in leaves(window, ask, cap):
        yield leaf
        page, read, number = leaf.page, leaf.page.returned, 1
        while page.returned and number * page.per_page < min(page.total, cap) and read < cap:
            number += 1
            page = ask(leaf.window, number)
            read += page.returned
            if page.returned:
                yield Fetched(leaf.window, number, page)
