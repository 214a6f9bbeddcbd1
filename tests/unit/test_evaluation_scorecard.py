"""The command ``imagenetv2 evaluate``, from archives to its files: right counts, exit codes, and no work done twice."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from imagenetv2.cli import main
from imagenetv2.evaluation.running import runner
from imagenetv2.evaluation.running.ledger import record_type
from imagenetv2.evaluation.scorecard import card, files, page, sets, work
from imagenetv2.evaluation.scorecard.columns import COLUMNS
from imagenetv2.testsets.testset import TestSet
from tests.unit import testset_layouts as layouts
from tests.unit.scorecard_toys import evaluate, missed, name, results, right, whole_set, write_networks

FEW, SOME = range(0, 1000, 25), range(0, 1000, 7)
MATCHED, VAL = "imagenetv2-matched-frequency", "imagenet-val"


@pytest.fixture(autouse=True)
def networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks lie in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_networks(tmp_path)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of the time of a small evaluation."""
    monkeypatch.setattr(files, "drawn", lambda figure: {})
    monkeypatch.setattr(page, "_drawn", lambda panel: {"svg": "", "description": ""})


@pytest.fixture
def in_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that makes paths stand for sets in memory."""

    def stand_for(**of: TestSet) -> None:
        monkeypatch.setattr(sets, "open_testset", lambda path, **_: of[path.name])

    return stand_for


@pytest.fixture
def both(in_memory: Callable[..., None]) -> None:
    """ImageNet with two images a class, and MatchedFrequency with one."""
    in_memory(val=whole_set(VAL, 2), v2=whole_set(MATCHED, 1))


def test_archives_give_the_counts_that_their_pixels_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Folders 0 … 999 in a tar archive: labels are their names, not their order."""
    val = layouts.tar(tmp_path / "val.tar", layouts.validation_pictures(2, SOME), "wnid", root="val")
    new = layouts.tar(tmp_path / "new.tar.gz", layouts.pictures(1), "index", root="new")
    out = tmp_path / "out"
    both = (name("good"), name("fair"))
    code = evaluate("--models", *both, "--val", val, "--v2", new, "--partial", "--out", out)
    said = capsys.readouterr()
    assert code == 3, said.err
    assert "not comparable" in said.out
    rows = results(out)
    assert len(rows) == 4
    for (model, of), row in rows.items():
        wrong, old = {"good": 1, "fair": 4}[model], of.startswith(VAL)
        assert int(row["right"]) == (right(wrong, 2, SOME) if old else right(wrong, 1))
        assert int(row["images"]) == (2 * len(SOME) if old else 1000)
        assert row["top5"] == "100.0"
        assert row["comparable"] == ("no" if old else "unpublished set")
        # Only those images are in it that have their class as their one ReaL label.
        assert row["real"] == (row["top1"] if old else "")
        assert list(row) == list(COLUMNS)
    for file in ("results.csv", "results.json", "plot.svg", "plot.png", "index.html"):
        assert (out / file).stat().st_size > 500
    assert not list((out / ".cache/unfinished").glob("*"))


@pytest.mark.usefixtures("undrawn")
def test_predictions_are_those_of_each_image_by_name(tmp_path: Path) -> None:
    pictures = layouts.pictures(2, FEW)
    evaluate(
        "--models", name("fair"), "--also", layouts.folder(tmp_path / "few", pictures, "index"),
        "--partial", "--logits", "--out", tmp_path / "out",
    )  # fmt: skip
    (path,) = (tmp_path / "out/predictions").rglob("*.parquet")
    found = pd.read_parquet(path).set_index("image_id")
    assert len(found) == 2 * len(FEW)
    for picture in pictures:
        (row,) = (found.loc[i] for i in found.index if i.endswith(picture.file))
        wrong = missed(picture.index, int(picture.file[:40], 16) % 100, 4)
        assert row["class_index"] == picture.index
        assert row["rank"] == int(wrong)
        assert row["top5"][int(wrong)] == picture.index
        assert row["logits"][picture.index] == 4 + 5 * (not wrong)
        assert len(row["logits"]) == 1000


@pytest.mark.usefixtures("both", "undrawn")
def test_whole_sets_exit_with_0_and_have_a_distance_from_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--models", name("good"), name("fair"), "--val", "val", "--v2", "v2", "--out", "out") == 0
    row = results(tmp_path / "out")["good", MATCHED]
    old, new = right(1, 2) / 20, right(1, 1) / 10
    assert float(row["drop"]) == pytest.approx(old - new, abs=1e-4)
    assert float(row["effective"]) == pytest.approx(float(row["top1"]) - float(row["expected"]), abs=2e-4)
    assert float(row["expected_printed"]) == pytest.approx(1.11 * old - 20.2, abs=1e-4)
    assert row["comparable"] == "yes"
    assert (row["rank"], row["ranked"]) == ("1", "68")
    assert "points above the line" in capsys.readouterr().out


