"""Faults planted in a small record: each is found, named and survived; a clean record has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from imagenetv2.artifacts import Artifact
from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault, table
from tests.unit import record_example as example
from tests.unit.record_example import (
    BLACKLIST,
    HITS,
    INFO,
    JUDGED,
    LOOKED,
    NEIGHBOURS,
    ORIGINAL,
    SEARCH,
    WNIDS,
    Files,
    image,
    listed,
    photo,
    review,
    val,
)

PARTS = ("classes", "search", "datasets", "hits", "candidates", "duplicates", "reviews")
Edit = Callable[[Files], object]
B0 = listed("b", 0)


def entry(files: Files, name: str, place: int) -> list[str]:
    return files[name]["image_filenames"][place]


PLANTED: dict[str, tuple[str, Edit, str, str, str, str]] = {
    "index as text": ("classes", lambda f: f[INFO][1].update(cid="1"), INFO, "cid", "number of another type", CORRECTED),
    "indices from 1": (
        "classes", lambda f: [c.update(cid=c["cid"] + 1) for c in f[INFO]], INFO, "cid", "class indices shifted", CORRECTED,
    ),
    "index repeated": ("classes", lambda f: f[INFO][1].update(cid=2), INFO, WNIDS[1], "class index wrong", CORRECTED),
    "order": ("classes", lambda f: f[INFO].reverse(), INFO, "cid", "classes out of order", CORRECTED),
    "indices swapped": (
        "classes", lambda f: (f[INFO][0].update(cid=1), f[INFO][1].update(cid=0)), INFO, "cid",
        "class indices not in the order of WordNet IDs", REPORTED,
    ),
    "class twice": ("classes", lambda f: f[INFO].append(f[INFO][0]), INFO, WNIDS[0], "class repeated", LEFT_OUT),
    "class without id": ("classes", lambda f: f[INFO].append({"cid": 3}), INFO, "item 3", "class without id", LEFT_OUT),
    "no object": ("classes", lambda f: f[INFO].append(7), INFO, "item 3", "item of another type", LEFT_OUT),
    "synonyms as text": (
        "classes", lambda f: f[INFO][0].update(synset="one, uno"), INFO, WNIDS[0], "synonyms of another type", CORRECTED,
    ),
    "shared synonym": (
        "classes", lambda f: f[INFO][1].update(synset=["uno"]), INFO, "uno", "synonym of several classes", REPORTED,
    ),
    "gloss missing": ("classes", lambda f: f[INFO][1].pop("gloss"), INFO, WNIDS[1], "definition missing", REPORTED),
    "own neighbour": (
        "classes", lambda f: f[NEIGHBOURS][WNIDS[1]].insert(0, WNIDS[1]), NEIGHBOURS, WNIDS[1],
        "class is its own neighbour", CORRECTED,
    ),
    "own neighbour later": (
        "classes", lambda f: f[NEIGHBOURS][WNIDS[1]].append(WNIDS[1]), NEIGHBOURS, WNIDS[1],
        "class is its own neighbour", LEFT_OUT,
    ),
    "unknown neighbour": (
        "classes", lambda f: f[NEIGHBOURS][WNIDS[1]].append("n9"), NEIGHBOURS, WNIDS[1], "neighbour unknown", LEFT_OUT,
    ),
    "neighbours missing": (
        "classes", lambda f: f[NEIGHBOURS].pop(WNIDS[1]), NEIGHBOURS, WNIDS[1], "class missing", REPORTED,
    ),
    "negative class": (
        "classes", lambda f: f["data/metadata/negative_val_wnids_for_mturk.json"].update({WNIDS[2]: WNIDS[2]}),
        "data/metadata/negative_val_wnids_for_mturk.json", WNIDS[2], "negative class is the class itself", REPORTED,
    ),
    "no neighbours file": ("classes", lambda f: f.pop(NEIGHBOURS), NEIGHBOURS, "file", "file missing", REPORTED),
    "torn neighbours": (
        "classes", lambda f: f.update({NEIGHBOURS: b'{"n0000'}), NEIGHBOURS, "file", "file unreadable", LEFT_OUT,
    ),
    "width as text": ("search", lambda f: f[SEARCH][0].update(width="640"), SEARCH, "width", "number as text", CORRECTED),
    "width null": ("search", lambda f: f[SEARCH][0].update(width=None), SEARCH, "width", "value missing", REPORTED),
    "width odd": (
        "search", lambda f: f[SEARCH][2].update(width="wide"), SEARCH, "record 2: width", "number malformed", LEFT_OUT,
    ),
    "field missing": (
        "search", lambda f: [r.pop("min_taken_date") for r in f[SEARCH]], SEARCH, "min_taken_date", "field missing", REPORTED,
    ),
    "photo id as number": (
        "search", lambda f: f[SEARCH][0].update(id_search_engine=int(photo(0, 0))), SEARCH, "id_search_engine",
        "value of another type", CORRECTED,
    ),
    "date": (
        "search", lambda f: f[SEARCH][3].update(date_taken="2012-02-30 10:00:00"), SEARCH, f"record 3: {image(0, 3)}",
        "date malformed", REPORTED,
    ),
    "window day": (
        "search", lambda f: f[SEARCH][3].update(max_taken_date="2013-7-11"), SEARCH, "record 3: max_taken_date",
        "date malformed", LEFT_OUT,
    ),
    "window reversed": (
        "search", lambda f: [r.update(min_taken_date="2014-07-11") for r in f[SEARCH]], SEARCH, "window",
        "window ends before it begins", REPORTED,
    ),
    "wrong own id": (
        "search", lambda f: f[SEARCH][3].update(id_ours="f" * 40), SEARCH, f"record 3: {'f' * 40}",
        "id not the one expected", CORRECTED,
    ),
    "wrong photo id": (
        "search", lambda f: f[SEARCH][3].update(id_search_engine="5"), SEARCH, f"record 3: {image(0, 3)}",
        "photograph's id wrong", CORRECTED,
    ),
    "wrong address": (
        "search", lambda f: f[SEARCH][3].update(url="https://x/1/55_ab_z.jpg"), SEARCH, f"record 3: {image(0, 3)}",
        "address of another photograph", REPORTED,
    ),
    "size key": (
        "search", lambda f: f[SEARCH][3].update(url_type="url_o"), SEARCH, "record 3", "size not that of the address", REPORTED,
    ),
    "unknown class": (
        "search", lambda f: f[SEARCH][3].update(wnid="n00000009"), SEARCH, f"record 3: {image(0, 3)}",
        "class unknown", CORRECTED,
    ),
    "record twice": (
        "search", lambda f: f[SEARCH].append(f[SEARCH][0]), SEARCH, image(0, 0), "record repeated", REPORTED,
    ),
    "two classes": (
        "search", lambda f: f[SEARCH].append({**f[SEARCH][0], "wnid": WNIDS[1], "search_key": "two"}),
        "data/search_results", image(0, 0), "photograph under several classes", REPORTED,
    ),
    "two files": (
        "search", lambda f: f.update({SEARCH.replace("22-15", "22-16"): f[SEARCH][:1]}), "data/search_results",
        image(0, 0), "photograph in several files", REPORTED,
    ),
    "sizes": (
        "search", lambda f: f[SEARCH].append({**f[SEARCH][0], "search_key": "uno", "width": 1}), "data/search_results",
        f"https://farm1.staticflickr.com/2/{photo(0, 0)}_ab12cd_z.jpg", "sizes disagree", REPORTED,
    ),
    "query": ("search", lambda f: f[SEARCH][0].update(search_key="horse"), SEARCH, WNIDS[0], "query is no synonym", REPORTED),
    "too many": (
        "search", lambda f: [r.update(max_images=5) for r in f[SEARCH]], SEARCH, WNIDS[1], "more records than asked for",
        REPORTED,
    ),
    "search torn": (
        "search", lambda f: f.update({SEARCH: json.dumps(f[SEARCH]).encode()[:500]}), SEARCH, "file", "file unreadable",
        LEFT_OUT,
    ),
    "search no list": ("search", lambda f: f.update({SEARCH: {}}), SEARCH, "file", "file of another type", LEFT_OUT),
    "no searches": ("search", lambda f: f.pop(SEARCH), "data/search_results", "folder", "folder empty", REPORTED),
    "doubled image": (
        "datasets", lambda f: entry(f, B0, 1).__setitem__(0, image(0, 0)), B0, image(0, 0), "image doubled", LEFT_OUT,
    ),
    "doubled in two classes": (
        "datasets", lambda f: entry(f, B0, 2).__setitem__(0, image(0, 0)), B0, image(0, 0),
        "image doubled under several classes", LEFT_OUT,
    ),
    "class of an entry unknown": (
        "datasets", lambda f: entry(f, B0, 0).__setitem__(1, "n00000009"), B0, image(0, 0), "class unknown", CORRECTED,
    ),
    "no class anywhere": (
        "datasets", lambda f: f[B0]["image_filenames"].__setitem__(0, ["0" * 40, "n9"]), B0, "0" * 40, "class unknown",
        LEFT_OUT,
    ),
    "entry": ("datasets", lambda f: entry(f, B0, 0).pop(), B0, "entry 0", "entry malformed", LEFT_OUT),
    "foreign image": (
        "datasets", lambda f: entry(f, B0, 0).__setitem__(0, val(0, 1)), B0, val(0, 1), "image of another origin", REPORTED,
    ),
    "damaged id": (
        "datasets", lambda f: entry(f, B0, 0).__setitem__(0, f"{image(0, 0)[:20]}somebody{image(0, 0)[25:]}"), B0,
        f"{image(0, 0)[:20]}somebody{image(0, 0)[25:]}", "id damaged", CORRECTED,
    ),
    "target": (
        "datasets", lambda f: f[B0]["image_filenames"].pop(), B0, "imagenetv2-b-0", "number of images not the one wanted",
        REPORTED,
    ),
    "unequal": (
        "datasets", lambda f: f[B0]["image_filenames"].pop(), B0, "imagenetv2-b-0", "classes of unequal size", REPORTED,
    ),
    "not valid": (
        "datasets", lambda f: f[B0].update(is_valid=False), B0, "imagenetv2-b-0", "list marked as not valid", REPORTED,
    ),
    "another name": (
        "datasets", lambda f: f[B0].update(output_filename="imagenetv2-b-1.json"), B0, "imagenetv2-b-0",
        "list under another name", REPORTED,
    ),
    "another function": (
        "datasets", lambda f: f[B0].update(sampling_function="sample_best"), B0, "imagenetv2-b-0",
        "function of another set", REPORTED,
    ),
    "predecessor": (
        "datasets", lambda f: f.pop(listed("a", 0)), listed("a", 1), "imagenetv2-a-0", "predecessor missing", REPORTED,
    ),
    "revisions": ("datasets", lambda f: f.pop(listed("a", 0)), "data/datasets", "threshold", "revisions missing", REPORTED),
    "later predecessor": (
        "datasets", lambda f: f[listed("a", 0)].update(time_string="2019-01-01_00:00:00_UTC"), listed("a", 1),
        "imagenetv2-a-0", "predecessor drawn later", REPORTED,
    ),
    "no list of a rule": ("datasets", lambda f: f.pop(B0), "data/datasets", "matched_frequency", "list missing", REPORTED),
    "no original list": ("datasets", lambda f: f.pop(ORIGINAL), "data/datasets", "original", "list missing", REPORTED),
    "stray list": (
        "datasets", lambda f: f.update({"data/datasets/mine.json": {}}), "data/datasets/mine.json", "mine",
        "list of no known set", LEFT_OUT,
    ),
    "class changes": (
        "datasets", lambda f: entry(f, listed("c", 0), 0).__setitem__(1, WNIDS[1]), "data/datasets", image(0, 0),
        "class changes between lists", REPORTED,
    ),
    "threshold of a class": (
        "datasets", lambda f: f["data/dataset_metadata/sampling_thresholds_a.json"].update({WNIDS[0]: 0.5}),
        listed("a", 1), WNIDS[0], "thresholds disagree", REPORTED,
    ),
    "task twice": (
        "hits", lambda f: f[HITS][1].update(uuid="task-0"), HITS, "task-0", "task id repeated", CORRECTED,
    ),
    "hit twice": (
        "hits", lambda f: f[HITS][1].update(hit_id="HIT0"), "data/mturk/hit_data_live", "HIT0", "hit_id repeated", REPORTED,
    ),
    "same task": (
        "hits", lambda f: f[HITS].append({**f[HITS][0], "uuid": "task-9", "hit_id": "HIT9"}), HITS, "task-0", "task repeated",
        REPORTED,
    ),
    "not shown": (
        "hits", lambda f: f[HITS][0]["images_all"].remove(image(0, 0)), HITS, "task-0", "images of parts not shown", LEFT_OUT,
    ),
    "size": (
        "hits", lambda f: f[HITS][0]["images_all"].remove(image(0, 0)), HITS, "task-0", "task of another size", REPORTED,
    ),
    "no role": (
        "hits", lambda f: f[HITS][0]["images_to_label"].pop(), HITS, "task-0", "images shown in no role", CORRECTED,
    ),
    "order lost": ("hits", lambda f: f[HITS][0].pop("images_all"), HITS, "task-0", "order of images missing", CORRECTED),
    "image twice": (
        "hits", lambda f: f[HITS][0]["images_all"].append(image(0, 0)), HITS, "task-0", "image repeated in a task", REPORTED,
    ),
    "two roles": (
        "hits", lambda f: f[HITS][0]["images_to_label"].append(val(0, 0)), HITS, "task-0", "image in two roles", REPORTED,
    ),
    "positive control": (
        "hits", lambda f: [p.__setitem__(p.index(val(0, 0)), val(2, 4)) for p in
                           (f[HITS][0]["images_all"], f[HITS][0]["images_pos_control"])],
        HITS, "task-0", "positive control of another class", REPORTED,
    ),
    "negative control": (
        "hits", lambda f: [p.__setitem__(p.index(val(1, 0)), val(0, 4)) for p in
                           (f[HITS][0]["images_all"], f[HITS][0]["images_neg_control"])],
        HITS, "task-0", "negative control of the class asked about", REPORTED,
    ),
    "unknown control": (
        "hits", lambda f: [p.__setitem__(p.index(val(1, 0)), val(9, 9)) for p in
                           (f[HITS][0]["images_all"], f[HITS][0]["images_neg_control"])],
        HITS, "task-0", "control unknown", REPORTED,
    ),
    "far class": (
        "hits", lambda f: f[NEIGHBOURS][WNIDS[0]].remove(WNIDS[1]), HITS, "task-0", "negative control of no near class",
        REPORTED,
    ),
    "few controls": (
        "hits", lambda f: f[HITS][0]["images_all"].remove(val(0, 0)), HITS, "task-0", "fewer than three controls of a kind",
        REPORTED,
    ),
    "task's class": ("hits", lambda f: f[HITS][0].update(wnid="n9"), HITS, "task-0", "class unknown", REPORTED),
    "other candidates": (
        "hits", lambda f: f[HITS][0].update(wnid=WNIDS[2]), HITS, "candidates", "candidates asked about for another class",
        REPORTED,
    ),
    "task of another day": (
        "hits", lambda f: [t.update(time="2018-08-01 10:00:00+00:00") for t in f[HITS]], HITS, "time",
        "date not that of the file's name", REPORTED,
    ),
    "zone": (
        "hits", lambda f: f[HITS][0].update(time="2018-09-20 21:13:00"), HITS, "time", "time without a zone", REPORTED,
    ),
    "time": ("hits", lambda f: f[HITS][0].update(time="yesterday"), HITS, "task-0", "date malformed", REPORTED),
    "submitted": ("hits", lambda f: f[HITS][0].update(submitted="yes"), HITS, "task-0", "value of another type", CORRECTED),
    "not submitted": ("hits", lambda f: f[HITS][0].update(hit_id=None), HITS, "task-0", "submission unclear", REPORTED),
    "refused task": (
        "hits", lambda f: f["data/mturk/hit_blacklist_live.json"].update(gone="missing images"),
        "data/mturk/hit_blacklist_live.json", "gone", "task unknown", REPORTED,
    ),
    "no validation images": (
        "hits", lambda f: f.pop(ORIGINAL), "data/mturk/hit_data_live", "controls", "controls not checked", REPORTED,
    ),
    "excluded but published": (
        "candidates", lambda f: f[BLACKLIST].update({image(0, 0): "drawing"}), B0, image(0, 0),
        "excluded image in a published list", REPORTED,
    ),
    "excluded earlier": (
        "candidates", lambda f: f[BLACKLIST].update({image(0, 0): "drawing"}), listed("a", 0), "images",
        "excluded images in an earlier list", REPORTED,
    ),
    "excluded unknown": (
        "candidates", lambda f: f[BLACKLIST].update({"0" * 40: "drawing"}), BLACKLIST, "images",
        "images unknown to the record", REPORTED,
    ),
    "reason": ("candidates", lambda f: f[BLACKLIST].update({image(0, 5): 3}), BLACKLIST, image(0, 5), "reason missing", REPORTED),
    "id repeated": (
        "candidates", lambda f: f.update({BLACKLIST: f'{{"{image(0, 5)}": "a", "{image(0, 5)}": "b"}}'.encode()}), BLACKLIST,
        image(0, 5), "key repeated", LEFT_OUT,
    ),
    "id in capitals": (
        "candidates", lambda f: f.update({BLACKLIST: {image(0, 5).upper(): "drawing"}}), BLACKLIST, image(0, 5).upper(),
        "id damaged", CORRECTED,
    ),
    "listed for another class": (
        "candidates", lambda f: [entry(f, listed(a, r), 0).__setitem__(1, WNIDS[1]) for a, r in
                                 (("a", 0), ("a", 1), ("b", 0), ("c", 0))],
        "data/datasets", image(0, 0), "listed for a class that no search or task names", REPORTED,
    ),
    "asymmetric": ("duplicates", lambda f: f[JUDGED].pop(image(1, 1)), JUDGED, "pairs", "relation not symmetric", CORRECTED),
    "own duplicate": (
        "duplicates", lambda f: f[JUDGED][image(1, 1)].append(image(1, 1)), JUDGED, image(1, 1),
        "image is its own near-duplicate", LEFT_OUT,
    ),
    "unknown duplicate": (
        "duplicates", lambda f: f[JUDGED].update({"0" * 40: [val(0, 0)]}), JUDGED, "images", "images unknown to the record",
        REPORTED,
    ),
    "never seen": (
        "duplicates", lambda f: f[LOOKED].clear(), JUDGED, "pairs", "judged pairs in no review", REPORTED,
    ),
    "unknown validation image": (
        "duplicates", lambda f: f[JUDGED].update({image(0, 0): [val(9, 9)]}), JUDGED, val(9, 9), "validation image unknown",
        REPORTED,
    ),
    "no candidate": (
        "duplicates", lambda f: f[JUDGED].update({val(0, 0): [val(0, 1)]}), JUDGED, val(0, 0), "pair without a candidate",
        REPORTED,
    ),
    "duplicate twice": (
        "duplicates", lambda f: f[JUDGED][image(1, 1)].append(image(1, 0)), JUDGED, image(1, 1), "near-duplicate repeated",
        LEFT_OUT,
    ),
    "override": (
        "duplicates", lambda f: f["data/metadata/near_duplicate_resolution_override.json"].append("0" * 40),
        "data/metadata/near_duplicate_resolution_override.json", "0" * 40, "image in no pair", REPORTED,
    ),
    "cut-off": ("duplicates", lambda f: f[LOOKED][image(1, 1)]["fc7"].pop("threshold"), LOOKED, "fc7", "cut-off missing", REPORTED),
    "cut-off odd": (
        "duplicates", lambda f: f[LOOKED][image(1, 1)]["fc7"].update(threshold="low"), LOOKED, f"{image(1, 1)} fc7",
        "number malformed", LEFT_OUT,
    ),
    "metric": ("duplicates", lambda f: f[LOOKED][image(1, 1)].update(l7={}), LOOKED, image(1, 1), "review malformed", LEFT_OUT),
    "references": (
        "duplicates", lambda f: f[LOOKED][image(1, 1)]["fc7"].pop("references"), LOOKED, image(1, 1), "references missing",
        REPORTED,
    ),
    "review's date": (
        "duplicates", lambda f: f[LOOKED][image(1, 1)]["fc7"].update(date="once"), LOOKED, image(1, 1), "date malformed",
        REPORTED,
    ),
    "class not reviewed": (
        "reviews", lambda f: f[review("b", 0)].pop(WNIDS[1]), review("b", 0), "classes", "classes missing from a review",
        REPORTED,
    ),
    "class reviewed later": (
        "reviews", lambda f: f[review("b", 0)][WNIDS[1]].update(reviewed=False), review("b", 0), WNIDS[1],
        "published class not reviewed", REPORTED,
    ),
    "objection": (
        "reviews", lambda f: f[review("b", 0)][WNIDS[1]].update(problematic=True), review("b", 0), WNIDS[1],
        "objection to a published list", REPORTED,
    ),
    "verdict as text": (
        "reviews", lambda f: f[review("b", 0)][WNIDS[1]].update(reviewed="True"), review("b", 0), WNIDS[1],
        "value of another type", CORRECTED,
    ),
    "verdict": (
        "reviews", lambda f: f[review("b", 0)][WNIDS[1]].update(problematic="maybe"), review("b", 0), WNIDS[1],
        "verdict unreadable", LEFT_OUT,
    ),
    "unknown class reviewed": (
        "reviews", lambda f: f[review("b", 0)].update(n9={}), review("b", 0), "n9", "class unknown", LEFT_OUT,
    ),
    "no review": ("reviews", lambda f: f.pop(review("b", 0)), "data/dataset_reviews", "imagenetv2-b-0", "review missing", REPORTED),
    "reviewed list gone": (
        "reviews", lambda f: f.update({review("b", 7): f[review("b", 0)]}), review("b", 7), "imagenetv2-b-7",
        "list of a review missing", REPORTED,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of all parts of the record without a fault."""
    folder = tmp_path_factory.mktemp("clean")
    record = example.write(folder / "record", example.files())
    for part in PARTS:
        example.made(record, part, folder / "data")
    return folder / "data"


