"""``imagenetv2 cutoffs`` on small sets of pictures, and what is computed of distances and labels."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from PIL import Image, ImageFilter
from skimage.metrics import structural_similarity

from imagenetv2.cli import main, parser
from imagenetv2.commands.cutoffs import chosen
from imagenetv2.duplicates.labelled import cutoffs, evaluation, labels, wording
from imagenetv2.duplicates.labelled.cutoffs import ALL, ANY, BEST, GIVEN, ORIGINALS, PRECISE, Measured
from imagenetv2.duplicates.labelled.figure import ticks
from imagenetv2.duplicates.labelled.labels import Labelled
from imagenetv2.duplicates.labelled.survival import alike, heading, named, ratio
from imagenetv2.duplicates.settings import Features
from imagenetv2.images import squash

SIDE, WINDOW = 32, 7
SETTINGS = ["--metrics", "l2,ssim", "--side", str(SIDE), "--window", str(WINDOW), "--cores", "1"]
CUTOFFS = ["--cutoff", "l2=1e6", "--cutoff", "ssim=0.1"]
Rows = list[tuple[str, ...]]


def photograph(seed: int, size: tuple[int, int] = (48, 40)) -> Image.Image:
    """Smooth blobs of colour."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (6, 6, 3)).astype(np.uint8))
    return small.resize(size, Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def write(folder: Path, files: Mapping[str, Any], rows: Rows) -> Path:
    """A labelled set in that folder; returns its table."""
    for name, content in files.items():
        path = folder / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else encoded(content))
    table = folder / "labels.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return table


def small(folder: Path) -> Path:
    """Two photographs, three copies of the first, a copy of the second, and another photograph."""
    one, two = photograph(1), photograph(2)
    files = {
        "one.png": one,
        "blurred.png": one.filter(ImageFilter.GaussianBlur(1)),
        "more/blurred.png": one.filter(ImageFilter.GaussianBlur(4)),
        "dark.png": Image.fromarray((np.asarray(one) * 0.4).astype(np.uint8)),
        "two.png": two,
        "half.png": two.resize((24, 20)),
        "three.png": photograph(3),
    }
    rows = [
        ("image", "group", "kind", "strength"),
        ("one.png", "1", "", ""),
        ("blurred.png", "1", "blur", "1"),
        ("more/blurred.png", "1", "blur", "4"),
        ("dark.png", "1", "dark", ""),
        ("two.png", "2", "", ""),
        ("half.png", "2", "half", ""),
        ("three.png", "", "", ""),
    ]
    return write(folder, files, rows)


def run(table: Path, *more: str, out: str = "out") -> int:
    folders = ["--folder", str(table.parent / "pictures"), "--out", str(table.parent / out)]
    return main(["cutoffs", str(table), *folders, *SETTINGS, *more])


