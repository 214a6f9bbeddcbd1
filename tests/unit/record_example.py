"""A released record in the small: three classes, every kind of file, and nothing wrong in it."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from imagenetv2.artifacts import Artifact, Draft
from imagenetv2.commands.record import needed
from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.job import Job
from imagenetv2.plan import Plan
from imagenetv2.record.files import reader_of

WNIDS = ("n00000001", "n00000002", "n00000003")
LEMMAS = (["one", "uno"], ["two"], ["three"])
SEARCH = "data/search_results/2018-09-05-22-15-24_researcher1.json"
HITS = "data/mturk/hit_data_live/researcher1_hits_submitted_2018-09-20-21:12:45-UTC.json"
ORIGINAL = "data/datasets/imagenet-validation-original.json"
INFO = "data/metadata/class_info.json"
NEIGHBOURS = "data/metadata/wnid_to_most_similar_wnids.json"
JUDGED = "data/metadata/near_duplicates.json"
LOOKED = "data/metadata/nearest_neighbor_reviews_v2.json"
BLACKLIST = "data/metadata/candidate_blacklist.json"

Files = dict[str, Any]


def image(k: int, number: int) -> str:
    """The study's id of candidate ``number`` of class ``k``."""
    return hashlib.sha1(f"{photo(k, number)}flickr".encode()).hexdigest()


def photo(k: int, number: int) -> str:
    """Flickr's id of candidate ``number`` of class ``k``."""
    return f"80000{k}{number:03d}"


def val(k: int, number: int) -> str:
    """Validation image ``number`` of class ``k``."""
    return f"ILSVRC2012_val_{k * 100 + number:08d}.JPEG"


def listed(letter: str, revision: int) -> str:
    """The file of a list."""
    return f"data/datasets/imagenetv2-{letter}-{revision}.json"


def review(letter: str, revision: int) -> str:
    """The file of the review of a list."""
    return f"data/dataset_reviews/imagenetv2-{letter}-{revision}_review.json"


def files() -> Files:
    """JSON values by file name: a record without a fault. Edit it, then ``write`` it."""
    found: Files = {
        INFO: [
            {"cid": k, "wnid": w, "synset": list(LEMMAS[k]), "gloss": f"number {k}"}
            for k, w in enumerate(WNIDS)
        ],
        "data/metadata/wikipedia_pages.json": {w: [f"https://en.wikipedia.org/wiki/{w}"] for w in WNIDS},
        NEIGHBOURS: {w: [o for o in WNIDS if o != w] for w in WNIDS},
        "data/metadata/negative_val_wnids_for_mturk.json": {WNIDS[0]: WNIDS[1]},
        SEARCH: [_result(k, n) for k in range(3) for n in range(6)],
        HITS: [_task(k) for k in range(3)],
        "data/mturk/hit_blacklist_live.json": {},
        ORIGINAL: _original(),
        "data/dataset_metadata/sampling_thresholds_a.json": {},
        BLACKLIST: {image(0, 5): "drawing"},
        JUDGED: {image(1, 0): [image(1, 1), val(1, 0)], image(1, 1): [image(1, 0)]},
        LOOKED: {
            image(1, 0): {"l2": _looked(image(1, 1), val(1, 0)), "dssim": _looked(image(1, 1))},
            image(1, 1): {"fc7": _looked(image(1, 0))},
        },
        "data/metadata/near_duplicate_resolution_override.json": [image(1, 0)],
        "LICENSE": "as is",
    }
    for letter in "abc":
        found[listed(letter, 0)] = _list(letter, 0)
        found[review(letter, 0)] = {w: {"reviewed": True, "problematic": False} for w in WNIDS}
    found[listed("a", 1)] = {**_list("a", 1), "starting_from": "imagenetv2-a-0.json"}
    found[review("a", 1)] = {w: {"reviewed": True, "problematic": False} for w in WNIDS}
    return found


def write(folder: Path, contents: Mapping[str, Any]) -> Path:
    """Write a record; bytes are written as they are, anything else as JSON."""
    for name, value in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return folder


