"""Whether a task's page tells candidates from validation images.

The released code names each image on a page by its own name, encrypted (``encrypt_string_with_magic`` in
``code/utils.py``): eight fixed characters and the name are filled up with spaces to one length and encrypted with
AES in CBC mode under one key and one initialisation vector, then written in base64. Under such a scheme two
tokens begin with the same block of 16 bytes just where the names begin with the same eight characters, whatever
the key is. So what a page gives away follows from the names alone, which the record holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit.finding import LIMIT, SOUND, Finding, Summary, each, evidence, listed, nothing
from imagenetv2.record.audit.released import Released
from imagenetv2.record.audit.tasks import with_files

MAGIC, WIDTH, BLOCK = 8, 99, 16
"""Characters before the name, characters to which the name is filled up, bytes of a block of AES."""

VISIBLE = BLOCK * 8 // 6
"""Characters of base64 that a block determines whole."""


def findings(record: Released) -> list[Finding]:
    """All findings about blinding."""
    if record.tasks.empty:
        return []
    tasks = with_files(record).sort_values(["task_id", "position"], ignore_index=True)
    tasks["original"] = tasks["origin"] == "reference"
    return [_beginnings(tasks), _seen(tasks), _lengths(tasks)]


def token_length(name: str) -> int:
    """Characters of an image’s token on a page. Raises ValueError for a name that is too long to be filled up."""
    if len(name) > WIDTH:
        raise ValueError(f"{name} has more than {WIDTH} characters")
    padded = ((MAGIC + WIDTH) // BLOCK + 1) * BLOCK
    return (padded + 2) // 3 * 4


def alike(names: Sequence[str]) -> list[bool]:
    """Which of a page’s tokens begin with the same block as another one of the page."""
    beginnings = [name.ljust(WIDTH)[: BLOCK - MAGIC] for name in names]
    numbers = Counter(beginnings)
    return [numbers[b] > 1 for b in beginnings]


def table(guessed: Iterable[bool], true: Iterable[bool]) -> tuple[int, int, int, int]:
    """Right and wrong guesses of "validation image", and those missed and rightly left alone."""
    numbers = Counter(zip(guessed, true, strict=True))
    return numbers[True, True], numbers[True, False], numbers[False, True], numbers[False, False]


def _summary(caption: str, numbers: tuple[int, int, int, int]) -> Summary:
    hit, false, missed, rest = numbers
    columns = ("", "Validation image", "Candidate")
    return Summary(
        caption, columns, (("Marked", count(hit), count(false)), ("Not marked", count(missed), count(rest)))
    )


def _shares(numbers: tuple[int, int, int, int]) -> str:
    hit, false, missed, _ = numbers
    return f"{percent(hit / max(hit + false, 1))} of the marked are validation images (precision), {percent(hit / max(hit + missed, 1))} of the validation images are marked (recall)"


def _beginnings(tasks: pd.DataFrame) -> Finding:
    guess = (
        tasks.groupby("task_id", sort=False)["image_id"]
        .transform(lambda names: alike(names.tolist()))
        .astype(bool)
    )
    numbers = table(guess, tasks["original"])
    exact = (guess == tasks["original"]).groupby(tasks["task_id"]).all()
    first = tasks.groupby("task_id").agg(file=("file", "first"))
    marked = guess.groupby(tasks["task_id"]).sum()
    places = tasks.loc[guess].groupby("task_id")["position"].agg(lambda p: ", ".join(map(str, p)))
    solved = exact[exact & (marked > 0)].index
    return Finding(
        slug="blinding",
        kind=LIMIT if len(solved) else SOUND,
        title="The addresses of validation images begin alike"
        if len(solved)
        else "Addresses of images do not tell their origin",
        count=len(solved),
        measured=f"Marking the images of a page whose token begins as another one’s does, on that page alone and without any key, "
        f"separates validation images from candidates without an error in {count(len(solved))} of {plural(len(exact), 'task')}: {_shares(numbers)}.",
        how="Names of validation images all begin with ILSVRC20, those of candidates with eight hexadecimal digits of their own. The released "
        "code puts eight fixed characters before the name and encrypts with AES-CBC under a fixed key and initialisation vector, so the first "
        f"16 bytes, {VISIBLE} characters of the address, are equal just where these eight characters are. Computed from the names in the tasks; no key "
        "and no page was needed.",
        implies="Someone who read the source of a page could see which images were the controls, and so the validation images whose selection frequency "
        "was measured. With a fresh random initialisation vector per token, or a keyed digest of task and image, addresses would tell nothing.",
        does_not_imply="That any worker did: no answer is in the record, nothing in the record suggests it, and seeing it takes the page’s source and the idea of comparing "
        "addresses. Nor does it tell positive from negative controls. Pages are not in the record; the code is the released one, and tasks "
        "of the first weeks may have been made by an earlier version.",
        evidence=evidence(
            first.loc[solved, "file"], solved, (f"{marked[t]} images alike, at {places[t]}" for t in solved)
        )
        if len(solved)
        else nothing(),
        summaries=(_summary("Marked: the token begins as another one’s of the page does", numbers),),
    )


def _seen(tasks: pd.DataFrame) -> Finding:
    """What meeting the same token in two tasks tells, to somebody who sees all tasks."""
    number = tasks.groupby("image_id")["task_id"].transform("nunique")
    guess = number > 1
    numbers = table(guess, tasks["original"])
    hit, false, missed, _ = numbers
    better = hit / max(hit + false, 1)
    base = (hit + missed) / len(tasks)
    again = tasks.loc[guess & tasks["original"]]
    return Finding(
        slug="same-token",
        kind=LIMIT if better > 2 * base else SOUND,
        title="Meeting an image again tells that it is a validation image"
        if better > 2 * base
        else "Meeting an image again does not tell what it is",
        count=int(hit),
        measured=f"Marking every image that is in some other task too: {_shares(numbers)}; without any mark {percent(base)} of the images shown are validation "
        "images.",
        how="The same image has the same token in every task, so tasks can be joined by tokens; an upper bound for somebody who sees every task of the record.",
        implies="Tokens allow tasks to be joined, and joining them helps to find controls."
        if better > 2 * base
        else "Tokens allow tasks to be joined, but joining them does not separate controls from candidates, because candidates return as often.",
        does_not_imply="That tokens need to be the same in every task: other tokens for each would cost nothing.",
        evidence=evidence(
            again["file"], again["task_id"], (f"{r.image_id} at {r.position}" for r in each(again))
        )
        if better > 2 * base
        else nothing(),
        summaries=(_summary("Marked: in another task too", numbers),),
    )


def _lengths(tasks: pd.DataFrame) -> Finding:
    names = tasks.drop_duplicates("image_id")
    length = names["image_id"].map(token_length)
    differ = length.nunique() > 1
    kinds = names["original"].map({True: "validation images", False: "candidates"})
    plain = sorted({f"{len(n)} characters ({k})" for n, k in zip(names["image_id"], kinds, strict=True)})
    return Finding(
        slug="token-lengths",
        kind=LIMIT if differ else SOUND,
        title="Addresses of different length" if differ else "All addresses have the same length",
        count=int(length.nunique()) - 1,
        measured=f"Names have {listed(plain)}; their tokens have {listed([str(n) for n in sorted(set(length))])} characters.",
        how="Lengths by the released code’s filling of names to 99 characters, for every image of a task.",
        implies="Length was thought of, and tells nothing."
        if not differ
        else "The length of an address tells what an image is.",
        does_not_imply="That the beginnings of addresses tell nothing; see there.",
        evidence=nothing(),
    )
