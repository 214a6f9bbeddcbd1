"""Stage ``record/classes``: classes with synonyms, definitions, Wikipedia pages and WordNet neighbours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record.class_index import entries, indices
from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.reader import Reader, short, some, texts, usual
from imagenetv2.record.settings import Record

if TYPE_CHECKING:
    import pandas as pd

INFO = "data/metadata/class_info.json"
PAGES = "data/metadata/wikipedia_pages.json"
NEIGHBOURS = "data/metadata/wnid_to_most_similar_wnids.json"
NEGATIVES = "data/metadata/negative_val_wnids_for_mturk.json"
COLUMNS = ("class_index", "wnid", "lemmas", "definition", "wikipedia", "neighbours")
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def run(job: Job) -> None:
    """Write ``classes.parquet`` and ``faults.parquet``."""
    reader = Reader.of(job)
    frame = _cifar10() if job.settings(Record).kind == "cifar10.1" else read(reader)
    job.out.table("classes", frame)
    reader.write(job)


def _cifar10() -> pd.DataFrame:
    import pandas as pd

    found: list[tuple[object, ...]] = [(k, name, [name], "", [], []) for k, name in enumerate(CIFAR10)]
    return pd.DataFrame(found, columns=list(COLUMNS))


def read(reader: Reader) -> pd.DataFrame:
    """The classes of a record. Raises InputError where it lists none, since nothing can be read without them."""
    import pandas as pd

    listed = reader.value(INFO, list)
    found, faults = entries(INFO, reader.objects(INFO, listed or []))
    if not found:
        why = reader.faults[0].detail if reader.faults else "it is empty"
        raise InputError(
            f"{reader.source.path}: {INFO} lists no classes ({why}), and nothing can be read without; fetch the record "
            "again."
        )
    numbers, wrong = indices(INFO, found)
    reader.faults += [*faults, *wrong]
    wnids = [str(c["wnid"]) for c in found]
    lemmas = {w: _lemmas(reader, w, c.get("synset")) for w, c in zip(wnids, found, strict=True)}
    reader.faults += shared(INFO, lemmas)
    glosses = {w: _gloss(reader, w, c.get("gloss")) for w, c in zip(wnids, found, strict=True)}
    pages = _lists(reader, PAGES, wnids)
    neighbours, wrong = nearest(NEIGHBOURS, _lists(reader, NEIGHBOURS, wnids), wnids)
    reader.faults += wrong
    reader.faults += negatives(NEGATIVES, reader.value(NEGATIVES, dict, optional=True) or {}, wnids)
    rows = [
        (k, w, lemmas[w], glosses[w], pages.get(w, []), neighbours.get(w, []))
        for k, w in zip(numbers, wnids, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _lemmas(reader: Reader, wnid: str, value: object) -> list[str]:
    if isinstance(value, str) and value.strip():
        split = [part.strip() for part in value.split(",") if part.strip()]
        reader.fault(
            INFO,
            wnid,
            "synonyms of another type",
            f"one text, {short(value)}",
            CORRECTED,
            "split at its commas",
        )
        return split
    found = texts(value) or []
    if not found:
        reader.fault(INFO, wnid, "synonyms missing", f"holds {short(value)}")
    return found


def _gloss(reader: Reader, wnid: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        reader.fault(INFO, wnid, "definition missing", f"holds {short(value)}")
        return ""
    return value


def shared(file: str, lemmas: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Synonyms that several classes have: a search for one returns the same photographs for each."""
    classes = defaultdict(list)
    for wnid in sorted(lemmas):
        for lemma in dict.fromkeys(lemmas[wnid]):
            classes[lemma].append(wnid)
    for lemma, wnids in sorted(classes.items()):
        if len(wnids) > 1:
            alone = [w for w in wnids if len(lemmas[w]) == 1]
            only = f"; the only synonym of {', '.join(alone)}" if alone else ""
            yield Fault(file, lemma, "synonym of several classes", f"{', '.join(wnids)}{only}", REPORTED)


def _lists(reader: Reader, file: str, wnids: Sequence[str]) -> dict[str, list[str]]:
    """Lists of texts by class; classes without one and lists of unknown classes are faults."""
    value = reader.value(file, dict)
    if value is None:
        return {}
    known = set(wnids)
    found = {}
    for wnid in sorted(set(value) | known):
        listed = texts(value.get(wnid))
        if wnid not in known:
            reader.fault(
                file, wnid, "class unknown", "not in the list of classes", LEFT_OUT, f"{INFO} lacks it"
            )
        elif wnid not in value:
            reader.fault(file, wnid, "class missing", f"in {INFO} but not here")
        elif listed is None:
            reader.fault(
                file,
                wnid,
                "value of another type",
                f"holds {short(value[wnid])}",
                LEFT_OUT,
                "no list of texts",
            )
        else:
            found[wnid] = listed
    return found


def nearest(
    file: str, lists: Mapping[str, Sequence[str]], wnids: Sequence[str]
) -> tuple[dict[str, list[str]], list[Fault]]:
    """Nearest classes without the class itself, unknown and repeated ones; and what was left out."""
    known, faults, found = set(wnids), [], {}
    first = [w for w in lists if list(lists[w][:1]) == [w]]
    if first:
        faults.append(
            Fault(
                file,
                "all classes" if len(first) == len(lists) else some(first),
                "class is its own neighbour",
                f"{len(first)} of {len(lists)} lists begin with the class itself",
                CORRECTED,
                "a class has the distance 0 to itself and is none of the others",
            )
        )
    for wnid, listed in lists.items():
        times = Counter(listed)
        kept = [w for w in dict.fromkeys(listed) if w in known and w != wnid]
        for other in sorted(times):
            if other not in known:
                reason = f"{INFO} lacks it"
                faults.append(Fault(file, wnid, "neighbour unknown", f"names {other}", LEFT_OUT, reason))
            elif times[other] > 1:
                detail = f"names {other} {times[other]} times"
                faults.append(
                    Fault(file, wnid, "neighbour repeated", detail, LEFT_OUT, "its nearest place counts")
                )
        if wnid in listed[1:]:
            detail = f"names itself at place {list(listed).index(wnid, 1)}"
            reason = "it is none of the others"
            faults.append(Fault(file, wnid, "class is its own neighbour", detail, LEFT_OUT, reason))
        found[wnid] = kept
    return found, faults + _lengths(file, lists)


def _lengths(file: str, lists: Mapping[str, Sequence[str]]) -> list[Fault]:
    most = usual([len(v) for v in lists.values()])
    return [
        Fault(file, w, "list of another length", f"{len(v)} entries; most have {most}", REPORTED)
        for w, v in lists.items()
        if len(v) != most
    ]


def negatives(file: str, chosen: Mapping[str, Any], wnids: Sequence[str]) -> Iterator[Fault]:
    """Classes chosen for negative controls: another class than the one asked about, and one that exists."""
    known = set(wnids)
    for wnid, other in sorted(chosen.items()):
        if wnid not in known or not isinstance(other, str) or other not in known:
            yield Fault(file, wnid, "class unknown", f"{wnid}: {short(other)}", REPORTED)
        elif wnid == other:
            yield Fault(file, wnid, "negative class is the class itself", f"{wnid}: {other}", REPORTED)
