"""Tables of what is made of a whole record: the claims about it, and its audit."""

from __future__ import annotations

from imagenetv2.tables import Column, Table

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
