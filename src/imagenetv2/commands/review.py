"""``imagenetv2 review``: what people are to look at, and recording what they said."""

from __future__ import annotations

from typing import Any


def add(commands: Any) -> None:
    """Declare ``review`` and its actions."""
