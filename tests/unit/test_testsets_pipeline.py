"""Sets of this pipeline: opened and exported where they are frozen, refused where they are not."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from imagenetv2.cli import main
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.images import content_id, encode_png
from imagenetv2.sampling.frozen import digest
from imagenetv2.testsets.checking import check_files
from imagenetv2.testsets.opening import open_testset
from tests.conftest import FAKE_VERSION, write_artifact
from tests.unit import evaluation_sets as sets

RULE = "matched_frequency"
WNIDS = ("n03063599", "n03950228", "n02802426")


def written(data: Path, stage: str, files: dict[str, Any], **reads: str) -> Path:
    """An artifact whose manifest says what it was made from."""
    path = write_artifact(data, stages(Config())[stage], files)
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "reads": reads}))
    return path


def classes(data: Path) -> None:
    table = sets.classes_table(WNIDS)
    table["lemmas"] = [["mug", "coffee mug"], ["pitcher"], ["ball, round"]]
    written(data, "classes", {"classes.parquet": table})


def pool(data: Path) -> pd.DataFrame:
    """Candidates of three classes, two of them the same photograph under two classes; half of them in the set."""
    random = np.random.default_rng(3)
    rows, files = [], {}
    for index, wnid in enumerate(WNIDS):
        for k in range(4):
            pixels = random.integers(0, 256, (9, 7 + k, 3), dtype=np.uint8)
            rows.append((content_id(pixels), wnid, index, f"{index}{k}", f"1{k}@N0{index}", str(k)))
            files[f"{wnid}/{rows[-1][0]}.png"] = encode_png(pixels)
    frame = pd.DataFrame(rows, columns=["image_id", "wnid", "class_index", "photo_id", "owner_id", "license"])
    frame["file"] = frame["wnid"] + "/" + frame["image_id"] + ".png"
    for column in ("rung", "uploaded", "exif_orientation", "width", "height"):
        frame[column] = 1
    for column in ("query", "source_sha256", "source_format"):
        frame[column] = "x"
    frame["spread"] = 1.0
    written(data, "candidates", {"candidates.parquet": frame, "images.zip": sets.archive(files)})
    return frame


def dataset(data: Path, pool: pd.DataFrame, *, frozen: bool = True) -> Path:
    images = pool.groupby("wnid").head(2)[["image_id", "wnid", "class_index"]].copy()
    for column in ("shown", "selected", "bin", "own_bin", "entered"):
        images[column] = 1
    images["frequency"], images["how"] = 1.0, "drawn"
    freeze = {
        "frozen": frozen, "revision": 2, "rule": "MatchedFrequency", "digest": digest(zip(images["wnid"], images["image_id"], strict=True)),
        "blocked": [] if frozen else ["n03063599 has not been reviewed without objection"],
        "remedy": "" if frozen else "have the remaining classes reviewed.",
    }  # fmt: skip
    files = {"images.parquet": images, "freeze.json": freeze}
    path = written(data, f"datasets/{RULE}", files, candidates=FAKE_VERSION, classes=FAKE_VERSION)
    link = data / "latest/datasets" / RULE
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    classes(tmp_path / "data")
    return tmp_path / "data"


def test_a_frozen_set_is_opened_by_its_folder_and_by_its_link(data: Path) -> None:
    candidates = pool(data)
    path = dataset(data, candidates)
    for at in (path, data / "latest/datasets" / RULE, data / "datasets" / RULE):
        found = open_testset(at)
        assert (found.name, found.layout) == (f"{RULE} {FAKE_VERSION}", "a frozen set of this pipeline")
        assert found.known is None and found.remarks == ()
        assert found.wnids == WNIDS and found.classes.tolist() == [0, 1, 2]
        chosen = candidates.groupby("wnid").head(2).sort_values("file")
        assert found.ids == tuple(chosen["file"])
        assert found.labels.tolist() == chosen["class_index"].tolist()
        assert [content_id(p) for p in found.pixels] == chosen["image_id"].tolist()


def test_a_set_under_review_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = dataset(data, pool(data), frozen=False)
    with pytest.raises(InputError, match="revision 2 of this set is not frozen, so no model may see it"):
        open_testset(path)
    assert main(["export", RULE, "--out", str(tmp_path / "out"), "--data", str(data)]) == 1
    assert "not frozen" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_set_whose_images_changed_is_refused(data: Path) -> None:
    path = dataset(data, pool(data))
    freeze = json.loads((path / "freeze.json").read_text())
    (path / "freeze.json").write_text(json.dumps({**freeze, "digest": "0" * 64}))
    with pytest.raises(InputError, match="not 0000000000 as frozen"):
        open_testset(path)


def test_the_validation_images_of_the_original_benchmark_are_a_set(data: Path) -> None:
    reference = sets.reference(train=2, val=3)
    classes_of_sets = sets.classes_table()
    written(data, "classes", {"classes.parquet": classes_of_sets})
    path = written(data, "reference", reference, classes=FAKE_VERSION)
    table = reference["reference.parquet"]
    table = table[table["split"] == "val"].sort_values("file")
    for at in (path, data / "reference"):
        found = open_testset(at)
        assert found.ids == tuple(table["file"]) and found.labels.tolist() == table["class_index"].tolist()
        assert [content_id(p) for p in found.pixels] == table["image_id"].tolist()


def test_other_artifacts_are_no_sets(data: Path) -> None:
    pool(data)
    with pytest.raises(
        InputError, match="is an artifact of candidates, which is no test set; name one of datasets/"
    ):
        open_testset(data / "candidates" / FAKE_VERSION)


def test_several_versions_are_listed(data: Path) -> None:
    path = dataset(data, pool(data))
    other = path.parent / "aaaaaaaaaa"
    other.mkdir()
    (other / "manifest.json").write_text((path / "manifest.json").read_text())
    with pytest.raises(InputError, match=f"holds 2 versions: {FAKE_VERSION}, aaaaaaaaaa; name one of them"):
        open_testset(path.parent)


@pytest.mark.parametrize("layout", ["wnid", "index"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_export_is_the_same_set(
    layout: str, packed: bool, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen = open_testset(dataset(data, pool(data)))
    out = tmp_path / ("out.tar" if packed else "out")
    arguments = [
        "export",
        RULE,
        "--out",
        str(out),
        "--layout",
        layout,
        "--data",
        str(data),
        *(["--tar"] if packed else []),
    ]
    assert main(arguments) == 0
    assert f"{out}: 6 images of 3 classes, MatchedFrequency revision 2" in capsys.readouterr().out
    found = open_testset(out)
    check_files(found)
    assert (found.digest, found.ids, found.wnids) == (frozen.digest, frozen.ids, frozen.wnids)
    assert all((a == b).all() for a, b in zip(found.pixels, frozen.pixels, strict=True))
    kind = "by WordNet ID" if layout == "wnid" else "by index"
    assert found.layout == f"class folders {kind}{', in a tar archive' if packed else ''}"
    assert main(arguments) == 1
    assert "exists already; delete it, or name another place" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", out.name]


def test_an_export_says_whom_the_photographs_are_owed_to(data: Path, tmp_path: Path) -> None:
    candidates = pool(data)
    dataset(data, candidates)
    assert main(["export", RULE, "--out", str(tmp_path / "out"), "--data", str(data)]) == 0
    found = pd.read_csv(tmp_path / "out/attribution.csv", dtype=str)
    assert list(found.columns) == ["file", "photo_id", "owner_id", "license"]
    expected = candidates.groupby("wnid").head(2).sort_values("file")[list(found.columns)]
    assert found.values.tolist() == expected.values.tolist()
    table = pd.read_csv(tmp_path / "out/classes.csv", dtype=str)
    assert table.values.tolist() == [
        ["0", "n03063599", "mug, coffee mug"], ["1", "n03950228", "pitcher"], ["2", "n02802426", "ball, round"],
    ]  # fmt: skip


def test_an_archive_has_the_same_bytes_each_time(data: Path, tmp_path: Path) -> None:
    dataset(data, pool(data))
    for name in ("a/set.tar", "b/set.tar"):
        assert main(["export", RULE, "--out", str(tmp_path / name), "--tar", "--data", str(data)]) == 0
    assert (tmp_path / "a/set.tar").read_bytes() == (tmp_path / "b/set.tar").read_bytes()
    with tarfile.open(tmp_path / "a/set.tar") as archive:
        assert {m.mtime for m in archive} == {0} and archive.getnames()[0].startswith("set/")


def test_an_export_that_fails_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from imagenetv2.testsets import writing

    dataset(data, pool(data))
    monkeypatch.setattr(writing, "_csv", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    for more in ([], ["--tar"]):
        out = tmp_path / f"out{'.tar' if more else ''}"
        assert main(["export", RULE, "--out", str(out), "--data", str(data), *more]) == 1
        assert "the disk is full" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data"]
    assert main(["export", RULE, "--out", str(tmp_path / "out.tgz"), "--tar", "--data", str(data)]) == 1
    assert "end its name with .tar" in capsys.readouterr().err
