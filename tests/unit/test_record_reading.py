"""Where a record's files come from, in which forms ids and times are written, and the command."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from imagenetv2.cli import main
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.loading import read_yaml, validate
from imagenetv2.record import source
from imagenetv2.record.ids import mend, origin, own_id
from imagenetv2.record.reader import some, whole
from imagenetv2.record.stages import READS
from imagenetv2.record.times import day, has_zone, in_name, moment
from imagenetv2.versions import digest_outside
from tests.unit import record_example as example

ROOT = Path(__file__).parents[2]


def archived(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_a_folder_and_its_archive_are_the_same_record(tmp_path: Path) -> None:
    folder = example.write(tmp_path / "checkout", example.files())
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("mine")
    packed = archived(
        tmp_path / "record.tar.gz",
        {f"ImageNetV2-master/{f.relative_to(folder).as_posix()}": f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()},
    )  # fmt: skip
    one, other = source.read(folder, "imagenetv2"), source.read(packed, "imagenetv2")
    assert dict(one.sizes) == dict(other.sizes)
    assert list(one.sizes) == sorted(example.files())
    assert all(one.read(name) == other.read(name) for name in one.sizes)
    assert one.names("data/datasets", ".json") == [n for n in one.sizes if n.startswith("data/datasets/")]


def test_the_uppermost_record_counts(tmp_path: Path) -> None:
    example.write(tmp_path, example.files())
    example.write(tmp_path / "old/copy", {"data/datasets/imagenetv2-a-0.json": {}})
    assert source.read(tmp_path, "imagenetv2").names("old/copy") == [
        "old/copy/data/datasets/imagenetv2-a-0.json"
    ]
    assert "data/datasets/imagenetv2-a-1.json" in source.read(tmp_path, "imagenetv2").sizes


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no data/datasets/"):
        source.read(tmp_path / "empty", "imagenetv2")
    with pytest.raises(InputError, match="is no record"):
        source.kind_of(tmp_path / "empty")
    with pytest.raises(InputError, match="does not exist"):
        source.kind_of(tmp_path / "nowhere")
    archived(tmp_path / "whole.tar.gz", {"data/datasets/a.json": bytes(100_000), "b": b"1"})
    torn = tmp_path / "torn.tar.gz"
    torn.write_bytes((tmp_path / "whole.tar.gz").read_bytes()[:-30])
    with pytest.raises(InputError, match="no whole archive"):
        source.read(torn, "imagenetv2")
    (tmp_path / "text.tar.gz").write_text("not an archive")
    with pytest.raises(InputError, match="no whole archive"):
        source.read(tmp_path / "text.tar.gz", "imagenetv2")


def test_files_that_are_missing_or_no_json_are_named(tmp_path: Path) -> None:
    record = source.read(example.write(tmp_path, {**example.files(), "odd.json": b"{"}), "imagenetv2")
    with pytest.raises(InputError, match=r"holds no nothing\.json"):
        record.read("nothing.json")
    with pytest.raises(InputError, match=r"odd\.json is not JSON"):
        record.json("odd.json")
    assert record.json("LICENSE") == "as is"
    (tmp_path / "odd.json").unlink()
    with pytest.raises(InputError, match=r"odd\.json cannot be read"):
        record.read("odd.json")


def test_nothing_can_be_imported_without_classes(tmp_path: Path) -> None:
    for number, content in enumerate((b"[", b"[]", b"{}", None)):
        files = example.files()
        files.pop(example.INFO)
        if content is not None:
            files[example.INFO] = content
        record = example.write(tmp_path / f"record{number}", files)
        with pytest.raises(InputError, match=r"class_info\.json lists no classes"):
            example.made(record, "classes", tmp_path / f"data{number}")


def test_kinds_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    assert source.kind_of(example.write(tmp_path / "a", example.files())) == "imagenetv2"
    assert source.kind_of(example.write(tmp_path / "b", {"x/cifar101_predictions.npz": b"1"})) == "cifar10.1"


def test_hidden_files_are_no_part_of_a_folders_digest(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    first = digest_outside("field", tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_text("2")
    (tmp_path / ".DS_Store").write_text("3")
    assert digest_outside("field", tmp_path) == first
    (tmp_path / "b").write_text("4")
    assert digest_outside("field", tmp_path) != first


def test_ids_of_photographs_are_hashes_of_flickrs() -> None:
    # From the released record: 2018-11-27-15-24-31_researcher1.json, first entry.
    assert own_id("8055529886") == "c594880ee2a3087a7d3ec67e51f88c2413458291"


@pytest.mark.parametrize(
    ("image_id", "expected"),
    [
        ("c594880ee2a3087a7d3ec67e51f88c2413458291", "candidates"),
        ("n01440764_10026.JPEG", "train"),
        ("ILSVRC2012_val_00000293.JPEG", "val"),
        ("ILSVRC2012_test_00011250.JPEG", "test"),
        ("c594880ee2a3087a7d3ec67e51f88c241345829", ""),
        ("ILSVRC2012_val_293.JPEG", ""),
        ("", ""),
    ],
)
def test_origins_are_read_off_the_form_of_an_id(image_id: str, expected: str) -> None:
    assert origin(image_id) == expected


def test_damaged_ids_are_mended_only_where_one_id_fits() -> None:
    one, twin = "ab" * 20, "ab" * 10 + "00000" + "ab" * 7 + "b"
    assert mend("ab" * 10 + "someone" + one[25:], {one}) == one
    assert mend("ab" * 10 + "someone" + one[25:], {one, "ab" * 10 + "00000" + one[25:]}) is None
    assert mend("ab" * 4 + "someone", {one}) is None
    assert mend(f" {one.upper()} ", set()) == one
    assert mend("ab" * 10 + "alice" + twin[25:], {one, twin}) is None
    assert mend("ab" * 9 + "alice" + one[23:], {one}) == one
    assert mend(one[:-1], {one}) == one


@pytest.mark.parametrize(
    ("text", "expected", "zone"),
    [
        ("2018-12-13_09:53:50_UTC", "2018-12-13T09:53:50+00:00", True),
        ("2018-09-01 15:45:38.174305+0000", "2018-09-01T15:45:38.174305+00:00", True),
        ("2018-09-20 21:13:33.007514-07:00", "2018-09-20T21:13:33.007514-07:00", True),
        ("2012-09-30 14:21:01", "2012-09-30T14:21:01+00:00", False),
        ("2012-02-30 14:21:01", None, False),
        ("0000-00-00 00:00:00", None, False),
        ("soon", None, False),
        ("", None, False),
    ],
)
def test_times_as_the_record_writes_them(text: str, expected: str | None, zone: bool) -> None:
    found = moment(text)
    assert (found.isoformat() if found else None) == expected
    assert has_zone(text) is zone


def test_days_and_dates_in_names() -> None:
    assert day("2013-07-11") == "2013-07-11"
    assert [day(v) for v in ("2013-7-11", "2013-02-29", 20130711, None, "")] == [None] * 5
    found = in_name("a/researcher1_hits_submitted_2018-09-20-21:12:45-PDT.json")
    assert found is not None
    assert found.isoformat() == "2018-09-20T21:12:45+00:00"
    assert in_name("2018-13-45.json") is None
    assert in_name("2018-01-01/none.json") is None


def test_numbers_from_what_a_record_holds() -> None:
    values = (3, 3.0, "3", " 3 ", "3.0", 3.5, True, None, "three", [3])
    assert [whole(v) for v in values] == [3, 3, 3, 3, None, None, None, None, None, None]
    assert some(range(5)) == "0, 1, 2 and 2 more"
    assert some(range(2)) == "0, 1"


def test_parts_read_what_they_are_checked_against() -> None:
    known = stages(Config.model_validate({"record": {"path": "somewhere"}}))
    assert "search" not in known
    for part, others in READS.items():
        assert known[f"record/{part}"].reads == tuple(f"record/{o}" for o in others)
    small = stages(Config.model_validate({"record": {"path": "somewhere", "kind": "cifar10.1"}}))
    assert {"record/classes", "record/predictions"} <= set(small)
    assert "record/search" not in small


def test_the_published_configuration_is_valid() -> None:
    values = read_yaml(ROOT / "config/published.yaml")
    assert validate(values).record.path == Path("../shared/packs/record.tar.gz")


def test_the_command_makes_a_part_and_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example.write(Path("checkout"), example.files())
    assert main(["record", "datasets", "checkout"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder.parent == Path("data/record/datasets")
    assert json.loads((folder / "manifest.json").read_text())["files"]["lists.parquet"]["rows"] == 5
    assert sorted(p.name for p in Path("data/record").iterdir()) == ["classes", "datasets", "search"]
    assert main(["record", "datasets", "checkout"]) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_the_command_refuses_what_it_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(f"classes: {{table: {ROOT}/config/classes/rendered.csv}}")
    example.write(Path("checkout"), example.files())
    assert main(["record", "nonsense", "checkout"]) == 1
    known = "kind imagenetv2 has no part nonsense; its parts are "
    assert known in capsys.readouterr().err
    example.write(Path("small"), {"cifar101_predictions.npz": b"1"})
    assert main(["record", "audit", "small"]) == 1
    told = "a record of the kind cifar10.1 has no part audit; its parts are classes, predictions, claims."
    assert told in capsys.readouterr().err
    assert main(["record", "search", "--config", "mine.yaml"]) == 1
    assert "record.path is not set" in capsys.readouterr().err
    assert main(["record", "search", "nowhere"]) == 1
    assert "nowhere does not exist" in capsys.readouterr().err
    assert main(["record", "classes", "checkout", "--expect", "0"]) == 1
    assert "changed since the run was planned" in capsys.readouterr().err
    assert not Path("data").exists()
