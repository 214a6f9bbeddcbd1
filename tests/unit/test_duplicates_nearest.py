"""``imagenetv2 nearest``: two folders of pictures, from the command line to the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from imagenetv2.cli import main
from imagenetv2.duplicates.nearest.options import wanted
from imagenetv2.duplicates.nearest.page import shared
from imagenetv2.errors import InputError
from imagenetv2.images import encode_png, squash
from tests.unit.small_review import photograph

SIDE = 16


def folder(path: Path, pictures: dict[str, Any]) -> Path:
    for name, pixels in pictures.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(encode_png(pixels))
    return path


def brighter(pixels: Any, levels: int) -> Any:
    return np.clip(pixels.astype(int) + levels, 0, 255).astype(np.uint8)


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    """Five candidates and six references: a copy, a brighter one, and strangers."""
    ours = {f"c{i}.png": photograph(i) for i in range(5)}
    theirs = {f"deep/r{i}.png": photograph(20 + i) for i in range(4)}
    theirs |= {"copy.png": photograph(1), "brighter.png": brighter(photograph(3), 5)}
    return folder(tmp_path / "ours", ours), folder(tmp_path / "theirs", theirs)


def run(*arguments: object) -> int:
    return main(["nearest", *(str(a) for a in arguments), "--cores", "2"])


def plain(ours: Path, theirs: Path, k: int, side: int = SIDE) -> pd.DataFrame:
    """What the definition says, by brute force."""
    from imagenetv2.duplicates.folders import pictures

    one, other = pictures([ours]), pictures([theirs])
    a = [squash(one.pixels(i), side).astype(np.int64) for i in range(len(one))]
    b = [squash(other.pixels(i), side).astype(np.int64) for i in range(len(other))]
    rows = []
    for i, x in enumerate(a):
        far = [(int(((x - y) ** 2).sum()), other.names[j]) for j, y in enumerate(b)]
        far = [(d, name) for d, name in far if ours != theirs or name != one.names[i]]
        rows += [(one.names[i], rank, name, d) for rank, (d, name) in enumerate(sorted(far)[:k])]
    return pd.DataFrame(rows, columns=["image", "rank", "neighbour", "distance"])


def test_neighbours_are_those_of_the_definition(sets: tuple[Path, Path], tmp_path: Path) -> None:
    ours, theirs = sets
    assert run(ours, "--to", theirs, "--side", SIDE, "-k", 3, "--out", tmp_path / "out") == 0
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    pd.testing.assert_frame_equal(found, plain(ours, theirs, 3))
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out/neighbours.csv"), found)
    assert found.iloc[3].tolist() == ["c1.png", 0, "copy.png", 0]


def test_without_references_candidates_are_compared_with_each_other(
    sets: tuple[Path, Path], tmp_path: Path
) -> None:
    _, theirs = sets
    assert run(theirs, "--side", SIDE, "--out", tmp_path / "out") == 0
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    pd.testing.assert_frame_equal(found, plain(theirs, theirs, 30))
    assert len(found) == 6 * 5, "k larger than the set gives all the others"


def test_a_file_in_both_sets_is_no_neighbour_of_itself(sets: tuple[Path, Path], tmp_path: Path) -> None:
    ours, theirs = sets
    assert (
        run(ours / "c1.png", ours / "c2.png", "--to", ours, theirs, "-k", 1, "--out", tmp_path / "out") == 0
    )
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    assert found["neighbour"].iloc[0] == f"{theirs}/copy.png"
    assert found["neighbour"].iloc[1] != f"{ours}/c2.png"


def test_within_keeps_all_below_and_only_those_with_k_0(sets: tuple[Path, Path], tmp_path: Path) -> None:
    ours, theirs = sets
    every = plain(ours, theirs, 99)
    limit = int(every["distance"].quantile(0.4))
    assert (
        run(ours, "--to", theirs, "--side", SIDE, "-k", 0, "--within", limit, "--out", tmp_path / "out") == 0
    )
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    pd.testing.assert_frame_equal(found, every[every["distance"] <= limit].reset_index(drop=True))


def test_unreadable_files_are_listed_and_stop_nothing(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = sets
    (ours / "c9.png").write_bytes((ours / "c0.png").read_bytes()[:300])
    (theirs / "a.txt").write_text("x")
    assert run(ours, "--to", theirs, "--out", tmp_path / "out") == 0
    listed = pd.read_csv(tmp_path / "out/unreadable.csv")
    assert listed[["image", "set"]].to_numpy().tolist() == [["c9.png", "candidates"], ["a.txt", "references"]]
    assert "not an image" in listed["reason"].iloc[1]
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    assert not set(found["image"]) & {"c9.png"} and not set(found["neighbour"]) & {"a.txt"}
    told = capsys.readouterr().out
    assert re.search(r"unreadable +2\n", told)
    assert "a.txt" in (tmp_path / "out/nearest.html").read_text()


def test_the_command_says_what_it_did_and_leaves_nothing_behind(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = sets
    assert run(ours, "--to", theirs, "--out", tmp_path / "out") == 0
    told = capsys.readouterr()
    for pattern in (
        r"candidates +5\n",
        r"references +6\n",
        r"pairs +30\n",
        r"distances computed +\d+ %\n",
        r"time  ",
    ):
        assert re.search(pattern, told.out), pattern
    assert "30 pairs" in told.err, "the cost is said before"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "nearest.html", "neighbours.csv", "neighbours.parquet", "unreadable.csv",
    ]  # fmt: skip


def test_pairs_within_a_set_are_counted_once_everywhere(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, _ = sets
    (ours / "cut.zip").write_bytes(b"PK\3\4")
    assert run(ours, "--within", 1e12, "--out", tmp_path / "out") == 0
    told = capsys.readouterr()
    assert "5 candidates, 5 images, 10 pairs, each both ways, " in told.err, (
        "an archive that is none has no pairs"
    )
    assert re.search(r"\npairs +10\n", told.out)
    assert re.search(r"\npairs within 1,000,000,000,000 +10\n", told.out)
    text = (tmp_path / "out/nearest.html").read_text()
    assert "<dt>pairs</dt><dd>10</dd>" in text
    assert (
        "5 pictures were compared with each other, squashed to 32 × 32 pixels, by squared distance of pixels."
        in text
    )
    assert run(ours / "c1.png", ours / "c2.png", "--to", ours, "--out", tmp_path / "both") == 0
    told = capsys.readouterr()
    assert "2 candidates, " in told.err and " 8 pairs, " in told.err, "a file is no pair with itself"
    assert re.search(r"\npairs +8\n", told.out)


def test_results_of_an_earlier_run_are_not_read(
    sets: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = sets
    monkeypatch.chdir(ours)
    (ours / "out").mkdir()
    for _ in range(2):
        assert run(".", "--to", "c1.png", ".", "--out", "out") == 0
        assert pd.read_csv("out/unreadable.csv").empty
        assert "c0.png" in set(pd.read_csv("out/neighbours.csv")["image"])


def test_the_same_run_gives_the_same_bytes_for_any_number_of_cores(
    sets: tuple[Path, Path], tmp_path: Path
) -> None:
    ours, theirs = sets
    for cores in (1, 3):
        assert main(["nearest", str(ours), "--to", str(theirs), "--out", str(tmp_path / str(cores)), "--cores", str(cores)]) == 0  # fmt: skip
    for name in ("neighbours.csv", "neighbours.parquet", "unreadable.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()


class Pairs(HTMLParser):
    """Cards of a page: distance, and the names of its two pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[tuple[str, str]] = []
        self.near = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "img" and given.get("alt"):
            self.pictures.append((given["alt"], given["src"]))
        self.near += tag == "li" and "near" in given.get("class", "").split()