@pytest.mark.usefixtures("both")
def test_the_files_say_how_models_ran_and_load_nothing(tmp_path: Path) -> None:
    evaluate("--models", name("good"), "--val", "val", "--v2", "v2", "--out", "out")
    page = (tmp_path / "out/index.html").read_text("utf-8")
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count("<svg") == 1
    document = json.loads((tmp_path / "out/results.json").read_text("utf-8"))
    found = document["models"]["good"]
    assert found["facts"]["preprocessing"]["divisor"] == 1
    assert found["results"][VAL]["right"] == right(1, 2)
    assert found["results"][MATCHED]["top1"] == pytest.approx(right(1, 1) / 10)
    assert document["sets"][MATCHED]["known"] == MATCHED
    assert document["libraries"]["torch"]
    row = results(tmp_path / "out")["good", VAL]
    assert (row["input_size"], row["resize"], row["crop"], row["interpolation"]) == (
        "2x2",
        "2",
        "1",
        "nearest",
    )
    assert (row["mode"], row["device"], row["batch"]) == ("reference", "cpu", "8")
    assert len(row["weights_digest"]) == 64
    assert float(row["images_per_second"]) > 0


@pytest.mark.usefixtures("both", "undrawn")
def test_finished_models_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[set[tuple[str, str]]] = []

    def counted(tasks: Any, *rest: Any) -> Any:
        ran.append({(task.model.name, task.images.name) for task in tasks})
        return original(tasks, *rest)

    original = runner.run
    monkeypatch.setattr(runner, "run", counted)
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    evaluate("--models", name("good"), name("fair"), "--val", "val", "--v2", "v2", "--out", "out")
    assert ran == [
        {("good", "ImageNet")},
        {("fair", "ImageNet"), ("good", "MatchedFrequency"), ("fair", "MatchedFrequency")},
    ]
    first = (tmp_path / "out/results.csv").read_bytes()
    assert evaluate("--models", name("good"), name("fair"), "--val", "val", "--v2", "v2", "--out", "out") == 0
    assert len(ran) == 2
    assert first == (tmp_path / "out/results.csv").read_bytes()
    assert len(results(tmp_path / "out")) == 4
    evaluate("--models", name("good"), "--val", "val", "--out", "out", "--logits")
    assert ran[2:] == [{("good", "ImageNet")}], "outputs were not kept before"
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    assert len(ran) == 3, "predictions with outputs serve where none are asked for"


@pytest.mark.usefixtures("both", "undrawn")
@pytest.mark.parametrize("change", ["torch.tensor(wrong)", "[rows, true] += 4.0"], ids=["state", "code"])
def test_a_changed_network_is_computed_anew(tmp_path: Path, change: str) -> None:
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    path = tmp_path / "scorecard_networks.py"
    text = path.read_text("utf-8")
    new = {"torch.tensor(wrong)": "torch.tensor(wrong + 2)", "[rows, true] += 4.0": "[rows, true] += 6.0"}[
        change
    ]
    path.write_text(text.replace(change, new), "utf-8")
    sys.modules.pop("scorecard_networks")
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    expected = right(3, 2) if "wrong" in change else 2000
    assert int(results(tmp_path / "out")["good", VAL]["right"]) == expected


