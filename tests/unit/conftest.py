"""What several files of tests share of the published record: it is read once for all of them."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from imagenetv2.artifacts import Artifact
from imagenetv2.record import source
from imagenetv2.record.source import Source
from tests.unit import record_example as example
from tests.unit import small_record
from tests.unit.small_import import Found

PARTS = ("classes", "search", "datasets", "hits", "candidates", "duplicates", "reviews", "files")


@pytest.fixture(scope="session")
def published_record(packs: Path) -> Source:
    """The published record, read from its archive."""
    return source.read(packs / "record.tar.gz", "imagenetv2")


@pytest.fixture(scope="session")
def published_parts(packs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Artifact]:
    """Parts of the published record, unpacked without predictions: those take most of the time."""
    data = tmp_path_factory.mktemp("published")
    with tarfile.open(packs / "record.tar.gz") as archive:
        wanted = [m for m in archive if "/predictions/" not in m.name]
        archive.extractall(data / "record", wanted, filter="data")
    return {part: example.made(data / "record", part, data / "data") for part in PARTS}


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small record of predictions without faults; nobody changes it."""
    return small_record.write(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="session")
def clean(sound: Path) -> Found:
    """Its import."""
    return Found(sound)


@pytest.fixture
def record(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to plant faults in."""
    return Path(shutil.copytree(sound, tmp_path / "record"))
