"""Many stages in one process, so that libraries are imported once and images are decoded once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from imagenetv2 import job
from imagenetv2.errors import InputError
from imagenetv2.stages import Stage


def run_all(
    stages: Sequence[Stage],
    versions: Mapping[str, str],
    data: Path,
    seed: int,
    *,
    force: bool = False,
    **options: Any,
) -> list[str]:
    """Run stages one after the other: all models of a set, or all models.

    Artifacts that are there whole are left alone. A stage that fails does not keep the others from running;
    the first failure is raised at the end.

    Args:
        stages: what to run, such as all of ``predictions/original/``.
        versions: versions of all stages, from ``versions.plan``.
        data: where artifacts lie.
        seed: seed of everything random.
        force: make artifacts again that are there.
        options: further fields of ``Job``: cores, log, endpoints.

    Returns:
        Names of the stages that were made.

    Raises:
        InputError: of the first stage that failed with one.
    """
    log = options.get("log") or logging.getLogger("imagenetv2")
    made, failures = [], []
    for stage in stages:
        try:
            if job.run(stage, versions, data, seed, force=force, **options):
                made.append(stage.name)
        except InputError as error:
            log.error("%s: %s", stage.name, error)
            failures.append(error)
    if failures:
        raise failures[0]
    return made