def made(
    path: Path, part: str, data: Path, unchanged: Path | None = None, edited: Set[str] = frozenset()
) -> Artifact:
    """The artifact of a part of the record at ``path``, after all that it reads; written in place, which is quick.

    What no ``edited`` file reaches is linked from ``unchanged``, the artifacts of the record as it was before.
    """
    config = Config.model_validate({"record": {"path": path}})
    known = stages(config)
    planned = Plan(config, known, dict.fromkeys(known, "0123456789"), data)
    dirty = {reader_of(name) for name in edited}
    for name in needed(planned, f"record/{part}"):
        stage, final = planned.stages[name], planned.folder(name)
        if unchanged is not None and name not in dirty and not dirty & set(stage.reads):
            final.parent.mkdir(parents=True, exist_ok=True)
            final.symlink_to(unchanged / name / final.name)
        if final.exists():
            continue
        dirty.add(name)
        final.mkdir(parents=True)
        out = Draft(stage, final)
        module, function = stage.run.split(":")
        run = getattr(importlib.import_module(module), function)
        run(Job(stage, planned.versions[name], planned.versions, data, planned.config.seed, out))
        out.finish({"stage": name, "version": planned.versions[name]}, {})
    return Artifact(planned.folder(f"record/{part}"))


def differing(one: Files, other: Files) -> set[str]:
    """Names of files that only one of two records has, or that hold something else."""
    return {n for n in one.keys() | other.keys() if one.get(n) != other.get(n)}


def _result(k: int, number: int) -> dict[str, Any]:
    return {
        "id_ours": image(k, number),
        "id_search_engine": photo(k, number),
        "url": f"https://farm1.staticflickr.com/2/{photo(k, number)}_ab12cd_z.jpg",
        "url_type": "url_z",
        "wnid": WNIDS[k],
        "search_key": LEMMAS[k][0],
        "search_engine": "flickr",
        "uploader": "researcher",
        "date_upload_our_db": "2018-09-05 22:14:00",
        "date_taken": "2012-08-01 10:00:00",
        "date_upload_search_engine": "2012-08-02 10:00:00",
        "width": 640,
        "height": 480,
        "max_taken_date": "2013-07-11",
        "max_uploaded_date": "2013-07-11",
        "min_taken_date": "2012-07-11",
        "min_uploaded_date": "2012-07-11",
        "search_sort": "date-posted-asc",
        "max_images": 100,
    }


def _task(k: int) -> dict[str, Any]:
    near = (k + 1) % 3
    parts = {
        "images_to_label": [image(k, n) for n in range(4)],
        "images_pos_control": [val(k, n) for n in range(3)],
        "images_neg_control": [val(near, n) for n in range(3)],
    }
    return {
        "wnid": WNIDS[k],
        **parts,
        "images_all": [i for part in reversed(parts.values()) for i in part],
        "user": "researcher",
        "uuid": f"task-{k}",
        "time": f"2018-09-20 21:13:0{k}+00:00",
        "submitted": True,
        "hit_id": f"HIT{k}",
    }


def _original() -> dict[str, Any]:
    return {
        "sampling_function": "sample_val_dummy",
        "time_string": "2018-09-26_00:26:36_UTC",
        "image_filenames": [[val(k, n), w] for k, w in enumerate(WNIDS) for n in range(5)],
        "output_filename": "imagenet-validation-original.json",
    }


def _list(letter: str, revision: int) -> dict[str, Any]:
    functions = {"a": "sample_above_threshold", "b": "sample_wnid_histogram", "c": "sample_best"}
    return {
        "sampling_function": functions[letter],
        "target_size": 6,
        "time_string": f"2018-12-1{revision}_09:53:50_UTC",
        "image_filenames": [[image(k, n), w] for k, w in enumerate(WNIDS) for n in (0, 1 + revision)],
        "is_valid": True,
        "output_filename": f"imagenetv2-{letter}-{revision}.json",
        "wnid_thresholds": {},
    }


def _looked(*references: str) -> dict[str, Any]:
    return {
        "reviewer": "researcher",
        "date": "2018-09-16 23:04:42.6",
        "references": list(references),
        "threshold": 1.5,
    }
