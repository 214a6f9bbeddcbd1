"""``imagenetv2 duplicates IMAGE…``: what is said of an image, from small artifacts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from imagenetv2.artifacts import draft, publish
from imagenetv2.benchmark.stages import CLASSES, REFERENCE
from imagenetv2.candidates.stages import CANDIDATES, COPIES, REJECTED
from imagenetv2.cli import main
from imagenetv2.config import Config
from imagenetv2.duplicates.stages import NEIGHBOURS, PAIR_VERDICTS
from imagenetv2.graph import stages
from imagenetv2.images import content_id, encode_png
from imagenetv2.plan import Plan
from imagenetv2.sampling.stages import IMAGES, REVISIONS
from imagenetv2.tables import Table
from imagenetv2.versions import identity, plan
from tests.unit.small_review import archive, photograph, rows

GULL, TERN = "n01", "n02"
PICTURES = {
    name: photograph(i)
    for i, name in enumerate(("lone", "left", "right", "third", "copy", "original", "both"))
}
ID = {name: content_id(pixels) for name, pixels in PICTURES.items()}
NAME = {image: name for name, image in ID.items()}


def write(planned: Plan, name: str, files: Mapping[str, Any]) -> None:
    """An artifact at its planned version; tables that are not given are empty."""
    stage = planned.stages[name]
    with draft(stage, planned.folder(name)) as out:
        for file in stage.files:
            given = files.get(file.name)
            if isinstance(file, Table):
                out.table(file.name, file.empty() if given is None else given)
            else:
                out.path(file.name).write_bytes(given or b"{}")
        facts = identity(stage, planned.config.seed, planned.versions)
        out.finish({**facts, "version": planned.versions[name]}, {"finished": "2026-01-01T00:00:00+00:00"})
        publish(out, planned.folder(name))


def neighbours(*given: tuple[str, int, str, str, float]) -> dict[str, Any]:
    table = [
        {"image_id": ID[a], "rank": rank, "neighbour_id": ID[b], "origin": origin, "distance": distance}
        for a, rank, b, origin, distance in given
    ]
    return {"neighbours.parquet": rows(NEIGHBOURS, *table)}


def candidate(name: str, wnid: str, photo: str, **more: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "image_id": ID[name],
        "wnid": wnid,
        "photo_id": photo,
        "owner_id": "17@N00",
        "license": "4",
    }
    facts |= {
        "uploaded": 1346500000,
        "query": "gull",
        "file": f"{wnid}/{ID[name]}.png",
        "source_format": "JPEG",
    }
    return {**facts, "width": 48, "height": 48, "spread": 50.0, **more}


def votes(name: str, wnid: str, selected: int) -> dict[str, Any]:
    return {"image_id": ID[name], "wnid": wnid, "origin": "candidates", "selected": selected, "shown": 10}


POOL = [
    candidate("lone", GULL, "100"),
    candidate("left", GULL, "101"),
    candidate("left", TERN, "101"),
    candidate("right", GULL, "102"),
    candidate("third", GULL, "103"),
    candidate("copy", GULL, "104"),
    candidate("both", GULL, "105"),
]


def judged(planned: Plan) -> None:
    """All that the stage ``duplicates`` reads, and the stage itself."""
    write(
        planned,
        "classes",
        {
            "classes.parquet": rows(
                CLASSES,
                {"class_index": 0, "wnid": GULL, "lemmas": ["gull", "seagull"]},
                {"class_index": 1, "wnid": TERN, "lemmas": ["tern"]},
            )
        },
    )
    originals = [
        {
            "image_id": ID[name], "split": "val", "wnid": TERN, "source_file": f"val/n02/{number}.JPEG",
            "file": f"{TERN}/{ID[name]}.png", "width": 48, "height": 48, "spread": 50.0,
        }
        for name, number in (("original", 9), ("both", 10))
    ]  # fmt: skip
    write(
        planned,
        "reference",
        {
            "reference.parquet": rows(REFERENCE, *originals),
            "images.zip": archive(
                {str(row["file"]): PICTURES[NAME[str(row["image_id"])]] for row in originals}
            ),
        },
    )
    write(
        planned,
        "candidates",
        {
            "candidates.parquet": rows(CANDIDATES, *POOL),
            "copies.parquet": rows(
                COPIES,
                *(
                    {"image_id": row["image_id"], "photo_id": row["photo_id"]}
                    for row in POOL
                    if row["wnid"] == GULL
                ),
                {"image_id": ID["lone"], "photo_id": "777"},
                *({"image_id": ID[name], "photo_id": "888"} for name in ("left", "right")),
            ),
            "rejected.parquet": rows(REJECTED, {"photo_id": "666", "reason": "gone", "detail": "HTTP 410"}),
            "images.zip": archive({row["file"]: PICTURES[NAME[row["image_id"]]] for row in POOL}),
        },
    )
    frequencies = planned.stages["frequencies"].table("frequencies")
    counts = [votes("lone", GULL, 9), votes("left", GULL, 9), votes("left", TERN, 2), votes("right", GULL, 8)]
    counts += [votes("third", GULL, 7), votes("copy", GULL, 3)]
    write(planned, "frequencies", {"frequencies.parquet": rows(frequencies, *counts)})
    near = [
        ("left", 0, "right", "candidates", 1e5), ("left", 1, "lone", "candidates", 9e6),
        ("right", 0, "left", "candidates", 1e5), ("right", 1, "third", "candidates", 1.5e5),
        ("third", 0, "right", "candidates", 1.5e5),
        ("copy", 0, "original", "val", 5.0), ("both", 0, "both", "val", 0.0), ("lone", 0, "third", "candidates", 1.9e5),
    ]  # fmt: skip
    write(planned, "neighbours/l2", neighbours(*near))
    write(planned, "neighbours/fc7", neighbours(("left", 0, "right", "candidates", 12.5)))
    write(planned, "neighbours/ssim", neighbours())
    said = [
        ("left", "right", "duplicate", "Ada", "2026-05-01T10:00:00+00:00", "cropped"),
        ("right", "third", "duplicate", "Ada", "2026-05-01T10:00:05+00:00", ""),
        ("copy", "original", "duplicate", "Ben", "2026-05-02T00:00:00+00:00", ""),
        ("lone", "third", "different", "Ben", "2026-05-02T00:00:09+00:00", "another bird"),
    ]
    verdicts = [
        {
            "number": i,
            "image_id": ID[a],
            "neighbour_id": ID[b],
            "verdict": v,
            "reviewer": r,
            "time": t,
            "note": n,
        }
        for i, (a, b, v, r, t, n) in enumerate(said)
    ]
    write(planned, "reviews/pairs", {"verdicts.parquet": rows(PAIR_VERDICTS, *verdicts)})
    assert main(["duplicates"]) == 0


def sampled(planned: Plan) -> None:
    """One set, in which ``lone`` is, and ``left`` was until somebody objected."""
    image = {"image_id": ID["lone"], "wnid": GULL, "entered": 0, "how": "drawn", "bin": -1, "own_bin": -1}
    history = [
        {"revision": 0, "wnid": GULL, "image_id": ID["lone"]},
        {"revision": 0, "wnid": GULL, "image_id": ID["left"], "blacklisted": True},
        {"revision": 1, "wnid": GULL, "image_id": ID["lone"]},
    ]
    write(
        planned,
        "datasets/threshold",
        {"images.parquet": rows(IMAGES, image), "revisions.parquet": rows(REVISIONS, *history)},
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    """A folder with everything up to ``duplicates``, and its plan."""
    root = tmp_path_factory.mktemp("study")
    table = root / "config/classes/rendered.csv"
    table.parent.mkdir(parents=True)
    table.write_text("class_index,wnid\n")
    (root / "config/config.yaml").write_text("models: [{name: only, kind: nearest_centroid}]\n")
    config = Config.model_validate({"models": ({"name": "only", "kind": "nearest_centroid"},)})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.delenv("IMAGENETV2_CONFIG", raising=False)
        known = stages(config)
        planned = Plan(config, known, plan(known, config.seed), Path("data"))
        judged(planned)
    return root, planned


@pytest.fixture
def planned(whole: tuple[Path, Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """The plan, in a copy of that folder."""
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IMAGENETV2_CONFIG", raising=False)
    return whole[1]


def explained(capsys: pytest.CaptureFixture[str], *names: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["duplicates", *names, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["duplicates", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["duplicates", *arguments]) == 1
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return told


def test_an_image_goes_by_id_prefix_photograph_and_file(
    planned: Plan, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "mine").write_bytes(encode_png(PICTURES["left"]))
    names = (ID["left"], ID["left"][:9].upper(), "101", str(tmp_path / "mine"))
    assert [one["image_id"] for name in names for one in explained(capsys, name)] == [ID["left"]] * 4
    assert len(explained(capsys, *names)) == 1, "named four times, explained once"
    assert explained(capsys, "777")[0]["photographs"] == ["100", "777"]


def test_all_members_of_a_component_and_why_one_is_kept(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(capsys, ID["third"])[0]["component"]
    members = [(NAME[m["image_id"]], m["wnid"], m["fate"], m["place"]) for m in found["members"]]
    assert members == [
        ("left", GULL, "kept", 0), ("right", GULL, "dropped", 1), ("third", GULL, "dropped", 2),
        ("left", TERN, "dropped", 3),
    ]  # fmt: skip
    assert found["images"] == 3
    joined = {tuple(sorted((NAME[e["image_id"]], NAME[e["other"]]))) for e in found["edges"]}
    assert joined == {("left", "right"), ("right", "third")}, "third is joined to left through right"
    text = said(capsys, ID["third"])
    assert f"> {ID['third']} {GULL} dropped, 7/10" in text
    assert f"image {ID['left']} for class {GULL} is kept of its component" in text


def test_a_candidate_that_is_an_original_image_is_in_a_component_with_it(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    both = explained(capsys, ID["both"])[0]
    assert both["component"]["images"] == 1 and both["component"]["edges"] == []
    members = [(NAME[m["image_id"]], m["wnid"], m["fate"]) for m in both["component"]["members"]]
    assert members == [("both", TERN, "original"), ("both", GULL, "dropped")]
    text = said(capsys, ID["both"])
    assert f"dropped for {GULL}: the original data set holds it too (validation)" in text
    assert f"> {ID['both']} {TERN} validation image" in text and "none: no duplicate" not in text
    assert (
        f"with itself as an original image (validation, {TERN}): duplicate, “the same pixels”, at or below the cut-off "
        "of l2" in text
    )


def test_an_original_image_in_the_component_is_named(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(capsys, ID["copy"])[0]
    assert [m["fate"] for m in found["component"]["members"]] == ["original", "dropped"]
    assert (
        found["fates"][0]["reason"] == f"the original image {ID['original']} (validation) is in its component"
    )
    text = said(capsys, ID["original"])
    assert "validation image of n02 (tern): val/n02/9.JPEG" in text
    assert "an original image; it is never sampled" in text
    assert f"1              5 * {ID['copy']} (candidate, {GULL})  duplicate" in text, (
        "candidates that list it"
    )


def test_neighbours_come_with_distances_cut_offs_and_verdicts(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(capsys, ID["left"])[0]["neighbours"]
    assert found["l2"]["cutoff"] == 2e5
    first, second = found["l2"]["list"]
    assert (NAME[first["image_id"]], first["distance"], first["below"], first["verdict"]) == (
        "right",
        1e5,
        True,
        "duplicate",
    )
    assert (NAME[second["image_id"]], second["below"], second["verdict"]) == ("lone", False, "")
    assert found["ssim"]["list"] == []
    lone = explained(capsys, ID["lone"])[0]["neighbours"]["l2"]
    assert [NAME[row["image_id"]] for row in lone["listed_by"]] == ["left"]
    text = said(capsys, ID["lone"], "--neighbours", "0")
    assert "       listed by 1 candidate that it does not list itself, farther" in text
    assert not re.search(r"listed by candidates[^\n]*\n( {0,2}\S|\n|$)", text), (
        "no heading with nothing under it"
    )
    text = said(capsys, ID["left"], "--neighbours", "0")
    assert "l2: squared distance of pixels, cut-off 200,000" in text
    assert ID["right"] in text and "and 1 farther" in text, "those below the cut-off are always shown"


def test_verdicts_come_with_reviewer_time_and_note(planned: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, ID["left"])
    assert (
        f"with {ID['right']} (candidate, {GULL}): duplicate (Ada, 2026-05-01T10:00:00+00:00), “cropped”"
        in text
    )
    pair = explained(capsys, ID["lone"])[0]["pairs"][0]
    assert (pair["verdict"], pair["reviewer"], pair["note"]) == ("different", "Ben", "another bird")


def test_sets_say_in_since_when_and_why_not(planned: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    sampled(planned)
    assert "Threshold, n01: in the set, drawn, since revision 0" in said(capsys, ID["lone"])
    assert "Threshold, n01: not in the set: a reviewer objected to it in revision 0" in said(
        capsys, ID["left"]
    )
    assert "Threshold, n01: not in the set: it may be taken, and was not drawn" in said(
        capsys, ID["right"]
    ), "it follows left, which is blacklisted"
    assert "not in the set: it is a near-duplicate" in said(capsys, ID["third"])
    assert "its selection frequency is below the threshold" in said(capsys, ID["copy"])


def test_what_is_not_made_yet_is_named_with_its_command(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, ID["left"])
    assert "! datasets/threshold is not made yet; run snakemake, or imagenetv2 datasets threshold" in text
    assert "duplicates is not made yet" not in text
    shutil.rmtree(planned.folder("neighbours/l2"))
    text = said(capsys, ID["left"])
    assert "l2: squared distance of pixels, cut-off 200,000; not searched yet" in text
    assert "! neighbours/l2 is not made yet; run snakemake, or imagenetv2 neighbours l2" in text
    shutil.rmtree(planned.folder("candidates"))
    told = refused(capsys, ID["left"])
    assert (
        "candidates is not made yet under this configuration; run snakemake, or imagenetv2 candidates" in told
    )


def test_an_unknown_image_ends_in_a_sentence_that_helps(
    planned: Plan, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = ID["left"][:-1] + ("0" if ID["left"][-1] != "0" else "1")
    assert (
        f"{wrong} is no image, no Flickr photograph and no file here; the nearest ids are {ID['left']}"
        in refused(capsys, wrong)
    )
    assert "666 was found but is not in the pool: gone (HTTP 410)" in refused(capsys, "666")
    assert "there is no such file" in refused(capsys, "no/such.jpg")
    (tmp_path / "stranger.png").write_bytes(encode_png(photograph(99)))
    assert "imagenetv2 nearest finds pictures that are only like it" in refused(capsys, "stranger.png")
    (tmp_path / "text.png").write_text("x")
    assert "text.png cannot be read as a picture (not an image" in refused(capsys, "text.png")
    both = "".join(sorted(image[0] for image in ID.values()))
    shared = next((c for c in both if both.count(c) > 1), None)
    if shared:
        assert "give more digits" in refused(capsys, shared)


def test_the_page_has_the_pictures_of_all_that_it_names(
    planned: Plan, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capsys, ID["left"], ID["copy"], "--out", "out/page.html")
    assert text == "out/page.html\n"
    page = (tmp_path / "out/page.html").read_text()
    for name in ("left", "right", "third", "copy", "original"):
        assert f'alt="{ID[name]}"' in page, name
    assert page.count("<article>") == 2
    assert page.count('src="data:image/jpeg;base64,') == page.count("<img ")
    assert "“cropped”" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "--out and --json explain images" in refused(capsys, "--json")


def test_a_photograph_that_became_several_images_is_explained_by_all_of_them(
    planned: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [one["image_id"] for one in explained(capsys, "888")] == sorted((ID["left"], ID["right"]))
    assert len(explained(capsys, "888", ID["left"])) == 2


def test_the_page_begins_its_sentences_with_a_capital(
    planned: Plan, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said(capsys, ID["left"], "--out", "out/page.html")
    assert "Squared distance of pixels; cut-off 200,000" in (tmp_path / "out/page.html").read_text()
