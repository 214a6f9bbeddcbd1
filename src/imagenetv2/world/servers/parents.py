"""Whose child this process is, so that a server can end with those who started it."""

from __future__ import annotations

import os
from pathlib import Path

SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


def guardians() -> tuple[int, ...]:
    """Ids of the parent process and, where that is a shell that only waits for a command, of its parent too.

    Compare with an earlier call: when one of them dies, this process or the shell gets another parent.
    """
    parent = os.getppid()
    try:
        folder = Path("/proc") / str(parent)
        name = (folder / "comm").read_text("utf-8").strip()
        arguments = (folder / "cmdline").read_bytes().split(b"\0")
        # After the name, which may hold anything: state, then the parent's id.
        above = int((folder / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return (parent,)
    return (parent, above) if name in SHELLS and b"-c" in arguments else (parent,)
