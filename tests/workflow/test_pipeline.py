"""The pipeline as people run it: from nothing, again, with one value changed, damaged, killed, and misused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imagenetv2.evaluation.stages import SETS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SMALL = "tests/workflow/small.yaml"
SNAKEMAKE = Path(sys.executable).parent / "snakemake"
CANARY = "canary-7f3a91c2"
SUBMIT = """#!/bin/bash
# Stands for a cluster's: writes down what was asked for, and starts the job here.
echo "$1 $2" >> submitted.txt
bash "$3" > /dev/null 2>&1 &
echo $!
"""


def checkout(target: Path) -> Path:
    """A copy of what git tracks or would track."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.split(b"\0")  # fmt: skip
    for name in filter(None, names):
        source = ROOT / os.fsdecode(name)
        if source.is_file():
            (target / os.fsdecode(name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / os.fsdecode(name))
    return target


def snakemake(
    work: Path, *arguments: str, overlays: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on two cores; stdout and stderr together."""
    environment = {k: v for k, v in os.environ.items() if k != "IMAGENETV2_CONFIG"}
    environment |= {"AWS_SECRET_ACCESS_KEY": CANARY, "IMAGENETV2_FLICKR_SECRET": CANARY}
    return subprocess.run(
        [SNAKEMAKE, "--cores", "2", *arguments, "--configfile", SMALL, *overlays],
        cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


def overlay(work: Path, name: str, text: str) -> str:
    """A configuration file with that text."""
    (work / name).write_text(text)
    return name


def rules(output: str) -> set[str]:
    """Names of the rules in Snakemake's table of jobs."""
    table = output.split("Job stats:")[1].split("total")[0] if "Job stats:" in output else ""
    return set(re.findall(r"^(\w+) +\d+$", table, re.M)) - {"all"}


def digests(work: Path) -> dict[str, str]:
    """Text of every current manifest, by stage: what must not vary."""
    found = {}
    for stage, version in json.loads((work / "data/latest/versions.json").read_text()).items():
        found[stage] = (work / "data" / stage / version / "manifest.json").read_text()
    return found


def times(work: Path) -> dict[str, str]:
    """What each artifact says of when it was made; Snakemake touches files, so their own times say nothing."""
    return {str(p): p.read_text() for p in sorted((work / "data").rglob("run.json"))}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the small pipeline has run."""
    work = checkout(tmp_path_factory.mktemp("first"))
    run = snakemake(work)
    assert run.returncode == 0, run.stdout
    return work


@pytest.fixture(scope="module")
def expected(done: Path) -> dict[str, str]:
    """Its manifests, before any test touches it."""
    return digests(done)


def test_a_second_run_in_another_folder_gives_the_same_digests(
    expected: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = checkout(tmp_path_factory.mktemp("a second place with spaces"))
    run = snakemake(work)
    assert run.returncode == 0, run.stdout
    assert digests(work) == expected


def test_nothing_runs_again_when_nothing_changed(done: Path, expected: dict[str, str]) -> None:
    assert "Nothing to be done" in snakemake(done).stdout


def test_a_changed_threshold_runs_sampling_and_what_follows_and_back_nothing(
    done: Path, expected: dict[str, str]
) -> None:
    changed = overlay(done, "changed.yaml", "sampling: {threshold: {frequency: 0.6}}\n")
    before = times(done)
    run = snakemake(done, overlays=(changed,))
    assert run.returncode == 0, run.stdout
    wanted = {
        "review_threshold", "sample_threshold", "evaluate_threshold", "measure_predictions", "analyse_predictions",
        "write_report", "point_latest",
    }  # fmt: skip
    assert rules(run.stdout) == wanted
    assert before.items() <= times(done).items(), "an earlier artifact was touched"
    back = snakemake(done)
    assert rules(back.stdout) == {"point_latest"}
    assert digests(done) == expected


def test_a_new_model_is_evaluated_alone(done: Path, expected: dict[str, str]) -> None:
    more = (done / SMALL).read_text().split("models:")[1].split("analysis:")[0]
    more = "models:" + more + "  - {name: hog, kind: hog, side: 32}\n"
    before = times(done)
    run = snakemake(done, overlays=(overlay(done, "more.yaml", more),))
    assert run.returncode == 0, run.stdout
    assert rules(run.stdout) == {
        "prepare_models", *(f"evaluate_{s}" for s in SETS), "measure_predictions", "analyse_predictions",
        "write_report", "point_latest",
    }  # fmt: skip
    assert before.items() <= times(done).items(), "a model that was there was evaluated again"
    assert snakemake(done).returncode == 0


@pytest.mark.parametrize("kind", ["a table", "an archive", "a manifest", "run.json", "a link", "a store"])
def test_what_is_deleted_comes_back_with_the_same_digests(
    done: Path, expected: dict[str, str], kind: str
) -> None:
    latest = done / "data/latest"
    victims = {
        "a table": (latest / "frequencies").resolve() / "frequencies.parquet",
        "an archive": (latest / "candidates").resolve() / "images.zip",
        "a manifest": (latest / "datasets/threshold").resolve() / "manifest.json",
        "run.json": (latest / "hits").resolve() / "run.json",
        "a link": latest / "report",
        "a store": done / "data/stores",
    }
    victim = victims[kind]
    if victim.is_dir() and not victim.is_symlink():
        shutil.rmtree(victim)
        shutil.rmtree((latest / "assignments").resolve())
        shutil.rmtree((latest / "candidates").resolve())
    else:
        victim.unlink()
    run = snakemake(done)
    assert run.returncode == 0, run.stdout
    assert digests(done) == expected
    assert (latest / "report/report.html").exists()


def test_jobs_sent_elsewhere_ask_for_gpus_and_give_the_same_digests(
    done: Path, expected: dict[str, str]
) -> None:
    submit = done / "submit.sh"
    submit.write_text(SUBMIT)
    submit.chmod(0o755)
    gpus = {"find_neighbours_l2": "1", "prepare_models": "1", "aggregate_frequencies": "0"}
    for stage in ("neighbours/l2", "models/nearest_centroid", "frequencies"):
        shutil.rmtree((done / "data/latest" / stage).resolve())
    run = snakemake(
        done, *gpus, "--executor", "cluster-generic", "--jobs", "2", "--default-resources", "gpu=0",
        "--cluster-generic-submit-cmd", "./submit.sh {rule} {resources.gpu}",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    submitted = (done / "submitted.txt").read_text().splitlines()
    assert dict(line.split() for line in submitted) == gpus
    assert digests(done) == expected


def test_verify_agrees(done: Path, expected: dict[str, str]) -> None:
    command = [SNAKEMAKE.with_name("imagenetv2"), "verify"]
    run = subprocess.run(command, cwd=done, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_no_secret_is_written_anywhere(done: Path, expected: dict[str, str]) -> None:
    for folder in ("data", "logs", ".snakemake"):
        for path in sorted((done / folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                assert CANARY.encode() not in path.read_bytes(), path


def test_a_run_killed_again_and_again_ends_with_the_same_digests(
    expected: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = checkout(tmp_path_factory.mktemp("killed"))
    for seconds in (9, 12, 15, 18):
        process = subprocess.Popen(
            [SNAKEMAKE, "--cores", "2", "--configfile", SMALL],
            cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run = snakemake(work)
    assert run.returncode == 0, run.stdout
    assert digests(work) == expected


def complaint(run: subprocess.CompletedProcess[str]) -> str:
    """The output of a run that must fail without a traceback."""
    assert run.returncode != 0
    assert "Traceback" not in run.stdout
    return run.stdout


def test_bad_configurations_end_in_readable_lines(done: Path, expected: dict[str, str]) -> None:
    bad = overlay(done, "bad.yaml", "samplng: {}\nhits: {images_per_task: 3}\n")
    told = complaint(snakemake(done, overlays=(bad,)))
    assert "bad.yaml: samplng: unknown key; did you mean sampling?" in told
    assert "bad.yaml: hits.images_per_task: 3 is not allowed" in told


def test_a_missing_folder_is_named(done: Path, expected: dict[str, str]) -> None:
    bad = overlay(done, "bad.yaml", "world: {source: folder, folder: {path: nowhere}}\n")
    told = complaint(snakemake(done, overlays=(bad,)))
    assert "world.folder.votes: nowhere/test_votes.csv does not exist" in told


def test_a_class_without_candidates_is_named(done: Path, expected: dict[str, str]) -> None:
    bad = overlay(done, "bad.yaml", 'search: {licenses: ["42"], snapshot: odd}\n')
    told = complaint(snakemake(done, "--until", "search_flickr", overlays=(bad,)))
    last = [line for line in told.splitlines() if line.startswith("imagenetv2 search: ")][-1]
    assert "no photograph was found for the class n03063599" in last
    assert "widen search.uploaded_from" in last


def test_a_port_in_use_is_named(done: Path, expected: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        bad = overlay(done, "bad.yaml", f"world: {{port: {port}}}\nsearch: {{snapshot: again}}\n")
        told = complaint(snakemake(done, "--until", "search_flickr", overlays=(bad,)))
    assert str(port) in told
    assert "world.port" in told


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    work = checkout(tmp_path / "work")
    shutil.rmtree(work / "data")
    (work / "data").write_text("a file, not a folder")
    told = complaint(snakemake(work))
    assert "cannot be written" in told


def test_two_runs_at_once_are_refused(done: Path, expected: dict[str, str]) -> None:
    code = "import time; from pathlib import Path; from imagenetv2.lock import hold; lock = hold(Path('data')); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=done, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        changed = overlay(done, "other.yaml", "report: {examples: 3}\n")
        told = complaint(snakemake(done, overlays=(changed,)))
        other.kill()
    assert "in use by another run" in told
