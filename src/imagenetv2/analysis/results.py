"""Tables that the analysis writes, beside those in ``stages.py``. Shares are from 0 to 1; lines are in percent."""

from __future__ import annotations

from imagenetv2.tables import Column, Table


def _interval(name: str, of: str, unit: str = "", nullable: bool = False) -> tuple[Column, Column]:
    return (
        Column(f"{name}_low", "float64", f"lower end of the interval of {of}", unit, nullable),
        Column(f"{name}_high", "float64", f"upper end of the interval of {of}", unit, nullable),
    )


_SET = Column("set", "string", "a new set")
_SCALE = Column(
    "scale", "string", "linear (percent), probit or logit: what both accuracies are transformed to"
)
_GROUP = Column("group", "string", "all, or a family of models")

FITS = Table(
    "fits.parquet",
    "Lines of new on original top-1 accuracy, one row a set, scale, group of models and bootstrap.",
    (
        _SET,
        _SCALE,
        _GROUP,
        Column(
            "over",
            "string",
            "what the bootstrap resamples: models, images, classes, or both (models and images)",
        ),
        Column("models", "int64", "models in the group"),
        Column("slope", "float64", "slope of the least squares line"),
        *_interval("slope", "the slope", nullable=True),
        Column("offset", "float64", "its offset", "percentage points on the linear scale"),
        *_interval("offset", "the offset", nullable=True),
        Column(
            "r2", "float64", "share of the variance of the new accuracies that it explains", nullable=True
        ),
        Column(
            "residual",
            "float64",
            "standard deviation of the residuals, two degrees of freedom spent",
            nullable=True,
        ),
        Column("resamples", "int64", "bootstrap samples in which a line is defined"),
    ),
    ("set", "scale", "group", "over"),
)
BANDS = Table(
    "bands.parquet",
    "Lines with their pointwise intervals, over a grid of original accuracies.",
    (
        _SET,
        _SCALE,
        _GROUP,
        Column("over", "string", "what the bootstrap resamples"),
        Column("point", "int64", "place in the grid, from 0"),
        Column("original", "float64", "original top-1 accuracy", "percent"),
        Column("line", "float64", "the line there, transformed back", "percent"),
        Column("low", "float64", "lower end of its interval", "percent"),
        Column("high", "float64", "upper end of its interval", "percent"),
    ),
    ("set", "scale", "group", "over", "point"),
)
INFLUENCE = Table(
    "influence.parquet",
    "What the line through all models owes to one of them or to one family.",
    (
        _SET,
        _SCALE,
        Column("without", "string", "model or family"),
        Column("left_out", "string", "name of the model or family that is left out"),
        Column("leverage", "float64", "of the model: its diagonal element of the hat matrix", nullable=True),
        Column("cook", "float64", "Cook's distance of the model", nullable=True),
        Column("slope", "float64", "slope without it", nullable=True),
        Column("offset", "float64", "offset without it", nullable=True),
    ),
    ("set", "scale", "without", "left_out"),
)
ORDER = Table(
    "order.parquet",
    "How much the models' order changes from the original to a new set, one row a set and group.",
    (
        _SET,
        _GROUP,
        Column("models", "int64", "models in the group"),
        Column("kendall", "float64", "Kendall's tau-b", nullable=True),
        *_interval("kendall", "tau-b, bootstrap over images", nullable=True),
        Column("spearman", "float64", "Spearman's rho", nullable=True),
        *_interval("spearman", "rho, bootstrap over images", nullable=True),
        Column("moved", "int64", "models whose place changed"),
        Column("largest", "int64", "largest change of place"),
    ),
    ("set", "group"),
)
GROUPS = Table(
    "groups.parquet",
    "Averages over the models of a group, one row a set and group.",
    (
        Column("set", "string", "original or a new set"),
        _GROUP,
        Column("models", "int64", "models in the group"),
        Column("top1", "float64", "average top-1 accuracy", "share"),
        *_interval("top1", "the average, bootstrap over images", "share"),
        Column("top5", "float64", "average top-5 accuracy", "share"),
        *_interval("top5", "the average, bootstrap over images", "share"),
        Column("change", "float64", "average change of top-1 from the original", "share"),
        *_interval("change", "the change, bootstrap over images", "share"),
        Column("change_top5", "float64", "average change of top-5 from the original", "share"),
        *_interval("change_top5", "the change, bootstrap over images", "share"),
    ),
    ("set", "group"),
)
BINS = Table(
    "bins.parquet",
    "Accuracy by selection frequency, one row a set and bin; no rows for sets without votes.",
    (
        Column("set", "string", "original or a new set"),
        Column("bin", "int64", "number of the bin, from 0"),
        Column("from", "float64", "lower end of the bin", "selection frequency"),
        Column("to", "float64", "upper end; belongs to the last bin only", "selection frequency"),
        Column("images", "int64", "images in the bin"),
        Column("top1", "float64", "top-1 accuracy averaged over models", "share", nullable=True),
        *_interval("top1", "it, bootstrap over images", "share", nullable=True),
        Column(
            "best",
            "float64",
            "top-1 accuracy of the model that is best on the original",
            "share",
            nullable=True,
        ),
    ),
    ("set", "bin"),
)
DIFFICULTY = Table(
    "difficulty.parquet",
    "The Gaussian model of difficulty and skill (Recht et al. 2019, appendix B), one row a new set and group.",
    (
        _SET,
        _GROUP,
        Column("models", "int64", "models in the group"),
        Column("probit_slope", "float64", "slope on probit axes; both accuracies have sampling errors"),
        *_interval("probit_slope", "the slope, bootstrap over images", nullable=True),
        Column("probit_offset", "float64", "its offset"),
        *_interval("probit_offset", "the offset, bootstrap over images", nullable=True),
        Column(
            "spread",
            "float64",
            "deviation of difficulty and noise in the new set over that in the original: 1 / probit_slope",
        ),
        *_interval("spread", "the spread, bootstrap over images", nullable=True),
        Column(
            "shift",
            "float64",
            "mean difficulty of the new set less that of the original: -probit_offset / probit_slope",
            "deviations of difficulty and noise in the original",
        ),
        *_interval("shift", "the shift, bootstrap over images", nullable=True),
        Column("slope", "float64", "slope in percent of the least squares line through what this implies"),
        Column("offset", "float64", "its offset", "percentage points"),
        Column("change", "float64", "average change of top-1 that this implies", "share"),
        Column("residual", "float64", "root mean square of observed less implied new accuracy", "share"),
        Column(
            "difficulty_original",
            "float64",
            "deviation of difficulty in the original, from how often models are right on the same images",
            "deviations of the noise",
            nullable=True,
        ),
        *_interval("difficulty_original", "it, delta method over images", nullable=True),
        Column(
            "difficulty_new", "float64", "the same of the new set", "deviations of the noise", nullable=True
        ),
        *_interval("difficulty_new", "it, delta method over images", nullable=True),
        Column(
            "agreement_slope",
            "float64",
            "slope on probit axes that these two deviations imply",
            nullable=True,
        ),
        *_interval("agreement_slope", "it, delta method over images", nullable=True),
    ),
    ("set", "group"),
)
SAMPLING_ERROR = Table(
    "sampling_error.parquet",
    "Whether a change is beyond what drawing images explains, one row a new set and model.",
    (
        _SET,
        Column("model", "string", "name of the model; average for the average over models"),
        Column("change", "float64", "top-1 less top-1 on the original", "share"),
        Column("error", "float64", "standard error of the change: both sets are samples", "share"),
        *_interval("change", "the change (Newcombe 1998 for a model; normal for the average)", "share"),
        Column(
            "z",
            "float64",
            "change over the error that it has where accuracies are equal: both sets pooled for a model",
            nullable=True,
        ),
        Column("p", "float64", "two-sided probability of such a change by sampling alone"),
        Column("adjusted", "float64", "p adjusted for the number of models (Holm 1979); of the average, p"),
    ),
    ("set", "model"),
)
PAIRED = Table(
    "paired.parquet",
    "Paired comparison of two models on the same images, one row a set and pair.",
    (
        Column("set", "string", "original or a new set"),
        Column("model", "string", "the model that is better on the original; of equals, the first by name"),
        Column("other", "string", "the other model"),
        Column("only_model", "int64", "images that only the model has right"),
        Column("only_other", "int64", "images that only the other has right"),
        Column("difference", "float64", "top-1 of the model less that of the other", "share"),
        *_interval("difference", "it, paired bootstrap over images, computed without drawing", "share"),
        Column("p", "float64", "exact two-sided McNemar test"),
        Column("adjusted", "float64", "p adjusted for the number of pairs on this set (Holm 1979)"),
    ),
    ("set", "model", "other"),
)
ROBUSTNESS = Table(
    "robustness.parquet",
    "Effective robustness: new accuracy above what a line predicts from the original accuracy.",
    (
        _SET,
        Column("line", "string", "name of the line: this run's, the paper's, or that of a published table"),
        Column("model", "string", "name of the model"),
        Column("predicted", "float64", "new top-1 accuracy by the line", "percent"),
        Column("effective", "float64", "observed less predicted", "percentage points"),
        *_interval(
            "effective",
            "it: images of both sets and the line's own uncertainty",
            "percentage points",
            nullable=True,
        ),
    ),
    ("set", "line", "model"),
)
LINES = Table(
    "lines.parquet",
    "Lines that effective robustness is measured from.",
    (
        _SET,
        Column("line", "string", "its name"),
        Column("scale", "string", "linear (percent), probit or logit: the axes on which it is straight"),
        Column("models", "int64", "models it was fitted on; 0 where the paper states it"),
        Column("slope", "float64", "slope"),
        *_interval("slope", "the slope", nullable=True),
        Column("offset", "float64", "offset"),
        *_interval("offset", "the offset", nullable=True),
        Column("source", "string", "where it comes from"),
    ),
    ("set", "line"),
)
SIMULATION = Table(
    "simulation.parquet",
    "The study in the small, one row a rule and number of annotators: averages over seeds.",
    (
        Column("rule", "string", "MatchedFrequency, Threshold or TopImages"),
        Column("annotators", "int64", "votes an image"),
        Column("seeds", "int64", "studies averaged"),
        Column("observed", "float64", "observed selection frequency of the new set", "share"),
        Column("observed_original", "float64", "observed selection frequency of the original", "share"),
        Column("true", "float64", "average true selection probability of the new set", "share"),
        Column("true_original", "float64", "average true selection probability of the original", "share"),
        Column("accuracy_original", "float64", "accuracy on the original", "share"),
        Column("change", "float64", "accuracy on the new set less that on the original", "share"),
        Column(
            "change_deviation",
            "float64",
            "standard deviation of the change over seeds; missing for one seed",
            "share",
            nullable=True,
        ),
        Column(
            "expected_change",
            "float64",
            "the change, with the probability that the classifier is right in place of whether it is",
            "share",
        ),
    ),
    ("rule", "annotators"),
)
