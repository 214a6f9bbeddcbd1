"""Models, and their predictions on each set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.sampling.stages import RULES
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

SETS = ("original", *RULES)

PREDICTIONS = Table(
    "predictions.parquet",
    "What the model said, one row an image.",
    (
        Column("image_id", "string", "the image"),
        Column("wnid", "string", "WordNet ID of its class"),
        Column("class_index", "int64", "class index of its class"),
        Column(
            "rank",
            "int64",
            "rank of the true class: classes with a larger output, or equal and smaller index",
        ),
        Column("top5", "list<int64>", "class indices with the largest outputs, best first"),
        Column("probability", "float64", "softmax probability of the true class"),
    ),
    ("image_id", "wnid"),
)


def stages(config: Config) -> list[Stage]:
    """``models/<name>`` and ``predictions/<set>/<name>``; set ``original`` is the validation split."""
    found = []
    for model in config.models:
        # The family only groups models in figures: it is a setting of the analysis.
        settings = {f"models.{model.name}": model.model_copy(update={"family": ""})}
        trained = KINDS[model.kind].trained
        found.append(
            Stage(
                f"models/{model.name}",
                algorithm=1,
                run="imagenetv2.evaluation.models:run",
                files=(
                    File("model.json", "Library, architecture, preprocessing, digest of the weights."),
                    File(
                        "weights.safetensors", "Weights of a trained model; empty for one that is only named."
                    ),
                ),
                settings=settings,
                reads=("classes", "reference") if trained else ("classes",),
                outside={} if model.weights is None else {f"models.{model.name}.weights": model.weights},
                seed=trained,
            )
        )
        for name in SETS:
            found.append(
                Stage(
                    f"predictions/{name}/{model.name}",
                    algorithm=1,
                    run="imagenetv2.evaluation.predictions:run",
                    files=(PREDICTIONS,),
                    settings={"evaluation": config.evaluation, **settings},
                    reads=(
                        "classes",
                        f"models/{model.name}",
                        *(("reference",) if name == "original" else ("candidates", f"datasets/{name}")),
                    ),
                )
            )
    return found
