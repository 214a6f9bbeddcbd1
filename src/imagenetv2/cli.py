"""The command line: one subcommand a stage, and commands about artifacts and configuration."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from imagenetv2.commands import (
    configuration,
    cost,
    cutoffs,
    duplicates,
    evaluate,
    export,
    names,
    nearest,
    prune,
    published,
    record,
    review,
    show,
    simulate,
    stage,
    verify,
    versions,
    world,
)
from imagenetv2.errors import InputError

COMMANDS = (
    stage, duplicates, cost, versions, verify, prune, show, export, evaluate, configuration, nearest, cutoffs, record, published,
    names, review, world, simulate,
)  # fmt: skip
DISK = {
    errno.ENOSPC: "the disk is full; free some space and run again, finished stages are kept",
    errno.EDQUOT: "the quota is used up; free some space and run again, finished stages are kept",
    errno.EACCES: "permission is refused; make the folder writable and run again",
    errno.EPERM: "permission is refused; make the folder writable and run again",
    errno.EROFS: "the file system is read-only; choose a folder that can be written",
}


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="imagenetv2",
        description="Re-make a benchmark's test set the way it was made, and measure what that does to models.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = parser().parse_args(arguments)
    log = logging.getLogger("imagenetv2")
    _set_up(log)
    try:
        _log_to(log, getattr(options, "log", None))
        return int(options.run(options) or 0)
    except InputError as error:
        log.error("imagenetv2 %s: %s", options.command, error)
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in DISK and error.filename is None:
            raise
        reason = DISK.get(error.errno or 0, f"{error.strerror}; correct the path")
        log.error("imagenetv2 %s: %s: %s.", options.command, error.filename or "output", reason)
    except KeyboardInterrupt:
        log.error("imagenetv2 %s: stopped; finished work is kept, run again to go on.", options.command)
        return 130
    return 1


def _set_up(log: logging.Logger) -> None:
    log.setLevel(logging.INFO)
    log.handlers.clear()
    log.addHandler(logging.StreamHandler(sys.stderr))
    log.propagate = False


def _log_to(log: logging.Logger, file: Path | None) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(file, "w", "utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)


if __name__ == "__main__":
    sys.exit(main())
