"""Archives: read in place, unpacked once, and refused where they are not whole."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from imagenetv2.errors import InputError
from imagenetv2.testsets import known, tar_index
from imagenetv2.testsets.known import Known, Release
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.stores import Tar
from imagenetv2.testsets.tar_index import Member
from tests.unit import testset_layouts as layouts


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound archive; nobody changes it."""
    return layouts.tar(tmp_path_factory.mktemp("plain") / "set.tar", layouts.pictures(), "index")


def packed(plain: Path, tmp_path: Path, name: str = "set.tar.gz") -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(plain.read_bytes(), 1))
    return path


def test_a_compressed_archive_is_unpacked_once(plain: Path, tmp_path: Path) -> None:
    path, scratch = packed(plain, tmp_path), tmp_path / "scratch"
    first = open_testset(path, scratch=scratch)
    (kept,) = sorted(scratch.iterdir())
    assert kept.read_bytes() == plain.read_bytes()
    assert first.layout == "class folders by index, in a compressed tar archive"
    os.utime(kept, (1, 1))
    again = open_testset(path, scratch=scratch)
    assert again.digest == first.digest and kept.stat().st_mtime == 1
    os.utime(path, (5, 5))
    open_testset(path, scratch=scratch)
    assert len(sorted(scratch.iterdir())) == 2, "another archive by that name is unpacked by itself"


def test_without_a_scratch_folder_it_is_said_what_to_do(plain: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"set.tar.gz is compressed, .*; give a scratch folder, in which"):
        open_testset(packed(plain, tmp_path))


def test_an_archive_is_known_by_its_first_bytes_and_not_by_its_name(plain: Path, tmp_path: Path) -> None:
    path = tmp_path / "set.tar.gz"
    path.write_bytes(plain.read_bytes())
    assert open_testset(path).layout == "class folders by index, in a tar archive"
    assert open_testset(packed(plain, tmp_path, "set.tar"), scratch=tmp_path).name == "set"


def test_a_killed_unpacking_leaves_nothing_that_counts(plain: Path, tmp_path: Path) -> None:
    path, scratch = packed(plain, tmp_path), tmp_path / "scratch"
    open_testset(path, scratch=scratch)
    (kept,) = sorted(scratch.iterdir())
    torn = scratch / f".{kept.name}.999999999.1.part"
    torn.write_bytes(b"half")
    kept.unlink()
    open_testset(path, scratch=scratch)
    assert sorted(scratch.iterdir()) == [kept]


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_archives_that_were_cut_off_are_refused(plain: Path, tmp_path: Path, keep: float) -> None:
    zipped = layouts.packed_zip(tmp_path / "set.zip", layouts.pictures(classes=range(50)), "index")
    for path in (packed(plain, tmp_path), zipped):
        data = path.read_bytes()
        path.write_bytes(data[: int(keep * len(data))])
        scratch = tmp_path / "scratch"
        with pytest.raises(InputError, match=rf"{path.name} is .*(damaged|not whole|no whole|neither)"):
            open_testset(path, scratch=scratch, partial=True)
        assert not scratch.exists() or not sorted(scratch.iterdir())


def test_a_tar_that_was_cut_off_within_a_file_is_refused(plain: Path, tmp_path: Path) -> None:
    with tarfile.open(plain) as archive:
        last = archive.getmembers()[-1]
    path = tmp_path / "set.tar"
    path.write_bytes(plain.read_bytes()[: last.offset_data + 5])
    with pytest.raises(
        InputError, match=rf"set.tar is no whole tar archive \(it ends in the middle of {last.name}\)"
    ):
        open_testset(path, partial=True)


@pytest.mark.parametrize("data", [b"", b"hello", b"\x1f\x8b\x08\x00garbage", gzip.compress(b"hello" * 500)])
def test_other_files_are_no_set(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "set"
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"{path} "):
        open_testset(path, scratch=tmp_path / "scratch")


def test_encrypted_and_doubled_entries_of_a_zip_are_named(tmp_path: Path) -> None:
    path = layouts.packed_zip(tmp_path / "set.zip", layouts.pictures(), "index")
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 8
    data[place] |= 1  # encrypted, by the directory
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"set.zip: a-set/0/.* cannot be unpacked \(.*encrypted"):
        open_testset(path).pixels[0]
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("0/a.jpg", b"x")
        archive.writestr("0/a.jpg", b"y")
    with pytest.raises(InputError, match=r"two.zip holds 0/a.jpg twice"):
        open_testset(tmp_path / "two.zip", partial=True)


def oracle(path: Path) -> list[Member]:
    """What tarfile says."""
    with tarfile.open(path, "r:") as archive:
        found = []
        for member in archive:
            if member.isdir():
                found.append(Member(member.name, None, 0))
            elif member.isfile():
                found.append(Member(member.name, member.offset_data, member.size))
            elif member.islnk():
                target = archive.getmember(member.linkname)
                found.append(Member(member.name, target.offset_data, target.size))
        return found


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("links", [False, True])
def test_places_in_a_tar_are_those_that_tarfile_finds(kind: int, links: bool, tmp_path: Path) -> None:
    long = "a" * 90 + "/" + "b" * 60
    names = ["0/x.jpg", long, "1/ümlaut.jpg", "empty"] + ([] if kind == tarfile.USTAR_FORMAT else ["c" * 300])
    with tarfile.open(tmp_path / "x.tar", "w", format=kind) as archive:
        folder = tarfile.TarInfo("0")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for i, name in enumerate(names):
            member = tarfile.TarInfo(name)
            member.size = 700 * i if name != "empty" else 0
            member.mtime = 1.5 * i  # needs an extended header where there is one
            archive.addfile(member, io.BytesIO(b"x" * member.size))
        for kind_of, to in (
            (tarfile.SYMTYPE, "0/x.jpg"),
            *(((tarfile.LNKTYPE, "1/ümlaut.jpg"),) if links else ()),
        ):
            link = tarfile.TarInfo(f"link{kind_of!r}")
            link.type, link.linkname = kind_of, to
            archive.addfile(link)
    assert tar_index.members(tmp_path / "x.tar") == oracle(tmp_path / "x.tar")
    assert len(Tar(tmp_path / "x.tar").files) == len(names) + links


@pytest.mark.parametrize("known_digest", [True, False])
def test_an_archive_of_a_published_size_is_hashed(
    known_digest: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "imagenetv2-top-images"
    path = layouts.tar(tmp_path / f"{name}.tar", layouts.pictures(), "index", root=name)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest() if known_digest else "ab" * 32
    (old,) = (k for k in known.KNOWN if k.name == name)
    new = Known(old.name, old.images, old.per_class, old.named, releases=(Release(len(data), digest),))
    monkeypatch.setattr(known, "KNOWN", (new,))
    if known_digest:
        assert open_testset(path, partial=True).known == name
    else:
        with pytest.raises(
            InputError, match=rf"as large as the published archive of {name}, but its SHA-256 is .*abab"
        ):
            open_testset(path, partial=True)


def test_digests_of_published_archives_are_well_formed() -> None:
    for one in known.KNOWN:
        assert one.releases, f"no release of {one.name} is known"
        assert all(len(r.sha256) == 64 and int(r.sha256, 16) and r.bytes % 512 == 0 for r in one.releases)
        assert len(one.classes) in (200, 1000)
        assert one.per_class is None or one.per_class * len(one.classes) == one.images
