"""A released record as artifacts: the tables of the other rooms, with the columns that a record can fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from imagenetv2.annotation.stages import TASKS
from imagenetv2.benchmark.stages import CLASSES
from imagenetv2.record.settings import Record
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

SETS = {
    "imagenetv2": {
        "original": "ImageNet validation",
        "matched_frequency": "MatchedFrequency",
        "threshold": "Threshold0.7",
        "top_images": "TopImages",
    },
    "cifar10.1": {"original": "CIFAR-10 test", "v4": "CIFAR-10.1 v4", "v6": "CIFAR-10.1 v6"},
}
"""Sets of each kind of record and how they are displayed; the original is the first."""

FAULTS = Table(
    "faults.parquet",
    "Faults found in the record, one row a fault.",
    (
        Column("number", "int64", "running number, from 0"),
        Column("file", "string", "file of the record, relative to its folder"),
        Column("subject", "string", "what is at fault: a model, an image, a class, a field"),
        Column("fault", "string", "kind of fault, a few words, the same for all of a kind"),
        Column("detail", "string", "what was found, with the numbers that show it"),
        Column("action", "string", "corrected, left out or reported"),
        Column("evidence", "string", "why the action is right; empty for what is only reported"),
    ),
    ("number",),
)
RECORDS = Table(
    "records.parquet",
    "Search results as released, one row a record.",
    (
        Column("source_file", "string", "file of the record"),
        Column("position", "int64", "place in that file, from 0"),
        Column("wnid", "string", "WordNet ID searched for"),
        Column("photo_id", "string", "Flickr id"),
        Column("image_id", "string", "the study's own id of the photograph"),
        Column("query", "string", "synonym"),
        Column("taken", "string", "date and time taken as Flickr gave it"),
        Column("uploaded", "string", "date and time of upload as Flickr gave it"),
        Column("width", "int64", "width that Flickr claims", "pixels", nullable=True),
        Column("height", "int64", "height that Flickr claims", "pixels", nullable=True),
        Column("url", "string", "address of the file"),
        Column("size_key", "string", "which of Flickr's sizes, such as url_o; empty where nothing says"),
        Column("taken_from", "string", "claimed window of dates taken, YYYY-MM-DD", nullable=True),
        Column("taken_to", "string", "its end", nullable=True),
        Column("uploaded_from", "string", "claimed window of uploads, YYYY-MM-DD", nullable=True),
        Column("uploaded_to", "string", "its end", nullable=True),
        Column("order", "string", "order asked for, such as date-posted-asc"),
        Column("most", "int64", "most photographs asked for", nullable=True),
    ),
    ("source_file", "position"),
)
CANDIDATES = Table(
    "candidates.parquet",
    "Candidates that the record knows, one row an image and class.",
    (
        Column("image_id", "string", "the study's own id of the photograph"),
        Column("wnid", "string", "WordNet ID it is a candidate for"),
        Column("class_index", "int64", "class index of that class"),
        Column("photo_id", "string", "Flickr id, where a search result names it", nullable=True),
        Column("known_from", "list<string>", "search, tasks, datasets: which parts of the record name it"),
    ),
    ("image_id", "wnid"),
)
BLACKLIST = Table(
    "blacklist.parquet",
    "Candidates that people excluded.",
    (
        Column("image_id", "string", "the study's own id of the photograph"),
        Column("reason", "string", "the reason as written"),
    ),
    ("image_id",),
)
SUBMISSIONS = Table(
    "submissions.parquet",
    "Tasks as submitted, one row a task.",
    (
        Column("task_id", "string", "the study's own id of the task; with #2 and so on where an id repeats"),
        Column("hit_id", "string", "Mechanical Turk's id; empty where it was not submitted"),
        Column("wnid", "string", "WordNet ID asked about"),
        Column("source_file", "string", "file of the record"),
        Column("time", "string", "time of submission as written"),
        Column("images", "int64", "images shown"),
        Column("candidates", "int64", "candidates among them"),
        Column("positive", "int64", "positive controls"),
        Column("negative", "int64", "negative controls"),
        Column("submitted", "bool", "whether it was submitted"),
        Column("blacklisted", "string", "why its answers were not used; empty otherwise"),
    ),
    ("task_id",),
)
PAIRS = Table(
    "pairs.parquet",
    "Near-duplicates as judged by people, one row a pair.",
    (
        Column("image_id", "string", "the candidate"),
        Column("neighbour_id", "string", "the other image; of two candidates, the one with the larger id"),
        Column("origin", "string", "train, val, test or candidates: where the other comes from"),
    ),
    ("image_id", "neighbour_id"),
)
LOOKED_AT = Table(
    "looked_at.parquet",
    "Reviews of nearest neighbours, one row a candidate and metric.",
    (
        Column("image_id", "string", "the candidate"),
        Column("metric", "string", "l2, fc7 or ssim"),
        Column("date", "string", "when, as written"),
        Column("references", "int64", "neighbours that were looked at"),
        Column("cutoff", "float64", "distance down to which was reviewed", nullable=True),
    ),
    ("image_id", "metric"),
)
REVIEWED = Table(
    "classes.parquet",
    "Final reviews of sets, one row a set, revision and class.",
    (
        Column("set", "string", "original or a rule"),
        Column("revision", "int64", "revision that was looked at; -1 for the original"),
        Column("wnid", "string", "the class"),
        Column("reviewed", "bool", "whether it was looked at"),
        Column("problematic", "bool", "whether somebody objected"),
    ),
    ("set", "revision", "wnid"),
)
LISTS = Table(
    "lists.parquet",
    "Lists of images in the record, one row a list.",
    (
        Column("name", "string", "name of the list in the record"),
        Column("set", "string", "original or a rule"),
        Column("revision", "int64", "revision; -1 for lists of original images"),
        Column("final", "bool", "whether it is the revision that was published"),
        Column("images", "int64", "images listed"),
        Column("target", "int64", "images wanted", nullable=True),
        Column("valid", "bool", "whether its authors marked it as valid; true where they do not say"),
        Column("time", "string", "when it was drawn, as written"),
        Column("starting_from", "string", "list it was drawn from; empty for a first one"),
        Column("settings", "string", "all settings that the list states, as JSON"),
    ),
    ("name",),
)
REVISIONS = Table(
    "revisions.parquet",
    "Images of every list of a new set, one row a list and image.",
    (
        Column("set", "string", "a rule"),
        Column("revision", "int64", "revision"),
        Column("image_id", "string", "the study's own id of the photograph"),
        Column("wnid", "string", "WordNet ID of its class"),
        Column("class_index", "int64", "class index of its class"),
        Column("final", "bool", "whether it is the revision that was published"),
    ),
    ("set", "revision", "image_id", "wnid"),
)
IMAGES = Table(
    "images.parquet",
    "Images that models were evaluated on, one row a set and image.",
    (
        Column("set", "string", "original or a new set"),
        Column("row", "int64", "place in the arrays of this artifact, from 0"),
        Column("image_id", "string", "the study's own id, or the number in the data set"),
        Column("wnid", "string", "WordNet ID of its class, or the class's name where it has none"),
        Column("class_index", "int64", "class index of its class"),
    ),
    ("set", "row"),
)
MODELS = Table(
    "models.parquet",
    "Predictions found, one row a set and model.",
    (
        Column("set", "string", "original or a new set"),
        Column("model", "string", "name of the model, the same in all sets"),
        Column("family", "string", "its group"),
        Column("source_file", "string", "file of the record; empty where there is none"),
        Column("usable", "bool", "whether it is in the arrays"),
        Column(
            "row",
            "int64",
            "its row in the arrays of this artifact; missing where it is not usable",
            nullable=True,
        ),
        Column("action", "string", "what was corrected, or why it is not usable; empty where nothing was"),
    ),
    ("set", "model"),
)
EARLIER = Table(
    "earlier.parquet",
    "Accuracy on revisions that were not published, one row a revision and model.",
    (
        Column("set", "string", "a rule"),
        Column("revision", "int64", "revision"),
        Column("model", "string", "name of the model"),
        Column("images", "int64", "images evaluated"),
        Column("right", "int64", "those whose true class comes first"),
        Column("right5", "int64", "those whose true class is among the first five"),
    ),
    ("set", "revision", "model"),
)
FILES = Table(
    "files.parquet",
    "Files of the record, one row a file.",
    (
        Column("file", "string", "relative to the record's folder"),
        Column("bytes", "int64", "size", "bytes"),
        Column("sha256", "string", "SHA-256 of its bytes"),
        Column("read_by", "string", "stage that reads it; empty where none does"),
    ),
    ("file",),
)
FINDINGS = Table(
    "findings.parquet",
    "Findings of the audit, one row a check.",
    (
        Column("number", "int64", "place on the page, from 0"),
        Column("finding", "string", "its name"),
        Column("topic", "string", "part of the page"),
        Column("kind", "string", "departs from the paper, parts of the record disagree, …, no problem found"),
        Column("title", "string", "one line"),
        Column("count", "int64", "how many things it is about, as measured says"),
        Column("evidence", "int64", "rows of evidence"),
        Column("measured", "string", "what was measured, with the numbers"),
        Column("how", "string", "from which files and by which rule"),
        Column("implies", "string", "what follows"),
        Column("does_not_imply", "string", "what does not follow"),
    ),
    ("number",),
)
EVIDENCE = Table(
    "evidence.parquet",
    "What proves the findings of the audit, one row a finding and thing.",
    (
        Column("finding", "string", "name of the finding"),
        Column("row", "int64", "running number within the finding, from 0"),
        Column("file", "string", "file of the record, relative to its folder"),
        Column("id", "string", "image, task, class, model or list"),
        Column("detail", "string", "what it shows"),
    ),
    ("finding", "row"),
)


READS = {
    "predictions": ("classes",),
    "search": ("classes",),
    "datasets": ("classes", "search"),
    "hits": ("classes", "search", "datasets"),
    "candidates": ("classes", "search", "datasets", "hits"),
    "duplicates": ("classes", "candidates"),
    "reviews": ("classes", "datasets"),
}
"""Parts whose tables a part is checked against."""

CLAIMS = Table(
    "claims.parquet",
    "Numbers that the papers print, one row a number.",
    (
        Column("number", "int64", "place on the page, from 0"),
        Column("id", "string", "its name, such as lines/slope"),
        Column("section", "string", "where it is printed"),
        Column("claim", "string", "what it is the number of"),
        Column("printed", "string", "as printed"),
        Column("computed", "string", "computed from the record; empty where it is not derivable"),
        Column(
            "value",
            "float64",
            "computed, unrounded; missing where it is a word or not derivable",
            nullable=True,
        ),
        Column("printed_value", "float64", "the number printed; missing where it is a word", nullable=True),
        Column("tolerance", "float64", "half a unit of its last digit", nullable=True),
        Column("verdict", "string", "same, same after correction, differs or not derivable"),
        Column(
            "note",
            "string",
            "what explains a difference, or why it is not derivable; empty where nothing is to say",
        ),
    ),
    ("number",),
)


def labels(config: Config) -> dict[str, str]:
    """Displayed name of each set of the record; the original first."""
    return SETS[config.record.kind]


def stages(config: Config) -> list[Stage]:
    """``record/<part>``: one stage a part of the record."""
    arrays = tuple(
        File(
            f"{name}.npy",
            "Class indices, int16, models × images × 5, best first; -1 where no class is known.",
        )
        for name in labels(config)
    )
    parts: dict[str, tuple[Table | File, ...]] = {
        "classes": (CLASSES.without("hypernyms"), FAULTS),
        "predictions": (IMAGES, MODELS, EARLIER, FAULTS, *arrays),
    }
    if config.record.kind == "imagenetv2":
        parts |= {
            "files": (FILES,),
            "search": (RECORDS, FAULTS),
            "candidates": (CANDIDATES, BLACKLIST, FAULTS),
            "hits": (TASKS.without("token"), SUBMISSIONS, FAULTS),
            "duplicates": (PAIRS, LOOKED_AT, FAULTS),
            "reviews": (REVIEWED, FAULTS),
            "datasets": (LISTS, REVISIONS, FAULTS),
        }
    assert config.record.path is not None
    return [
        Stage(
            f"record/{part}",
            algorithm=1,
            run=f"imagenetv2.record.{part}:run",
            files=files,
            settings={"record": config.record if part == "predictions" else _without_families(config)},
            reads=tuple(f"record/{other}" for other in READS.get(part, ())),
            outside={"record.path": config.record.path},
        )
        for part, files in parts.items()
    ] + [declared(config, [f"record/{part}" for part in parts]) for declared in _further(config).values()]


def _without_families(config: Config) -> Record:
    """What matters where no models are: another family of a model must not read all the record again."""
    return config.record.model_copy(update={"families": {}})


def further(config: Config) -> tuple[str, ...]:
    """Names of the stages that read the whole record."""
    return tuple(f"record/{name}" for name in _further(config))


def _further(config: Config) -> dict[str, Callable[[Config, list[str]], Stage]]:
    if config.record.kind == "imagenetv2":
        return {"claims": _claims, "audit": _audit}
    return {"claims": _claims}


def _claims(config: Config, parts: list[str]) -> Stage:
    """``record/claims`` reads the whole record, and once more the files whose faults were corrected."""
    assert config.record.path is not None
    return Stage(
        "record/claims",
        algorithm=1,
        run="imagenetv2.record.claims.stage:run",
        files=(
            CLAIMS,
            File("claims.csv", "The same table."),
            File("published.md", "The same as a page, section by section, with notes."),
        ),
        settings={"record": config.record},
        reads=(*parts, "analysis"),
        outside={"record.path": config.record.path},
    )


def _audit(config: Config, parts: list[str]) -> Stage:
    """``record/audit`` holds the parts of a record against each other."""
    return Stage(
        "record/audit",
        algorithm=1,
        run="imagenetv2.record.audit.stage:run",
        files=(
            FINDINGS,
            EVIDENCE,
            File("findings.csv", "The findings for a spreadsheet."),
            File("evidence.csv", "Their evidence for a spreadsheet."),
            File("audit.html", "The audit on one page, readable offline."),
        ),
        reads=tuple(parts),
    )