@pytest.mark.parametrize("part", PARTS)
def test_a_clean_record_has_no_faults(clean: Path, part: str) -> None:
    found = Artifact(clean / "record" / part / "0123456789").table("faults")
    assert found.empty, found.to_dict("records")


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found_named_and_survived(tmp_path: Path, clean: Path, name: str) -> None:
    part, edit, file, subject, kind, action = PLANTED[name]
    files = example.files()
    edit(files)
    record = example.write(tmp_path / "record", files)
    edited = example.differing(files, example.files())
    found = example.made(record, part, tmp_path / "data", clean, edited).table("faults")
    rows = found[(found["file"] == file) & (found["subject"] == subject) & (found["fault"] == kind)]
    assert list(rows["action"]) == [action], found.to_dict("records")
    assert rows["detail"].str.len().all()
    assert (rows["evidence"] != "").all() == (action != REPORTED)


def test_faults_are_sorted_and_numbered_once() -> None:
    one, two = Fault("b", "x", "odd", "1"), Fault("a", "y", "odd", "2", LEFT_OUT, "because")
    found = table([one, two, one])
    assert list(found["number"]) == [0, 1]
    assert list(found["file"]) == ["a", "b"]
    assert list(table([]).columns) == list(found.columns)


def test_a_change_needs_evidence_and_a_known_action() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        Fault("f", "s", "odd", "d", CORRECTED)
    with pytest.raises(ValueError, match="none of"):
        Fault("f", "s", "odd", "d", "forgotten")
