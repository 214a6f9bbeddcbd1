"""Tables of labelled images and pairs: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imagenetv2.duplicates.labelled import labels
from imagenetv2.duplicates.labelled.labels import Labelled
from imagenetv2.errors import InputError

Read = Callable[..., Labelled]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a table; all images that it may name are there."""
    for name in ("a.png", "b.png", "c.png", "d.png", "01.png"):
        (tmp_path / name).write_bytes(b"")

    def made(text: str, encoding: str = "utf-8") -> Labelled:
        path = tmp_path / "labels.csv"
        path.write_bytes(text.encode(encoding))
        return labels.read(path, tmp_path)

    return made


def pairs(found: Labelled) -> dict[tuple[str, str], bool]:
    return {
        (found.names[r], found.names[c]): bool(d)
        for r, c, d in zip(found.row, found.column, found.duplicate, strict=True)
    }


def test_images_of_a_group_are_near_duplicates_and_those_without_one_are_like_no_other(read: Read) -> None:
    found = read("image,group\nd.png,\nb.png,x\na.png,x\nc.png,\n")
    assert found.names == ["a.png", "b.png", "c.png", "d.png"]
    assert pairs(found) == {
        ("a.png", "b.png"): True,
        ("a.png", "c.png"): False,
        ("b.png", "c.png"): False,
        ("a.png", "d.png"): False,
        ("b.png", "d.png"): False,
        ("c.png", "d.png"): False,
    }
    assert found.with_original is None


def test_a_copy_with_its_original_has_a_kind_and_two_copies_have_none(read: Read) -> None:
    found = read("image,group,kind,strength\na.png,x,,\nb.png,x,blur,2\nc.png,x,fog,1\nd.png,,,\n")
    kinds = dict(zip(pairs(found), zip(found.kind, found.strength, strict=True), strict=True))
    assert kinds["a.png", "b.png"] == ("blur", "2")
    assert kinds["a.png", "c.png"] == ("fog", "1")
    assert kinds["b.png", "c.png"] == ("", "")
    assert kinds["b.png", "d.png"] == ("", "")
    assert found.with_original is not None
    original = dict(zip(pairs(found), found.with_original.tolist(), strict=True))
    assert not original["b.png", "c.png"]
    assert original["a.png", "b.png"]
    assert original["c.png", "d.png"]


def test_pairs_are_as_labelled_and_sorted_by_column_then_row(read: Read) -> None:
    found = read(
        "image,other,duplicate,kind\nc.png,a.png,1,crop\nd.png,b.png,0,crop\nb.png,a.png,0,\nb.png,c.png,1,\n"
    )
    assert list(pairs(found).items()) == [
        (("a.png", "b.png"), False),
        (("a.png", "c.png"), True),
        (("b.png", "c.png"), True),
        (("b.png", "d.png"), False),
    ]
    assert found.kind.tolist() == ["", "crop", "", ""]


def test_a_byte_order_mark_spaces_and_numbers_as_names(read: Read) -> None:
    found = read("image , group\n01.png, x\nb.png,x\nc.png, 1\nd.png,01\n", "utf-8-sig")
    assert [pair for pair, same in pairs(found).items() if same] == [("01.png", "b.png")]


def test_images_that_are_taken_out_take_their_pairs_with_them(read: Read) -> None:
    found = read("image,group,kind\na.png,x,\nb.png,x,blur\nc.png,x,fog\nd.png,,\n").without({"b.png"})
    assert found.names == ["a.png", "c.png", "d.png"]
    assert pairs(found) == {
        ("a.png", "c.png"): True,
        ("a.png", "d.png"): False,
        ("c.png", "d.png"): False,
    }
    assert found.kind.tolist() == ["fog", "", ""]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no table"),
        (
            "name,class\na,b\n",
            "has the columns name, class; it needs image, group or image, other, duplicate",
        ),
        ("image,group\n", "has no rows"),
        ("image,group\na.png,x\nb.png\nc.png,x\n", "line 3 has 1 value under 2 columns; write a comma"),
        ("image,group\n\na,b.png,x\n", "line 3 has 3 values under 2 columns"),
        ("image,group,image\na.png,x,b.png\n", "has the column image twice"),
        ("image,other,duplicate\n\na.png,b.png,1\n\nb.png,c.png,2\n", "line 5: duplicate is '2'"),
        ("image,group\na.png,x\na.png,y\n", "image a.png is in two rows"),
        ("image,group\na.png,x\n,x\n", "line 3: image is empty"),
        ("image,group\na.png,x\ne.png,x\nf.png,y\n", "image e.png and 1 more are not in"),
        ("image,group\na.png,x\nb.png,y\n", "of 1 pair none is one of near-duplicates"),
        ("image,group\na.png,x\nb.png,x\n", "of 1 pair none is one of different images"),
        ("image,group\na.png,x\n", "of 0 pairs none"),
        ("image,other,duplicate\na.png,b.png,yes\n", "line 2: duplicate is 'yes'; write 1 or 0"),
        ("image,other,duplicate\na.png,a.png,1\n", "line 2: a.png is paired with itself"),
        ("image,other,duplicate\na.png,b.png,1\nb.png,a.png,0\n", "the pair a.png, b.png is in two rows"),
        ("image,other,duplicate\na.png,,1\n", "line 2: other is empty"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_in_one_sentence(read: Read, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_that_is_not_there_and_one_in_another_encoding(read: Read, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        labels.read(tmp_path / "none.csv", tmp_path)
    with pytest.raises(InputError, match="is no table"):
        read("image,group\nä.png,x\n", "latin-1")
    with pytest.raises(InputError, match=r"is a folder; give the CSV file of labels, .* --folder") as caught:
        labels.read(tmp_path, tmp_path)
    assert "Errno" not in str(caught.value)
