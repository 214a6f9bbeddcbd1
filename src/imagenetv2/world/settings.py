"""Which world the pipeline runs in: the real services, or an embedded one with photographs of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section, operational


class Rendered(Section):
    """Photographs drawn by a seeded renderer, whose true selection frequency is known."""

    side: int = Field(
        80, ge=64, le=96, description="Height of a photograph in pixels; widths vary around it."
    )
    train_per_class: int = Field(
        150, ge=10, description="Training photographs of the original data set, a class."
    )
    validation_per_class: int = Field(
        80, ge=20, description="Validation photographs of the original data set, a class."
    )
    pool_per_class: int = Field(
        240,
        ge=20,
        description="Photographs a class that Flickr holds in the search window, off-topic ones too.",
    )


class Folder(Section):
    """Photographs and recorded human votes from a folder: see ``imagenetv2 world cifar10h``."""

    path: Path = operational(Path("cifar10h"), "Folder that holds the three files below.")
    train: str = Field(
        "train.tar", description="Archive or sub-folder of training photographs, one folder a class."
    )
    photographs: str = Field(
        "test.tar", description="Archive or sub-folder of the photographs that were voted on."
    )
    votes: str = Field(
        "test_votes.csv",
        description="Table with index, image, label and one column a class: how many people chose that class.",
    )
    off_topic: float = Field(
        0.15, ge=0, lt=1, description="Share of photographs of other classes among the results of a search."
    )


class People(Section):
    """The simulated workers."""

    workers: int = Field(
        40, ge=10, description="Size of the pool of workers; each answers a task at most once."
    )
    careless: float = Field(
        0.04, ge=0, lt=1, description="Share of workers of the rendered world who tick at random."
    )


class World(Section):
    """Where photographs, votes and verdicts come from."""

    source: Literal["rendered", "folder", "real"] = Field(
        "rendered",
        description="rendered: photographs are drawn; folder: photographs and votes are read; "
        "real: Flickr and Mechanical Turk.",
    )
    rendered: Rendered = Field(Rendered(), description="Settings of the rendered world.")
    folder: Folder = Field(Folder(), description="Settings of a world made from a folder.")
    people: People = Field(People(), description="The simulated workers of an embedded world.")
    port: int = operational(0, "Port of the local servers on loopback; 0 takes any free one.", ge=0, le=65535)
