"""Tables, fits and figures."""

from __future__ import annotations

from pydantic import Field

from imagenetv2.settings import Section


class Analysis(Section):
    """What is computed from predictions and selection frequencies."""

    level: float = Field(0.95, gt=0, lt=1, description="Level of all intervals.")
    bootstrap: int = Field(
        10_000,
        ge=100,
        description="Bootstrap samples: over models for fits, over images for averages of a set.",
    )


class Families(Section):
    """Which group each model belongs to: gathered from the entries of ``models``."""

    names: dict[str, str] = Field(description="Family of each model; where it has none, its kind.")


class Report(Section):
    """The page that shows a run."""

    title: str = Field("A new test set, and what models make of it", description="Heading of the report.")
    examples: int = Field(8, ge=1, description="Pictures of a class shown of each set.")
    classes: int = Field(12, ge=1, description="Classes whose pictures are shown; of more, a seeded sample.")
    pairs: int = Field(24, ge=0, description="Near-duplicate pairs shown.")
