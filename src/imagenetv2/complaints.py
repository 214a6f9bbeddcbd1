"""What went wrong in a failed run, gathered from the logs of its jobs."""

from __future__ import annotations

import re
from pathlib import Path

SENTENCE = re.compile(r"^[-0-9]+ [0-9:,]+ ERROR (imagenetv2 .*)$")


def complaints(logs: Path, since: float) -> list[str]:
    """Sentences with which subcommands ended, of log files changed after ``since`` (seconds since 1970), sorted."""
    found = set()
    for path in sorted(logs.rglob("*.log")):
        if path.stat().st_mtime >= since:
            lines = path.read_text("utf-8", errors="replace").splitlines()
            found |= {m.group(1) for line in lines if (m := SENTENCE.match(line))}
    return sorted(found)
