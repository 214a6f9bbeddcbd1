"""Whatever is done to the folders of a set, its labels stay right or it is refused."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.errors import InputError
from imagenetv2.testsets import tar_index
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.tar_index import Member
from tests.unit import testset_layouts as layouts
from tests.unit.testset_layouts import IMAGENET, Memory

FILES = st.dictionaries(
    st.integers(0, 999),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True),
    min_size=1,
    max_size=12,
)


def name_of(index: int, kind: str) -> str:
    return {"index": str(index), "padded": f"{index:03d}", "wnid": IMAGENET.wnids[index]}[kind]


def store_of(files: dict[int, list[str]], kinds: list[str]) -> Memory:
    """Class folders, each named in its own way."""
    return Memory(
        {
            f"{name_of(index, kinds[place % len(kinds)])}/{name}.png": layouts.picture(index, "").data()
            for place, (index, names) in enumerate(files.items())
            for name in names
        }
    )


@settings(deadline=None, max_examples=50)
@given(FILES, st.lists(st.sampled_from(["index", "padded", "wnid"]), min_size=1, max_size=3), st.booleans())
def test_labels_depend_on_the_names_of_folders_alone(
    files: dict[int, list[str]], kinds: list[str], nested: bool
) -> None:
    store = store_of(files, kinds)
    if nested:
        store = Memory({f"outer/inner-val/{name}": data for name, data in reversed(store.items())})
    found = open_images(Path("set"), store, None, partial=True)
    expected = {f"{IMAGENET.wnids[i]}/{name}.png": i for i, names in files.items() for name in names}
    assert dict(zip(found.ids, found.labels.tolist(), strict=True)) == expected
    assert list(found.ids) == sorted(expected)
    for pixels, label in zip(found.pixels, found.labels.tolist(), strict=True):
        assert int(pixels[0, 0, 0]) * 256 + int(pixels[0, 0, 1]) == label


@settings(deadline=None, max_examples=50)
@given(FILES, st.data())
def test_two_folders_of_a_class_are_refused_whatever_their_names(
    files: dict[int, list[str]], data: st.DataObject
) -> None:
    twice = data.draw(st.sampled_from(sorted(files)))
    names = [str(twice), f"0{twice}", f"00{twice}", IMAGENET.wnids[twice]]
    one, other = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
    rest = {i: own for i, own in files.items() if i != twice}
    store = store_of(rest, ["wnid"])
    store |= {f"{name}/x.png": b"x" for name in (one, other)}
    with pytest.raises(InputError, match=f"both of class {twice} "):
        open_images(Path("set"), Memory(store), None, partial=True)


@settings(deadline=None, max_examples=50)
@given(FILES, st.text("abcnw_-. 0123456789", min_size=1, max_size=12))
def test_a_folder_whose_name_is_no_class_is_named(files: dict[int, list[str]], name: str) -> None:
    store = store_of(files, ["index", "wnid"])
    meant = (name.isdecimal() and int(name) < 1000) or name in IMAGENET.index_of
    if meant or name.startswith("."):
        return
    store[f"{name}/x.png"] = b"x"
    with pytest.raises(InputError) as error:
        open_images(Path("set"), store, None, partial=True)
    assert name in str(error.value) and "\n" not in str(error.value)


WITH_TABLES = layouts.memory(layouts.pictures(), tables=True)


@settings(deadline=None, max_examples=12)
@given(st.permutations(range(6)))
def test_a_permutation_is_refused_where_a_manifest_or_a_table_tells(order: list[int]) -> None:
    moved = Memory(
        {
            (f"{order[int(folder)]}/{file}" if folder.isdecimal() and int(folder) < 6 else name): data
            for name, data in WITH_TABLES.items()
            for folder, _, file in [name.partition("/")]
        }
    )
    if order == sorted(order):
        assert open_images(Path("set"), moved, None, partial=False).remarks == ()
    else:
        with pytest.raises(InputError, match=r"set: .* files of manifest\.csv are missing"):
            open_images(Path("set"), moved, None, partial=False)


PART = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=70)


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(st.lists(PART, min_size=1, max_size=5).map("/".join), st.integers(0, 1500), max_size=6),
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    st.booleans(),
)
def test_places_in_a_tar_are_those_that_tarfile_finds(files: dict[str, int], kind: int, torn: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, expected = Path(folder) / "x.tar", []
        with tarfile.open(path, "w", format=kind) as archive:
            for name, size in files.items():
                member = tarfile.TarInfo(name)
                member.size = size
                try:
                    archive.addfile(member, io.BytesIO(bytes(size)))
                except ValueError:
                    continue  # USTAR holds no such long names
        with tarfile.open(path) as archive:
            expected = [Member(m.name, m.offset_data, m.size) for m in archive if m.isfile()]
        assert [m for m in tar_index.members(path) if m.offset is not None] == expected
        if torn and expected and expected[-1].size:
            last = expected[-1]
            assert last.offset is not None
            path.write_bytes(path.read_bytes()[: last.offset + last.size - 1])
            with pytest.raises((EOFError, tarfile.TarError)):
                tar_index.members(path)