def test_the_page_shows_the_nearest_pairs_once_each_with_pictures(
    sets: tuple[Path, Path], tmp_path: Path
) -> None:
    ours, theirs = sets
    assert run(ours, "--to", theirs, "--out", tmp_path / "out", "--page", 3) == 0
    text = (tmp_path / "out/nearest.html").read_text()
    page = Pairs(text)
    names = [name for name, _ in page.pictures]
    assert names[:4] == ["c1.png", "copy.png", "c3.png", "brighter.png"]
    assert len(names) == 6
    assert all(src.startswith("data:image/") for _, src in page.pictures)
    assert page.near == 2, "those below the default cut-off are framed"
    assert "http" not in text.replace("http-equiv", "")
    assert run(theirs, "--out", tmp_path / "self", "--page", 99) == 0
    pairs = Pairs((tmp_path / "self/nearest.html").read_text())
    assert len(pairs.pictures) == 2 * 15, "a pair is shown once, not both ways"
    assert run(ours, "--out", tmp_path / "none", "--page", 0) == 0
    assert not (tmp_path / "none/nearest.html").exists()


def test_names_that_look_like_tags_are_text(tmp_path: Path) -> None:
    ours = folder(tmp_path / "ours", {"<b>&'.png": photograph(0), "two.png": photograph(1)})
    assert run(ours, "--out", tmp_path / "out") == 0
    assert "<b>&'" not in (tmp_path / "out/nearest.html").read_text()


