"""What each part of a record becomes: from a small record, and from the released one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from imagenetv2.artifacts import Artifact
from tests.unit import record_example as example
from tests.unit.record_example import HITS, INFO, JUDGED, SEARCH, WNIDS, image, listed, val


def made(tmp_path: Path, files: example.Files, part: str) -> Artifact:
    return example.made(example.write(tmp_path / "record", files), part, tmp_path / "data")


def test_classes_keep_their_index_whatever_the_order(tmp_path: Path) -> None:
    files = example.files()
    files[INFO] = [files[INFO][k] for k in (2, 0, 1)]
    for item in files[INFO]:
        item["cid"] += 1
    classes = made(tmp_path, files, "classes").table("classes")
    assert list(classes["wnid"]) == list(WNIDS)
    assert list(classes["class_index"]) == [0, 1, 2]
    assert [list(v) for v in classes["lemmas"]] == [list(v) for v in example.LEMMAS]
    assert list(classes["neighbours"][0]) == [WNIDS[1], WNIDS[2]]


def test_search_results_keep_every_record_with_values_of_one_type(tmp_path: Path) -> None:
    files = example.files()
    files[SEARCH][0].update(width="123", height=None, id_ours="f" * 40)
    files[SEARCH][1].pop("url_type")
    files[SEARCH][2].update(wnid="n9")
    records = made(tmp_path, files, "search").table("records")
    assert len(records) == len(files[SEARCH])
    assert list(records["position"]) == list(range(len(records)))
    assert records["width"][0] == 123
    assert pd.isna(records["height"][0])
    assert records["image_id"][0] == image(0, 0)
    assert records["size_key"][1] == "url_z"
    assert records["wnid"][2] == WNIDS[0]
    assert set(records["taken_to"]) == {"2013-07-11"}


def test_lists_hold_each_image_once_and_say_how_many_were_listed(tmp_path: Path) -> None:
    files = example.files()
    files[listed("b", 0)]["image_filenames"].append([image(0, 0), WNIDS[1]])
    artifact = made(tmp_path, files, "datasets")
    lists, revisions = artifact.table("lists").set_index("name"), artifact.table("revisions")
    assert lists.loc["imagenetv2-b-0", "images"] == 7
    assert list(lists.index[lists["final"]]) == ["imagenetv2-a-1", "imagenetv2-b-0", "imagenetv2-c-0"]
    assert lists.loc["imagenetv2-a-1", "starting_from"] == "imagenetv2-a-0"
    assert lists.loc["imagenet-validation-original", "revision"] == -1
    ours = revisions[revisions["set"] == "matched_frequency"]
    assert sorted(zip(ours["image_id"], ours["wnid"], strict=True)) == sorted(
        (image(k, n), w) for k, w in enumerate(WNIDS) for n in (0, 1)
    )
    assert set(revisions["set"]) == {"threshold", "matched_frequency", "top_images"}


def test_lists_of_original_images_are_kept_apart(tmp_path: Path) -> None:
    files = example.files()
    seen = {**files[example.ORIGINAL], "image_filenames": [[val(1, 3), WNIDS[1]], [val(0, 2), WNIDS[0]]] * 2}
    files["data/datasets/imagenet-annotatedval-0.json"] = seen
    artifact = made(tmp_path, files, "datasets")
    originals = artifact.table("originals").set_index("name")
    assert originals.loc["imagenet-annotatedval-0"].to_numpy().tolist() == [
        [val(0, 2), WNIDS[0]],
        [val(1, 3), WNIDS[1]],
    ]
    assert len(originals.loc["imagenet-validation-original"]) == 15
    assert artifact.table("lists").set_index("name").loc["imagenet-annotatedval-0", "images"] == 4


def test_exempted_images_are_listed_once_whatever_they_are(tmp_path: Path) -> None:
    files = example.files()
    files["data/metadata/near_duplicate_resolution_override.json"] = [
        image(1, 1),
        image(1, 0),
        5,
        image(1, 1),
    ]
    exempted = made(tmp_path, files, "duplicates").table("exempted")
    assert list(exempted["image_id"]) == sorted([image(1, 0), image(1, 1)])


def test_tasks_keep_their_order_and_roles(tmp_path: Path) -> None:
    files = example.files()
    task = files[HITS][0]
    task["images_to_label"].append(val(0, 4))
    task["images_all"] += [val(0, 4), val(0, 3), val(1, 4), image(0, 4)]
    files[HITS][1]["uuid"] = "task-0"
    artifact = made(tmp_path, files, "hits")
    tasks, submissions = artifact.table("tasks"), artifact.table("submissions").set_index("task_id")
    first = tasks[tasks["task_id"] == "task-0"]
    assert list(first["image_id"]) == task["images_all"]
    assert list(first["role"])[:3] == ["negative"] * 3
    assert list(first["role"])[-4:] == ["validation", "positive", "negative", "candidate"]
    assert set(first.loc[first["role"] != "candidate", "origin"]) == {"reference"}
    assert list(submissions.index) == ["task-0", "task-0#2", "task-2"]
    assert submissions.loc["task-0", ["images", "candidates", "positive", "negative"]].tolist() == [
        14,
        5,
        4,
        4,
    ]


def test_candidates_say_which_parts_know_them(tmp_path: Path) -> None:
    files = example.files()
    files[SEARCH] = [r for r in files[SEARCH] if r["id_ours"] != image(0, 0)]
    artifact = made(tmp_path, files, "candidates")
    candidates = artifact.table("candidates").set_index("image_id")
    assert list(candidates.loc[image(0, 0), "known_from"]) == ["tasks", "datasets"]
    assert candidates.loc[image(0, 0), "photo_id"] is None or pd.isna(candidates.loc[image(0, 0), "photo_id"])
    assert list(candidates.loc[image(2, 5), "known_from"]) == ["search"]
    assert candidates.loc[image(2, 5), "class_index"] == 2
    assert artifact.table("blacklist").to_dict("records") == [{"image_id": image(0, 5), "reason": "drawing"}]


def test_pairs_are_unordered_and_name_the_candidate_first(tmp_path: Path) -> None:
    files = example.files()
    files[JUDGED] = {
        image(0, 0): [image(0, 1), val(0, 0), image(0, 0)],
        image(0, 1): [image(0, 0)],
        val(1, 1): [image(2, 2)],
        image(0, 2): "n00000001_12.JPEG",
    }
    artifact = made(tmp_path, files, "duplicates")
    pairs = artifact.table("pairs")
    expected = [
        (*sorted((image(0, 0), image(0, 1))), "candidates"),
        (image(0, 0), val(0, 0), "val"),
        (image(2, 2), val(1, 1), "val"),
        (image(0, 2), "n00000001_12.JPEG", "train"),
    ]
    assert sorted(pairs.itertuples(index=False, name=None)) == sorted(expected)
    looked = artifact.table("looked_at").set_index(["image_id", "metric"])
    assert looked.loc[(image(1, 0), "l2"), "references"] == 2
    assert looked.loc[(image(1, 0), "ssim"), "cutoff"] == 1.5


def test_reviews_have_a_row_a_class(tmp_path: Path) -> None:
    files = example.files()
    files[example.review("a", 0)][WNIDS[0]] = {"reviewed": 0, "problematic": "true"}
    reviews = made(tmp_path, files, "reviews").table("classes").set_index(["set", "revision", "wnid"])
    assert len(reviews) == 4 * 3
    assert reviews.loc[("threshold", 0, WNIDS[0])].tolist() == [False, True]
    assert reviews.loc[("threshold", 1, WNIDS[0])].tolist() == [True, False]


def test_files_say_who_reads_them(tmp_path: Path) -> None:
    files = example.files()
    found = made(tmp_path, files, "files").table("files").set_index("file")
    assert list(found.index) == sorted(files)
    assert found.loc["LICENSE", "read_by"] == ""
    assert found.loc[SEARCH, "read_by"] == "record/search"
    assert found.loc[listed("a", 0), "read_by"] == "record/datasets"
    assert set(found.loc[found["read_by"] == "", :].index) == {"LICENSE"}


def test_an_almost_empty_record_is_survived(tmp_path: Path) -> None:
    """All that is needed is a list of classes and the folder by which a record is known."""
    files = {INFO: example.files()[INFO], "data/datasets/imagenetv2-a-0.json": {}}
    record = example.write(tmp_path / "record", files)
    for number, part in enumerate(("search", "candidates", "hits", "duplicates", "reviews", "datasets")):
        artifact = example.made(record, part, tmp_path / f"data{number}")
        assert len(artifact.table("faults")) > 0


@pytest.mark.packs
def test_the_released_record_in_numbers(published_parts: dict[str, Artifact]) -> None:
    files = published_parts["files"].table("files")
    assert len(files) == 410 - 336
    classes = published_parts["classes"].table("classes")
    assert len(classes) == 1000
    assert classes["neighbours"].str.len().unique().tolist() == [20]
    records = published_parts["search"].table("records")
    assert (len(records), records["image_id"].nunique(), records["source_file"].nunique()) == (
        14_924,
        13_885,
        28,
    )
    assert records["width"].isna().sum() == 6_355
    tasks, submissions = published_parts["hits"].table("tasks"), published_parts["hits"].table("submissions")
    assert (len(submissions), submissions["source_file"].nunique()) == (2_461, 18)
    assert submissions["images"].value_counts().to_dict() == {48: 2_453, 25: 8}
    assert tasks["role"].value_counts().to_dict() == {
        "candidate": 101_457,
        "positive": 8_269,
        "negative": 8_218,
    }
    assert len(published_parts["candidates"].table("blacklist")) == 31_337
    pairs = published_parts["duplicates"].table("pairs")
    assert pairs["origin"].value_counts().to_dict() == {
        "candidates": 14_392,
        "train": 107,
        "test": 14,
        "val": 8,
    }
    assert len(published_parts["duplicates"].table("looked_at")) == 8_019
    assert len(published_parts["reviews"].table("classes")) == 4_000


@pytest.mark.packs
def test_the_released_lists(published_parts: dict[str, Artifact]) -> None:
    lists = published_parts["datasets"].table("lists").set_index("name")
    revisions = published_parts["datasets"].table("revisions")
    assert len(lists) == 12
    final = lists[lists["final"]]
    assert sorted(final.index) == ["imagenetv2-a-44", "imagenetv2-b-33", "imagenetv2-c-12"]
    assert set(final["images"]) == {10_000}
    assert lists.loc["imagenetv2-b-0", "images"] == 9_991
    published = revisions[revisions["final"]]
    assert published["image_id"].nunique() == 20_683
    assert set(published.groupby(["set", "wnid"]).size()) == {10}


@pytest.mark.packs
def test_the_released_record_has_these_faults(published_parts: dict[str, Artifact]) -> None:
    """Counted by hand once; a new kind or another count is a change of what readers are told."""
    found = {
        (part, kind): int(count)
        for part, artifact in published_parts.items()
        if part != "files"
        for kind, count in artifact.table("faults")["fault"].value_counts().items()
    }
    assert found == {
        ("classes", "class is its own neighbour"): 1,
        ("classes", "negative class is the class itself"): 1,
        ("classes", "synonym of several classes"): 18,
        ("search", "field missing"): 4,
        ("search", "number as text"): 52,
        ("search", "value missing"): 54,
        ("search", "size not stated"): 1,
        ("search", "size stated in some records only"): 1,
        ("search", "photograph found by several queries of a class"): 14,
        ("search", "photograph in several files"): 67,
        ("search", "photograph under several classes"): 260,
        ("search", "query is no synonym"): 103,
        ("search", "uploaded before Flickr opened"): 1,
        ("search", "uploaded before it was taken"): 17,
        ("datasets", "classes of unequal size"): 2,
        ("datasets", "list marked as not valid"): 2,
        ("datasets", "number of images not the one wanted"): 2,
        ("datasets", "predecessor missing"): 5,
        ("datasets", "revisions missing"): 3,
        ("hits", "candidates asked about for another class"): 7,
        ("hits", "controls of unequal number"): 1,
        ("hits", "date not that of the file's name"): 2,
        ("hits", "fewer than three controls of a kind"): 8,
        ("hits", "id damaged"): 1,
        ("hits", "negative control of no near class"): 8,
        ("hits", "task of another size"): 8,
        ("hits", "task repeated"): 74,
        ("hits", "task unknown"): 4,
        ("hits", "time without a zone"): 4,
        ("candidates", "excluded image in a published list"): 1,
        ("candidates", "excluded images in an earlier list"): 7,
        ("candidates", "id damaged"): 3,
        ("candidates", "images unknown to the record"): 1,
        ("candidates", "listed for a class that no search or task names"): 27,
        ("duplicates", "cut-off missing"): 3,
        ("duplicates", "id damaged"): 2,
        ("duplicates", "image is its own near-duplicate"): 4,
        ("duplicates", "images unknown to the record"): 2,
        ("duplicates", "judged pairs in no review"): 1,
        ("duplicates", "numbers of several types"): 2,
        ("duplicates", "relation not symmetric"): 1,
        ("reviews", "review missing"): 6,
    }
    excluded = (
        published_parts["candidates"]
        .table("faults")
        .set_index("fault")
        .loc["excluded image in a published list"]
    )
    assert excluded["subject"] == "2c7af50194e611dd6a445bc20004417b4ea3b865"
    assert excluded["file"] == "data/datasets/imagenetv2-b-33.json"
