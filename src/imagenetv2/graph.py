"""All stages under a configuration: the rooms' declarations put together."""

from __future__ import annotations

from imagenetv2.analysis import stages as analysis
from imagenetv2.annotation import stages as annotation
from imagenetv2.benchmark import stages as benchmark
from imagenetv2.candidates import stages as candidates
from imagenetv2.config import Config
from imagenetv2.duplicates import stages as duplicates
from imagenetv2.evaluation import stages as evaluation
from imagenetv2.record import stages as record
from imagenetv2.review import stages as review
from imagenetv2.sampling import stages as sampling
from imagenetv2.stages import Stage
from imagenetv2.world import stages as world

STUDY = (benchmark, world, candidates, annotation, duplicates, review, sampling, evaluation, analysis)
RELEASED = (record, analysis)


def stages(config: Config) -> dict[str, Stage]:
    """Every stage by name, in the order of the rooms; a released study is read, not run."""
    rooms = STUDY if config.record.path is None else RELEASED
    return {stage.name: stage for room in rooms for stage in room.stages(config)}
