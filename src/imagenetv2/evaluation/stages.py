"""Models, and their predictions on each set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.sampling.stages import RULES
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from pathlib import Path

    from imagenetv2.config import Config
    from imagenetv2.evaluation.settings import Model

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
        Column("top_probability", "float64", "softmax probability of the first of top5"),
    ),
    ("image_id", "wnid"),
)
EVALUATED = File(
    "evaluated.json",
    "Mode, precision, device, images a forward pass and digest of the weights; in a fast mode the difference to mode "
    "reference on a sample.",
)
LOGITS = File(
    "logits.npy",
    "Outputs of the classes, images × classes, float16, in the order of the table; those beyond ± 65504 are that.",
)
METRICS = Table(
    "metrics.parquet",
    "Metrics of each model on each set.",
    (
        Column("set", "string", "original or a rule"),
        Column("model", "string", "name of the model"),
        Column(
            "metric",
            "string",
            "top1, top5; real_top1, real_top5: against ReaL labels, on ImageNet's validation images; top1[images of X] "
            "and top5[images of X]: on the images of a subset of the classes, answers among all classes; "
            "mean_probability, log_loss: of the true class; rms_calibration_error; rms_calibration_error_by_chance: "
            "what a calibrated model with the same confidences has; expected_calibration_error; aurra: area under the "
            "response rate accuracy curve",
        ),
        Column("images", "int64", "images that it is computed on"),
        Column("value", "float64", "the metric; log_loss in nats, all others from 0 to 1"),
        Column("low", "float64", "lower end of its interval, where it has one", nullable=True),
        Column("high", "float64", "upper end of its interval, where it has one", nullable=True),
    ),
    ("set", "model", "metric"),
)
PER_CLASS = Table(
    "per_class.parquet",
    "Top-1 accuracy of each model on the images of each class.",
    (
        Column("set", "string", "original or a rule"),
        Column("model", "string", "name of the model"),
        Column("class_index", "int64", "class index"),
        Column("wnid", "string", "WordNet ID"),
        Column("images", "int64", "images of the class in the set"),
        Column("right", "int64", "those of them whose class is ranked first"),
        Column("share", "float64", "right / images"),
        Column("low", "float64", "lower end of its Clopper–Pearson interval"),
        Column("high", "float64", "upper end of its Clopper–Pearson interval"),
    ),
    ("set", "model", "class_index"),
)


def stages(config: Config) -> list[Stage]:
    """``models/<name>``, ``predictions/<set>/<name>`` and ``metrics``; set ``original`` is the validation split."""
    found = []
    for model in config.models:
        # The family only groups models in figures: it is a setting of the analysis.
        settings = {f"models.{model.name}": model.model_copy(update={"family": ""})}
        trained = KINDS[model.kind].trained
        found.append(
            Stage(
                f"models/{model.name}",
                algorithm=2,
                run="imagenetv2.evaluation.models:run",
                files=(
                    File("model.json", "Library, architecture, preprocessing, digest of the weights."),
                    File(
                        "weights.safetensors", "Weights of a trained model; empty for one that is only named."
                    ),
                ),
                settings=settings,
                reads=("classes", "reference") if trained else ("classes",),
                outside=_files(model),
                seed=trained,
            )
        )
        for name in SETS:
            found.append(
                Stage(
                    f"predictions/{name}/{model.name}",
                    algorithm=2,
                    run="imagenetv2.evaluation.predictions:run",
                    files=(PREDICTIONS, EVALUATED, *((LOGITS,) if config.evaluation.logits else ())),
                    settings={"evaluation": config.evaluation, **settings},
                    reads=(
                        "classes",
                        f"models/{model.name}",
                        *(("reference",) if name == "original" else ("candidates", f"datasets/{name}")),
                    ),
                )
            )
    return [*found, _metrics(config)]


def _files(model: Model) -> dict[str, Path]:
    """Files of weights of a model, by what messages call them."""
    if model.weights is None:
        return {}
    name = f"models.{model.name}.weights"
    if model.kind != "onnx":
        return {name: model.weights}
    from imagenetv2.evaluation.kinds.onnx_graph import beside

    return {name: model.weights} | {f"{name}, {place}": file for place, file in beside(model.weights).items()}


def _metrics(config: Config) -> Stage:
    return Stage(
        "metrics",
        algorithm=1,
        run="imagenetv2.evaluation.metrics.stage:run",
        files=(METRICS, PER_CLASS),
        settings={"metrics": config.metrics},
        reads=(
            "classes",
            "reference",
            *(f"predictions/{name}/{model.name}" for name in SETS for model in config.models),
        ),
        outside={f"metrics.subset_files.{n}": path for n, path in config.metrics.subset_files.items()},
    )
