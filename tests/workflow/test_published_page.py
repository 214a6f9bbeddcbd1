"""The page of printed numbers: the committed one is what the released records give."""

from __future__ import annotations

from pathlib import Path

import pytest

from imagenetv2.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.packs
def test_the_committed_page_is_what_the_records_give(packs: Path, tmp_path: Path) -> None:
    """From nothing: both records are imported and analysed, with all bootstraps."""
    out = tmp_path / "published.md"
    records = [str(packs / "record.tar.gz"), str(packs / "cifar10.1")]
    assert (
        main(["published", *records, "--data", str(tmp_path / "data"), "--cores", "2", "--out", str(out)])
        == 0
    )
    committed = (ROOT / "docs/published.md").read_text("utf-8")
    command = (
        "imagenetv2 published ../shared/packs/record.tar.gz ../shared/packs/cifar10.1 --out docs/published.md"
    )
    assert out.read_text("utf-8") == committed, f"run: {command}"


@pytest.mark.packs
def test_two_records_of_one_kind_are_refused(
    packs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = str(packs / "cifar10.1")
    assert main(["published", path, path, "--data", str(tmp_path / "data")]) == 1
    assert "second record of the kind cifar10.1" in capfd.readouterr().err
    assert not (tmp_path / "data" / "record").exists()
