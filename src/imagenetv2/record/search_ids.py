"""Ids in search results: the study's own, Flickr's and WordNet's, and sizes named in addresses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set
from typing import TYPE_CHECKING

from imagenetv2.record.faults import CORRECTED, REPORTED, Fault
from imagenetv2.record.ids import own_id
from imagenetv2.record.reader import some, tuples

if TYPE_CHECKING:
    import pandas as pd


def corrected(records: pd.DataFrame, folder: str, wnids: Set[str]) -> tuple[pd.DataFrame, list[Fault]]:
    """Records with ids and size keys corrected where two other fields of a record agree on them."""
    records = records.copy()
    faults = [*_photographs(records, folder), *_classes(records, wnids), *_sizes(records)]
    return records, faults


def photo_in(url: str) -> str:
    """Flickr's id of a photograph in the address of its file; empty where there is none."""
    found = re.search(r"/(\d+)_[0-9a-f]+(?:_[a-z0-9]+)?\.\w+(?:\?|$)", url)
    return found.group(1) if found else ""


def size_in(url: str) -> str:
    """The letter for a size in the address of a file, such as ``o``; empty for none, which is Flickr's medium."""
    found = re.search(r"_([a-z0-9])\.\w+(?:\?|$)", url)
    return found.group(1) if found else ""


def _photographs(records: pd.DataFrame, folder: str) -> list[Fault]:
    """The study's id is a hash of Flickr's, and the address names Flickr's again: two of three decide."""
    faults: list[Fault] = []
    columns = ("source_file", "position", "image_id", "photo_id", "engine", "url")
    checked = [
        (file, place, image, photo, engine or "flickr", photo_in(url))
        for file, place, image, photo, engine, url in tuples(records, *columns)
    ]
    right = sum(image == own_id(photo, engine) for _, _, image, photo, engine, _ in checked)
    if 2 * right < len(checked):
        detail = f"only {right:,} of {len(checked):,} are SHA-1 of the photograph's id and the engine's name"
        return [Fault(folder, "id_ours", "ids of another origin", detail, REPORTED)]
    rule = f"as in {right:,} of {len(checked):,} records"
    for k, (file, place, image, photo, engine, named) in zip(records.index, checked, strict=True):
        subject = f"record {place}: {image}"
        if image == own_id(photo, engine):
            if named and named != photo:
                detail = f"the record names photograph {photo}, its address {named}"
                faults.append(Fault(file, subject, "address of another photograph", detail, REPORTED))
        elif named and image == own_id(named, engine):
            detail = f"names photograph {photo or 'none'}, its address {named}"
            evidence = f"id_ours is the SHA-1 of {named}{engine}, {rule}"
            faults.append(Fault(file, subject, "photograph's id wrong", detail, CORRECTED, evidence))
            records.at[k, "photo_id"] = named
        elif named and named == photo:
            expected = own_id(photo, engine)
            evidence = (
                f"{expected} is the SHA-1 of {photo}{engine}, {rule}, and the address names {photo} too"
            )
            faults.append(
                Fault(file, subject, "id not the one expected", f"now {expected}", CORRECTED, evidence)
            )
            records.at[k, "image_id"] = expected
        else:
            detail = f"neither {photo or 'nothing'} nor the address's {named or 'nothing'} gives it"
            faults.append(Fault(file, subject, "id not the one expected", detail, REPORTED))
    return faults


def _classes(records: pd.DataFrame, wnids: Set[str]) -> list[Fault]:
    by_query = defaultdict(set)
    for file, query, wnid in tuples(records, "source_file", "query", "wnid"):
        if wnid in wnids:
            by_query[file, query].add(wnid)
    faults = []
    columns = ("source_file", "position", "query", "wnid", "image_id")
    for k, (file, place, query, wnid, image) in zip(records.index, tuples(records, *columns), strict=True):
        if wnid in wnids:
            continue
        subject, likely = f"record {place}: {image}", by_query[file, query]
        detail = f"WordNet ID {wnid or 'missing'} is not in the list of classes"
        if len(likely) == 1:
            (found,) = likely
            evidence = f"all other records of the query {query} in this file are of {found}"
            faults.append(Fault(file, subject, "class unknown", detail, CORRECTED, evidence))
            records.at[k, "wnid"] = found
        else:
            faults.append(Fault(file, subject, "class unknown", detail, REPORTED))
    return faults


def _sizes(records: pd.DataFrame) -> list[Fault]:
    """Which size a file has stands in its address too; where only the address says, it counts."""
    listed = tuples(records, "source_file", "position", "url", "size_key")
    keys = [(file, place, size_in(url), key) for file, place, url, key in listed]
    stated: dict[str, set[str]] = defaultdict(set)
    for _, _, letter, key in keys:
        if key:
            stated[letter].add(key)
    known = sum(bool(key) for *_, key in keys)
    faults, filled = [], defaultdict(list)
    for k, (file, place, letter, key) in zip(records.index, keys, strict=True):
        if not key and len(stated[letter]) == 1:
            records.at[k, "size_key"] = next(iter(stated[letter]))
            filled[file].append(place)
        elif key and letter and key != f"url_{letter}":
            detail = f"says {key}, its address _{letter}"
            faults.append(Fault(file, f"record {place}", "size not that of the address", detail, REPORTED))
    for file, places in sorted(filled.items()):
        detail = f"{len(places):,} records do not say which size they are of, such as those at {some(places)}"
        evidence = f"the address ends with the size's letter, as in {known:,} records that state both"
        faults.append(Fault(file, "url_type", "size not stated", detail, CORRECTED, evidence))
    return faults
