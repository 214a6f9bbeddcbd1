"""Commands about artifacts, on a tiny chain of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imagenetv2 import inventory, latest
from imagenetv2.artifacts import draft, publish
from imagenetv2.cli import main
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.job import folder
from imagenetv2.lock import hold
from imagenetv2.plan import Plan
from imagenetv2.tables import Table
from imagenetv2.versions import identity, plan


def make_all(planned: Plan) -> None:
    """Write every stage of a plan with empty tables and short files."""
    for name, stage in planned.stages.items():
        final = folder(planned.data, name, planned.versions[name])
        if final.exists():
            continue
        with draft(stage, final) as out:
            for file in stage.files:
                if isinstance(file, Table):
                    out.table(file.name, file.empty())
                else:
                    out.path(file.name).write_text("{}" if file.name.endswith("json") else "x")
            facts = {
                **identity(stage, planned.config.seed, planned.versions),
                "version": planned.versions[name],
            }
            out.finish(facts, {"finished": "2026-01-01T00:00:00+00:00", "seconds": 1})
            publish(out, final)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a class table and the default data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IMAGENETV2_CONFIG", raising=False)
    table = tmp_path / "config/classes/rendered.csv"
    table.parent.mkdir(parents=True)
    table.write_text("class_index,wnid\n")
    (tmp_path / "config/config.yaml").write_text("models: [{name: only, kind: nearest_centroid}]\n")
    return tmp_path


def planned(checkout: Path, **values: object) -> Plan:
    """A plan in that folder."""
    models = ({"name": "only", "kind": "nearest_centroid"},)
    config = Config.model_validate({"models": models, **values})
    known = stages(config)
    return Plan(config, known, plan(known, config.seed), Path("data"))


def test_latest_points_at_the_last_complete_run_and_follows(checkout: Path) -> None:
    first, second = planned(checkout), planned(checkout, sampling={"threshold": {"frequency": 0.8}})
    with pytest.raises(InputError, match="not complete"):
        latest.point(first)
    make_all(first)
    latest.point(first)
    assert latest.is_sound(first.data)
    assert (Path("data/latest/report/report.html")).read_text() == "x"
    assert (Path("data/latest/neighbours/l2/neighbours.parquet")).exists()
    make_all(second)
    latest.point(second)
    assert latest.is_sound(second.data)
    assert Path("data/latest/report").resolve().name == second.versions["report"]
    Path("data/latest/search").unlink()
    assert not latest.is_sound(second.data)


def test_links_of_stages_that_are_gone_are_removed(checkout: Path) -> None:
    first, second = planned(checkout), planned(checkout, neighbours={"ssim": {"enabled": False}})
    for plan_ in (first, second):
        make_all(plan_)
        latest.point(plan_)
    assert not Path("data/latest/neighbours/ssim").exists()
    assert Path("data/latest/neighbours/l2").exists()


def test_versions_lists_and_explains(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = planned(checkout), planned(checkout, sampling={"threshold": {"frequency": 0.8}})
    make_all(first)
    make_all(second)
    latest.point(second)
    assert main(["versions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    threshold = [line for line in lines if line.startswith("datasets/threshold ")]
    assert sorted(line.split()[2] for line in threshold) == ["current", "earlier"]
    a, b = first.versions["report"], second.versions["report"]
    assert main(["versions", "diff", a[:7], f"report/{b}"]) == 0
    told = capsys.readouterr().out
    assert "sampling.threshold.frequency: 0.7 → 0.8" in told
    assert told.count("→") == 3, "only the head and one cause in each of the two stages that have the setting"
    assert main(["versions", "diff", "ffffffffff", b]) == 1
    assert "names no artifacts" in capsys.readouterr().err


def test_verify_finds_edits_losses_and_broken_chains(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan_ = planned(checkout)
    make_all(plan_)
    latest.point(plan_)
    assert main(["verify"]) == 0
    (plan_.folder("report") / "report.html").write_text("y")
    (plan_.folder("hits") / "pages.zip").unlink()
    (plan_.folder("search") / "manifest.json").unlink()
    assert main(["verify"]) == 1
    told = capsys.readouterr().err
    assert "report.html has another SHA-256" in told
    assert "pages.zip is missing" in told
    assert f"was made from search/{plan_.versions['search']}, which is not there" in told


def test_prune_shows_first_and_keeps_what_is_current(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = planned(checkout), planned(checkout, seed=1)
    make_all(first)
    make_all(second)
    latest.point(second)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert main(["prune"]) == 0
    assert "Nothing was deleted" in capsys.readouterr().out
    assert len(inventory.artifacts(Path("data"))) > len(second.stages)
    assert main(["prune", "--yes"]) == 0
    left = {(f.stage, f.version) for f in inventory.artifacts(Path("data"))}
    assert left == set(second.versions.items())
    assert main(["prune"]) == 0
    assert "every artifact is current" in capsys.readouterr().out


def test_prune_deletes_pieces_of_searches_that_are_no_longer_wanted(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = planned(checkout)
    version = now.versions["neighbours/l2"]
    work = Path("data/stores/work/neighbours/l2")
    for name in (version, "0123456789"):
        (work / name / "pixels").mkdir(parents=True)
        (work / name / "pixels/some.npy").write_bytes(b"x" * 5000)
    assert main(["prune", "--yes"]) == 0
    told = capsys.readouterr().out
    assert "neighbours/l2/0123456789  5.0 kB  begun, not finished" in told
    assert version not in told
    assert [p.name for p in sorted(work.iterdir())] == [version]


def test_show_says_settings_columns_and_links(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan_ = planned(checkout)
    make_all(plan_)
    assert main(["show", "search"]) == 0
    told = capsys.readouterr().out
    assert "setting    search.ladder = [100, 200]" in told
    assert "uploaded           int64          time of upload [seconds since 1970, UTC]" in told
    assert f"made from  classes/{plan_.versions['classes']}, world/{plan_.versions['world']}" in told
    assert f"candidates/{plan_.versions['candidates']}" in told
    assert main(["show", "serch"]) == 1
    assert "search" in capsys.readouterr().err


def test_a_stage_refuses_a_version_that_is_no_longer_planned(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["classes", "--expect", "0000000000"]) == 1
    assert "start snakemake again" in capsys.readouterr().err


def test_a_full_disk_is_one_sentence(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "data/classes")

    monkeypatch.setattr("imagenetv2.job.draft", full)
    assert main(["classes"]) == 1
    told = capsys.readouterr().err
    assert "data/classes: the disk is full; free some space and run again" in told
    assert "Traceback" not in told


def test_two_runs_do_not_share_a_data_folder(tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(InputError, match="in use by another run"):
        hold(tmp_path)
    hold(tmp_path).close()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["search", "--endpoints", "nowhere.json"], "nowhere.json holds no addresses of local servers"),
        (["classes", "--log", "config/config.yaml/x/y.log"], "config/config.yaml"),
        (["predictions", "moon"], "moon is no set; known are original"),
        (["neighbours", "l3"], "known are l2, fc7, ssim"),
    ],
)
def test_bad_arguments_end_in_a_sentence(
    checkout: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert main(arguments) == 1
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["classes", "--cores", "0"], ["show", "x", "--rows", "-1"], ["nothing"]]
)
def test_impossible_arguments_are_refused(
    checkout: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err
