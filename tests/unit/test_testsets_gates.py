"""What is wrong with a set is refused by name, before any image is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.errors import InputError
from imagenetv2.images import encode_jpeg, encode_png
from imagenetv2.testsets import gates
from imagenetv2.testsets.checking import check_files
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.gates import Gate
from imagenetv2.testsets.known import by_name
from imagenetv2.testsets.opening import open_testset
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.writing import FolderSink, write
from tests.unit import testset_layouts as layouts
from tests.unit.testset_layouts import IMAGENET, Memory

Change = Callable[[Memory], None]


def opened(store: Memory, *, partial: bool = False, name: str = "set") -> TestSet:
    return open_images(Path(name), store, None, partial=partial)


def move(store: Memory, old: str, new: str) -> None:
    """Rename a folder, or copy where it goes on to be there."""
    for name in [n for n in store if n.startswith(f"{old}/")]:
        store[f"{new}/{name[len(old) + 1 :]}"] = store.pop(name)


def copy(store: Memory, old: str, new: str) -> None:
    store.update({f"{new}/{n[len(old) + 1 :]}": d for n, d in store.items() if n.startswith(f"{old}/")})


def remove(store: Memory, folder: str) -> None:
    for name in [n for n in store if n.startswith(f"{folder}/")]:
        del store[name]


def numbered_from_one(store: Memory) -> None:
    for index in range(999, -1, -1):
        move(store, str(index), str(index + 1))


FOLDERS: dict[str, tuple[Change, str]] = {
    "missing": (lambda s: remove(s, "17"), r"set: 1 of the 1000 classes of ImageNet are missing, the first is 17 \(n01580077\)"),
    "several missing": (
        lambda s: [remove(s, n) for n in ("17", "999", "20", "21")],
        r"set: 4 of the 1000 classes of ImageNet are missing, the first are 17 \(n01580077\), 20 \(n01601694\), 21 ",
    ),
    "extra index": (lambda s: copy(s, "1", "1004"), r"1 of its 1001 folders are extra, the first is 1004, which is not among the 1000 class indices"),
    "extra wnid": (lambda s: copy(s, "1", "n00000001"), r"extra, the first is n00000001, which is not among the 1000 WordNet IDs of ImageNet"),
    "renamed to words": (lambda s: move(s, "0", "tench"), r"1 of its 1000 folders are named neither .*, the first is tench, maybe 0 \(n01440764\); rename"),
    "renamed with a suffix": (lambda s: move(s, "0", "n01440764_tench"), "the first is n01440764_tench, maybe n01440764;"),
    "renamed by a slip": (lambda s: move(s, "1", "n0144353"), "the first is n0144353, maybe n01443537;"),
    "renamed with a prefix": (lambda s: move(s, "7", "class_7"), "the first is class_7, maybe 7;"),
    "renamed beyond recognition": (lambda s: move(s, "7", "zzzz"), "the first is zzzz; rename"),
    "zeros": (lambda s: copy(s, "0", "00"), r"1 classes have two folders, the first are 0 and 00, both of class 0 \(n01440764\)"),
    "both names": (lambda s: copy(s, "0", "n01440764"), "the first are 0 and n01440764, both of class 0"),
    "from one": (numbered_from_one, "numbered up to 1000 without 0, so these are probably ILSVRC2012_IDs"),
    "an image beside": (lambda s: s.add("extra.jpg", b"x"), "1 images lie beside its class folders, the first is extra.jpg"),
    "no image": (lambda s: s.add("3/notes.txt", b"hello"), "set/3/notes.txt is not an image: it begins with b'hello'"),
    "no class folders": (
        lambda s: [move(s, str(i), f"{'train' if i % 2 else 'val'}/{i}") for i in range(1000)],
        "holds train, val and no class folders .*; name its folder val",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), FOLDERS.values(), ids=FOLDERS)
def test_folders_that_are_wrong_are_named(change: Change, sentence: str) -> None:
    store = layouts.memory(layouts.pictures())
    change(store)
    with pytest.raises(InputError, match=sentence):
        opened(store)


def test_what_lies_beside_class_folders_is_no_part_of_a_set() -> None:
    store = layouts.memory(layouts.pictures())
    plain = opened(store)
    for name in (
        "README.md", "README.txt", ".DS_Store", "5/.DS_Store", "5/._x.jpeg", "__MACOSX/5/x.jpeg", "sha256sums.txt",
        "MD5SUMS", "set.sha256", "LICENSE", "5/Thumbs.db", "attribution.csv",
    ):  # fmt: skip
        store.add(name, b"not an image")
    assert opened(store).digest == plain.digest
    store.add("5/license-plate.jpeg", layouts.picture(5, "").data())
    assert len(opened(store).ids) == 1001, "an image whose name begins like that of a licence"


def test_images_without_an_ending_are_known_by_their_first_bytes() -> None:
    store = layouts.memory(layouts.pictures())
    store["3/plain"] = layouts.picture(3, "").data()
    assert "n01491361/plain" in opened(store).ids


def test_fifty_images_a_class_are_usual_too() -> None:
    gate, counts = Gate("set", partial=False), Counter({index: 50 - (index == 12) for index in range(1000)})
    with pytest.raises(
        InputError, match=r"set: 1 classes have another number of images than 50: 12 .* has 49;"
    ):
        gates.images(counts, None, IMAGENET, gate)
    gates.images(Counter(dict.fromkeys(range(1000), 50)), None, IMAGENET, gate)
    with pytest.raises(InputError, match=r"1000 classes have another number of images than 10: 0 .* has 50"):
        gates.images(counts + Counter([12]), by_name("imagenetv2-top-images"), IMAGENET, gate)


@pytest.mark.parametrize("missing", [1, -1])
def test_the_usual_number_of_images_a_class_is_expected_of_all_classes(missing: int) -> None:
    data = layouts.picture(0, "").data()
    store = Memory({f"{c}/{k}.jpg": data for c in range(1000) for k in range(10 - missing * (c == 12))})
    wrong = rf"1 classes have another number of images than 10: 12 \(n01532829\) has {10 - missing}"
    with pytest.raises(InputError, match=f"set: {wrong}; add what is missing"):
        opened(store)
    found = opened(store, partial=True)
    assert len(found.remarks) == 1 and found.known is None
    with pytest.raises(InputError, match=wrong):
        opened(store, name="imagenetv2-top-images")


def test_a_part_of_a_set_is_opened_with_remarks_when_asked_for() -> None:
    store = layouts.memory(layouts.pictures(per_class=2, classes=range(100)), "wnid")
    found = opened(store, partial=True, name="imagenetv2-matched-frequency")
    assert found.known == "imagenetv2-matched-frequency"
    assert len(found.classes) == 1000 and set(found.labels.tolist()) == set(range(100))
    assert found.remarks == (
        "900 of the 1000 classes of imagenetv2-matched-frequency are missing, the first are 100 (n01860187), "
        "101 (n01871265), 102 (n01872401)",
        "100 classes have another number of images than 10: 0 (n01440764) has 2, 1 (n01443537) has 2, 2 (n01484850) has 2",
    )


@pytest.mark.parametrize("name", ["imagenet-a", "imagenet-r"])
def test_a_set_of_200_classes_that_holds_another_is_refused(name: str) -> None:
    store = layouts.memory(layouts.pictures(), "wnid")
    with pytest.raises(
        InputError, match=f"800 class folders are extra, .* not among the 200 classes of {name}"
    ):
        opened(store, name=name)


def test_empty_files_are_named() -> None:
    store = layouts.memory(layouts.pictures())
    store["3/empty.jpeg"] = b""
    with pytest.raises(InputError, match=r"set: 1 of its files are empty: 3/empty.jpeg; download"):
        opened(store, partial=True)


def test_an_empty_folder_is_a_missing_class(tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", layouts.pictures(), "index")
    emptied = next((path / "8").iterdir())
    emptied.unlink()
    with pytest.raises(InputError, match=r"set: 1 of the 1000 classes .* missing, the first is 8 "):
        open_testset(path)


@pytest.mark.parametrize("partial", [False, True])
def test_nothing_is_no_set(tmp_path: Path, partial: bool) -> None:
    (tmp_path / "empty/0").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose/a.jpg").write_bytes(b"x")
    for name, sentence in {
        "absent": "absent does not exist; correct the path",
        "empty": "its 1 class folders are empty",
        "none": "holds no images and no class folders",
        "loose": "holds 1 images, such as a.jpg, and no class folders",
    }.items():
        with pytest.raises(InputError, match=sentence):
            open_testset(tmp_path / name, partial=partial)


def test_the_table_beside_a_set_must_not_contradict_imagenets(tmp_path: Path) -> None:
    store = layouts.memory(layouts.pictures(), tables=True)
    lines = store["classes.csv"].decode().splitlines(keepends=True)
    first, second = (line.split(",", 1)[1] for line in lines[1:3])
    store["classes.csv"] = "".join([lines[0], f"0,{second}", f"1,{first}", *lines[3:]]).encode()
    with pytest.raises(
        InputError,
        match="class index 0 is n01443537 there, but n01440764 in ImageNet: the classes are permuted",
    ):
        opened(store)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class_index,words\n0,tench\n", "has no column wnid"),
        ("class_index,wnid\n", "holds no row"),
        ("class_index,wnid\n1,n01440764\n", "line 2: class_index is '1', not 0"),
        ("class_index,wnid\n0,n01440764\n1,n01440764\n", "line 3: 'n01440764' is no WordNet ID of its own"),
        ("class_index,wnid\n0,tench\n", "line 2: 'tench' is no WordNet ID"),
        ("\xff\xfe", "cannot be read as CSV"),
    ],
)
def test_a_table_that_cannot_be_read_is_named(text: str, sentence: str) -> None:
    store = layouts.memory(layouts.pictures())
    store["classes.csv"] = text.encode("latin-1")
    with pytest.raises(InputError, match=f"set/classes.csv.*{sentence}"):
        opened(store)


MANIFESTS: dict[str, tuple[Change, str]] = {
    "swapped": (
        lambda s: [move(s, "0", "x"), move(s, "1", "0"), move(s, "x", "1")],
        "2 of the 1,000 files of manifest.csv are missing",
    ),
    "swapped contents": (
        lambda s: s.update({"manifest.csv": s["manifest.csv"].replace(b",0,n01440764", b",1,n01443537")}),
        r"is of class 1 \(n01443537\) there, but lies in the folder of class 0 \(n01440764\): folders are permuted",
    ),
    "missing": (lambda s: remove(s, "5"), "1 of the 1,000 files of manifest.csv are missing"),
    "missing file": (lambda s: s.pop(next(n for n in s if n.startswith("5/"))), "1 of the 1,000 files of manifest.csv are missing, the first is 5/"),
    "extra file": (lambda s: s.add("5/more.jpeg", b"x"), "1 files are there that it does not name, the first is 5/more.jpeg"),
    "named twice": (
        lambda s: s.add("manifest.csv", s["manifest.csv"] + s["manifest.csv"].splitlines(keepends=True)[-1]),
        "has two rows",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_must_agree_with_the_files(change: Change, sentence: str) -> None:
    store = layouts.memory(layouts.pictures(), tables=True)
    change(store)
    with pytest.raises(InputError, match=sentence):
        opened(store)


def test_one_image_twice_in_a_class_is_refused_where_a_manifest_tells() -> None:
    images = layouts.pictures()
    store = layouts.memory([*images, layouts.picture(0, "again.jpeg")], tables=True)
    with pytest.raises(InputError, match=r"0/0{40}.jpeg and 0/again.jpeg have the same sha256"):
        opened(store)
    other = layouts.memory([*images, layouts.picture(0, "again.jpeg", 7)], tables=True)
    assert len(opened(other).ids) == 1001


def test_the_table_of_another_benchmark_is_taken(tmp_path: Path) -> None:
    from imagenetv2.testsets.class_table import ClassTable

    table = ClassTable("", ("n02802426", "n03063599"), ("ball", "mug"))
    for layout in ("index", "wnid"):
        images = [layouts.picture(i, f"{k}.png", k) for i in range(2) for k in range(3)]
        write(images, table, layout, FolderSink(tmp_path / layout))  # type: ignore[arg-type]
        found = open_testset(tmp_path / layout)
        assert found.wnids == table.wnids and found.classes.tolist() == [0, 1]
        assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
        assert found.known is None and not found.remarks


def broken(folder: Path) -> dict[str, bytes]:
    picture = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    jpeg, png = encode_jpeg(picture), encode_png(picture)
    return {
        "0/good.jpg": jpeg,
        "0/good.png": png,
        "0/cut.jpg": jpeg[: len(jpeg) // 2],
        "0/cut.png": png[:-2000],
        "0/html.jpg": b"<html>not found</html>",
        "0/lies.png": jpeg,
        "0/header.jpg": jpeg[:4] + b"\0" * 50 + b"\xff\xd9",
    }


def test_broken_files_are_named_before_and_while_they_are_used(tmp_path: Path) -> None:
    files = broken(tmp_path)
    for name, data in files.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_bytes(data)
    found = open_testset(tmp_path / "set", partial=True)
    bad = {"cut.jpg", "cut.png", "html.jpg", "header.jpg"}
    with pytest.raises(InputError, match="set: 4 of its 7 files are not whole images: ") as error:
        check_files(found, cores=2)
    assert "0/cut.jpg: JPEG cannot be decoded" in str(error.value)
    assert "; and 1 more; download or copy it again." in str(error.value)
    for position, name in enumerate(found.ids):
        file = name.split("/")[1]
        if file in bad:
            with pytest.raises(InputError, match=f"set/0/{file}: .*; download or copy it again"):
                found.pixels[position]
        else:
            assert found.pixels[position].shape == (64, 64, 3)


def test_a_file_that_changed_since_its_manifest_is_named(tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", layouts.pictures(), "wnid", tables=True)
    found = open_testset(path)
    check_files(found)
    changed = next((path / "n01440764").iterdir())
    data = bytearray(changed.read_bytes())
    data[50] ^= 1
    changed.write_bytes(bytes(data))
    with pytest.raises(
        InputError, match=rf"n01440764/{changed.name}: its SHA-256 is .*, not .* as in the manifest"
    ):
        check_files(open_testset(path))


def test_a_file_that_goes_away_is_named(tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", layouts.pictures(), "wnid")
    found = open_testset(path)
    gone = next((path / "n01440764").iterdir())
    gone.unlink()
    with pytest.raises(InputError, match=rf"{gone} cannot be read \(No such file or directory\)"):
        found.pixels[0]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    path = layouts.folder(tmp_path / "set", layouts.pictures(), "wnid")
    (path / "n01440764").rename(tmp_path / "elsewhere")
    (path / "n01440764").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(path)
    assert len(open_testset(path).ids) == 1000
    (path / "n01440764/nowhere.jpeg").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"nowhere.jpeg is a link that leads nowhere"):
        open_testset(path)


def test_pixels_are_a_sequence() -> None:
    found = opened(layouts.memory(layouts.pictures()))
    assert IMAGENET.is_imagenet and len(found.pixels) == 1000
    assert (found.pixels[-1] == layouts.pixels_of(999)).all()
    assert [p[0, 0, 1] for p in found.pixels[3:6]] == [3, 4, 5]
    with pytest.raises(IndexError):
        found.pixels[1000]