def test_a_set_of_one_and_one_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = folder(tmp_path / "one", {"a.png": photograph(0)})
    two = folder(tmp_path / "two", {"b.png": photograph(1)})
    assert run(one, "--to", two, "--out", tmp_path / "out") == 0
    assert len(pd.read_parquet(tmp_path / "out/neighbours.parquet")) == 1
    assert run(one, "--out", tmp_path / "alone") == 0
    assert pd.read_parquet(tmp_path / "alone/neighbours.parquet").empty
    assert "1 candidate, 2 images, 1 pair, " in capsys.readouterr().err
    assert "1 picture was compared with 1 other, squashed" in (tmp_path / "out/nearest.html").read_text()
    alone = (tmp_path / "alone/nearest.html").read_text()
    assert "No pairs" in alone and "There is 1 picture, and no other to compare it with." in alone


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], r"nowhere does not exist; correct the path\."),
        (["empty"], r"candidates: no files; name a folder, archive or file with pictures\."),
        (["ours", "--to", "empty"], r"references: no files"),
        (["ours", "--to", "text"], r"references: the only file is no picture .*notes.txt: not an image"),
        (["ours", "--out", "ours"], r"ours holds pictures, and is where results go; give another --out\."),
        (["ours", "--out", "text/notes.txt"], r"--out text/notes.txt: text/notes.txt is a file; name a folder\."),
        (["ours", "--metric", "fc7", "--weights", "nothere.pt"], r"--weights: efficientnet_lite0 brings its own; leave out"),
        (["ours", "--metric", "fc7", "--network", "timm:resnet18", "--weights", "text/notes.txt"],
         r"--weights: the weights text/notes.txt are no PyTorch or safetensors file of tensors"),
        (["ours", "-k", "0"], r"-k 0 keeps nothing; give --within, or a -k of at least 1\."),
        (["ours", "-k", "1001"], r"-k 1001: input should be less than or equal to 1000\."),
        (["ours", "--side", "300"], r"--side 300: input should be less than or equal to 256\."),
        (["ours", "--window", "7"], r"--window has no meaning for --metric l2; leave it out\."),
        (["ours", "--metric", "ssim", "--window", "8"], r"--window 8: 8 is even; the window must be odd\."),
        (["ours", "--metric", "ssim", "--side", "16", "--window", "17"], r"take a window of at most 15, or a larger"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_ends_in_a_sentence(
    sets: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str],
    complaint: str, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text/notes.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 1
    told = capsys.readouterr().err
    assert re.search(complaint, told), told
    assert "Traceback" not in told


@pytest.mark.parametrize(("metric", "cutoff"), [("l2", 1.2e8), ("fc7", 1.32e4), ("ssim", 0.2205)])
def test_the_study_s_values_bring_its_cut_off_along(metric: str, cutoff: float) -> None:
    study = wanted(metric, {}, True)
    assert (study.cutoff, study.section.within, study.section.k, study.side) == (cutoff, cutoff, 30, 256)
    other = wanted(metric, {"side": 128, "window": 35 if metric == "ssim" else None, "input": None}, True)
    assert other.side == 128
    assert other.cutoff is None and other.section.within is None, "a cut-off belongs to its settings"
    assert wanted(metric, {"side": 128, "within": 5.0}, False).cutoff == 5.0


def test_default_settings_have_the_default_cut_off() -> None:
    found = wanted("l2", {"k": 5}, False)
    assert found.cutoff == 2e5
    assert found.section.within is None
    with pytest.raises(InputError, match="Preprocessing paper is for vgg16"):
        wanted("fc7", {"preprocessing": "paper"}, False)


def test_what_names_share_is_a_folder() -> None:
    assert shared(["a/b/c1.png", "a/b/c2.png"]) == "a/b/"
    assert shared(["a/b.png"]) == "a/"
    assert shared(["ab.png", "ac.png"]) == ""
    assert shared([]) == ""


def test_a_killed_search_goes_on_and_is_not_done_twice(
    sets: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from imagenetv2.commands import nearest
    from imagenetv2.duplicates.search import _Block

    ours, theirs = sets
    out = tmp_path / "out"

    def killed(*_: object) -> list[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(nearest, "write", killed)
        assert run(ours, "--to", theirs, "--out", out) == 130
    assert list(out.glob(".unfinished/*/*.npz"))
    with monkeypatch.context() as patch:
        patch.setattr(_Block, "_bounds", killed)
        assert run(ours, "--to", theirs, "--out", out) == 0, "finished pieces are not searched again"
        (theirs / "copy.png").write_bytes(encode_png(photograph(50)))
        assert run(ours, "--to", theirs, "--out", out) == 130, "other files are another search"
    assert run(ours, "--to", theirs, "--out", out) == 0
    assert not (out / ".unfinished").exists()


@pytest.mark.packs
def test_the_documented_pairs_of_cifar10_are_so_far_apart(packs: Path) -> None:
    from imagenetv2.duplicates.folders import pictures

    train, test = (pictures([packs / f"cifar10h/{name}.tar"]) for name in ("train", "test"))
    text = (Path(__file__).parents[2] / "docs/cifar10-duplicates.md").read_text()
    listed = re.findall(r"^\| \d+ \| (\w+/\d+) \| (\w+/\d+) \| ([\d,]+) \|", text, re.M)
    assert len(listed) == 40
    for one, other, documented in listed:
        x, y = (
            folder.pixels(folder.names.index(f"{name}.jpg")).astype(np.int64)
            for folder, name in ((train, one), (test, other))
        )
        # Decoders of JPEG differ by a level here and there.
        assert int(((x - y) ** 2).sum()) == pytest.approx(int(documented.replace(",", "")), rel=0.02), one


def test_ssim_compares_all_pairs_and_equals_scikit_image(sets: tuple[Path, Path], tmp_path: Path) -> None:
    from skimage.metrics import structural_similarity

    from imagenetv2.duplicates.folders import pictures

    ours, theirs = sets
    options = ("--metric", "ssim", "--side", 24, "--window", 7, "--out", tmp_path / "out")
    assert run(ours, "--to", theirs, *options) == 0
    found = pd.read_parquet(tmp_path / "out/neighbours.parquet")
    assert len(found) == 5 * 6
    one, other = pictures([ours]), pictures([theirs])
    for row in found.to_dict("records"):
        x, y = (
            squash(folder.pixels(folder.names.index(row[name])), 24)
            for folder, name in ((one, "image"), (other, "neighbour"))
        )
        similarity = structural_similarity(x, y, channel_axis=-1, data_range=255, win_size=7)
        assert row["distance"] == pytest.approx((1 - similarity) / 2, abs=1e-10)
