"""Tables of the parts of a released record, with the columns that a record can fill."""

from __future__ import annotations

from imagenetv2.tables import Column, Table

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
EXEMPTED = Table(
    "exempted.parquet",
    "Images that the resolution of near-duplicates passes over.",
    (Column("image_id", "string", "the image"),),
    ("image_id",),
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
ORIGINALS = Table(
    "originals.parquet",
    "Images of every list of original images, one row a list and image.",
    (
        Column("name", "string", "name of the list in the record"),
        Column("image_id", "string", "file name of the image"),
        Column("wnid", "string", "WordNet ID of its class"),
    ),
    ("name", "image_id"),
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