@pytest.mark.usefixtures("undrawn")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are written for 256 images at once, so that after 60 passes of 8 most are there."""
    some = range(0, 1000, 10)
    layouts.folder(tmp_path / "few", layouts.pictures(8, some), "index")
    arguments = ("--models", name("good"), "--also", "few", "--partial", "--out", "out")
    command = [
        sys.executable,
        "-m",
        "imagenetv2.cli",
        "evaluate",
        "--device",
        "cpu",
        "--cores",
        "1",
        *arguments,
    ]
    dying = {**os.environ, "DIES_AT": "60"}
    killed = subprocess.run(command, env=dying, capture_output=True, text=True, check=False)
    assert killed.returncode == -9, killed.stderr
    (records,) = (tmp_path / "out/.cache/unfinished").glob("*.records")
    done = records.stat().st_size // record_type(1000, logits=False).itemsize
    assert 256 <= done < 480
    monkeypatch.setenv("DIES_AT", str(100 - done // 8 + 1))
    assert evaluate(*arguments) == 3
    ((_, row),) = results(tmp_path / "out").items()
    assert int(row["right"]) == right(1, 8, some)
    assert len(row["weights_digest"]) == 64


@pytest.mark.usefixtures("both", "undrawn")
def test_a_model_that_fails_leaves_the_others_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--models", name("broken"), name("good"), "--val", "val", "--out", "out") == 1
    said = capsys.readouterr()
    assert "broken" in said.err
    assert "finite" in said.err
    assert "Traceback" not in said.err
    assert {model for model, _ in results(tmp_path / "out")} == {"good"}
    assert "broken" in (tmp_path / "out/index.html").read_text("utf-8")


@pytest.mark.usefixtures("undrawn")
def test_a_network_whose_outputs_are_in_another_order_is_seen(
    tmp_path: Path, in_memory: Callable[..., None]
) -> None:
    in_memory(val=whole_set(VAL, 6, range(0, 1000, 10)))
    assert evaluate("--models", name("shifted"), "--val", "val", "--out", "out") == 0
    row = results(tmp_path / "out")["shifted", VAL]
    assert "another order" in row["note"]
    assert float(row["top1"]) < 11


@pytest.mark.usefixtures("both", "undrawn")
def test_a_fast_mode_is_labelled_and_compared_with_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--models", name("fair"), "--v2", "v2", "--mode", "bf16", "--out", "out")
    assert evaluate(*arguments) == 3
    row = results(tmp_path / "out")["fair", MATCHED]
    assert row["mode"] == "bf16"
    assert int(row["right"]) == right(4, 1)
    assert (row["reference_images"], row["reference_same"]) == ("64", "100.0")
    assert "bf16" in row["why"]
    said = capsys.readouterr().out
    assert "fair (bf16)" in said
    assert "64 sampled images" in said
    assert evaluate(*arguments) == 3
    assert "64 sampled images" in capsys.readouterr().out, "it is known without computing again"
    evaluate("--models", name("fair"), "--v2", "v2", "--out", "out")
    names = {path.name for path in (tmp_path / "out/predictions").rglob("*.parquet")}
    assert names == {"fair.parquet", "fair@bf16.parquet"}


@pytest.mark.usefixtures("undrawn")
def test_one_set_alone_is_measured_and_says_what_is_missing(
    tmp_path: Path, in_memory: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    in_memory(v2=whole_set(MATCHED, 1), own=whole_set(None, 1))
    assert evaluate("--models", name("good"), "--v2", "v2", "--also", "own", "--out", "out") == 0
    rows = results(tmp_path / "out")
    row = rows["good", MATCHED]
    assert row["drop"] == row["expected"] == row["effective"] == ""
    assert "--val" in row["missing"]
    assert row["rank"] == "1"
    (other,) = (row for (_, of), row in rows.items() if of != MATCHED)
    assert other["comparable"] == "unpublished set"
    assert other["missing"] == other["rank"] == ""
    assert "distance" in capsys.readouterr().out


@pytest.mark.usefixtures("both", "undrawn")
def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--models", name("good"), name("fair"), "--val", "val", "--v2", "v2", "--out", "out")
    assert evaluate(*arguments, "--dry-run", "--logits") == 0
    said = capsys.readouterr().out
    assert "4 predictions" in said
    assert "3,000 images to decode, for 1 preprocessing" in said
    assert "6,000 times an image goes through a network" in said
    assert "12 MB of predictions" in said
    assert not (tmp_path / "out").exists()
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    capsys.readouterr()
    evaluate(*arguments, "--dry-run")
    said = capsys.readouterr().out
    assert "1 of them is there" in said
    assert "4,000 times" in said


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The sentence with which the command ends."""
    assert evaluate(*arguments, "--out", "out") == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert not Path("out/results.csv").exists()
    return said


