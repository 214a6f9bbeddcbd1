"""Files of the stage ``report``, by what the study can show."""

from __future__ import annotations

from imagenetv2.tables import File

FIGURES = {
    "accuracy": "New against original accuracy of each model, with lines",
    "accuracy_probit": "The same on probit axes",
    "changes": "Change of accuracy on each set",
    "order": "Places that each model gains or loses",
    "influence": "What the line owes to single models and to families",
    "robustness": "Models farthest above and below the line",
    "paired": "Which models differ beyond chance on the same images",
    "simulation": "Bias of each rule against the number of annotators, simulated",
}
OF_VOTES = {
    "frequencies": "Histograms of selection frequencies",
    "bins": "Accuracy by selection frequency",
    "distances": "How near each candidate's nearest neighbour is under each metric",
    "examples": "Example images of each set",
}
OF_METRICS = {"classes": "Classes that lose and gain most"}
OF_TRUTH = {"truth": "Observed against true selection frequency"}
TABLES = {
    "accuracies": "Accuracy of each model on each set",
    "groups": "Averages over models",
    "fits": "Lines of new on original accuracy",
}
TABLES_OF_VOTES = {"rules": "Each rule's set against the original"}


def files(*, votes: bool, truth: bool, metrics: bool) -> tuple[File, ...]:
    """The page, each figure as PNG, SVG and PDF, each table as CSV, Markdown and LaTeX."""
    some = {**(OF_VOTES if votes else {}), **(OF_TRUTH if truth else {}), **(OF_METRICS if metrics else {})}
    figures = FIGURES | some
    tables = TABLES | (TABLES_OF_VOTES if votes else {})
    return (
        File("report.html", "The study on one page, readable offline."),
        *(File(f"{n}.{kind}", f"{says}.") for n, says in figures.items() for kind in ("png", "svg", "pdf")),
        *(File(f"{n}.{kind}", f"{says}.") for n, says in tables.items() for kind in ("csv", "md", "tex")),
    )
