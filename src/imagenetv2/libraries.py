"""Versions of libraries that are installed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

NUMERICAL = ("torch", "torchvision", "timm", "pillow")
"""Libraries whose versions a network's outputs depend on."""


def version_of(name: str) -> str | None:
    """Of a library; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def versions_of(names: Iterable[str] = NUMERICAL) -> dict[str, str]:
    """Of those that are installed."""
    return {name: found for name in names if (found := version_of(name)) is not None}