@pytest.fixture
def usual(tmp_path: Path) -> Path:
    """The table of the small set."""
    return small(tmp_path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the small set, evaluated, and what was printed; nobody changes it."""
    folder, said = tmp_path_factory.mktemp("done"), io.StringIO()
    with redirect_stdout(said):
        assert run(small(folder), *CUTOFFS) == 0
    return folder, said.getvalue()


def test_distances_are_those_of_the_definitions(done: tuple[Path, str]) -> None:
    folder, _ = done
    found = pd.read_csv(folder / "out/pairs.csv")
    assert len(found) == 7 * 6 // 2
    for row in found.to_dict("records"):
        a, b = (pixels(folder / "pictures" / row[name]) for name in ("image", "other"))
        assert row["l2"] == ((a.astype(int) - b.astype(int)) ** 2).sum()
        similarity = structural_similarity(a, b, channel_axis=-1, data_range=255, win_size=WINDOW)
        assert row["ssim"] == pytest.approx((1 - similarity) / 2, abs=1e-9)


def pixels(path: Path) -> npt.NDArray[np.uint8]:
    with Image.open(path) as image:
        return squash(np.asarray(image.convert("RGB")), SIDE)


def test_files_say_the_same_and_the_page_needs_nothing_else(done: tuple[Path, str]) -> None:
    out, printed = done[0] / "out", done[1]
    facts = json.loads((out / "cutoffs.json").read_text("utf-8"))
    assert (facts["images"], facts["pairs"], facts["duplicates"]) == (7, 21, 7)
    assert facts["cutoffs"] == {"l2": 1e6, "ssim": 0.1}
    assert facts["settings"] == {"l2": {"side": 32}, "ssim": {"side": 32, "window": 7}}
    table = pd.read_csv(out / "cutoffs.csv", keep_default_na=False)
    assert len(table) == len(facts["summary"]) == 2 * 3 * 3
    page = (out / "cutoffs.html").read_text("utf-8")
    assert "What each metric survives" in page
    headings = re.findall("<h3>(.*?)</h3>", page)
    assert len(headings) == len(set(headings)), "sections are told from each other"
    assert "At the cut-offs given, strengths 1, 4" in headings
    assert '>Kind, by strength</th><th scope="col" class="first">1</th>' in page
    assert (
        "1 pair of near-duplicates is found by no metric." in page or "pairs of near-duplicates are" in page
    )
    assert "more/blurred.png" in page
    assert not [
        word
        for word in ("http://", '<link rel="stylesheet', ' src="http')
        if word in page.split("<script>")[0]
    ]
    for word in (
        "with an original",
        "best F1",
        "precision 95",
        "l2, cut-off given",
        str(out / "cutoffs.html"),
    ):
        assert word in printed.replace("\u00a0", " ")
    svg = (out / "precision-recall.svg").read_text("utf-8")
    assert svg.startswith("<svg")
    assert "var(--" not in svg


def test_two_runs_and_any_number_of_cores_write_the_same_bytes(done: tuple[Path, str]) -> None:
    folder, _ = done
    assert run(folder / "labels.csv", *CUTOFFS, "--cores", "2", out="again") == 0
    first, again = (
        {path.name: path.read_bytes() for path in sorted((folder / name).iterdir())}
        for name in ("out", "again")
    )
    assert first == again
    assert len(first) == 9


def test_without_the_studys_settings_no_cutoff_is_known(usual: Path, tmp_path: Path) -> None:
    assert run(usual, "--side", "31") == 0
    facts = json.loads((tmp_path / "out/cutoffs.json").read_text("utf-8"))
    assert facts["cutoffs"] == {"l2": None, "ssim": None}
    given = [row for row in facts["summary"] if row["choice"] == GIVEN]
    assert all(row["found"] == 0 for row in given)
    assert all(row["recall"] is None for row in given), "also of any"
    page = (tmp_path / "out/cutoffs.html").read_text("utf-8")
    assert page.count("no cut-off") == 2 * 3
    assert "At the cut-offs given" not in page
    assert "| given | any |  | – | – | – |" in (tmp_path / "out/cutoffs.md").read_text("utf-8")


def test_odd_pictures_take_part_and_unreadable_ones_are_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = photograph(1)
    whole = encoded(photograph(4, (200, 200)), "JPEG")
    table = write(
        tmp_path,
        {
            "one.png": one,
            "copy.png": one,
            "grey.png": Image.new("RGB", (30, 30), (90, 90, 90)),
            "also-grey.png": Image.new("L", (7, 50), 90),
            "pixel.png": Image.new("RGB", (1, 1), (90, 90, 90)),
            "cut.jpg": whole[: len(whole) // 2],
            "words.jpg": b"these are words",
            "nothing.png": b"",
        },
        [
            ("image", "group"),
            ("one.png", "1"),
            ("copy.png", "1"),
            ("grey.png", "2"),
            ("also-grey.png", "2"),
            ("pixel.png", "2"),
            ("cut.jpg", "1"),
            ("words.jpg", ""),
            ("nothing.png", ""),
        ],
    )
    assert run(table, *CUTOFFS) == 0
    facts = json.loads((tmp_path / "out/cutoffs.json").read_text("utf-8"))
    assert set(facts["unreadable"]) == {"cut.jpg", "words.jpg", "nothing.png"}
    assert "not an image" in facts["unreadable"]["words.jpg"]
    assert "empty" in facts["unreadable"]["nothing.png"]
    assert "left out: cut.jpg: JPEG cannot be decoded" in capsys.readouterr().err
    assert (facts["images"], facts["pairs"], facts["duplicates"]) == (5, 10, 4)
    pairs = pd.read_csv(tmp_path / "out/pairs.csv")
    # Flat pictures of one colour are equal, whatever their size; a flat one is far from a photograph.
    same = pairs[pairs["duplicate"] == 1]
    assert (same["l2"] == 0).all()
    assert (same["ssim"] == 0).all()
    assert (pairs.loc[pairs["duplicate"] == 0, "ssim"] > 0.2).all()
    assert "words.jpg" in (tmp_path / "out/cutoffs.html").read_text("utf-8")


def test_where_only_one_kind_of_pair_can_be_read_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write(
        tmp_path,
        {"one.png": photograph(1), "copy.png": b"no picture", "two.png": photograph(2)},
        [("image", "group"), ("one.png", "1"), ("copy.png", "1"), ("two.png", "")],
    )
    assert run(table) == 1
    assert "of 1 pair none is one of near-duplicates" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--window", "8"], "8 is even"),
        (["--window", "33"], "--window 33 does not fit"),
        (["--metrics", "l2", "--cutoff", "ssim=0.1"], "--cutoff ssim: ssim is not among --metrics"),
        (["--folder", "nowhere"], "not in nowhere"),
        (["--weights", "nothere.pt"], "--weights has no meaning for --metrics l2,ssim; leave it out"),
        (["--metrics", "l2"], "--window has no meaning for --metrics l2; leave it out"),
        (
            ["--metrics", "fc7,ssim", "--network", "efficientnet_lite0", "--weights", "nothere.pt"],
            "--weights: efficientnet_lite0 brings its own; leave out --weights, or set --network to",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_sentence(
    usual: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert run(usual, *more) == 1
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1


@pytest.mark.parametrize("out", ["labels.csv", "labels.csv/below"])
def test_where_nothing_can_be_written_nothing_is_measured(
    usual: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.setattr(evaluation, "measure", None)
    assert run(usual, out=out) == 1
    complaint = capsys.readouterr().err
    assert re.search(rf"--out .*{out}: .*labels.csv is a file; name a folder\.", complaint), complaint


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (1.0, 1e5, [1, 10, 100, 1000, 1e4, 1e5]),
        (3.0, 60.0, [5, 10, 20, 50]),
        (0.11, 0.19, [0.12, 0.14, 0.16, 0.18]),
        (120_000.0, 131_000.0, [120_000, 125_000, 130_000]),
        (7.0, 7.0, [7]),
    ],
)
def test_every_axis_of_cutoffs_has_ticks(low: float, high: float, shown: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(shown)


@pytest.mark.parametrize(
    "more", [["--metrics", "psnr"], ["--cutoff", "l2"], ["--cutoff", "l2=-1"], ["--precision", "0"]]
)
def test_options_that_mean_nothing_end_the_command_line(usual: Path, more: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(usual, *more)
    assert caught.value.code == 2


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    """Five images: an original with two copies, and two others; distances by hand."""
    names = ("a", "b", "c", "d", "e")
    for name in names:
        (tmp_path / name).write_bytes(b"")
    table = tmp_path / "labels.csv"
    table.write_text("image,group,kind,strength\na,x,,\nb,x,fog,1\nc,x,fog,10\nd,,,\ne,,,\n", "utf-8")
    found = labels.read(table, tmp_path)
    l2 = {"ab": 10, "ac": 50, "bc": 70, "ad": 40, "bd": 90, "cd": 95, "ae": 80, "be": 85, "ce": 20, "de": 99}
    ssim = {
        "ab": 0.3,
        "ac": 0.1,
        "bc": 0.9,
        "ad": 0.4,
        "bd": 0.5,
        "cd": 0.6,
        "ae": 0.7,
        "be": 0.8,
        "ce": 0.9,
        "de": 1,
    }
    return Measured(found, {"l2": of(found, l2), "ssim": of(found, ssim)})


def of(found: Labelled, values: Mapping[str, float]) -> npt.NDArray[np.float64]:
    pairs = zip(found.row, found.column, strict=True)
    return np.array([float(values[found.names[r] + found.names[c]]) for r, c in pairs])


GIVEN_CUTOFFS = {"l2": 40.0, "ssim": 0.2}


def test_what_each_metric_finds_and_what_all_find_together(measured: Measured) -> None:
    table = cutoffs.summary(measured, GIVEN_CUTOFFS, 0.95).set_index(["pairs", "choice", "metric"])
    l2, ssim, both = (table.loc[(ALL, GIVEN, metric)] for metric in ("l2", "ssim", ANY))
    assert (l2["found"], l2["false"], l2["alone"]) == (1, 2, 1)
    assert (ssim["found"], ssim["false"], ssim["alone"]) == (1, 0, 1)
    assert (both["found"], both["false"], both["duplicates"], both["different"]) == (2, 2, 3, 7)
    assert both["precision"] == 0.5
    assert both["recall"] == pytest.approx(2 / 3)
    assert both["false_per_1000"] == pytest.approx(2000 / 7)
    assert both["precision_low"] < 0.5 < both["precision_high"]
    # Over pairs with an original the two copies do not count.
    l2 = table.loc[(ORIGINALS, GIVEN, "l2")]
    assert (l2["found"], l2["false"], l2["duplicates"], l2["different"]) == (1, 2, 2, 7)


def test_cutoffs_that_are_chosen_on_the_set(measured: Measured) -> None:
    table = cutoffs.summary(measured, GIVEN_CUTOFFS, 0.95).set_index(["pairs", "choice", "metric"])["cutoff"]
    assert table[ALL, BEST, "l2"] == 70
    assert table[ALL, PRECISE, "l2"] == 10
    assert table[ALL, BEST, "ssim"] == 0.3
    assert table[ALL, PRECISE, "ssim"] == 0.3


def test_copies_without_their_original_are_judged_among_all_pairs(tmp_path: Path) -> None:
    rows = [
        ("image", "group", "kind"),
        ("a.png", "1", "fog"),
        ("b.png", "1", "snow"),
        ("c.png", "", "fog"),
    ]
    one = photograph(1)
    table = write(tmp_path, {"a.png": one, "b.png": one, "c.png": photograph(2)}, rows)
    assert run(table, *CUTOFFS) == 0
    summary = pd.read_csv(tmp_path / "out/cutoffs.csv")
    assert set(summary["pairs"]) == {ALL}
    assert summary["recall"].tolist() == [1.0] * len(summary)
    assert pd.read_csv(tmp_path / "out/kinds.csv").empty
    assert "What each metric survives" not in (tmp_path / "out/cutoffs.html").read_text("utf-8")


def test_kinds_are_of_pairs_with_the_original_and_strengths_in_the_order_of_numbers(
    measured: Measured,
) -> None:
    table = cutoffs.kinds(measured, GIVEN_CUTOFFS, 0.95)
    given = table[table["choice"] == GIVEN]
    assert given["strength"].drop_duplicates().tolist() == ["1", "10"]
    found = given.set_index(["metric", "strength"])["found"]
    assert [found["l2", "1"], found["l2", "10"]] == [1, 0]
    assert [found["ssim", "1"], found["ssim", "10"]] == [0, 1]
    assert [found[ANY, "1"], found[ANY, "10"]] == [1, 1]
    distance = given.set_index(["metric", "strength"])["distance"]
    assert (distance["l2", "1"], distance["l2", "10"]) == (10, 50)
    shown = dict(wording.survival(table))
    assert shown["l2, cut-off given = 40"].iloc[0].tolist() == ["fog", "0.25", "1.2"]
    assert shown["any, cut-off given"].iloc[0].tolist() == ["fog", "✓", "✓"]


def test_a_ratio_never_looks_found_when_it_is_not() -> None:
    assert [ratio(v) for v in (0, 0.001, 0.5, 0.999, 1, 1.0001, 1.04, 1.06, 12.3)] == [
        "0", "<0.01", "0.50", "1.0", "1.0", ">1.0", ">1.0", "1.1", "12",
    ]  # fmt: skip


def test_kinds_with_the_same_strengths_share_a_table() -> None:
    rows = [("fog", "1"), ("fog", "2"), ("snow", "1"), ("snow", "2"), ("grey", "1"), ("edit", "crop")]
    table = pd.DataFrame(rows, columns=["kind", "strength"])
    assert alike(table) == {("1", "2"): ["fog", "grey", "snow"], ("crop",): ["edit"]}
    assert [named(strengths) for strengths in alike(table)] == ["strengths 1, 2", "strength crop"]
    assert [heading(strengths) for strengths in (("1", "2"), ("",))] == ["kind, by strength", "kind"]


@pytest.mark.parametrize(
    ("more", "network", "preprocessing", "cutoff"),
    [
        ([], "efficientnet_lite0", "standard", None),
        (["--weights", "vgg16.pth"], "vgg16", "paper", 1.32e4),
        (["--weights", "vgg16.pth", "--preprocessing", "standard"], "vgg16", "standard", None),
        (["--network", "timm:resnet18"], "timm:resnet18", "standard", None),
        (["--cutoff", "fc7=200"], "efficientnet_lite0", "standard", 200.0),
    ],
)
def test_the_network_is_the_studys_where_its_weights_are_given(
    more: list[str], network: str, preprocessing: str, cutoff: float | None
) -> None:
    options = parser().parse_args(["cutoffs", "labels.csv", "--metrics", "fc7", *more])
    (one,) = chosen(options)
    assert isinstance(one.section, Features)
    assert (one.section.network, one.section.preprocessing, one.cutoff) == (network, preprocessing, cutoff)
    assert (one.section.side, one.section.input) == (256, 224)
