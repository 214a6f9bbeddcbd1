"""The whole configuration: one section a stage, each declared in the room that uses it."""

from __future__ import annotations

from pydantic import Field, model_validator

from imagenetv2.analysis.settings import Analysis, Report
from imagenetv2.annotation.settings import Assignments, Frequencies, Hits
from imagenetv2.benchmark.settings import Classes, Images, Reference
from imagenetv2.candidates.settings import Candidates, Search
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.modes import resolved, without_cutoff
from imagenetv2.duplicates.settings import Duplicates, Neighbours
from imagenetv2.duplicates.unsearched import unsearched
from imagenetv2.evaluation.settings import Evaluation, Metrics, Model, default_models
from imagenetv2.record.settings import Record
from imagenetv2.review.settings import Review
from imagenetv2.sampling.settings import Sampling
from imagenetv2.settings import Section
from imagenetv2.simulation.settings import Simulation
from imagenetv2.world.settings import World


class Config(Section):
    """Configuration of a run. The defaults run the whole pipeline in the embedded, rendered world."""

    seed: int = Field(
        2019, ge=0, description="Seed of everything random; every stage and class draws its own stream."
    )
    world: World = Field(World(), description="Where photographs, votes and verdicts come from.")
    classes: Classes = Field(Classes(), description="The classes.")
    images: Images = Field(Images(), description="From a file to pixels.")
    reference: Reference = Field(Reference(), description="The original data set.")
    search: Search = Field(Search(), description="Flickr search.")
    candidates: Candidates = Field(Candidates(), description="Download and decoding.")
    hits: Hits = Field(Hits(), description="Mechanical Turk tasks.")
    assignments: Assignments = Field(Assignments(), description="Publishing and collecting.")
    frequencies: Frequencies = Field(Frequencies(), description="Selection frequencies.")
    neighbours: Neighbours = Field(Neighbours(), description="Near-duplicate search.")
    duplicates: Duplicates = Field(Duplicates(), description="Near-duplicate decisions.")
    review: Review = Field(Review(), description="Who reviews.")
    sampling: Sampling = Field(Sampling(), description="The three sampling rules.")
    models: tuple[Model, ...] = Field(default_models(), min_length=1, description="Models to evaluate.")
    evaluation: Evaluation = Field(Evaluation(), description="How models are run.")
    metrics: Metrics = Field(Metrics(), description="Metrics of their predictions.")
    record: Record = Field(Record(), description="A released study, to be read instead of run.")
    simulation: Simulation = Field(Simulation(), description="The study in the small, beside the analysis.")
    analysis: Analysis = Field(Analysis(), description="Tables and fits.")
    report: Report = Field(Report(), description="The report.")

    @model_validator(mode="after")
    def _agreement(self) -> Config:
        names = [m.name for m in self.models]
        twice = sorted({n for n in names if names.count(n) > 1})
        wrong = []
        if twice:
            wrong.append(f"models: the name {twice[0]} is given twice")
        if self.world.source == "real" and self.review.reviewer == "simulated":
            wrong.append("review.reviewer: simulated needs an embedded world; set it to people")
        if self.world.source == "real" and self.reference.path is None:
            wrong.append("reference.path: the real world needs the folder of the original data set")
        if self.world.source != "real" and self.assignments.mode == "live":
            wrong.append("assignments.mode: live needs world.source real; the embedded world pays nobody")
        if self.world.source != "real" and self.world.people.workers < self.hits.workers_per_task:
            wrong.append(
                f"world.people.workers: {self.world.people.workers} workers cannot give "
                f"{self.hits.workers_per_task} distinct answers a task (hits.workers_per_task)"
            )
        if not any(getattr(self.neighbours, metric).enabled for metric in METRICS):
            wrong.append("neighbours: no metric is enabled; enable at least one")
        if self.neighbours.ssim.window > self.neighbours.ssim.side:
            wrong.append(
                f"neighbours.ssim.window: {self.neighbours.ssim.window} is larger than the side of "
                f"{self.neighbours.ssim.side}"
            )
        wrong += without_cutoff(self.duplicates.cutoffs, self.neighbours)
        cutoffs = resolved(self.duplicates.cutoffs, self.neighbours)
        wrong += unsearched(cutoffs, self.neighbours)
        if wrong:
            raise ValueError("\n".join(wrong))
        # What follows sees numbers; the section is frozen for everybody else.
        object.__setattr__(self, "duplicates", self.duplicates.model_copy(update={"cutoffs": cutoffs}))
        return self