@pytest.mark.usefixtures("undrawn")
def test_bad_input_is_refused_in_one_sentence(
    tmp_path: Path, in_memory: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    good = name("good")
    assert "--val, --v2" in refused(capsys, "--models", good)
    assert "nowhere does not exist" in refused(capsys, "--models", good, "--val", "nowhere")
    assert "no source of models" in refused(capsys, "--models", "resnet50", "--val", "nowhere")
    assert "--compile" in refused(capsys, "--models", good, "--val", "nowhere", "--compile")
    (tmp_path / "few").mkdir()
    assert "few" in refused(capsys, "--models", good, "--val", "few")
    in_memory(val=whole_set(VAL, 1), v2=whole_set(MATCHED, 1), same=whole_set(MATCHED, 1))
    assert "name it after --v2" in refused(capsys, "--models", good, "--val", "v2")
    assert "name it after --val" in refused(capsys, "--models", good, "--v2", "val")
    assert "the same set as v2" in refused(capsys, "--models", good, "--v2", "v2", "same")


@pytest.mark.usefixtures("both", "undrawn")
def test_earlier_results_are_not_replaced_by_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("--models", name("good"), "--val", "val", "--out", "out")
    before = (tmp_path / "out/results.csv").read_bytes()
    capsys.readouterr()
    assert evaluate("--models", name("broken"), "--val", "val", "--out", "out") == 1
    said = capsys.readouterr()
    assert "finite" in said.err
    assert not said.out
    assert (tmp_path / "out/results.csv").read_bytes() == before


@pytest.mark.usefixtures("both", "undrawn")
def test_a_folder_in_use_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from imagenetv2.lock import hold

    with hold(tmp_path / "out/.cache"):
        assert evaluate("--models", name("good"), "--val", "val", "--out", "out") == 1
    assert "in use by another run" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_a_file_that_is_no_image_is_named_before_anything_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = layouts.folder(tmp_path / "few", layouts.pictures(1, FEW), "index")
    spoilt = sorted(path for path in folder.rglob("*.jpeg"))[5]
    spoilt.write_bytes(spoilt.read_bytes()[:40])
    monkeypatch.setattr(runner, "run", lambda *_: pytest.fail("something was computed"))
    assert evaluate("--models", name("good"), "--also", folder, "--partial", "--out", "out") == 1
    assert spoilt.name in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_a_dry_run_does_not_unpack_and_a_run_does_in_its_own_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = layouts.tar(tmp_path / "few.tar", layouts.pictures(1, FEW), "index", root="few")
    (tmp_path / "few.tar.gz").write_bytes(gzip.compress(archive.read_bytes()))
    arguments = ("--models", name("good"), "--also", "few.tar.gz", "--partial", "--out", "out")
    assert evaluate(*arguments, "--dry-run") == 0
    assert "few.tar.gz: a compressed archive of" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert evaluate(*arguments) == 3
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        ".cache", "predictions", "results.csv", "results.json", "index.html",
    }  # fmt: skip
    assert {path.name for path in (tmp_path / "out/.cache").iterdir()} == {".lock", "checked", "unpacked"}
    capsys.readouterr()
    assert evaluate(*arguments, "--dry-run") == 0
    assert "Nothing is to be computed" in capsys.readouterr().out


@pytest.mark.usefixtures("both", "undrawn")
def test_broken_weights_are_found_before_sets_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "check_files", lambda *_: pytest.fail("a set was read"))
    (tmp_path / "bad.pth").write_bytes(b"no weights")
    arguments = ("--models", "torchvision:resnet18=bad.pth", "--val", "val", "--out", "out")
    for options in ((), ("--dry-run",)):
        assert evaluate(*arguments, *options) == 1
        assert "bad.pth" in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
    assert evaluate(*arguments, "--models", name("good"), "--dry-run") == 1
    said = capsys.readouterr()
    assert "bad.pth" in said.err
    assert "1 prediction, one a model and set; 0 of them are there" in said.out


def test_what_is_finished_is_shown_without_pytorch(tmp_path: Path) -> None:
    layouts.folder(tmp_path / "few", layouts.pictures(1, FEW), "index")
    arguments = [
        "evaluate",
        "--models",
        "lite0",
        "--also",
        "few",
        "--partial",
        "--out",
        "out",
        "--cores",
        "1",
    ]
    assert main([*arguments, "--device", "cpu"]) == 3
    code = (
        "import sys; from imagenetv2.cli import main; "
        f"main(['names', 'lite0']); main({[*arguments, '--dry-run']}); "
        "print([m for m in ('torch', 'timm', 'torchvision', 'altair') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["Nothing is to be computed.", "[]"]


def test_a_gpu_that_is_not_there_is_said_in_options(
    in_memory: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory(val=whole_set(VAL, 1))
    monkeypatch.setattr(work, "devices", lambda _: ("cpu",))
    work.found_devices.cache_clear()
    assert evaluate("--models", name("good"), "--val", "val", "--out", "out", "--device", "cuda") == 1
    assert "--device is cuda, but PyTorch finds no GPU" in capsys.readouterr().err


def test_parquet_files_of_others_are_not_taken_for_predictions(tmp_path: Path) -> None:
    from imagenetv2.evaluation.scorecard import shelf

    path = tmp_path / "x.parquet"
    assert shelf.made(path) is None
    path.write_bytes(b"PAR1 no")
    assert shelf.made(path) is None
    pd.DataFrame({"a": [1]}).to_parquet(path)
    assert shelf.made(path) is None
    assert pq.read_schema(path).names == ["a"]
